"""What clients send, right or wrong, and what they get."""

import asyncio

import pytest
from tests.http1.raw import body_of, echo, exchange, handling, talk

from toolglot.http1.server_response import WholeHttpResponse

HOST = b"Host: x\r\n"
CLOSE = b"Connection: close\r\n"
GET = b"GET / "
POST = b"POST / HTTP/1.1\r\nHost: a\r\n"


async def refuse(_request):
    return WholeHttpResponse(b"no", 401)


@pytest.mark.parametrize(
    ("request_", "body"),
    [
        (b"GET /a?b=c HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n", b"GET /a "),
        (b"GET /a%20b HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n", b"GET /a b "),
        (b"GET http://x/a HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n", b"GET /a "),
        (b"GET / HTTP/1.0\r\n\r\n", b"GET / "),
        (b"POST / HTTP/1.1\r\n" + HOST + CLOSE + b"Content-Length: 3\r\n\r\nabc", b"POST / abc"),
        (
            b"POST / HTTP/1.1\r\n" + HOST + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n"
            b"3;x\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n",
            b"POST / abcde",
        ),
        (b"GET / HTTP/1.1\r\n" + HOST + b"Connection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n", GET),
        (
            b"POST / HTTP/1.1\r\n" + HOST + b"Connection: Upgrade, close\r\nUpgrade: h2c\r\n"
            b"Content-Length: 3\r\n\r\nabc",
            b"POST / abc",
        ),
        (
            b"GET / HTTP/1.1\r\n" + HOST + CLOSE + b"User-Agent: a\r\nuser-agent: b\r\n\r\n",
            b"GET / ",
        ),
    ],
)
def test_requests(request_, body):
    answer = talk(request_)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nDate: " in answer
    assert body_of(answer) == body


def test_a_connection_goes_on_after_an_offer_of_another_protocol():
    offer = HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n"
    asked = b"GET /1 HTTP/1.1\r\n" + offer + b"\r\n"
    asked += b"POST /2 HTTP/1.1\r\n" + offer + b"Content-Length: 2\r\n\r\nhi"
    answer = talk(asked + b"GET /3 HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n")
    assert [part.rpartition(b"\r\n\r\n")[2] for part in answer.split(b"HTTP/1.1 200")[1:]] == [
        b"GET /1 ",
        b"POST /2 hi",
        b"GET /3 ",
    ]


def test_a_request_that_comes_byte_by_byte():
    async def run():
        async with handling(echo) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for byte in b"POST /a HTTP/1.1\r\n" + HOST + CLOSE + b"Content-Length: 2\r\n\r\nhi":
                writer.write(bytes([byte]))
                await writer.drain()
            answer = await reader.read()
            writer.close()
            return answer

    assert body_of(asyncio.run(run())) == b"POST /a hi"


def test_a_head_without_a_body_for_head():
    answer = talk(b"HEAD / HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n")
    assert b"Content-Length: 7" in answer
    assert body_of(answer) == b""


def test_requests_on_one_connection_are_answered_in_their_order():
    one = b"GET /1 HTTP/1.1\r\n" + HOST + b"\r\n"
    two = b"POST /2 HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\nhi"
    answer = talk(one + two + one + b"GET /3 HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n")
    assert [part.rpartition(b"\r\n\r\n")[2] for part in answer.split(b"HTTP/1.1 200")[1:]] == [
        b"GET /1 ",
        b"POST /2 hi",
        b"GET /1 ",
        b"GET /3 ",
    ]


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"HELO\r\n\r\n", b"400", b"method"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400", b"Host"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400", b"host once"),
        (b"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", b"400", b"same host"),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
            b"400",
            b"authorization once",
        ),
        (b"GET / HTTP/1.1\r\nHo st: a\r\n\r\n", b"400", b"header"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", b"400", b"header"),
        (b"GET / HTTP/1.1\nHost: a\n\n", b"400", b"CRLF"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 700_000, b"400", b"too long"),
        (b"GET /" + b"x" * 700_000 + b" HTTP/1.1\r\n", b"400", b"too long"),
        (
            POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"400",
            b"Transfer-Encoding",
        ),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            b"400",
            b"Content-Length",
        ),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
            b"400",
            b"Transfer-Encoding",
        ),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", b"400", b"Content-Length"),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnine\r\n",
            b"400",
            b"not HTTP",
        ),
    ],
)
def test_what_is_no_request_is_refused_and_the_connection_closed(data, status, words):
    answer = talk(data)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"Connection: close" in answer
    assert words in answer


@pytest.mark.parametrize(
    "framing", [b"Content-Length: 2000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n7d0\r\n"]
)
@pytest.mark.parametrize("handler", [echo, refuse])
def test_a_body_that_is_too_large_is_not_read(framing, handler):
    data = b"POST / HTTP/1.1\r\n" + HOST + framing + b"x" * 2000
    answer = talk(data, handler, body_size=1000)
    assert answer.startswith(b"HTTP/1.1 413" if handler is echo else b"HTTP/1.1 401")
    assert b"Connection: close" in answer


def test_a_client_that_is_refused_by_its_headers_need_not_send_its_body():
    """And reads its answer although it was sending all the time."""
    data = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 50000000\r\n\r\n"
    assert talk(data + b"x" * 1_000_000, refuse).endswith(b"\r\n\r\nno")


def test_a_body_that_nobody_wants_yet_stays_in_the_socket():
    seen = []

    async def late(request):
        await asyncio.sleep(0.2)
        seen.append(request.body.size)
        return WholeHttpResponse(str(len(await request.read())).encode())

    size = 8_000_000
    data = b"POST / HTTP/1.1\r\n" + HOST + CLOSE + b"Content-Length: %d\r\n\r\n" % size
    assert body_of(talk(data + b"x" * size, late)) == str(size).encode()
    assert seen[0] < 2_000_000


def test_all_bodies_together_have_a_limit():
    async def run():
        async with handling(echo, all_bodies=1500) as (port, server):
            head = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1000\r\n\r\n"
            _, first = await asyncio.open_connection("127.0.0.1", port)
            first.write(head + b"x" * 900)
            await first.drain()
            while server.bytes_read < 900:  # noqa: ASYNC110 - a socket has no event
                await asyncio.sleep(0)
            refused = await exchange(port, head + b"x" * 1000)
            first.close()
            while server.bytes_read:  # noqa: ASYNC110
                await asyncio.sleep(0)
            last = await exchange(port, head.replace(HOST, HOST + CLOSE) + b"x" * 1000)
            return refused, last, server.bytes_read

    refused, last, left = asyncio.run(run())
    assert refused.startswith(b"HTTP/1.1 503")
    assert last.startswith(b"HTTP/1.1 200")
    assert left == 0


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\nHo", b"408"),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\nabc", b"408"),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n9\r\nabc", b"408"),
    ],
)
def test_what_does_not_arrive_in_time_is_refused(data, status):
    answer = talk(data, head_seconds=0.1, body_seconds=0.1)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"in time" in answer


def test_connections_that_say_nothing_are_closed():
    assert talk(b"", head_seconds=0.1) == b""
    answer = talk(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", idle_seconds=0.1)
    assert body_of(answer) == b"GET / "


@pytest.mark.parametrize("limit", ["connections", "per_address"])
def test_connections_have_a_limit(limit):
    async def run():
        async with handling(echo, **{limit: 2}) as (port, _):
            open_ = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            for reader, writer in open_:
                writer.write(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
                assert await reader.readuntil(b"GET / ")
            refused = await exchange(port, b"")
            for _, writer in open_:
                writer.close()
            return refused

    assert asyncio.run(run()).startswith(b"HTTP/1.1 503")


def test_a_client_that_waits_for_leave_to_send_gets_it():
    async def run():
        async with handling(echo) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = HOST + CLOSE + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"
            writer.write(b"POST / HTTP/1.1\r\n" + head)
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"hi")
            answer = await reader.read()
            writer.close()
            return answer

    assert body_of(asyncio.run(run())) == b"POST / hi"


def test_a_client_that_leaves_cancels_its_request():
    async def run():
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def wait(_request):
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        async with handling(wait) as (port, _):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
            await begun.wait()
            writer.close()
            async with asyncio.timeout(5):
                await cancelled.wait()

    asyncio.run(run())


def test_a_fault_of_a_handler_ends_its_connection_and_no_other(caplog):
    async def fails(_request):
        raise ZeroDivisionError

    assert talk(b"GET /x HTTP/1.1\r\n" + HOST + b"\r\n", fails) == b""
    assert "GET /x failed" in caplog.text
