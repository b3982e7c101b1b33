"""Requests that want no answer of a model, embeddings for example, and get a whole reply.

They go to the same targets, with the same keys, retries and pauses as others: `toolglot.attempts`
decides, as it does for `relay.py`. Nothing is mended.
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from toolglot.attempts import Ask, Attempts, Deliver, GiveUp, NoReply, ReplyStarted, Step
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.client import Client, OutboundRequest, SendFailure
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.telemetry.redact import scrub
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.http1.client_connection import Reply, ReplyError
from toolglot.ir import ApiError


class WholeReply(Struct, frozen=True):
    """What a target replied."""

    target: int
    """Its place among the targets."""
    status: int
    headers: Mapping[str, str]
    body: bytes


async def ask_plainly(
    client: Client,
    targets: Sequence[Target],
    make: Callable[[int], OutboundRequest],
    telemetry: RequestTelemetry,
    *,
    client_key: str | None,
    most_bytes: int,
) -> WholeReply:
    """The reply of the first target that gives one; `make` makes the request for each of them."""
    now = time.monotonic()
    attempts = Attempts([target.candidate(now) for target in targets])
    keys: dict[int, list[str | None]] = {}
    step: Step = attempts.start()
    while isinstance(step, Ask):
        at = step.target
        upstream = targets[at].upstream
        if upstream is None:
            raise AssertionError  # pragma: no cover - the built-in model is not sent requests
        key = keys.setdefault(at, upstream.keys_for(client_key))[step.key]
        outbound = make(at)
        headers = {**outbound.headers, **upstream.headers(key)}
        with upstream.health, telemetry.waiting():
            if step.pause:
                await asyncio.sleep(step.pause)
            reply = await client.send(outbound, headers)
            telemetry.asked(upstream.name)
            jitter = random.random()  # noqa: S311 - not for secrets
            step = attempts.after(outcome_of(upstream.name, reply), jitter=jitter)
            remember_outcome(upstream, key, step)
            if isinstance(reply, SendFailure):
                continue
            try:
                if isinstance(step, Deliver):
                    body = await reply.read(most_bytes)
                    return WholeReply(at, reply.status, reply.headers.lower, body)
            except (ReplyError, OSError, TimeoutError) as error:
                raise RequestRejectedError(errors.broke_off(upstream.name, error)) from None
            finally:
                reply.close()
        if isinstance(step, Ask) and step.retry:
            telemetry.retried()
    if isinstance(step, GiveUp):
        raise RequestRejectedError(step.error)
    raise AssertionError  # pragma: no cover - what is delivered was returned


def outcome_of(
    provider: str, reply: Reply | SendFailure, *, mendable: bool = False
) -> NoReply | ReplyStarted:
    """What happened, in the terms of `toolglot.attempts`."""
    if not isinstance(reply, SendFailure):
        return ReplyStarted.of(reply.status, reply.headers, time.time(), mendable=mendable)
    return NoReply(error=failure_of(provider, reply), stale=reply.reason == "stale")


def failure_of(provider: str, failure: SendFailure) -> ApiError:
    """The error of a request to which no reply came."""
    if failure.reason == "timeout":
        return errors.timed_out(provider)
    return errors.unreachable(provider, scrub(failure.detail))


def remember_outcome(upstream: Upstream, key: str | None, step: Step) -> None:
    """Remember for other requests what a step says of the provider that was asked."""
    now = time.monotonic()
    if step.key_rest:
        upstream.keys.cool(key, now + step.key_rest)
    if step.healthy:
        upstream.health.good()
    elif step.healthy is False:
        upstream.health.bad(now)
