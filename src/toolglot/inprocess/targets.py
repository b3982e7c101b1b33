"""Where the requests of a program go: a target named in one line, or a configuration."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from toolglot.gateway.config import (
    DEMO,
    Config,
    ConfigError,
    Provider,
    RouteConfig,
    inferred,
    load_config,
)
from toolglot.profiles import Profile, UnknownProviderError, family_of, get_profile
from toolglot.registry import PROTOCOLS

Targets = str | Iterable[str]
"""`provider/model`, or several of them: each stands in for those before it."""


def config_for(
    model: Targets | None = None,
    *,
    config: Config | Path | str | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    protocol: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Config:
    """The configuration of a gateway that sends everything to the targets.

    Without a target, requests are routed as the configuration says. Its providers are those of the
    file or, without one, those whose keys the environment has.
    """
    given = config if isinstance(config, Config) else load_config(_path(config), environ)
    # Nobody but the program itself can ask, so nobody needs a key.
    given = replace(given, server=replace(given.server, keys=False))
    options = {"api_key": api_key, "base_url": base_url, "protocol": protocol}
    changes = {name: value for name, value in options.items() if value is not None}
    if model is None:
        if changes:
            raise ConfigError(f"{' and '.join(changes)}: give a model too, such as openai/gpt-5.4")
        return given
    targets = tuple(
        _with_provider(each) for each in ((model,) if isinstance(model, str) else model)
    )
    if not targets:
        raise ConfigError("expected at least one model, such as openai/gpt-5.4")
    names = dict.fromkeys(target.partition("/")[0] for target in targets)
    if changes and len(names) > 1:
        raise ConfigError(f"{' and '.join(changes)}: give a config where there are two providers")
    # Only the providers that were named: a model `other/name` of the program is no way to others.
    providers = {name: _provider(name, given, changes) for name in names if name != DEMO}
    return replace(given, providers=providers, routes=(RouteConfig(match="*", to=targets),))


def _path(config: Path | str | None) -> Path | None:
    return Path(config) if config is not None else None


def _with_provider(model: str) -> str:
    """A target; a model without a provider is asked of its vendor."""
    if "/" in model or model == DEMO:
        return model
    family = family_of(model)
    if family is None or not family.vendor:
        raise ConfigError(f"{model}: name the provider too, such as openai/{model}")
    return f"{family.vendor}/{model}"


def _provider(name: str, config: Config, changes: Mapping[str, str]) -> Provider:
    known = config.providers.get(name)
    if known is None:
        profile = _profile(name)
        if profile is None and "base_url" not in changes:
            raise ConfigError(
                f"{name}: no provider is called so; give its base_url, or a config that has it "
                "(`toolglot capabilities` lists those that are known)"
            )
        if profile is not None and profile.auth.required and "api_key" not in changes:
            raise ConfigError(_no_key(profile))
        known = Provider(profile=profile.name if profile else None)
    made = inferred(replace(known, **changes))
    if made.protocol not in (None, *PROTOCOLS) or not (made.protocol or made.profile):
        raise ConfigError(f"{name}: give its protocol, one of {', '.join(PROTOCOLS)}")
    return made


def _profile(name: str) -> Profile | None:
    try:
        return get_profile(name)
    except UnknownProviderError:
        return None


def _no_key(profile: Profile) -> str:
    variables = profile.auth.env
    named = f"set {' or '.join(variables)}, or give" if variables else "give"
    return f"{profile.name}: there is no key for it: {named} api_key"
