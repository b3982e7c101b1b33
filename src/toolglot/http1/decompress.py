"""Content encodings of replies."""

import zlib
from collections.abc import Callable, Mapping
from typing import Final

Decompressor = Callable[[bytes], bytes]

_GZIP: Final = 16 + zlib.MAX_WBITS


def decompressor(encoding: str | None) -> Decompressor | None:
    """What undoes an encoding, piece by piece; None where there is none to undo.

    We ask for none, and some servers compress all the same.
    """
    if not encoding or encoding.lower() == "identity":
        return None
    make = _DECOMPRESSORS.get(encoding.strip().lower())
    if make is None:
        raise ValueError(f"the reply is compressed as {encoding}, which was not asked for")
    return make()


def _gzip() -> Decompressor:
    return zlib.decompressobj(_GZIP).decompress


def _deflate() -> Decompressor:
    """With or without the header of zlib: servers disagree on what the word means."""
    state: list[Decompressor] = []

    def decompress(data: bytes) -> bytes:
        if not state and data:
            raw = data[0] & 0x0F != zlib.DEFLATED
            state.append(zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS).decompress)
        return state[0](data) if data else b""

    return decompress


_DECOMPRESSORS: Final[Mapping[str, Callable[[], Decompressor]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
}
