"""Counting tokens: by the provider where it counts, else by an estimate."""

import asyncio

import pytest
from aiohttp import web
from tests.gateway.running import gateway, provider, to, upstream

MESSAGES = [{"role": "user", "content": "How many words is this, roughly?"}]
ASKED = {
    "/v1/messages/count_tokens": {"model": "m", "messages": MESSAGES},
    "/v1/responses/input_tokens": {"model": "m", "input": "How many words is this, roughly?"},
    "/v1beta/models/m:countTokens": {"contents": [{"role": "user", "parts": [{"text": "How"}]}]},
}
KEYS = {"/v1beta/models/m:countTokens": "totalTokens"}
COUNTED = {"anthropic": "input_tokens", "gemini": "totalTokens", "openai-responses": "input_tokens"}


def counted(path, protocol, handler):
    seen = []

    async def recorded(request):
        seen.append((request.path, await request.json()))
        return await handler(request)

    async def run():
        async with (
            upstream(recorded) as url,
            gateway({"them": provider(protocol, url)}, [to("them/*")]) as session,
            session.post(path, json=ASKED[path]) as reply,
        ):
            return reply.headers.get("x-toolglot-estimate"), await reply.json()

    return *asyncio.run(run()), seen


@pytest.mark.parametrize("protocol", COUNTED)
@pytest.mark.parametrize("path", ASKED)
def test_a_provider_that_counts_is_asked(path, protocol):
    """case-42."""

    async def counts(_request):
        return web.json_response({COUNTED[protocol]: 77})

    estimate, body, seen = counted(path, protocol, counts)
    assert estimate is None
    assert body[KEYS.get(path, "input_tokens")] == 77
    assert len(seen) == 1
    assert "count" in seen[0][0].lower() or "input_tokens" in seen[0][0]


@pytest.mark.parametrize("protocol", ["openai-chat", "ollama", "anthropic"])
@pytest.mark.parametrize("path", ASKED)
def test_else_it_is_an_estimate_and_says_so(path, protocol):
    """case-42."""

    async def refuses(_request):
        return web.json_response({"error": "not here"}, status=404)

    estimate, body, _ = counted(path, protocol, refuses)
    assert estimate == "true"
    assert 1 <= body[KEYS.get(path, "input_tokens")] <= 40


def test_the_clients_own_key_is_sent_on_where_that_is_configured():
    keys = []

    async def counts(request):
        keys.append(request.headers.get("x-api-key"))
        return web.json_response({"input_tokens": 5})

    async def run():
        async with (
            upstream(counts) as url,
            gateway({"them": provider("anthropic", url, api_key="client")}, [to("them/*")]) as it,
        ):
            path, headers = "/v1/messages/count_tokens", {"x-api-key": "the-clients-own"}
            async with it.post(path, json=ASKED[path], headers=headers) as reply:
                assert (await reply.json())["input_tokens"] == 5

    asyncio.run(run())
    assert keys == ["the-clients-own"]
