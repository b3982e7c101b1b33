"""What a target insists on."""

import pytest
from tests.wires import asking, pair, user

from toolglot import Options
from toolglot.adapt.messages.required_settings import require_limits, require_stream
from toolglot.ir import ReasoningSettings


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
