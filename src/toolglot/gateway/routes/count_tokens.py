"""How many tokens a request has."""

from typing import Final

from aiohttp import web

from toolglot.gateway import errors
from toolglot.gateway.errors import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.http.writers import ResponseWriter
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.route import ModelHandler, ModelRoute
from toolglot.gateway.state.sessions import Sessions
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.gateway.tokens.count import count
from toolglot.ir import Json
from toolglot.registry import PROTOCOLS

_ESTIMATE: Final = "x-toolglot-estimate"
_PATHS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "/v1/messages/count_tokens": ("input_tokens", {}),
    "/v1/responses/input_tokens": ("input_tokens", {"object": "response.input_tokens"}),
}
"""Where tokens are counted: the key of the count, and what else is said."""


class CountEndpoints:
    """The handlers, over one relay."""

    def __init__(self, relay: Relay, sessions: Sessions) -> None:
        self._relay, self._sessions = relay, sessions

    @property
    def routes(self) -> tuple[ModelRoute, ...]:
        """All paths that do nothing but count."""
        return tuple(
            ModelRoute(path, _protocol_at(path), self._counting(key, more))
            for path, (key, more) in _PATHS.items()
        )

    async def by_path(
        self, request: IncomingRequest, _writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> web.StreamResponse:
        """Where the path of a model says that its tokens shall be counted."""
        return await self._count(request, telemetry, "totalTokens", {})

    def _counting(self, key: str, more: Json) -> ModelHandler:
        async def handler(
            request: IncomingRequest, _writer: ResponseWriter, telemetry: RequestTelemetry
        ) -> web.StreamResponse:
            expanded = await self._sessions.expand(request)
            return await self._count(expanded, telemetry, key, more)

        return handler

    async def _count(
        self, request: IncomingRequest, telemetry: RequestTelemetry, key: str, more: Json
    ) -> web.Response:
        """The tokens of a request, under the key that the client reads."""
        targets = self._relay.router.targets(request.model)
        if not targets:
            raise RequestRejectedError(errors.unknown_model(request.model))
        counted = await count(self._relay.client, targets[0], request)
        estimate = {_ESTIMATE: "true"} if counted.estimate else {}
        headers = {"x-request-id": request.id, **estimate}
        telemetry.client_response(200, headers)
        return json_response({**more, key: counted.tokens}, headers=headers)


def _protocol_at(path: str) -> str:
    return next(name for name, codec in PROTOCOLS.items() if path.startswith(codec.SURFACE.path))
