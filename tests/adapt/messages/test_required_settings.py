"""What a target insists on."""

import pytest
from tests.wires import asking, pair, tool, user

from toolglot import Options, ir
from toolglot.adapt.messages.required_settings import (
    limit_cache_marks,
    require_limits,
    require_stream,
)
from toolglot.ir import CacheMark, Message, ReasoningSettings, Text, ToolResult

MARK = CacheMark()


def codes(ctx):
    return [note.code for note in ctx.receipt()]


def test_a_limit_is_given_where_one_is_required():
    """S1-13"""
    ctx = pair("openai-chat", "anthropic")
    assert require_limits(asking(user("hi")), ctx).max_tokens == 8192
    assert codes(ctx) == ["default-added"]


def test_the_limit_is_the_callers():
    ctx = pair("openai-chat", "anthropic", options=Options(max_tokens=50))
    assert require_limits(asking(user("hi")), ctx).max_tokens == 50


def test_the_limit_leaves_room_for_thinking():
    ctx = pair("openai-chat", "anthropic", options=Options(max_tokens=50))
    thinking = asking(user("hi"), reasoning=ReasoningSettings(budget=1000))
    assert require_limits(thinking, ctx).max_tokens == 1050


@pytest.mark.parametrize(("target", "limit"), [("anthropic", 7), ("openai-responses", None)])
def test_no_limit_is_given_otherwise(target, limit):
    ctx = pair("openai-chat", target)
    request = asking(user("hi"), max_tokens=limit)
    assert require_limits(request, ctx) is request
    assert codes(ctx) == []


@pytest.mark.parametrize(
    ("source", "target", "stream"),
    [("ollama", "openai-chat", True), ("openai-chat", "ollama", False)],
)
def test_silence_about_streaming_is_spelled_out(source, target, stream):
    ctx = pair(source, target)
    assert require_stream(asking(user("hi")), ctx).stream is stream
    assert codes(ctx) == ["default-added"]


@pytest.mark.parametrize(
    ("source", "target", "stream"),
    [("anthropic", "openai-chat", None), ("openai-chat", "ollama", True)],
)
def test_nothing_is_spelled_out_otherwise(source, target, stream):
    ctx = pair(source, target)
    request = asking(user("hi"), stream=stream)
    assert require_stream(request, ctx) is request
    assert codes(ctx) == []


def marked_request():
    inner = Text(text="i", cache=MARK)
    return asking(
        user(Text(text="1", cache=MARK), Text(text="2", cache=MARK)),
        user(ToolResult(id="c", parts=(inner,), cache=MARK)),
        tools=(tool("f", cache=MARK), ir.ProviderTool(protocol="x", type="t", value={})),
        system=Message(role="system", parts=(Text(text="s", cache=MARK),)),
    )


def test_the_earliest_marks_go():
    """case-40: tools, then system, then messages; what is inside a result before the result."""
    ctx = pair("openai-chat", "anthropic")
    there = limit_cache_marks(marked_request(), ctx)
    assert there.tools[0].cache is None
    assert there.system.parts[0].cache is None
    assert [part.cache for part in there.messages[0].parts] == [MARK, MARK]
    [answered] = there.messages[1].parts
    assert (answered.parts[0].cache, answered.cache) == (MARK, MARK)
    assert codes(ctx) == ["cache-dropped"]


def test_four_marks_are_legal():
    """case-40"""
    ctx = pair("openai-chat", "anthropic")
    request = asking(user(*[Text(text=str(n), cache=MARK) for n in range(4)]))
    assert limit_cache_marks(request, ctx) is request
    assert codes(ctx) == []


def test_marks_inside_results_count():
    ctx = pair("openai-chat", "anthropic")
    inner = tuple(Text(text=str(n), cache=MARK) for n in range(6))
    there = limit_cache_marks(asking(user(ToolResult(id="c", parts=inner))), ctx)
    [answered] = there.messages[0].parts
    assert [part.cache for part in answered.parts] == [None, None, MARK, MARK, MARK, MARK]


def test_a_target_without_a_maximum_takes_all():
    ctx = pair("anthropic", "openai-chat")
    request = marked_request()
    assert limit_cache_marks(request, ctx) is request
