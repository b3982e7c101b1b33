"""What all commands share: help, exit codes, errors in one line, UTF-8, pipes."""

import argparse
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import toolglot
import toolglot.cli
from toolglot.cli import common, help_texts

COMMANDS = [name.removeprefix("toolglot ") for name, _ in help_texts()]
ASK = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Wie spät? ☀"}]}
PAIR = ("--from", "anthropic", "--to", "openai-chat")


def shell(*argv: str, data: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "toolglot", *argv],
        input=data,
        capture_output=True,
        env={**os.environ, **env},
        timeout=60,
        check=False,
    )


def test_version(cli):
    assert cli("--version") == (0, f"toolglot {toolglot.__version__}\n".encode(), "")


def test_help_names_every_command_and_fits_80_columns(cli):
    done = cli("--help")
    text = done.out.decode()
    assert done.code == 0
    assert [name for name in COMMANDS if name.split()[0] not in text] == []
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_shows_an_example(cli, name):
    done = cli(*name.split(), "--help")
    assert done.code == 0
    assert f"toolglot {name}" in done.out.decode().partition("example")[2]


def test_the_documentation_has_every_command():
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert {"translate", "explain", "lint-stream", "diff-sse", "protocols", "demo"} <= {*COMMANDS}
    assert [name for name in COMMANDS if f"\n## toolglot {name}\n" not in page] == []


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("translat",), "there is no 'translat'; perhaps translate"),
        (("translate", "--from", "anthropic"), "give --to PROTOCOL, or --provider"),
        (("translate", "--from", "x", "--to", "gemini"), "--from: 'x' is none of anthropic"),
        (("translate", *PAIR, "--what", "answer"), "argument --what: there is no 'answer'"),
        (("translate", *PAIR, "--split", "4"), "--split has no effect with --what request"),
        (("translate", *PAIR, "--what", "stream", "--pretty"), "--pretty has no effect"),
        (("translate", *PAIR, "--what", "response", "--model", "m"), "--model has no effect"),
        (("translate", *PAIR, "--request", "f"), "--request has no effect with --what request"),
        (("explain", *PAIR, "--what", "stream", "--status", "500"), "--status has no effect"),
        (("lint-stream",), "required: --protocol"),
        (("diff-sse", "one"), "required: B"),
    ],
)
def test_a_wrong_call_is_2_and_says_why(cli, argv, words):
    done = cli(*argv)
    assert (done.code, done.out) == (2, b"")
    assert words in done.err.splitlines()[-1]


@pytest.mark.parametrize("command", ["translate", "explain"])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the input is empty; expected a request"),
        (b"{", "not JSON: Expecting property name"),
        (b"\xff", "not UTF-8: byte 0 is 0xff"),
        (b"[]", "expected object, got array"),
        (b"[" * 200_000, "nested too deeply to be read"),
        (b'{"model":"m"}', "messages"),
        (
            b'{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":5}]}]}',
            "messages[0].content[0].text: expected string, got int",
        ),
        (b'{"model":"m","model":"n"}', "model: the key is there twice"),
    ],
)
def test_bad_input_is_1_and_one_line_with_the_place(cli, command, data, words):
    done = cli(command, *PAIR, data=data)
    assert (done.code, done.out) == (1, b"")
    assert done.err.startswith("toolglot: ")
    assert words in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "argv",
    [
        ("translate", *PAIR, "{}/none.json"),
        ("translate", *PAIR, "{}"),
        ("translate", *PAIR, "--what", "response", "--request", "{}/none.json"),
        ("translate", *PAIR, "--what", "stream", "{}/none.json"),
        ("explain", *PAIR, "{}/none.json"),
        ("lint-stream", "--protocol", "gemini", "{}/none.json"),
        ("diff-sse", "{}/none.json", "{}"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(cli, tmp_path, argv):
    done = cli(*(word.format(tmp_path) for word in argv), data=b"{}")
    assert (done.code, done.out) == (1, b"")
    assert done.err.startswith(f"toolglot: {tmp_path}")
    assert done.err.count("\n") == 1


def test_output_is_utf8_whatever_the_locale():
    body = ASK | {"ünknown": 1, "bad": "\ud800"}
    done = shell(
        "translate",
        *PAIR,
        data=json.dumps(body, ensure_ascii=True).encode(),
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONIOENCODING="ascii",
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["messages"][0]["content"] == "Wie spät? ☀"
    assert "Wie spät? ☀" in done.stdout.decode()
    assert "field-unknown at ünknown" in done.stderr.decode()


def test_a_reader_that_has_seen_enough_hears_nothing_more():
    command = f"{sys.executable} -m toolglot protocols | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == (b"Protocols\n", b"")


def test_a_stream_into_a_closed_pipe_ends_quietly():
    line = json.dumps({"message": {"role": "assistant", "content": "word " * 50}, "done": False})
    argv = ["translate", "--what", "stream", "--from", "ollama", "--to", "anthropic"]
    with subprocess.Popen(
        [sys.executable, "-m", "toolglot", *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate((line + "\n").encode() * 5000, timeout=60)
    assert (process.returncode, err) == (1, b"")


def test_python_dash_m_is_the_same_command():
    done = shell("--version")
    assert (done.returncode, done.stdout) == (0, f"toolglot {toolglot.__version__}\n".encode())
    assert shell("translate", *PAIR, data=b"{").returncode == 1
    assert shell("translate").returncode == 2


def test_an_interrupt_is_quiet(cli, monkeypatch):
    def stopped(_file):
        raise KeyboardInterrupt

    monkeypatch.setattr("toolglot.cli.explain.read_input", stopped)
    assert cli("explain", *PAIR) == (130, b"", "")


def test_hanging_text_keeps_to_the_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = common.hanging("  name", "several words that do not fit in one line of it", 10)
    assert text.splitlines() == [
        "  name    several words that do not fit",
        "          in one line of it",
    ]
    assert common.hanging("a long head", "x", 5) == "a long head x"


def test_a_body_that_says_the_model_where_the_path_does():
    body = {"contents": []}
    assert common.in_body(body, "/v1beta/models/gem:generateContent", "gemini") == {
        "model": "models/gem",
        "contents": [],
    }
    assert common.in_body(body, "/v1beta/tunedModels/a:generateContent", "gemini") == {
        "model": "tunedModels/a",
        "contents": [],
    }
    assert common.in_body(body, "/model/arn%3Aa%2Fb/converse", "bedrock-converse") == {
        "modelId": "arn:a/b",
        "contents": [],
    }
    assert common.in_body(body, "", "gemini") is body
    assert common.in_body(body, "/api/chat", "ollama") is body


def test_standard_output_may_be_anything(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert toolglot.cli.main(["protocols"]) == 0
    assert sys.stdout.getvalue().startswith("Protocols")


# --- times and tables -----------------------------------------------------------------------------

NOW = 1_900_000_000.0


@pytest.mark.parametrize(
    ("text", "later", "earlier"),
    [
        ("30m", NOW + 1800, NOW - 1800),
        ("12h", NOW + 43200, NOW - 43200),
        ("7d", NOW + 604800, NOW - 604800),
        ("2w", NOW + 1209600, NOW - 1209600),
        ("2030-03-17", 1_899_936_000.0, 1_899_936_000.0),
    ],
)
def test_times_are_dates_or_distances(text, later, earlier):
    far = common.distance(text)
    assert (common.moment(far, NOW, 1), common.moment(far, NOW, -1)) == (later, earlier)


@pytest.mark.parametrize("text", ["", "7", "d", "-7d", "7 d", "1y", "2030-02-30", "99999w"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="neither a date like"):
        common.distance(text)


def test_a_time_for_people():
    assert common.spelled(NOW) == "2030-03-17 17:46"


def test_a_table_has_columns(capsys):
    common.print_table([("name", "n"), ("a", "10"), ("long name", "")], right=("n",))
    assert capsys.readouterr().out == "name        n\na          10\nlong name\n"
