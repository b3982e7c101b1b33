"""Streams that have ended and are not closed: the client's answer ends, and the provider's does."""

import asyncio
import json
import time
from functools import partial

import pytest
from tests.gateway.answers import NAMES, TEXT, ask, kind_of, pieces_of, read_stream, said
from tests.gateway.running import gateway, provider, to
from tests.gateway.wild import wild
from tests.sampling import sampled

from toolglot import ir
from toolglot.context import Context
from toolglot.events import Failed
from toolglot.gateway.relay import deliver as deliver_module
from toolglot.registry import get_protocol

SOON = 3.0
"""Seconds on a busy machine; what is not let go is held for the idle timeout of five minutes."""


@pytest.fixture(autouse=True)
def _short_linger(monkeypatch):
    monkeypatch.setattr(deliver_module, "_LINGER", 0.2)


def ended_streams(protocol):
    """Streams that are complete, or have failed."""
    pieces = pieces_of(protocol)
    error = get_protocol(protocol).StreamEncoder(Context())
    failed = error.encode(Failed(ir.ApiError(kind="overloaded", message="Too many.")))
    return {
        "whole": b"".join(pieces),
        "failed": b"".join(pieces[: len(pieces) // 2]) + failed + error.close(),
    }


async def _stay(turn, data, protocol, gone, noise):
    """A provider that goes on after the end of its answer, or only does not hang up."""
    await turn.head(kind_of(protocol))
    await turn.chunk(data)
    left = asyncio.create_task(turn.left())
    try:
        while not left.done():
            await turn.chunk(noise)
            await asyncio.wait([left], timeout=0.05 if noise else None)
    except ConnectionError:
        pass
    gone.set()


async def _trial(ours, theirs, data, noise, **more):
    gone = asyncio.Event()
    answer = partial(_stay, data=data, protocol=theirs, gone=gone, noise=noise)
    async with (
        wild(answer) as (url, turns),
        gateway({"them": provider(theirs, url, **more)}, [to("them/*")]) as session,
    ):
        began = time.monotonic()
        got = await asyncio.wait_for(ask(session, ours, stream=True), SOON)
        await asyncio.wait_for(gone.wait(), SOON)
        assert time.monotonic() - began < SOON
        return *got, len(turns)


# A seventh of all cases: each protocol on both sides with each end, silent and not.
@pytest.mark.parametrize(
    ("ours", "theirs", "how", "noise"),
    sampled(7, NAMES, NAMES, ["whole", "failed"], ["silent", "comments"]),
)
def test_a_stream_that_has_ended_ends(ours, theirs, how, noise):
    """X-15: with its last event, whatever the provider does with the connection."""
    comment = b"\n" if theirs == "ollama" else b": still here\n\n"
    noise = comment if noise == "comments" else b""
    data = ended_streams(theirs)[how]
    _, _, body, asked = asyncio.run(_trial(ours, theirs, data, noise))
    assert asked == 1
    if how == "whole":
        assert said(read_stream(ours, body)) == TEXT
    else:
        assert b"Too many." in body


def test_an_end_that_is_left_out_is_not_waited_for():
    """A server that sends no last event: all has come, and then nothing more."""
    data = b"".join(pieces_of("openai-chat")).replace(b"data: [DONE]\n\n", b"")
    _, _, body, _ = asyncio.run(_trial("anthropic", "openai-chat", data, b""))
    assert said(read_stream("anthropic", body)) == TEXT


def test_who_says_with_every_chunk_that_it_stopped_is_waited_for(monkeypatch):
    monkeypatch.setattr(deliver_module, "_LINGER", 0.05)
    chunk = {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}
    event = b"data: " + json.dumps(chunk).encode() + b"\n\n"

    async def answer(turn):
        await turn.head()
        await turn.chunk(event + event)
        await asyncio.sleep(0.3)
        await turn.chunk(event)
        await turn.end()

    async def run():
        async with (
            wild(answer) as (url, _),
            gateway({"them": provider("gemini", url)}, [to("them/*")]) as session,
        ):
            return await ask(session, "openai-chat", stream=True)

    *_, body = asyncio.run(run())
    assert said(read_stream("openai-chat", body)) == "aaa"


@pytest.mark.parametrize("protocol", NAMES)
def test_the_connection_of_a_stream_that_ends_is_used_again(protocol):
    """The end of the reply may come a moment after the end of the answer."""

    async def answer(turn):
        await turn.head(kind_of(protocol))
        await turn.chunk(b"".join(pieces_of(protocol)))
        await asyncio.sleep(0.05)
        await turn.end()

    async def run():
        connections = set()

        async def counted(turn):
            connections.add(id(turn._writer))
            await answer(turn)

        async with (
            wild(counted) as (url, _),
            gateway({"them": provider(protocol, url)}, [to("them/*")]) as session,
        ):
            for _ in range(3):
                await ask(session, protocol, stream=True)
                await asyncio.sleep(0.2)
        return len(connections)

    assert asyncio.run(run()) == 1


def test_an_event_without_an_end_is_refused_and_its_provider_let_go(monkeypatch):
    monkeypatch.setattr("toolglot.wire.sse.MAX_LINE", 2**16)
    monkeypatch.setattr("toolglot.wire.follow.MAX_LINE", 2**16)
    for ours in ("anthropic", "openai-chat"):
        first, *_ = pieces_of("openai-chat")
        data = first + b"data: " + b"x" * 2**17
        _, _, body, _ = asyncio.run(_trial(ours, "openai-chat", data, b"x" * 2**14))
        assert b"longer than" in body
