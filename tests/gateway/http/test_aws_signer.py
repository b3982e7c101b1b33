"""Requests signed with AWS credentials, as botocore signs them."""

import asyncio
import re
from datetime import UTC, datetime

import pytest
from aiohttp import web
from tests.gateway import running

from toolglot.gateway.config import Config, ConfigError, Provider
from toolglot.gateway.http.aws_signer import AwsSigner, region_of
from toolglot.gateway.relay.providers import make_upstreams

auth = pytest.importorskip("botocore.auth")
credentials = pytest.importorskip("botocore.credentials")

KEY = credentials.Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
URL = "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse"
BODY = b'{"messages":[{"role":"user","content":[{"text":"hi"}]}]}'
HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer old", "x-other": "1"}


def signed(url=URL, data=BODY, key=KEY, **more):
    signer = AwsSigner("bedrock", "us-east-1", key)
    return asyncio.run(signer.sign("POST", url, data, HEADERS, **more))


def test_a_request_is_signed_as_an_independent_computation_says(monkeypatch):
    monkeypatch.setattr(auth, "get_current_datetime", lambda: datetime(2026, 11, 2, 10, tzinfo=UTC))
    headers = {name.lower(): value for name, value in signed().items()}
    assert headers["x-amz-date"] == "20261102T100000Z"
    assert headers["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261102/us-east-1/bedrock/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=bd3101acb4615e95ec72acf82b4e77fb2390d04de2db59e37b89dc28992c76ef"
    )
    assert headers["x-other"] == "1"


def test_a_token_of_temporary_credentials_is_sent_and_signed():
    key = credentials.Credentials("A", "B", "the token")
    headers = {name.lower(): value for name, value in signed(key=key).items()}
    assert headers["x-amz-security-token"] == "the token"
    assert "x-amz-security-token" in headers["authorization"]


def test_what_is_asked_is_part_of_the_signature():
    one, other = (signed(query=query)["Authorization"] for query in ({}, {"a": "b"}))
    assert one != other


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://bedrock-runtime.eu-west-3.amazonaws.com/model", "eu-west-3"),
        ("https://bedrock-runtime.us-gov-west-1.amazonaws.com/model", "us-gov-west-1"),
        ("http://127.0.0.1:8080/model", None),
    ],
)
def test_the_region_is_in_the_address(url, region):
    assert region_of(url) == region


def upstream(environ=None, **more):
    given = {"profile": "bedrock", "auth": "sigv4", **more}
    config = Config(providers={"aws": Provider(**given)})
    return make_upstreams(config, environ or {})["aws"]


def test_a_provider_is_signed_for_where_that_is_asked_for():
    assert upstream(values={"region": "eu-west-1"}).signer == AwsSigner("bedrock", "eu-west-1")
    named = upstream(base_url="https://bedrock-runtime.eu-west-3.amazonaws.com")
    assert named.signer == AwsSigner("bedrock", "eu-west-3")
    assert upstream({"AWS_REGION": "ap-south-1"}).signer == AwsSigner("bedrock", "ap-south-1")
    assert upstream(auth=None).signer is None


def test_what_cannot_be_signed_for_is_said():
    with pytest.raises(ConfigError, match=r"providers\.aws\.values\.region: give the region"):
        upstream()
    with pytest.raises(ConfigError, match=r"providers\.aws\.auth: sigv4 is for profiles of AWS"):
        upstream(profile="openai")


def test_the_gateway_signs_what_it_sends(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    seen = []

    async def handle(request):
        seen.append((request, await request.read()))
        answer = {"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}}}
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        return web.json_response({**answer, "stopReason": "end_turn", "usage": usage})

    async def ask():
        async with running.upstream(handle) as url:
            aws = Provider(
                profile="bedrock",
                protocol="bedrock-converse",
                auth="sigv4",
                base_url=url,
                values={"region": "us-east-1"},
            )
            async with running.gateway(
                {"aws": aws}, [running.to("aws/amazon.nova-pro-v1:0")]
            ) as session:
                body = {"model": "x", "messages": [{"role": "user", "content": "hi"}]}
                reply = await session.post("/v1/chat/completions", json=body)
                assert reply.status == 200, await reply.text()

    asyncio.run(ask())
    [(request, data)] = seen
    assert request.rel_url.raw_path == "/model/amazon.nova-pro-v1:0/converse"
    given = request.headers["Authorization"]
    assert re.match(r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/us-east-1/bedrock/", given)
    when = datetime.strptime(request.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    monkeypatch.setattr(auth, "get_current_datetime", lambda: when)
    key = credentials.Credentials("AKIDEXAMPLE", "secret")
    signer = AwsSigner("bedrock", "us-east-1", key)
    given_type = {"Content-Type": "application/json"}
    again = asyncio.run(signer.sign("POST", str(request.url), data, given_type))
    assert again["Authorization"] == given
