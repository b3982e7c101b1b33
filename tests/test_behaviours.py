"""The numbered statements of docs/behaviours.md and the tests that name them are the same set."""

import re
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent
DOCUMENT = TESTS.parent / "docs" / "behaviours.md"

NUMBER = r"(S[0-4]-\d\d|X-\d\d|D-\d\d|case-\d\d)"
NAMED = re.compile(rf"\b{NUMBER}\b")
# A bullet or a table row that starts with the number in bold.
STATED = re.compile(rf"^\s*[-*|]\s*\*\*{NUMBER}\*\*", re.MULTILINE)


def stated() -> list[str]:
    return STATED.findall(DOCUMENT.read_text(encoding="utf-8"))


def named() -> dict[str, Path]:
    return {
        number: path
        for path in sorted(TESTS.rglob("*.py"))
        if path != Path(__file__)
        for number in NAMED.findall(path.read_text(encoding="utf-8"))
    }


def test_statement_patterns():
    text = "- **S0-21** a\n* **X-05** b\n| **D-01** | c |\n  - **case-07** d\nsee **S0-22**"
    assert STATED.findall(text) == ["S0-21", "X-05", "D-01", "case-07"]


def test_numbers_are_stated_once():
    assert [number for number, count in Counter(stated()).items() if count > 1] == []


def test_numbers_named_by_tests_are_stated():
    unknown = {number: path.name for number, path in named().items() if number not in stated()}
    assert unknown == {}, "named by a test, absent from docs/behaviours.md"


def test_stated_numbers_are_named_by_tests():
    untested = sorted(set(stated()) - named().keys())
    assert untested == [], "stated in docs/behaviours.md, named by no test"
