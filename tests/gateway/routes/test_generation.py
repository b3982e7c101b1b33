"""The paths at which models are asked."""

import asyncio
import json

import pytest
from tests.gateway.exchanges import scripted
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.cli import main

CHAT = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
CONTENTS = {"contents": [{"parts": [{"text": "Hello"}]}]}
PATHS = {
    "/v1/messages": CHAT,
    "/messages": CHAT,
    "/v1/chat/completions": CHAT,
    "/chat/completions": CHAT,
    "/v1/responses": {"model": "m", "input": "Hello"},
    "/responses": {"model": "m", "input": "Hello"},
    "/api/chat": {**CHAT, "stream": False},
    "/api/generate": {"model": "m", "prompt": "Hello", "stream": False},
    "/v1/completions": {"model": "m", "prompt": "Hello"},
    "/completions": {"model": "m", "prompt": "Hello"},
    "/v1/models/m:generateContent": CONTENTS,
    "/v1beta/models/m:generateContent": CONTENTS,
    "/v1alpha/models/m:generateContent": CONTENTS,
    "/models/m:generateContent": CONTENTS,
    "/v1beta/openai/gpt-oss-120b:generateContent": CONTENTS,
    "/v1/meta/llama/big:generateContent": CONTENTS,
}


def ask(path, body):
    async def run():
        async with gateway() as session, session.post(path, json=body) as reply:
            return reply.status, reply.headers.copy(), await reply.read()

    return asyncio.run(run())


@pytest.mark.parametrize("path", PATHS)
def test_every_path(path):
    status, headers, body = ask(path, PATHS[path])
    assert status == 200
    assert headers["x-toolglot-provider"] == "demo"
    assert b"demo" in body


def test_a_stream_as_one_array():
    _, headers, body = ask("/v1beta/models/m:streamGenerateContent", CONTENTS)
    assert headers["Content-Type"].startswith("application/json")
    assert all("candidates" in each for each in json.loads(body))
    _, headers, body = ask("/v1beta/models/m:streamGenerateContent?alt=sse", CONTENTS)
    assert headers["Content-Type"].startswith("text/event-stream")
    assert body.startswith(b"data:")


def test_one_prompt_in_lines():
    _, headers, body = ask("/api/generate", {"model": "m", "prompt": "Hello"})
    assert headers["Content-Type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in body.splitlines()]
    assert "demo" in "".join(line["response"] for line in lines)
    status, _, body = ask("/api/generate", {"model": "m", "prompt": 3})
    assert (status, json.loads(body)) == (400, {"error": "prompt: expected string"})


def test_one_prompt_in_events():
    _, headers, body = ask("/v1/completions", {"model": "m", "prompt": "Hello", "stream": True})
    assert headers["Content-Type"].startswith("text/event-stream")
    *chunks, end = [line[6:] for line in body.splitlines() if line]
    assert end == b"[DONE]"
    read = [json.loads(chunk) for chunk in chunks]
    assert {chunk["object"] for chunk in read} == {"text_completion"}
    assert "demo" in "".join(chunk["choices"][0]["text"] for chunk in read if chunk["choices"])
    status, _, body = ask("/v1/completions", {"model": "m", "prompt": "Hello", "suffix": "s"})
    assert status == 400
    assert json.loads(body)["error"]["message"].startswith("suffix: a chat model does not")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1beta/models/m:streamGenerateContent", CONTENTS),
        ("/v1/completions", {"model": "m", "prompt": "Hello", "stream": True}),
        ("/api/generate", {"model": "m", "prompt": "Hello"}),
        ("/api/generate", {"model": "m", "prompt": "Hello", "stream": False}),
    ],
)
def test_an_answer_in_another_form_can_be_replayed(path, body, tmp_path, capsys):
    async def run():
        async with (
            upstream(scripted("openai-chat", [])) as url,
            gateway(
                {"them": provider("openai-chat", url)}, [to("them/*")], record=str(tmp_path)
            ) as session,
            session.post(path, json=body) as reply,
        ):
            assert reply.status == 200
            await reply.read()

    asyncio.run(run())
    assert len(list(tmp_path.iterdir())) == 1
    assert main(["replay", str(tmp_path)]) == 0, capsys.readouterr()
