"""Asking a gateway whether it can be used, before a client is started that would not say why."""

from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from toolglot.errors import DecodeError, ToolglotError
from toolglot.wire import jsontext

_SECONDS: Final = 60.0
_GLANCE_SECONDS: Final = 1.0
_CHEAP: Final = 16
"""Tokens of the answer that is asked for: fewer are refused by some providers."""
_PASSING: Final = frozenset({408, 409, 425, 429})
"""Refusals that may be over when the client asks."""


class UnreachableError(ToolglotError):
    """There is no gateway, or it does not start."""


class GatewayReply(Struct, frozen=True):
    """What the gateway said."""

    status: int
    body: Any

    @property
    def message(self) -> str:
        """The words of an error, whatever its envelope."""
        error = self.body.get("error") if isinstance(self.body, dict) else None
        words = error.get("message") if isinstance(error, dict) else error
        return words if isinstance(words, str) else f"status {self.status}"


def is_running(url: str) -> bool:
    """Whether a gateway answers there."""
    try:
        answer = _ask(url, "GET", "/health", "", patience=_GLANCE_SECONDS)
    except UnreachableError:
        return False
    body = answer.body if isinstance(answer.body, dict) else {}
    return answer.status == HTTPStatus.OK and body.get("status") == "ok"


def models(url: str, key: str) -> list[str]:
    """The models that the gateway knows by name."""
    answer = _ask(url, "GET", "/v1/models", key)
    rows = answer.body.get("data") if isinstance(answer.body, dict) else None
    return [row["id"] for row in rows or () if isinstance(row, dict) and "id" in row]


def complaint(url: str, key: str, model: str) -> tuple[str, bool] | None:
    """What a request to this model ends in, if it fails, and whether it will fail again."""
    question = {
        "model": model,
        "max_tokens": _CHEAP,
        "messages": [{"role": "user", "content": "Say yes."}],
    }
    answer = _ask(url, "POST", "/v1/chat/completions", key, question)
    if answer.status < HTTPStatus.BAD_REQUEST:
        return None
    ours = answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
    return answer.message, ours and answer.status not in _PASSING


def _ask(
    url: str, method: str, path: str, key: str, body: Any = None, *, patience: float = _SECONDS
) -> GatewayReply:
    place = urlsplit(url)
    kind = HTTPSConnection if place.scheme == "https" else HTTPConnection
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    try:
        connection = kind(place.netloc, timeout=patience)
        try:
            sent = None if body is None else jsontext.encode(body)
            connection.request(method, place.path.rstrip("/") + path, sent, headers)
            response = connection.getresponse()
            return GatewayReply(response.status, _json(response.read()))
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        raise UnreachableError(f"no gateway answers at {url}: {error}") from error


def _json(data: bytes) -> Any:
    try:
        return jsontext.decode(data)
    except DecodeError:
        return None
