"""How hard to think, as the target and its model understand it."""

import pytest
from msgspec.structs import replace
from tests.wires import asking, assistant, call, pair, result, user

from toolglot.adapt.reasoning.effort import adapt_reasoning, budget_of, effort_of, nearest_effort
from toolglot.context import Options
from toolglot.ir import Reasoning as ReasoningPart
from toolglot.ir import ReasoningSettings
from toolglot.surface import ReasoningSupport

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
OFF, ON = ReasoningSettings(enabled=False), ReasoningSettings(enabled=True)
ADAPTIVE = ReasoningSettings(enabled=True, adaptive=True, effort="high")


def notes(ctx):
    return [(note.code, note.path, note.severity) for note in ctx.receipt()]


def adapted(source, target, settings, options=None, **more):
    ctx = pair(source, target, options=options)
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
    only = ReasoningSupport(controls=frozenset({"budget"}))
    ctx.target = replace(ctx.target, reasoning=only)
    request = adapt_reasoning(asking(user("hi"), reasoning=ReasoningSettings(effort="low")), ctx)
    assert request.reasoning == ReasoningSettings(budget=2048)
    assert [code for code, _, _ in notes(ctx)] == ["value-mapped"]


def test_an_effort_is_only_a_switch_where_there_is_nothing_else():
    ctx = pair("openai-chat", "ollama")
    only = ReasoningSupport(controls=frozenset({"switch"}))
    ctx.target = replace(ctx.target, reasoning=only)
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


@pytest.mark.parametrize(
    ("source", "target", "settings", "found"),
    [
        ("gemini", "openai-responses", {"show": True}, {"summary": "auto"}),
        ("openai-responses", "gemini", {"summary": "auto"}, {"show": True}),
        ("openai-responses", "anthropic", {"summary": "detailed"}, {"show": True, "enabled": True}),
    ],
)
def test_thoughts_are_shown_as_a_summary(source, target, settings, found):
    there, said = adapted(source, target, ReasoningSettings(effort="low", **settings))
    assert there == ReasoningSettings(effort="low", **found)
    assert [code for code, _, _ in said] == ["value-respelled"]


# --- what is known of the model -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "options", "settings", "found"),
    [
        # What a model takes that knows efforts only, and cannot be told not to think.
        ("openai-chat", {"reasoning": "effort", "efforts": ("minimal", "low")}, OFF, "minimal"),
        ("openai-chat", {"reasoning": "effort", "efforts": ("none", "low")}, OFF, "none"),
        ("openai-chat", {"efforts": ("none", "low", "medium", "high")}, ADAPTIVE, "high"),
        ("gemini", {"reasoning": "effort", "efforts": ("low", "high")}, OFF, "low"),
    ],
)
def test_efforts_of_the_model(target, options, settings, found):
    there, _ = adapted("anthropic", target, settings, Options(**options))
    assert there.effort == found
    assert there.enabled is not False


def test_the_highest_effort_of_the_model():
    settings = ReasoningSettings(enabled=True, adaptive=True, effort="max")
    options = Options(reasoning="effort", efforts=("none", "low", "medium", "high"))
    there, said = adapted("anthropic", "openai-responses", settings, options)
    assert there == ReasoningSettings(effort="high")
    assert said == [("value-mapped", "thinking", "lossy")]


@pytest.mark.parametrize(
    ("settings", "limit", "found"),
    [
        (ReasoningSettings(effort="high"), 64000, ReasoningSettings(enabled=True, budget=24576)),
        (ReasoningSettings(effort="high"), 8000, ReasoningSettings(enabled=True, budget=7999)),
        (ReasoningSettings(effort="minimal"), None, ReasoningSettings(enabled=True, budget=1024)),
        (ReasoningSettings(effort="high"), 1000, ReasoningSettings(enabled=False)),
        (ON, 64000, ReasoningSettings(enabled=True, budget=8192)),
        (OFF, 64000, OFF),
    ],
)
def test_a_model_that_wants_a_budget_gets_one(settings, limit, found):
    options = Options(reasoning="budget")
    there, _ = adapted("openai-chat", "anthropic", settings, options, max_tokens=limit)
    assert there == found


def test_a_model_that_takes_no_budget_gets_an_effort():
    settings = ReasoningSettings(enabled=True, budget=20000)
    options = Options(reasoning="adaptive")
    there, _ = adapted("gemini", "anthropic", settings, options, max_tokens=64000)
    assert there == ReasoningSettings(enabled=True, effort="high")


@pytest.mark.parametrize(("settings", "on"), [(ADAPTIVE, True), (OFF, False)])
def test_a_model_with_a_switch_is_switched(settings, on):
    """Ollama refuses the whole request where a model knows no efforts."""
    there, _ = adapted("anthropic", "ollama", settings, Options(reasoning="switch"))
    assert there == ReasoningSettings(enabled=on)


def test_an_effort_alone_switches():
    settings = ReasoningSettings(effort="low")
    there, _ = adapted("openai-chat", "ollama", settings, Options(reasoning="switch"))
    assert there == ON


def test_a_protocol_with_one_way_keeps_it():
    there, _ = adapted("anthropic", "openai-chat", ADAPTIVE, Options(reasoning="switch"))
    assert there == ReasoningSettings(effort="high")


@pytest.mark.parametrize(("settings", "severity"), [(ADAPTIVE, "unsupported"), (OFF, "info")])
def test_nothing_is_said_to_a_model_that_gives_no_choice(settings, severity):
    there, said = adapted("anthropic", "ollama", settings, Options(reasoning="none"))
    assert there is None
    assert said == [("field-dropped", "thinking", severity)]


def test_a_budget_is_cut_before_it_is_told_as_an_effort():
    settings = ReasoningSettings(enabled=True, budget=32000)
    there, _ = adapted("anthropic", "openai-chat", settings, max_tokens=8000)
    assert there == ReasoningSettings(effort="medium")


THOUGHT = ReasoningPart(text="Hm.", signature="c2ln")


@pytest.mark.parametrize(
    ("turn", "on"),
    [
        ([assistant(call("f")), user(result("x"))], False),
        ([assistant(THOUGHT, call("f")), user(result("x"))], True),
        ([assistant(THOUGHT, call("f")), user(result("x")), assistant(call("f", id="2"))], True),
        ([assistant(THOUGHT), assistant(call("f")), user(result("x"))], True),
        ([assistant(call("f")), user(result("x")), assistant("So."), user("And?")], True),
        ([assistant("So."), user("And?")], True),
    ],
)
def test_a_budget_needs_the_thoughts_of_a_turn_that_goes_on(turn, on):
    """case-34: another provider's are not known, and without any the request is refused."""
    ctx = pair("openai-chat", "anthropic", options=Options(reasoning="budget"))
    settings = ReasoningSettings(effort="low")
    request = adapt_reasoning(asking(user("hi"), *turn, reasoning=settings), ctx)
    assert request.reasoning.enabled is on
    assert (request.reasoning.budget is not None) is on


def test_adaptive_reasoning_needs_none():
    ctx = pair("openai-chat", "anthropic")
    turn = (user("hi"), assistant(call("f")), user(result("x")))
    request = adapt_reasoning(asking(*turn, reasoning=ReasoningSettings(effort="low")), ctx)
    assert request.reasoning == ReasoningSettings(enabled=True, effort="low")
