"""Connections that are used again, addresses and proxies."""

import asyncio
import socket
import threading

import pytest
from tests.http1.raw import body, server, with_pool

from toolglot.http1.client_connection import ConnectionDroppedError, ReplyError
from toolglot.http1.connection_pool import ConnectError, InvalidUrlError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


def test_a_connection_is_used_again():
    async def use(pool):
        async with server(OK, OK, OK, close=False) as (url, seen):
            for _ in range(3):
                assert await body(pool, url) == b"ok"
            assert pool.open == 1
            return len(seen)

    assert with_pool(use) == 3


@pytest.mark.parametrize("answer", [CLOSING, OK + b"too much"])
def test_a_connection_that_ends_is_not(answer):
    async def use(pool):
        async with server(answer, OK, close=False) as (url, seen):
            assert await body(pool, url) == b"ok"
            assert await body(pool, url) == b"ok"
            assert len(seen) == 2

    with_pool(use)


def test_a_connection_that_was_closed_while_idle_is_not():
    async def use(pool):
        async with server(OK) as (url, _):
            assert await body(pool, url) == b"ok"
            while pool.open:  # noqa: ASYNC110 - a socket has no event
                await asyncio.sleep(0)
            assert await body(pool, url) == b"ok"

    with_pool(use)


def test_a_connection_that_its_server_has_just_closed_is_not():
    """The loop has not noticed yet, and what is sent now would be lost."""

    def serve(listener):
        for _ in range(2):
            client, _ = listener.accept()
            with client:
                client.recv(2**16)
                client.sendall(OK)

    async def use(pool):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=serve, args=(listener,))
            thread.start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            assert await body(pool, url) == b"ok"
            for connection in tuple(pool._all):
                while not connection.hung_up:
                    pass  # The loop must not run meanwhile.
            assert await body(pool, url) == b"ok"
            thread.join()

    with_pool(use)


def test_requests_at_once_have_connections_of_their_own():
    async def use(pool):
        async with server(OK, close=False) as (url, _):
            assert await asyncio.gather(*(body(pool, url) for _ in range(5))) == [b"ok"] * 5
            assert pool.open == 5

    with_pool(use)


def test_what_is_sent():
    async def use(pool):
        async with server(OK, OK, close=False) as (url, seen):
            there = url.replace("http://", "http://me:se%40cret@")
            await body(pool, there + "/a b?x=1", query={"y": "ü&"}, headers={"X-A": "b"})
            async with await pool.request("GET", url) as reply:
                await reply.read()
            return seen, url.removeprefix("http://").encode()

    (first, second), host = with_pool(use)
    line, *headers = first.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert line == b"POST /a%20b?x=1&y=%C3%BC%26 HTTP/1.1"
    assert {b"Host: " + host, b"X-A: b", b"Content-Length: 2"} <= set(headers)
    assert b"Authorization: Basic bWU6c2VAY3JldA==" in headers
    assert first.endswith(b"\r\n\r\n{}")
    assert second.startswith(b"GET / HTTP/1.1\r\n")
    assert b"Content-Length" not in second


def test_what_the_caller_sends_counts():
    async def use(pool):
        async with server(OK) as (url, seen):
            await body(pool, url, headers={"host": "other", "accept": "text/plain"})
            return seen[0].lower()

    sent = with_pool(use)
    assert sent.count(b"\r\nhost:") == sent.count(b"\r\naccept:") == 1
    assert b"host: other" in sent


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://127.0.0.1:9/x", ConnectError),
        ("http://nowhere.invalid/", ConnectError),
        ("http://[", InvalidUrlError),
        ("http://:x/", InvalidUrlError),
        ("ftp://127.0.0.1/", InvalidUrlError),
        ("127.0.0.1", InvalidUrlError),
    ],
)
def test_addresses_at_which_nobody_is(url, problem):
    with pytest.raises(problem) as caught:
        with_pool(lambda pool: body(pool, url))
    assert isinstance(caught.value, ReplyError)
    assert str(caught.value)


def test_a_header_that_would_be_two_is_not_sent():
    async def use(pool):
        async with server(OK) as (url, seen):
            with pytest.raises(ConnectError, match="line breaks"):
                await body(pool, url, headers={"x": "a\r\nb: c"})
            return seen

    assert with_pool(use) == []


def test_a_server_that_takes_no_connection_in_time():
    async def use(pool):
        with pytest.raises(TimeoutError):
            await body(pool, "http://127.0.0.1:9/", connect=0)

    with_pool(use)


# --- proxies --------------------------------------------------------------------------------------


def test_through_a_proxy_whole_urls_are_sent():
    async def use(pool):
        async with server(OK) as (url, seen):
            proxy = url.replace("http://", "http://me:secret@")
            assert await body(pool, "http://provider.invalid/a?b=c", proxy=proxy) == b"ok"
            return seen[0]

    sent = with_pool(use)
    assert sent.startswith(b"POST http://provider.invalid/a?b=c HTTP/1.1\r\n")
    assert b"\r\nHost: provider.invalid\r\n" in sent
    assert b"\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n" in sent


def test_a_server_that_drops_a_request():
    async def use(pool):
        async with server(None) as (url, seen):
            with pytest.raises(ConnectionDroppedError):
                await body(pool, url)
            return len(seen)

    assert with_pool(use) == 1, "whether to ask again is for others to decide"
