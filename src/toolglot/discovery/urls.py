"""Where a protocol may be spoken, given the address that a person has."""

import re
from collections.abc import Iterator
from typing import Final

from toolglot.errors import ToolglotError
from toolglot.registry import PROTOCOLS
from toolglot.surface import Surface

_ENDPOINT: Final = re.compile(
    r"/(chat/completions|completions|responses|messages|api/(chat|tags|generate)|models(/.*)?)$"
)
"""What people copy along with an address."""

_VERSION: Final = re.compile(r"/v\d+[a-z0-9]*$")
_ADDRESS: Final = re.compile(r"https?://[^/\s@]+(/[^\s@]*)?", re.IGNORECASE)
_LOCAL: Final = re.compile(r"^(localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)$", re.IGNORECASE)


class AddressError(ToolglotError, ValueError):
    """What was given is no address of a server."""


def normal_url(url: str) -> str:
    """An address without the words of a protocol; `http://` is added where there is no scheme."""
    address = url.strip().partition("#")[0].partition("?")[0]
    address = (address if "://" in address else f"http://{address}").rstrip("/")
    if not _ADDRESS.fullmatch(address):
        # It is not repeated: a password may be in it.
        raise AddressError("this is no address; give http://HOST:PORT or https://HOST")
    return _ENDPOINT.sub("", address)


def version_of(surface: Surface) -> str:
    """The first word of a protocol's own path: `/v1`."""
    return surface.path[: surface.path.index("/", 1)]


def places(base: str, surface: Surface) -> tuple[str, ...]:
    """Base addresses at which a protocol may be found, the likely one first."""
    own = version_of(surface)
    if base.endswith(own):
        return (base,)
    versioned = _VERSION.search(base)
    if versioned:
        known = versioned.group() in {version_of(codec.SURFACE) for codec in PROTOCOLS.values()}
        return (base[: versioned.start()] + own,) if known else (base,)
    if base.endswith("/api"):
        return (base + own, base.removesuffix("/api") + own)
    return (base + own, base)


def model_lists(base: str) -> Iterator[str]:
    """Addresses at which models may be listed, the likely one first."""
    urls = [
        place + codec.SURFACE.models.removeprefix(version_of(codec.SURFACE))
        for codec in PROTOCOLS.values()
        for place in places(base, codec.SURFACE)[:1]
    ]
    yield from dict.fromkeys((*urls, f"{base}/models"))


def name_for(url: str) -> str:
    """A name for a provider, from its address."""
    host, _, port = normal_url(url).partition("://")[2].partition("/")[0].partition(":")
    if _LOCAL.match(host) or host.startswith("["):
        return f"local-{port}" if port.isdigit() else "local"
    name = "-".join(re.findall(r"[a-z0-9]+", host.lower()))
    return f"{name}-{port}" if port.isdigit() else name or "found"
