"""One target that is asked: what is sent to it."""

import asyncio

import pytest
from tests.gateway.handling import made_request

from toolglot.gateway.config import Config, Provider
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.incoming import read_incoming
from toolglot.gateway.relay.attempt import prepare
from toolglot.gateway.relay.learned_facts import LearnedFacts
from toolglot.gateway.relay.providers import make_upstreams
from toolglot.gateway.relay.routing import Router
from toolglot.gateway.telemetry.request_telemetry import Telemetry
from toolglot.wire import jsontext

BODY = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"odd":1}'


def prepared(target, path="/v1/messages", body=BODY, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    http = made_request("POST", path, headers=named)
    request = read_incoming(http, "anthropic", http.path, body)
    telemetry = Telemetry().start_request("r", "anthropic")
    providers = {
        "same": Provider(protocol="anthropic", base_url="http://a/v1", api_key=("k", "l")),
        "other": Provider(protocol="openai-chat", base_url="http://b/v1", headers={"X-T": "us"}),
        "gemini": Provider(protocol="gemini", base_url="http://c/v1beta", api_key="client"),
    }
    config = Config(providers=providers)
    (to,) = Router(config, make_upstreams(config, {})).targets(target)
    making = prepare(request, to, telemetry, session=None, memory=None, learned=LearnedFacts())
    return asyncio.run(making), telemetry


def test_in_the_same_protocol():
    attempt, telemetry = prepared(
        "same/m", "/v1/messages?beta=true&key=secret", anthropic_beta="x", x_other="y"
    )
    outbound = attempt.outbound
    assert outbound.url == "http://a/v1/messages"
    assert outbound.query == {"beta": "true"}, "the client's key is not passed on"
    assert outbound.data == BODY
    assert outbound.headers["anthropic-beta"] == "x"
    assert outbound.headers["anthropic-version"] == "2023-06-01"
    assert "x-other" not in outbound.headers
    assert not {"k", "l"}.intersection(outbound.headers.values()), "keys are added when it is sent"
    assert sorted(attempt.keys) == ["k", "l"]
    assert telemetry.record.provider == "same"


def test_in_another_protocol():
    attempt, telemetry = prepared("other/gpt", anthropic_beta="x")
    assert attempt.outbound.url == "http://b/v1/chat/completions"
    assert attempt.outbound.headers == {"Content-Type": "application/json", "X-T": "us"}
    assert jsontext.decode(attempt.outbound.data)["model"] == "gpt"
    assert attempt.asked == BODY
    assert "field-unknown" in telemetry.receipt.codes()
    assert (telemetry.record.protocol, telemetry.record.model) == ("openai-chat", "gpt")


def test_a_stream_is_asked_for_event_by_event_with_the_clients_key():
    body = BODY.replace(b'"odd":1', b'"stream":true')
    attempt, _ = prepared("gemini/g", body=body, x_api_key="theirs")
    assert attempt.outbound.query["alt"] == "sse"
    assert attempt.keys == ("theirs",)


def test_nothing_is_sent_to_the_model_that_is_built_in():
    attempt, telemetry = prepared("demo/m")
    assert attempt.outbound is None
    assert telemetry.record.provider == "demo"


@pytest.mark.parametrize(
    ("body", "strict", "words"),
    [(BODY, "true", "strict: .*odd"), (b'{"model":"m","messages":3}', "", "messages: expected")],
)
def test_what_cannot_be_translated_is_rejected(body, strict, words):
    with pytest.raises(RequestRejectedError, match=words):
        prepared("other/m", body=body, x_toolglot_strict=strict)


def test_a_request_without_messages_is_rejected():
    empty = b'{"model":"m","max_tokens":9,"messages":[]}'
    with pytest.raises(RequestRejectedError, match="messages: the request has no message"):
        prepared("other/m", body=empty)
