"""Answers and errors of Converse, in what is particular to them."""

import pytest
from tests.protocols.bedrock_converse.helpers import HARNESS, answer, codes, foreign, load

from toolglot import parse_tool_calls, translate_response
from toolglot.context import Context
from toolglot.errors import DecodeError
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

PROTOCOL = HARNESS.protocol


def response(*parts, stop="end", **more):
    choice = Choice(parts=parts, stop=StopReason(kind=stop))
    return Response(id="resp_1", model="m", choices=(choice,), **more)


def written(value, ctx=None):
    return PROTOCOL.encode_response(value, ctx or foreign())


def test_the_id_is_that_of_the_request():
    found = answer(load("response", "text"), headers={"x-amzn-requestid": "7f3a"})
    assert found.id == "7f3a"
    assert written(found).headers == {"x-amzn-requestid": "7f3a"}


def test_calls_are_parsed_by_the_name_of_the_provider():
    body = load("response", "calls")
    for name in ("bedrock", "bedrock-converse"):
        assert [call.name for call in parse_tool_calls(body, name)] == ["tide_at", "ring_bell"]


def test_an_answer_of_others_has_all_that_clients_need():
    body = written(response(Text(text="x"))).body
    assert body == {
        "output": {"message": {"role": "assistant", "content": [{"text": "x"}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0},
        "metrics": {"latencyMs": 0},
    }


def test_cached_tokens_are_counted_apart_and_in_the_total():
    usage = Usage(input=10, cache_read=60, cache_write=40, output=5)
    assert written(response(usage=usage)).body["usage"] == {
        "inputTokens": 10,
        "outputTokens": 5,
        "cacheReadInputTokens": 60,
        "cacheWriteInputTokens": 40,
        "totalTokens": 115,
    }


def test_thinking_is_not_counted_apart_which_a_note_says():
    ctx = foreign()
    assert (
        written(response(usage=Usage(output=9, reasoning=4)), ctx).body["usage"]["outputTokens"]
        == 9
    )
    assert codes(ctx) == ["usage-dropped"]


@pytest.mark.parametrize(
    ("kind", "word", "exact"),
    [
        ("content_filter", "content_filtered", True),
        ("refusal", "content_filtered", False),
        ("pause", "end_turn", False),
        ("context_window", "model_context_window_exceeded", True),
        ("malformed_call", "malformed_tool_use", True),
    ],
)
def test_stop_reasons_of_others(kind, word, exact):
    ctx = foreign()
    assert written(response(stop=kind), ctx).body["stopReason"] == word
    assert ("stop-mapped" in codes(ctx)) is not exact


def test_the_sequence_that_stopped_it():
    found = answer(load("response", "stop-sequence"))
    stop = StopReason(kind="stop_sequence", raw="stop_sequence", sequence="three")
    assert found.choices[0].stop == stop


def test_cited_text_is_a_block_of_its_own():
    cited = Text(text="Noon.", citations=(Citation(url="https://a.example", title="A", quote="n"),))
    [block] = written(response(cited)).body["output"]["message"]["content"]
    assert block == {
        "citationsContent": {
            "content": [{"text": "Noon."}],
            "citations": [
                {
                    "title": "A",
                    "sourceContent": [{"text": "n"}],
                    "location": {"web": {"url": "https://a.example"}},
                }
            ],
        }
    }
    shown, _ = translate_response(
        load("response", "cited"), source="bedrock-converse", target="openai-responses"
    )
    [annotation] = shown.body["output"][0]["content"][0]["annotations"]
    assert annotation["url"] == "https://tides.example"


def test_thoughts_in_several_pieces_are_one():
    part = Reasoning(summary=("One.", "Two."), signature="s")
    [block] = written(response(part)).body["output"]["message"]["content"]
    words = {"text": "One.\n\nTwo.", "signature": "s"}
    assert block == {"reasoningContent": {"reasoningText": words}}


def test_arguments_that_are_no_object_are_wrapped():
    ctx = foreign()
    [block] = written(response(ToolCall(id="t", name="f", arguments="[1]")), ctx).body["output"][
        "message"
    ]["content"]
    assert block["toolUse"]["input"] == {"$value": [1]}
    assert "arguments-wrapped" in codes(ctx)


@pytest.mark.parametrize("body", [{}, {"output": {}}, {"output": {"message": {"role": "x"}}}])
def test_what_is_no_answer_is_refused(body):
    with pytest.raises(DecodeError, match="output"):
        answer(body)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("throttled", "rate_limit"),
        ("invalid", "invalid_request"),
        ("too-long", "context_length"),
        ("denied", "permission"),
        ("bad-signature", "authentication"),
        ("no-model", "not_found"),
        ("unavailable", "overloaded"),
        ("model-error", "server"),
        ("typed-body", "invalid_request"),
        ("front-end", "permission"),
    ],
)
def test_the_kinds_of_errors(name, kind):
    error = load("error", name)
    assert answer(error["body"], error["status"], error["headers"]).kind == kind


@pytest.mark.parametrize(
    ("kind", "name", "status"),
    [
        ("rate_limit", "ThrottlingException", 429),
        ("overloaded", "ServiceUnavailableException", 503),
        ("server", "InternalServerException", 500),
        ("authentication", "UnrecognizedClientException", 403),
        ("not_found", "ResourceNotFoundException", 404),
        ("billing", "AccessDeniedException", 403),
        ("quota", "ServiceQuotaExceededException", 400),
    ],
)
def test_errors_of_others_have_the_type_in_a_header(kind, name, status):
    wire = written(ApiError(kind=kind, message="No.", retry_after="3"))
    assert wire.status == status
    assert wire.headers == {"x-amzn-errortype": name, "retry-after": "3"}
    assert wire.body == {"message": "No.", "__type": name}


def test_errors_that_were_made_here_have_it_too():
    wire = PROTOCOL.encode_response(
        ApiError(kind="not_found", message="No."), Context(target=PROTOCOL.SURFACE)
    )
    assert wire.headers["x-amzn-errortype"] == "ResourceNotFoundException"


def test_a_prompt_too_long_is_told_in_the_words_by_which_clients_know_it():
    wire = written(ApiError(kind="context_length", message="9 tokens > 8"))
    assert wire.body["message"] == "Input is too long for requested model: 9 tokens > 8"
