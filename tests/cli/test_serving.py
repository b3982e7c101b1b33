"""A gateway of one's own: started, waited for, ended."""

import sys

import pytest

from toolglot.cli import ping as probe
from toolglot.cli.serving import own_gateway

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[4], "w").write("4321\\n")
signal.pause()
"""


def test_it_answers_and_ends(tmp_path):
    (tmp_path / "toolglot.toml").write_text("")
    with own_gateway(tmp_path, "--config", str(tmp_path / "toolglot.toml")) as url:
        assert probe.is_running(url)
    assert not probe.is_running(url)


def test_why_it_did_not_start(tmp_path):
    bad = tmp_path / "toolglot.toml"
    bad.write_text("[server]\nport = 'x'\n")
    with (
        pytest.raises(probe.UnreachableError, match=r"did not start: toolglot: .*toolglot\.toml"),
        own_gateway(tmp_path, "--config", str(bad)),
    ):
        pytest.fail("it started")


def test_it_takes_too_long(tmp_path):
    command = (sys.executable, "-c", "import signal; signal.pause()")
    with (
        pytest.raises(probe.UnreachableError, match=r"within 0\.1 seconds"),
        own_gateway(tmp_path, command=command, patience=0.1),
    ):
        pytest.fail("it started")


def test_it_ends_without_a_word(tmp_path):
    with (
        pytest.raises(probe.UnreachableError, match="did not start: exit code 3"),
        own_gateway(tmp_path, command=(sys.executable, "-c", "raise SystemExit(3)")),
    ):
        pytest.fail("it started")


def test_one_that_does_not_want_to_end(tmp_path, monkeypatch):
    monkeypatch.setattr("toolglot.cli.serving._END_SECONDS", 0.1)
    with own_gateway(tmp_path, command=(sys.executable, "-c", STUBBORN)) as url:
        assert url == "http://127.0.0.1:4321"
