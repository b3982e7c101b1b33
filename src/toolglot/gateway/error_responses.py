"""Errors of the gateway's own: made here, and written in the protocol of whoever asked.

What a provider says is translated by the core. Everything else that a client can be told is in this
module, so that all of it has one voice: what is wrong, and what to do about it. Which errors are
worth another attempt is decided in `toolglot.attempts`.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.http1.server_request import BodyError, BodyTooLargeError
from toolglot.ir import ApiError, ErrorKind
from toolglot.registry import get_protocol
from toolglot.wire.message import WireResponse

_LONGEST: Final = 100
"""Characters of a client's own words that are repeated to it."""
_BUSY: Final = 503
FIRST_REDIRECT: Final = 300
FIRST_ERROR: Final = 400
"""The statuses from here on are errors."""


UNKNOWN_PATH: Final = "unknown_path"
WRONG_BASE_URL: Final = "wrong_base_url"
OWN_CODES: Final = frozenset({UNKNOWN_PATH, WRONG_BASE_URL})
"""Codes that no protocol has; every protocol's errors carry them."""


class RequestRejectedError(Exception):
    """A request cannot be answered; its client gets this error."""

    def __init__(self, error: ApiError) -> None:
        self.error = error
        super().__init__(error.message)


def render(error: ApiError, protocol: str) -> WireResponse:
    """An error as a client of a protocol reads it."""
    codec = get_protocol(protocol)
    wire = codec.encode_response(error, Context(target=codec.SURFACE))
    if error.code not in OWN_CODES:
        return wire
    return replace(wire, body=codec.API.with_code(wire.body, error.code))


# --- what is wrong with a request -----------------------------------------------------------------


def invalid_request(message: str) -> ApiError:
    """The request itself is wrong."""
    return _error("invalid_request", message, 400)


def too_large(limit: int) -> ApiError:
    """The body is larger than the gateway takes."""
    words = f"the request has more than {limit} bytes; raise max_body in [server] to allow more"
    return _error("too_large", words, 413)


def history_too_large(limit: int) -> ApiError:
    """What a request continues is larger than a request may be."""
    words = f"with what it continues the request has more than {limit} bytes; begin anew, or raise "
    return _error("too_large", words + "max_body in [server] to allow more", 413)


def wrong_method(method: str, path: str, allowed: Iterable[str]) -> ApiError:
    """The path is right and the method is not."""
    words = f"{method} {path}: this path takes {', '.join(allowed)}"
    return _error("invalid_request", words, 405)


def needs_upgrade(path: str) -> ApiError:
    """GET where only a WebSocket is."""
    words = f"{path} takes POST, or GET that upgrades to a WebSocket"
    return _error("invalid_request", words, 426)


def not_found(message: str) -> ApiError:
    """What is asked for does not exist."""
    return _error("not_found", message, 404)


def unknown_path(message: str) -> ApiError:
    """There is nothing at the path that a client asks at."""
    return ApiError(kind="not_found", message=message, status=404, code=UNKNOWN_PATH)


def missing_item(message: str) -> ApiError:
    """A stored object does not exist; the API that stores it calls this a bad request."""
    return _error("invalid_request", message, 404)


def unknown_model(model: str) -> ApiError:
    """No route leads to a model."""
    words = "no route matches it; see GET /v1/models, or ask for provider/model"
    return not_found(f"model {model!r}: {words}")


# --- who may ask ----------------------------------------------------------------------------------


def bad_key(*, given: bool, name: str | None = None) -> ApiError:
    """Keys are asked for, and this is none; `name` is what a trusted proxy calls the client."""
    what = "this key is not known, was revoked or has expired" if given else "a key is needed"
    if name is not None and not given:
        what = f"there is no key with the name {name[:_LONGEST]!r}"
    return _error("authentication", f"{what}: `toolglot keys create` makes one", 401)


def not_allowed(message: str) -> ApiError:
    """The client is known and may not do this."""
    return _error("permission", message, 403)


def misdirected(message: str) -> ApiError:
    """The client calls the gateway by a name that it does not have."""
    return _error("invalid_request", message, 421)


def needs_provider_key(provider: str, header: str) -> ApiError:
    """The provider takes the client's own key, and there is none."""
    words = f"provider {provider} takes the client's own key: send it as {header}"
    return _error("authentication", words, 401)


def limit_reached(message: str, retry_after: str | None) -> ApiError:
    """A key has used up what it may."""
    return ApiError(kind="rate_limit", message=message, status=429, retry_after=retry_after)


# --- what went wrong behind us, and here ----------------------------------------------------------


def unreachable(provider: str, why: str) -> ApiError:
    """A provider cannot be connected to."""
    return _error("server", f"provider {provider} cannot be reached: {why}", 502)


def timed_out(provider: str) -> ApiError:
    """A provider did not begin to answer."""
    return _error("timeout", f"provider {provider} did not answer in time", 504)


def broke_off(provider: str, error: BaseException) -> ApiError:
    """A provider's answer began and did not end."""
    if isinstance(error, TimeoutError):
        return _error("timeout", f"provider {provider} fell silent", 504)
    why = str(error) or type(error).__name__
    return _error("server", f"provider {provider} broke off: {why}", 502)


def not_an_answer(provider: str, error: DecodeError) -> ApiError:
    """A provider sent what its protocol does not have."""
    words = f"provider {provider} answered with something else than its protocol: {error}"
    return _error("server", words, 502)


def redirected(provider: str, status: int) -> ApiError:
    """A provider says that the answer is elsewhere; nobody is followed there with a key."""
    words = (
        f"provider {provider} answered {status}, a redirect, which is not followed; "
        "set its base_url to the address that it redirects to"
    )
    return _error("server", words, 502)


def wrong_base_url(provider: str, base_url: str, path: str, hint: str) -> ApiError:
    """A provider does not know the path of the protocol that it is said to speak."""
    words = f"base_url of provider {provider}: {base_url} answered 404 at {path}; {hint}"
    # No SDK asks again after this status, and asking again would not help.
    return ApiError(kind="server", message=words, status=404, code=WRONG_BASE_URL)


def internal(request_id: str) -> ApiError:
    """The gateway itself failed; the cause is in its log only."""
    words = f"toolglot itself failed; its log says why under the request id {request_id}"
    return _error("server", words, 500)


# --- what goes wrong through the request itself ---------------------------------------------------

REJECTIONS: Final = (
    RequestRejectedError,
    DecodeError,
    BodyError,
)
"""Exceptions that mean that a request is wrong, and not the gateway."""


def from_rejection(problem: Exception) -> ApiError:
    """What to tell the client of one of the `REJECTIONS`."""
    if isinstance(problem, RequestRejectedError):
        return problem.error
    if isinstance(problem, BodyTooLargeError):
        return too_large(problem.limit)
    if isinstance(problem, BodyError) and problem.status == _BUSY:
        words, soon = str(problem), "1"
        return ApiError(kind="server", message=words, status=_BUSY, retry_after=soon)
    if isinstance(problem, BodyError):
        return _error("invalid_request", str(problem), problem.status)
    return invalid_request(str(problem))


def _error(kind: ErrorKind, message: str, status: int) -> ApiError:
    return ApiError(kind=kind, message=message, status=status)
