"""Settings and structured output."""

import pytest
from tests.wires import NAMES, asking, pair, user

from toolglot import get_protocol
from toolglot.adapt.messages.settings import adapt_output, adapt_sampling, drop_settings
from toolglot.ir import OutputFormat, ReasoningSettings


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
            assert code == "field-dropped"
            assert path == get_protocol(source).SURFACE.settings["output"]
            assert severity == ("info" if kind == "text" else "unsupported")


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
