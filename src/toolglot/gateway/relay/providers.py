"""Providers as the gateway calls them: addresses, keys and health."""

import itertools
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeVar
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import asdict, replace

from toolglot.attempts import Candidate
from toolglot.context import Options
from toolglot.gateway.config import CLIENT, DEMO, Config, ConfigError, Provider, read_secret
from toolglot.gateway.http.aws_signer import AwsSigner
from toolglot.gateway.http.client import OutboundRequest
from toolglot.gateway.incoming import ANY_CALLER, Caller
from toolglot.gateway.relay.addresses import (
    deployment_of,
    make_auth,
    make_endpoints,
    make_signer,
)
from toolglot.gateway.telemetry.redact import SHORTEST_SECRET, mask
from toolglot.profiles import (
    Auth,
    Endpoint,
    ModelFamily,
    Profile,
    dialect_for,
    family_of,
    get_profile,
    tools_for,
)
from toolglot.providers import UNKNOWN, protocols_for
from toolglot.rules import PRESETS, ToolRules, combine_rules

_TRIES: Final = 5
"""Failures in a row after which a provider is not used for a while."""
_REST: Final = 20.0
"""Seconds for which it is not used."""
_MODELS: Final = 256
"""How much is remembered of the models of a provider."""
_T = TypeVar("_T")


class Health:
    """A circuit breaker: after failures in a row a provider rests, then one request tries it.

    Every request to the provider is made inside `with health:`.
    """

    __slots__ = ("_failures", "_until", "busy")

    def __init__(self) -> None:
        self.busy = 0
        """How many requests are under way."""
        self._failures = 0
        self._until = 0.0

    def __enter__(self) -> None:
        self.busy += 1

    def __exit__(self, *_: object) -> None:
        self.busy -= 1

    def resting(self, now: float) -> bool:
        """Whether it should not be used now."""
        return self._failures >= _TRIES and now < self._until

    def state(self, now: float) -> Literal["closed", "half-open", "open"]:
        """The state of the breaker: open while it rests, half open until it answers."""
        if self._failures < _TRIES:
            return "closed"
        return "open" if self.resting(now) else "half-open"

    def good(self) -> None:
        self._failures = 0

    def bad(self, now: float) -> None:
        self._failures += 1
        if self._failures >= _TRIES:
            self._until = now + _REST


class Keys:
    """The keys of a provider, used in turn; one that was rejected lately comes last."""

    __slots__ = ("_cooling", "_keys", "_turn")

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = keys
        self._turn = itertools.count()
        self._cooling: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keys) and self._keys == other._keys

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def order(self, now: float) -> list[str]:
        """The keys in the order in which the next request should use them."""
        keys = self._keys
        if len(keys) > 1:
            start = next(self._turn) % len(keys)
            keys = keys[start:] + keys[:start]
        return sorted(keys, key=lambda key: self._cooling.get(key, 0.0) > now)

    def hidden(self, text: bytes) -> bytes:
        """A provider's text without our keys, which some repeat when they reject them."""
        for key in self._keys:
            if len(key) >= SHORTEST_SECRET:
                text = text.replace(key.encode(), mask(key).encode())
        return text

    def cool(self, key: str | None, until: float) -> None:
        """Do not use a key for some time."""
        if key is not None:
            self._cooling[key] = until


class Upstream(Struct, kw_only=True):
    """One provider, ready for requests."""

    name: str
    config: Provider
    endpoints: tuple[Endpoint, ...]
    auth: Auth
    keys: Keys
    passes_key: bool
    """The client's own key is forwarded."""
    health: Health
    signer: AwsSigner | None = None
    profile: Profile | None = None
    deployment: str | None = None
    """What is asked for in place of the model."""
    _known: dict[Any, Any] = {}
    """What was found for a model before: see `_remember`."""

    @property
    def rule_book(self) -> str:
        """The name of the rule book that it goes by."""
        return self.profile.name if self.profile else UNKNOWN

    @property
    def mends(self) -> bool:
        """Whether refused requests and mistakes in answers are mended."""
        return self.config.mend != "off"

    def _remember(self, key: tuple[Any, ...], made: _T) -> _T:
        """Keep what is found for every request again, as long as models are few; clients may ask
        for any. It saves about 30 of 540 µs: options that are another object of the same content
        would be compared with those before, each time that tools are looked up.
        """
        if len(self._known) >= _MODELS:
            self._known.clear()
        self._known[key] = made
        return made

    def protocol_for(self, client: str, model: str = "") -> str:
        """The protocol to ask a model in: the client's own if that is spoken, else the best."""
        key = "protocol", client, model
        found: str | None = self._known.get(key)
        return found or self._remember(key, self._best_protocol(client, model))

    def _best_protocol(self, client: str, model: str) -> str:
        offered = [endpoint.protocol for endpoint in self.endpoints]
        best = [each for each in protocols_for(self.rule_book, model) if each in offered] or offered
        return client if client in best else best[0]

    def url(self, protocol: str, path: str, model: str) -> str:
        """The address for a request."""
        key = "url", protocol, path, model
        found: str | None = self._known.get(key)
        if found is not None:
            return found
        endpoint = next(each for each in self.endpoints if each.protocol == protocol)
        values = {"model": quote(model, safe=":@"), **self.config.values}
        return self._remember(key, endpoint.url(path, **values))

    @property
    def listed(self) -> tuple[str, ...]:
        """The models that clients are shown; none: those that the provider lists."""
        deployed = (self.deployment,) if self.deployment else ()
        return self.config.models or deployed

    def candidate(self, now: float) -> Candidate:
        """What `attempts` needs to know of it."""
        return Candidate(
            retries=self.config.retries,
            keys=1 if self.passes_key else len(self.keys),
            resting=self.health.resting(now),
        )

    def keys_for(self, client_key: str | None) -> list[str | None]:
        """The keys to use for a request, in their order; `client_key` is the client's own."""
        if self.passes_key:
            return [client_key]
        return [*self.keys.order(time.monotonic())] if len(self.keys) else [None]

    def small_request(
        self, protocol: str, path: str, data: bytes | None = None, *, key: str | None = None
    ) -> OutboundRequest:
        """A request that is answered quickly; `key` is the client's own."""
        headers = {"Content-Type": "application/json"} if data is not None else {}
        return OutboundRequest(
            url=self.url(protocol, path, ""),
            data=data,
            headers={**headers, **self.headers(self.keys_for(key)[0])},
            proxy=self.config.proxy,
            signer=self.signer,
        )

    def headers(self, key: str | None) -> dict[str, str]:
        """The headers that authenticate a request."""
        auth = self.auth.with_key(key)
        return {**auth, **self.config.headers} if self.config.headers else auth

    def options(
        self,
        model: str,
        asked: str,
        *,
        strict: bool,
        caller: Caller = ANY_CALLER,
        mends: bool | None = None,
    ) -> Options:
        """How requests for a model are translated; the same object for the same request."""
        mends = self.mends if mends is None else mends
        key = "options", model, asked, strict, mends, caller if self.config.tool_rules else None
        found: Options | None = self._known.get(key)
        return found or self._remember(
            key, self._make_options(model, asked, caller, strict=strict, mends=mends)
        )

    def _make_options(
        self, model: str, asked: str, caller: Caller, *, strict: bool, mends: bool
    ) -> Options:
        config, sent = self.config, self.deployment or model
        more: dict[str, Any] = {}
        family = family_of(model)
        limit = config.max_tokens or (family.max_output if family else None)
        if limit is not None:
            more["max_tokens"] = limit
        return Options(
            strict=strict,
            model=sent if sent != asked else None,
            provider=self.rule_book,
            overrides=self._overrides,
            issuer=config.issuer or self._issuer(family),
            attribution=self._attribution(),
            window=config.context_window,
            client_window=config.client_window,
            ids=config.ids,
            id_rule=config.id_rule,
            schema_dialect=config.schema_dialect,
            stream_tools=config.stream_tools,
            broken="open",
            complete_answers=True,
            validate=config.validate,
            rules=self._tool_rules(model, caller),
            tools=config.tools or tools_for(model, config.profile),
            dialect=self._dialect(model),
            mend="on" if mends else "off",
            **asdict(config.options),
            **more,
        )

    def _tool_rules(self, model: str, caller: Caller) -> ToolRules | str | None:
        """The rules for the tools of a client, in the order of the file."""
        preset = self.config.rules if isinstance(self.config.rules, str) else None
        if not self.config.tool_rules:
            return preset
        held = [
            rules
            for each in self.config.tool_rules
            if each.holds(caller.protocol, caller.user_agent, model)
            for rules in each.all_rules()
        ]
        return combine_rules([PRESETS[preset], *held] if preset else held)

    @property
    def _overrides(self) -> Mapping[str, Any]:
        return {} if isinstance(self.config.rules, str) else self.config.rules or {}

    def _dialect(self, model: str) -> str | None:
        chosen = self.config.dialect or dialect_for(model, self.config.profile)
        return None if chosen == "off" else chosen

    def _issuer(self, family: ModelFamily | None) -> str:
        """Who issues reasoning state: models of several vendors do not read each other's."""
        own = self.profile.name if self.profile else None
        vendor = family.vendor if family else own
        return self.name if vendor in (None, own, self.name) else f"{self.name}:{vendor}"

    def _attribution(self) -> Literal["keep", "drop"]:
        """Whether to keep a client's attribution line: for its own vendor, or an unknown one."""
        return "keep" if self.profile is None or self.profile.attribution else "drop"


def make_upstreams(
    config: Config,
    environ: Mapping[str, str] = os.environ,
    *,
    known: Mapping[str, Upstream] | None = None,
) -> dict[str, Upstream]:
    """All providers of a configuration; those that did not change are kept, with the state of
    their health and keys.
    """
    made = {}
    for name, given in config.providers.items():
        each = given if given.mend else replace(given, mend=config.mend)
        upstream, before = _make(name, each, environ), (known or {}).get(name)
        same = before is not None and before.config == each and before.keys == upstream.keys
        made[name] = before if same and before is not None else upstream
    return made


def _make(name: str, config: Provider, environ: Mapping[str, str]) -> Upstream:
    if name == DEMO:
        raise ConfigError(f"providers.{DEMO}: this name is taken by the model that is built in")
    profile = get_profile(config.profile) if config.profile else None
    endpoints = make_endpoints(config, profile)
    auth = make_auth(config, profile, endpoints[0].protocol)
    given = (config.api_key,) if isinstance(config.api_key, str) else config.api_key or ()
    try:
        keys = tuple(read_secret(key, environ) for key in given if key != CLIENT)
    except ConfigError as error:
        raise ConfigError(f"providers.{name}.api_key: {error}") from None
    if not given and profile:
        keys = tuple(environ[each] for each in auth.env if environ.get(each))[:1]
    return Upstream(
        name=name,
        config=config,
        endpoints=endpoints,
        auth=auth,
        keys=Keys(keys),
        passes_key=CLIENT in given,
        health=Health(),
        signer=make_signer(name, config, profile, endpoints[0], environ),
        profile=profile,
        deployment=deployment_of(config, profile),
    )
