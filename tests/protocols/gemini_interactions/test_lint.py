"""Each rule for streams of Gemini Interactions is broken alone and found under its name."""

import pytest
from tests.protocols.gemini_interactions.helpers import DONE, HARNESS, sse
from tests.protocols.harness import stem
from tests.protocols.recorded import GONE, broken, changed, put

from toolglot.lint import lint_stream, rules_of

NAME = "gemini-interactions"


def delta(index, kind, **more):
    return {"event_type": "step.delta", "index": index, "delta": {"type": kind, **more}}


def start(index, kind, **more):
    return {"event_type": "step.start", "index": index, "step": {"type": kind, **more}}


def stop(index):
    return {"event_type": "step.stop", "index": index}


def interaction(kind, status, **more):
    return {
        "event_type": f"interaction.{kind}",
        "interaction": {"id": "v1_1", "status": status, **more},
    }


UPDATE = {
    "event_type": "interaction.status_update",
    "interaction_id": "v1_1",
    "status": "in_progress",
}
ERROR = {"event_type": "error", "error": {"code": "unavailable", "message": "later"}}
GOOD = [
    interaction("created", "in_progress"),
    UPDATE,
    start(0, "thought"),
    delta(0, "thought_summary", content={"type": "text", "text": "Hm."}),
    delta(0, "thought_signature", signature="c2ln"),
    stop(0),
    start(1, "model_output"),
    delta(1, "text", text="Low."),
    stop(1),
    start(2, "function_call", id="c", name="tide", arguments={}),
    delta(2, "arguments_delta", arguments='{"a":1}'),
    stop(2),
    interaction("completed", "requires_action"),
]
CUT = [*GOOD[:11], interaction("completed", "incomplete")]

BREAKS = [
    ("not-json", 2, put(GOOD, 2, b"data: {\n\n")),
    ("type-missing", 2, put(GOOD, 2, {"sky": "grey"})),
    ("event-line", 2, put(GOOD[:1] + GOOD[2:], 2, b"event: x\n" + sse([UPDATE], done=False)[33:])),
    ("created-first", 1, GOOD[1:]),
    ("created-once", 2, put(GOOD, 2, GOOD[0])),
    ("interaction", 1, changed(GOOD, 1, "interaction.id", GONE)),
    ("interaction", 13, changed(GOOD, 13, "interaction.status", 7)),
    ("update", 2, changed(GOOD, 2, "interaction_id", GONE)),
    ("step-index", 7, [*GOOD[:6], start(4, "model_output"), stop(4), GOOD[-1]]),
    ("step-type", 7, [*GOOD[:6], start(1, ""), stop(1), GOOD[-1]]),
    ("call", 10, changed(GOOD, 10, "step.name", "")),
    ("call", 10, changed(GOOD, 10, "step.arguments", "{}")),
    ("step-open", 9, put(GOOD, 9, delta(7, "text", text="?"))),
    ("step-open", 13, put(GOOD, 13, stop(2))),
    ("delta-type", 8, changed(GOOD, 8, "delta.type", GONE)),
    ("delta-type", 8, changed(GOOD, 8, "delta.text", 7)),
    ("delta-fits", 9, put(GOOD, 9, delta(1, "arguments_delta", arguments="{}"))),
    ("signature", 6, put(GOOD, 6, GOOD[3])),
    ("arguments", 12, changed(GOOD, 11, "delta.arguments", "{")),
    ("step-stopped", 12, [*GOOD[:11], GOOD[12]]),
    ("error-shape", 2, [GOOD[0], {"event_type": "error", "error": {"code": 503}}]),
    ("after-end", 14, [*GOOD, UPDATE]),
]


@pytest.mark.parametrize("events", [GOOD, CUT, [GOOD[0], ERROR], [ERROR]])
def test_sound_streams_break_no_rule(events):
    assert lint_stream(sse(events), NAME) == []


@pytest.mark.parametrize(("rule", "number", "events"), BREAKS)
def test_a_broken_rule_is_found_alone_and_where_it_is(rule, number, events):
    assert broken(sse(events), NAME) == [(rule, number)]


def test_the_end_and_its_marker_must_come():
    assert broken(sse(GOOD[:9]), NAME) == [("end-missing", 10)]
    assert broken(sse(GOOD, done=False), NAME) == [("end-missing", 13)]
    assert broken(sse(GOOD) + DONE, NAME) == [("after-end", 15)]
    assert broken(sse(GOOD)[:-1], NAME) == [("blank-line", 14)]


def test_every_rule_is_broken_above():
    here = {"blank-line", "end-missing"}
    assert {rule for rule, *_ in BREAKS} | here == {r.code for r in rules_of(NAME)}


@pytest.mark.parametrize("path", HARNESS.streams, ids=stem)
def test_what_we_write_breaks_no_rule(path):
    events = HARNESS.decode_stream(path.read_bytes())
    assert lint_stream(HARNESS.encode_stream(events), NAME) == []
