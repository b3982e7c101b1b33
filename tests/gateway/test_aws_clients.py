"""AWS SDKs as clients of a gateway: paths, keys and signatures that nobody here can verify."""

import asyncio
import json

import pytest
from aiohttp import web
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.wire.event_stream import MEDIA_TYPE, EventStreamDecoder

ASK = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
ARN = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0"
SIGNED = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261102/us-east-1/bedrock/"
    "aws4_request, SignedHeaders=host;x-amz-date, Signature=00",
    "X-Amz-Date": "20261102T100000Z",
}


def asked(path, *, headers=None, providers=None, routes=(), **server):
    """The status, the headers and the body of an answer."""

    async def ask():
        async with gateway(providers, routes, **server) as session:
            reply = await session.post(path, json=ASK, headers=headers or {})
            return reply.status, dict(reply.headers), await reply.read()

    return asyncio.run(ask())


def test_the_built_in_model_answers_whole_and_as_a_stream():
    status, headers, body = asked("/model/toolglot-demo/converse", headers=SIGNED)
    assert status == 200
    answer = json.loads(body)
    assert answer["output"]["message"]["role"] == "assistant"
    assert answer["usage"]["totalTokens"] > 0
    status, headers, body = asked("/model/toolglot-demo/converse-stream", headers=SIGNED)
    assert (status, headers["Content-Type"]) == (200, MEDIA_TYPE)
    names = [name for name, _ in EventStreamDecoder().feed(body)]
    assert names[0] == "messageStart"
    assert names[-2:] == ["messageStop", "metadata"]


@pytest.mark.parametrize("model", [ARN, ARN.replace("/", "%2F").replace(":", "%3A")])
def test_a_model_may_be_an_arn_and_keeps_its_slash(model):
    seen = []

    async def handle(request):
        seen.append(request)
        message = {"role": "assistant", "content": [{"text": "hi"}]}
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        answer = {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}
        return web.json_response(answer, headers={"x-amzn-requestid": "7f3a"})

    async def ask():
        async with upstream(handle) as url:
            aws = provider("bedrock-converse", url, api_key="key-of-aws")
            async with gateway({"aws": aws}, [to("aws")]) as session:
                reply = await session.post(f"/model/{model}/converse", json=ASK, headers=SIGNED)
                assert reply.status == 200, await reply.text()

    asyncio.run(ask())
    [request] = seen
    assert request.rel_url.raw_path == f"/model/{ARN.replace('/', '%2F')}/converse"
    assert request.headers["Authorization"] == "Bearer key-of-aws", "and not the client's signature"
    assert "X-Amz-Date" not in request.headers


def test_an_unknown_operation_is_told_in_the_shape_of_aws():
    status, headers, body = asked("/model/toolglot-demo/invoke")
    assert status == 404
    assert headers["x-amzn-errortype"] == "ResourceNotFoundException"
    assert "/converse-stream" in json.loads(body)["message"]


def test_a_signature_is_no_key():
    for headers in ({}, SIGNED, {"Authorization": "Bearer tg-nobody"}):
        status, told, body = asked("/model/m/converse", headers=headers, keys=True)
        assert status == 401
        assert told["x-amzn-errortype"] == "UnrecognizedClientException"
        assert "toolglot keys create" in json.loads(body)["message"]
