"""Base URLs as people write them, read as what they mean.

The same server is written in many ways, because each SDK adds another end to its base URL: as a
host (`http://host:11434`), with the version of one of its protocols (`/v1`, `/v1beta`, `/api`), or
as the whole address of a request (`/v1/chat/completions`). `resolve` gives the base URL at which a
protocol is spoken, which ends where the protocol's own words begin. In this order:

1. The address of a request of the protocol itself is taken exactly as it is.
2. What is known about a host (`profiles.toml`) decides where the protocol is on it; a version alone
   is no path there, unless the vendor has it so.
3. A host alone gets the protocol's version; the version of another protocol is replaced by it.
4. Any other path is the vendor's and stays. If it has no version at its end, the version follows
   that the protocol's SDK adds to every base URL, if it adds one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.profiles import Deployments, Endpoint, Profile, profiles
from toolglot.registry import PROTOCOLS, get_protocol

_URL: Final = re.compile(
    r"(?P<origin>[a-z]+://[^/?#]*)(?P<path>[^?#]*)(\?(?P<query>[^#]*))?", re.IGNORECASE
)
_VERSION: Final = re.compile(r"/v\d+[a-z0-9]*$")
_PLACEHOLDER: Final = re.compile(r"\\\{[a-z_]+\\\}")
"""A word in braces, in a pattern that was escaped."""
_ANYWHERE: Final = frozenset({"0.0.0.0", "[::]", ""})  # noqa: S104 - such an address is replaced
_HERE: Final = frozenset({*_ANYWHERE, "127.0.0.1", "localhost", "[::1]"})


class ServerUrl(Struct, frozen=True):
    """A URL in three parts; the path has no slash at its end."""

    origin: str
    path: str
    query: str = ""

    @classmethod
    def of(cls, url: str) -> "ServerUrl":
        """The parts of a URL; words in braces may be in any of them."""
        found = _URL.match(url.strip())
        if found is None:
            return cls(url, "")
        path = re.sub(r"/{2,}", "/", found["path"]).rstrip("/")
        return cls(found["origin"], path, found["query"] or "")

    @property
    def host(self) -> str:
        """The host, without port and user."""
        place = self.origin.partition("://")[2].rpartition("@")[2]
        return re.sub(r":\d+$", "", place).lower()

    @property
    def port(self) -> int:
        """The port, or the usual one."""
        found = re.search(r":(\d+)$", self.origin)
        return int(found[1]) if found else 443 if self.origin.startswith("https") else 80


def resolve(base_url: str, protocol: str) -> str:
    """The base URL at which a protocol is spoken on the server that a base URL names."""
    address = ServerUrl.of(base_url)
    if "://" not in address.origin:
        return base_url  # Whoever asks there says that this is no URL.
    path, spoken = _without_endpoint(address.path)
    if spoken == protocol:
        return address.origin + path
    if spoken is not None and path in _versions(spoken):
        path = ""
    known = [
        each
        for profile in profiles()
        if not profile.local
        for each in profile.endpoints
        if _matches(ServerUrl.of(each.base_url).origin, address.origin)
    ]
    return address.origin + (
        _known_path(path, protocol, known) if known else _usual_path(path, protocol)
    )


def exact_spelling(base_url: str, protocol: str) -> str:
    """A way to write a base URL so that `resolve` gives exactly this one."""
    if resolve(base_url, protocol) == base_url:
        return base_url
    return base_url + _end(get_protocol(protocol).SURFACE.path)


def endpoints_at(base_url: str, profile: Profile, protocol: str | None) -> Iterator[Endpoint]:
    """The endpoints of a provider at another base URL than its usual one.

    On its own host all protocols are known. On another host those are that share a path there.
    """
    address = ServerUrl.of(base_url)
    deployments = profile.deployments
    if deployments is not None and deployment_in(base_url, deployments) is not None:
        path, _ = _without_endpoint(address.path)
        yield Endpoint(
            protocol=deployments.protocol, base_url=address.origin + path, query=address.query
        )
        return
    path, spoken = _without_endpoint(address.path)
    usual = ServerUrl.of(profile.endpoint().base_url)
    known = [e for e in profile.endpoints if ServerUrl.of(e.base_url).origin == usual.origin]
    own_host = _matches(usual.origin, address.origin)
    if own_host:
        path = _meant(path, known)
    stem, version = _split_version(path, known)
    if not path and not own_host:
        stem = _stem_of(profile.endpoint())
    for each in profile.endpoints:
        if protocol not in (None, each.protocol):
            continue
        its_stem = _stem_of(each)
        if each.protocol == spoken:
            base = path
        elif each in known and (its_stem == stem or (own_host and _is_known(path, known))):
            kept = its_stem == stem and version in _versions(each.protocol)
            base = path if kept else ServerUrl.of(each.base_url).path
        elif each.base_url == profile.endpoint().base_url or protocol:
            base = _usual_path(path, each.protocol)
        else:
            continue
        yield replace(each, base_url=address.origin + base, query=address.query)


def deployment_in(base_url: str, deployments: Deployments) -> str | None:
    """The name of the deployment in a URL; None: it names none."""
    path, _ = _without_endpoint(ServerUrl.of(base_url).path)
    found = re.search(_template(ServerUrl.of(deployments.base_url).path) + "$", path)
    return found[1] if found else None


def profile_at(base_url: str) -> Profile | None:
    """The provider that is known to be at a host, or whose server usually listens on a port."""
    address = ServerUrl.of(base_url)
    for profile in profiles():
        usual = (ServerUrl.of(each.base_url) for each in profile.endpoints)
        if any(_is_at(each, address, local=profile.local) for each in usual):
            return profile
    return None


def _is_at(usual: ServerUrl, address: ServerUrl, *, local: bool) -> bool:
    if local:
        return address.origin.startswith("http:") and usual.port == address.port
    return _matches(usual.origin, address.origin)


def endpoint_protocol(base_url: str) -> str | None:
    """The protocol of a URL that is the address of a request."""
    return _without_endpoint(ServerUrl.of(base_url).path)[1]


def likely_base_url(base_url: str, protocol: str) -> str | None:
    """What was probably meant by a base URL without the version of a protocol, or with two."""
    address, own = ServerUrl.of(base_url), _versions(protocol)[0]
    path = _stem(address.path, own) + own
    return address.origin + path if path != address.path else None


def alternatives(base_url: str, protocol: str) -> tuple[str, ...]:
    """Other base URLs at which the protocol may be spoken, the likely one first."""
    address, own = ServerUrl.of(base_url), _versions(protocol)[0]
    stem = _stem(address.path, own)
    paths = (stem + own, own, *_vendor_paths(protocol), stem)
    found = (address.origin + each for each in paths if each != address.path)
    return tuple(dict.fromkeys(found))


def _stem(path: str, own: str) -> str:
    """A path without any versions at its end."""
    while shorter := _VERSION.search(path):
        path = path[: shorter.start()]
    return path.removesuffix(own)


def _vendor_paths(protocol: str) -> Iterator[str]:
    """Paths at which known providers speak a protocol, but for those with words in braces."""
    for profile in profiles():
        for each in profile.endpoints:
            path = ServerUrl.of(each.base_url).path
            if each.protocol == protocol and path and "{" not in path:
                yield path


# --- paths ----------------------------------------------------------------------------------------


def _usual_path(path: str, protocol: str) -> str:
    accepted = _versions(protocol)
    if not path:
        return accepted[0]
    if path in _all_versions():
        return path if path in accepted else accepted[0]
    last = path[path.rindex("/") :]
    if last in accepted or _VERSION.match(last) or _is_vendor_path(path):
        return path
    return path + get_protocol(protocol).API.sdk_adds


def _known_path(path: str, protocol: str, known: Iterable[Endpoint]) -> str:
    """The path of a protocol on a host of which some endpoints are known."""
    known = tuple(known)
    path = _meant(path, known)
    if not _is_known(path, known):
        return _usual_path(path, protocol)
    stem, version = _split_version(path, known)
    for each in known:
        if each.protocol == protocol:
            its = ServerUrl.of(each.base_url).path
            return path if _stem_of(each) == stem and version in _versions(protocol) else its
    if version:
        return _usual_path(path, protocol)
    return stem + _versions(protocol)[0]


def _meant(path: str, known: Iterable[Endpoint]) -> str:
    """A path without a version that is all of it, where the vendor has another path before it."""
    return "" if path in _all_versions() and "" not in map(_stem_of, known) else path


def _is_known(path: str, known: Iterable[Endpoint]) -> bool:
    """Whether a path is one of the known ones, with a version or without."""
    known = tuple(known)
    stems = {_stem_of(each) for each in known}
    return not path or _split_version(path, known)[0] in stems


def _split_version(path: str, known: Iterable[Endpoint]) -> tuple[str, str]:
    """A path without the version at its end, and the version."""
    stems = {_stem_of(each) for each in known}
    if path and path in stems:  # `/api` is a vendor's path on one host and a version on another.
        return path, ""
    found = _VERSION.search(path)
    if found is None and path in _all_versions():
        return "", path
    return (path[: found.start()], found[0]) if found else (path, "")


def _stem_of(endpoint: Endpoint) -> str:
    """The path of a known base URL without the version."""
    path = ServerUrl.of(endpoint.base_url).path
    version = next((each for each in _versions(endpoint.protocol) if path.endswith(each)), None)
    return path.removesuffix(version) if version else _VERSION.sub("", path)


@lru_cache(maxsize=256)
def _without_endpoint(path: str) -> tuple[str, str | None]:
    """A path without the words of a protocol, and the protocol if a request is sent there."""
    for pattern, protocol in _endpoints():
        found = pattern.fullmatch(path)
        if found is not None:
            return found["base"], protocol
    return path, None


# --- what the protocols declare -------------------------------------------------------------------


@lru_cache(maxsize=1)
def _endpoints() -> tuple[tuple[re.Pattern[str], str | None], ...]:
    """Patterns for paths that end with the words of a protocol, the longest words first."""
    words: dict[tuple[str, str], str | None] = {}
    ends = {name: _end(codec.SURFACE.path) for name, codec in PROTOCOLS.items()}
    for name, codec in PROTOCOLS.items():
        api, version = codec.API, _versions(name)[0]
        begins_another = any(each.startswith(ends[name] + "/") for each in ends.values())
        # `/chat` alone may be a vendor's path; `/api/chat` is not.
        words[version if begins_another else "", ends[name]] = name
        others = (api.count and api.count.path, api.prompt and api.prompt.path)
        for path in (codec.SURFACE.models, api.show and api.show.path, *others):
            if path and path.startswith("/"):
                words.setdefault((path.removesuffix(_end(path)), _end(path)), None)
    rows = sorted(words.items(), key=lambda row: -len(row[0][0] + row[0][1]))
    return tuple(
        (re.compile(f"(?P<base>.*{re.escape(kept)}){_operation(cut)}"), name)
        for (kept, cut), name in rows
    )


def _operation(words: str) -> str:
    """A pattern for the words of a protocol, with any model and any operation."""
    return re.sub(r":\w+$", r":\\w+", _template(words)) if "{" in words else re.escape(words)


def _end(path: str) -> str:
    """A protocol's path without its version."""
    return path[path.index("/", 1) :]


@lru_cache(maxsize=32)
def _versions(protocol: str) -> tuple[str, ...]:
    """The versions with which paths of a protocol may begin, the usual one first."""
    codec = get_protocol(protocol)
    own = codec.SURFACE.path.removesuffix(_end(codec.SURFACE.path))
    others = (f"/{each}" for each in codec.API.path_versions)
    return tuple(dict.fromkeys((own, *others)))


@lru_cache(maxsize=1)
def _all_versions() -> frozenset[str]:
    return frozenset(version for name in PROTOCOLS for version in _versions(name))


def _is_vendor_path(path: str) -> bool:
    """Whether some known provider has its endpoint at this path, whatever the host is."""
    paths = (ServerUrl.of(e.base_url).path for profile in profiles() for e in profile.endpoints)
    return any(re.fullmatch(_template(each), path) for each in paths if each.count("/") > 1)


def _matches(template: str, origin: str) -> bool:
    return re.fullmatch(_template(template), origin, re.IGNORECASE) is not None


@lru_cache(maxsize=256)
def _template(text: str) -> str:
    return _PLACEHOLDER.sub(r"([^/]+)", re.escape(text))


# --- the environment ------------------------------------------------------------------------------


def from_variable(value: str, usual: str) -> str:
    """The base URL that a variable means: a URL, a host, or a host and a port.

    What is missing is that of the `usual` base URL; an address to listen on means this machine.
    """
    given, default = value.strip().strip("\"'"), ServerUrl.of(usual)
    whole = "://" in given
    if given.count(":") > 1 and not whole and not given.startswith("["):
        given = f"[{given}]"  # An address of IPv6.
    address = ServerUrl.of(given if whole else f"{default.origin.partition(':')[0]}://{given}")
    port = re.search(r":(\d+)$", address.origin)
    if port is None and not whole and default.origin.startswith("http://"):
        address = replace(address, origin=f"{address.origin.rstrip(':')}:{default.port}")
    if address.host in _ANYWHERE:
        scheme = address.origin.partition("://")[0]
        address = replace(address, origin=f"{scheme}://127.0.0.1:{address.port}")
    return address.origin + address.path + (f"?{address.query}" if address.query else "")


def is_same_server(base_url: str, host: str, port: int) -> bool:
    """Whether a base URL leads to whoever listens at a host and a port of this machine."""
    address = ServerUrl.of(base_url)
    return address.port == port and address.host in {*_HERE, host.lower()}


def query_parameters(query: str) -> Mapping[str, str]:
    """The parameters of a query, as they are written."""
    pairs = (each.partition("=") for each in query.split("&") if each)
    return {name: value for name, _, value in pairs}
