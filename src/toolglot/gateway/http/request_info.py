"""What an HTTP request has of its client: its id, its key, and its likely protocol."""

import os
import secrets
from typing import Final

from toolglot.http1.server_request import HttpRequest
from toolglot.registry import PROTOCOLS, guess_caller

PROTOCOL: Final = "protocol"
"""The protocol of a request, once it is known."""

_ID: Final = "id"
_LONGEST_ID: Final = 128
_AT_ONCE: Final = 64
_KEY_HEADERS: Final = tuple(
    dict.fromkeys(
        (
            *(module.API.key_header for module in PROTOCOLS.values() if not module.API.key_prefix),
            "api-key",  # Azure
        )
    )
)


def given_key(request: HttpRequest) -> str | None:
    """The key that a client sends, wherever its protocol has it."""
    headers = request.headers.lower
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if token and scheme.lower() == "bearer":
        return token.strip()
    for name in _KEY_HEADERS:
        if named := headers.get(name):
            return named
    return request.query.get("key")


def request_id(given: str) -> str:
    """The id that the client gave its request, or a new one."""
    usable = 0 < len(given) <= _LONGEST_ID and given.isascii() and given.isprintable()
    return given if usable else f"req_{_random_hex()}"


_random: Final[list[str]] = []
"""Random numbers that were not used yet."""
os.register_at_fork(after_in_child=_random.clear)


def _random_hex() -> str:
    """24 digits. The system is asked for many at once, since asking takes 3 µs each time."""
    if not _random:
        digits = secrets.token_hex(12 * _AT_ONCE)
        _random.extend(digits[at : at + 24] for at in range(0, len(digits), 24))
    return _random.pop()


def id_of(request: HttpRequest) -> str:
    """The id of a request, generated once."""
    number: str | None = request.get(_ID)
    if number is None:
        number = request[_ID] = request_id(request.headers.lower.get("x-request-id", ""))
    return number


def protocol_of(request: HttpRequest) -> str:
    """The most likely protocol of a client, where the path does not decide it."""
    known: str | None = request.get(PROTOCOL)
    if known is not None:
        return known
    return guess_caller(request.path, request.headers, request.query)
