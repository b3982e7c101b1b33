"""Where providers are reached, and model families, from `profiles.toml`.

What providers accept is in their rule books: see `toolglot.providers`. Every group of facts carries
where and when it was read; what could not be confirmed is None. The
file is read once, when something is asked for. Facts can be changed in two ways: for one question,
by a mapping that is laid over them, or for this process, by `register_profile`.
"""

import re
from _thread import allocate_lock
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from toolglot.errors import ToolglotError


class UnknownProviderError(ToolglotError, LookupError):
    """Nothing of that sort is known for that provider."""

    def __init__(self, what: str, provider: str) -> None:
        self.what = what
        self.provider = provider
        super().__init__(f"no {what} for provider {provider}")

    def __reduce__(self) -> tuple[type["UnknownProviderError"], tuple[str, str]]:
        """Pickle by the two values."""
        return UnknownProviderError, (self.what, self.provider)


class ProfileError(ToolglotError, ValueError):
    """What was given as facts about a provider does not have their form."""


# --- facts ----------------------------------------------------------------------------------------


class Facts(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of all groups of facts: the page or package they were read in, and the day."""

    source: str = ""
    date: str = ""


class Endpoint(Facts, frozen=True, kw_only=True):
    """Where one protocol of a provider is spoken.

    `base_url` ends where the words of the protocol begin, and holds the version. Words in braces
    (`{region}`) are the user's to fill in. `path` is given where it is not the protocol's own.
    """

    protocol: str
    base_url: str
    path: str | None = None
    query: str = ""
    """Sent with every request: `api-version=2024-10-21`."""

    def url(self, path: str, **values: str) -> str:
        """The address for a request that its protocol would send to `path` on its own host."""
        words = self.path if self.path is not None else path[path.index("/", 1) :]
        address = self.base_url + words + (f"?{self.query}" if self.query else "")
        for name, value in values.items():
            address = address.replace(f"{{{name}}}", value)
        return address


class Deployments(Facts, frozen=True, kw_only=True):
    """Another address of a provider, where the path names a deployment and not the model."""

    protocol: str
    base_url: str
    """With `{deployment}` in its path."""

    version_parameter: str
    """The query parameter that gives the version of the API."""

    version: str
    """The version to ask for where none is given."""


class Auth(Facts, frozen=True, kw_only=True):
    """How to say who asks. `env` are the variables that hold a key, the first one set counts."""

    header: str
    prefix: str = ""
    env: tuple[str, ...] = ()
    required: bool = True
    headers: Mapping[str, str] = {}
    """Sent with every request."""

    signing: str = ""
    """The service that requests can be signed for with AWS credentials, in place of a key."""

    optional_headers: tuple[str, ...] = ()
    """Headers by which a client may name itself."""

    def with_key(self, key: str | None) -> dict[str, str]:
        """The headers for a request."""
        return {**({self.header: self.prefix + key} if key else {}), **self.headers}


class ToolFacts(Facts, frozen=True, kw_only=True):
    """How tools are called; what is accepted of them is in the rule books."""

    format: Literal["json", "xml", "custom", "unknown"] = "json"
    """How calls are written: as JSON beside the text, or in the text."""

    dialects: tuple[str, ...] = ()
    """How its models write calls into the text when they slip."""

    calling: str = "native"
    """How its models get tools: declared to the provider (`native`), or as text
    (`emulated`, `emulated:hermes`), because they have none. The option `tools` takes this word."""


class Capabilities(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tool support in six words. `max_tools_per_call` is None where no limit is known."""

    format: str = "unknown"
    supports_parallel: bool = False
    max_tools_per_call: int | None = 1
    requires_schema: bool = False
    stream_support: bool = False
    quirks: tuple[str, ...] = ()


class Profile(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """All that is known about one provider."""

    name: str
    title: str = ""
    endpoints: tuple[Endpoint, ...]
    auth: Auth
    deployments: Deployments | None = None
    base_url_env: tuple[str, ...] = ()
    """The variables by which its SDKs are given another address, the first one set counts."""

    tools: ToolFacts = ToolFacts()
    notes: tuple[str, ...] = ()
    local: bool = False
    """It runs on the user's own machine."""

    attribution: bool = False
    """It wants to know which of its own clients asks."""

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols that it speaks, the usual one first."""
        return tuple(endpoint.protocol for endpoint in self.endpoints)

    def endpoint(self, protocol: str | None = None) -> Endpoint:
        """Where that protocol is spoken; the usual one if none is given."""
        for endpoint in self.endpoints:
            if protocol in (None, endpoint.protocol):
                return endpoint
        raise UnknownProviderError(f"{protocol} endpoint", self.name)


class ModelFamily(Facts, frozen=True, kw_only=True):
    """What is known about models by their names. None is unknown."""

    name: str
    match: tuple[str, ...]
    vendor: str
    reasoning: Literal["effort", "budget", "adaptive", "switch", "always", "none"] | None = None
    """How its reasoning is asked for; `always` and `none`: there is no choice."""

    efforts: tuple[str, ...] = ()
    dialect: str | None = None
    """How it writes calls as text."""

    calling: str | None = None
    """How it gets tools, where that differs from its provider's other models."""

    thought_signatures: bool = False
    """Calls in the history must carry the state they came with."""

    max_output: int | None = None
    """The limit to send where one must be sent and the client gave none."""

    notes: tuple[str, ...] = ()


# --- the file -------------------------------------------------------------------------------------


class _Name(Struct, frozen=True, forbid_unknown_fields=True):
    provider: str
    protocol: str | None = None


class _Historical(Facts, frozen=True, kw_only=True):
    providers: Mapping[str, Capabilities]
    notes: tuple[str, ...] = ()


class _Book(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    providers: Mapping[str, Profile]
    families: tuple[ModelFamily, ...]
    names: Mapping[str, _Name]
    historical: _Historical


@cache
def _book() -> _Book:
    import tomllib  # noqa: PLC0415 - only when facts are asked for
    from importlib.resources import files  # noqa: PLC0415

    text = files("toolglot").joinpath("profiles.toml").read_text(encoding="utf-8")
    raw = tomllib.loads(text)
    for name, profile in raw["providers"].items():
        profile["name"] = name
    return convert(raw, _Book)


# --- asking ---------------------------------------------------------------------------------------

_lock: Final = allocate_lock()
_profiles: dict[str, Profile] = {}


def get_profile(provider: str, overrides: Mapping[str, Any] | None = None) -> Profile:
    """What is known about a provider today, with `overrides` laid over it for this question."""
    book = _book()
    alias = book.names.get(provider)
    name = provider if alias is None or provider in _profiles else alias.provider
    profile = _profiles.get(name) or book.providers.get(name)
    if profile is None:
        raise UnknownProviderError("profile", provider)
    return _laid_over(profile, overrides) if overrides else profile


def get_capabilities(provider: str, overrides: Mapping[str, Any] | None = None) -> Capabilities:
    """The historical matrix: what clients of the early design expect, not what is true today.

    For what a model accepts today ask `toolglot.providers.rules_for`.
    """
    found = _book().historical.providers.get(provider) or Capabilities()
    return _laid_over(found, overrides) if overrides else found


def register_profile(name: str, facts: Profile | Mapping[str, Any]) -> Profile:
    """Add a provider, or change what is known about one; a mapping changes only what it names."""
    with _lock:
        profile = facts if isinstance(facts, Profile) else _changed(name, facts)
        _profiles[name] = replace(profile, name=name)
        return _profiles[name]


def _changed(name: str, facts: Mapping[str, Any]) -> Profile:
    try:
        return _laid_over(get_profile(name), facts)
    except UnknownProviderError:
        return _read({**facts, "name": name}, Profile)


def profiles() -> tuple[Profile, ...]:
    """All providers, those of the file in its order and then the registered ones."""
    return tuple({**_book().providers, **_profiles}.values())


def families() -> tuple[ModelFamily, ...]:
    """All model families, the narrow ones before the wide ones."""
    return _book().families


_VENDOR: Final = re.compile(r"^(?:[a-z-]+\.)+(?=[a-z])")
"""What clouds put before the name of a model: `us.anthropic.`"""


@lru_cache(maxsize=1024)
def model_names(model: str) -> tuple[str, ...]:
    """The name of a model in lower case, as it is written, without its vendor (`openai/`), and
    without what clouds put before it (`us.anthropic.`).
    """
    name = model.lower()
    short = name.rpartition("/")[2]
    return tuple(dict.fromkeys((name, short, _VENDOR.sub("", short))))


@lru_cache(maxsize=1024)
def family_of(model: str) -> ModelFamily | None:
    """The family of a model, by its name as any provider spells it."""
    names = model_names(model)
    for family in families():
        if any(fnmatchcase(each, pattern) for each in names for pattern in family.match):
            return family
    return None


def dialect_for(model: str, provider: str | None = None) -> str | None:
    """How a model writes calls as text: by its family, else by its provider.

    `auto` if the provider's models write in several ways; None if nothing is known.
    """
    family = family_of(model)
    if family is not None and family.dialect is not None:
        return family.dialect
    if provider is None or provider not in PROVIDERS:
        return None
    known = get_profile(provider).tools.dialects
    return "auto" if len(known) > 1 else next(iter(known), None)


class _Names(Mapping[str, str]):
    """Names of providers, and the protocol that each usually speaks; read when looked at."""

    def __getitem__(self, name: str) -> str:
        alias = _book().names.get(name)
        if alias is not None and alias.protocol is not None:
            return alias.protocol
        try:
            return get_profile(name).protocols[0]
        except UnknownProviderError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter({**_book().providers, **_book().names, **_profiles})

    def __len__(self) -> int:
        return sum(1 for _ in self)


PROVIDERS: Final[Mapping[str, str]] = _Names()
"""Names that people use, and the protocol that is meant."""


def tools_for(model: str, provider: str | None = None) -> str:
    """How a model gets tools, as a value of the option `tools`; `native` if unknown."""
    family = family_of(model)
    if family is not None and family.calling is not None:
        return family.calling
    known = provider is not None and provider in PROVIDERS
    return get_profile(provider).tools.calling if known and provider else "native"


# --- laying over ----------------------------------------------------------------------------------

_T = TypeVar("_T", Profile, Capabilities)


def _laid_over(facts: _T, overrides: Mapping[str, Any]) -> _T:
    return _read(_merged(to_builtins(facts), overrides), type(facts))


def _merged(value: Any, over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(value)
    for key, new in over.items():
        old = merged.get(key)
        merged[key] = (
            _merged(old, new) if isinstance(old, dict) and isinstance(new, Mapping) else new
        )
    return merged


def _read(value: Any, form: type[_T]) -> _T:
    try:
        return convert(value, form)
    except ValidationError as error:
        raise ProfileError(str(error)) from None
