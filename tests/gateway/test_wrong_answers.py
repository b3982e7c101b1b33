"""Replies with a good status that are no answers: an error for the client, or the next target."""

import asyncio
import json
from contextlib import AsyncExitStack
from functools import partial

import pytest
from tests.gateway.answers import (
    NAMES,
    TEXT,
    answer_well,
    ask,
    kind_of,
    pieces_of,
    read_stream,
    read_whole,
    said,
    whole_of,
)
from tests.gateway.running import gateway, provider, to
from tests.gateway.wild import wild
from tests.sampling import sampled

from toolglot import ir

JSON = "application/json"
MEMBER = {
    "anthropic": "content",
    "openai-chat": "choices",
    "openai-responses": "output",
    "gemini-interactions": "steps",
    "gemini": "candidates",
    "ollama": "message",
    "bedrock-converse": "output",
}
"""The member that makes a body an answer."""
LIBRARIES = (b"msgspec", b"httptools", b"aiohttp", b"Traceback", b"SSL", b"(byte ", b"Errno")
"""Words by which a client would learn what we are made of."""


def wrong_bodies(theirs):
    """What providers and what stands before them send with a good status: body, type, status."""
    answer, member = json.loads(whole_of(theirs)), MEMBER[theirs]
    other = "ollama" if theirs != "ollama" else "openai-chat"
    values = {
        "object": {},
        "detail": {"detail": "Not Found"},
        "list": [],
        "list of one": [{"ok": True}],
        "null": None,
        "true": True,
        "number": 17,
        "string": "pong",
        "status": {"status": "ok"},
        "failure": {"success": False, "message": "quota"},
        "code": {"code": 500, "msg": "busy"},
        "models": {"object": "list", "data": [{"id": "m"}]},
        "without": {key: value for key, value in answer.items() if key != member},
        "member null": {**answer, member: None},
        "member text": {**answer, member: "well"},
        "member number": {**answer, member: 3},
        "member false": {**answer, member: False},
        "member empty": {member: type(answer[member])()},
        "head only": {key: answer[key] for key in ("id", "model", "object") if key in answer},
        "error": {"error": {"message": "no"}},
        "error text": {"error": "no"},
        "error type": {"type": "error", "error": {"type": "api_error", "message": "no"}},
        "errors": {"errors": [{"message": "no"}]},
        "another protocol": json.loads(whole_of(other)),
    }
    if theirs == "ollama":
        del values["failure"]  # It has a message.
    if theirs == "openai-chat":
        del values["member null"]  # So says a server whose model reasoned until the limit.
    raw = {
        "page": (b"<!doctype html><title>Welcome</title>", "text/html", 200),
        "page as JSON": (b"<html></html>", JSON, 200),
        "words": (b"upstream connect error", "text/plain", 200),
        "nothing": (b"", JSON, 200),
        "nothing as text": (b"", "text/plain", 200),
        "spaces": (b" \r\n ", JSON, 200),
        "half": (whole_of(theirs)[:-7], JSON, 200),
        "twice": (whole_of(theirs) * 2, JSON, 200),
        "no text": (b"\xff\xfe\x00{}", JSON, 200),
        "moved": (b"<a href='/elsewhere'>Found</a>", "text/html", 302),
        "moved for good": (b"", "text/html", 301),
        "moved with an answer": (whole_of(theirs), JSON, 307),
        "no content": (b"", JSON, 204),
        "not modified": (b"", JSON, 304),
    }
    bodies = {name: (json.dumps(value).encode(), JSON, 200) for name, value in values.items()}
    return {**bodies, **raw}


def wrong_streams(theirs):
    """The same in place of a stream, or as one."""
    media = kind_of(theirs)
    other = "ollama" if theirs != "ollama" else "anthropic"
    another = "gemini" if theirs != "gemini" else "anthropic"
    lines = theirs == "ollama"

    def events(*values):
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        framed = (text + "\n" if lines else f"data: {text}\n\n" for text in texts)
        return "".join(framed).encode()

    found = {
        "nothing": b"",
        "line ends": b"\n\n\n\n",
        "object": events({}),
        "objects": events({}, {}, {}),
        "detail": events({"detail": "Not Found"}),
        "list": events([]),
        "null": events("null"),
        "words": events("pong"),
        "error": events({"error": {"message": "no"}}),
        "error text": events({"error": "no"}),
        "page": b"<!doctype html><title>Welcome</title>",
        "another framing": b"".join(pieces_of(other)),
        "another protocol": b"".join(pieces_of(another)),
    }
    if b"North" not in pieces_of(theirs)[0]:
        found["first only"] = pieces_of(theirs)[0]
    if not lines:
        found |= {
            "comments": b": hello\n\n: hello\n\n",
            "mark": events("[DONE]"),
            "object and mark": events({}, "[DONE]"),
            "detail and mark": events({"detail": "Not Found"}, "[DONE]"),
            "named error": b"event: error\ndata: no\n\n",
            "end only": b"event: end\n\n",
        }
    return {f"stream: {name}": (data, media, 200) for name, data in found.items()}


def cases(theirs, *, stream):
    """All of it; a whole stream is the wrong answer to who asked for a whole answer."""
    whole = {"stream": (b"".join(pieces_of(theirs)), kind_of(theirs), 200)}
    return wrong_bodies(theirs) | (wrong_streams(theirs) if stream else whole)


def judge(ours, status, headers, body, *, stream):
    """What is wrong with what a client was told; nothing: it is an error of its protocol."""
    if status < 400:
        if not stream or headers["content-type"].partition(";")[0] != kind_of(ours):
            return f"status {status}: {body[:200]}"
        error = read_stream(ours, body)
        # Clients of one protocol look for some errors in the stream.
        if ours != "openai-responses" or not isinstance(error, ir.ApiError):
            return f"status {status}: {body[:200]}"
    else:
        error = read_whole(ours, status, body)
    if status in (404, 401):
        return f"status {status}: {body[:200]}"
    if not isinstance(error, ir.ApiError) or not error.message:
        return f"no error: {body[:200]}"
    if found := [word for word in LIBRARIES if word in body]:
        return f"{found}: {body[:200]}"
    return None


async def _lie(turn, lies):
    body, kind, status = lies[0]
    more = {"location": "http://127.0.0.1:1/elsewhere"} if 300 <= status < 400 else {}
    if status in (204, 304):
        await turn.send(b"HTTP/1.1 %d Said\r\ncontent-type: application/json\r\n\r\n" % status)
    else:
        await turn.whole(body, kind, status, **more)


# A seventh of all cases: each protocol on both sides, whole and streamed, with all wrong answers.
@pytest.mark.parametrize(("ours", "theirs", "stream"), sampled(7, NAMES, NAMES, [False, True]))
def test_what_is_no_answer_is_a_failure(ours, theirs, stream):
    """X-16: an error in the client's own shape, or the answer of the next target."""
    found = asyncio.run(_wrong(ours, theirs, stream=stream))
    assert found == {}


async def _wrong(ours, theirs, *, stream):
    lies, wrong = [None], {}
    async with AsyncExitStack() as stack:
        liar, turns = await stack.enter_async_context(wild(partial(_lie, lies=lies)))
        good, _ = await stack.enter_async_context(wild(partial(answer_well, protocol=theirs)))
        providers = {"liar": provider(theirs, liar), "good": provider(theirs, good)}
        routes = [to("liar/m", match="m"), to("liar/m", "good/m", match="m2")]
        session = await stack.enter_async_context(gateway(providers, routes))
        for name, lies[0] in cases(theirs, stream=stream).items():
            turns.clear()
            got = await asyncio.wait_for(ask(session, ours, stream=stream), 10)
            problem = judge(ours, *got, stream=stream)
            if problem is None and len(turns) != 1:
                problem = f"asked {len(turns)} times"
            got = await asyncio.wait_for(ask(session, ours, stream=stream, model="m2"), 10)
            status, headers, body = got
            if problem is None and (status, headers.get("x-toolglot-provider")) != (200, "good"):
                problem = f"the next target was not asked: {status} {body[:200]}"
            if problem is None:
                read = read_stream(ours, body) if stream else read_whole(ours, status, body)
                assert said(read) == TEXT
            if problem is not None:
                wrong[name] = problem
    return wrong
