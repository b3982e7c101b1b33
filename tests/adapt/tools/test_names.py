"""Names of tools: declared once, legal at the target, the client's own in the answer."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires import (
    PAIRS,
    across,
    answer,
    asking,
    assistant,
    call,
    carried,
    codes,
    pair,
    parts_of,
    result,
    said,
    seen,
    tool,
    user,
)

from toolglot import StreamTranslator, get_protocol, ir, translate_request
from toolglot.adapt.tools.names import alias_names, collapse_duplicates
from toolglot.events import PartDelta, PartStarted, unfold
from toolglot.ir import CustomTool, NamespaceTool, ProviderTool, ToolChoice

DOTTED = "caldav-mcp.list events"
LONG = "mcp__" + "x" * 140

LEGAL = {
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "openai-chat": r"[a-zA-Z0-9_-]{1,64}",
    "openai-responses": r"[a-zA-Z0-9_-]{1,64}",
    "gemini-interactions": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    "ollama": r"(?s).*",
    "bedrock-converse": r"[a-zA-Z0-9_-]{1,64}",
}


def using(*names, **more):
    """A conversation with these tools, of which each was called once."""
    turns = [
        message
        for index, name in enumerate(names)
        for message in (
            assistant(call(name, id=f"call_{index}")),
            user(result("done", id=f"call_{index}", name=name)),
        )
    ]
    return asking(user("go"), *turns, tools=tuple(map(tool, names)), max_tokens=99, **more)


def asked(request, name):
    """A body that says the model too, which one protocol keeps in the path."""
    return {"model": request.model, **said(request, name)}


def declared(request):
    return [each.name for each in request.tools]


def called(request):
    return [part.name for part in parts_of(request, ir.ToolCall)]


def notes(ctx):
    return [(note.code, note.path, note.severity) for note in ctx.receipt()]


# --- aliases -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_names_that_the_target_takes(source, target):
    """X-20: an alias wherever a name may not stand, the same in definition, history and choice."""
    names = ["look", DOTTED, LONG, "1st", "größe", "a.b", "a:b"]
    choice = ToolChoice(mode="tool", names=(DOTTED,)) if source != "ollama" else None
    request = across(using(*names, tool_choice=choice), source, target)
    assert declared(request) == called(request)
    assert len(set(declared(request))) == len(names)
    for before, after in zip(names, declared(request), strict=True):
        legal = re.compile(LEGAL[target]).fullmatch
        assert legal(after)
        assert (before == after) is bool(legal(before)), "one that conforms is the same"
    if request.tool_choice is not None:
        assert request.tool_choice.names == (declared(request)[1],)
    for part in parts_of(request, ir.ToolResult):
        assert part.name in (None, *declared(request))


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_answer_has_the_names_of_the_client(source, target):
    """X-20: in a whole answer."""
    request = using(DOTTED, LONG, "look")
    theirs = declared(across(request, source, target))
    echo = answer(*(call(name, id=f"new_{i}") for i, name in enumerate(theirs)))
    assert called(seen(echo, target, source, request=asked(request, source))) == [
        DOTTED,
        LONG,
        "look",
    ]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_stream_has_the_names_of_the_client(source, target):
    """X-20: in a stream."""
    request = using(DOTTED)
    (theirs,) = declared(across(request, source, target))
    encoder = get_protocol(target).StreamEncoder(pair(source, target))
    events = unfold(answer(call(theirs, '{"a":1}', id="new_1")))
    sent = b"".join(map(encoder.encode, events)) + encoder.close()
    translator = StreamTranslator(target, source, request=asked(request, source))
    decoder = get_protocol(source).StreamDecoder(pair(target, source))
    got = [*decoder.feed(translator.feed(sent) + translator.close()), *decoder.close()]
    names = [
        event.part.name
        for event in got
        if isinstance(event, PartStarted) and isinstance(event.part, ir.ToolCall)
    ]
    assert names == [DOTTED]


def test_a_name_does_not_hold_up_a_stream():
    """X-20: arguments leave piece by piece, since only the name is another."""
    body = said(using(DOTTED), "openai-chat")
    (theirs,) = declared(across(using(DOTTED), "openai-chat", "anthropic"))
    encoder = get_protocol("anthropic").StreamEncoder(pair("openai-chat", "anthropic"))
    translator = StreamTranslator("anthropic", "openai-chat", request=body)
    start, *_ = events = [*unfold(answer(call(theirs, "{}", id="new_1")))]
    part = next(event for event in events if isinstance(event, PartStarted))
    translator.feed(encoder.encode(start))
    assert DOTTED in translator.feed(encoder.encode(part)).decode()
    for piece in ('{"a"', ":1", "}"):
        assert translator.feed(encoder.encode(PartDelta(0, piece))), piece


def test_each_place_is_named():
    """X-20: nothing is renamed without a note, and nothing of it is a loss."""
    choice = ToolChoice(mode="tool", names=(DOTTED,))
    _, receipt = carried(using(DOTTED, tool_choice=choice), "openai-chat", "anthropic")
    found = [note for note in receipt if note.code == "name-aliased"]
    assert [note.path for note in found] == ["tools", "messages[1]", "tool_choice"]
    assert not receipt.losses


def test_allowed_names():
    """X-20: a choice among several."""
    choice = ToolChoice(mode="required", names=("look", DOTTED))
    request = across(using("look", DOTTED, tool_choice=choice), "openai-responses", "gemini")
    assert request.tool_choice.names == tuple(declared(request))
    assert request.tool_choice.names[0] == "look"


def test_a_tool_that_is_only_in_the_history():
    """X-20: it may have gone since, and the model may still call it."""
    request = asking(
        user("go"), assistant(call("a.b")), user(result("done")), tools=(tool("look"),)
    )
    ctx = pair("gemini", "anthropic")
    (theirs,) = called(alias_names(request, ctx))
    assert theirs.startswith("a_b_")
    assert ctx.undo.call(call(theirs)).name == "a.b"


def test_freeform_tools_have_names_too():
    request = asking(user("go"), tools=(CustomTool(name="apply.patch"),))
    (custom,) = alias_names(request, pair("openai-responses", "openai-chat")).tools
    assert custom.name.startswith("apply_patch_")


def test_what_needs_no_alias_is_the_same_object():
    request = using("look", "see")
    assert alias_names(request, pair("openai-chat", "anthropic")) is request
    free = using(DOTTED)
    assert alias_names(free, pair("openai-chat", "ollama")) is free
    other = asking(user("go"), tools=(ProviderTool(protocol="x", type="a.b", value={}),))
    assert alias_names(other, pair("openai-chat", "anthropic")) is other


# --- duplicates ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_tool_is_declared_once(source, target):
    """case-28: the first counts."""
    first, second = tool("look", description="one"), tool("look", description="two")
    request = asking(user("hi"), tools=(first, tool("see"), second), max_tokens=9)
    wire, receipt = carried(request, source, target)
    there = across(request, source, target)
    assert declared(there) == ["look", "see"]
    assert there.tools[0].description == "one"
    assert "tool-duplicate" in codes(receipt)
    assert wire.body


def test_how_grave_a_duplicate_is():
    """case-28: the same again is nothing, another one is a loss."""
    tools = (tool("look"), tool("look"), tool("look", description="other"))
    ctx = pair("openai-chat", "anthropic")
    assert collapse_duplicates(asking(user("hi"), tools=tools), ctx).tools == (tool("look"),)
    assert notes(ctx) == [
        ("tool-duplicate", "tools[1]", "info"),
        ("tool-duplicate", "tools[2]", "lossy"),
    ]


def test_a_function_and_a_freeform_tool_share_their_names():
    ctx = pair("openai-responses", "openai-chat")
    tools = (CustomTool(name="run"), tool("run"))
    assert collapse_duplicates(asking(user("hi"), tools=tools), ctx).tools == tools[:1]
    assert notes(ctx) == [("tool-duplicate", "tools[1]", "lossy")]


def test_groups_of_one_name_are_joined():
    """case-28: first wins among their members too."""
    one = NamespaceTool(name="fs", tools=(tool("read"), tool("write", description="a")))
    two = NamespaceTool(name="fs", tools=(tool("write", description="b"), tool("list")))
    ctx = pair("openai-responses", "openai-chat")
    request = asking(user("hi"), tools=(one, tool("read"), two))
    fs, read = collapse_duplicates(request, ctx).tools
    assert [each.name for each in fs.tools] == ["read", "write", "list"]
    assert fs.tools[1].description == "a"
    assert read == tool("read"), "a name in a group is another name"
    assert [note[::2] for note in notes(ctx)] == [
        ("tool-duplicate", "info"),
        ("tool-duplicate", "lossy"),
    ]


def test_provider_tools_may_resemble_each_other():
    ctx = pair("openai-responses", "openai-chat")
    one = ProviderTool(protocol="openai-responses", type="mcp", value={"server_label": "a"})
    two = ProviderTool(protocol="openai-responses", type="mcp", value={"server_label": "b"})
    request = asking(user("hi"), tools=(one, two, one))
    assert collapse_duplicates(request, ctx).tools == (one, two)
    assert notes(ctx) == [("tool-duplicate", "tools[2]", "info")]


def test_what_is_declared_once_is_the_same_object():
    ctx = pair("openai-responses", "openai-chat")
    for tools in ((), (tool("a"), tool("b")), (NamespaceTool(name="n", tools=(tool("a"),)),)):
        request = asking(user("hi"), tools=tools)
        assert collapse_duplicates(request, ctx) is request


FUNCTION = {"type": "function", "name": "look", "parameters": {"type": "object"}}


@pytest.mark.parametrize(
    ("again", "severity"), [(FUNCTION, "info"), ({**FUNCTION, "description": "x"}, "lossy")]
)
@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini"])
def test_a_tool_of_the_input_that_is_declared_before(target, again, severity):
    """case-28: once in `tools`, once in `additional_tools`; calls of it are the client's own."""
    group = {"type": "namespace", "name": "fs", "tools": [{**FUNCTION, "name": "read"}]}
    more = {"type": "namespace", "name": "fs", "tools": [{**FUNCTION, "name": "list"}]}
    body = {
        "model": "m",
        "tools": [FUNCTION, group],
        "input": [
            {"type": "additional_tools", "role": "developer", "tools": [again, more]},
            {"role": "user", "content": "hi"},
        ],
    }
    wire, receipt = translate_request(body, source="openai-responses", target=target)
    assert str(wire.body["tools"]).count("'look'") == 1
    (note,) = [each for each in receipt if each.code == "tool-duplicate"]
    assert (note.path, note.severity) == ("input[0].tools[0]", severity)
    back = seen(answer(call("look")), target, "openai-responses", request=body)
    assert called(back) == ["look"]


@given(names=st.lists(st.sampled_from("abcd"), max_size=8))
def test_every_name_is_there_once(names):
    """case-28"""
    ctx = pair("openai-chat", "anthropic")
    request = asking(user("hi"), tools=tuple(map(tool, names)))
    assert declared(collapse_duplicates(request, ctx)) == list(dict.fromkeys(names))
    assert len(ctx.receipt()) == len(names) - len(set(names))
