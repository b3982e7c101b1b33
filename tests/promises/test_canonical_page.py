"""The examples of docs/canonical-calls.md, run from top to bottom."""

import doctest
from pathlib import Path

import pytest

from toolglot import parsers, unregister_dialect

PAGE = Path(__file__).parents[2] / "docs" / "canonical-calls.md"
HEADINGS = (
    "One call, every form",
    "Parsers",
    "Detection",
    "Calls in a stream of text",
    "Definitions",
    "Validation",
    "Middleware",
    "Limits",
    "Discovery",
)


@pytest.fixture
def _nothing_stays_registered(monkeypatch):
    monkeypatch.setattr(parsers, "_registered", {})
    yield
    unregister_dialect("shout")


@pytest.mark.usefixtures("_nothing_stays_registered")
def test_the_examples_do_what_they_say():
    """S3-05, S3-10, S3-23, S3-30, S3-38, S3-39, S3-44, S3-46"""
    text = PAGE.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    report: list[str] = []
    outcome = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert outcome.failed == 0, "".join(report)
    assert outcome.attempted > 30


def test_every_section_has_an_example():
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert [section.partition("\n")[0] for section in sections] == list(HEADINGS)
    for section in sections:
        assert "```pycon\n>>> " in section
