"""Whose calls in text are, and which came twice."""

from tests.wires import asking, assistant, call, result, user

from toolglot import Context, ir
from toolglot.adapt.calls.written_calls import Declared, Twins, known_ids


def declared(*tools, **more):
    ctx = Context(request=asking(user("hi"), tools=tools, **more))
    ctx.declared = tools
    return Declared(ctx)


def test_tools_are_told_flat_and_calls_are_of_their_kind():
    space = ir.NamespaceTool(name="files", tools=(ir.FunctionTool(name="read"),))
    hosted = ir.ProviderTool(protocol="anthropic", type="web_search", value={})
    found = declared(space, ir.CustomTool(name="patch"), hosted)
    assert [tool.name for tool in found.tools] == ["read", "patch"]
    assert found.call("read", "{}").namespace == "files"
    assert found.call("patch", '{"input": "x"}') == ir.ToolCall(
        id="", name="patch", arguments="x", type="custom"
    )


def test_nobody_is_called_if_the_client_wants_no_calls():
    assert declared(ir.FunctionTool(name="f"), tool_choice=ir.ToolChoice(mode="none")).tools == []
    assert Declared(Context()).tools is None


def test_each_call_has_one_twin_at_most():
    twins = Twins()
    one, spaced, odd = call("f", '{"a":1}'), call("f", '{ "a": 1 }'), call("f", "{")
    assert not twins.repeats(one, native=False)
    assert twins.may_repeat("f")
    assert not twins.may_repeat("g")
    assert twins.repeats(spaced, native=True)
    assert not twins.repeats(spaced, native=True)
    assert twins.may_repeat("f", text=True)
    assert not twins.repeats(odd, native=False)
    assert twins.repeats(odd, native=True)


def test_ids_of_the_conversation_are_known():
    ask = asking(assistant(call("f", id="a")), user(result("x", id="b")))
    assert known_ids(Context(request=ask)) == {"a", "b"}
    assert known_ids(Context()) == set()
