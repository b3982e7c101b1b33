"""What is installed, seen with programs of our own on the path."""

import aiohttp
import pytest

from toolglot import __version__
from toolglot.cli import installed
from toolglot.cli.clients import CLIENTS


@pytest.fixture
def program(monkeypatch, tmp_path):
    """A program on a path that has nothing else."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(name, script):
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    return put


def test_packages(monkeypatch):
    monkeypatch.setattr(installed, "_PACKAGES", ("aiohttp", "no-such-package"))
    found = installed.packages()
    assert found["toolglot"] == __version__
    assert found["aiohttp"] == aiohttp.__version__
    assert found["no-such-package"] is None
    assert "Python" in found


def test_clients(program, monkeypatch):
    monkeypatch.setattr(installed, "_SECONDS", 0.5)
    program("claude", "echo '2.1.197 (Claude Code)'")
    program("codex", "echo codex-cli 0.166.0-alpha.1")
    program("gemini", "echo hello")
    program("qwen", "while :; do :; done")
    found = installed.clients()
    assert [name for name in CLIENTS if name not in found] == []
    assert {name: found[name] for name in list(CLIENTS)[:5]} == {
        "claude": "2.1.197",
        "codex": "0.166.0-alpha.1",
        "gemini": "of unknown version",
        "opencode": None,
        "qwen": "does not start",
    }
