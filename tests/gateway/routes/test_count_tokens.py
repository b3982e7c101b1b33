"""Where tokens are counted."""

import asyncio

import pytest
from tests.gateway.running import gateway, provider, to

MESSAGES = {"model": "m", "messages": [{"role": "user", "content": "Hello there"}]}
CONTENTS = {"contents": [{"role": "user", "parts": [{"text": "Hello there"}]}]}
PATHS = {
    "/v1/messages/count_tokens": (MESSAGES, "input_tokens"),
    "/messages/count_tokens": (MESSAGES, "input_tokens"),
    "/v1/responses/input_tokens": ({"model": "m", "input": "Hello there"}, "input_tokens"),
    "/responses/input_tokens": ({"model": "m", "input": "Hello there"}, "input_tokens"),
    "/v1beta/models/m:countTokens": (CONTENTS, "totalTokens"),
    "/v1/models/m:countTokens": (CONTENTS, "totalTokens"),
}


def ask(path, body, *routes):
    async def run():
        providers = {"a": provider("openai-chat", "http://127.0.0.1:9")} if routes else {}
        async with gateway(providers, routes) as session, session.post(path, json=body) as reply:
            return reply.status, reply.headers.copy(), await reply.json()

    return asyncio.run(run())


@pytest.mark.parametrize("path", PATHS)
def test_counts(path):
    body, key = PATHS[path]
    status, headers, counted = ask(path, body)
    assert status == 200
    assert counted[key] > 0
    assert headers["x-toolglot-estimate"] == "true"
    assert headers["x-request-id"]


@pytest.mark.parametrize("path", PATHS)
def test_a_model_that_no_route_knows(path):
    body, _ = PATHS[path]
    status, _, told = ask(path, body, to("a/*", match="other"))
    assert status == 404
    assert "no route matches it" in str(told)


def test_a_request_that_cannot_be_read():
    status, _, told = ask("/v1/messages/count_tokens", {"model": "m", "messages": 3})
    assert status == 400
    assert told["type"] == "error"
