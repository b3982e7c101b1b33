"""Whether a gateway can be used: checked before a client starts, whose errors say little."""

from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from toolglot.errors import DecodeError, ToolglotError
from toolglot.wire import jsontext

_SECONDS: Final = 60.0
_CHECK_SECONDS: Final = 2.0
"""How long a client waits for the check of its model: a wrong key is refused sooner than that."""
_HEALTH_SECONDS: Final = 1.0
_CHEAP: Final = 16
"""Tokens of the answer that is asked for; some providers reject a smaller limit."""
_TEMPORARY: Final = frozenset({408, 409, 425, 429})
"""Statuses of errors that may be over when the client asks."""


_FACTS: Final = ("context_window", "default_reasoning_level", "supported_reasoning_levels")
_REJECTED: Final = frozenset({401, 403})
_PROVIDER: Final = "x-toolglot-provider"


class UnreachableError(ToolglotError):
    """There is no gateway, or it does not start."""


class SlowError(UnreachableError):
    """A gateway takes long to answer."""


class CheckedModel(Struct, frozen=True):
    """What a small request to a model came to."""

    error: str = ""
    lasting: bool = False
    """Whether it would fail again."""
    rejected: bool = False
    """Whether the key was."""
    provider: str = ""
    """Who answered."""


class GatewayReply(Struct, frozen=True):
    """What the gateway answered."""

    status: int
    body: Any
    provider: str = ""

    @property
    def message(self) -> str:
        """The message of an error, in any protocol's envelope."""
        error = self.body.get("error") if isinstance(self.body, dict) else None
        words = error.get("message") if isinstance(error, dict) else error
        return words if isinstance(words, str) else f"status {self.status}"


def is_running(url: str) -> bool:
    """Whether a gateway answers there."""
    try:
        answer = _ask(url, "GET", "/health", "", timeout=_HEALTH_SECONDS)
    except UnreachableError:
        return False
    body = answer.body if isinstance(answer.body, dict) else {}
    return answer.status == HTTPStatus.OK and body.get("status") == "ok"


def models(url: str, key: str) -> list[str]:
    """The models that the gateway knows by name."""
    answer = _ask(url, "GET", "/v1/models", key)
    rows = answer.body.get("data") if isinstance(answer.body, dict) else None
    return [row["id"] for row in rows or () if isinstance(row, dict) and "id" in row]


def model_facts(url: str, key: str, model: str) -> dict[str, Any]:
    """What the gateway knows about a model, as members of a catalogue; empty: nothing."""
    answer = _ask(url, "GET", "/v1/models?client_version=0", key)
    rows = answer.body.get("models") if isinstance(answer.body, dict) else None
    entry: dict[str, Any] = next((row for row in rows or () if row.get("slug") == model), {})
    return {name: entry[name] for name in _FACTS if name in entry}


def check_model(url: str, key: str, model: str) -> CheckedModel:
    """Whether a small request to this model works. One that takes long is not waited for."""
    question = {
        "model": model,
        "max_tokens": _CHEAP,
        "messages": [{"role": "user", "content": "Say yes."}],
    }
    try:
        answer = _ask(url, "POST", "/v1/chat/completions", key, question, timeout=_CHECK_SECONDS)
    except SlowError:
        return CheckedModel()
    if answer.status < HTTPStatus.BAD_REQUEST:
        return CheckedModel(provider=answer.provider)
    ours = answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
    return CheckedModel(
        error=answer.message,
        lasting=ours and answer.status not in _TEMPORARY,
        rejected=answer.status in _REJECTED,
        provider=answer.provider,
    )


def receipts(url: str, key: str) -> list[dict[str, Any]]:
    """The latest receipts of the gateway, the oldest first."""
    answer = _ask(url, "GET", "/toolglot/receipts", key)
    rows = answer.body.get("data") if isinstance(answer.body, dict) else None
    return [row for row in rows or () if isinstance(row, dict)]


def fetch(url: str, path: str, key: str) -> bytes:
    """What a gateway answers at a path; an error if it refuses."""
    place = urlsplit(url)
    kind = HTTPSConnection if place.scheme == "https" else HTTPConnection
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        connection = kind(place.netloc, timeout=_SECONDS)
        try:
            connection.request("GET", place.path.rstrip("/") + path, headers=headers)
            response = connection.getresponse()
            data = response.read()
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        raise UnreachableError(f"no gateway answers at {url}: {error}") from error
    if response.status != HTTPStatus.OK:
        raise UnreachableError(f"{url}: {GatewayReply(response.status, _json(data)).message}")
    return data


def _ask(
    url: str, method: str, path: str, key: str, body: Any = None, *, timeout: float = _SECONDS
) -> GatewayReply:
    place = urlsplit(url)
    kind = HTTPSConnection if place.scheme == "https" else HTTPConnection
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    try:
        connection = kind(place.netloc, timeout=timeout)
        try:
            sent = None if body is None else jsontext.encode(body)
            connection.request(method, place.path.rstrip("/") + path, sent, headers)
            response = connection.getresponse()
            provider = response.getheader(_PROVIDER) or ""
            return GatewayReply(response.status, _json(response.read()), provider)
        finally:
            connection.close()
    except TimeoutError as error:
        raise SlowError(f"no answer from {url} within {timeout:g} seconds") from error
    except (OSError, HTTPException, ValueError) as error:
        raise UnreachableError(f"no gateway answers at {url}: {error}") from error


def _json(data: bytes) -> Any:
    try:
        return jsontext.decode(data)
    except DecodeError:
        return None
