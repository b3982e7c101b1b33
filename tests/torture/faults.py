"""What providers do wrong, as small functions: how an answer is split, cut, or none at all."""

import asyncio
import gzip
import json
import random
from collections.abc import Callable

from tests.gateway.wild import Turn
from tests.torture.conversation import Conversation, asked, pieces, speaker, whole
from tests.torture.lab import Behaviour
from tests.upstreams import bedrock_converse
from tests.upstreams.server import frame
from tests.upstreams.values import Failure

HTML = b"<!doctype html><html><title>502 Bad Gateway</title><h1>nginx</h1></html>"


def content(turn: Turn, talk: Conversation) -> tuple[bytes, str]:
    """The right answer, as bytes and their type."""
    request = asked(talk, turn.path, turn.body)
    if request.stream:
        return b"".join(pieces(talk, request)), speaker(talk).CONTENT_TYPE
    return whole(talk, request), "application/json"


async def well(turn: Turn, talk: Conversation) -> None:
    """Nothing is wrong."""
    await turn.whole(*content(turn, talk))


# --- splits ---------------------------------------------------------------------------------------


def split(size: int) -> Behaviour:
    """The answer in chunks of so many bytes."""

    async def answer(turn: Turn, talk: Conversation) -> None:
        data, kind = content(turn, talk)
        await turn.head(kind)
        for start in range(0, len(data), size):
            await turn.chunk(data[start : start + size])
        await turn.end()

    return answer


async def by_event(turn: Turn, talk: Conversation) -> None:
    """Each event by itself, with time for others in between."""
    request = asked(talk, turn.path, turn.body)
    if not request.stream:
        await well(turn, talk)
        return
    await turn.head(speaker(talk).CONTENT_TYPE)
    for piece in pieces(talk, request):
        await turn.chunk(piece)
        await asyncio.sleep(0)
    await turn.end()


async def commented(turn: Turn, talk: Conversation) -> None:
    """Comments and empty lines between events."""
    request = asked(talk, turn.path, turn.body)
    if not request.stream:
        await well(turn, talk)
        return
    between = b"\n" if talk.theirs == "ollama" else b": still here\n\n"
    if talk.theirs == "bedrock-converse":
        # Its framing has no comments; an event that nobody knows is as little of an answer.
        between = bedrock_converse.frame(("stillHere", {}))
    await turn.whole(between.join(pieces(talk, request)), speaker(talk).CONTENT_TYPE)


async def not_streamed(turn: Turn, talk: Conversation) -> None:
    """A whole answer, also where a stream was asked for."""
    await turn.whole(whole(talk, asked(talk, turn.path, turn.body)))


def once(fault: Behaviour) -> Behaviour:
    """A fault that is gone when the request is sent again."""
    done = False

    async def answer(turn: Turn, talk: Conversation) -> None:
        nonlocal done
        if done:
            await well(turn, talk)
        else:
            done = True
            await fault(turn, talk)

    return answer


def error_event(talk: Conversation, number: int) -> bytes:
    """The event by which a provider ends a stream that failed, after so many others."""
    _, said = speaker(talk).error(Failure("invalid", "Not now."))
    name = None
    if talk.theirs == "bedrock-converse":
        return bedrock_converse.exception(said["__type"], said["message"])
    if talk.theirs == "anthropic":
        name = "error"
    elif talk.theirs == "gemini-interactions":
        name, said = "error", {"event_type": "error", **said}
    elif talk.theirs == "openai-responses":
        name = "error"
        said = {"type": "error", "sequence_number": number, "code": "x", "message": "Not now."}
    return frame((name, said), speaker(talk))


def status(code: int, **headers: str) -> Behaviour:
    """An error, as the provider's protocol has it."""

    async def answer(turn: Turn, talk: Conversation) -> None:
        _, said = speaker(talk).error(Failure("invalid", "Not now."))
        await turn.whole(json.dumps(said).encode(), status=code, **headers)

    return answer


# --- cuts -----------------------------------------------------------------------------------------

CUTS = ("eof", "close", "reset", "length")
"""How a provider stops: as if it were the end, by closing, by a reset, short of its length."""


def cut(at: int, how: str) -> Behaviour:
    """The answer up to a byte."""

    async def answer(turn: Turn, talk: Conversation) -> None:
        data, kind = content(turn, talk)
        if how == "length":
            await turn.send(_head(200, kind, b"content-length: %d" % len(data)) + data[:at])
            await hang_up(turn)
            return
        await turn.head(kind)
        await turn.chunk(data[:at])
        if how == "eof":
            await turn.end()
        elif how == "close":
            await hang_up(turn)
        else:
            await turn.reset()

    return answer


async def hang_up(turn: Turn) -> None:
    """Close the connection."""
    turn._writer.close()


def _head(code: int, kind: str, *lines: bytes) -> bytes:
    return b"\r\n".join(
        [b"HTTP/1.1 %d Said" % code, b"content-type: " + kind.encode(), *lines, b"", b""]
    )


# --- silence --------------------------------------------------------------------------------------


async def no_head(turn: Turn, talk: Conversation) -> None:
    await turn.left()


async def head_only(turn: Turn, talk: Conversation) -> None:
    await turn.head(content(turn, talk)[1])
    await turn.left()


async def half_then_silence(turn: Turn, talk: Conversation) -> None:
    data, kind = content(turn, talk)
    await turn.head(kind)
    await turn.chunk(data[: len(data) // 2])
    await turn.left()


async def drip(turn: Turn, talk: Conversation) -> None:
    """A head that never comes to its end, byte by byte."""
    for byte in _head(200, "application/json", *(b"x-%d: y" % n for n in range(1000))):
        await turn.send(bytes([byte]))
        await asyncio.sleep(0.05)


STALLS: dict[str, Behaviour] = {
    "no head": no_head,
    "head only": head_only,
    "half an answer": half_then_silence,
    "a head that drips": drip,
}


# --- no answer ------------------------------------------------------------------------------------


def raw(data: bytes, end: str = "close") -> Behaviour:
    """These bytes, and then the end of the connection."""

    async def answer(turn: Turn, talk: Conversation) -> None:
        if data:
            await turn.send(data)
        await (turn.reset() if end == "reset" else hang_up(turn))

    return answer


def body(data: bytes, kind: str = "application/json", code: int = 200, **headers: str) -> Behaviour:
    """An answer whose HTTP is right."""

    async def answer(turn: Turn, talk: Conversation) -> None:
        await turn.whole(data, kind, code, **headers)

    return answer


def made(make: Callable[[bytes], bytes]) -> Behaviour:
    """What is made of the right answer, sent as it is; the connection ends with it."""

    async def answer(turn: Turn, talk: Conversation) -> None:
        data, _ = content(turn, talk)
        await turn.send(make(data))
        await hang_up(turn)

    return answer


def changed(change: Callable[[bytes], bytes]) -> Behaviour:
    """The right answer with something wrong in its body."""

    async def answer(turn: Turn, talk: Conversation) -> None:
        data, kind = content(turn, talk)
        await turn.whole(change(data), kind)

    return answer


async def redirected(turn: Turn, talk: Conversation) -> None:
    """The right answer, with a status that says that it is elsewhere."""
    await turn.whole(*content(turn, talk), 302, location="http://127.0.0.1:9/")


async def another_protocol(turn: Turn, talk: Conversation) -> None:
    """A sound answer of a protocol that nobody asked for."""
    odd = {"result": {"text": "Hello."}, "jsonrpc": "2.0", "id": 1}
    await turn.whole(json.dumps(odd).encode())


async def echoed(turn: Turn, talk: Conversation) -> None:
    """What was asked, sent back."""
    await turn.whole(turn.body)


async def only_comments(turn: Turn, talk: Conversation) -> None:
    await turn.whole(
        b"\n\n\n" if talk.theirs == "ollama" else b": hello\n\n: hello\n\n",
        speaker(talk).CONTENT_TYPE,
    )


_ERRORS_WITH_200 = (
    b'{"error":"model is loading"}',
    b'{"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}}',
    b'{"type":"error","error":{"type":"overloaded_error","message":"Busy."}}',
    b'{"object":"error","message":"Busy.","type":"ServerError","code":500}',
    b'{"errors":[{"message":"Busy."}],"success":false,"result":null}',
    b'{"success":false,"msg":"Busy.","code":-1,"data":null}',
    b'{"message":"Busy."}',
    b'{"detail":[{"loc":["body"],"msg":"field required","type":"missing"}]}',
    b'{"error":{}}',
    b'{"error":true}',
    b'{"choices":null}',
    b'{"choices":[],"content":[],"output":[],"candidates":[],"message":{}}',
    b'{"choices":"x","content":"x","output":"x","candidates":"x","message":"x"}',
    b'{"choices":{},"content":{},"output":{},"candidates":{},"message":[]}',
    b'{"choices":[1],"content":[1],"output":[1],"candidates":[1],"message":1}',
    b'{"id":"x","object":"list","data":[]}',
    b'{"usage":{"prompt_tokens":1,"completion_tokens":0,"total_tokens":1}}',
    b'[{"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}}]',
)
"""Bodies in which some server says with status 200 that it has no answer."""
_NO_STREAMS = (
    b"data: [DONE]\n\n",
    b"data:\n\n",
    b"data: null\n\ndata: [DONE]\n\n",
    b"data: {}\n\n",
    b'data: {"error":{"message":"Busy.","code":503}}\n\n',
    b'event: error\ndata: {"error":"Busy."}\n\n',
    b"event: error\ndata: Busy.\n\n",
    b"data: upstream timed out\n\n",
    b"retry: 100\n\n",
    b"\xef\xbb\xbf",
    b": keep-alive\n\ndata: [DONE]\n\n",
    b'{"error":"Busy."}\n',
    b'{"detail":"Not Found"}\n',
    b"\n",
)
"""Streams with nothing in them, or with an error in the words of another server."""

_TLS = bytes.fromhex("160301020001000001fc0303") + bytes(16)
_OK = b"HTTP/1.1 200 OK\r\n"

NO_ANSWERS: dict[str, Behaviour] = {
    "reset before the head": raw(b"", "reset"),
    "close before the head": raw(b""),
    "half a status line": raw(b"HTTP/1."),
    "half a head": raw(_OK + b"content-type: applica"),
    "a head, then a reset": raw(_head(200, "application/json", b"content-length: 99"), "reset"),
    "a head, then the end": raw(_head(200, "application/json", b"content-length: 99")),
    "a head of chunks, then the end": raw(
        _head(200, "text/event-stream", b"transfer-encoding: chunked")
    ),
    "an empty body": body(b""),
    "an empty body of length 0": raw(_head(200, "application/json", b"content-length: 0")),
    "an empty stream": body(b"", "text/event-stream"),
    "nothing but comments": only_comments,
    "HTML with 200": body(HTML, "text/html"),
    "HTML that is said to be JSON": body(HTML),
    "HTML with 502": body(HTML, "text/html", 502),
    "text with 418": body(b"teapot", "text/plain", 418),
    "an empty 500": body(b"", "text/plain", 500),
    "an empty 401": body(b"", "text/plain", 401),
    "a 404 of a framework": body(b'{"detail":"Not Found"}', code=404),
    "a length that is too long": made(
        lambda data: _head(200, "application/json", b"content-length: %d" % (len(data) + 9)) + data
    ),
    "a length that is too short": made(
        lambda data: (
            _head(200, "application/json", b"content-length: %d" % (len(data) // 2))
            + data[: len(data) // 2]
        )
    ),
    "two lengths": made(
        lambda data: (
            _head(200, "application/json", b"content-length: 7", b"content-length: 9") + data
        )
    ),
    "a chunk size that is no number": raw(
        _head(200, "application/json", b"transfer-encoding: chunked") + b"xyz\r\n{}\r\n0\r\n\r\n"
    ),
    "a chunk that is cut": raw(
        _head(200, "application/json", b"transfer-encoding: chunked") + b'ff\r\n{"id"'
    ),
    "a negative chunk size": raw(
        _head(200, "application/json", b"transfer-encoding: chunked") + b"-5\r\n{}\r\n0\r\n\r\n"
    ),
    "only 100 Continue": raw(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "only 103 Early Hints": raw(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"),
    "101 Switching Protocols": raw(
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"
    ),
    "half a TLS hello": raw(_TLS),
    "the preface of HTTP/2": raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "bytes that are no HTTP": raw(b"\x00\x01\x02\xffSSH-2.0-OpenSSH\r\n\r\n"),
    "a 302 to somewhere else": body(b"{}", code=302, location="http://127.0.0.1:9/"),
    "a 302 with an answer": redirected,
    "a 204": raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "a 304": raw(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
    "invalid UTF-8": changed(lambda data: data.replace(b"{", b"\xff")),
    "NUL bytes": body(bytes(64)),
    "{}": body(b"{}"),
    "detail: Not Found": body(b'{"detail":"Not Found"}'),
    "[]": body(b"[]"),
    "null": body(b"null"),
    "a number": body(b"17"),
    "a string": body(b'"ok"'),
    "half of the JSON": body(b'{"id": "a", "choi'),
    "JSON nested 100,000 deep": body(b"[" * 100_000),
    "gzip that is none": body(b"not gzip at all", content_encoding="gzip"),
    "gzip that is cut": body(gzip.compress(b'{"a":1}' * 99)[:-20], content_encoding="gzip"),
    "an encoding that nobody knows": body(b"{}", content_encoding="rot13"),
    "an answer of no protocol": another_protocol,
    "an error with 200": body(b'{"error":{"message":"Ill.","type":"server_error"}}'),
    "a header of a megabyte": raw(_OK + b"x: " + b"y" * 2**20 + b"\r\n\r\n{}"),
    **{f"with 200: {text[:40].decode()}": body(text) for text in _ERRORS_WITH_200},
    **{f"a stream of {text[:40]!r}": body(text, "text/event-stream") for text in _NO_STREAMS},
    "half a byte order mark": body(b"\xef\xbb"),
    "a byte order mark": body(b"\xef\xbb\xbf"),
    "an error page that is said to be a stream": body(HTML, "text/event-stream"),
    "a page of a login": body(b"<html>Sign in</html>", "text/html; charset=utf-8", 203),
    "a 206": body(b'{"partial":true}', code=206),
    "text that is said to be a stream": body(b"upstream connect error", "text/event-stream"),
    "the request itself": echoed,
}
"""Answers that are none, by name. The client must be told, in its own protocol."""

FINE: dict[str, Callable[[random.Random], Behaviour]] = {
    "nothing": lambda rng: well,
    "split": lambda rng: split(rng.choice((1, 2, 3, 7, 16, 61, 256))),
    "by event": lambda rng: by_event,
    "comments": lambda rng: commented,
    "not streamed": lambda rng: not_streamed,
}
RETRIED: dict[str, Callable[[random.Random], Behaviour]] = {
    "429 once": lambda rng: once(status(429, retry_after="0")),
    "500 once": lambda rng: once(status(500)),
    "HTML once": lambda rng: once(body(HTML, "text/html", 503)),
    "closed once": lambda rng: once(raw(b"")),
    "reset once": lambda rng: once(raw(b"", "reset")),
}
BROKEN: dict[str, Callable[[random.Random], Behaviour]] = {
    "cut": lambda rng: cut(rng.randrange(4000), rng.choice(CUTS)),
    "HTML": lambda rng: body(HTML, "text/html"),
    "refused": lambda rng: status(400),
    "a length that lies": lambda rng: cut(rng.randrange(1, 300), "length"),
}
"""Faults of the campaign: those that must not be noticed, and those that must be told."""
