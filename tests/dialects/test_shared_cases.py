"""Outputs collected from public test suites, if they lie beside the repository.

The numbers are what passed when they were last raised: they may go up, never down.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import ParsedText, TextDecoder, merged, parse_text

FOLDER = Path(__file__).resolve().parents[3] / "shared"
CASES = FOLDER / "dialect-cases.jsonl"
STREAMS = FOLDER / "dialect-stream-cases.jsonl"
RECORDED: dict[str, int] = {}  # recorded
pytestmark = pytest.mark.skipif(not CASES.exists(), reason="the collected cases are not here")


def _lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def _flat(text: str | None) -> str:
    return " ".join((text or "").split())


def _strict(case: dict) -> bool:
    note = case.get("note") or ""
    return "[impl-defined]" not in note and "[policy:" not in note


def _thinking(case: dict) -> bool:
    return "[mode:thinking-prefilled]" in (case.get("note") or "")


def _passes(case: dict) -> bool:
    expected = case["expect"]
    parsed = parse_text(case["text"], case.get("tools"), case["format"], thinking=_thinking(case))
    found = [(call.name, json.loads(call.arguments)) for call in parsed.calls]
    if found != [(call["name"], call["arguments"]) for call in expected["calls"]]:
        return False
    for call, wanted in zip(parsed.calls, expected["calls"], strict=True):
        if wanted.get("id") and call.id != wanted["id"]:
            return False
    lenient = "[lenient-content]" in (case.get("note") or "")
    if not lenient and _flat(parsed.content) != _flat(expected["content"]):
        return False
    return "reasoning" not in expected or _flat(parsed.reasoning) == _flat(expected["reasoning"])


def _cut(pieces: list[str], case: dict, dialect: str) -> ParsedText:
    decoder = TextDecoder(dialect, case.get("tools"), thinking=_thinking(case))
    segments = [each for piece in pieces for each in decoder.feed(piece)]
    return ParsedText(decoder.dialect, tuple(merged([*segments, *decoder.close()])))


def test_strict_cases_do_not_get_worse():
    passed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case in filter(_strict, _lines(CASES)):
        total[case["format"]] += 1
        passed[case["format"]] += case["format"] in DIALECTS and _passes(case)
    for name, count in total.most_common():
        print(f"{name} {passed[name]}/{count}")
    print(f"all {passed.total()}/{total.total()}")
    worse = {
        name: (passed[name], count) for name, count in RECORDED.items() if passed[name] < count
    }
    assert worse == {}
    assert RECORDED.keys() == total.keys()


@pytest.mark.parametrize("dialect", ["own", "auto"])
def test_every_case_is_the_same_by_the_character(dialect):
    for case in _lines(CASES):
        name = case["format"] if dialect == "own" else "auto"
        text = case["text"]
        assert _cut(list(text), case, name) == _cut([text], case, name), case["id"]


@pytest.mark.skipif(not STREAMS.exists(), reason="the collected streams are not here")
def test_every_stream_is_the_same_as_its_whole_text():
    for case in _lines(STREAMS):
        chunks = [chunk for chunk in case["chunks"] if isinstance(chunk, str)]
        whole = _cut(["".join(chunks)], case, case["format"])
        assert _cut(chunks, case, case["format"]) == whole, case["id"]
