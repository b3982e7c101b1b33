"""Requests as values."""

import pytest
from msgspec.structs import replace
from tests.gateway.handling import made_request

from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.incoming import check_models, read_incoming


def read(protocol, body, *, path="/v1/messages", call=None, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    match = {"call": call} if call else {}
    http = made_request("POST", path, named)
    http.match = match
    return read_incoming(http, protocol, http.path, body)


def test_what_came_from_the_socket():
    request = read(
        "anthropic",
        b'{"model":"m","stream":true}',
        path="/v1/messages?beta=true",
        x_request_id="mine",
        x_api_key="k",
        x_toolglot_strict="True",
    )
    assert (request.model, request.stream, request.strict) == ("m", True, True)
    assert (request.id, request.key, request.holder, request.owner) == ("mine", "k", None, "")
    assert (request.path, dict(request.query)) == ("/v1/messages", {"beta": "true"})
    with pytest.raises(AttributeError):
        request.body = b""


@pytest.mark.parametrize(
    ("protocol", "stream"), [("anthropic", False), ("openai-chat", False), ("ollama", True)]
)
def test_whether_a_stream_is_wanted_if_nothing_is_said(protocol, stream):
    assert read(protocol, b'{"model":"m"}').stream is stream


@pytest.mark.parametrize(
    ("call", "model", "stream"),
    [("m:generateContent", "m", False), ("a/b:streamGenerateContent", "a/b", True)],
)
def test_the_model_in_a_path(call, model, stream):
    request = read("gemini", b"{}", path=f"/v1beta/models/{call}/", call=call + "/")
    assert (request.model, request.stream) == (model, stream)
    assert request.path == f"/v1beta/models/{call}"


@pytest.mark.parametrize(
    ("protocol", "body", "call", "words"),
    [
        ("anthropic", b"{", None, "JSON|json|object"),
        ("anthropic", b"{}", None, "model: expected the name of a model"),
        ("anthropic", b'{"model":3}', None, "model: expected the name of a model"),
        ("anthropic", b'{"model":"a/../b"}', None, "model: expected the name of a model"),
        ("gemini", b"{}", "m:embedStories", "expected a model and one of :generateContent"),
        ("gemini", b"{}", "..:generateContent", "expected a model"),
    ],
)
def test_what_cannot_be_asked(protocol, body, call, words):
    with pytest.raises(RequestRejectedError, match=words):
        read(protocol, body, call=call)


def test_what_is_the_same_for_a_whole_conversation():
    long = b'{"model":"m","input":"' + b"x" * 2000
    one, two = read("openai-chat", long + b'1"}'), read("openai-chat", long + b'2"}')
    assert one.affinity == two.affinity
    named = read("openai-chat", b'{"model":"m"}', session_id="s-1")
    assert named.affinity == b"s-1"


def test_whose_it_is():
    request = read("openai-chat", b'{"model":"m"}')
    assert replace(request, holder=VirtualKey(id="k1", name="one", created=0.0)).owner == "k1"


CHEAP = VirtualKey(id="k", name="k", created=0.0, models=("cheap-*",))


@pytest.mark.parametrize(
    "more",
    [
        b'"models":["cheap-2","dear"]',
        b'"Models":["dear"]',
        b'"fallbacks":[{"cheap-1":["dear"]}]',
        b'"fallback_models":"dear"',
        b'"engine":"dear"',
        b'"model_id":"dear"',
        b'"tools":[{"type":"image_generation","model":"dear"}]',
        b'"Model":"dear"',
        b'"model":"dear"',
        b'"mod\\u0065l":"dear"',
    ],
)
def test_a_key_for_some_models_names_no_others_anywhere(more):
    body = b'{"model":"cheap-1",%b,"messages":[]}' % more
    with pytest.raises(RequestRejectedError) as caught:
        check_models(body, CHEAP)
    assert caught.value.error.status in (400, 403)


@pytest.mark.parametrize(
    "more",
    [
        b'"models":["cheap-2"]',
        b'"fallbacks":[]',
        b'"tools":[{"name":"x","model":"cheap-9"},{"input_schema":{"model":{"a":1}}}]',
        b'"messages":[{"role":"user","content":"\\u00e9 \\"model\\": \\"models\\""}]',
        b'"messages":[{"model":"dear","fallback":"dear"}]',
    ],
)
def test_what_a_key_may_use_and_what_is_said_of_models_is_no_matter(more):
    check_models(b'{"model":"cheap-1",%b}' % more, CHEAP)
