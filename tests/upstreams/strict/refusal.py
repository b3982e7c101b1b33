"""A refusal: what a provider says to a request that it does not take, and in which shape."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Refusal:
    """One reason to refuse a request."""

    rule: str
    """The id of the rule: that of a rule book, or of the provider's own rule of form."""
    words: str
    """What the provider says."""
    status: int = 400
    param: str | None = None
    code: str | None = None
    kind: str = "invalid_request_error"


@dataclass(frozen=True)
class Ask:
    """A request as it came over the wire."""

    provider: str
    protocol: str
    model: str
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)
    """Those that decide what is taken, in lower case; none: nothing is known of them."""


Rule = Callable[[Ask], Iterator[Refusal]]
"""Looks at a request, and says what is wrong with it."""


# --- shapes of errors -----------------------------------------------------------------------------


def _interactions(found: Refusal) -> Json:
    return {"error": {"code": "invalid_request", "message": found.words}}


def _openai(found: Refusal) -> Json:
    return {
        "error": {
            "message": found.words,
            "type": found.kind,
            "param": found.param,
            "code": found.code,
        }
    }


def _groq(found: Refusal) -> Json:
    error = {"message": found.words, "type": found.kind}
    return {"error": error | ({"code": found.code} if found.code else {})}


def _anthropic(found: Refusal) -> Json:
    return {
        "type": "error",
        "error": {"type": found.kind, "message": found.words},
        "request_id": "req_strict",
    }


_GOOGLE_STATUS = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 403: "PERMISSION_DENIED"}


def _google(found: Refusal) -> Json:
    status = _GOOGLE_STATUS.get(found.status, "INTERNAL")
    return {"error": {"code": found.status, "message": found.words, "status": status}}


def _text(found: Refusal) -> Json:
    return {"error": found.words}


def _mistral(found: Refusal) -> Json:
    return {
        "object": "error",
        "message": found.words,
        "type": found.kind,
        "param": found.param,
        "code": found.code or "3051",
        "raw_status_code": found.status,
    }


def _xai(found: Refusal) -> Json:
    if found.status == 422:
        return {"error": found.words}
    return {"code": found.code or "invalid-argument", "error": found.words}


def _openrouter(found: Refusal) -> Json:
    return {"error": {"message": found.words, "code": found.status}, "user_id": "user_strict"}


def _cerebras(found: Refusal) -> Json:
    return {
        "message": found.words,
        "type": found.kind,
        "param": found.param or "",
        "code": found.code or "wrong_api_format",
    }


def _vllm(found: Refusal) -> Json:
    return {
        "error": {
            "message": found.words,
            "type": "BadRequestError",
            "param": found.param,
            "code": found.status,
        }
    }


def _llama_cpp(found: Refusal) -> Json:
    kind = "server_error" if found.status >= 500 else "invalid_request_error"
    return {"error": {"code": found.status, "message": found.words, "type": kind}}


def _aws(found: Refusal) -> Json:
    return {"message": found.words, "__type": "ValidationException"}


_BY_PROTOCOL: Mapping[str, Callable[[Refusal], Json]] = {
    "anthropic": _anthropic,
    "openai-chat": _openai,
    "openai-responses": _openai,
    "gemini": _google,
    "gemini-interactions": _interactions,
    "ollama": _text,
    "bedrock-converse": _aws,
}
_BY_PROVIDER: Mapping[tuple[str, str | None], Callable[[Refusal], Json]] = {
    ("groq", None): _groq,
    ("mistral", None): _mistral,
    ("xai", None): _xai,
    ("openrouter", "openai-chat"): _openrouter,
    ("cerebras", None): _cerebras,
    ("vllm", "openai-chat"): _vllm,
    ("vllm", "openai-responses"): _vllm,
    ("llama.cpp", None): _llama_cpp,
    ("deepseek", "anthropic"): _openai,
    ("google", "openai-chat"): lambda found: [_google(found)],  # type: ignore[dict-item]
}


def error_body(ask: Ask, found: Refusal) -> Any:
    """The body of the error, as the provider writes it in that protocol."""
    shape = (
        _BY_PROVIDER.get((ask.provider, ask.protocol))
        or _BY_PROVIDER.get((ask.provider, None))
        or _BY_PROTOCOL[ask.protocol]
    )
    return shape(found)
