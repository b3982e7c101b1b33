"""Headers that clients repeat: what is harmless is accepted, what may be smuggling is not."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gateway.running import gateway

from toolglot.gateway.http.repeated_headers import HeadMender, without_repeats

BODY = b'{"model":"toolglot","messages":[{"role":"user","content":"hi"}]}'


SIZE = len(BODY)


def head(*lines, method=b"POST", length=SIZE):
    size = (b"Content-Length: %d" % length,) if length else ()
    first = method + b" /v1/chat/completions HTTP/1.1"
    return b"\r\n".join((first, b"Host: x", *lines, *size)) + b"\r\n\r\n"


async def status(session, data, pieces=1):
    """The status of each answer to bytes on one connection."""
    url = session._build_url("/")
    reader, writer = await asyncio.open_connection(url.host, url.port)
    size = -(-len(data) // pieces)
    for at in range(0, len(data), size):
        writer.write(data[at : at + size])
        await writer.drain()
    lines = []
    while True:
        line = await reader.readuntil(b"\r\n")
        answer = await reader.readuntil(b"\r\n\r\n")
        lines.append(int(line.split()[1]))
        length = next(
            int(each.partition(b":")[2])
            for each in answer.lower().split(b"\r\n")
            if each.startswith(b"content-length:")
        )
        await reader.readexactly(length)
        if len(lines) == data.count(b" HTTP/1.1\r\n") or lines[-1] == 400:
            writer.close()
            return lines


HARMLESS = {
    "user agents": (b"User-Agent: a/1", b"user-agent: b/2"),
    "equal types": (b"Content-Type: application/json", b"content-type:application/json"),
    "accept": (b"Accept: */*", b"Accept: application/json"),
    "referer": (b"Referer: http://localhost/a", b"Referer: http://localhost/b"),
    "three": (b"User-Agent: a/1", b"Accept: */*", b"User-Agent: a/1", b"USER-AGENT: c"),
}
HARMFUL = {
    "lengths": (b"Content-Length: 5",),
    "encoding": (b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"),
    "both": (b"Transfer-Encoding: chunked",),
    "hosts": (b"Host: y",),
    "equal hosts": (b"Host: x",),
    "other types": (b"Content-Type: application/json", b"Content-Type: text/plain"),
}


@pytest.mark.parametrize("pieces", [1, 3, 40])
@pytest.mark.parametrize("lines", HARMLESS.values(), ids=HARMLESS)
def test_harmless_repetitions_are_accepted(lines, pieces):
    """Also in the second request of a connection, wherever the bytes are cut."""

    async def run():
        async with gateway() as session:
            data = (head(*lines) + BODY) * 2
            assert await status(session, data, pieces) == [200, 200]

    asyncio.run(run())


@pytest.mark.parametrize("lines", HARMFUL.values(), ids=HARMFUL)
def test_what_may_be_smuggling_is_refused(lines):
    async def run():
        async with gateway() as session:
            assert await status(session, head(*lines) + BODY) == [400]

    asyncio.run(run())


def test_a_head_is_mended_once_and_for_good():
    mended = without_repeats(head(*HARMLESS["three"]))
    assert mended == head(b"User-Agent: a/1 c", b"Accept: */*")
    assert without_repeats(mended) == mended
    untouched = head(*HARMFUL["other types"])
    assert without_repeats(untouched) == untouched


def test_a_body_that_looks_like_a_head_is_left_alone():
    data = head(length=0) + head(length=len(head(*HARMLESS["three"])))
    body = head(*HARMLESS["three"])
    assert HeadMender().feed(data + body) == data + body


@pytest.mark.parametrize("line", [b"Transfer-Encoding: chunked", b"Upgrade: websocket", b" folded"])
def test_where_the_next_head_is_cannot_be_told_nothing_is_touched(line):
    data = head(*HARMLESS["three"], line)
    mender = HeadMender()
    assert mender.feed(data) == data
    assert mender.feed(data) == data


def test_many_requests_at_once_are_mended_too():
    data = head(*HARMLESS["user agents"], length=0) * 5_000
    assert HeadMender().feed(data) == head(b"User-Agent: a/1 b/2", length=0) * 5_000


def test_a_head_without_end_is_not_kept_for_ever():
    mender = HeadMender()
    assert mender.feed(b"GET / HTTP/1.1\r\nA: " + b"x" * 60_000) == b""
    assert len(mender.feed(b"x" * 10_000)) > 70_000
    assert mender.feed(b"more") == b"more"


@given(st.binary(max_size=200), st.lists(st.integers(0, 300), max_size=5))
def test_requests_without_repetitions_pass_byte_for_byte(body, cuts):
    data = (head(b"User-Agent: a", length=len(body)) + body) * 2
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    mender = HeadMender()
    pieces = pairwise(edges)
    assert b"".join(mender.feed(data[one:other]) for one, other in pieces) == data
