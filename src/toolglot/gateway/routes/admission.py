"""Authentication, limits, telemetry and accounting around each request."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.access.charged_usage import reservation_for
from toolglot.gateway.access.client_identity import ClientIdentity
from toolglot.gateway.access.rate_limits import NO_RESERVATION, Reservation
from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.config import Server
from toolglot.gateway.http.request_info import PROTOCOL, given_key, id_of
from toolglot.gateway.incoming import IncomingRequest, check_models
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry, Telemetry
from toolglot.http1.large_bodies import work_on
from toolglot.http1.server_request import HttpRequest
from toolglot.ir import ApiError
from toolglot.registry import PROTOCOLS

_TRACED: Final[tuple[str, ...]] = ("traceparent", "tracestate")


class Admitted(Struct):
    """A request whose client is known: its key, and what is reserved for it."""

    holder: VirtualKey | None
    """None where no keys are required."""
    reservation: Reservation = NO_RESERVATION


NOBODY: Final = Admitted(None)
"""A client where no keys are required."""


class Admission:
    """What happens before and after the handler of a request."""

    def __init__(
        self, access: AccessControl, telemetry: Telemetry, server: Server | None = None
    ) -> None:
        self.telemetry = telemetry
        self._access = access
        self._identity = ClientIdentity(server or Server())

    @property
    def asks_for_keys(self) -> bool:
        """Whether clients need keys; else there is nobody to identify and nothing to check."""
        return self._access.asks_for_keys

    async def authenticate(self, http: HttpRequest) -> VirtualKey | None:
        """The key of a client, by the head of its request; None where no keys are required."""
        return await self._access.authenticate(given_key(http), self._identity.name_of(http))

    def begin(self, http: HttpRequest, protocol: str) -> RequestTelemetry:
        """Start the telemetry of a request for a model, before it is read."""
        http[PROTOCOL] = protocol
        given = http.headers.lower
        headers: dict[str, str] = {name: given[name] for name in _TRACED if name in given}
        return self.telemetry.start_request(id_of(http), protocol, headers)

    async def identify(self, http: HttpRequest, telemetry: RequestTelemetry) -> Admitted:
        """Authenticate a request for a model, before its body is read."""
        holder = await self.authenticate(http)
        if holder is not None:
            telemetry.record.key_id = holder.id
        return Admitted(holder)

    async def check(
        self,
        request: IncomingRequest,
        admitted: Admitted,
        telemetry: RequestTelemetry,
        *,
        generates: bool = True,
    ) -> None:
        """Reject a request for a model that its key may not use, or beyond its limits; reserve
        what it may use if it is one to generate an answer.
        """
        record, holder = telemetry.record, admitted.holder
        record.asked_model, record.body_size = request.model, len(request.body)
        if generates:
            telemetry.received(
                request.owner, request.path, request.headers, request.body, stream=request.stream
            )
        if holder is None:
            return
        if holder.models:
            await work_on(len(request.body), check_models, request.body, holder)
        wanted = NO_RESERVATION
        if generates:
            surface = PROTOCOLS[request.protocol].SURFACE
            wanted = reservation_for(holder, surface, request.model, request.body)
        await self._access.authorize(holder, request.model, wanted)
        admitted.reservation = wanted

    async def count(self, holder: VirtualKey | None, model: str) -> None:
        """Count a request that asks no model, and reject it like one that does."""
        await self._access.authorize(holder, model)

    def limit_headers(self, admitted: Admitted | None) -> Mapping[str, str]:
        """The headers that report what is left of each limit."""
        return self._access.rate_limit_headers(admitted.holder if admitted else None)

    def end(
        self,
        telemetry: RequestTelemetry,
        admitted: Admitted | None,
        error: ApiError | None = None,
    ) -> None:
        """Finish the telemetry of a request, and charge it. Strangers leave no trace in the
        ledger, which nobody could pay for.
        """
        telemetry.end(error)
        if admitted is not None:
            self._access.charge(admitted.holder, telemetry.record, admitted.reservation)
