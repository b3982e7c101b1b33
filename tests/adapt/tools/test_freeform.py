"""Free-form tools told as functions, and back."""

import json
from typing import Any

import pytest

from toolglot import StreamTranslator, translate_request, translate_response
from toolglot.adapt.tools.freeform import FreeText, oddity, unwrap

PATCH = '*** Begin Patch\n*** Add File: a.txt\n+say "hi" \\ there\n*** End Patch'
GRAMMAR = "start: begin_patch hunk+ end_patch"
TOOL = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edit files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": GRAMMAR},
}


def asked(**more: Any) -> dict[str, Any]:
    """A request of a Responses client that declares the tool."""
    return {"model": "m", "input": "Fix it.", "tools": [TOOL], **more}


def anthropic_answer(**arguments: Any) -> dict[str, Any]:
    """An answer that calls the tool as a function."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "apply_patch", "input": arguments}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [call],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def chat_answer(arguments: str) -> dict[str, Any]:
    function = {"name": "patch", "arguments": arguments}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


# --- the way there -------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama"])
def test_the_function_has_one_string_and_tells_the_grammar(target: str) -> None:
    """S1-55, case-25, D-12: translated, not dropped."""
    wire, receipt = translate_request(asked(), source="openai-responses", target=target)
    tool = wire.body["tools"][0]
    tool = tool.get("function", tool)
    tool = tool["functionDeclarations"][0] if "functionDeclarations" in tool else tool
    schema = next(tool[key] for key in tool if "schema" in key.lower() or key == "parameters")
    assert tool["name"] == "apply_patch"
    assert list(schema["properties"]) == schema["required"] == ["input"]
    assert schema["properties"]["input"]["type"] == "string"
    assert tool["description"].startswith("Edit files.")
    assert f"lark grammar:\n\n{GRAMMAR}" in tool["description"]
    (note,) = (note for note in receipt if note.code == "tool-wrapped")
    assert (note.path, note.severity) == ("tools[0]", "info")


def test_the_schema_is_closed() -> None:
    """S1-55, case-25."""
    wire, _ = translate_request(asked(), source="openai-responses", target="anthropic")
    schema = wire.body["tools"][0]["input_schema"]
    assert schema["additionalProperties"] is False
    assert schema["type"] == "object"


def test_where_there_is_such_a_tool_it_stays_one() -> None:
    """case-25: Chat Completions has free-form tools of its own."""
    wire, receipt = translate_request(asked(), source="openai-responses", target="openai-chat")
    grammar = {"syntax": "lark", "definition": GRAMMAR}
    assert wire.body["tools"] == [
        {
            "type": "custom",
            "custom": {
                "name": "apply_patch",
                "description": "Edit files.",
                "format": {"type": "grammar", "grammar": grammar},
            },
        }
    ]
    assert "tool-wrapped" not in receipt.codes()


def test_a_history_is_told_in_the_same_way() -> None:
    """case-25, S1-55: calls and their results, though the tool is no longer declared."""
    items = [
        {"role": "user", "content": "Fix it."},
        {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": PATCH},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "Done!"},
    ]
    body = {"model": "m", "input": items}
    wire, receipt = translate_request(body, source="openai-responses", target="anthropic")
    call, result = (message["content"][0] for message in wire.body["messages"][1:])
    assert (call["type"], call["name"], call["input"]) == (
        "tool_use",
        "apply_patch",
        {"input": PATCH},
    )
    assert (result["tool_use_id"], result["content"]) == (call["id"], "Done!")
    assert not receipt.losses


def test_a_choice_of_the_tool_is_one_of_the_function() -> None:
    """S1-55: tool_choice follows."""
    body = asked(tool_choice={"type": "custom", "name": "apply_patch"})
    wire, receipt = translate_request(body, source="openai-responses", target="anthropic")
    assert wire.body["tool_choice"] == {"type": "tool", "name": "apply_patch"}
    assert "choice-mapped" not in receipt.codes()


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "custom", "name": "ApplyPatch", "description": "P"},
        {"type": "custom", "custom": {"name": "ApplyPatch", "description": "P"}},
    ],
    ids=["flat", "nested"],
)
def test_both_shapes_of_chat_are_read_and_one_is_written(tool: Any) -> None:
    """case-26: a flat custom tool of Chat Completions is as good as a nested one."""
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [tool]}
    wire, _ = translate_request(body, source="openai-chat", target="anthropic")
    assert wire.body["tools"][0]["name"] == "ApplyPatch"
    answer = anthropic_answer(input=PATCH)
    answer["content"][0]["name"] = "ApplyPatch"
    shown, _ = translate_response(answer, source="anthropic", target="openai-chat", request=body)
    (call,) = shown.body["choices"][0]["message"]["tool_calls"]
    assert call["type"] == "custom"
    assert call["custom"] == {"name": "ApplyPatch", "input": PATCH}
    assert "function" not in call
    other, _ = translate_request(body, source="openai-chat", target="openai-responses")
    assert other.body["tools"] == [{"type": "custom", "name": "ApplyPatch", "description": "P"}]


# --- the way back --------------------------------------------------------------------------------


def test_an_answer_is_a_freeform_call() -> None:
    """case-25, S1-55: never a function call."""
    shown, receipt = translate_response(
        anthropic_answer(input=PATCH),
        source="anthropic",
        target="openai-responses",
        request=asked(),
    )
    (item,) = shown.body["output"]
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "apply_patch", PATCH)
    assert item["call_id"] == "toolu_1"
    assert "arguments" not in item
    assert "arguments-unwrapped" not in receipt.codes()


def events(data: bytes) -> list[Any]:
    lines = [line[6:] for line in data.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines]


def anthropic_stream(*pieces: str) -> list[bytes]:
    start = anthropic_answer() | {"content": [], "stop_reason": None}
    block = {"type": "tool_use", "id": "toolu_1", "name": "apply_patch", "input": {}}
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    values: list[dict[str, Any]] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return [f"event: {v['type']}\ndata: {json.dumps(v)}\n\n".encode() for v in values]


def test_a_stream_is_one_of_a_freeform_call_and_stays_live() -> None:
    """case-25: every piece of the text leaves when it comes."""
    pieces = ['{"in', 'put": "*** Be', "gin\\", "n\\u00", "e9 \\ud83d", '\\ude00"', "}"]
    translator = StreamTranslator("anthropic", "openai-responses", request=asked())
    got = [events(translator.feed(data)) for data in anthropic_stream(*pieces)]
    deltas = [
        [e["delta"] for e in each if e["type"] == "response.custom_tool_call_input.delta"]
        for each in got
    ]
    assert deltas[2:9] == [[], ["*** Be"], ["gin"], ["\n"], ["é "], ["😀"], []]
    flat = [event for each in got for event in each]
    (done,) = (e for e in flat if e["type"] == "response.custom_tool_call_input.done")
    assert done["input"] == "*** Begin\né 😀"
    (item,) = (e["item"] for e in flat if e["type"] == "response.output_item.done")
    assert (item["type"], item["input"], item["status"]) == (
        "custom_tool_call",
        "*** Begin\né 😀",
        "completed",
    )
    assert not [e for e in flat if "function_call" in e["type"]]


def test_a_call_that_breaks_off_is_not_complete() -> None:
    """S1-55: what is certain was told, the rest is not made up."""
    data = anthropic_stream('{"input": "*** Be', "gin\\u0", "0e9")
    translator = StreamTranslator("anthropic", "openai-responses", request=asked())
    got = b"".join(translator.feed(each) for each in data[:4]) + translator.close()
    told = events(got)
    assert [e["delta"] for e in told if e["type"].endswith("input.delta")] == ["*** Be", "gin"]
    assert not [e for e in told if e["type"].endswith("input.done")]
    assert told[-1]["type"] == "response.failed"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (PATCH, PATCH),
        (json.dumps({"patch": PATCH}), PATCH),
        (json.dumps({"content": PATCH}), PATCH),
        (json.dumps({"command": ["apply_patch", PATCH]}), PATCH),
        (json.dumps({"command": [PATCH]}), PATCH),
        (json.dumps({"input": [PATCH]}), PATCH),
        (json.dumps(PATCH), PATCH),
        (json.dumps(json.dumps({"input": PATCH})), PATCH),
        (json.dumps({"patch": PATCH, "timeout": 5}), PATCH),
        (json.dumps({"path": "a.txt", "patch": PATCH}), PATCH),
        (json.dumps({"input": PATCH, "reason": "it is broken"}), PATCH),
        (json.dumps({"reason": "it is broken", "input": PATCH}), PATCH),
        ('{"input": "not closed', "not closed"),
        ('{"unknown": 1}', '{"unknown": 1}'),
        ('{"command": ["bash", "-lc", "ls"]}', '{"command": ["bash", "-lc", "ls"]}'),
        ("{not json", "{not json"),
        ("[1, 2]", "[1, 2]"),
    ],
)
def test_other_forms_are_unwrapped_and_noted(arguments: str, text: str) -> None:
    """case-25: the raw patch, another key, a command line, a bare string."""
    assert unwrap(arguments, "apply_patch") == text
    assert oddity(arguments, "apply_patch")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"input":"a"}', "a"),
        (' {\n "input" : "a" \n} ', "a"),
        ('{"input":""}', ""),
        ("{}", ""),
        ("", ""),
        ('{"input":"a\nb"}', "a\nb"),
        (r'{"input":"\d+\."}', r"\d+\."),
        (r'{"input":"\u12"}', r"\u12"),
        (r'{"input":"\ud83dx"}', "\ud83dx"),
    ],
)
def test_forms_that_are_not_odd(arguments: str, text: str) -> None:
    """S1-55: what was asked for, and what a model does wrong inside of a string."""
    assert unwrap(arguments, "apply_patch") == text
    assert oddity(arguments, "apply_patch") == ""


@pytest.mark.parametrize("arguments", [PATCH, json.dumps({"patch": PATCH}), json.dumps(PATCH)])
def test_a_note_says_so_whole_and_streamed(arguments: str) -> None:
    """case-25: the receipt of an answer."""
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "x"}],
        "tools": [{"type": "custom", "custom": {"name": "patch"}}],
    }
    translator = StreamTranslator("anthropic", "openai-responses", request=asked())
    stream = b"".join(translator.feed(data) for data in anthropic_stream(arguments))
    assert events(stream)[-1]["response"]["output"][0]["input"] == PATCH
    assert translator.receipt.codes()["arguments-unwrapped"] == 1
    answer = anthropic_answer(patch=PATCH)
    answer["content"][0]["name"] = "patch"
    shown, receipt = translate_response(
        answer, source="anthropic", target="openai-chat", request=body
    )
    call = shown.body["choices"][0]["message"]["tool_calls"][0]
    assert call["custom"] == {"name": "patch", "input": PATCH}
    assert receipt.codes()["arguments-unwrapped"] == 1


def test_time_is_linear_and_little_is_held() -> None:
    """S1-55: a long text leaves piece by piece."""
    reader = FreeText("apply_patch")
    assert reader.feed('{"input":"') == ""
    for _ in range(2000):
        assert reader.feed("x" * 100) == "x" * 100
    assert reader.feed('"}') + reader.close() == ""
    assert reader.odd == ""
