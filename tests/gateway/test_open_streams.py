"""Streams that are open: clients that leave or do not read, and silence that is not the end."""

import asyncio
import re
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import pytest
from tests.gateway.answers import NAMES, TEXT, kind_of, pieces_of, read_stream, said
from tests.gateway.running import gateway, in_thread, provider, serving, to
from tests.gateway.sdks import SDKS, all_sdks, opening
from tests.gateway.wild import dechunked, raw_request, wild

from toolglot.gateway.config import Config, Server
from toolglot.registry import get_protocol

SIGNED = [name for name in NAMES if get_protocol(name).SURFACE.stream.keep_alive]
"""Protocols whose clients take some bytes as a sign of life."""


async def connect(session, protocol):
    """A connection to the gateway on which a stream was asked for."""
    host, port = session._base_url.host, session._base_url.port
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(raw_request(protocol))
    return reader, writer


# --- clients that leave ---------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before", "opening", "during"])
@pytest.mark.parametrize("theirs", ["openai-chat", "anthropic"])
def test_who_leaves_ends_the_work_of_the_provider(theirs, when):
    """X-15: the provider's connection is closed at once, whether or not an answer had begun."""

    async def run():
        at, gone = asyncio.Event(), asyncio.Event()

        async def answer(turn):
            data = b"".join(pieces_of(theirs))
            said = {"opening": 0, "during": data.index(b"North")}.get(when)
            if said is not None:
                await turn.head(kind_of(theirs))
                await turn.chunk(data[: data.index(b"\n\n", said) + 2])
            at.set()
            await turn.left()
            gone.set()

        async with (
            wild(answer) as (url, _),
            gateway({"them": provider(theirs, url)}, [to("them/*")]) as session,
        ):
            reader, writer = await connect(session, "openai-chat")
            await at.wait()
            if when == "during":
                await asyncio.wait_for(reader.readuntil(b"North"), 10)
            writer.transport.abort()
            # Long before the next sign of life would find that nobody is there.
            await asyncio.wait_for(gone.wait(), Server().keep_alive / 2)

    asyncio.run(run())


# --- silence --------------------------------------------------------------------------------------


async def _pausing(turn, protocol, seconds, cut):
    """A provider that falls silent inside its answer; `cut`: inside an event."""
    data = b"".join(pieces_of(protocol))
    place = data.index(b"North") + len(b"North")
    if not cut:
        end = b"\r\n\r\n" if protocol == "gemini" else b"\n\n" if protocol != "ollama" else b"\n"
        place = data.index(end, place) + len(end)
    await turn.head(kind_of(protocol))
    await turn.chunk(data[:place])
    await asyncio.sleep(seconds)
    await turn.chunk(data[place:])
    await turn.end()


@pytest.mark.parametrize("theirs", ["anthropic", "openai-chat", "gemini", "ollama"])
@pytest.mark.parametrize("ours", NAMES)
def test_a_waiting_client_gets_signs_of_life(ours, theirs):
    """Where its protocol has any; the answer is whole all the same."""

    async def run():
        async with (
            wild(partial(_pausing, protocol=theirs, seconds=0.3, cut=False)) as (url, _),
            gateway({"them": provider(theirs, url)}, [to("them/*")], keep_alive=0.05) as session,
        ):
            reader, writer = await connect(session, ours)
            data = await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), 10)
            writer.close()
            await writer.wait_closed()
            return dechunked(data)

    data = asyncio.run(run())
    sign = get_protocol(ours).SURFACE.stream.keep_alive
    if sign.strip():
        assert data.count(sign) >= 2
    elif sign:
        assert b"\r\n\r\n" + sign in data
    assert said(read_stream(ours, data)) == TEXT


async def _late(turn, protocol, seconds, status):
    """A provider that takes long to begin, and then answers or fails."""
    await asyncio.sleep(seconds)
    if status == 200:
        await turn.whole(b"".join(pieces_of(protocol)), kind_of(protocol))
    else:
        await turn.whole(b'{"error":{"message":"Not today."}}', status=status)


@pytest.mark.parametrize("then", ["answer", "error", "next"])
@pytest.mark.parametrize("ours", NAMES)
def test_a_client_gets_signs_of_life_before_the_provider_begins(ours, then):
    """Where its protocol has any; what comes then is read as ever, from another target, too."""

    async def run():
        first = partial(
            _late, protocol="openai-chat", seconds=0.4, status=200 if then == "answer" else 500
        )
        async with (
            wild(first) as (one, _),
            wild(partial(_late, protocol="gemini", seconds=0.0, status=200)) as (two, _),
        ):
            both = {"one": provider("openai-chat", one), "two": provider("gemini", two)}
            targets = ("one/*", "two/*") if then == "next" else ("one/*",)
            async with gateway(both, [to(*targets)], keep_alive=0.05) as session:
                reader, writer = await connect(session, ours)
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
                rest = b"" if b"chunked" in head.lower() else b"x"
                while not rest:
                    data = await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), 10)
                    rest = head + data
                writer.close()
                await writer.wait_closed()
                return head, rest

    head, rest = asyncio.run(run())
    sign = get_protocol(ours).SURFACE.stream.keep_alive
    if not sign:
        assert b" 200 " in head or then == "error"
        return
    assert b" 200 " in head
    body = dechunked(rest)
    assert body.startswith(sign)
    answer = read_stream(ours, body)
    if then == "error":
        assert "Not today." in answer.message
    else:
        assert said(answer) == TEXT


_RESPONSE_ID = re.compile(rb'"id":"resp_[^"]*"')
"""What the gateway changes in a response that it stores."""


@pytest.mark.parametrize("name", SIGNED)
def test_no_sign_of_life_inside_an_event(name):
    """Bytes that pass through may be cut anywhere."""

    async def run():
        async with (
            wild(partial(_pausing, protocol=name, seconds=0.2, cut=True)) as (url, _),
            gateway({"them": provider(name, url)}, [to("them/*")], keep_alive=0.05) as session,
        ):
            reader, writer = await connect(session, name)
            data = await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), 10)
            writer.close()
            await writer.wait_closed()
            return dechunked(data)

    told, sign = asyncio.run(run()), get_protocol(name).SURFACE.stream.keep_alive
    assert _RESPONSE_ID.sub(b"", _between_events(told, sign)) == _RESPONSE_ID.sub(
        b"", b"".join(pieces_of(name))
    )


def _between_events(told, sign):
    """What was told without the signs, which stand where an event has ended, or before all."""
    while told.startswith(sign):
        told = told.removeprefix(sign)
    for place in range(len(told)):
        if sign.strip() and told.startswith(sign, place):
            assert told[:place].endswith((b"\n\n", b"\r\n\r\n"))
    return told.replace(sign, b"") if sign.strip() else told


def test_a_line_that_ended_is_no_event_that_ended():
    """The lines of one event may come one by one."""
    event = b'event: ping\ndata: {"type": "ping"}\n\n'
    place = event.index(b"\n") + 1

    async def answer(turn):
        await turn.head()
        first, *rest = pieces_of("anthropic")
        await turn.chunk(first + event[:place])
        await asyncio.sleep(0.2)
        await turn.chunk(event[place:] + b"".join(rest))
        await turn.end()

    async def run():
        async with (
            wild(answer) as (url, _),
            gateway({"a": provider("anthropic", url)}, [to("a/*")], keep_alive=0.05) as session,
        ):
            reader, writer = await connect(session, "anthropic")
            data = await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), 10)
            writer.close()
            await writer.wait_closed()
            return dechunked(data)

    first, *rest = pieces_of("anthropic")
    sign = get_protocol("anthropic").SURFACE.stream.keep_alive
    assert _between_events(asyncio.run(run()), sign) == first + event + b"".join(rest)


@asynccontextmanager
async def _silent():
    """A gateway in front of providers that make pauses, one for each protocol."""
    async with AsyncExitStack() as stack:
        providers, routes = {}, []
        for name in NAMES:
            answer = partial(_pausing, protocol=name, seconds=0.25, cut=False)
            url, _ = await stack.enter_async_context(wild(answer))
            providers[name] = provider(name, url)
            routes.append(to(f"{name}/m", match=f"for-{name}"))
        config = Config(providers=providers, routes=tuple(routes), server=Server(keep_alive=0.05))
        yield await stack.enter_async_context(serving(config))


@pytest.fixture(scope="module")
def sdks():
    with in_thread(_silent) as url, all_sdks(url) as sdks:
        yield sdks


@pytest.mark.slow
@pytest.mark.parametrize("theirs", ["anthropic", "openai-chat"])
@pytest.mark.parametrize("client", list(SDKS))
def test_the_sdks_read_on_through_signs_of_life(client, theirs, sdks):
    heard = sdks[client].ask(f"for-{theirs}", opening(client), stream=True)
    assert heard.text == TEXT
    assert (heard.prompt, heard.output) == (12, 7)
