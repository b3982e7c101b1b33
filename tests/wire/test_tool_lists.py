"""Lists of tools, decoded and encoded one tool at a time."""

import pytest

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import CustomTool, FunctionTool
from toolglot.wire.fields import Fields, WireDocument
from toolglot.wire.tool_lists import drop_tool, list_decoder, list_encoder


def decode(fields):
    return FunctionTool(name=fields.text("name"), extras=fields.rest())


def encode(tool, ctx):
    return {"name": tool.name} if isinstance(tool, FunctionTool) else drop_tool(tool, ctx)


def decoded(*tools):
    fields = Fields({"tools": list(tools)}, WireDocument(Context(), "p"))
    return list_decoder(decode, "p", frozenset())(fields)


def test_a_list_is_decoded_tool_by_tool():
    both = (FunctionTool(name="a"), FunctionTool(name="b", extras={"p": {"x": 1}}))
    assert decoded({"name": "a"}, {"name": "b", "x": 1}) == both
    assert decoded() == ()
    with pytest.raises(DecodeError, match=r"tools\[1\]\.name"):
        decoded({"name": "a"}, {})


def test_a_tool_without_a_form_is_left_out_with_a_note():
    ctx = Context()
    tools = (CustomTool(name="c"), FunctionTool(name="f"))
    assert list_encoder(encode)(tools, ctx) == [{"name": "f"}]
    (note,) = ctx.receipt()
    assert (note.code, note.path, note.message) == (
        "tool-dropped",
        "tools",
        "there is no custom tool here",
    )
