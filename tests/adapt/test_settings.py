"""Settings, reasoning and structured output."""

import pytest
from msgspec.structs import replace
from tests.wires import NAMES, asking, assistant, call, pair, user

from toolglot import get_protocol
from toolglot.adapt.settings import (
    adapt_output,
    adapt_reasoning,
    budget_of,
    drop_settings,
    effort_of,
    nearest_effort,
)
from toolglot.ir import OutputFormat, ReasoningSettings

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


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


# --- reasoning ------------------------------------------------------------------------------------


def adapted(source, target, settings, **more):
    ctx = pair(source, target)
    request = adapt_reasoning(asking(user("hi"), reasoning=settings, **more), ctx)
    return request.reasoning, notes(ctx)


def test_no_reasoning_is_no_question():
    ctx = pair("openai-chat", "anthropic")
    request = asking(user("hi"))
    assert adapt_reasoning(request, ctx) is request


@pytest.mark.parametrize(
    ("budget", "effort"),
    [
        (0, "none"),
        (1, "minimal"),
        (512, "minimal"),
        (513, "low"),
        (2048, "low"),
        (8192, "medium"),
        (24576, "high"),
        (32768, "xhigh"),
        (32769, "max"),
        (10**9, "max"),
    ],
)
def test_efforts_of_budgets(budget, effort):
    assert effort_of(budget) == effort


@pytest.mark.parametrize("effort", EFFORTS)
def test_a_budget_of_an_effort_stands_for_that_effort(effort):
    assert effort_of(budget_of(effort)) == effort


@pytest.mark.parametrize(
    ("effort", "known", "nearest"),
    [
        ("high", ("low", "high"), "high"),
        ("max", ("low", "medium", "high"), "high"),
        ("minimal", ("low", "medium", "high"), "low"),
        ("medium", ("low", "high"), "low"),
        ("unheard-of", ("low", "medium"), "medium"),
        ("max", (), "max"),
        ("unheard-of", (), "unheard-of"),
    ],
)
def test_the_nearest_effort(effort, known, nearest):
    assert nearest_effort(effort, known) == nearest


def test_a_budget_is_told_as_an_effort():
    settings = ReasoningSettings(enabled=True, budget=9000)
    found, said = adapted("anthropic", "openai-chat", settings)
    assert found == ReasoningSettings(effort="high")
    assert ("value-mapped", "thinking", "lossy") in said


def test_a_budget_that_cannot_be_told_is_named():
    settings = ReasoningSettings(enabled=True, budget=9000, effort="low")
    found, said = adapted("anthropic", "openai-chat", settings)
    assert found == ReasoningSettings(effort="low")
    assert said == [("field-dropped", "thinking", "info")]


def test_a_budget_stays_below_the_limit():
    settings = ReasoningSettings(enabled=True, budget=9000)
    found, said = adapted("gemini", "anthropic", settings, max_tokens=5000)
    assert found is not None
    assert found.budget == 4999
    assert [code for code, _, _ in said] == ["value-mapped"]


def test_an_effort_turns_reasoning_on_where_that_is_needed():
    found, said = adapted("openai-chat", "anthropic", ReasoningSettings(effort="high"))
    assert found == ReasoningSettings(enabled=True, effort="high")
    assert said == []


@pytest.mark.parametrize(("effort", "told"), [("minimal", "low"), ("xhigh", "high")])
def test_an_effort_that_is_not_known_is_the_nearest(effort, told):
    found, said = adapted("openai-chat", "ollama", ReasoningSettings(effort=effort))
    assert found == ReasoningSettings(effort=told)
    assert said == [("value-mapped", "reasoning_effort", "lossy")]


def test_an_effort_is_told_as_a_budget_where_there_are_only_those():
    ctx = pair("openai-chat", "gemini")
    ctx.target = replace(ctx.target, reasoning=frozenset({"budget"}), efforts=())
    request = adapt_reasoning(asking(user("hi"), reasoning=ReasoningSettings(effort="low")), ctx)
    assert request.reasoning == ReasoningSettings(budget=2048)
    assert [code for code, _, _ in notes(ctx)] == ["value-mapped"]


def test_an_effort_is_only_a_switch_where_there_is_nothing_else():
    ctx = pair("openai-chat", "ollama")
    ctx.target = replace(ctx.target, reasoning=frozenset({"switch"}), efforts=())
    settings = ReasoningSettings(enabled=True, effort="low")
    request = adapt_reasoning(asking(user("hi"), reasoning=settings), ctx)
    assert request.reasoning == ReasoningSettings(enabled=True)
    assert [code for code, _, _ in notes(ctx)] == ["value-mapped"]


def test_off_is_the_effort_none_where_there_is_no_switch():
    found, said = adapted("anthropic", "openai-chat", ReasoningSettings(enabled=False))
    assert found == ReasoningSettings(effort="none")
    assert said == []


def test_on_without_an_amount_cannot_be_said_without_a_switch():
    found, said = adapted("ollama", "openai-chat", ReasoningSettings(enabled=True))
    assert found is None
    assert said == [("field-dropped", "think", "unsupported")]


def test_adaptive_is_left_to_the_model():
    settings = ReasoningSettings(enabled=True, adaptive=True)
    found, said = adapted("anthropic", "openai-chat", settings)
    assert found is None
    assert said == [("value-mapped", "thinking", "info")]


def test_no_effort_where_reasoning_is_off():
    """case-39"""
    settings = ReasoningSettings(enabled=False, effort="high")
    found, said = adapted("anthropic", "ollama", settings)
    assert found == ReasoningSettings(enabled=False)
    assert ("field-dropped", "thinking", "info") in said


@pytest.mark.parametrize(("field", "value"), [("show", True), ("summary", "auto")])
def test_how_thoughts_are_shown_is_dropped_where_it_cannot_be_said(field, value):
    settings = ReasoningSettings(effort="low", **{field: value})
    found, said = adapted("openai-responses", "openai-chat", settings)
    assert found == ReasoningSettings(effort="low")
    assert said == [("field-dropped", "reasoning", "info")]


def test_reasoning_gives_way_to_an_answer_that_is_begun():
    """case-39"""
    ctx = pair("openai-chat", "anthropic")
    settings = ReasoningSettings(effort="high")
    request = adapt_reasoning(asking(user("hi"), assistant("{"), reasoning=settings), ctx)
    assert request.reasoning == ReasoningSettings(enabled=False)
    assert notes(ctx) == [("prefill-changed", "reasoning_effort", "lossy")]


@pytest.mark.parametrize("last", [user("hi"), assistant(call("f")), assistant("x", call("f"))])
def test_only_text_begins_an_answer(last):
    ctx = pair("openai-chat", "anthropic")
    settings = ReasoningSettings(effort="high")
    request = adapt_reasoning(asking(user("hi"), last, reasoning=settings), ctx)
    assert request.reasoning == ReasoningSettings(enabled=True, effort="high")


def test_an_empty_conversation_begins_nothing():
    ctx = pair("openai-chat", "anthropic")
    request = adapt_reasoning(asking(reasoning=ReasoningSettings(effort="high")), ctx)
    assert request.reasoning == ReasoningSettings(enabled=True, effort="high")


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
        ("field-minor", "response_format.name", "info"),
        ("field-dropped", "response_format.description", "info"),
        ("field-dropped", "response_format.strict", "info"),
    ]


def test_no_output_is_no_question():
    ctx = pair("openai-chat", "anthropic")
    request = asking(user("hi"))
    assert adapt_output(request, ctx) is request
