"""What real agent clients do over HTTP, tried on a gateway on loopback."""

import asyncio
import json

import pytest
from aiohttp import web
from tests.client_requests import (
    CODEX_HISTORY,
    GEMINI_HISTORY,
    REORDERED,
    claude_code,
    claude_title,
    claude_tool_search,
    claude_web_search,
    codex,
    codex_lite,
    codex_tool_search,
    gemini_cli,
)
from tests.gateway.exchanges import NAMES, asked, scripted, streamed
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.lint import lint_stream
from toolglot.registry import get_protocol

KEYS = {
    "x-api-key": {"headers": {"x-api-key": "dummy"}},
    "bearer": {"headers": {"Authorization": "Bearer dummy"}},
    "goog": {"headers": {"x-goog-api-key": "dummy"}},
    "query": {"params": {"key": "dummy"}},
}


def through(theirs, *calls, fields=None):
    """The answers to calls through a gateway, and what the provider got."""

    async def run():
        seen, found = [], []
        async with (
            upstream(scripted(theirs, seen)) as url,
            gateway({"them": provider(theirs, url, **(fields or {}))}, [to("them/*")]) as session,
        ):
            for method, path, more in calls:
                async with session.request(method, path, **more) as reply:
                    found.append((reply.status, dict(reply.headers), await reply.read()))
        return found, seen

    return asyncio.run(run())


def test_claude_code_looks_whether_somebody_is_there():
    ((status, _, _),), seen = through("openai-chat", ("HEAD", "/", {}))
    assert status in (200, 404)
    assert seen == []


@pytest.mark.parametrize("theirs", NAMES)
def test_claude_code_marks_its_paths(theirs):
    """`?beta=true` is Anthropic's business alone."""
    body = json.dumps(claude_code(*REORDERED))
    headers = {"anthropic-version": "2023-06-01", "Accept": "application/json"}
    more = {"data": body, "headers": headers, "params": {"beta": "true"}}
    count = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": []}
    found, seen = through(
        theirs,
        ("POST", "/v1/messages", more),
        ("POST", "/v1/messages/count_tokens", {**more, "data": json.dumps(count)}),
    )
    (status, answered, stream), (counted, _, tokens) = found
    assert (status, counted) == (200, 200)
    assert answered["Content-Type"] == "text/event-stream"
    assert lint_stream(stream, "anthropic") == []
    assert json.loads(tokens)["input_tokens"] > 0
    assert ("beta" in seen[0][0].query) is (theirs == "anthropic")


def test_claude_code_falls_back_to_whole_answers():
    body = claude_code()
    del body["stream"]
    ((status, headers, answer),), _ = through(
        "gemini", ("POST", "/v1/messages", {"data": json.dumps(body)})
    )
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(answer)["content"][0]["text"] == "North by north-west."


SAID = {
    "claude": ("/v1/messages", claude_code(*REORDERED)),
    "claude search": ("/v1/messages", claude_web_search()),
    "claude title": ("/v1/messages", claude_title()),
    "claude tool search": ("/v1/messages", claude_tool_search()),
    "codex": ("/v1/responses", codex(*CODEX_HISTORY)),
    "codex lite": ("/v1/responses", codex_lite()),
    "codex tool search": ("/v1/responses", codex_tool_search()),
    "gemini": ("/v1beta/models/m:streamGenerateContent", gemini_cli(*GEMINI_HISTORY)),
    "gemini v1": ("/v1/models/m:streamGenerateContent", gemini_cli(*GEMINI_HISTORY)),
}
CLIENT = {"/v1/m": "anthropic", "/v1/r": "openai-responses"}


@pytest.mark.parametrize("theirs", NAMES)
@pytest.mark.parametrize("said", SAID)
def test_every_request_of_agent_clients_is_answered(said, theirs):
    path, body = SAID[said]
    client = "gemini" if ":" in path else CLIENT[path[:5]]
    params = {"alt": "sse"} if client == "gemini" else {}
    found, seen = through(theirs, ("POST", path, {"data": json.dumps(body), "params": params}))
    ((status, headers, stream),) = found
    assert status == 200
    assert headers["Content-Type"] == get_protocol(client).SURFACE.stream.media_type
    assert lint_stream(stream, client) == []
    assert len(seen) == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("where", KEYS)
def test_a_key_is_taken_from_wherever_it_stands(name, where):
    """SDKs send their key as Bearer on every path, others in a header of their own."""
    wire = asked(name)
    found, seen = through(
        "openai-chat",
        ("POST", wire["path"], {"data": wire["data"], **KEYS[where]}),
        fields={"api_key": "client"},
    )
    assert found[0][0] == 200
    assert seen[0][0].headers["Authorization"] == "Bearer dummy"
    assert "key" not in seen[0][0].query


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("theirs", ["openai-chat", "openai-responses"])
def test_the_model_of_the_provider_is_not_told_in_a_header(theirs, stream):
    """Codex takes one that differs for a sign that its account was flagged."""

    told = {"openai-model": "other", "x-ratelimit-remaining": "5", "x-request-id": "theirs"}
    wire = asked("openai-responses", stream=stream)

    async def handle(request):
        if not stream:
            reply = await scripted(theirs, [])(request)
            reply.headers.update(told)
            return reply
        surface = get_protocol(theirs).SURFACE
        response = web.StreamResponse(headers={"Content-Type": surface.stream.media_type, **told})
        await response.prepare(request)
        for piece in streamed(theirs):
            await response.write(piece)
        return response

    async def run():
        async with (
            upstream(handle) as url,
            gateway({"them": provider(theirs, url)}, [to("them/*")]) as session,
            session.post(wire["path"], data=wire["data"]) as reply,
        ):
            await reply.read()
            return reply.status, reply.headers

    status, headers = asyncio.run(run())
    assert status == 200
    assert "openai-model" not in headers
    assert headers["x-request-id"] != "theirs"


def test_a_small_window_is_told_in_the_clients_measure():
    """Tokens of the prompt, also where they are only counted, so that the client makes room."""
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Which way?"}]}
    calls = (
        ("POST", "/v1/messages", {"json": body}),
        ("POST", "/v1/messages/count_tokens", {"json": body}),
    )
    windows = {"context_window": 20_000, "client_window": 200_000}
    (plain, counted), _ = through("openai-chat", *calls)
    (scaled, more), _ = through("openai-chat", *calls, fields=windows)
    assert json.loads(plain[2])["usage"]["input_tokens"] == 12
    assert json.loads(scaled[2])["usage"] == {
        **json.loads(plain[2])["usage"],
        "input_tokens": 120,
    }
    assert "usage-scaled" in scaled[1]["x-toolglot-receipt"]
    tokens = json.loads(counted[2])["input_tokens"]
    assert json.loads(more[2])["input_tokens"] == 10 * tokens


@pytest.mark.parametrize("header", ["x-session-affinity", "X-Claude-Code-Session-Id", "thread-id"])
def test_a_conversation_that_has_a_name_stays_with_its_provider(header):
    """Whatever its requests begin with."""

    async def run():
        homes = {}
        async with (
            upstream(scripted("openai-chat", [])) as url,
            gateway(
                {name: provider("openai-chat", url) for name in ("one", "two")},
                [to("one/*", "two/*", pick="affinity")],
            ) as session,
        ):
            for name in "abcdefgh":
                for text in ("Hi", "Something else entirely"):
                    body = {"messages": [{"role": "user", "content": text}], "model": "m"}
                    headers = {header: name}
                    path = "/v1/chat/completions"
                    async with session.post(path, json=body, headers=headers) as reply:
                        homes.setdefault(name, set()).add(reply.headers["x-toolglot-provider"])
        return homes

    homes = asyncio.run(run())
    assert all(len(found) == 1 for found in homes.values())
    assert set().union(*homes.values()) == {"one", "two"}
