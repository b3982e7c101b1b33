"""Requests that a provider refused in words that are understood: changed, and sent once more.

Whether a request is sent again is decided by `toolglot.attempts`; this module reads what was said,
makes the changed request, and keeps what it says of the provider for other requests.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from toolglot.attempts import Attempts
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.relay.attempt import Attempt, make_exchange, prepare, report, translate
from toolglot.gateway.relay.learned_facts import LearnedFacts, rule_hint
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.state.kept_reasoning import KeptReasoning
from toolglot.gateway.state.sessions import Session
from toolglot.gateway.telemetry.logs import LOGGER
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.http1.client_connection import Reply, ReplyError
from toolglot.ir import ApiError
from toolglot.registry import get_protocol
from toolglot.wire import jsontext

if TYPE_CHECKING:
    from toolglot.mending import Mending

_LONGEST_REFUSAL: Final = 2**20
"""Bytes of a refusal that are read; a longer one is none that is understood."""
_BROKEN: Final = (ReplyError, TimeoutError)


class RequestMender:
    """Makes the attempts of one request, also those after a refusal."""

    __slots__ = (
        "_learned", "_made", "_memory", "_request", "_session", "_telemetry",
    )  # fmt: skip

    def __init__(
        self,
        request: IncomingRequest,
        telemetry: RequestTelemetry,
        session: Session | None,
        memory: KeptReasoning | None,
        learned: LearnedFacts,
    ) -> None:
        self._request, self._telemetry = request, telemetry
        self._session, self._memory, self._learned = session, memory, learned
        self._made: tuple[Mending, Attempt] | None = None
        """The changed request, and why it is as it is."""

    async def prepare(self, target: Target) -> Attempt:
        """The request for a target, with what is known of it."""
        return await prepare(
            self._request,
            target,
            self._telemetry,
            session=self._session,
            memory=self._memory,
            learned=self._learned,
        )

    async def is_mendable(self, attempt: Attempt, reply: Reply) -> bool:
        """Whether a reply, of a status that may mean so, is a refusal that was understood, after
        which another request can be sent: that is then `mended`.
        """
        upstream = attempt.target.upstream
        if upstream is None or not attempt.target.mends:
            return False
        try:
            # It is kept in the reply, for whoever delivers it.
            body = await reply.read(_LONGEST_REFUSAL)
        except _BROKEN:
            return False
        return await self._understand(attempt, reply.status, upstream.keys.hidden(body))

    async def is_refusal(
        self, attempt: Attempt, error: ApiError | None, attempts: Attempts
    ) -> bool:
        """The same for the error that a stream began with, or that a reply turned out to be."""
        status = error.status or 0 if error is not None else 0
        if error is None or not attempts.may_mend(status):
            return False
        return await self._understand(attempt, status, _body(error))

    async def _understand(self, attempt: Attempt, status: int, body: bytes) -> bool:
        if attempt.sent is None or not attempt.target.mends:
            return False
        mending = attempt.exchange.understand(attempt.sent, status, body)
        if mending is None:
            return False
        exchange = make_exchange(self._request, attempt.target, self._learned, mending)
        try:
            mended = await translate(
                self._request, attempt.target, exchange, self._session, self._memory
            )
        except RequestRejectedError:
            # Strict requests are not changed at a loss: the client gets the refusal.
            return False
        if mended.sent == attempt.sent and _headers(mended) == _headers(attempt):
            return False
        self._made = mending, mended
        self._telemetry.tried(status, mending.words, body)
        return True

    def mended(self) -> Attempt:
        """The changed request."""
        if self._made is None:
            raise AssertionError  # pragma: no cover - nothing was mendable
        mending, attempt = self._made
        self._telemetry.translating(attempt.exchange)
        self._telemetry.mended(mending.row)
        attempt = report(self._request, attempt, self._telemetry)
        provider, model = attempt.target.name, attempt.target.model
        hint = ""
        if mending.remember:
            self._learned.add(provider, attempt.exchange.provider, model, mending)
            hint = f"; to write it down: {rule_hint(provider, mending)}"
        # Without the provider's words: they may repeat what the client sent.
        LOGGER.info(
            "%s refused a request for %s (%s); it was changed and sent again: %s%s",
            provider,
            model,
            mending.row,
            mending,
            hint,
        )
        return attempt


def _headers(attempt: Attempt) -> Mapping[str, str]:
    surface = get_protocol(attempt.exchange.provider).SURFACE
    sent = attempt.outbound.headers if attempt.outbound is not None else {}
    return {name: sent[name] for name in surface.headers if name in sent}


def _body(error: ApiError) -> bytes:
    """The body of an error that was read already."""
    members = {"message": error.message, "code": error.code, "param": error.param}
    return jsontext.encode({"error": members})
