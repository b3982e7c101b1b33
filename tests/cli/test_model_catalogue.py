"""Telling a client about a model that it does not know."""

import json

import pytest

from toolglot.cli.clients import CLIENTS
from toolglot.cli.model_catalogue import catalogue_with

ROW = CLIENTS["codex"].catalogue
OWN = {
    "models": [
        {"slug": "gpt-6.1-sol", "use_responses_lite": True},
        {"slug": "gpt-5.5", "base_instructions": "You are Codex.", "upgrade": {"to": "gpt-6"}},
    ],
    "etag": "1",
}


@pytest.fixture
def program(tmp_path):
    """A client that prints a catalogue, or anything else."""

    def make(text, code=0):
        file = tmp_path / "client"
        file.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
        file.chmod(0o755)
        return str(file)

    return make


def test_an_entry_is_copied_and_changed(program):
    known = {"context_window": 65536}
    made = json.loads(catalogue_with(ROW, program(json.dumps(OWN)), "qwen3:8b", known))
    entry, *others = made["models"]
    assert others == OWN["models"]
    assert made["etag"] == "1"
    assert entry["slug"] == entry["display_name"] == "qwen3:8b"
    assert entry["base_instructions"] == "You are Codex."
    assert entry["upgrade"] is None
    assert entry["context_window"] == 65536


def test_a_model_that_it_knows_needs_nothing(program):
    assert catalogue_with(ROW, program(json.dumps(OWN)), "gpt-6.1-sol", {}) is None


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"models": 1}', '{"models": [1]}', "{}"])
def test_what_cannot_be_read_is_left_alone(program, text):
    assert catalogue_with(ROW, program(text), "qwen3:8b", {}) is None
    assert catalogue_with(ROW, program(json.dumps(OWN), code=1), "qwen3:8b", {}) is None
    assert catalogue_with(ROW, "/no/such/program", "qwen3:8b", {}) is None
