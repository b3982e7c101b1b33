"""Each rule for streams of Ollama is broken alone and found under its name."""

import pytest
from tests.protocols.recorded import GONE, broken, changed, lines, put

from toolglot.lint import lint_stream, rules_of

NAME = "ollama"


def line(content="", done=False, **more):
    return {
        "model": "qwen",
        "message": {"role": "assistant", "content": content, **more},
        "done": done,
    }


GOOD = [
    line("Low "),
    line(tool_calls=[{"function": {"name": "tides", "arguments": {"a": 1}}}]),
    line(done=True) | {"done_reason": "stop", "eval_count": 3},
]
CALL = "message.tool_calls.0.function"

BREAKS = [
    ("not-json", 2, put(GOOD, 2, b"{\n")),
    ("not-json", 2, put(GOOD, 2, b'data: {"done": false}\n')),
    ("not-json", 2, put(GOOD, 2, b"[1]\n")),
    ("done-marker", 2, put(GOOD, 2, b"[DONE]\n")),
    ("role", 1, changed(GOOD, 1, "message.role", GONE)),
    ("role", 3, changed(GOOD, 3, "message", GONE)),
    ("done-flag", 1, changed(GOOD, 1, "done", GONE)),
    ("done-reason", 3, changed(GOOD, 3, "done_reason", GONE)),
    ("call-name", 2, changed(GOOD, 2, f"{CALL}.name", "")),
    ("call-arguments", 2, changed(GOOD, 2, f"{CALL}.arguments", '{"a":1}')),
    ("error-shape", 2, [GOOD[0], {"error": {"message": "later"}}]),
    ("after-end", 4, [*GOOD, GOOD[2]]),
    ("after-end", 3, [GOOD[0], {"error": "later"}, GOOD[2]]),
    ("end-missing", 2, GOOD[:2]),
]


@pytest.mark.parametrize("events", [GOOD, [GOOD[0], {"error": "later"}], put(GOOD, 2, b"\r\n\n")])
def test_sound_streams_break_no_rule(events):
    assert lint_stream(lines(events), NAME) == []


def test_the_last_line_needs_no_line_end():
    assert lint_stream(lines(GOOD)[:-1], NAME) == []


@pytest.mark.parametrize(("rule", "number", "events"), BREAKS)
def test_a_broken_rule_is_found_alone_and_where_it_is(rule, number, events):
    assert broken(lines(events), NAME) == [(rule, number)]


def test_every_rule_is_broken_above():
    assert {rule for rule, *_ in BREAKS} == {rule.code for rule in rules_of(NAME)}
