"""Settings and structured output."""

import pytest
from msgspec.structs import replace
from tests.wires import NAMES, asking, pair, tool, user

from toolglot import get_protocol
from toolglot.adapt.messages.settings import (
    adapt_output,
    adapt_sampling,
    bound_settings,
    drop_settings,
    require_json_word,
)
from toolglot.ir import Message, OutputFormat, ReasoningSettings, Text, ToolChoice


def notes(ctx):
    return [(note.code, note.path, note.severity) for note in ctx.receipt()]


# --- settings -------------------------------------------------------------------------------------


def test_what_the_target_lacks_is_taken_out_and_named():
    ctx = pair("openai-chat", "anthropic")
    request = drop_settings(asking(user("hi"), seed=7, temperature=0.5, n=3), ctx)
    assert (request.seed, request.n, request.temperature) == (None, None, 0.5)
    assert notes(ctx) == [
        ("field-dropped", "seed", "unsupported"),
        ("field-dropped", "n", "unsupported"),
    ]


def test_paths_are_those_of_the_source():
    ctx = pair("gemini", "anthropic")
    drop_settings(asking(user("hi"), seed=7), ctx)
    assert [note.path for note in ctx.receipt()] == ["generationConfig.seed"]


@pytest.mark.parametrize(
    "setting",
    [{"parallel_tool_calls": True}, {"n": 1}, {"store": False}, {"include_usage": True}],
)
def test_what_only_repeats_the_rule_is_no_loss(setting):
    ctx = pair("openai-chat", "ollama")
    [field] = setting
    assert getattr(drop_settings(asking(user("hi"), **setting), ctx), field) is None
    assert [severity for _, _, severity in notes(ctx)] == ["info"]


@pytest.mark.parametrize("setting", [{"n": True}, {"store": True}, {"parallel_tool_calls": False}])
def test_what_does_not_is_one(setting):
    ctx = pair("openai-chat", "ollama")
    drop_settings(asking(user("hi"), **setting), ctx)
    severities = [severity for _, _, severity in notes(ctx)]
    assert severities == (["info"] if setting == {"n": True} else ["unsupported"])


def test_a_request_without_excess_is_the_same_one():
    ctx = pair("openai-chat", "anthropic")
    request = asking(user("hi"), max_tokens=5)
    assert drop_settings(request, ctx) is request
    assert notes(ctx) == []


# --- what reasoning forbids -----------------------------------------------------------------------


def test_reasoning_leaves_sampling_to_the_target():
    ctx = pair("gemini", "anthropic")
    settings = ReasoningSettings(enabled=True)
    asked = asking(user("hi"), reasoning=settings, temperature=1, top_p=0.95, top_k=64)
    request = adapt_sampling(asked, ctx)
    assert (request.temperature, request.top_p, request.top_k) == (None, None, None)
    assert notes(ctx) == [
        ("field-dropped", "generationConfig.temperature", "info"),
        ("field-dropped", "generationConfig.topP", "lossy"),
        ("field-dropped", "generationConfig.topK", "lossy"),
    ]


@pytest.mark.parametrize(
    ("target", "settings"),
    [
        ("anthropic", None),
        ("anthropic", ReasoningSettings(enabled=False)),
        ("openai-chat", ReasoningSettings(enabled=True)),
    ],
)
def test_sampling_is_chosen_where_it_may_be(target, settings):
    request = asking(user("hi"), reasoning=settings, temperature=0.2)
    assert adapt_sampling(request, pair("gemini", target)) is request


# --- structured output ----------------------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {}}


def asked_for(source, target, output):
    ctx = pair(source, target)
    return adapt_output(asking(user("hi"), output=output), ctx).output, notes(ctx)


@pytest.mark.parametrize("target", NAMES)
def test_output_that_can_be_asked_for_is(target):
    surface = get_protocol(target).SURFACE
    source = "openai-chat" if target != "openai-chat" else "openai-responses"
    for kind in ("text", "json"):
        output, said = asked_for(source, target, OutputFormat(kind=kind))
        if kind in surface.outputs:
            assert output == OutputFormat(kind=kind)
            assert said == []
        else:
            assert output is None
            [(code, path, severity)] = said
            assert code == ("field-dropped" if kind == "text" else "output-described")
            assert path == get_protocol(source).SURFACE.settings["output"]
            assert severity == ("info" if kind == "text" else "lossy")


def test_a_schema_gets_a_name_where_it_must_have_one():
    output, said = asked_for("gemini", "openai-chat", OutputFormat(kind="schema", schema=SCHEMA))
    assert output is not None
    assert (output.name, output.schema) == ("response", SCHEMA)
    assert [code for code, _, _ in said] == ["default-added"]


def test_a_schema_loses_what_cannot_be_said_of_it():
    given = OutputFormat(kind="schema", schema=SCHEMA, name="n", description="d", strict=True)
    output, said = asked_for("openai-chat", "gemini", given)
    assert output == OutputFormat(kind="schema", schema=SCHEMA)
    assert said == [
        ("field-minor", "response_format.json_schema.name", "info"),
        ("field-dropped", "response_format.json_schema.description", "info"),
        ("field-dropped", "response_format.json_schema.strict", "info"),
    ]


def test_no_output_is_no_question():
    ctx = pair("openai-chat", "anthropic")
    request = asking(user("hi"))
    assert adapt_output(request, ctx) is request


# --- numbers, stop sequences and names ------------------------------------------------------------


def bounded(request, **facts):
    ctx = pair("openai-chat", "openai-chat")
    ctx.target = replace(ctx.target, sampling=replace(ctx.target.sampling, **facts))
    return bound_settings(request, ctx), [(note.code, note.path) for note in ctx.receipt()]


def test_numbers_are_kept_within_their_ranges():
    ranges = {"n": (1, 1), "presence_penalty": (-2, 2)}
    there, notes = bounded(asking(user("hi"), n=3, presence_penalty=-4.5), ranges=ranges)
    assert (there.n, there.presence_penalty) == (1, -2)
    assert type(there.n) is int
    assert notes == [("value-mapped", "n"), ("value-mapped", "presence_penalty")]


def test_a_temperature_excludes_top_p():
    there, notes = bounded(asking(user("hi"), temperature=0.5, top_p=0.9), exclusive=True)
    assert (there.temperature, there.top_p) == (0.5, None)
    assert notes == [("field-dropped", "top_p")]
    one = asking(user("hi"), top_p=0.9)
    assert bounded(one, exclusive=True) == (one, [])


@pytest.mark.parametrize(
    ("given", "facts", "kept"),
    [
        (("a", "b", "c"), {"most_stops": 2}, ("a", "b")),
        ((" ", "a"), {"blank_stops": False}, ("a",)),
        (("\n",), {"blank_stops": False}, None),
        ((), {"most_stops": 4}, None),
    ],
)
def test_stop_sequences_that_are_not_accepted_are_left_out(given, facts, kept):
    there, notes = bounded(asking(user("hi"), stop=given), **facts)
    assert there.stop == kept
    assert [path for _, path in notes] == ["stop"]


def test_a_long_name_is_replaced_by_a_digest():
    there, notes = bounded(asking(user("hi"), user="u" * 99), lengths={"user": 64})
    assert len(there.user) == 64
    assert notes == [("value-mapped", "user")]
    assert bounded(asking(user("hi"), user="u" * 99), lengths={"user": 64})[0] == there
    other, _ = bounded(asking(user("hi"), user="v" * 99), lengths={"user": 64})
    assert other.user != there.user


def test_settings_that_are_accepted_stay():
    request = asking(user("hi"), n=1, stop=("a",), user="u")
    facts = {"ranges": {"n": (1, 2)}, "most_stops": 1, "lengths": {"user": 64}}
    assert bounded(request, **facts) == (request, [])


# --- output beside tools, and the word ------------------------------------------------------------


def test_output_that_is_not_accepted_beside_tools_is_dropped():
    ctx = pair("openai-chat", "openai-responses")
    ctx.target = replace(ctx.target, tools=replace(ctx.target.tools, outputs=frozenset({"text"})))
    output = OutputFormat(kind="json")
    assert adapt_output(asking(user("hi"), output=output), ctx).output is output
    there = adapt_output(asking(user("hi"), output=output, tools=(tool("f"),)), ctx)
    assert there.output is None
    assert [note.code for note in ctx.receipt()] == ["output-described"]


METADATA = {"pairs": 2, "key": 4, "value": 3}


@pytest.mark.parametrize(
    ("given", "sent", "told"),
    [
        ({"a": "1"}, {"a": "1"}, None),
        ({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "2"}, "c"),
        ({"long_key": "1"}, {}, "long_key"),
        ({"a": "12345"}, {"a": "123"}, "the end of a"),
        ({"a": 1}, {"a": "1"}, "a as text"),
    ],
)
def test_metadata_is_bounded(given, sent, told):
    ctx = pair("openai-responses", "openai-chat")
    ctx.target = replace(ctx.target, sampling=replace(ctx.target.sampling, metadata=METADATA))
    there = bound_settings(asking(user("hi"), metadata=given), ctx)
    assert there.metadata == sent
    assert [note.message for note in ctx.receipt()] == (
        [] if told is None else [f"more than is accepted: {told}"]
    )


def worded(*messages, **more):
    ctx = pair("gemini", "openai-chat")
    ctx.target = replace(ctx.target, json_needs_word=True)
    request = asking(*messages, **{"output": OutputFormat(kind="json"), **more})
    there = require_json_word(request, ctx)
    return there, there is request, [note.code for note in ctx.receipt()]


def test_the_word_is_added_where_it_is_looked_for():
    there, _, notes = worded(user("hi"))
    assert [message.role for message in there.messages] == ["system", "user"]
    assert notes == ["default-added"]
    rules = Message(role="system", parts=(Text(text="Be short."),))
    there, _, _ = worded(rules, user("hi"))
    assert [len(message.parts) for message in there.messages] == [2, 1]


def test_the_word_is_not_added_where_it_is_or_is_not_needed():
    assert worded(user("as JSON, please"))[1]
    assert worded(user("hi"), output=None)[1]
    assert worded(user("hi"), output=OutputFormat(kind="schema", schema={}))[1]


def test_a_forced_tool_excludes_an_output_format_where_they_exclude_each_other():
    ctx = pair("openai-responses", "openai-chat")
    ctx.target = replace(ctx.target, tools=replace(ctx.target.tools, forced_with_output=False))
    request = asking(user("hi"), output=OutputFormat(kind="json"), tools=(tool("f"),))
    forced = replace(request, tool_choice=ToolChoice(mode="required"))
    assert adapt_output(forced, ctx).output is None
    free = replace(request, tool_choice=ToolChoice(mode="auto"))
    assert adapt_output(free, ctx).output is request.output
