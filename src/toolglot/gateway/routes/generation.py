"""Requests to a model, in each protocol at its own path."""

from collections.abc import Awaitable
from typing import Final

from msgspec.structs import replace

from toolglot.gateway.http.response_writers import ResponseWriter
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.relay.reframe import ArrayFraming, EventFraming, LineFraming, ReframedWriter
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.count_tokens import CountEndpoints
from toolglot.gateway.routes.embedding_routes import EmbeddingEndpoints
from toolglot.gateway.routes.route import ModelRoute
from toolglot.gateway.state.sessions import Sessions, SessionWriter
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.http1.server_response import HttpResponse
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext
from toolglot.wire.message import read_body
from toolglot.wire.model_paths import IN_PATH

_FRAMINGS: Final = (EventFraming, LineFraming)


class GenerationEndpoints:
    """The handlers, over one relay."""

    def __init__(
        self, relay: Relay, sessions: Sessions, count: CountEndpoints, embed: EmbeddingEndpoints
    ) -> None:
        self._relay, self._sessions = relay, sessions
        self._count, self._embed = count, embed

    @property
    def routes(self) -> tuple[ModelRoute, ...]:
        """The paths of each protocol."""
        routes = []
        for name, module in PROTOCOLS.items():
            if module.API.prompt is not None:
                routes.append(ModelRoute(module.API.prompt.path, name, self.prompt))
            if IN_PATH not in module.SURFACE.path:
                paths = (module.SURFACE.path, *module.API.aliases)
                routes.extend(ModelRoute(path, name, self.answer) for path in paths)
            versions = module.API.path_versions
            if IN_PATH in module.SURFACE.path and not versions:
                path = module.SURFACE.path.partition(IN_PATH)[0] + "{call:.+}"
                routes.append(ModelRoute(path, name, self.by_path))
            by_name = (f"/{version}/models/{{call:.+}}" for version in versions)
            routes.extend(ModelRoute(path, name, self.by_path) for path in by_name)
            if versions:
                operations = "|".join(module.API.operations)
                others = "|".join((*versions, "models"))
                vendor = f"(?!(?:{others})/)[^/]+/.+:(?:{operations})"
                path = f"/{{version:{'|'.join(versions)}}}/{{call:{vendor}}}"
                routes.append(ModelRoute(path, name, self.by_vendor_path))
        return tuple(routes)

    def answer(
        self, request: IncomingRequest, writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> Awaitable[HttpResponse]:
        """Most requests; some continue an earlier answer, or are continued."""
        request, session = self._sessions.open(request)
        if session is not None:
            writer = SessionWriter(writer, session)
        return self._relay.answer(request, writer, telemetry, session)

    def by_path(
        self, request: IncomingRequest, writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> Awaitable[HttpResponse]:
        """Where the path has the model and the operation."""
        module = PROTOCOLS[request.protocol]
        api = module.API
        if api.count is not None and request.path.endswith(api.count.end):
            return self._count.by_path(request, writer, telemetry)
        if any(request.path.endswith(each.path) for each in api.embeddings):
            return self._embed.embed(request, writer, telemetry)
        if request.stream and module.SURFACE.stream.array and request.query.get("alt") != "sse":
            writer = ReframedWriter(writer, ArrayFraming())
        return self._relay.answer(request, writer, telemetry)

    def by_vendor_path(
        self, request: IncomingRequest, writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> Awaitable[HttpResponse]:
        """The same for a model with a slash in its name, which the AI SDK takes for a whole path
        (`getModelPath` in @ai-sdk/google, seen in opencode 1.18.33).
        """
        version, _, call = request.path.lstrip("/").partition("/")
        return self.by_path(replace(request, path=f"/{version}/models/{call}"), writer, telemetry)

    def prompt(
        self, request: IncomingRequest, writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> Awaitable[HttpResponse]:
        """Where clients send one prompt instead of messages."""
        module = PROTOCOLS[request.protocol]
        endpoint = module.API.prompt
        if endpoint is None:
            raise AssertionError  # pragma: no cover - the route exists because there is one
        body = jsontext.encode(endpoint.request(read_body(request.body)))
        request = replace(request, body=body, path=module.SURFACE.path)
        media_type = module.SURFACE.stream.media_type
        framing = next(each for each in _FRAMINGS if each.media_type == media_type)(
            endpoint.response
        )
        return self._relay.answer(request, ReframedWriter(writer, framing), telemetry)
