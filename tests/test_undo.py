"""Undoing what adapting did, step by step."""

from toolglot.ir import Opaque, ToolCall
from toolglot.undo import Undo, UndoStep


def call(name: str, arguments: str = "{}", call_id: str = "c") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


def test_nothing_done_is_nothing_to_undo():
    undo = Undo()
    assert not undo
    assert undo.call(call("any")) == call("any")


def test_steps_are_undone_latest_first():
    undo = Undo()
    undo.tool("b", UndoStep(name="a", arguments=lambda text: text + "1"))
    undo.tool("c", UndoStep(name="b", arguments=lambda text: text + "2"))
    assert undo
    assert undo.call(call("c", "")) == call("a", "21")
    assert undo.call(call("b")) == call("b"), "the provider knows no tool of that name"


def test_kind_and_namespace_come_back():
    undo = Undo()
    undo.tool("mcp__pic", UndoStep(name="pic", namespace="mcp", kind="custom"))
    known = undo.call(call("mcp__pic"))
    assert (known.name, known.namespace, known.kind) == ("pic", "mcp", "custom")


def test_a_member_of_a_namespace_keeps_out_of_other_tools_steps():
    undo = Undo()
    undo.tool("pic", UndoStep(name="picture"))
    undo.tool("mcp__pic", UndoStep(name="pic", namespace="mcp"))
    assert undo.call(call("pic")).name == "picture"
    assert undo.call(call("mcp__pic")).name == "pic"


def test_ids_come_back():
    undo = Undo()
    undo.id("call_0_ab12", "call.0")
    assert undo.call(call("f", call_id="call_0_ab12")).id == "call.0"
    assert undo.call(call("f", call_id="other")).id == "other"


def test_a_call_may_be_a_part_of_its_own_to_the_client():
    undo = Undo()
    item = Opaque(protocol="p", type="shell_call", value={})
    undo.tool("shell", UndoStep(name="shell", part=lambda _call: item))
    assert undo.part(call("shell")) is item
    assert undo.part(call("other")) == call("other")


def test_calls_are_held_only_where_a_step_needs_them_whole():
    undo = Undo()
    undo.tool("b", UndoStep(name="a"))
    assert not undo.holds
    undo.tool("d", UndoStep(name="c", arguments=str.upper))
    assert undo.holds
