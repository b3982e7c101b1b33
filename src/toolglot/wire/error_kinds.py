"""What the errors of all protocols share: their kind by status and words, and their headers."""

from collections.abc import Mapping
from typing import Final

from toolglot.context import Context
from toolglot.ir import ApiError, ErrorKind

_FIRST_ERROR: Final = 400
_FIRST_SERVER_ERROR: Final = 500

_BY_STATUS: Final[dict[int, ErrorKind]] = {
    400: "invalid_request",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    422: "invalid_request",
    429: "rate_limit",
    500: "server",
    502: "server",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}

_OVERFLOW: Final = (
    "prompt is too long",
    "maximum context length",
    "context_length_exceeded",
    "context window",
    "exceed_context_size",
    "exceeds the maximum number of tokens",
    "input token count",
)
"""How providers word a prompt that does not fit, since most have no code for it."""


def is_error(status: int) -> bool:
    """Whether an HTTP status is an error."""
    return status >= _FIRST_ERROR


def error_kind(kind: ErrorKind | None, status: int | None, message: str) -> ErrorKind:
    """The kind of an error: by its own word, else its status; a prompt too long by its message."""
    kind = kind or _by_status(status)
    if kind in ("invalid_request", "too_large") and any(
        words in message.lower() for words in _OVERFLOW
    ):
        return "context_length"
    return kind


def _by_status(status: int | None) -> ErrorKind:
    if status is None:
        return "server"
    client = is_error(status) and status < _FIRST_SERVER_ERROR
    return _BY_STATUS.get(status, "invalid_request" if client else "server")


def reply_status(error: ApiError, usual: int, name: str, ctx: Context) -> int:
    """The status to answer with: the one that came, or the one that the target's clients know."""
    if error.status is None or ctx.foreign(name):
        if error.status not in (None, usual):
            ctx.note("status-changed", "", f"status {error.status} becomes {usual}")
        return usual
    return error.status


def headers_of(error: ApiError, request_id: str) -> Mapping[str, str]:
    """The headers that a client acts on."""
    headers: dict[str, str] = {}
    if error.retry_after is not None:
        headers["retry-after"] = error.retry_after
    if error.request_id is not None:
        headers[request_id] = error.request_id
    return headers
