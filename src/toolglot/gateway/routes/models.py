"""Lists of models, and single ones."""

from urllib.parse import unquote

from toolglot.api import Api
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.http.request_info import protocol_of
from toolglot.gateway.incoming import LONGEST_NAME
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.model_lists import Catalogue, describe
from toolglot.gateway.routes.route import PlainRequest, Route
from toolglot.http1.server_response import WholeHttpResponse
from toolglot.registry import PROTOCOLS
from toolglot.wire.message import read_body


class ModelEndpoints:
    """The handlers, over one relay."""

    def __init__(self, relay: Relay) -> None:
        self._relay, self._catalogue = relay, Catalogue(relay.client)

    @property
    def routes(self) -> tuple[Route, ...]:
        """All paths; several protocols share some of them."""
        modules = PROTOCOLS.values()
        shows = [module.API.show for module in modules if module.API.show is not None]
        by_body = {module.SURFACE.models for module in modules if module.API.show is not None}
        lists = dict.fromkeys(module.SURFACE.models for module in modules)
        by_path = [path for path in lists if path not in by_body]
        running = [module.API.running_path for module in modules if module.API.running_path]
        return (
            *(Route("GET", path, self.models) for path in lists),
            *(Route("GET", f"{path}/{{model:.+}}", self.model) for path in by_path),
            *(Route("POST", show.path, self.show) for show in shows),
            *(Route("GET", path, self.running) for path in running),
        )

    async def models(self, request: PlainRequest) -> WholeHttpResponse:
        """The models, as a list in the caller's shape."""
        names = await self._catalogue.names(self._relay.router)
        shown = [describe(name) for name in names if request.may_use(name)]
        return json_response(_api(request).model_list(shown))

    async def running(self, request: PlainRequest) -> WholeHttpResponse:
        """The models that are loaded: none, since providers run them."""
        return json_response(_api(request).model_list([]))

    async def model(self, request: PlainRequest) -> WholeHttpResponse:
        """One model: any that a route knows."""
        name = unquote(request.http.match["model"])
        if not self._is_known(request, name):
            raise RequestRejectedError(errors.unknown_model(name[:LONGEST_NAME]))
        return json_response(_api(request).model(describe(name)))

    async def show(self, request: PlainRequest) -> WholeHttpResponse:
        """One model, where clients name it in the body."""
        show, body = _api(request).show, read_body(request.body or b"{}")
        name = body.get("model") or body.get("name")
        if show is None or not isinstance(name, str) or not self._is_known(request, name):
            shown = name[:LONGEST_NAME] if isinstance(name, str) else None
            raise RequestRejectedError(errors.not_found(f"model {shown!r} not found"))
        return json_response(show.describe(describe(name)))

    def _is_known(self, request: PlainRequest, name: str) -> bool:
        """Whether a model is one that the client may ask."""
        usable = len(name) <= LONGEST_NAME and request.may_use(name)
        return usable and bool(self._relay.router.targets(name))


def _api(request: PlainRequest) -> Api:
    return PROTOCOLS[protocol_of(request.http)].API
