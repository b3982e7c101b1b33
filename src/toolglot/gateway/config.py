"""The configuration: `toolglot.toml`, or none, then what the environment offers.

Whatever is wrong in the file is told with its line and key. Secrets are named (`env:WORK_KEY`,
`file:…`), not written down.
"""

import os
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from ipaddress import ip_network
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import fields, replace

from toolglot.base_urls import endpoint_protocol, from_variable, is_same_server, profile_at
from toolglot.context import ProviderOptions
from toolglot.errors import ToolglotError
from toolglot.gateway.toml_lines import located
from toolglot.profiles import UnknownProviderError, get_profile, profiles
from toolglot.providers import check_overrides
from toolglot.registry import PROTOCOLS
from toolglot.rules import PRESETS, ToolRules, combine_rules
from toolglot.schema.subsets import SUBSETS
from toolglot.surface import ID_RULES

FILE: Final = "toolglot.toml"
DEMO: Final = "demo"
"""The provider that needs no key: the model that is built in."""

MEGABYTE: Final = 1024 * 1024
_Seconds = Annotated[float, Meta(gt=0)]


class ConfigError(ToolglotError, ValueError):
    """The configuration cannot be used; says where and what to do."""


class _Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file."""


class ServerLimits(_Table, frozen=True, kw_only=True):
    """What clients and providers may take of the gateway's memory, sockets and time."""

    head_seconds: _Seconds = 10.0
    """For the head of a request to arrive."""

    body_seconds: _Seconds = 30.0
    """Without a byte of a body that is waited for."""

    idle_seconds: _Seconds = 75.0
    """Between two requests on a connection."""

    connections: Annotated[int, Meta(ge=1)] | None = None
    """Of all clients together, for each worker; none: half of the file descriptors."""

    per_address: Annotated[int, Meta(ge=1)] | None = None
    """Of one address; none: half of all."""

    backlog: Annotated[int, Meta(ge=1)] = 1024
    """Connections that may wait to be accepted."""

    bodies: Annotated[int, Meta(ge=1)] = 512 * MEGABYTE
    """Bytes of all bodies that are being read at one time."""

    answer: Annotated[int, Meta(ge=1)] = 64 * MEGABYTE
    """Bytes of an answer of a provider that is not streamed."""


class Tls(_Table, frozen=True, kw_only=True):
    """Certificates, if the gateway itself serves https."""

    cert: str
    """The file with the certificate and what it is signed by, as PEM."""

    key: str
    """The file with its private key."""

    client_ca: str | None = None
    """The file with the authorities whose client certificates are trusted; the name in such a
    certificate is the name of a key."""

    require_client_cert: bool = False
    """Refuse clients without such a certificate."""


class Inspector(_Table, frozen=True, kw_only=True):
    """The page that shows the latest exchanges, and what it may keep of them in memory."""

    enabled: bool | None = None
    """None: where nobody but this machine can ask, and no keys are asked for."""

    exchanges: Annotated[int, Meta(ge=1)] = 500
    """The most that are kept, for each key."""

    bytes: Annotated[int, Meta(ge=1)] = 64 * MEGABYTE
    """Of these exchanges, for each key; four times as many for all keys."""


class Server(_Table, frozen=True, kw_only=True):
    """How the gateway listens and what it keeps."""

    host: str = "127.0.0.1"
    """The address to listen on."""

    port: Annotated[int, Meta(ge=0, le=65535)] = 8100
    """The port to listen on; 0: any that is free."""

    workers: Annotated[int, Meta(ge=1)] = 1
    """Processes that share the port."""

    max_body: Annotated[int, Meta(ge=1)] = 64 * MEGABYTE
    """Bytes of a request, also after decompression and with all that it continues."""

    keys: bool = False
    """Ask clients for keys made by `toolglot keys create`."""

    open: bool = False
    """Listen beyond this machine although no keys are asked for."""

    database: str | None = None
    """Where keys, usage and stored responses are; none: in memory."""

    record: str | None = None
    """A directory in which every exchange is written down, prompts included."""

    traces: str | None = None
    """Where OpenTelemetry spans go, such as http://localhost:4318."""

    log: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level to log."""

    store_ttl: float = 30 * 24 * 3600.0
    """Seconds for which responses are stored."""

    store_size: int = 512 * MEGABYTE
    """Bytes of all responses that are stored."""

    receipts: int = 1000
    """How many receipts can be asked for afterwards."""

    origins: tuple[str, ...] = ()
    """Whose pages may ask from a browser, beside those of this machine: https://chat.example."""

    hosts: tuple[str, ...] = ()
    """By which names clients may call the gateway, beside those of this machine and `host`, where
    no keys are asked for: gateway.intern, *.intern."""

    admin: str | None = None
    """Where /metrics and /ready are answered without a key, beside `host`: 127.0.0.1:8101."""

    trusted_proxies: tuple[str, ...] = ()
    """Addresses, or networks, of proxies whose `identity_header` is believed."""

    identity_header: str | None = None
    """The header in which a trusted proxy names its client; that is the name of a key."""

    limits: ServerLimits = ServerLimits()
    inspector: Inspector = Inspector()
    tls: Tls | None = None
    extensions: tuple[str, ...] = ()
    """Modules to import first, which register parsers, dialects or profiles."""

    keep_alive: _Seconds = 15.0
    """Seconds of silence after which a waiting client is told that the stream lives."""


class Timeouts(_Table, frozen=True, kw_only=True):
    """Seconds to wait for a provider."""

    connect: _Seconds = 10.0
    """For a connection."""

    first_byte: _Seconds = 300.0
    """For the first byte of an answer."""

    idle: _Seconds = 300.0
    """Between two pieces of an answer."""


class ToolRulesFor(ToolRules, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules for the tools of some requests: those for which all that is said here holds."""

    client: str | None = None
    """How the `User-Agent` of the client begins, in any case; `*` matches anything: `codex`."""

    protocol: str | None = None
    """The protocol that the client speaks."""

    model: str | None = None
    """The model that is asked for; `*` matches anything."""

    preset: str | None = None
    """Rules by name, to which the others here are added."""

    def holds(self, protocol: str, user_agent: str, model: str) -> bool:
        """Whether these rules are for such requests."""
        client = self.client
        return (
            (client is None or fnmatchcase(user_agent.lower(), f"{client.lower()}*"))
            and self.protocol in (None, protocol)
            and (self.model is None or fnmatchcase(model, self.model))
        )

    def all_rules(self) -> tuple[ToolRules, ...]:
        """Those of the preset, and these."""
        return (PRESETS[self.preset], self) if self.preset else (self,)


class Provider(_Table, frozen=True, kw_only=True):
    """A provider: one that is known (`profile`) or any URL that speaks a protocol."""

    profile: str | None = None
    """The name of a provider that is known; `toolglot capabilities` lists them."""

    protocol: str | None = None
    """The protocol that it speaks, where no profile says so."""

    base_url: str | None = None
    """Its address: a host, one with the version of a protocol, or that of a request."""

    deployment: str | None = None
    """The deployment to ask for in place of the model."""

    api_version: str | None = None
    """The version of an API whose version is a query parameter."""

    api_key: str | tuple[str, ...] | None = None
    """`env:NAME`, `file:PATH`, or `client` for the client's own; several are used in turn."""

    auth: str | None = None
    """The header that carries the key, where it is not the usual one: `x-api-key`. `sigv4`: there
    is no key, and requests are signed with AWS credentials."""

    headers: Mapping[str, str] = {}
    """Sent with every request."""

    values: Mapping[str, str] = {}
    """What stands for the words in braces of the provider's address, such as `region`."""

    pass_through: bool | None = None
    """Whether `/NAME/…` passes requests on as they are; none: where clients need no keys."""

    proxy: str | None = None
    """An HTTP proxy."""

    timeouts: Timeouts = Timeouts()
    retries: Annotated[int, Meta(ge=0)] = 2
    """How often a request is sent again before the first byte of an answer."""

    weight: Annotated[float, Meta(gt=0)] = 1.0
    """Its share where a route picks by weight."""

    models: tuple[str, ...] = ()
    """Models to show to clients; none: what the provider lists."""

    tools: str | None = None
    """`native`, or `emulated` for a model that knows no tools (`emulated:hermes` to choose how);
    none: what is known about the model."""

    dialect: str | None = None
    """Calls inside text: `auto`, `off` or the dialect's name; none: what is known about the
    model."""

    max_tokens: int | None = None
    """The limit to send where the provider requires one and the client gave none."""

    ids: Literal["preserve", "prefix"] = "preserve"
    """Ids of calls as they came, or with the prefix of the client's protocol."""

    id_rule: str | None = None
    """What the provider accepts as an id, where that is not known."""

    schema_dialect: str | None = None
    """The subset of JSON Schema that it takes, where that is not known."""

    stream_tools: Literal["live", "buffered"] = "live"
    """Stream the arguments of calls as they come, or each call whole."""

    validate: Literal["off", "note", "repair", "retry"] = "off"
    """Check the arguments of calls against the tool's schema, and what to do if they do not fit."""

    mend: Literal["on", "off"] | None = None
    """Change a request that the provider refuses, and send it once more; correct mistakes in
    answers that stop agents. `off`: neither. None: as for all providers."""

    rules: str | Mapping[str, Any] | None = None
    """The name of a preset of tool rules, or a table of facts that are laid over the provider's
    rule book: `"tools.kinds" = ["function"]`."""

    tool_rules: tuple[ToolRulesFor, ...] = ()
    """What is done to the tools of clients: filter, rename, map parameters, guide."""

    options: ProviderOptions = ProviderOptions()
    """More options of translation, as the library has them."""

    issuer: str | None = None
    """Who issues reasoning state, where several providers share it; none: this provider."""

    context_window: int | None = None
    """How many tokens its models really take."""

    client_window: int | None = None
    """How many its clients believe that they take: prompts are counted to them in proportion."""


class RouteConfig(_Table, frozen=True, kw_only=True):
    """Where requests for a model go."""

    match: str
    """A pattern for the model that the client asks for; `*` matches anything."""

    to: str | Annotated[tuple[str, ...], Meta(min_length=1)]
    """`provider/model`, or several; `provider/*` keeps the name of the model."""

    pick: Literal["first", "weighted", "least-busy", "affinity"] = "first"
    """Which of several is asked first; the others follow if it fails."""

    mend: Literal["on", "off"] | None = None
    """`mend` of its requests, whatever their provider says."""

    @property
    def targets(self) -> tuple[str, ...]:
        """All of them, in their order."""
        return (self.to,) if isinstance(self.to, str) else self.to


class Config(_Table, frozen=True, kw_only=True):
    """The whole file."""

    mend: Literal["on", "off"] = "on"
    """`mend` of all providers that say nothing of it themselves."""

    server: Server = Server()
    providers: Mapping[str, Provider] = {}
    routes: tuple[RouteConfig, ...] = ()


def load_config(path: Path | None, environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration in a file; without one, the providers whose keys the environment has."""
    if path is None:
        return Config(providers=dict(found_providers(environ)))
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8") from None
    config, problems = _read(raw)
    for where, problem in problems:
        raise ConfigError(located(path, text, where, problem))
    return config


def _read(raw: Mapping[str, Any]) -> tuple[Config, Iterable[tuple[str, str]]]:
    """The configuration, and all that is wrong with it by its place."""
    given = raw.get("providers", {})
    named = given if isinstance(given, dict) else {}
    providers: dict[str, Provider] = {}
    where = ""
    try:
        # A mapping is read entry by entry: the error then says in which.
        for name, table in named.items():
            where = f"providers.{name}"
            providers[name] = inferred(convert(table, Provider))
        where = ""
        config = convert({**raw, "providers": {} if named else given}, Config)
    except ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        return Config(), [_plain(where + place.rstrip("`"), what)]
    config = replace(config, providers=providers)
    return config, _problems(config)


def inferred(provider: Provider) -> Provider:
    """A provider that is given by its address alone, with what that says about it."""
    if provider.base_url is None or provider.profile or provider.protocol:
        return provider
    profile = profile_at(provider.base_url)
    if profile is not None:
        return replace(provider, profile=profile.name)
    return replace(provider, protocol=endpoint_protocol(provider.base_url))


def _plain(where: str, what: str) -> tuple[str, str]:
    unknown = _UNKNOWN.match(what)
    if unknown:
        where, what = f"{where}.{unknown[1]}", "there is no such key"
        meant = get_close_matches(unknown[1], _WORDS, n=1)
        what += f"; perhaps {meant[0]}?" if meant else ""
    elif what.startswith("Invalid enum value"):
        what += f"; expected one of {', '.join(_WORDS[where.rpartition('.')[2]])}"
    return where.lstrip("."), what


def _words(*tables: type) -> Iterator[tuple[str, tuple[str, ...]]]:
    """All keys of tables, and the words that can stand there if only some can."""
    for table in tables:
        for name, kind in get_type_hints(table).items():
            either = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
            words = (get_args(each) for each in either if get_origin(each) is Literal)
            yield name, next(words, ())


_TABLES: Final = (
    Config, Server, ServerLimits, Inspector, Tls, Provider, ProviderOptions, Timeouts, RouteConfig,
    ToolRulesFor,
)  # fmt: skip
_WORDS: Final = dict(_words(*_TABLES))


def found_providers(environ: Mapping[str, str]) -> Iterator[tuple[str, Provider]]:
    """Providers whose keys or addresses are in the environment under their usual names."""
    for profile in profiles():
        usual = profile.endpoint().base_url
        key = next((name for name in profile.auth.env if environ.get(name)), None)
        at = next((name for name in profile.base_url_env if environ.get(name, "").strip()), None)
        base_url = from_variable(environ[at], usual) if at else None
        if at is not None and not _URL.fullmatch(base_url or ""):
            raise ConfigError(f"{at}: {environ[at]!r} is neither a URL nor a host")
        is_usable = key is not None or (base_url is not None and not profile.auth.required)
        if is_usable and (base_url or "{" not in usual):
            api_key = f"env:{key}" if key else None
            yield (
                profile.name,
                Provider(profile=profile.name, api_key=api_key, base_url=base_url),
            )


def without_loops(config: Config) -> tuple[Config, tuple[str, ...]]:
    """A configuration from the environment without addresses that are the gateway's own, and what
    to say about it. A client of the gateway has such addresses, and so has its shell.
    """
    warnings, providers = [], {}
    for name, provider in config.providers.items():
        if not _is_loop(config, provider):
            providers[name] = provider
            continue
        variable = ", ".join(get_profile(name).base_url_env)
        warnings.append(
            f"{variable} is the address of this gateway itself ({_shown(provider)}) and is not "
            f"used to find provider {name}; unset it where the gateway is started"
        )
        if provider.api_key is not None:
            providers[name] = replace(provider, base_url=None)
    return replace(config, providers=providers), tuple(warnings)


def check_loops(config: Config) -> None:
    """Refuse providers whose address is the gateway's own."""
    for name, provider in config.providers.items():
        if _is_loop(config, provider):
            raise ConfigError(
                f"providers.{name}.base_url: {_shown(provider)} is the address of this gateway "
                "itself; requests would never end"
            )


def _shown(provider: Provider) -> str:
    """The address of a provider without a password."""
    return re.sub(r"//[^/@]*@", "//…@", provider.base_url or "")


def _is_loop(config: Config, provider: Provider) -> bool:
    server, base_url = config.server, provider.base_url
    return base_url is not None and is_same_server(base_url, server.host, server.port)


def read_secret(text: str, environ: Mapping[str, str] = os.environ) -> str:
    """The secret that `env:NAME` or `file:PATH` stands for."""
    kind, _, name = text.partition(":")
    if kind == "env":
        if not environ.get(name, "").strip():
            raise ConfigError(f"the environment variable {name} is not set")
        return environ[name].strip()
    if kind == "file":
        try:
            return Path(name).expanduser().read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ConfigError(f"{name}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{name}: not a text file") from None
        except (RuntimeError, ValueError):
            # A home that does not exist, or a character that no path has.
            raise ConfigError(f"{name!r} is no path of a file") from None
    return text


# --- what the form of the file does not say -------------------------------------------------------


def _problems(config: Config) -> Iterator[tuple[str, str]]:
    # First, because providers may name what these register.
    for index, name in enumerate(config.server.extensions):
        try:
            import_module(name)
        except ImportError as error:
            yield f"server.extensions[{index}]", f"{name} cannot be imported: {error}"
    yield from _server_problems(config.server)
    for name, provider in config.providers.items():
        yield from _provider_problems(f"providers.{name}", provider)
    for index, route in enumerate(config.routes):
        for target in route.targets:
            provider_name = target.partition("/")[0]
            if provider_name != DEMO and provider_name not in config.providers:
                known = ", ".join((*config.providers, DEMO))
                yield f"routes[{index}].to", f"no provider {provider_name!r}; known: {known}"


def _server_problems(server: Server) -> Iterator[tuple[str, str]]:
    for index, network in enumerate(server.trusted_proxies):
        try:
            ip_network(network, strict=False)
        except ValueError:
            words = f"{network!r} is no address or network, such as 10.0.0.5 or 10.0.0.0/24"
            yield f"server.trusted_proxies[{index}]", words
    if bool(server.trusted_proxies) != bool(server.identity_header):
        yield "server", "trusted_proxies and identity_header belong together; give both or none"
    if server.identity_header and not server.keys:
        yield "server.identity_header", "the names that it has are those of keys: set keys = true"
    if server.inspector.enabled and server.workers > 1:
        yield "server.inspector.enabled", "each worker would show other exchanges: use one worker"
    if server.admin is not None and not _HOST_AND_PORT.fullmatch(server.admin):
        yield "server.admin", "expected an address and a port, such as 127.0.0.1:8101"
    tls = server.tls
    if tls is not None and tls.require_client_cert and tls.client_ca is None:
        yield "server.tls.require_client_cert", "client_ca must say whom to trust"


def _is_dialect(name: str) -> bool:
    from toolglot.dialects.table import DIALECTS  # noqa: PLC0415 - loading them takes time

    return name in DIALECTS


def _provider_problems(where: str, provider: Provider) -> Iterator[tuple[str, str]]:
    if provider.protocol is not None and provider.protocol not in PROTOCOLS:
        yield f"{where}.protocol", f"expected one of {', '.join(PROTOCOLS)}"
    dialect = (provider.tools or "").removeprefix("emulated").lstrip(":") or provider.dialect
    if dialect not in (None, "native", "auto", "off") and not _is_dialect(dialect):
        yield where, f"no dialect {dialect!r}; `toolglot dialects` lists them"
    yield from _named_problems(where, provider)
    if provider.base_url is not None and not provider.base_url.startswith(_SCHEMES):
        yield f"{where}.base_url", "expected a URL that begins with http:// or https://"
    elif provider.base_url is not None and not _ADDRESS.match(provider.base_url):
        yield f"{where}.base_url", "expected a host, and a port as a number, behind the scheme"
    if provider.profile is not None:
        try:
            profile = get_profile(provider.profile)
        except UnknownProviderError:
            yield f"{where}.profile", _no_profile(provider.profile)
            return
        if provider.protocol not in (None, *profile.protocols) and provider.base_url is None:
            yield f"{where}.protocol", f"{profile.name} speaks {', '.join(profile.protocols)}"
    elif provider.protocol is None or provider.base_url is None:
        yield where, "give a profile, or both protocol and base_url; `toolglot discover` finds both"


def _named_problems(where: str, provider: Provider) -> Iterator[tuple[str, str]]:
    if isinstance(provider.rules, Mapping):
        for fact, problem in check_overrides(provider.rules):
            yield f"{where}.rules.{fact}", problem
    for index, rules in enumerate(provider.tool_rules):
        yield from _tool_rule_problems(f"{where}.tool_rules[{index}]", rules)
    for key, known in _NAMED.items():
        named = getattr(provider, key)
        if isinstance(named, str) and named not in known:
            yield f"{where}.{key}", f"{named!r} is none of {', '.join(known)}"


def _tool_rule_problems(where: str, rules: ToolRulesFor) -> Iterator[tuple[str, str]]:
    if rules.protocol not in (None, *PROTOCOLS):
        yield f"{where}.protocol", f"expected one of {', '.join(PROTOCOLS)}"
    if rules.preset not in (None, *PRESETS):
        yield f"{where}.preset", f"{rules.preset!r} is none of {', '.join(PRESETS)}"
        return
    combined = combine_rules(rules.all_rules())
    if combined in (None, ToolRules()):
        yield where, f"there is no rule in it: give one of {', '.join(_RULES)}"
    for key in ("rename", "parameters"):
        for name in getattr(rules, key):
            if rules.filters(name):
                yield f"{where}.{key}.{name}", "the tool is filtered, so it has no other name"


def _no_profile(name: str) -> str:
    meant = get_close_matches(name, [profile.name for profile in profiles()], n=1)
    guess = f"; perhaps {meant[0]}?" if meant else ""
    return f"`toolglot capabilities` lists the profiles; none is called so{guess}"


_HOST_AND_PORT: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d{1,5}")
_SCHEMES: Final = ("http://", "https://")
_ADDRESS: Final = re.compile(r"https?://[^\s/?#]*[^\s/?#:](?::\d{1,5})?(?:[/?#]\S*)?$")
_URL: Final = re.compile(r"https?://[^\s/?#]+(/\S*)?", re.IGNORECASE)
_NAMED: Final[Mapping[str, Collection[str]]] = {
    "id_rule": ID_RULES,
    "schema_dialect": SUBSETS,
    "rules": PRESETS,
}
"""What can be named in a provider, and the names."""
_RULES: Final = tuple(field.name for field in fields(ToolRules))
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `([^`]+)`")


def plain_secrets(config: Config) -> Iterator[str]:
    """The keys that stand in the file in the clear."""
    for name, provider in config.providers.items():
        given: Any = provider.api_key
        for key in (given,) if isinstance(given, str) else given or ():
            if not key.startswith(("env:", "file:")) and key != CLIENT:
                yield f"providers.{name}.api_key"


def left_out_targets(config: Config) -> Iterator[str]:
    """Targets that are never asked, because a client's own key goes to one provider only."""
    for index, route in enumerate(config.routes):
        names = dict.fromkeys(target.partition("/")[0] for target in route.targets)
        given = {name: config.providers[name] for name in names if name in config.providers}
        taking = {name: each for name, each in given.items() if _takes_client_key(each)}
        first = next(iter(taking), "")
        for name, each in taking.items():
            if key_issuer(each) != key_issuer(taking[first]):
                yield (
                    f"routes[{index}]: {name} is never asked, because the client's own key goes to "
                    f"{first} only; a common issuer says that they take the same keys"
                )


def key_issuer(provider: Provider) -> str:
    """Who issues the keys of a provider: what it says, or whoever has its address."""
    host = urlsplit(provider.base_url or "").netloc.rpartition("@")[2]
    return provider.issuer or host or provider.profile or ""


def _takes_client_key(provider: Provider) -> bool:
    given = provider.api_key
    return CLIENT in ((given,) if isinstance(given, str) else given or ())


CLIENT: Final = "client"
"""In place of a key: send on the one that the client came with."""
