"""Authentication, limits, telemetry and accounting around each request."""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.http.request_info import PROTOCOL, given_key, id_of
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry, Telemetry
from toolglot.http1.server_request import HttpRequest
from toolglot.ir import ApiError

_TRACED: Final = ("traceparent", "tracestate")


class Admission:
    """What happens before and after the handler of a request."""

    def __init__(self, access: AccessControl, telemetry: Telemetry) -> None:
        self.telemetry = telemetry
        self._access = access

    async def authenticate(self, http: HttpRequest) -> str:
        """The id of the client's key; empty where no keys are required."""
        holder = await self._access.authenticate(given_key(http))
        return holder.id if holder else ""

    def begin(self, http: HttpRequest, protocol: str) -> RequestTelemetry:
        """Start the telemetry of a request for a model, before it is read."""
        http[PROTOCOL] = protocol
        given = http.headers.lower
        headers: dict[str, str] = {name: given[name] for name in _TRACED if name in given}
        return self.telemetry.start_request(id_of(http), protocol, headers)

    async def identify(
        self, request: IncomingRequest, telemetry: RequestTelemetry
    ) -> IncomingRequest:
        """Authenticate a request: the same request with its key."""
        telemetry.record.asked_model = request.model
        holder = await self._access.authenticate(request.key)
        telemetry.record.key_id = holder.id if holder else ""
        return replace(request, holder=holder) if holder else request

    async def check(self, request: IncomingRequest) -> None:
        """Reject a request for a model that its key may not use, or beyond its limits."""
        await self._access.authorize(request.holder, request.model)

    def limit_headers(self, holder: VirtualKey | None) -> Mapping[str, str]:
        """The headers that report what is left of each limit."""
        return self._access.rate_limit_headers(holder)

    def end(
        self, telemetry: RequestTelemetry, holder: VirtualKey | None, error: ApiError | None = None
    ) -> None:
        """Finish the telemetry of a request, and charge it."""
        telemetry.end(error)
        self._access.charge(holder, telemetry.record)
