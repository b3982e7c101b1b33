"""Responses and errors of OpenAI Chat Completions."""

import json

import pytest
from openai.types.chat import (
    ChatCompletion,
)
from tests.protocols.openai_chat.helpers import (
    answer,
    call,
    codes,
    fixture,
    foreign,
    reply,
    said,
    shown,
)

from toolglot.context import Context
from toolglot.ir import (
    ApiError,
    Choice,
    Citation,
    Reasoning,
    Response,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols import openai_chat as chat
from toolglot.protocols.openai_chat.surface import ERROR, ERROR_FROM, STOP, STOP_FROM
from toolglot.wire.message import WireResponse

# --- the official types ---------------------------------------------------------------------------


def test_a_foreign_response_is_complete_for_the_sdk():
    parts = (
        Reasoning(text="hm", signature="s"),
        Text(text="a", citations=(Citation(url="https://a.example", title="A"),)),
        Text(text="b", citations=(Citation(url="https://b.example", start=0, end=1),)),
        ToolCall(id="t1", name="f", arguments=""),
        ToolCall(id="t2", name="c", arguments="raw", type="custom"),
    )
    ctx = foreign()
    body = reply(shown(*parts, stop="tool_calls", usage=Usage(input=3)), ctx).body
    ChatCompletion.model_validate(body)
    assert body["created"] == 1_800_000_000
    assert body["choices"][0]["logprobs"] is None
    message = body["choices"][0]["message"]
    assert message["content"] == "ab"
    assert message["refusal"] is None
    assert [c["url_citation"]["start_index"] for c in message["annotations"]] == [0, 1]
    assert [c["url_citation"]["end_index"] for c in message["annotations"]] == [1, 2]
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"
    assert body["usage"] == {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 3}
    assert codes(ctx) == ["text-joined"]


# --- responses ------------------------------------------------------------------------------------


def test_another_object_is_kept():
    body = said({"content": "x"}) | {"object": "chat.completion.v2", "created": 1.5}
    assert reply(answer(body), Context()).body == body


@pytest.mark.parametrize(("word", "kind"), list(STOP.items()))
def test_stop_words(word, kind):
    assert answer(said({"content": "x"}, word)).choices[0].stop == StopReason(kind=kind, raw=word)


@pytest.mark.parametrize(("kind", "told"), list(STOP_FROM.items()))
def test_stop_kinds(kind, told):
    """S1-21, case-44: every stop kind has its word, with a note where it says less."""
    ctx = foreign()
    word, exact = told
    assert reply(shown(Text(text="x"), stop=kind), ctx).body["choices"][0]["finish_reason"] == word
    assert codes(ctx) == ([] if exact else ["stop-mapped"])


def test_a_missing_stop_is_filled_in_for_others_only():
    ctx = foreign()
    response = Response(id="r", model="m", choices=(Choice(parts=(Text(text="x"),)),))
    assert reply(response, ctx).body["choices"][0]["finish_reason"] == "stop"
    assert codes(ctx) == ["default-added"]


def test_calls_count_whenever_they_are_there():
    """D-11, S2-10: `stop` beside calls means that results are awaited; the word itself is kept."""
    body = said({"content": None, "tool_calls": [call("call_1", "f", '{"a":1}')]})
    choice = answer(body).choices[0]
    assert choice.stop == StopReason(kind="tool_calls", raw="stop")
    assert choice.parts == (ToolCall(id="call_1", name="f", arguments='{"a":1}'),)
    assert reply(answer(body), Context()).body == body


def test_made_ids_begin_with_call():
    """S0-04: an id that had to be made begins with `call_`."""
    ctx = Context()
    made = answer(said({"tool_calls": [{"function": {}}]}), ctx).choices[0].parts[0]
    assert made.id.startswith("call_")
    assert made.id_made
    assert made.name == "tool_0"
    assert answer({"choices": []}).id.startswith("chatcmpl-")


@pytest.mark.parametrize("choices", [None, []])
def test_no_choices_with_a_good_status(choices):
    """case-21: no choices is no choices; no stop is made up."""
    body = said({"content": "x"}) | {"choices": choices, "object": "chat.completion"}
    response = answer(body)
    assert response.choices == ()
    assert reply(response, Context()).body == body


def test_usage_is_split():
    """case-08: the prompt less what a cache held, and together again on the way out."""
    usage = answer(fixture("response", "text")).usage
    assert (usage.input, usage.cache_read, usage.cache_write) == (66, 1920, 20)
    assert (usage.output, usage.reasoning) == (300, 120)
    told = Usage(input=86, cache_read=1920, output=300)
    wire = reply(shown(usage=told)).body["usage"]
    assert wire == {
        "prompt_tokens": 2006,
        "completion_tokens": 300,
        "total_tokens": 2306,
        "prompt_tokens_details": {"cached_tokens": 1920},
    }
    plain = answer(said({}, usage={"prompt_tokens": 1, "completion_tokens": 2})).usage
    assert plain.cache_read is None


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"prompt_tokens": 5},
        {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "cached_tokens": 3},
        {"prompt_tokens": 5, "completion_tokens": 2},
        {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": None},
        {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 8},
        {"prompt_tokens": 2, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 9}},
        {"prompt_cache_hit_tokens": 2, "total_tokens": 2},
        {"completion_tokens_details": {"reasoning_tokens": None, "x": 1}},
    ],
)
def test_odd_usage_is_kept(usage):
    body = said({"content": "x"}, usage=usage)
    assert reply(answer(body), Context()).body == body
    wire = reply(shown(usage=answer(body).usage)).body["usage"]
    assert {"prompt_tokens", "completion_tokens", "total_tokens"} <= wire.keys()


def test_deepseek_tells_its_cache_elsewhere():
    assert answer(fixture("response", "vendor-deepseek")).usage.cache_read == 64


def test_citations():
    text = answer(fixture("response", "citations")).choices[0].parts[0]
    assert text.citations[0] == Citation(
        url="https://bureau.example/rain", title="Rain", start=3, end=15
    )
    ctx = foreign()
    cited = Text(text="x", citations=(Citation(title="a book"),))
    assert "annotations" not in reply(shown(cited), ctx).body["choices"][0]["message"]
    assert codes(ctx) == ["citation-dropped"]


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "told"), list(ERROR_FROM.items()))
def test_error_kinds(kind, told):
    """X-16: every kind of error has its type, code and status here, and is read back as itself."""
    word, code, status = told
    wire = reply(ApiError(kind=kind, message="m", retry_after="3", request_id="q"))
    assert wire.status == status
    assert wire.body == {"error": {"message": "m", "type": word, "param": None, "code": code}}
    assert wire.headers == {"retry-after": "3", "x-request-id": "q"}
    assert chat.decode_response(wire, Context()).kind == kind


@pytest.mark.parametrize(("word", "told"), list(ERROR.items()))
def test_error_words(word, told):
    kind, status = told
    body = {"error": {"message": "m", "type": word}}
    assert answer(body, status=status).kind == kind


def test_foreign_status_is_changed_with_a_note():
    ctx = foreign()
    assert reply(ApiError(kind="overloaded", message="m", status=529), ctx).status == 503
    assert codes(ctx) == ["status-changed"]


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("vendor-llamacpp", "context_length", "request (12031"),
        ("vendor-flat", "not_found", "The model"),
        ("vendor-text", "server", "model runner"),
        ("vendor-detail", "not_found", "Not Found"),
        ("vendor-detail-list", "invalid_request", "[{"),
        ("vendor-empty", "server", ""),
        ("rate-limit", "rate_limit", "Rate limit"),
        ("context-length", "context_length", "This model"),
    ],
)
def test_error_shapes(name, kind, message):
    error = chat.decode_response(WireResponse(**fixture("error", f"{name}")), Context())
    assert error.kind == kind
    assert error.message.startswith(message)


def test_an_error_with_a_good_status_is_an_error():
    error = answer({"error": {"message": "no credits", "code": 402}})
    assert isinstance(error, ApiError)
    assert reply(error, Context()).status == 500


# --- totality -------------------------------------------------------------------------------------


NASTY_RESPONSES = [
    {"choices": [{}]},
    {"choices": [{"message": None}]},
    {"choices": [{"message": {}}]},
    {"choices": [{"message": {"content": None, "tool_calls": None}}]},
    {"choices": [], "usage": None, "id": None, "model": None},
    {"id": "", "created": "yesterday", "choices": [{"message": {"content": "x"}}]},
    {"object": "error"},
    {"choices": [], "error": []},
    {"choices": [], "error": {}},
]


@pytest.mark.parametrize("body", NASTY_RESPONSES, ids=json.dumps)
def test_poor_responses_are_read(body):
    decoded = answer(body)
    reply(decoded, Context())
    reply(decoded, foreign())
