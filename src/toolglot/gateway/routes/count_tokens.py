"""Counting the tokens of a request."""

from typing import Final

from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.http.response_writers import ResponseWriter
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.route import ModelRoute
from toolglot.gateway.state.sessions import Sessions
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.gateway.tokens.count import count_tokens
from toolglot.http1.server_response import HttpResponse, WholeHttpResponse
from toolglot.registry import PROTOCOLS

_ESTIMATE: Final = "x-toolglot-estimate"


class CountEndpoints:
    """The handlers, over one relay."""

    def __init__(self, relay: Relay, sessions: Sessions) -> None:
        self._relay, self._sessions = relay, sessions

    @property
    def routes(self) -> tuple[ModelRoute, ...]:
        """The paths at which tokens are counted."""
        counts = ((name, module.API.count) for name, module in PROTOCOLS.items())
        return tuple(
            ModelRoute(count.path, name, self.count, generates=False)
            for name, count in counts
            if count is not None and not count.in_path
        )

    async def count(
        self, request: IncomingRequest, _writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> HttpResponse:
        """The tokens of a request that may continue an earlier answer."""
        return await self._count(await self._sessions.expand(request), telemetry)

    async def by_path(
        self, request: IncomingRequest, _writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> HttpResponse:
        """Where the path has the model and the operation."""
        return await self._count(request, telemetry)

    async def _count(
        self, request: IncomingRequest, telemetry: RequestTelemetry
    ) -> WholeHttpResponse:
        """The tokens of a request, under the key that the client reads."""
        endpoint = PROTOCOLS[request.protocol].API.count
        if endpoint is None:
            raise AssertionError  # pragma: no cover - the route exists because there is one
        targets = self._relay.router.targets(request.model)
        if not targets:
            raise RequestRejectedError(errors.unknown_model(request.model))
        counted = await count_tokens(self._relay.client, targets[0], request)
        estimate = {_ESTIMATE: "true"} if counted.estimate else {}
        headers = {"x-request-id": request.id, **estimate}
        telemetry.client_response(200, headers)
        body = {**endpoint.constants, endpoint.answer: counted.tokens}
        return json_response(body, headers=headers)
