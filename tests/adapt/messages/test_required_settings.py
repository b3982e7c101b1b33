"""What a target insists on."""

import pytest
from msgspec.structs import replace
from tests.wires import asking, pair, user

from toolglot import Options
from toolglot.adapt.messages.required_settings import (
    bound_limits,
    drop_zero_limit,
    require_limits,
    require_stream,
)
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


@pytest.mark.parametrize(
    ("settings", "most", "limit"),
    [
        (ReasoningSettings(enabled=True, adaptive=True, effort="xhigh"), 8192, 8192 + 32768),
        (ReasoningSettings(effort="low"), 8192, 8192 + 2048),
        (ReasoningSettings(enabled=False), 8192, 8192),
        (ReasoningSettings(enabled=True, effort="xhigh"), 64000, 64000),
    ],
)
def test_an_effort_needs_room_where_nothing_is_known_of_the_model(settings, most, limit):
    ctx = pair("openai-responses", "anthropic", options=Options(max_tokens=most))
    assert require_limits(asking(user("hi"), reasoning=settings), ctx).max_tokens == limit


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


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_means_none(limit):
    ctx = pair("openai-chat", "anthropic")
    request = drop_zero_limit(asking(user("hi"), max_tokens=limit), ctx)
    assert request.max_tokens is None
    assert [(note.code, note.severity) for note in ctx.receipt()] == [("field-dropped", "info")]
    assert require_limits(request, ctx).max_tokens == 8192


def test_a_limit_of_nothing_may_be_meant():
    ctx = pair("anthropic", "openai-chat")
    request = asking(user("hi"), max_tokens=0)
    assert drop_zero_limit(request, ctx) is request
    assert bound_limits(request, ctx).max_tokens == 1


def test_a_whole_answer_may_have_a_lower_limit():
    ctx = pair("openai-chat", "openai-chat")
    ctx.target = replace(ctx.target, limits=replace(ctx.target.limits, most_whole=4096))
    whole = asking(user("hi"), max_tokens=9000)
    assert bound_limits(whole, ctx).max_tokens == 4096
    assert [note.code for note in ctx.receipt()] == ["value-mapped"]
    streamed = replace(whole, stream=True)
    assert bound_limits(streamed, ctx) is streamed
