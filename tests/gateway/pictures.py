"""Small pictures of a given size, as far as their headers go."""

import base64
import struct


def png(width: int, height: int) -> str:
    head = struct.pack(">II5B", width, height, 8, 2, 0, 0, 0)
    return _text(b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + head + bytes(4))


def gif(width: int, height: int) -> str:
    return _text(b"GIF89a" + struct.pack("<HH", width, height) + bytes(8))


def jpeg(width: int, height: int, profile: int = 5000) -> str:
    """With a colour profile before the frame, and a table whose marker looks like a frame's."""
    profile_segment = b"\xff\xe2" + struct.pack(">H", profile) + bytes(profile - 2)
    table = b"\xff\xc4" + struct.pack(">H", 20) + b"\x11" * 18
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return _text(b"\xff\xd8" + profile_segment + table + frame + b"\xff\xd9")


def webp_lossy(width: int, height: int) -> str:
    frame = b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width | 0x4000, height)
    return _text(_riff(b"VP8 ", frame + bytes(8)))


def webp_lossless(width: int, height: int) -> str:
    bits = (width - 1) | (height - 1) << 14
    return _text(_riff(b"VP8L", b"\x2f" + struct.pack("<I", bits) + bytes(8)))


def webp_extended(width: int, height: int) -> str:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return _text(_riff(b"VP8X", bytes(4) + size))


def _riff(kind: bytes, data: bytes) -> bytes:
    chunk = b"WEBP" + kind + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(chunk)) + chunk


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


ALL = (png, gif, jpeg, webp_lossy, webp_lossless, webp_extended)
