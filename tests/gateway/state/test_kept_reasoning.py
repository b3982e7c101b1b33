"""State that a client leaves out, kept by the gateway between its turns."""

import asyncio
import json

import pytest
from aiohttp import web
from tests.gateway.running import gateway, provider, to, upstream
from tests.signed_turns import asked, native_answer, stripped

from toolglot.cli import main
from toolglot.context import Context
from toolglot.events import unfold
from toolglot.registry import get_protocol
from toolglot.translate import encode_request, encode_response


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("theirs", ["anthropic", "gemini", "openai-responses"])
def test_state_comes_back_although_the_client_strips_it(theirs, stream, tmp_path):
    """X-18: a Chat client that returns calls and results only."""
    answer, seen = native_answer(theirs), []

    async def answers(request):
        seen.append(await request.read())
        if not stream:
            return web.json_response(encode_response(answer, target=theirs).body)
        encoder = get_protocol(theirs).StreamEncoder(Context())
        body = b"".join(map(encoder.encode, unfold(answer))) + encoder.close()
        return web.Response(body=body, content_type=get_protocol(theirs).SURFACE.stream.media_type)

    async def run():
        async with (
            upstream(answers) as url,
            gateway(
                {"them": provider(theirs, url)}, [to("them/*")], record=str(tmp_path)
            ) as session,
        ):
            for messages in ((), stripped(answer)):
                body = encode_request(asked(*messages), target="openai-chat").body
                body["stream"] = stream
                async with session.post("/v1/chat/completions", json=body) as reply:
                    assert reply.status == 200
                    await reply.read()

    asyncio.run(run())
    first, second = seen
    assert b"c2lnbmVk" not in first
    assert b"c2lnbmVk" in second, json.loads(second)
    assert main(["replay", str(tmp_path)]) == 0
