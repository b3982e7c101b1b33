"""A small part of each experiment; `make torture` and `make torture-long` do more of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.gateway.process import LINUX
from tests.torture.connection import Answer
from tests.torture.conversation import Conversation
from tests.torture.lab import Row, judge
from tests.torture.report import page
from tests.torture.trials import TRIALS

ROOT = Path(__file__).parents[2]
SEED = 20261116
PART = tuple(list(TRIALS)[start::4] for start in range(4))
"""All of them, several in one process, because each process takes a second to start."""
TALK = Conversation(5, "ollama", "ollama", stream=False, calls=1, says=True, between="-")


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="processes are looked at in /proc")
@pytest.mark.parametrize("names", PART, ids=" ".join)
def test_what_breaks_is_told_and_nothing_is_lost(names):
    """In a process of its own, because connections that break are left as they are."""
    command = [sys.executable, "-m", "tests.torture", "--size", "part", "--seed", str(SEED)]
    done = subprocess.run(
        [*command, "--only", *names], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}{done.stderr[-3000:]}"


# --- the judge itself -----------------------------------------------------------------------------


def _answer(text, *keys, done=True):
    calls = ",".join(
        f'{{"function":{{"name":"look_up","arguments":{{"key":"{key}","note":"-","n":0}}}}}}'
        for key in keys
    )
    body = f'{{"message":{{"content":"{text}","tool_calls":[{calls}]}},"done":{str(done).lower()}'
    return Answer(200, f'{body},"done_reason":"stop"}}'.encode(), ended=True)


def test_a_right_answer_holds():
    assert judge(TALK, _answer(TALK.text, TALK.mark("c")), "whole") == []


@pytest.mark.parametrize(
    ("answer", "expect"),
    [
        (_answer("", TALK.mark("c")), "whole"),
        (_answer(TALK.text), "whole"),
        (_answer(TALK.text, TALK.mark("c"), TALK.mark("c")), "whole"),
        (_answer(TALK.text, "mk00000006c00km"), "either"),
        (_answer(TALK.text, TALK.mark("c"), done=False), "either"),
        (_answer(TALK.text, TALK.mark("c")), "told"),
        (Answer(200, _answer(TALK.text, TALK.mark("c")).body, ended=False), "whole"),
        (Answer(502, b'{"error":{}}', ended=True), "whole"),
        (Answer(502, b"<html>", ended=True), "told"),
    ],
    ids=[
        "lost text",
        "lost call",
        "doubled",
        "mixed",
        "cut",
        "success",
        "no end",
        "error",
        "shape",
    ],
)
def test_a_wrong_answer_does_not(answer, expect):
    assert judge(TALK, answer, expect)


def test_the_page_has_figures_seed_and_what_did_not_hold():
    row = Row("cuts", figures={"every": "byte"})
    row.count([], "")
    row.count(["lost"], "anthropic to ollama")
    text = page([row], "short", 7)
    assert "| cuts | 1 | 2 | 0 | every: byte |" in text
    assert "make torture SEED=7" in text
    assert "- cuts: anthropic to ollama: lost" in text
    assert all(f"- `{name}`: {trial.__doc__}" in text for name, trial in TRIALS.items())
