"""Findings: the first counts, evidence is short."""

import pytest

from toolglot.discovery.probe import ProbeResponse
from toolglot.discovery.probe_findings import SUBJECTS, Findings, excerpt, id_words, quoted
from toolglot.ir import ToolCall

ANSWER = ProbeResponse(probe="hello", status=200, body=b'{"a":\n 1}')


def test_the_first_finding_on_a_subject_counts():
    findings = Findings()
    findings.once("tools", "called", ANSWER)
    findings.once("tools", "refused", ANSWER)
    assert findings.get("tools") == "called"
    findings.forget("tools")
    assert findings.get("tools") is None


def test_findings_are_sorted_by_their_subjects():
    findings = Findings()
    subjects = [subject for subject, _ in SUBJECTS]
    for subject in reversed(subjects):
        findings.add(subject, "yes", ANSWER)
    assert [each.subject for each in findings.sorted()] == subjects


def test_evidence_quotes_what_came():
    findings = Findings()
    findings.add("tools", "called", ANSWER)
    evidence = findings.findings[0].evidence
    assert (evidence.probe, evidence.status, evidence.excerpt) == ("hello", 200, '{"a": 1}')
    assert quoted(ProbeResponse(failure="no route")) == "no route"
    assert quoted(ProbeResponse(status=400, body=b'{"error": {"message": "No."}}')) == "No."


def test_an_excerpt_is_one_short_line():
    assert excerpt("a\n\t b\x00c ") == "a b c"
    long = excerpt("x" * 10_000)
    assert long.endswith("x…")
    assert len(long) < 500


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("call_0a1b2c", "call_ and 6 letters and digits"),
        ("abcdef123", "9 letters and digits"),
        ("chatcmpl-tool-12-3", "chatcmpl-tool- and 4 characters"),
        ("", "none"),
    ],
)
def test_the_shape_of_an_id(given, words):
    assert id_words(ToolCall(id=given, name="f", arguments="")) == words
