"""Who may ask, what is seen of each request, and what is written down at its end."""

from collections.abc import Mapping
from typing import Final

from aiohttp import web
from msgspec.structs import replace

from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.http.request_info import PROTOCOL, given_key, id_of
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry, Telemetry
from toolglot.ir import ApiError

_TRACED: Final = ("traceparent", "tracestate")


class Admission:
    """Lets requests in, and sees them out."""

    def __init__(self, access: AccessControl, telemetry: Telemetry) -> None:
        self.telemetry = telemetry
        self._access = access

    async def authenticate(self, http: web.Request) -> str:
        """Whose request it is; nobody in particular where no keys are asked for."""
        holder = await self._access.authenticate(given_key(http))
        return holder.id if holder else ""

    def begin(self, http: web.Request, protocol: str) -> RequestTelemetry:
        """A request for a model came in, and has not been read yet."""
        http[PROTOCOL] = protocol
        headers = {name: http.headers[name] for name in _TRACED if name in http.headers}
        return self.telemetry.start_request(id_of(http), protocol, headers)

    async def identify(
        self, request: IncomingRequest, telemetry: RequestTelemetry
    ) -> IncomingRequest:
        """The same request with the key that it came with; without one it is rejected."""
        telemetry.record.asked_model = request.model
        holder = await self._access.authenticate(request.key)
        telemetry.record.key_id = holder.id if holder else ""
        return replace(request, holder=holder) if holder else request

    async def check(self, request: IncomingRequest) -> None:
        """Reject a request for a model that its key may not use, or beyond its limits."""
        await self._access.authorize(request.holder, request.model)

    def limit_headers(self, holder: VirtualKey | None) -> Mapping[str, str]:
        """What a client is told of its limits."""
        return self._access.rate_limit_headers(holder)

    def end(
        self, telemetry: RequestTelemetry, holder: VirtualKey | None, error: ApiError | None = None
    ) -> None:
        """A request was answered, or never will be."""
        telemetry.end(error)
        self._access.charge(holder, telemetry.record)
