"""Two ways to run one set of rules: what the check rejects, the linter reports.

Each rule of a protocol is tested in `tests/protocols/<name>/test_lint.py`.
"""

import random
from pathlib import Path

import pytest
from tests.laws.corpus import FIXTURES, NAMES, fixture_id
from tests.protocols.recorded import mutated

from toolglot.registry import get_protocol
from toolglot.wire.frames import BROKEN, COMMENT, DONE, by_type, sse_frames
from toolglot.wire.stream_rules import END, EVERY, Linter, Rule, State, strict_check

STREAMS = [
    (folder.name, file)
    for folder in sorted(FIXTURES.iterdir())
    if folder.name in NAMES
    for file in sorted(folder.glob("*.stream.txt"))
]


def rejected(name: str, data: bytes) -> int | None:
    """The number of the first object that the check rejects."""
    codec = get_protocol(name)
    check, linter = codec.StreamCheck(), codec.LINTER
    for frame in linter.frames(data, linter.kind):
        if frame.kind not in (BROKEN, COMMENT, DONE) and not check.accepts(
            frame.name or "", frame.value
        ):
            return frame.number
    return None


@pytest.mark.parametrize(("name", "file"), STREAMS, ids=fixture_id)
def test_what_the_check_rejects_the_linter_reports(name: str, file: Path) -> None:
    dice = random.Random(file.name)
    data = file.read_bytes()
    for chance in (0, *[0.02] * 10, *[0.2] * 10):
        lines = data.split(b"\n")
        changed = b"\n".join(
            mutated(line, dice) if dice.random() < chance else line for line in lines
        )
        number = rejected(name, changed)
        if number is not None:
            assert number in {each.event for each in get_protocol(name).LINTER.run(changed)}


@pytest.mark.parametrize("name", NAMES)
def test_strict_predicates_belong_to_events_that_their_rule_looks_at(name: str) -> None:
    for rule in get_protocol(name).LINTER.rules:
        assert EVERY in rule.on or set(rule.strict_on) <= set(rule.on), rule.code
        assert not (rule.strict and EVERY in rule.on) or rule.strict_on, rule.code


class Counting(State):
    seen = 0

    def see(self, _value):
        self.seen += 1
        self.over = self.seen == 2


def no_third(state, _frame):
    if state.seen > 1:
        yield "a third event"


def below_two(state, _value):
    return state.seen < 2


def at_end(_state, _frame):
    yield 1, "the first event is to blame"


LINTER = Linter(
    frames=sse_frames,
    kind=by_type,
    state=Counting,
    follow={"a": Counting.see},
    done=True,
    rules=(
        Rule("third", "there are two", ("a",), no_third, below_two),
        Rule("blame", "somebody is to blame", (END,), at_end),
    ),
)


def test_a_check_follows_its_stream_and_stops_at_what_is_wrong():
    check = strict_check(LINTER)()
    assert not check.ended
    assert not check.accepts_marker(b"[DONE]")
    assert [check.accepts("", {"type": "a"}) for _ in range(3)] == [True, True, False]
    assert check.accepts("", {"type": "unknown"})
    assert check.accepts("", {"type": ["no text"]})
    assert check.ended
    assert check.accepts_marker(b"[DONE]")
    assert not check.accepts_marker(b"[1]")


def test_a_finding_may_belong_to_an_earlier_event():
    data = b'data: {"type":"b"}\n\n' * 2
    assert [str(each) for each in LINTER.run(data)] == [
        "event 1: blame: the first event is to blame"
    ]
