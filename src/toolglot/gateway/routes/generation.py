"""Asking a model, in each protocol at its own path."""

from collections.abc import Awaitable
from typing import Final

from aiohttp import web
from msgspec.structs import replace

from toolglot.gateway.http.writers import ResponseWriter
from toolglot.gateway.incoming import IN_PATH, IncomingRequest
from toolglot.gateway.relay.reframe import ArrayFraming, GenerateFraming, ReframedWriter, chat_of
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.count_tokens import CountEndpoints
from toolglot.gateway.routes.route import ModelRoute
from toolglot.gateway.state.sessions import Sessions, SessionWriter
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

_VERSIONS: Final = ("v1", "v1beta", "v1alpha")
"""Under which models stand in paths."""


class GenerationEndpoints:
    """The handlers, over one relay."""

    def __init__(self, relay: Relay, sessions: Sessions, count: CountEndpoints) -> None:
        self._relay, self._sessions, self._count = relay, sessions, count

    @property
    def routes(self) -> tuple[ModelRoute, ...]:
        """Where each protocol is spoken."""
        routes = [ModelRoute("/api/generate", "ollama", self.generate)]
        for name, codec in PROTOCOLS.items():
            if IN_PATH not in codec.SURFACE.path:
                routes.append(ModelRoute(codec.SURFACE.path, name, self.answer))
                continue
            paths = (f"/{version}/models/{{call:.+}}" for version in _VERSIONS)
            routes.extend(ModelRoute(path, name, self.by_path) for path in paths)
        return tuple(routes)

    def answer(
        self, request: IncomingRequest, writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> Awaitable[web.StreamResponse]:
        """Most requests; some continue an earlier answer, or are continued."""
        request, session = self._sessions.open(request)
        if session is not None:
            writer = SessionWriter(writer, session)
        return self._relay.answer(request, writer, telemetry, session)

    def by_path(
        self, request: IncomingRequest, writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> Awaitable[web.StreamResponse]:
        """Where the path says what to do."""
        if request.path.endswith(":countTokens"):
            return self._count.by_path(request, writer, telemetry)
        if request.stream and request.query.get("alt") != "sse":
            writer = ReframedWriter(writer, ArrayFraming())
        return self._relay.answer(request, writer, telemetry)

    def generate(
        self, request: IncomingRequest, writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> Awaitable[web.StreamResponse]:
        """Ollama's older path for a single prompt."""
        body = jsontext.encode(chat_of(read_body(request.body)))
        request = replace(request, body=body, path=PROTOCOLS["ollama"].SURFACE.path)
        return self._relay.answer(request, ReframedWriter(writer, GenerateFraming()), telemetry)
