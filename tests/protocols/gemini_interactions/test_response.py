"""What is particular to answers of Gemini Interactions."""

import pytest
from tests.protocols.gemini_interactions.helpers import answer, codes, foreign, load, tell

from toolglot import ir, translate_response
from toolglot.context import Context
from toolglot.errors import DecodeError


def body(status, *steps, **more):
    return {"object": "interaction", "id": "v1_1", "status": status, "steps": [*steps], **more}


CALL = {"type": "function_call", "id": "c", "name": "tide", "arguments": {}}
TEXT = {"type": "model_output", "content": [{"type": "text", "text": "Low."}]}


@pytest.mark.parametrize(
    ("status", "steps", "kind"),
    [
        ("completed", [TEXT], "end"),
        ("completed", [CALL], "tool_calls"),
        ("requires_action", [CALL], "tool_calls"),
        ("incomplete", [TEXT], "length"),
        ("budget_exceeded", [TEXT], "length"),
        ("requires_continuation", [TEXT], "pause"),
        ("cancelled", [TEXT], "other"),
        ("in_progress", [], "other"),
    ],
)
def test_the_status_tells_why_it_ended(status, steps, kind):
    stop = answer(body(status, *steps)).choices[0].stop
    assert (stop.kind, stop.raw) == (kind, status)


@pytest.mark.parametrize(
    ("kind", "status", "noted"),
    [
        ("end", "completed", False),
        ("tool_calls", "requires_action", False),
        ("length", "incomplete", False),
        ("stop_sequence", "completed", True),
        ("content_filter", "completed", True),
        ("pause", "incomplete", True),
        ("other", "incomplete", True),
    ],
)
def test_why_others_ended_becomes_a_status(kind, status, noted):
    ctx = foreign()
    choice = ir.Choice(parts=(ir.Text(text="x"),), stop=ir.StopReason(kind=kind))
    wire = tell(ir.Response(id="r", model="m", choices=(choice,)), ctx)
    assert wire["status"] == status
    assert ("stop-mapped" in codes(ctx)) is noted


def test_thoughts_come_on_top_of_the_output_and_the_cache_is_part_of_the_input():
    usage = answer(load("response", "searched")).usage
    assert (usage.input, usage.cache_read, usage.output, usage.reasoning) == (1195, 0, 788, 198)
    wire = tell(ir.Response(id="r", model="m", choices=(ir.Choice(parts=()),), usage=ir.Usage(
        input=5, cache_read=3, output=9, reasoning=4)), foreign())  # fmt: skip
    assert wire["usage"] == {
        "total_input_tokens": 8,
        "total_cached_tokens": 3,
        "total_output_tokens": 5,
        "total_thought_tokens": 4,
        "total_tokens": 17,
    }


def test_citations_are_placed_in_characters():
    (text,) = answer(load("response", "cited")).choices[0].parts
    url, place, word = text.citations
    assert text.text[url.start : url.end] == "Fähre"
    assert (place.url, place.title) == ("https://maps.example/1", "Ferry")
    assert (word.url, word.title) == (None, None)
    wire, _ = translate_response(
        load("response", "cited"), source="gemini-interactions", target="openai-responses"
    )
    (annotation, *_) = wire.body["output"][0]["content"][0]["annotations"]
    assert (annotation["start_index"], annotation["end_index"]) == (4, 9)


def test_steps_that_stand_side_by_side_stay_apart():
    parts = answer(load("response", "several-outputs")).choices[0].parts
    assert [type(part).__name__ for part in parts] == ["Text", "Image", "Text", "Text"]
    plain = tuple(ir.Text(text=part.text) for part in parts if isinstance(part, ir.Text))
    wire = tell(ir.Response(id="r", model="m", choices=(ir.Choice(parts=plain),)), foreign())
    assert [len(step["content"]) for step in wire["steps"]] == [3]


def test_what_the_client_said_itself_is_no_answer():
    (text,) = answer(load("response", "timeline")).choices[0].parts
    assert text.text == "Knee deep."


def test_an_answer_that_is_not_stored_has_an_id_for_others_only():
    response = answer(load("response", "unstored"))
    assert response.id.startswith("v1_")
    assert tell(response)["id"] == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "completed", "output": []},
        {"object": "interaction", "status": "completed", "outputs": [{"type": "text"}]},
        {"choices": []},
        {},
    ],
)
def test_what_is_no_interaction_is_not_taken_for_an_empty_one(wrong):
    with pytest.raises(DecodeError):
        answer(wrong)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"code": "invalid_request", "message": "no"}, "invalid_request"),
        (400, {"code": "content_blocked", "message": "no"}, "content_policy"),
        (429, {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"}, "rate_limit"),
        (500, {"code": "https://errors.example/not_found", "message": "no"}, "not_found"),
        (503, {"message": "no"}, "overloaded"),
        (418, {}, "invalid_request"),
    ],
)
def test_errors_are_known_by_their_words_or_their_status(status, error, kind):
    found = answer({"error": error}, status=status)
    assert (found.kind, found.status) == (kind, status)


def test_an_interaction_that_failed_is_an_error():
    failed = load("error", "failed")["body"]
    error = answer(failed)
    assert (error.kind, error.message, error.status) == ("server", "The weir broke.", 500)
    wire, _ = translate_response(failed, source="gemini-interactions", target="anthropic")
    assert wire.status == 500
    assert wire.body["error"]["message"] == "The weir broke."


@pytest.mark.parametrize("kind", ir.ErrorKind.__args__)
def test_every_kind_of_error_survives(kind):
    error = ir.ApiError(kind=kind, message="no", status=400)
    wire = tell(error, foreign())
    assert set(wire["error"]) == {"code", "message"}
    assert answer(wire, status=400).kind == kind


def test_a_wait_in_the_details_is_told():
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "8.2s"}]
    error = {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED", "details": details}
    assert answer({"error": error}, status=429).retry_after == "9"


def test_the_gateway_names_an_answer_that_it_stores():
    ctx = foreign()
    ctx.answer_id = "v1_ours"
    wire = tell(ir.Response(id="r", model="m", choices=(ir.Choice(parts=()),)), ctx)
    assert wire["id"] == "v1_ours"


def test_reasoning_from_elsewhere_is_a_thought_with_a_summary():
    part = ir.Reasoning(text="Hm.", summary=("First.",), signature="c2ln")
    wire = tell(ir.Response(id="r", model="m", choices=(ir.Choice(parts=(part,)),)), foreign())
    texts = [{"type": "text", "text": text} for text in ("First.", "Hm.")]
    assert wire["steps"] == [{"type": "thought", "signature": "c2ln", "summary": texts}]


def test_a_context_of_nobody_writes_no_time():
    ctx = Context()
    wire = tell(ir.Response(id="", model="m", choices=(ir.Choice(parts=()),)), ctx)
    assert wire["created"] == "1970-01-01T00:00:00Z"
    assert wire["id"].startswith("v1_")
