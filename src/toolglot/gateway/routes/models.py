"""Which models can be asked for."""

from urllib.parse import unquote

from aiohttp import web

from toolglot.gateway import errors
from toolglot.gateway.errors import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.http.request_info import protocol_of
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.model_lists import SHAPES, Catalogue, ollama_show
from toolglot.gateway.routes.route import PlainRequest, Route
from toolglot.wire.message import read_body


class ModelEndpoints:
    """The handlers, over one relay."""

    def __init__(self, relay: Relay) -> None:
        self._relay, self._catalogue = relay, Catalogue(relay.client)

    @property
    def routes(self) -> tuple[Route, ...]:
        """All paths; several protocols share some of them."""
        return (
            Route("GET", "/v1/models", self.models),
            Route("GET", "/v1beta/models", self.models),
            Route("GET", "/api/tags", self.models),
            Route("GET", "/v1/models/{model:.+}", self.model),
            Route("GET", "/v1beta/models/{model:.+}", self.model),
            Route("POST", "/api/show", self.show),
        )

    async def models(self, request: PlainRequest) -> web.Response:
        """The models, as a list in the caller's shape."""
        shape, _ = SHAPES[_asker(request.http)]
        return json_response(shape(await self._catalogue.names(self._relay.router)))

    async def model(self, request: PlainRequest) -> web.Response:
        """One model: any that a route knows."""
        name = unquote(request.http.match_info["model"])
        if not self._relay.router.targets(name):
            raise RequestRejectedError(errors.unknown_model(name))
        return json_response(SHAPES[_asker(request.http)][1](name))

    async def show(self, request: PlainRequest) -> web.Response:
        """What Ollama's clients ask about one model."""
        body = read_body(request.body or b"{}")
        name = body.get("model") or body.get("name")
        if not isinstance(name, str) or not self._relay.router.targets(name):
            raise RequestRejectedError(errors.not_found(f"model {name!r} not found"))
        return json_response(ollama_show())


def _asker(http: web.Request) -> str:
    return "codex" if "client_version" in http.query else protocol_of(http)
