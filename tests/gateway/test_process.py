"""The gateway as a process: its memory, its end, its workers, and thousands of faults."""

import asyncio
import json
import socket
import time
from collections import Counter
from contextlib import AsyncExitStack, suppress
from functools import partial

import aiohttp
import pytest
from tests.gateway.answers import TEXT, answer_well, ask, kind_of, pieces_of, read_stream, said
from tests.gateway.process import LINUX, configuration, files_of, running_gateway
from tests.gateway.wild import dechunked, raw_request, wild

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not LINUX, reason="memory and files are counted in /proc"),
]

MEGABYTE = 2**20
LARGE = 64 * MEGABYTE
PIECE = 64 * 1024


# --- clients that do not read ---------------------------------------------------------------------


def _large_event(size):
    chunk = {"choices": [{"index": 0, "delta": {"content": "x" * size}}], "model": "m", "id": "a"}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


async def _settled(read, seconds=0.5):
    """The value of something once it no longer changes."""
    before = None
    while (now := read()) != before:
        before = now
        await asyncio.sleep(seconds)
    return now


@pytest.mark.parametrize("ours", ["anthropic", "openai-chat"], ids=["translated", "passed-on"])
def test_a_client_that_does_not_read_holds_up_the_provider(ours, tmp_path, record_property):
    """No more is kept than a few buffers; when the client reads again, all of it comes."""
    sent = 0

    async def answer(turn):
        nonlocal sent
        event = _large_event(PIECE)
        await turn.head()
        first, *rest = pieces_of("openai-chat")
        await turn.chunk(first)
        while sent < LARGE:
            await turn.chunk(event)
            sent += PIECE
        await turn.chunk(b"".join(rest))
        await turn.end()

    async def run():
        async with (
            wild(answer) as (url, _),
            running_gateway(tmp_path, configuration("openai-chat", url)) as gateway,
        ):
            async with (
                aiohttp.ClientSession(gateway.url) as session,
                session.get("/ready") as reply,
            ):
                assert reply.status == 200
            before = gateway.memory
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
            sock.setblocking(False)
            await asyncio.get_running_loop().sock_connect(sock, (gateway.host, gateway.port))
            reader, writer = await asyncio.open_connection(sock=sock, limit=64 * 1024)
            writer.write(raw_request(ours))
            stalled = await _settled(lambda: sent)
            grown = gateway.memory - before
            record_property("megabytes", grown / MEGABYTE)
            assert 0 < stalled < LARGE / 2
            assert grown < 20 * MEGABYTE
            count, end = 0, b""
            while b"0\r\n\r\n" not in end:
                data = await asyncio.wait_for(reader.read(MEGABYTE), 30)
                assert data
                count, end = count + len(data), (end + data)[-5:]
            writer.close()
            assert count > LARGE

    asyncio.run(run())


# --- the end --------------------------------------------------------------------------------------


async def _refused(gateway):
    """Until nobody listens any more."""
    while True:
        try:
            _, writer = await asyncio.open_connection(gateway.host, gateway.port)
        except ConnectionRefusedError:
            return
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_open_streams_end_before_the_gateway_does(tmp_path, workers):
    """New connections are refused meanwhile."""

    async def run():
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def answer(turn):
            first, *rest = pieces_of("openai-chat")
            await turn.head()
            await turn.chunk(first)
            begun.set()
            await go_on.wait()
            await turn.chunk(b"".join(rest))
            await turn.end()

        async with (
            wild(answer) as (url, _),
            running_gateway(
                tmp_path, configuration("openai-chat", url), "--workers", workers
            ) as gateway,
        ):
            reader, writer = await asyncio.open_connection(gateway.host, gateway.port)
            writer.write(raw_request("anthropic"))
            await asyncio.wait_for(begun.wait(), 10)
            gateway.terminate()
            await asyncio.wait_for(_refused(gateway), 10)
            go_on.set()
            data = await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), 10)
            writer.close()
            assert said(read_stream("anthropic", dechunked(data))) == TEXT
            assert await gateway.ended() == 0

    asyncio.run(run())


def test_workers_share_a_port(tmp_path):
    """Each connection goes to one of them; both answer."""

    async def run():
        async with (
            wild(partial(answer_well, protocol="openai-chat")) as (url, turns),
            running_gateway(
                tmp_path, configuration("openai-chat", url), "--workers", "2"
            ) as gateway,
            AsyncExitStack() as stack,
        ):
            both = gateway.workers
            assert len(both) == 2
            before = [files_of(pid) for pid in both]
            for _ in range(40):
                session = aiohttp.ClientSession(gateway.url)
                await stack.enter_async_context(session)
                status, _, _ = await ask(session, "anthropic")
                assert status == 200
            shares = [files_of(pid) - early for pid, early in zip(both, before, strict=True)]
            assert len(turns) == 40
            assert min(shares) > 2
            gateway.terminate()
            assert await gateway.ended() == 0

    asyncio.run(run())


def test_no_worker_outlives_the_first(tmp_path):
    """Not even if that is killed."""

    async def run():
        async with running_gateway(
            tmp_path, configuration("openai-chat", "http://127.0.0.1:9"), "--workers", "2"
        ) as gateway:
            gateway.process.kill()
            await gateway.ended()
            await asyncio.wait_for(_refused(gateway), 10)

    asyncio.run(run())


# --- thousands of requests, some of which fail ----------------------------------------------------

REQUESTS = 4_000
AT_ONCE = 50
FAULTS = {100: "reset", 200: "error", 300: "cut", 0: "leave"}
"""What goes wrong with every four hundredth request, by its place among four hundred."""


async def _faulty(turn):
    number = json.loads(turn.body)["max_tokens"]
    match FAULTS.get(number % 400):
        case "reset":
            await turn.reset()
        case "error":
            await turn.whole(b'{"error":{"message":"Ill."}}', status=500)
        case "cut":
            await turn.head()
            await turn.chunk(pieces_of("openai-chat")[0])
            await turn.reset()
        case "leave":
            await turn.head()
            await turn.chunk(pieces_of("openai-chat")[0])
            await turn.left()
        case _:
            await turn.whole(STREAM, kind_of("openai-chat"))


STREAM = b"".join(pieces_of("openai-chat"))
PATH = "/v1/messages"


async def _one(session, number, seen):
    body = {
        "model": "m",
        "max_tokens": number,
        "stream": True,
        "messages": [{"role": "user", "content": "Which way?"}],
    }
    async with session.post(PATH, data=json.dumps(body)) as reply:
        if FAULTS.get(number % 400) == "leave":
            await reply.content.readany()
            reply.close()
            seen["left"] += 1
            return
        data = await reply.read()
    whole = data.endswith(b'data: {"type":"message_stop"}\n\n')
    told = b"event: error" in data or b'"type":"error"' in data
    seen["whole" if whole and not told else "told" if told else "odd"] += 1


async def _many(session, numbers, seen):
    left = iter(numbers)

    async def work():
        for number in left:
            await _one(session, number, seen)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(work())


def test_nothing_is_left_behind_by_thousands_of_requests(tmp_path, record_property):
    """X-15: resets, errors, cuts and clients that leave, one in a hundred, fifty at a time."""

    async def run():
        seen = Counter()
        text = configuration("openai-chat", "URL", receipts=100)
        async with wild(_faulty) as (url, _):
            folder = text.replace("URL", url)
            async with running_gateway(tmp_path, folder) as gateway:
                resting = gateway.files
                limit = aiohttp.TCPConnector(limit=0)
                async with aiohttp.ClientSession(gateway.url, connector=limit) as session:
                    await _many(session, range(1, 1001), Counter())
                    before = gateway.memory
                    began = time.monotonic()
                    await _many(session, range(2001, 2001 + REQUESTS), seen)
                    record_property("seconds", time.monotonic() - began)
                    grown = gateway.memory - before
                record_property("megabytes", grown / MEGABYTE)
                files = await _settled(lambda: gateway.files, 0.3)
                record_property("files", files - resting)
                each = REQUESTS // 400
                assert seen == {"whole": REQUESTS - 4 * each, "told": 3 * each, "left": each}
                assert grown < 10 * MEGABYTE
                # Only connections that are kept for the next request to the provider.
                assert files - resting <= AT_ONCE + 5
                gateway.terminate()
                # It waits for whatever is under way, so nothing was.
                assert await gateway.ended(5) == 0

    asyncio.run(run())


# --- the end without a word -----------------------------------------------------------------------


def test_what_was_kept_outlives_a_kill(tmp_path):
    """Stored responses and the ledger are on the disk a moment after the answer."""
    database = tmp_path / "it.db"
    (tmp_path / "again").mkdir()

    async def answer(turn):
        await answer_well(turn, "openai-chat")

    async def stored(url):
        text = configuration("openai-chat", url, database=json.dumps(str(database)))
        body = {"model": "m", "input": "Keep this."}
        async with (
            running_gateway(tmp_path, text) as it,
            aiohttp.ClientSession(it.url) as session,
            session.post("/v1/responses", json=body) as reply,
        ):
            number = (await reply.json())["id"]
            while not _rows(database):  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.05)
            it.process.kill()
            assert await it.ended() == -9
        return number

    async def found(url, number):
        text = configuration("openai-chat", url, database=json.dumps(str(database)))
        async with (
            running_gateway(tmp_path / "again", text) as it,
            aiohttp.ClientSession(it.url) as session,
            session.get(f"/v1/responses/{number}") as reply,
        ):
            return reply.status, await reply.json()

    async def run():
        async with wild(answer) as (url, _):
            number = await asyncio.wait_for(stored(url), 60)
            return number, *(await asyncio.wait_for(found(url, number), 60))

    number, status, response = asyncio.run(run())
    assert status == 200
    assert response["id"] == number


def _rows(path):
    """Whether the ledger has anything in it."""
    from toolglot.gateway.storage.database import database
    from toolglot.gateway.storage.sqlite_ledger import read_usage

    with database(path) as db:
        return list(read_usage(db, "model"))
