"""The path of a note leads to a member of the body that came, or, of what was added, of the body
that goes.
"""

import re
from typing import Any

import pytest
from tests.laws.corpus import NAMES, path_to
from tests.protocols.harness import Harness, load, stem

from toolglot.receipt import Note
from toolglot.translate import translate_request, translate_response

ADDED = frozenset(
    {
        "default-added",
        "cache-marked",
        "schema-default",
        "strict-added",
        "turn-added",
        "id-made",
        "nothing-to-send",
    }
)
"""What speaks of something that the source does not have."""

REQUESTS = [(name, path) for name in NAMES for path in Harness(name).requests]
RESPONSES = [(name, path) for name in NAMES for path in Harness(name).responses]
ERRORS = [(name, path) for name in NAMES for path in Harness(name).errors]


def leads(body: Any, path: str) -> bool:
    """Whether a path can be followed to its end."""
    for step in re.findall(r"\[\d+\]|[^.\[\]]+", path):
        if step[0] == "[":
            if not isinstance(body, list) or int(step[1:-1]) >= len(body):
                return False
            body = body[int(step[1:-1])]
        elif isinstance(body, dict) and step in body:
            body = body[step]
        else:
            return False
    return True


def astray(note: Note, body: Any) -> bool:
    """Whether a note speaks of a place that is not there."""
    return bool(note.path) and note.code not in ADDED and not leads(body, note.path)


@pytest.mark.parametrize(("source", "path"), REQUESTS, ids=stem)
def test_notes_of_requests_lead_into_them(source, path):
    body = load(path)
    for target in NAMES:
        _, receipt = translate_request(body, source=source, target=target, path=path_to(source))
        assert [str(note) for note in receipt if astray(note, body)] == []


@pytest.mark.parametrize(("source", "path"), RESPONSES, ids=stem)
def test_notes_of_answers_lead_into_them(source, path):
    body = load(path)
    for target in NAMES:
        _, receipt = translate_response(body, source=source, target=target)
        assert [str(note) for note in receipt if astray(note, body)] == []


@pytest.mark.parametrize(("source", "path"), ERRORS, ids=stem)
def test_notes_of_errors_lead_into_them(source, path):
    body = load(path)
    for target in NAMES:
        _, receipt = translate_response(body, source=source, target=target, status=400)
        assert [str(note) for note in receipt if astray(note, body)] == []
