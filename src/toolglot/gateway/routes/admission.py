"""Who may ask, what is seen of each request, and what is written down at its end."""

from collections.abc import Mapping
from typing import Final

from aiohttp import web
from msgspec.structs import replace

from toolglot.gateway.access.authentication import Guard
from toolglot.gateway.access.virtual_keys import Key
from toolglot.gateway.http.request_info import PROTOCOL, given_key, id_of
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.telemetry.metrics import Observer
from toolglot.gateway.telemetry.recorder import Recorder
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.ir import ApiError

_TRACED: Final = ("traceparent", "tracestate")


class Admission:
    """Lets requests in, and sees them out."""

    def __init__(self, guard: Guard, observer: Observer, recorder: Recorder | None = None) -> None:
        self.observer = observer
        self._guard = guard
        self._recorder = recorder

    async def authenticate(self, http: web.Request) -> str:
        """Whose request it is; nobody in particular where no keys are asked for."""
        holder = await self._guard.know(given_key(http))
        return holder.id if holder else ""

    def begin(self, http: web.Request, protocol: str) -> RequestTelemetry:
        """A request for a model came in, and has not been read yet."""
        http[PROTOCOL] = protocol
        headers = {name: http.headers[name] for name in _TRACED if name in http.headers}
        seen = self.observer.begin(request_id=id_of(http), client=protocol, headers=headers)
        return RequestTelemetry(self.observer, self._recorder, seen)

    async def identify(
        self, request: IncomingRequest, telemetry: RequestTelemetry
    ) -> IncomingRequest:
        """The same request with the key that it came with; without one it is rejected."""
        telemetry.seen.asked_model = request.model
        holder = await self._guard.know(request.key)
        telemetry.seen.key_id = holder.id if holder else ""
        return replace(request, holder=holder) if holder else request

    async def check(self, request: IncomingRequest) -> None:
        """Reject a request for a model that its key may not use, or beyond its limits."""
        await self._guard.admit(request.holder, request.model)

    def limit_headers(self, holder: Key | None) -> Mapping[str, str]:
        """What a client is told of its limits."""
        return self._guard.standing(holder)

    def end(
        self, telemetry: RequestTelemetry, holder: Key | None, error: ApiError | None = None
    ) -> None:
        """A request was answered, or never will be."""
        receipt = telemetry.ends(error)
        self._guard.settle(holder, telemetry.seen, receipt)
