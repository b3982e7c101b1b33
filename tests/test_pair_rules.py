"""Rules that hold for every pair of protocols, in requests, responses and errors."""

import json
from typing import Any

import pytest
from tests.wires import (
    NAMES,
    PAIRS,
    TRIO,
    across,
    answer,
    asking,
    assistant,
    call,
    carried,
    codes,
    home,
    parts_of,
    path_to,
    result,
    said,
    seen,
    shown,
    tool,
    user,
    words,
)

import toolglot
from toolglot import get_protocol, ir, translate_request, translate_response

SURFACES = {name: get_protocol(name).SURFACE for name in NAMES}

# --- what numbers, keys and letters are made of ---------------------------------------------

ODD = [
    pytest.param('{"n":12345678901234567890}', id="big"),
    pytest.param('{"n":-9007199254740993,"m":1.0,"e":1e100}', id="numbers"),
    pytest.param('{"pi":3.14159265358979323846264338327950288}', id="long decimal"),
    pytest.param('{"z":1,"a":{"y":2,"b":3},"m":[]}', id="key order"),
    pytest.param('{"s":"\\ud83d","ok":"\\ud83d\\ude00"}', id="lone surrogate"),
    pytest.param('{"nul":"\\u0000\\u001f","sep":"\u2028"}', id="control characters"),
]


@pytest.mark.parametrize("arguments", ODD)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_arguments_of_the_history_mean_exactly_the_same(source, target, arguments):
    """X-05, case-41: numbers to the last digit, keys in their order."""
    request = asking(user("hi"), assistant(call("f", arguments)), user(result("done")))
    [made] = parts_of(across(request, source, target), ir.ToolCall)
    assert exact(made.arguments) == exact(arguments)


@pytest.mark.parametrize("arguments", ODD)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_arguments_of_an_answer_mean_exactly_the_same(source, target, arguments):
    """X-05"""
    [made] = parts_of(seen(answer(call("f", arguments)), source, target), ir.ToolCall)
    assert exact(made.arguments) == exact(arguments)


def exact(text: str) -> Any:
    """A JSON text as pairs and unread numbers, so that nothing is rounded or reordered."""
    return json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=tuple)


TEXTUAL = [p for p in PAIRS if all(SURFACES[name].calls.arguments == "text" for name in p)]
SPELLED = ['{ "a" : 1 }', '{"a":1,"a":2}', '{"a":1.50}', '{"a":"\\u00e9"}', "not json", "[1]"]


@pytest.mark.parametrize("arguments", SPELLED)
@pytest.mark.parametrize(("source", "target"), TEXTUAL)
def test_arguments_that_are_text_on_both_sides_are_the_same_text(source, target, arguments):
    """X-05, D-04: spaces, duplicate keys, digits and escapes as they came."""
    request = asking(user("hi"), assistant(call("f", arguments)), user(result("done")))
    [made] = parts_of(across(request, source, target), ir.ToolCall)
    assert made.arguments == arguments
    [made] = parts_of(seen(answer(call("f", arguments)), source, target), ir.ToolCall)
    assert made.arguments == arguments


@pytest.mark.parametrize("arguments", SPELLED)
@pytest.mark.parametrize("target", [n for n in NAMES if SURFACES[n].calls.arguments == "object"])
@pytest.mark.parametrize("source", ["openai-chat", "openai-responses"])
def test_arguments_come_back_as_text_through_clients_with_objects(source, target, arguments):
    """X-05, D-04: a client that reads objects returns the text that the model wrote."""
    wire, _ = shown(answer(call("f", arguments)), source, target)
    history = RESEND[target](json.loads(wire.data()))
    done = said(asking(user(result("done", name="f"))), target)[SURFACES[target].messages.path]
    body = {"model": "m", "max_tokens": 9, SURFACES[target].messages.path: [*history, *done]}
    back, _ = translate_request(body, source=target, target=source, path=path_to(target))
    [made] = parts_of(toolglot.decode_request(back.body, source=source), ir.ToolCall)
    assert made.arguments == arguments


@pytest.mark.parametrize("target", [n for n in NAMES if SURFACES[n].calls.arguments == "object"])
def test_a_duplicate_key_that_an_object_cannot_hold_is_named(target):
    """X-05, D-11"""
    request = asking(user("hi"), assistant(call("f", '{"a":1,"a":2}')), user(result("done")))
    wire, receipt = carried(request, "openai-chat", target)
    [made] = parts_of(
        toolglot.decode_request(wire.body, source=target, path=path_to(target)), ir.ToolCall
    )
    assert exact(made.arguments) == exact('{"a":1,"a":2}') or receipt.losses


@pytest.mark.parametrize("text", ["\ud83d alone", "a\u0000b", "\r\n\t ", "e\u0301 and é"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_texts_and_results_are_not_touched(source, target, text):
    """X-05, X-12"""
    body = said(asking(user(text), assistant(call("f")), user(result(text))), source)
    raw = json.dumps(body | {"model": "some-model"})
    wire, receipt = translate_request(raw, source=source, target=target)
    there = toolglot.decode_request(wire.data(), source=target, path=wire.path)
    if not (text.strip() or SURFACES[target].messages.blank_text):
        assert "blank-text" in codes(receipt)
        return
    assert words(there.messages[0]) == text
    [given] = parts_of(there, ir.ToolResult)
    assert words(given) == text
    assert ("surrogate-kept" in codes(receipt)) == ("\ud83d" in text)


RESEND = {
    "anthropic": lambda body: [{"role": "assistant", "content": body["content"]}],
    "openai-chat": lambda body: [body["choices"][0]["message"]],
    "openai-responses": lambda body: body["output"],
    "gemini-interactions": lambda body: body["steps"],
    "gemini": lambda body: [body["candidates"][0]["content"]],
    "bedrock-converse": lambda body: [body["output"]["message"]],
    "ollama": lambda body: [body["message"]],
}
"""How a client puts an answer back into its history."""

# --- turns ----------------------------------------------------------------------


@pytest.mark.parametrize("source", [n for n in NAMES if n != "openai-chat"])
def test_results_come_before_what_the_user_says(source):
    """X-09, case-32: for chat, whatever the order of the blocks was."""
    request = asking(
        user("hi"),
        assistant(call("f", id="call_1"), call("g", id="call_2")),
        user("by the way", result("one", id="call_1"), result("two", id="call_2")),
    )
    wire, _ = carried(request, source, "openai-chat")
    roles = [message["role"] for message in wire.body["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    assert wire.body["messages"][-1]["content"] == "by the way"


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_results_follow_their_calls_directly_everywhere(source, target):
    """X-09, case-32"""
    request = asking(
        user("hi"), assistant("well", call("f")), user("by the way"), user(result("done"))
    )
    there = across(request, source, target)
    places = [type(part) for message in there.messages for part in message.parts]
    assert places.index(ir.ToolResult) == places.index(ir.ToolCall) + 1
    assert words(there).count("by the way") == 1


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_result_without_its_call_is_told_as_text(source, target):
    """X-10, case-32: never silently deleted."""
    orphan = ir.ToolResult(id="call_9", name="f", parts=(ir.Text(text="unsupported call: f"),))
    wire, receipt = carried(asking(user("hi"), user(orphan)), source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    assert parts_of(there, ir.ToolResult) == []
    assert "unsupported call: f" in words(there)
    assert "result-unmatched" in codes(receipt)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_call_without_its_result_is_answered_visibly(source, target):
    """X-10, case-32"""
    request = asking(
        user("hi"),
        assistant(call("f", id="call_1"), call("g", id="call_2")),
        user(result("one", id="call_1"), "go on"),
    )
    wire, receipt = carried(request, source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    calls = [each.id for each in parts_of(there, ir.ToolCall)]
    results = parts_of(there, ir.ToolResult)
    assert [each.id for each in results] == calls
    assert (words(results[0]), results[0].is_error) == ("one", None)
    assert results[1].is_error is True
    assert "No result was recorded" in words(results[1])
    assert [note.code for note in receipt if note.severity == "lossy"].count("call-unanswered") == 1


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_calls_at_the_end_wait_for_their_results(source, target):
    """X-10: the last turn is not yet to be answered."""
    wire, receipt = carried(asking(user("hi"), assistant(call("f"))), source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    assert parts_of(there, ir.ToolResult) == []
    assert "call-unanswered" not in codes(receipt)


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
@pytest.mark.parametrize("source", [n for n in NAMES if n not in ("anthropic", "gemini")])
def test_messages_of_one_role_are_one_turn(source, target):
    """X-11"""
    request = asking(user("one"), user("two"), assistant("three"), assistant("four"), user("five"))
    wire, receipt = carried(request, source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    assert [message.role for message in there.messages] == ["user", "assistant", "user"]
    assert words(there) == "onetwothreefourfive"
    assert "turns-merged" in codes(receipt)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_part_of_what_a_user_says_is_kept(source, target):
    """X-11: texts with their spaces, and pictures between them."""
    picture = ir.Image(source=ir.Inline(media_type="image/png", data="iVBORw0KGgo="))
    there = across(asking(user(" one \n", picture, "two", "three ")), source, target)
    # One protocol has one text to a message; it is joined, and nothing of it is trimmed.
    assert words(there).replace("\n", "") == " one twothree "
    assert [part.source for part in parts_of(there, ir.Image)] == [picture.source]


# --- usage ----------------------------------------------------------------------------------

USAGE = ir.Usage(input=86, cache_read=1920, output=300)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_usage_is_counted(source, target):
    """X-13, case-08: all input and all output, and the cache where it can be told."""
    response = seen(answer("hi", usage=USAGE), source, target)
    usage = response.usage
    assert usage is not None
    assert (usage.prompt, usage.output) == (2006, 300)
    if "ollama" not in (source, target):
        assert (usage.input, usage.cache_read) == (86, 1920)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_usage_is_never_invented(source, target):
    """X-13, case-08: unknown is unknown, and no detail is told that nobody gave."""
    wire, _ = shown(answer("hi", usage=ir.Usage(input=7, output=3)), source, target)
    usage = toolglot.decode_response(wire.body, source=target).usage
    assert (usage.prompt, usage.output) == (7, 3)
    assert not usage.cache_read
    assert not usage.cache_write


# --- errors ---------------------------------------------------------------------------------

KINDS = [
    ("invalid_request", 400),
    ("authentication", 401),
    ("permission", 403),
    ("not_found", 404),
    ("context_length", 400),
    ("rate_limit", 429),
    ("overloaded", None),
    ("server", 500),
    ("timeout", 504),
]
STATUSES = {("bedrock-converse", "authentication"): 403, ("bedrock-converse", "timeout"): 408}
"""Those that AWS has for the same."""


@pytest.mark.parametrize(("kind", "status"), KINDS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_errors_are_told_in_the_clients_words(source, target, kind, status):
    """X-16, case-44: type, status, message and how long to wait."""
    wait = "12" if kind in ("rate_limit", "overloaded") else None
    # Most know a prompt that does not fit by its words only.
    words = "prompt is too long: no such luck" if kind == "context_length" else "no such luck"
    error = ir.ApiError(kind=kind, message=words, retry_after=wait)
    wire, _ = shown(error, source, target)
    status = STATUSES.get((target, kind), status)
    assert status is None or wire.status == status
    assert wire.status >= 400
    assert "no such luck" in wire.data().decode()
    assert wire.headers.get("retry-after") == wait
    told = toolglot.decode_response(wire.body, source=target, status=wire.status)
    assert isinstance(told, ir.ApiError)
    assert told.kind == kind


@pytest.mark.parametrize("source", [n for n in NAMES if n != "anthropic"])
def test_an_anthropic_client_gets_an_anthropic_error(source):
    """X-16"""
    error = ir.ApiError(kind="rate_limit", message="slow down")
    wire, _ = shown(error, source, "anthropic")
    assert wire.body == {
        "type": "error",
        "error": {"type": "rate_limit_error", "message": "slow down"},
    }


@pytest.mark.parametrize("source", [n for n in NAMES if n != "openai-chat"])
def test_a_chat_client_gets_a_chat_error(source):
    """X-16"""
    error = ir.ApiError(kind="authentication", message="bad key")
    wire, _ = shown(error, source, "openai-chat")
    assert wire.body["error"]["message"] == "bad key"
    assert wire.body["error"]["code"] == "invalid_api_key"
    assert wire.status == 401


# --- the model ------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_answer_names_the_model_that_was_asked_for(source, target):
    """X-17"""
    request = asking(user("hi"))
    named = "some-model" if SURFACES[target].model_at else ""
    assert seen(answer("hi"), source, target, request=request).model == named
    assert seen(answer("hi"), source, target).model in ("that-model", "unknown", "")
    if "{model}" not in SURFACES[target].path:
        body = said(request, target)
        assert seen(answer("hi"), source, target, request=body).model == "some-model"


# --- everything else that a message can hold ------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target"),
    [p for p in PAIRS if "refusal" in SURFACES[p[0]].media.accepted["assistant"]],
)
def test_a_refusal_survives(source, target):
    """X-18: as one where there is such a part, else as words."""
    response = seen(answer(ir.Refusal(text="I won't."), stop="refusal"), source, target)
    told = parts_of(response, ir.Refusal) or parts_of(response, ir.Text)
    assert [part.text for part in told] == ["I won't."]


@pytest.mark.parametrize(("source", "target"), [p for p in PAIRS if SURFACES[p[0]].media.citations])
def test_citations_survive_or_are_named(source, target):
    """X-18"""
    citation = ir.Citation(url="https://a.example", title="A", start=0, end=2)
    text = ir.Text(text="hi there", citations=(citation,))
    wire, receipt = shown(answer(text), source, target)
    response = toolglot.decode_response(wire.body, source=target)
    [told] = parts_of(response, ir.Text)
    if "bedrock-converse" in (source, target) and SURFACES[target].media.citations:
        assert [(c.url, c.title) for c in told.citations] == [("https://a.example", "A")]
        assert (
            target == source or "citation-mapped" in codes(receipt) or target != "bedrock-converse"
        )
    elif SURFACES[target].media.citations:
        assert [(c.url, c.title, c.start, c.end) for c in told.citations] == [
            ("https://a.example", "A", 0, 2)
        ]
    else:
        assert "citation-dropped" in codes(receipt)
        assert told.text == "hi there"


def takes(name: str, medium: str) -> bool:
    """Whether users may say this in a protocol."""
    return medium in SURFACES[name].media.accepted["user"]


PICTURES = {
    "inline": ir.Inline(media_type="image/png", data="iVBORw0KGgo="),
    "remote": ir.Remote(url="https://pictures.example/heron.png"),
}


@pytest.mark.parametrize(
    ("source", "target", "form"),
    [(*p, form) for p in PAIRS for form in PICTURES if takes(p[0], f"image.{form}")],
)
def test_pictures_survive_or_are_named(source, target, form):
    """X-18"""
    wire, receipt = carried(asking(user(ir.Image(source=PICTURES[form]))), source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    images = parts_of(there, ir.Image)
    if f"image.{form}" in SURFACES[target].media.accepted["user"]:
        [image] = images
        if isinstance(image.source, ir.Remote):
            assert image.source.url == "https://pictures.example/heron.png"
        else:
            assert image.source == PICTURES[form]
    else:
        assert "part-dropped" in codes(receipt)
        assert "heron.png" in words(there)


@pytest.mark.parametrize(("source", "target"), [p for p in PAIRS if takes(p[0], "document.inline")])
def test_documents_survive_or_are_named(source, target):
    """X-18"""
    document = ir.Document(
        source=ir.Inline(media_type="application/pdf", data="JVBERi0="), name="tides.pdf"
    )
    wire, receipt = carried(asking(user("read", document)), source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    if "document.inline" in SURFACES[target].media.accepted["user"]:
        [found] = parts_of(there, ir.Document)
        kept = all("name" in SURFACES[each].media.fields for each in (source, target))
        dotless = "bedrock-converse" in (source, target)
        assert found.source == document.source
        names = ("tides.pdf", *(("tides-pdf",) if dotless else ()))
        assert found.name in (names if kept else (None,))
        if "name" in SURFACES[source].media.fields and found.name != "tides.pdf":
            assert codes(receipt) & {"value-mapped", "field-dropped"}
    else:
        assert "part-dropped" in codes(receipt)
        assert "tides.pdf" in words(there) or "name" not in SURFACES[source].media.fields


@pytest.mark.parametrize("target", [n for n in NAMES if n != "anthropic"])
def test_cache_marks_survive_or_are_named(target):
    """X-18, case-40"""
    marked = ir.Text(text="long", cache=ir.CacheMark(ttl="1h"))
    wire, receipt = carried(asking(user(marked)), "anthropic", target)
    if SURFACES[target].cache.marks:
        there = toolglot.decode_request(wire.body, source=target, path=wire.path)
        assert there.messages[0].parts[0].cache == ir.CacheMark(ttl="1h")
        return
    assert "cache_control" not in wire.data().decode()
    assert [(n.code, n.path) for n in receipt if n.code == "cache-dropped"] == [
        ("cache-dropped", "messages[0].content[0]")
    ]


@pytest.mark.parametrize(
    ("source", "target"), [p for p in PAIRS if "metadata" in SURFACES[p[0]].settings]
)
def test_metadata_survives_or_is_named(source, target):
    """X-18"""
    wire, receipt = carried(asking(user("hi"), metadata={"team": "north"}), source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    if "metadata" in SURFACES[target].settings:
        assert there.metadata == {"team": "north"}
    else:
        path = SURFACES[source].settings["metadata"]
        assert ("field-dropped", path) in {(n.code, n.path) for n in receipt}


THINKING: dict[str, dict[str, Any]] = {
    "anthropic": {
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "c2VjcmV0"},
            {"type": "text", "text": "Here."},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
    },
    "openai-chat": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": "Here.",
                    "reasoning_content": "Hm.",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "f", "arguments": '{ "a": 1 }'},
                        }
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ]
    },
    "openai-responses": {
        "status": "completed",
        "output": [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "Hm."}],
                "encrypted_content": "gAAA",
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "f",
                "arguments": '{ "a": 1 }',
                "status": "completed",
            },
        ],
    },
    "gemini-interactions": {
        "object": "interaction",
        "status": "requires_action",
        "steps": [
            {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "Hm."}]},
            {"type": "model_output", "content": [{"type": "text", "text": "So."}]},
            {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
            {"type": "thought", "signature": "c2VjcmV0"},
            {"type": "function_call", "id": "c2", "name": "f", "arguments": {"a": 2}},
        ],
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Hm.", "thought": True},
                        {
                            "functionCall": {"id": "c1", "name": "f", "args": {"a": 1}},
                            "thoughtSignature": "c2ln",
                        },
                        {"functionCall": {"id": "c2", "name": "f", "args": {"a": 2}}},
                    ],
                },
                "finishReason": "STOP",
            }
        ]
    },
    "ollama": {
        "model": "m",
        "message": {
            "role": "assistant",
            "content": "Here.",
            "thinking": "Hm.",
            "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
        },
        "done": True,
        "done_reason": "stop",
    },
    "bedrock-converse": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
                    {"reasoningContent": {"redactedContent": "AAEC"}},
                    {"toolUse": {"toolUseId": "tooluse_1", "name": "f", "input": {"a": 1}}},
                ],
            }
        },
        "stopReason": "tool_use",
    },
}
"""Answers with all the reasoning state that each protocol has."""


def resent(upstream: str, client: str, target: str) -> tuple[Any, toolglot.Receipt]:
    """An answer shown to a client, sent back by it with results, for a target."""
    wire, _ = translate_response(THINKING[upstream], source=upstream, target=client)
    turn = RESEND[client](json.loads(wire.data()))
    request = toolglot.decode_request(
        {"model": "m", "max_tokens": 9, SURFACES[client].messages.path: turn},
        source=client,
        path=path_to(client),
    )
    results = [
        result("done", id=each.id, name=each.name, id_made=each.id_made)
        for each in parts_of(request, ir.ToolCall)
    ]
    done = said(asking(user(*results)), client)[SURFACES[client].messages.path]
    body = {"model": "m", "max_tokens": 9, SURFACES[client].messages.path: [*turn, *done]}
    back, receipt = translate_request(body, source=client, target=target, path=path_to(client))
    return back.body[SURFACES[target].messages.path], receipt


@pytest.mark.parametrize(("upstream", "client"), PAIRS)
def test_reasoning_state_comes_back_to_its_issuer(upstream, client):
    """X-18, case-33, case-35, case-36, case-37: byte for byte, in its place."""
    messages, receipt = resent(upstream, client, upstream)
    turn = RESEND[upstream](THINKING[upstream])
    if upstream == "openai-responses":
        # The provider's item ids are not told to other clients, and need not be sent.
        turn = [
            {
                k: v
                for k, v in item.items()
                if item["type"] == "reasoning" or k not in ("id", "status")
            }
            for item in turn
        ]
    opening = SURFACES[upstream].messages.user_first
    assert messages[opening : opening + len(turn)] == turn
    assert "reasoning-dropped" not in codes(receipt)


@pytest.mark.parametrize(
    ("upstream", "client", "target"),
    [
        (upstream, client, target)
        for upstream in ("anthropic", "openai-responses", "gemini-interactions", "gemini")
        for client in NAMES
        for target in NAMES
        if len({upstream, client, target}) == 3
    ],
)
def test_reasoning_state_goes_to_nobody_else(upstream, client, target):
    """X-18, case-34"""
    messages, receipt = resent(upstream, client, target)
    text = json.dumps(messages)
    assert "tg1." not in text
    assert not any(state in text for state in ("c2ln", "c2VjcmV0", "gAAA"))
    assert "reasoning-dropped" in codes(receipt)


# --- the same again -------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_same_input_gives_the_same_bytes(source, target):
    """X-22, case-41: of requests, responses and errors, in any context."""
    request = asking(
        user("hi"),
        assistant(call("f", '{"z":1,"a":2}')),
        user(result("done")),
        tools=(tool("f"), tool("g")),
    )
    first, second = (carried(request, source, target) for _ in range(2))
    assert first[0].data() == second[0].data()
    assert first[1] == second[1]
    response = answer("hi", call("f"))
    assert shown(response, source, target)[0].data() == shown(response, source, target)[0].data()
    error = ir.ApiError(kind="server", message="oh")
    assert shown(error, source, target)[0].data() == shown(error, source, target)[0].data()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_longer_conversation_begins_with_the_same_bytes(source, target):
    """X-22: a provider's cache of the beginning is hit in the next turn."""
    begun = [
        user("hi"),
        assistant("I look.", call("f", '{"z":1}')),
        user(result("done")),
        assistant("Done."),
        user("And now?"),
    ]
    longer = [*begun, assistant("Now this."), user("Thanks.")]
    key = SURFACES[target].messages.path
    plain = {"prompt_cache": "off"}  # marks move on, and some are elements of their own
    short = carried(asking(*begun), source, target, **plain)[0].body[key]
    long = carried(asking(*longer), source, target, **plain)[0].body[key]
    assert json.dumps(long[: len(short)]) == json.dumps(short)


@pytest.mark.parametrize(("source", "target"), [p for p in PAIRS if p[0] in TRIO and p[1] in TRIO])
def test_a_request_comes_home(source, target):
    """D-01, D-04: through another protocol and back."""
    request = asking(
        user("hi"),
        assistant(call("f", '{"z":1}', id="toolu_9")),
        user(result("done", id="toolu_9")),
        tools=(tool("f", strict=False),),
    )
    back = home(request, source, target)
    assert [each.id for each in parts_of(back, ir.ToolCall)] == ["toolu_9"]
    assert [each.arguments for each in parts_of(back, ir.ToolCall)] == ['{"z":1}']
