"""Responses and errors of OpenAI Responses."""

import json

import msgspec
import openresponses_types.types as open_responses
import pytest
from openai.types.responses import Response as SdkResponse
from tests.protocols.harness import ELSEWHERE, stem
from tests.protocols.harness import load as load_file
from tests.protocols.openai_responses.helpers import (
    HARNESS,
    answer,
    decode,
    decode_body,
    encode_body,
    foreign,
    items,
    load,
    user,
)

from toolglot import ir
from toolglot.context import Context
from toolglot.protocols import openai_responses as codec
from toolglot.protocols.openai_responses.surface import ERROR_FROM, STOP_FROM
from toolglot.wire.message import WireResponse

# --- law 2: totality ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {"output": [], "id": None, "model": None, "usage": None, "status": None},
        {"output": [], "usage": {}},
        {"output": [], "usage": {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 9}}},
        {
            "output": [],
            "usage": {"input_tokens": None, "input_tokens_details": {"cached_tokens": 9}},
        },
        {
            "output": [],
            "usage": {"input_tokens": 5, "input_tokens_details": {"cached_tokens": "many"}},
        },
        {"output": [], "status": "incomplete"},
        {"output": [], "status": "incomplete", "incomplete_details": {}},
        {"output": [], "status": "in_progress", "incomplete_details": {"reason": "steered"}},
        {"output": [], "status": "incomplete", "incomplete_details": {"reason": "steered"}},
        {"output": [{"type": "message", "content": None}]},
        {"output": [{"type": "message", "role": "tool", "content": [{"type": "zz"}]}]},
        {"output": [{"type": None}, {}, {"type": []}]},
    ],
    ids=json.dumps,
)
def test_poor_responses_are_read(body):
    response = decode_body(body)
    assert isinstance(response, ir.Response)
    again = encode_body(response)
    assert {key: again[key] for key in body if key != "output"} == {
        key: body[key] for key in body if key not in ("output", "id")
    } | ({"id": response.id} if "id" in body else {})


# --- the official types ---------------------------------------------------------------------------


@pytest.mark.parametrize("file", HARNESS.responses, ids=stem)
def test_the_sdk_constructs_any_response(file):
    body = encode_body(decode_body(load_file(file)))
    if stem(file) not in {"bare-server", "several"}:
        SdkResponse.model_validate(body)
    response = SdkResponse.construct(**body)
    assert response.id == body["id"]


# --- responses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "kind", "raw"),
    [
        ("text", "end", "completed"),
        ("calls", "tool_calls", "completed"),
        ("custom", "tool_calls", "completed"),
        ("length", "length", "max_output_tokens"),
        ("filtered", "content_filter", "content_filter"),
        ("refusal", "end", "completed"),
        ("background", "other", "queued"),
        ("minimal", "end", None),
    ],
)
def test_stop_reasons(file, kind, raw):
    """S1-31, D-13: a response with calls is completed; the kind tells them."""
    assert decode_body(load("response", f"{file}")).choices[0].stop == ir.StopReason(
        kind=kind, raw=raw
    )


@pytest.mark.parametrize("kind", STOP_FROM)
def test_stop_reasons_of_other_protocols(kind):
    """case-44: inexact ones are noted."""
    ctx = foreign()
    body = encode_body(answer(ir.Text(text="x"), stop=kind), ctx)
    status, reason, exact = STOP_FROM[kind]
    assert body["status"] == status
    assert body["incomplete_details"] == ({"reason": reason} if reason else None)
    assert ("stop-mapped" in ctx.receipt().codes()) is not exact


def test_a_refusal_in_words_is_a_completed_response():
    body = encode_body(answer(ir.Refusal(text="No."), stop="refusal"), foreign())
    assert (body["status"], body["incomplete_details"]) == ("completed", None)
    assert body["output"][0]["content"] == [{"type": "refusal", "refusal": "No."}]


def test_text_and_calls_together():
    """case-13: both, in order."""
    kinds = [type(part) for part in decode_body(load("response", "calls")).choices[0].parts]
    assert kinds == [ir.Reasoning, ir.Text, ir.ToolCall, ir.ToolCall]


def test_usage():
    """case-08: input is fresh input; the prompt is the sum."""
    usage = decode_body(load("response", "text")).usage
    assert (usage.input, usage.cache_read, usage.cache_write) == (40, 64, 16)
    assert (usage.output, usage.reasoning) == (40, 12)
    wire = encode_body(answer(usage=ir.Usage(input=86, cache_read=1920, output=300)), foreign())[
        "usage"
    ]
    assert wire == {
        "input_tokens": 2006,
        "input_tokens_details": {"cached_tokens": 1920, "cache_write_tokens": 0},
        "output_tokens": 300,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2306,
    }


def test_citations():
    text = decode_body(load("response", "cited")).choices[0].parts[1]
    assert isinstance(text, ir.Text)
    citation = text.citations[0]
    assert (citation.url, citation.title, citation.start, citation.end) == (
        *("https://birds.example/storks", "Storks"),
        *(23, 26),
    )
    ctx = foreign()
    cited = ir.Text(
        text="seen",
        citations=(
            ir.Citation(url="https://a.example", quote="so"),
            ir.Citation(title="a book"),
        ),
    )
    annotations = encode_body(answer(cited), ctx)["output"][0]["content"][0]["annotations"]
    assert annotations == [
        {
            "type": "url_citation",
            "url": "https://a.example",
            "title": "https://a.example",
            "start_index": 0,
            "end_index": 4,
        }
    ]
    assert "citation-dropped" in ctx.receipt().codes()
    ctx = foreign()
    assert "annotations" not in items(user(cited), ctx=ctx)[0]["content"][0]
    assert "citation-dropped" in ctx.receipt().codes()


def test_logprobs():
    choice = decode_body(load("response", "logprobs")).choices[0]
    assert choice.logprobs["content"][0]["token"] == "Aye"
    body = encode_body(answer(ir.Text(text="Aye"), logprobs=choice.logprobs), foreign())
    assert body["output"][0]["content"][0]["logprobs"] == choice.logprobs["content"]
    SdkResponse.model_validate(body)
    ctx = foreign()
    encode_body(answer(logprobs={"content": [{"token": "a"}]}), ctx)
    assert "logprobs-dropped" in ctx.receipt().codes()


def test_a_foreign_response_is_complete():
    request = decode(
        {
            "model": "m",
            "input": "hi",
            "instructions": "Be kind.",
            "tools": [{"type": "function", "name": "gate"}, {"type": "custom", "name": "plot"}],
            "tool_choice": {"type": "function", "name": "gate"},
            "temperature": 0.5,
            "max_output_tokens": 9,
            "metadata": {"a": "b"},
            "truncation": "auto",
            "reasoning": {"effort": "low"},
        }
    )
    ctx = Context(source=ELSEWHERE, target=codec.SURFACE, request=request, now=1234)
    parts = (
        ir.Reasoning(text="Hm."),
        ir.Text(text="Ahoy"),
        ir.ToolCall(id="toolu_1", name="gate", arguments=""),
        ir.ToolCall(id="toolu_2", name="plot", arguments="x", type="custom"),
    )
    body = encode_body(answer(*parts, stop="tool_calls", created="2026-11-15T00:00:00Z"), ctx)
    SdkResponse.model_validate(body)
    assert body["instructions"] == "Be kind."
    assert (body["temperature"], body["top_p"], body["truncation"]) == (0.5, 1.0, "auto")
    assert (body["created_at"], body["completed_at"], body["id"]) == (
        1794700800,
        1234,
        "resp_msg_7",
    )
    assert body["tools"][0] == {
        "type": "function",
        "name": "gate",
        **dict.fromkeys(("description", "parameters", "strict")),
    }
    assert [item["id"][:3] for item in body["output"]] == ["rs_", "msg", "fc_", "ctc"]
    assert body["output"][2]["arguments"] == "{}"
    assert all(item.get("status", "completed") == "completed" for item in body["output"])
    notes = ctx.receipt().codes()
    assert notes == {"value-respelled": 1}
    alike = Context(source=ELSEWHERE, target=codec.SURFACE, request=request, now=1234)
    again = answer(*parts, stop="tool_calls", created="2026-11-15T00:00:00Z")
    assert encode_body(again, alike) == body


def test_a_foreign_response_is_what_open_responses_reads():
    request = decode({"model": "m", "input": "hi", "tools": [{"type": "function", "name": "gate"}]})
    ctx = Context(source=ELSEWHERE, target=codec.SURFACE, request=request, now=1234)
    parts = (
        ir.Reasoning(text="Hm."),
        ir.Text(text="Ahoy"),
        ir.ToolCall(id="c", name="gate", arguments="{}"),
    )
    open_responses.ResponseResource.model_validate(encode_body(answer(*parts), ctx))
    ctx = Context(source=ELSEWHERE, target=codec.SURFACE)
    body = encode_body(msgspec.structs.replace(answer(created=5.5), id=""), ctx)
    open_responses.ResponseResource.model_validate(body)
    assert body["id"].startswith("resp_")
    assert body["created_at"] == 5


def test_the_cut_item_is_incomplete():
    """X-07, case-15: a call cut by the limit is not told as complete."""
    call = ir.ToolCall(id="c", name="f", arguments='{"command":"rm')
    body = encode_body(answer(ir.Text(text="x"), call, stop="length"), foreign())
    assert body["incomplete_details"] == {"reason": "max_output_tokens"}
    assert [item["status"] for item in body["output"]] == ["completed", "incomplete"]


def test_what_has_no_form_in_an_answer_is_noted():
    ctx = foreign()
    odd = ir.Opaque(protocol="elsewhere", type="x", value={})
    result = ir.ToolResult(id="t", parts=(ir.Text(text="r"),))
    body = encode_body(answer(odd, ir.Audio(source=ir.Remote(url="u")), result), ctx)
    assert [item["type"] for item in body["output"]] == ["function_call_output"]
    assert ctx.receipt().codes()["part-dropped"] == 2


def test_format_text_says_nothing_new():
    ctx = Context(source=codec.SURFACE, target=ELSEWHERE)
    decode(
        {"model": "m", "tools": [{"type": "custom", "name": "c", "format": {"type": "text"}}]}, ctx
    )
    assert not ctx.receipt()


def test_little_is_enough_for_an_answer():
    choice = ir.Choice(parts=(ir.Reasoning(id="rs_9", summary=("so",)),))
    body = encode_body(ir.Response(id="resp_1", model="m", choices=(choice,)), foreign())
    assert (body["status"], body["id"]) == ("completed", "resp_1")
    assert body["output"][0]["id"] == "rs_9"
    annotation = {"type": "url_citation", "url": "https://a.example"}
    text = {"type": "output_text", "text": "x", "annotations": [annotation]}
    given = {"id": "r", "object": "response", "output": [{"type": "message", "role": "assistant"}]}
    given["output"][0]["content"] = [text]
    assert encode_body(decode_body(given)) == given


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("rate-limit", "rate_limit"),
        ("quota", "quota"),
        ("context-length", "context_length"),
        ("bad-key", "authentication"),
        ("no-model", "not_found"),
        ("number-code", "invalid_request"),
        ("overloaded", "overloaded"),
        ("odd", "not_found"),
        ("proxy", "server"),
        ("failed", "server"),
    ],
)
def test_error_kinds(file, kind):
    error = codec.decode_response(WireResponse(**load("error", f"{file}")), Context())
    assert isinstance(error, ir.ApiError)
    assert error.kind == kind
    assert error.message
    assert error.status is not None
    assert error.status >= 400


@pytest.mark.parametrize("kind", ERROR_FROM)
def test_errors_of_other_protocols_come_back(kind):
    error = ir.ApiError(kind=kind, message="No.", status=418, retry_after="2", request_id="r")
    ctx = foreign()
    wire = codec.encode_response(error, ctx)
    assert wire.body["error"].keys() == {"message", "type", "param", "code"}
    assert wire.headers == {"retry-after": "2", "x-request-id": "r"}
    assert ctx.receipt().codes() == {"status-changed": 1}
    again = codec.decode_response(wire, Context())
    assert isinstance(again, ir.ApiError)
    assert (again.kind, again.message, again.retry_after) == (kind, "No.", "2")


def test_an_error_in_a_good_response():
    error = decode_body({"error": {"message": "The prompt is too long", "code": "odd"}})
    assert isinstance(error, ir.ApiError)
    assert error.kind == "server"


@pytest.mark.parametrize("annotation", [{}, {"url": "https://tides.example"}])
def test_an_annotation_without_a_type_gets_one_and_a_note(annotation):
    ctx = Context()
    part = {"type": "output_text", "text": "Low.", "annotations": [annotation]}
    message = {"type": "message", "role": "assistant", "content": [part]}
    request = HARNESS.decode_request({"model": "m", "input": [message]}, ctx)
    [written] = HARNESS.encode_request(request, ctx)["input"][0]["content"][0]["annotations"]
    assert written == {**annotation, "type": "url_citation"}
    assert "spelling-normalised" in ctx.receipt().codes()
