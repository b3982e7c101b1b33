"""What is looked for in a text, depending on what is known of it."""

import pytest

from toolglot.dialects.markers import MarkerSearch, SearchState, marker_set, reasoning_pairs
from toolglot.dialects.table import DIALECTS

HERMES, BARE = DIALECTS["hermes"], DIALECTS["json_bare"]


def state(*rows, **more):
    usual = dict.fromkeys(SearchState._fields, False) | {"closers": (), "blank": True}
    return SearchState(**(usual | {"rows": rows, "tools": True} | more))


def test_openers_lead_to_their_forms():
    forms = marker_set(state(HERMES)).forms
    assert {row for found in forms.values() for row, _ in found} == {HERMES}
    assert "<tool_call>" in forms


def test_bare_forms_need_declared_tools_a_named_dialect_or_all_of_the_answer():
    assert marker_set(state(BARE)).forms
    assert marker_set(state(BARE, auto=True)).forms
    assert marker_set(state(BARE, tools=False)).forms
    assert not marker_set(state(BARE, auto=True, tools=False, blank=False)).forms
    assert not marker_set(state(BARE, marked_only=True)).forms


def test_inside_reasoning_only_its_end_and_calls_that_interrupt_are_looked_for():
    found = marker_set(state(HERMES, closers=("</think>",)))
    assert "</think>" in found.stops.marks
    assert "<think>" not in found.stops.marks
    assert ("<tool_call>" in found.forms) is HERMES.interrupts


def test_where_all_is_reasoning_nothing_opens_it():
    assert reasoning_pairs((HERMES,), auto=True, marked_only=False)["<think>"] == "</think>"
    assert reasoning_pairs((HERMES,), auto=True, marked_only=True) == {}


@pytest.mark.parametrize(
    ("text", "found", "grows"),
    [
        ("a <call> b", "<call>", False),
        ("a <ca", "<ca", True),
        ("a <call", "<call", True),
        ("a <cab", None, False),
        ("a <c>", "<c>", False),
        ("a <", "<", True),
    ],
)
def test_a_mark_may_be_cut_by_the_end_of_the_text(text, found, grows):
    marks = MarkerSearch("<call>", "<c>")
    match = marks.search(text)
    assert (match and match.group()) == found
    assert (match is not None and marks.may_grow(text, match)) is grows
