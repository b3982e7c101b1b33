"""A client's request, as it came from the socket and from authentication."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

from toolglot.errors import DecodeError
from toolglot.gateway import error_responses as errors
from toolglot.gateway.access.virtual_keys import PREFIX, VirtualKey
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.request_info import given_key, id_of
from toolglot.http1.server_request import HttpRequest
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext
from toolglot.wire.model_paths import IN_PATH, quoted_model

PROVIDER_KEY: Final = "x-toolglot-provider-key"
"""The header with the client's own key of a provider, beside its key of the gateway."""
LONGEST_NAME: Final = 256
"""Characters that the name of a model may have."""
_MODEL: Final = b'"model"'
_ALTERNATIVES: Final = frozenset({
    "models", "model_id", "model_name", "fallbacks", "fallback", "fallback_models", "engine",
    "deployment_id",
})  # fmt: skip
"""Members in which some servers take models to use in place of the one that was asked for."""
_MORE_MODELS: Final = (b'"model_', b'"models"', b'"fallback', b'"engine"', b'"deployment_id"')
_AFFINITY: Final = 1024
"""Bytes at the start of a request that stay the same while a conversation grows."""
_SESSIONS: Final = ("x-session-affinity", "x-claude-code-session-id", "thread-id", "session-id")
"""Headers by which clients say which conversation they are in."""
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_DOTS: Final = frozenset({".", ".."})


class Caller(Struct, frozen=True):
    """A client, for rules that are for some clients only."""

    protocol: str = ""
    user_agent: str = ""


ANY_CALLER: Final = Caller()


class IncomingRequest(Struct, frozen=True, kw_only=True):
    """One request of a client for a model."""

    protocol: str
    """The client's."""
    path: str
    """In full, with the version that a client may leave out."""
    body: bytes
    model: str
    stream: bool
    id: str
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    strict: bool = False
    """It shall rather be rejected than lose meaning."""
    key: str | None = None
    """The client's own key of a provider, if it gave one."""
    holder: VirtualKey | None = None
    """Whose key it is, where keys are asked for."""

    @property
    def caller(self) -> Caller:
        """Which client this is, as far as it says so."""
        return Caller(self.protocol, self.headers.get("user-agent", ""))

    @property
    def owner(self) -> str:
        """Whom what is kept belongs to; nobody in particular where no keys are asked for."""
        return self.holder.id if self.holder else ""

    @property
    def affinity(self) -> bytes:
        """What is the same for all requests of a conversation."""
        return session_of(self.headers).encode() or self.body[:_AFFINITY]


def session_of(headers: Mapping[str, str]) -> str:
    """The conversation that a client says it is in; nothing if it does not say."""
    return next((headers[name] for name in _SESSIONS if headers.get(name)), "")


def read_incoming(
    http: HttpRequest, protocol: str, path: str, body: bytes, holder: VirtualKey | None = None
) -> IncomingRequest:
    """The request that a body and the HTTP around it make; `holder` is the key of its client."""
    try:
        seen = jsontext.glance(body)
    except DecodeError as problem:
        raise RequestRejectedError(errors.invalid_request(str(problem))) from None
    surface, headers = PROTOCOLS[protocol].SURFACE, http.headers.lower
    if IN_PATH in surface.path:
        model, operation = _asked_in_path(http.match["call"], protocol)
        stream = PROTOCOLS[protocol].API.operations[operation]
        path = quote(path.rstrip("/"), safe="/:@")
        if "/" in model:
            path = path.replace(quote(model, safe="/:@"), quoted_model(model, surface.path), 1)
    elif isinstance(seen.model, str) and _is_name(seen.model):
        model = seen.model
        stream = surface.stream.by_default if seen.stream is None else bool(seen.stream)
    else:
        words = "model: expected the name of a model; GET /v1/models lists them"
        if isinstance(seen.model, str) and len(seen.model) > LONGEST_NAME:
            words = f"model: a name has at most {LONGEST_NAME} characters, not {len(seen.model)}"
        raise RequestRejectedError(errors.invalid_request(words))
    return IncomingRequest(
        protocol=protocol,
        path=path,
        body=body,
        model=model,
        stream=stream,
        id=id_of(http),
        query=http.query,
        headers=headers,
        strict=headers.get("x-toolglot-strict", "").lower() in _TRUE,
        key=_provider_key(http),
        holder=holder,
    )


def _provider_key(http: HttpRequest) -> str | None:
    """The client's own key of a provider. A key of the gateway is nobody else's business."""
    key = http.headers.get(PROVIDER_KEY) or given_key(http)
    return None if key is None or key.startswith(PREFIX) else key


def check_models(body: bytes, holder: VirtualKey) -> None:
    """Reject a body that names its model twice, or in other letters: servers disagree on which of
    them counts, and a key may be limited to one. Other models that a server may use as well, in
    place of the first or in a tool, must be allowed, too.
    """
    # Most bodies have the name once, at their top; looking costs less than reading.
    lower, escaped = body.lower(), b"\\u" in body
    once = lower.count(_MODEL) <= 1 and not escaped
    if once and not any(mark in lower for mark in _MORE_MODELS):
        return
    members = jsontext.members(body)
    named = [name for name in members if name.casefold() == "model"]
    twice = not once and jsontext.has_repeated_members(body)
    if len(named) > 1 or named not in ([], ["model"]) or twice:
        words = "model: this key is limited to some models, so the model must be named exactly once"
        raise RequestRejectedError(errors.invalid_request(words))
    for path, model in _other_models(members):
        if not holder.allows(model):
            message = f"{path}: the key {holder.name} may not use the model {model[:LONGEST_NAME]}"
            raise RequestRejectedError(errors.not_allowed(message))


def _other_models(members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The models that a request names besides its own, and where."""
    for name, raw in members.items():
        if name.casefold() in _ALTERNATIVES:
            given = jsontext.read(raw)
            for number, each in enumerate(given if isinstance(given, list) else [given]):
                yield from _named_models(f"{name}.{number}", each)
        elif name == "tools":
            tools = jsontext.read(raw)
            for number, tool in enumerate(tools if isinstance(tools, list) else ()):
                model = tool.get("model") if isinstance(tool, dict) else None
                if isinstance(model, str):
                    yield f"tools.{number}.model", model


def _named_models(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _named_models(f"{path}.{name}", each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _named_models(f"{path}.{number}", each)


def _asked_in_path(words: str, protocol: str) -> tuple[str, str]:
    """The model in a path, and what is asked of it."""
    template, operations = PROTOCOLS[protocol].SURFACE.path, PROTOCOLS[protocol].API.operations
    before, _, after = template.partition(IN_PATH)
    name, _, operation = words.rstrip("/").rpartition(after[:1])
    if operation not in operations or not _is_name(name):
        expected = ", ".join(f"{after[:1]}{each}" for each in operations)
        shown = words if len(words) <= LONGEST_NAME else f"{words[:LONGEST_NAME]}…"
        where = before.rstrip("/").rpartition("/")[2]
        error = errors.unknown_path(f"{where}/{shown}: expected a model and one of {expected}")
        raise RequestRejectedError(error)
    return name, operation


def _is_name(model: str) -> bool:
    """Whether a text can name a model; providers may have it in a path, where dots would climb."""
    return (
        0 < len(model) <= LONGEST_NAME
        and model.isprintable()
        and ("." not in model or not _DOTS.intersection(model.split("/")))
    )
