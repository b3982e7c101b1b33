"""Routes: a method, a path, whether a key is needed, and a handler. Each family has a table.

There are two kinds. A `Route` is for requests to the gateway itself: models, receipts, stored
responses. Its handler gets the request and the owner of its key, if one is needed. A `ModelRoute`
is for requests to a model in a protocol: its client is authenticated, the request is read, its
limits are checked, and metrics, logs and the ledger record the outcome. Nothing of a body is read
before its client is known.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final, Literal

from msgspec import Struct

from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.error_responses import REJECTIONS, from_rejection, render
from toolglot.gateway.http.json_response import JSON
from toolglot.gateway.http.request_info import id_of
from toolglot.gateway.http.response_writers import HttpWriter, ResponseWriter, WholeResponse
from toolglot.gateway.incoming import IncomingRequest, read_incoming
from toolglot.gateway.routes.admission import NOBODY, Admission
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.http1.server_connection import Handler as HttpHandler
from toolglot.http1.server_request import HttpRequest
from toolglot.http1.server_response import HttpResponse
from toolglot.http1.url_router import UrlRouter
from toolglot.ir import ApiError

VERSION: Final = "/v1"
"""The prefix of paths that clients may leave out."""


class PlainRequest(Struct, frozen=True):
    """A request to the gateway itself, and the key of its client."""

    http: HttpRequest
    body: bytes = b""
    holder: VirtualKey | None = None
    """None where no key is needed."""

    @property
    def owner(self) -> str:
        """Whom what is stored belongs to; nobody in particular where no keys are required."""
        return self.holder.id if self.holder else ""

    def may_use(self, model: str) -> bool:
        """Whether the client may use a model."""
        return self.holder is None or self.holder.allows(model)


Handler = Callable[[PlainRequest], Awaitable[HttpResponse]]
ModelHandler = Callable[
    [IncomingRequest, ResponseWriter, RequestTelemetry], Awaitable[HttpResponse]
]


class Route(Struct, frozen=True):
    """A route for requests to the gateway itself."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    handler: Handler
    auth: Literal["key", "none"] = "key"
    """Whether a key is needed, where keys are required at all."""

    def http_handler(self, admission: Admission, _prefix: str) -> HttpHandler:
        async def handle(http: HttpRequest) -> HttpResponse:
            holder = await admission.authenticate(http) if self.auth == "key" else None
            body = await http.read()
            return await self.handler(PlainRequest(http, body, holder))

        return handle


class ModelRoute(Struct, frozen=True):
    """A route for requests to a model."""

    path: str
    protocol: str
    handler: ModelHandler
    generates: bool = True
    """Whether a model is asked, so that tokens have to be reserved."""

    method: Literal["POST"] = "POST"

    def http_handler(self, admission: Admission, prefix: str) -> HttpHandler:
        async def handle(http: HttpRequest) -> HttpResponse:
            telemetry = admission.begin(http, self.protocol)
            error: ApiError | None = None
            admitted = None
            try:
                if admission.asks_for_keys:
                    admitted = await admission.identify(http, telemetry)
                else:
                    admitted = NOBODY
                body = await http.read()
                request = read_incoming(
                    http, self.protocol, prefix + http.path, body, admitted.holder
                )
                await admission.check(request, admitted, telemetry, generates=self.generates)
                answer = self.handler(request, HttpWriter(http), telemetry)
                del request, body  # The answer keeps its text as long as that is needed.
                response = await answer
                if admitted is not NOBODY and not response.begun:  # A stream has them already.
                    response.headers.update(admission.limit_headers(admitted))
            except REJECTIONS as problem:
                error = from_rejection(problem)
                response = rejection(error, self.protocol, id_of(http), telemetry).http()
            except ConnectionError:
                raise  # The client is gone.
            except Exception:
                error = telemetry.internal_error()
                raise
            finally:
                admission.end(telemetry, admitted, error)
            return response

        return handle


def add_routes(
    router: UrlRouter[HttpHandler], admission: Admission, routes: Iterable[Route | ModelRoute]
) -> None:
    """Add all routes to a router, with the version in their paths and without."""
    for route in routes:
        router.add(route.method, route.path, route.http_handler(admission, ""))
        if route.path.startswith(VERSION + "/"):
            short = route.path.removeprefix(VERSION)
            router.add(route.method, short, route.http_handler(admission, VERSION))


def rejection(
    error: ApiError, protocol: str, request_id: str, telemetry: RequestTelemetry
) -> WholeResponse:
    """The response to a request that was rejected before a model was asked."""
    wire = render(error, protocol)
    headers = {**wire.headers, "Content-Type": JSON, "x-request-id": request_id}
    telemetry.client_response(wire.status, headers)
    data = wire.data()
    telemetry.client_chunk(data)
    return WholeResponse(data=data, status=wire.status, headers=headers)
