"""Content encodings, of requests and of replies."""

import zlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

Decompressor = Callable[[bytes], bytes]

_MOST_AT_ONCE: Final = 2**26
"""Bytes that a piece of a reply may become."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_WINDOWS: Final = {"deflate": zlib.MAX_WBITS, "gzip": _GZIP, "x-gzip": _GZIP}


class DecompressError(Exception):
    """A body is not compressed as it says, or not to its end."""


def decompress_body(body: bytes, encoding: str, limit: int) -> bytes:
    """A body without its encoding, by its name in lower case, up to one byte more than a limit; 0
    means none. A `DecompressError`, or a `LookupError` if the encoding cannot be read here.
    """
    if encoding in _WINDOWS:
        return _inflate(body, encoding, limit)
    return _extra_encodings()[encoding](body, limit + 1 if limit else -1)


def known_encodings() -> tuple[str, ...]:
    """The names of the encodings that can be read here."""
    return (*_WINDOWS, *_extra_encodings())


def _inflate(body: bytes, encoding: str, limit: int) -> bytes:
    worker = decompressobj(encoding, body)
    try:
        made: bytes = worker.decompress(body, limit + 1 if limit else 0)
        if limit and len(made) > limit:
            return made
        made += worker.flush()
    except zlib.error as error:
        raise DecompressError(f"the body is no {encoding}: {error}") from None
    if not worker.eof:
        raise DecompressError(f"the body is no complete {encoding}")
    if worker.unused_data:
        raise DecompressError(f"something follows the end of the {encoding}")
    return made


# --- encodings that Python has no module for, or has since 3.14 only ------------------------------


@cache
def _extra_encodings() -> Mapping[str, Callable[[bytes, int], bytes]]:
    """Those for which a module is installed."""
    found: dict[str, Callable[[bytes, int], bytes]] = {}
    for encoding, modules in _MODULES.items():
        for name, make in modules:
            try:
                found.setdefault(encoding, make(import_module(name)))
            except (ImportError, AttributeError):
                continue
    return found


def _zstd(module: Any) -> Callable[[bytes, int], bytes]:
    """By `compression.zstd` of Python 3.14, or its backport."""

    def read(body: bytes, most: int) -> bytes:
        worker = module.ZstdDecompressor()
        try:
            made = bytes(worker.decompress(body, most))
        except module.ZstdError as error:
            raise DecompressError(f"the body is no zstd: {error}") from None
        if worker.eof and worker.unused_data:
            raise DecompressError("something follows the end of the zstd")
        return _checked(made, most, "zstd", ended=worker.eof)

    return read


def _brotli(module: Any) -> Callable[[bytes, int], bytes]:
    # Versions without it cannot stop at a bound, and a kilobyte may become gigabytes.
    module.Decompressor.can_accept_more_data  # noqa: B018

    def read(body: bytes, most: int) -> bytes:
        worker = module.Decompressor()
        bound = {"output_buffer_limit": most} if most >= 0 else {}
        try:
            made = bytes(worker.process(body, **bound))
        except module.error as error:
            raise DecompressError(f"the body is no br: {error}") from None
        return _checked(made, most, "br", ended=worker.is_finished())

    return read


def _checked(made: bytes, most: int, encoding: str, *, ended: bool) -> bytes:
    if not ended and not 0 <= most <= len(made):
        raise DecompressError(f"the body is no complete {encoding}")
    return made


_MODULES: Final = {
    "zstd": (("compression.zstd", _zstd), ("backports.zstd", _zstd)),
    "br": (("brotli", _brotli), ("brotlicffi", _brotli)),
}
"""By which modules an encoding can be read, the best first. `zstandard` is none of them: it does
not say whether a body that it read within a bound came to its end.
"""


def decompressobj(encoding: str, beginning: bytes) -> Any:
    """The object of zlib for an encoding, by its name in lower case, and the bytes it begins with.

    `deflate` comes with or without the header of zlib: servers disagree on what the word means.
    """
    window = _WINDOWS[encoding]
    raw = encoding == "deflate" and beginning[0] & 0x0F != zlib.DEFLATED
    return zlib.decompressobj(-window if raw else window)


def decompressor(encoding: str | None) -> Decompressor | None:
    """What undoes the encoding of a reply, piece by piece; None where there is none to undo.

    We ask for none, and some servers compress all the same.
    """
    name = (encoding or "identity").strip().lower()
    if name == "identity":
        return None
    if name not in _WINDOWS:
        raise ValueError(f"the reply is compressed as {encoding}, which was not asked for")
    made: list[Any] = []

    def decompress(data: bytes) -> bytes:
        if not data:
            return b""
        if not made:
            made.append(decompressobj(name, data))
        worker = made[0]
        plain = bytes(worker.decompress(data, _MOST_AT_ONCE))
        if worker.unconsumed_tail:
            raise zlib.error(f"a piece of it has more than {_MOST_AT_ONCE} bytes")
        return plain

    return decompress
