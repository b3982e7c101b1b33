"""Tools and tool choice of OpenAI Responses."""

import msgspec
import pytest
from tests.protocols.openai_responses.helpers import HARNESS, TOOL, decode, encode, foreign, load

from toolglot import ir
from toolglot.context import Context


def test_tools():
    """S0-01, S0-08, S1-09, D-06: tools are flat, `strict` stands at the top."""
    assert encode(ir.Request(model="m", messages=(), tools=(TOOL,)), foreign())["tools"] == [
        {
            "type": "function",
            "name": "gate",
            "description": "A gate.",
            "parameters": {"type": "object"},
            "strict": False,
        }
    ]


def test_nested_functions():
    """S0-09, D-07: a nested copy is written on request and read if that is all there is."""
    body = encode(ir.Request(model="m", messages=(), tools=(TOOL,)), foreign(nested_function=True))
    nested = body["tools"][0]["function"]
    assert nested == {
        "name": "gate",
        "description": "A gate.",
        "parameters": {"type": "object"},
        "strict": False,
    }
    ctx = Context()
    tool = decode({"model": "m", "tools": [{"type": "function", "function": nested}]}, ctx).tools[0]
    assert tool == TOOL
    assert ctx.receipt().codes() == {"spelling-normalised": 1}


def test_tool_kinds():
    tools = decode(load("request", "unknown-everywhere")).tools
    assert [type(tool).__name__ for tool in tools] == [
        *("FunctionTool", "FunctionTool", "CustomTool", "NamespaceTool")
    ]
    assert isinstance(tools[2], ir.CustomTool)
    assert (tools[2].syntax, tools[2].definition) == ("regex", "[a-z]+")
    ctx = foreign()
    custom = ir.CustomTool(name="c", definition="start: /x/", syntax="lark")
    space = ir.NamespaceTool(name="n", tools=(custom, TOOL))
    odd = ir.ProviderTool(protocol="elsewhere", type="web", value={"type": "web"})
    wire = encode(ir.Request(model="m", messages=(), tools=(space, odd)), ctx)["tools"]
    assert [tool["type"] for tool in wire] == ["namespace"]
    assert wire[0]["tools"][0] == {
        "type": "custom",
        "name": "c",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: /x/"},
    }
    assert ctx.receipt().codes()["tool-dropped"] == 1


@pytest.mark.parametrize(
    ("file", "choice"),
    [
        ("choice-required", ir.ToolChoice(mode="required")),
        ("choice-function", ir.ToolChoice(mode="tool", names=("tides",))),
        ("choice-custom", ir.ToolChoice(mode="tool", names=("plot",), kind="custom")),
        ("choice-allowed", ir.ToolChoice(mode="required", names=("tides", "plot"))),
        ("choice-allowed-mixed", ir.ToolChoice(mode="auto", names=("tides",))),
        (
            "choice-hosted",
            ir.ToolChoice(mode="tool", names=("web_search_preview",), kind="provider"),
        ),
        ("choice-mcp", ir.ToolChoice(mode="tool", names=("mcp",), kind="provider")),
    ],
)
def test_tool_choice(file, choice):
    """S0-49 and its neighbours."""
    found = decode(load("request", f"{file}")).tool_choice
    assert found is not None
    assert msgspec.structs.replace(found, extras={}) == choice


def test_named_choice_is_flat():
    """S0-53, D-05."""
    choice = ir.ToolChoice(mode="tool", names=("gate",))
    body = encode(ir.Request(model="m", messages=(), tools=(TOOL,), tool_choice=choice))
    assert body["tool_choice"] == {"type": "function", "name": "gate"}
    ctx = Context()
    nested = {"model": "m", "tool_choice": {"type": "function", "function": {"name": "gate"}}}
    assert decode(nested, ctx).tool_choice == choice
    assert ctx.receipt().codes() == {"spelling-normalised": 1}
    nameless = ir.ToolChoice(mode="tool")
    assert (
        encode(ir.Request(model="m", messages=(), tool_choice=nameless))["tool_choice"]
        == "required"
    )


def test_parallel_tool_calls():
    """case-20: absent stays absent, false stays false."""
    assert "parallel_tool_calls" not in encode(ir.Request(model="m", messages=()), foreign())
    request = ir.Request(model="m", messages=(), parallel_tool_calls=False)
    assert encode(request, foreign())["parallel_tool_calls"] is False


@pytest.mark.parametrize("tools", [[], [{"type": "mcp", "server_label": "tides"}]])
def test_allowed_tools_without_names_stay_as_they_are(tools):
    choice = {"type": "allowed_tools", "mode": "auto", "tools": tools}
    body = {"model": "m", "input": "hi", "tool_choice": choice}
    assert HARNESS.encode_request(HARNESS.decode_request(body))["tool_choice"] == choice
