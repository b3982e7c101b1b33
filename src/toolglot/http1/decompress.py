"""Content encodings, of requests and of replies."""

import zlib
from collections.abc import Callable
from typing import Any, Final

Decompressor = Callable[[bytes], bytes]

_MOST_AT_ONCE: Final = 2**26
"""Bytes that a piece of a reply may become."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_WINDOWS: Final = {"deflate": zlib.MAX_WBITS, "gzip": _GZIP, "x-gzip": _GZIP}
ENCODINGS: Final = tuple(_WINDOWS)
"""The names of the encodings that can be read."""


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
