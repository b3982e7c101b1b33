"""The size of an image, read from the first bytes of its file.

PNG, JPEG, GIF and WebP: the formats that providers accept. A file that is truncated, broken or of
another format has no size here.
"""

import binascii
from collections.abc import Callable
from typing import Final

Size = tuple[int, int]
"""Width and height in pixels."""

_HEAD: Final = 512 * 1024
"""Characters of base64 to look at: a JPEG may have colour profiles and previews in front."""

_NO_SIZE: Final = frozenset({0xC4, 0xC8, 0xCC})
"""Markers among the JPEG frame headers (C0 to CF) that are none."""


def image_size(data: str) -> Size | None:
    """The size of an image in base64, if it can be read."""
    head = data[:_HEAD]
    try:
        raw = binascii.a2b_base64(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return None
    for mark, read in _READERS:
        if raw.startswith(mark):
            size = read(raw)
            return size if size is not None and min(size) > 0 else None
    return None


def _png(raw: bytes) -> Size | None:
    if raw[12:16] != b"IHDR" or len(raw) < 24:  # noqa: PLR2004 - where its header ends
        return None
    return int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24])


def _gif(raw: bytes) -> Size | None:
    if len(raw) < 10:  # noqa: PLR2004 - where its size ends
        return None
    return int.from_bytes(raw[6:8], "little"), int.from_bytes(raw[8:10], "little")


def _jpeg(raw: bytes) -> Size | None:
    place = 2
    while place + 9 <= len(raw) and raw[place] == 0xFF:  # noqa: PLR2004 - every marker begins so
        marker = raw[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:  # noqa: PLR2004 - frame headers
            height = int.from_bytes(raw[place + 5 : place + 7])
            return int.from_bytes(raw[place + 7 : place + 9]), height
        place += 2 + int.from_bytes(raw[place + 2 : place + 4])
    return None


def _webp(raw: bytes) -> Size | None:
    read = _WEBP.get(raw[12:16])
    return read(raw) if read and len(raw) >= 30 else None  # noqa: PLR2004 - the shortest there is


def _webp_lossy(raw: bytes) -> Size:
    width, height = int.from_bytes(raw[26:28], "little"), int.from_bytes(raw[28:30], "little")
    return width & 0x3FFF, height & 0x3FFF


def _webp_lossless(raw: bytes) -> Size:
    bits = int.from_bytes(raw[21:25], "little")
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1


def _webp_extended(raw: bytes) -> Size:
    return int.from_bytes(raw[24:27], "little") + 1, int.from_bytes(raw[27:30], "little") + 1


_WEBP: Final[dict[bytes, Callable[[bytes], Size]]] = {
    b"VP8 ": _webp_lossy,
    b"VP8L": _webp_lossless,
    b"VP8X": _webp_extended,
}
_READERS: Final[tuple[tuple[bytes, Callable[[bytes], Size | None]], ...]] = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"\xff\xd8", _jpeg),
    (b"GIF8", _gif),
    (b"RIFF", _webp),
)
