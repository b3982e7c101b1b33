"""Replies of servers that behave in many ways."""

import asyncio
import gzip

import pytest
from tests.http1.raw import server

from toolglot.http1.client_connection import ClientConnection, ConnectionDroppedError, ReplyError
from toolglot.http1.connection_pool import ConnectionPool

OK = b"HTTP/1.1 200 OK\r\n"
WHOLE = OK + b"Content-Length: 5\r\n\r\nwhole"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def ask(answer, use=None, **timeouts):
    """What `use` makes of a reply; the body by default."""

    async def run():
        pool = ConnectionPool()
        try:
            async with (
                server(answer, close=False) as (url, _),
                await pool.request("POST", url, data=b"{}", **timeouts) as reply,
            ):
                return await (use(reply) if use else reply.read())
        finally:
            pool.close()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (WHOLE, b"whole"),
        ([OK, b"Content-Length: 5\r\n\r\n", b"wh", b"ole"], b"whole"),
        (CHUNKED + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n", b"abcde"),
        ([OK + b"\r\nuntil it ", b"closes", None], b"until it closes"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + WHOLE, b"whole"),
        (OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b"
         % (len(gzip.compress(b"small", mtime=0)), gzip.compress(b"small", mtime=0)), b"small"),
    ],
)  # fmt: skip
def test_bodies(answer, body):
    assert ask(answer) == body


def test_the_head():
    async def use(reply):
        return reply.status, reply.headers["x-a"], reply.content_type

    answer = (
        b"HTTP/1.1 429 Slow\r\nX-A: b\r\nContent-Type: Text/Plain; x=y\r\nContent-Length: 0\r\n\r\n"
    )
    assert ask(answer, use) == (429, "b", "text/plain")


def test_a_reply_can_be_read_again():
    async def use(reply):
        return [await reply.read(), await reply.read()]

    assert ask(WHOLE, use) == [b"whole", b"whole"]


@pytest.mark.parametrize(
    ("answer", "problem", "words"),
    [
        (None, ConnectionDroppedError, "closed"),
        ([b"HTTP/1.1 200", None], ConnectionDroppedError, "closed"),
        (b"SMTP ready\r\n\r\n", ReplyError, "not HTTP"),
        (OK + b"X: " + b"x" * 700_000 + b"\r\n\r\n", ReplyError, "not HTTP"),
        ([OK + b"Content-Length: 9\r\n\r\nhalf", None], ReplyError, "in the middle"),
        ([CHUNKED + b"9\r\nhalf", None], ReplyError, "in the middle"),
        (CHUNKED + b"nine\r\n", ReplyError, "not HTTP"),
        (OK + b"Content-Encoding: zstd\r\nContent-Length: 1\r\n\r\nx", ReplyError, "not HTTP"),
        (
            b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            ReplyError,
            "protocol",
        ),
    ],
)
def test_what_is_no_reply(answer, problem, words):
    with pytest.raises(problem, match=words):
        ask(answer)


def test_a_reply_that_is_too_long():
    with pytest.raises(ReplyError, match="longer than 4 bytes"):
        ask(WHOLE, lambda reply: reply.read(4))


@pytest.mark.parametrize("begun", [False, True])
def test_silence_is_a_timeout(begun):
    async def forever():
        await asyncio.Event().wait()

    answer = [OK + b"Content-Length: 9\r\n\r\nhalf", forever()] if begun else [forever()]
    with pytest.raises(TimeoutError):
        ask(answer, first_byte=5 if begun else 0.05, idle=0.05)


class _Pause:
    def __await__(self):
        return asyncio.sleep(0.02).__await__()


def test_a_head_that_drips_is_a_timeout():
    """Byte by byte it would never be silent."""
    drops = (each for _ in range(30) for each in (b"X-Y: z\r\n", _Pause()))
    with pytest.raises(TimeoutError):
        ask([OK, *drops, b"Content-Length: 0\r\n\r\n"], first_byte=0.1, idle=5)


def test_silence_after_a_part_of_the_body_is_a_timeout():
    with pytest.raises(TimeoutError):
        ask([OK + b"Content-Length: 9\r\n\r\n", _Pause(), b"abc"], first_byte=5, idle=0.1)


def test_pieces_as_they_come():
    async def use(reply):
        pieces = []
        while piece := await reply.read_some():
            pieces.append(piece)
            go_on[len(pieces)].set()
        return pieces

    go_on = [asyncio.Event() for _ in range(4)]
    answer = [CHUNKED]
    for number in range(3):
        answer += [b"1\r\n%d\r\n" % number, go_on[number + 1].wait()]
    assert ask([*answer, b"0\r\n\r\n"], use) == [b"0", b"1", b"2"]


def test_bytes_are_passed_on_in_the_callback_in_which_they_arrive():
    seen = []

    async def use(reply):
        assert await reply.forward(lambda data: seen.append(data) or True)
        assert await reply.read_some() == b""

    ask(CHUNKED + b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n", use)
    assert b"".join(seen) == b"ab"


def test_passing_on_can_stop_and_go_on():
    go_on = asyncio.Event()

    async def use(reply):
        first, second = [], []
        ended = await reply.forward(first.append)
        go_on.set()
        assert not ended
        assert await reply.forward(lambda data: second.append(data) or True)
        return b"".join(first), b"".join(second)

    answer = [CHUNKED + b"1\r\na\r\n", go_on.wait(), b"1\r\nb\r\n0\r\n\r\n"]
    assert ask(answer, use) == (b"a", b"b")


def test_what_the_function_raises_ends_the_reply():
    def fails(_data):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(CHUNKED + b"1\r\na\r\n", lambda reply: reply.forward(fails))


def test_a_reader_that_is_slow_stops_the_server():
    """All arrives, and never much of it at once."""
    total = 64

    async def use(reply):
        size = 0
        await asyncio.sleep(0)
        while piece := await reply.read_some():
            size += len(piece)
        return size

    piece = b"x" * 2**17
    answer = [CHUNKED, *(b"20000\r\n%b\r\n" % piece for _ in range(total)), b"0\r\n\r\n"]
    assert ask(answer, use) == total * 2**17


def test_a_reply_that_is_closed_closes_its_connection():
    async def run():
        pool = ConnectionPool()
        async with server([CHUNKED + b"1\r\na\r\n"], close=False) as (url, _):
            reply = await pool.request("POST", url, data=b"{}")
            reply.close()
            with pytest.raises(ReplyError, match="closed"):
                await reply.read()
            while pool.open:  # noqa: ASYNC110 - a socket has no event
                await asyncio.sleep(0)
        pool.close()

    asyncio.run(asyncio.wait_for(run(), 10))


def test_a_request_that_is_cancelled_closes_its_connection():
    async def run():
        pool = ConnectionPool()
        async with server([asyncio.Event().wait()]) as (url, seen):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await pool.request("POST", url, data=b"{}")
            assert len(seen) == 1
            while pool.open:  # noqa: ASYNC110 - a socket has no event
                await asyncio.sleep(0)
        pool.close()

    asyncio.run(asyncio.wait_for(run(), 10))


def test_a_timer_that_is_due_at_once_can_be_moved():
    """uvloop returns something without a time for it."""
    uvloop = pytest.importorskip("uvloop", reason="it is not made for Windows")
    loop = uvloop.new_event_loop()
    try:
        connection = ClientConnection(loop, lambda _: None, lambda _: None)
        for seconds in (0.0, 0.0001, 5.0, 0.0, 1.0):
            connection._watch(seconds)
        connection._stop_watching()
        loop.call_later(0.01, loop.stop)
        loop.run_forever()
    finally:
        loop.close()
