"""Tools and tool choice of OpenAI Chat Completions."""

import pytest
from msgspec.structs import replace
from tests.protocols.openai_chat.helpers import (
    ask,
    call_message,
    codes,
    decode,
    encode,
    fixture,
    foreign,
    tool,
)
from tests.protocols.oracles import CHAT_CHOICE
from tests.protocols.oracles import chat_request as check_sdk

from toolglot.context import Context
from toolglot.ir import (
    CustomTool,
    FunctionTool,
    NamespaceTool,
    ProviderTool,
    Request,
    ToolChoice,
)


def test_tools_and_choice_use_the_present_names():
    """S4-03: `tools` and `tool_choice`, never `functions`."""
    tool = FunctionTool(name="f", parameters={"type": "object"}, strict=False)
    choice = ToolChoice(mode="tool", names=("f",))
    body = encode(Request(model="m", messages=(), tools=(tool,), tool_choice=choice), foreign())
    function = {"name": "f", "parameters": {"type": "object"}, "strict": False}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert "functions" not in body


def test_a_missing_description_stays_missing():
    """S0-11: no description is no key."""
    body = encode(Request(model="m", messages=(), tools=(FunctionTool(name="f"),)), foreign())
    assert body["tools"][0]["function"] == {"name": "f"}


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        (ToolChoice(mode="auto"), "auto"),
        (ToolChoice(mode="required"), "required"),
        (ToolChoice(mode="none"), "none"),
        (
            ToolChoice(mode="tool", names=("X",)),
            {"type": "function", "function": {"name": "X"}},
        ),
        (
            ToolChoice(mode="tool", names=("X",), kind="custom"),
            {"type": "custom", "custom": {"name": "X"}},
        ),
    ],
)
def test_tool_choice(choice, wire):
    """S0-49, S0-50, S0-51, S0-52, S2-09: one wire form for each choice, and back."""
    assert encode(Request(model="m", messages=(), tool_choice=choice))["tool_choice"] == wire
    assert decode(ask(tool_choice=wire)).tool_choice == choice
    CHAT_CHOICE(wire)


def test_allowed_tools():
    choice = decode(fixture("request", "allowed-tools")).tool_choice
    assert (choice.mode, choice.names) == ("required", ("ferry_status", "shell"))
    wire = encode(
        Request(model="m", messages=(), tool_choice=ToolChoice(mode="auto", names=("a", "b")))
    )["tool_choice"]
    assert wire["allowed_tools"]["mode"] == "auto"
    assert [tool["function"]["name"] for tool in wire["allowed_tools"]["tools"]] == ["a", "b"]
    renamed = replace(choice, names=("other",))
    wire = encode(Request(model="m", messages=(), tool_choice=renamed))["tool_choice"]
    assert [tool["function"]["name"] for tool in wire["allowed_tools"]["tools"]] == ["other"]


@pytest.mark.parametrize(
    ("wire", "nested"),
    [
        ({"type": "function", "name": "X"}, {"type": "function", "function": {"name": "X"}}),
        ({"type": "custom", "name": "X"}, {"type": "custom", "custom": {"name": "X"}}),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "X"}]},
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "name": "X"}]},
            },
        ),
        ({"type": "auto"}, "auto"),
    ],
)
def test_other_shapes_of_a_choice_are_read(wire, nested):
    """S0-54, D-07: flat and one-word objects are accepted and written in the documented shape."""
    ctx = Context()
    assert encode(decode(ask(tool_choice=wire), ctx))["tool_choice"] == nested
    assert codes(ctx) == ["spelling-normalised"]


def test_flat_tools_are_read():
    """case-26, D-07: flat custom and function tools are accepted, and written nested."""
    ctx = Context()
    grammar = {"type": "grammar", "syntax": "regex", "definition": "a+"}
    flat = [
        {"type": "custom", "name": "ApplyPatch", "format": grammar},
        {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True},
        {"function": {"name": "untyped"}},
    ]
    request = decode(ask(tools=flat), ctx)
    assert request.tools[0] == CustomTool(name="ApplyPatch", syntax="regex", definition="a+")
    assert request.tools[1] == FunctionTool(name="f", parameters={"type": "object"}, strict=True)
    body = encode(request)
    assert body["tools"].pop() == flat[2]
    check_sdk(body)
    assert body["tools"][0]["custom"]["format"]["grammar"]["syntax"] == "regex"
    assert ctx.receipt().codes() == {"spelling-normalised": 3}


def test_custom_calls_are_nested_on_the_way_out():
    """case-26: a flat custom call is read, the answer is nested."""
    flat = {"id": "c1", "type": "custom", "name": "ApplyPatch", "input": "+x"}
    request = decode(ask(call_message(flat), tool("c1", "ok")))
    made = request.messages[0].parts[0]
    assert (made.kind, made.name, made.arguments) == ("custom", "ApplyPatch", "+x")
    assert request.messages[1].parts[0].kind == "custom"
    assert encode(request)["messages"][0]["tool_calls"] == [
        {"id": "c1", "type": "custom", "custom": {"name": "ApplyPatch", "input": "+x"}}
    ]


def test_tools_without_a_form_here_are_named():
    ctx = foreign()
    tools = (
        NamespaceTool(name="n"),
        ProviderTool(protocol="elsewhere", type="search", value={}),
        CustomTool(name="c", definition="x"),
    )
    body = encode(Request(model="m", messages=(), tools=tools), ctx)
    assert [tool["type"] for tool in body["tools"]] == ["custom"]
    assert ctx.receipt().codes() == {"tool-dropped": 2}
