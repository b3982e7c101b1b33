"""Responses and errors of Gemini."""

import pytest
from google.genai import types as sdk
from tests.protocols.gemini.helpers import answer, codes, foreign, load

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import (
    ApiError,
    Choice,
    Response,
    StopReason,
    Text,
    Usage,
)
from toolglot.protocols import gemini
from toolglot.registry import get_protocol
from toolglot.wire.message import WireResponse

# --- responses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("STOP", "end"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("BLOCKLIST", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("SPII", "content_filter"),
        ("IMAGE_SAFETY", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "malformed_call"),
        ("UNEXPECTED_TOOL_CALL", "malformed_call"),
        ("MALFORMED_RESPONSE", "malformed_call"),
        ("LANGUAGE", "other"),
        ("TOO_MANY_TOOL_CALLS", "other"),
        ("NEVER_SEEN", "other"),
    ],
)
def test_stop_reasons(word, kind):
    body = {
        "candidates": [{"content": {"role": "model"}, "finishReason": word, "index": 0}],
        "responseId": "r",
    }
    response = answer(body)
    assert response.choices[0].stop == StopReason(kind=kind, raw=word)
    assert gemini.encode_response(response, Context()).body == body


@pytest.mark.parametrize(
    ("kind", "word", "noted"),
    [
        ("end", "STOP", False),
        ("tool_calls", "STOP", False),
        ("length", "MAX_TOKENS", False),
        ("content_filter", "SAFETY", False),
        ("malformed_call", "MALFORMED_FUNCTION_CALL", False),
        ("stop_sequence", "STOP", True),
        ("refusal", "SAFETY", True),
        ("pause", "STOP", True),
        ("context_window", "MAX_TOKENS", True),
        ("other", "OTHER", True),
    ],
)
def test_foreign_stop_reasons(kind, word, noted):
    """case-44: by table, with a note where the words do not mean the same."""
    ctx = foreign()
    response = Response(
        id="r", model="m", choices=(Choice(parts=(), stop=StopReason(kind=kind, raw="x")),)
    )
    assert gemini.encode_response(response, ctx).body["candidates"][0]["finishReason"] == word
    assert codes(ctx) == (["stop-mapped"] if noted else [])


def test_an_answer_with_calls_stops_for_calls():
    response = answer(load("response", "thinking-and-calls"))
    assert response.choices[0].stop == StopReason(kind="tool_calls", raw="STOP")
    assert response.usage.prompt == 310


def test_blocked_prompt():
    response = answer(load("response", "blocked-prompt"))
    (choice,) = response.choices
    assert (choice.parts, choice.stop) == (
        (),
        StopReason(kind="content_filter", raw="PROHIBITED_CONTENT"),
    )


def test_no_parts_is_an_answer_cut_short():
    """case-21: thinking that uses up the limit leaves an empty answer, not none."""
    (choice,) = answer(load("response", "thoughts-ate-the-limit")).choices
    assert (choice.parts, choice.stop.kind) == ((), "length")


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (
            {
                "promptTokenCount": 10,
                "cachedContentTokenCount": 4,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 7,
                "totalTokenCount": 22,
            },
            {"input": 6, "cache_read": 4, "output": 12, "reasoning": 7},
        ),
        ({"promptTokenCount": 10, "totalTokenCount": 10}, {"input": 10}),
        ({"thoughtsTokenCount": 3}, {"output": 3, "reasoning": 3}),
        (
            {"promptTokenCount": 10, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 0},
            {"input": 15, "output": 0},
        ),
        ({"promptTokenCount": 1, "cachedContentTokenCount": 2}, {"input": 0, "cache_read": 2}),
        ({"totalTokenCount": 9}, {}),
    ],
)
def test_usage(raw, usage):
    """X-13: fresh input, cache reads, output and reasoning apart; unknown stays unknown."""
    body = {
        "candidates": [{"index": 0, "content": {"role": "model"}}],
        "usageMetadata": raw,
        "responseId": "r",
    }
    response = answer(body)
    counts = {
        key: value
        for key in ("input", "cache_read", "output", "reasoning")
        if (value := getattr(response.usage, key)) is not None
    }
    assert counts == usage
    assert gemini.encode_response(response, Context()).body == body


def test_foreign_usage():
    usage = Usage(input=6, cache_read=4, cache_write=2, output=12, reasoning=7)
    body = gemini.encode_response(
        Response(id="r", model="m", choices=(), usage=usage), foreign()
    ).body
    assert body["usageMetadata"] == {
        "promptTokenCount": 12,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
        "totalTokenCount": 24,
    }
    empty = gemini.encode_response(
        Response(id="r", model="", choices=(), usage=Usage()), foreign()
    ).body
    assert empty == {"usageMetadata": {}, "responseId": "r"}


@pytest.mark.parametrize(
    ("created", "text"),
    [
        (1763200000, "2025-11-15T09:46:40Z"),
        (0.5, "1970-01-01T00:00:00.500000Z"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        (1e300, "1970-01-01T00:00:00Z"),
    ],
)
def test_created(created, text):
    body = gemini.encode_response(
        Response(id="r", model="m", choices=(), created=created), foreign()
    ).body
    assert body["createTime"] == text
    sdk.GenerateContentResponse.model_validate(body)


def test_foreign_logprobs_are_noted():
    ctx = foreign()
    gemini.encode_response(
        Response(id="r", model="m", choices=(Choice(parts=(), logprobs={}),)), ctx
    )
    assert codes(ctx) == ["logprobs-dropped"]


@pytest.mark.parametrize(
    "body",
    [
        {"promptFeedback": {}},
        {"candidates": None, "promptFeedback": {}},
        {"candidates": [{}]},
        {"candidates": [{}], "usageMetadata": None},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}]},
    ],
)
def test_poor_responses_are_read(body):
    response = answer(body)
    assert isinstance(response, Response)
    assert response.id
    assert gemini.encode_response(response, Context()).body == body


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fixture", "kind", "retry"),
    [
        ("invalid-argument", "invalid_request", None),
        ("bad-key", "authentication", None),
        ("rate-limit", "rate_limit", "12"),
        ("daily-quota", "quota", None),
        ("too-long", "context_length", None),
        ("overloaded", "overloaded", "30"),
        ("no-billing", "billing", None),
        ("proxy", "server", None),
        ("odd-code", "server", None),
    ],
)
def test_errors(fixture, kind, retry):
    """X-16: kinds by the word, the details and the message; the wait from where it is said."""
    error = load("error", f"{fixture}")
    decoded = answer(error["body"], error["status"], error["headers"])
    assert (decoded.kind, decoded.retry_after) == (kind, retry)
    assert decoded.message


@pytest.mark.parametrize(
    ("word", "status", "kind"),
    [
        ("RESOURCE_EXHAUSTED", 429, "rate_limit"),
        ("UNAVAILABLE", 503, "overloaded"),
        ("DEADLINE_EXCEEDED", 504, "timeout"),
        ("UNAUTHENTICATED", 401, "authentication"),
        ("PERMISSION_DENIED", 403, "permission"),
        ("NOT_FOUND", 404, "not_found"),
        ("INTERNAL", 500, "server"),
        ("INVALID_ARGUMENT", 400, "invalid_request"),
        ("FAILED_PRECONDITION", 400, "billing"),
        ("ABORTED", 409, "conflict"),
    ],
)
def test_error_words(word, status, kind):
    body = {"error": {"code": status, "message": "m", "status": word}}
    assert answer(body, status).kind == kind
    assert answer(body).status == status, "the code counts where the status does not"
    wire = gemini.encode_response(ApiError(kind=kind, message="m"), foreign())
    assert (wire.status, wire.body) == (status, body)


@pytest.mark.parametrize("kind", ["too_large", "content_policy", "quota", "context_length"])
def test_error_kinds_without_a_word(kind):
    ctx = foreign()
    wire = gemini.encode_response(
        ApiError(kind=kind, message="prompt is too long: 9 > 8", status=413), ctx
    )
    assert wire.body["error"]["code"] == wire.status == (429 if kind == "quota" else 400)
    assert codes(ctx) == ["status-changed"]
    if kind == "context_length":
        assert answer(wire.body, wire.status).kind == "context_length"
        assert wire.body["error"]["message"].startswith(
            "The input token count exceeds the maximum number"
        )


def test_foreign_wait_is_told_in_the_details():
    wire = gemini.encode_response(
        ApiError(kind="rate_limit", message="m", retry_after="7"), foreign()
    )
    assert wire.headers["retry-after"] == "7"
    assert answer(wire.body, wire.status).retry_after == "7"


def test_refined_errors():
    def kind(word, message, status=400):
        return answer({"error": {"code": status, "message": message, "status": word}}, status).kind

    assert (
        kind("INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.")
        == "too_large"
    )
    assert (
        kind("FAILED_PRECONDITION", "User location is not supported for the API use.")
        == "permission"
    )


# --- totality -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {"candidates": 5},
        {"candidates": [5]},
        {"candidates": [{"content": 5}]},
        {"candidates": [{"finishReason": [5]}]},
        {"usageMetadata": []},
        {"usageMetadata": {"promptTokenCount": "x"}},
        {"responseId": 5},
        {"error": {"message": 5}},
    ],
)
def test_wrong_responses_are_refused(body):
    with pytest.raises(DecodeError):
        answer(body)


def test_a_page_is_cited_by_the_text_that_has_its_words():
    """Segments without a part mean the first one, which may be a thought."""
    support = {"groundingChunkIndices": [0], "segment": {"endIndex": 4, "text": "Rain"}}
    page = {"web": {"uri": "https://tide.example/a", "title": "Tides", "domain": "tide.example"}}
    parts = [{"text": "Hm.", "thought": True}, {"text": "So."}, {"text": "Rain today."}]
    candidate = {
        "content": {"role": "model", "parts": parts},
        "finishReason": "STOP",
        "groundingMetadata": {"groundingChunks": [page], "groundingSupports": [support]},
    }
    ctx = Context(source=gemini.SURFACE, target=get_protocol("anthropic").SURFACE)
    body = {"candidates": [candidate], "modelVersion": "m"}
    decoded = gemini.decode_response(WireResponse(body=body), ctx)
    assert isinstance(decoded, Response)
    first, second = (part for part in decoded.choices[0].parts if isinstance(part, Text))
    assert first.citations == ()
    assert [(each.url, each.start, each.end) for each in second.citations] == [
        ("https://tide.example/a", 0, 4)
    ]
    path = "candidates[0].groundingMetadata.groundingChunks[0].web.domain"
    assert path in {note.path for note in ctx.notes()}
