"""Digests, for ids and aliases that depend on nothing but their input."""


def digest(data: bytes, size: int, salt: int = 0) -> bytes:
    """A digest of some data; another salt gives another one."""
    from hashlib import blake2b  # noqa: PLC0415 - it costs start-up time, and few translations need it

    return blake2b(data, digest_size=size, salt=salt.to_bytes(8, "big")).digest()
