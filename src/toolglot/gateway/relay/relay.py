"""Handling one request: routing, translating, sending, delivering.

Which target to ask, how often and after which pause is decided by `toolglot.attempts`; this module
does what it says. Once the first byte of an answer is on its way to the client, nothing is sent
again.
"""

import asyncio
import random
import time

from toolglot import demo
from toolglot.attempts import (
    Ask,
    Attempts,
    Deliver,
    GiveUp,
    ReplyUnusable,
    Step,
)
from toolglot.gateway import error_responses as errors
from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.config import Config
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.client import Client, SendFailure
from toolglot.gateway.http.response_writers import ResponseWriter
from toolglot.gateway.incoming import PROVIDER_KEY, IncomingRequest
from toolglot.gateway.relay.attempt import Attempt
from toolglot.gateway.relay.deliver import Delivery, OpenedStream, Outcomes
from toolglot.gateway.relay.keep_alive import OpenStreams
from toolglot.gateway.relay.learned_facts import LearnedFacts
from toolglot.gateway.relay.mend_request import RequestMender
from toolglot.gateway.relay.plain_requests import outcome_of, remember_outcome
from toolglot.gateway.relay.providers import make_upstreams
from toolglot.gateway.relay.receipt_log import ReceiptLog
from toolglot.gateway.relay.routing import Router, Target
from toolglot.gateway.state.kept_reasoning import KeptReasoning
from toolglot.gateway.state.sessions import Session
from toolglot.gateway.telemetry.redact import scrub
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.http1.client_connection import Reply
from toolglot.http1.server_response import HttpResponse
from toolglot.ir import ApiError, Response


class Relay:
    """Forwards requests to providers and their answers to clients."""

    def __init__(
        self,
        config: Config,
        client: Client,
        access: AccessControl,
        memory: KeptReasoning | None = None,
    ) -> None:
        self.client = client
        self.receipts = ReceiptLog()
        self.router = Router(config, make_upstreams(config))
        self.config = config
        self._memory = memory
        self._streams = OpenStreams()
        self.learned = LearnedFacts()
        self._outcomes = Outcomes(access, memory, self.receipts, self._streams)

    def use(self, config: Config) -> None:
        """Route by this configuration from now on; requests under way keep theirs."""
        known = self.router.upstreams
        upstreams = make_upstreams(config, known=known)
        self.learned.keep([name for name in upstreams if upstreams[name] is known.get(name)])
        self.router = Router(config, upstreams)
        self.config = config

    async def keep_alive(self) -> None:
        """Send keep-alives to clients whose provider is silent."""
        await self._streams.keep_alive(lambda: self.config.server.keep_alive)

    async def answer(
        self,
        request: IncomingRequest,
        writer: ResponseWriter,
        telemetry: RequestTelemetry,
        session: Session | None = None,
    ) -> HttpResponse:
        """Write the answer to a request, or the error that it ends in."""
        delivery = self._delivery(request, writer, telemetry)
        try:
            targets = self.targets_for(request)
            attempts, attempt = _attempts(targets), None
            mender = RequestMender(request, telemetry, session, self._memory, self.learned)
            step: Step = attempts.start()
            while isinstance(step, Ask):
                target = targets[step.target]
                if step.mended:
                    attempt = mender.mended()
                elif attempt is None or attempt.target is not target:
                    attempt = await mender.prepare(target)
                if target.upstream is None:
                    await delivery.respond(attempt, _demo_response(attempt))
                    return writer.response
                with target.upstream.health:
                    reply, step = await self._ask(attempt, step, attempts, mender, telemetry)
                    if reply is None:
                        continue
                    try:
                        begun = await delivery.begin(attempt, reply)
                        failure = begun.refused if isinstance(begun, OpenedStream) else begun
                        mendable = await mender.is_refusal(attempt, failure, attempts)
                        if isinstance(begun, OpenedStream) and not mendable:
                            # An open stream keeps no text of its request alive.
                            attempt = attempt.without_texts()
                            del request, mender
                            await delivery.stream(attempt, reply, begun)
                            return writer.response
                    finally:
                        reply.close()
                if failure is None:
                    return writer.response
                step = attempts.after(ReplyUnusable(failure, mendable))
            if attempt is not None and isinstance(step, GiveUp):
                await delivery.give_up(attempt, step.error)
        except RequestRejectedError as rejected:
            await delivery.reject(rejected.error)
        finally:
            delivery.settled()
        return writer.response

    def targets_for(self, request: IncomingRequest) -> list[Target]:
        """The targets that may answer a request, in their order."""
        affinity = request.affinity if self.router.wants_affinity else b""
        targets = self.router.targets(request.model, affinity)
        if not targets:
            raise RequestRejectedError(errors.unknown_model(request.model))
        if request.holder is not None and request.key is None:
            # What the client gave is its key of the gateway, which no provider may see.
            usable = [each for each in targets if not each.passes_key]
            if not usable:
                raise RequestRejectedError(errors.needs_provider_key(targets[0].name, PROVIDER_KEY))
            return usable
        return targets

    def _delivery(
        self, request: IncomingRequest, writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> Delivery:
        server = self.config.server
        delivery = Delivery(
            request,
            writer,
            telemetry,
            self._outcomes,
            most_receipts=server.receipts,
            most_bytes=server.limits.answer,
        )
        delivery.expect()
        return delivery

    # --- asking -----------------------------------------------------------------------------------

    async def _ask(
        self,
        attempt: Attempt,
        step: Ask,
        attempts: Attempts,
        mender: RequestMender,
        telemetry: RequestTelemetry,
    ) -> tuple[Reply | None, Step]:
        """Do what a step says; the next step, and the reply if that is to deliver it."""
        upstream, outbound, key = attempt.target.upstream, attempt.outbound, attempt.keys[step.key]
        if upstream is None or outbound is None:
            raise AssertionError  # pragma: no cover - the built-in model is not sent requests
        headers = {**outbound.headers, **upstream.headers(key)}
        with telemetry.waiting():
            if step.pause:
                await asyncio.sleep(step.pause)
            reply = await self.client.send(outbound, headers)
            mendable = (
                not isinstance(reply, SendFailure)
                and attempts.may_mend(reply.status)
                and await mender.is_mendable(attempt, reply)
            )
        jitter = random.random()  # noqa: S311 - not for secrets
        after = attempts.after(outcome_of(upstream.name, reply, mendable=mendable), jitter=jitter)
        remember_outcome(upstream, key, after)
        retries = isinstance(after, Ask) and (after.retry or after.mended)
        if isinstance(after, Ask) and after.retry:
            telemetry.retried()
        if isinstance(reply, SendFailure):
            telemetry.tried(0, scrub(reply.detail) or reply.reason)
            return None, after
        if not retries:
            telemetry.upstream_response(reply)
        if isinstance(after, Deliver):
            return reply, after
        if not mendable:
            telemetry.tried(reply.status)
        reply.close()
        return None, after


def _attempts(targets: list[Target]) -> Attempts:
    now = time.monotonic()
    return Attempts([target.candidate(now) for target in targets])


def _demo_response(attempt: Attempt) -> Response:
    """The answer of the built-in model."""
    answer = demo.reply(attempt.exchange.client_request, attempt.exchange.answer_context())
    if isinstance(answer, ApiError):
        raise RequestRejectedError(answer)
    return answer
