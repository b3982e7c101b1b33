"""Namespaces flattened, and back."""

import json
from typing import Any

import pytest
from tests.wires import pair

from toolglot import StreamTranslator, ir, translate_request, translate_response
from toolglot.adapt.tools.namespaces import flatten_namespaces


def member(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": {"type": "object"}, **more}


def group(name: str, *tools: Any, description: str = "") -> dict[str, Any]:
    return {"type": "namespace", "name": name, "description": description, "tools": list(tools)}


def asked(*tools: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": "Go on.", "tools": list(tools), **more}


def sent(body: Any, target: str = "openai-chat") -> Any:
    return translate_request(body, source="openai-responses", target=target)


def names(body: Any) -> list[str]:
    return [(tool.get("function") or tool.get("custom"))["name"] for tool in body["tools"]]


def answered(name: str, body: Any, kind: str = "function") -> Any:
    """The item that the client gets for a call of this name."""
    given = {"name": name, "arguments" if kind == "function" else "input": "{}"}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": kind, kind: given}],
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    answer = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    shown, _ = translate_response(
        answer, source="openai-chat", target="openai-responses", request=body
    )
    return shown.body["output"][0]


def test_members_are_declared_one_by_one() -> None:
    """X-20, case-27: `<namespace>__<name>`, in the place of the namespace."""
    body = asked(member("a"), group("mcp__fs", member("read"), member("write")), member("z"))
    wire, receipt = sent(body)
    assert names(wire.body) == ["a", "mcp__fs__read", "mcp__fs__write", "z"]
    (note,) = (note for note in receipt if note.code == "namespace-flattened")
    assert (note.path, note.severity) == ("tools[1]", "info")


def test_a_namespace_that_ends_so_needs_nothing_between() -> None:
    """X-20."""
    wire, _ = sent(asked(group("mcp__fs__", member("read"))))
    assert names(wire.body) == ["mcp__fs__read"]


def test_the_first_member_tells_what_the_namespace_is() -> None:
    """X-20: its description is told once."""
    tools = (member("read", description="Read a file."), member("write"))
    wire, _ = sent(asked(group("mcp__fs", *tools, description="Files of the project.")))
    first, second = (tool["function"] for tool in wire.body["tools"])
    assert first["description"] == "mcp__fs: Files of the project.\n\nRead a file."
    assert "description" not in second


def test_names_that_are_taken_get_a_number() -> None:
    """X-20: equal input gives equal names, and each leads back to its own tool."""
    body = asked(group("a", member("b__c")), group("a__b", member("c")), member("a__b__c"))
    wire, _ = sent(body)
    assert names(wire.body) == ["a__b__c_2", "a__b__c_3", "a__b__c"]
    found = [answered(name, body) for name in names(wire.body)]
    assert [(item.get("namespace"), item["name"]) for item in found] == [
        ("a", "b__c"),
        ("a__b", "c"),
        (None, "a__b__c"),
    ]


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini", "ollama"])
def test_a_history_says_the_same_names(target: str) -> None:
    """X-20: calls and results, also of a namespace that is no longer declared."""
    call = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
    items = [
        {"role": "user", "content": "x"},
        {**call, "namespace": "mcp__fs"},
        {"type": "function_call_output", "call_id": "c1", "output": "text"},
        {**call, "call_id": "c2", "namespace": "gone"},
        {"type": "function_call_output", "call_id": "c2", "output": "text"},
    ]
    wire, _ = sent(asked(group("mcp__fs", member("read")), input=items), target)
    text = json.dumps(wire.body)
    assert text.count('"mcp__fs__read"') >= 2
    assert '"gone__read"' in text
    assert '"namespace"' not in text


def test_answers_have_namespace_and_name_apart() -> None:
    """X-20, case-27: a client that gets `mcp__fs__read` does not know it."""
    body = asked(group("mcp__fs", member("read")), member("read"))
    item = answered("mcp__fs__read", body)
    assert (item["type"], item["namespace"], item["name"]) == ("function_call", "mcp__fs", "read")
    plain = answered("read", body)
    assert plain["name"] == "read"
    assert "namespace" not in plain


def test_a_freeform_member_is_flattened_and_wrapped() -> None:
    """case-25, X-20: both are undone."""
    body = asked(group("functions", {"type": "custom", "name": "exec"}))
    wire, _ = sent(body, "anthropic")
    (tool,) = wire.body["tools"]
    assert tool["name"] == "functions__exec"
    assert tool["input_schema"]["required"] == ["input"]
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "tool_use", "id": "t1", "name": "functions__exec", "input": {"input": "1 + 1"}}
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    shown, _ = translate_response(
        answer, source="anthropic", target="openai-responses", request=body
    )
    (item,) = shown.body["output"]
    told = (item["type"], item["namespace"], item["name"], item["input"])
    assert told == ("custom_tool_call", "functions", "exec", "1 + 1")
    native, _ = sent(body, "openai-chat")
    assert names(native.body) == ["functions__exec"]
    assert answered("functions__exec", body, "custom")["namespace"] == "functions"


def test_streams_too() -> None:
    """X-20: every event that shows the call shows namespace and name apart."""
    body = asked(group("mcp__fs", member("read")))
    function = {"name": "mcp__fs__read", "arguments": '{"path":'}
    start = {"index": 0, "id": "call_1", "type": "function", "function": function}
    more = {"index": 0, "function": {"arguments": '"a"}'}}
    deltas = [{"tool_calls": [start]}, {"tool_calls": [more]}, {}]
    translator = StreamTranslator("openai-chat", "openai-responses", request=body)
    got = b""
    for index, delta in enumerate(deltas):
        reason = "tool_calls" if index == 2 else None
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
        got += translator.feed(f"data: {json.dumps(chunk)}\n\n".encode())
    got += translator.feed(b"data: [DONE]\n\n") + translator.close()
    lines = [json.loads(s[6:]) for s in got.decode().splitlines() if s.startswith("data: ")]
    shown = [line["item"] for line in lines if "item" in line]
    shown += lines[-1]["response"]["output"]
    assert len(shown) == 3
    assert {(item["namespace"], item["name"]) for item in shown} == {("mcp__fs", "read")}
    assert shown[-1]["arguments"] == '{"path":"a"}'


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "function", "name": "read"}, ["mcp__fs__read"]),
        ({"type": "function", "name": "top"}, ["top"]),
    ],
)
def test_a_choice_says_the_new_name(choice: Any, expected: list[str]) -> None:
    """X-20: a choice of a member."""
    body = asked(member("top"), group("mcp__fs", member("read")), tool_choice=choice)
    wire, _ = sent(body)
    assert [wire.body["tool_choice"]["function"]["name"]] == expected


def test_where_there_are_namespaces_nothing_happens() -> None:
    """X-20: the same protocol takes what it declares."""
    body = asked(group("mcp__fs", member("read")))
    wire, receipt = sent(body, "openai-responses")
    assert wire.body == body
    assert not receipt


def flat(*messages: ir.Message, tools: tuple[ir.Tool, ...], **more: Any) -> ir.Request:
    request = ir.Request(model="m", messages=messages, tools=tools, **more)
    return flatten_namespaces(request, pair("openai-responses", "openai-chat"))


READ = ir.FunctionTool(name="read", parameters={})
FILES = ir.NamespaceTool(name="fs", tools=(READ, READ))


def test_a_member_that_is_there_twice_is_declared_once() -> None:
    assert [tool.name for tool in flat(tools=(FILES,)).tools] == ["fs__read"]


def test_a_choice_of_a_tool_outside_is_no_choice_of_a_member() -> None:
    choice = ir.ToolChoice(mode="tool", names=("read",))
    assert flat(tools=(READ, FILES), tool_choice=choice).tool_choice == choice
    assert flat(tools=(FILES,), tool_choice=choice).tool_choice.names == ("fs__read",)


def test_a_result_says_the_new_name_of_its_tool() -> None:
    call = ir.ToolCall(id="c", name="read", arguments="{}", namespace="fs")
    result = ir.ToolResult(id="c", name="read", parts=())
    said = flat(
        ir.Message(role="assistant", parts=(call,)),
        ir.Message(role="user", parts=(result,)),
        tools=(FILES,),
    )
    assert [message.parts[0].name for message in said.messages] == ["fs__read", "fs__read"]
