"""Turns with reasoning and tool calls, signed as providers do, and as clients strip them."""

from msgspec.structs import replace

from toolglot import ir
from toolglot.translate import decode_response, encode_response

USER = ir.Message(role="user", parts=(ir.Text(text="How deep is the basin?"),))
CALLS = (
    ir.ToolCall(id="call_1", name="sound", arguments='{"at": "quay"}', signature="s1"),
    ir.ToolCall(id="call_2", name="sound", arguments='{"at":"gate"}'),
)
THOUGHT = ir.Reasoning(text="Two places.", signature="c2lnbmVk")
TOOL = ir.FunctionTool(name="sound", parameters={"type": "object", "properties": {}})


def asked(*messages):
    return ir.Request(model="m", max_tokens=99, messages=(USER, *messages), tools=(TOOL,))


def turn(*parts):
    return ir.Message(role="assistant", parts=parts)


def native_answer(theirs):
    """Reasoning and two calls, with the state that a provider gives them."""
    signed = theirs == "gemini"
    calls = (call if signed else replace(call, signature=None) for call in CALLS)
    summed = ir.Reasoning(id="rs_1", summary=("Two places.",), signature="c2lnbmVk")
    parts = (summed if theirs == "openai-responses" else THOUGHT, *calls)
    choice = ir.Choice(parts=parts, stop=ir.StopReason(kind="tool_calls"))
    answer = ir.Response(id="r", model="m", choices=(choice,), usage=ir.Usage(input=1, output=1))
    return decode_response(encode_response(answer, target=theirs).body, source=theirs)


def stripped(answer):
    """What a client gives back that keeps calls and nothing else."""
    calls = [part for part in answer.choices[0].parts if isinstance(part, ir.ToolCall)]
    bare = [ir.ToolCall(id=each.id, name=each.name, arguments=each.arguments) for each in calls]
    found = (ir.Text(text="3 m"),)
    results = (ir.ToolResult(id=call.id, name=call.name, parts=found) for call in bare)
    return turn(*bare), ir.Message(role="user", parts=tuple(results))
