"""Items: messages, calls, results and reasoning of OpenAI Responses."""

import pytest
from tests.protocols.harness import ELSEWHERE
from tests.protocols.openai_responses.helpers import (
    HISTORY,
    assistant,
    decode,
    encode,
    foreign,
    items,
    load,
    user,
)

from toolglot import ir
from toolglot.context import Context
from toolglot.protocols import openai_responses as codec

# --- law 1: identity ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": None},
        {"role": "user"},
        {"type": None, "role": "user", "content": "typed null"},
        {"type": "message", "role": "user", "content": "", "id": None},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "", "id": None},
        {"type": "function_call", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": None, "output": "x", "name": "f"},
        {"type": "function_call_output", "call_id": "c", "output": None},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": ""}]},
        {"type": "reasoning", "summary": [], "content": [{"type": "text", "text": "other"}]},
    ],
)
def test_request_identity_of_odd_items(item):
    assert encode(decode({"model": "m", "input": [item]})) == {"model": "m", "input": [item]}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_image", "image_url": {"url": "https://a.example"}},
        {"type": "input_image", "image_url": "data:;base64,AAAA"},
        {"type": "input_file", "file_data": "data:;base64,AAAA"},
        {"type": "input_file", "filename": "empty.txt"},
        {"type": "input_audio", "input_audio": {"data": 7, "format": "wav"}},
        {"type": "input_audio", "input_audio": None},
    ],
)
def test_request_identity_of_odd_parts(part):
    body = {"model": "m", "input": [{"role": "user", "content": [part]}]}
    assert encode(decode(body)) == body


# --- requests: rows of the tables -----------------------------------------------------------------


def test_one_item_is_one_message():
    body = load("request", "tool-history")
    request = decode(body)
    assert len(request.messages) == len(body["input"])
    assert [message.role for message in request.messages][:8] == [
        *("user", "assistant", "assistant", "assistant", "assistant", "assistant", "user", "user")
    ]


def test_calls_are_read():
    """S0-02, S0-32, S2-13: the call id is `call_id`, the arguments keep their text."""
    call = decode(load("request", "tool-history")).messages[4].parts[0]
    assert call == ir.ToolCall(
        id="call_h",
        name="tides",
        namespace="sea",
        arguments='{"harbour":"Husum","seq":12345678901234567890}',
        extras={"openai-responses": {"id": "fc_72"}},
    )
    wire = items(assistant(ir.ToolCall(id="toolu_9", name="f", arguments='{"b": 1.0}')))
    assert wire == [
        {"type": "function_call", "call_id": "toolu_9", "name": "f", "arguments": '{"b": 1.0}'}
    ]


def test_item_ids_are_not_invented_for_history():
    """D-02, S0-62: foreign history has no item ids; a missing call id is the item's."""
    ctx = foreign()
    assert all("id" not in item for item in items(*HISTORY[2:], ctx=ctx))
    ctx = Context()
    call = {"type": "function_call", "id": "fc_8", "name": "f", "arguments": "{}"}
    part = decode({"model": "m", "input": [call]}, ctx).messages[0].parts[0]
    assert isinstance(part, ir.ToolCall)
    assert part.id == "fc_8"
    assert ctx.receipt().codes() == {"spelling-normalised": 1}


def test_custom_calls_are_read():
    """case-25."""
    messages = decode(load("request", "tool-history")).messages
    call, result = messages[9].parts[0], messages[10].parts[0]
    assert isinstance(call, ir.ToolCall)
    assert (call.kind, call.arguments) == ("custom", 'line 04:12 10:31\nlabel "Büsum"')
    assert isinstance(result, ir.ToolResult)
    assert result.kind == "custom"
    assert [type(part) for part in result.parts] == [ir.Text, ir.Image, ir.Document]
    foreign_call = ir.ToolCall(id="c", name="plot", arguments="x {", type="custom", namespace="n")
    assert items(assistant(foreign_call), user(ir.ToolResult(id="c", kind="custom"))) == [
        {
            "type": "custom_tool_call",
            "call_id": "c",
            "name": "plot",
            "namespace": "n",
            "input": "x {",
        },
        {"type": "custom_tool_call_output", "call_id": "c", "output": ""},
    ]


def test_results():
    """S0-03, S0-36, S0-37, S2-07: results are items, an empty one has an empty output."""
    message = user(
        ir.ToolResult(id="t1", parts=(ir.Text(text="72°F, sunny"),)),
        ir.ToolResult(id="t2", parts=()),
    )
    assert items(message) == [
        {"type": "function_call_output", "call_id": "t1", "output": "72°F, sunny"},
        {"type": "function_call_output", "call_id": "t2", "output": ""},
    ]


def test_failed_results():
    """case-31: `status` is the flag, both ways."""
    results = [m.parts[0] for m in decode(load("request", "tool-history")).messages[6:9]]
    assert [part.is_error for part in results] == [None, True, False]
    failed = ir.ToolResult(id="t", parts=(ir.Text(text="boom"),), is_error=True)
    assert items(user(failed))[0]["status"] == "incomplete"


def test_media_in_results():
    """case-29, case-30: pictures and documents stand in the output, documents with a name."""
    image = ir.Image(source=ir.Inline(media_type="image/png", data="AA=="))
    document = ir.Document(source=ir.Inline(media_type="application/pdf", data="JVBE"))
    wire = items(user(ir.ToolResult(id="t", parts=(image, document))))
    assert wire[0]["output"] == [
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
        {
            "type": "input_file",
            "file_data": "data:application/pdf;base64,JVBE",
            "filename": "document.pdf",
        },
    ]


def test_results_come_before_other_content():
    """X-09."""
    assert [item.get("role", item["type"]) for item in items(HISTORY[2])] == [
        "function_call_output",
        "function_call_output",
        "user",
    ]


def test_a_message_is_split_into_items_in_order():
    assert [item["type"] for item in items(HISTORY[1])] == [
        "reasoning",
        "message",
        "function_call",
        "function_call",
    ]
    assert items(HISTORY[1])[1] == {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "One moment.", "annotations": []}],
    }


def test_a_message_with_nothing_to_say_is_no_item():
    ctx = foreign()
    opaque = ir.Opaque(protocol="elsewhere", type="odd", value={})
    assert items(user(), user(opaque), assistant(), ctx=ctx) == []
    assert ctx.receipt().codes() == {"part-dropped": 1, "default-added": 1}


@pytest.mark.parametrize(
    ("part", "wire"),
    [
        (
            ir.Document(source=ir.PlainText(text="words")),
            {"type": "input_text", "text": "words"},
        ),
        (
            ir.Document(source=ir.Remote(url="https://a.example/a.pdf"), name="a.pdf"),
            {"type": "input_file", "file_url": "https://a.example/a.pdf", "filename": "a.pdf"},
        ),
        (
            ir.Document(source=ir.FileRef(id="file-1", issuer="openai-responses")),
            {"type": "input_file", "file_id": "file-1"},
        ),
        (ir.Document(source=ir.FileRef(id="file-1", issuer="elsewhere")), None),
        (
            ir.Image(source=ir.FileRef(id="file-2", issuer="openai-responses"), detail="low"),
            {"type": "input_image", "file_id": "file-2", "detail": "low"},
        ),
        (ir.Image(source=ir.FileRef(id="file-2", issuer="elsewhere")), None),
        (
            ir.Image(source=ir.Inline(media_type="", data="AA==")),
            {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
        ),
        (
            ir.Audio(source=ir.Inline(media_type="audio/mpeg", data="AA==")),
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        ),
        (ir.Audio(source=ir.Remote(url="https://a.example/a.wav")), None),
        (ir.Refusal(text="No."), {"type": "refusal", "refusal": "No."}),
    ],
)
def test_media_of_other_protocols(part, wire):
    found = items(user(part))
    assert found == ([{"type": "message", "role": "user", "content": [wire]}] if wire else [])


def test_media_are_read():
    parts = decode(load("request", "media")).messages[0].parts
    sources = [type(getattr(part, "source", part)).__name__ for part in parts]
    assert sources == [
        *("Text", "Inline", "Remote", "FileRef", "Remote", "Inline", "Inline", "Remote", "FileRef"),
        *("Inline", "Opaque", "Opaque"),
    ]


def test_unknown_items_are_kept_whole():
    """case-27: an item or tool that is unknown here does not end the request."""
    body = load("request", "hosted-items")
    request = decode(body)
    opaque = [message for message in request.messages if isinstance(message.parts[0], ir.Opaque)]
    assert len(opaque) == len(body["input"]) - 2
    roles = {message.parts[0].type: message.role for message in opaque}
    assert {kind for kind, role in roles.items() if role == "user"} == {
        "computer_call_output",
        "local_shell_call_output",
        "apply_patch_call_output",
        "tool_search_output",
        "mcp_approval_response",
    }
    assert decode(load("request", "agent-turn")).messages[0].role == "developer"


def test_additional_tools_reach_other_protocols():
    """case-28: tools declared in the input reach others once, first come first served."""
    body = load("request", "agent-turn")
    body["tools"].append({"type": "namespace", "name": "functions", "tools": []})
    ctx = Context(source=codec.SURFACE, target=ELSEWHERE)
    request = decode(body, ctx)
    assert [getattr(tool, "name", "") for tool in request.tools].count("functions") == 1
    del body["tools"]
    request = decode(body, Context(source=codec.SURFACE, target=ELSEWHERE))
    assert [tool.name for tool in request.tools] == ["functions"]
    assert request.messages[0].parts == ()
    assert decode(body).tools == ()


def test_reasoning_forms():
    """case-36: id, summary and state come and go unchanged."""
    parts = [m.parts[0] for m in decode(load("request", "reasoning-forms")).messages[1:6]]
    assert [(p.id, p.text, p.summary, p.signature) for p in parts] == [
        ("rs_a", "Assume p/q in lowest terms.", (), None),
        ("rs_b", "Then p is even.\n\nSo is q.", (), None),
        (None, "", ("Contradiction.",), "opaque-without-id"),
        ("rs_c", "", ("odd piece",), None),
        ("rs_d", "", (), "gAAA-only"),
    ]
    sealed = ir.Reasoning(text="thought", signature="tg1.x")
    redacted = ir.Reasoning(redacted=True, signature="tg1.y")
    assert items(assistant(sealed, redacted)) == [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "thought"}],
            "encrypted_content": "tg1.x",
        },
        {"type": "reasoning", "summary": [], "encrypted_content": "tg1.y"},
    ]


@pytest.mark.parametrize(
    "part",
    [
        {
            "tools": [
                {"type": "custom", "name": "c", "format": {"type": "grammar", "definition": "x"}}
            ]
        },
        {"tools": [{"type": "namespace", "name": "n"}]},
        {"text": {"format": {"type": "json_schema", "schema": {}}}},
        {"service_tier": "fast", "reasoning": {"effort": None}, "include": "x"},
    ],
)
def test_what_a_client_leaves_out_stays_out(part):
    body = {"model": "m", "input": "x", **part}
    assert encode(decode(body)) == body


def test_arguments_given_as_an_object_are_read():
    ctx = Context()
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": {"a": 1}}
    part = decode({"model": "m", "input": [call]}, ctx).messages[0].parts[0]
    assert part.arguments == '{"a":1}'
    assert ctx.receipt().codes() == {"arguments-normalised": 1}


def test_a_result_of_which_nothing_is_left_is_empty():
    odd = ir.Opaque(protocol="elsewhere", type="x", value={})
    assert items(user(ir.ToolResult(id="t", parts=(odd,))))[0]["output"] == ""
