"""What README.md shows works: Python blocks are run in order, commands are called."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from toolglot.cli import _parser, main
from toolglot.registry import PROTOCOLS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^    (toolglot .+)$", README, re.MULTILINE)
MAKE = re.findall(r"^    make (\w+)", README, re.MULTILINE)

ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-6.1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "tide_table", "arguments": "{}"},
                    }
                ],
            },
        }
    ],
}
REQUEST = {
    "model": "claude-sonnet-5",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
}
ROW = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}
FILES = {
    "in.json": REQUEST,
    "request.json": {"model": "gpt-6.1", "input": "hi"},
    "session.jsonl": ROW,
    "rows.jsonl": ROW,
}

STREAMS = {
    "recorded.txt": "openai-chat/parallel-calls.stream.txt",
    "stream.txt": "anthropic/text.stream.txt",
}

LASTING = {"serve", "run"}
"""Commands that run until they are stopped, and are tried as processes of their own."""


class Client:
    """Someone to write to."""

    def __init__(self) -> None:
        self.received = b""

    def write(self, data: bytes) -> None:
        self.received += data


def test_the_python_blocks_run_one_after_the_other(capsys):
    stream = ROOT / "tests" / "fixtures" / "openai-chat" / "parallel-calls.stream.txt"
    known = {
        "request": REQUEST,
        "answer": ANSWER,
        "response": ANSWER,
        "upstream": [stream.read_bytes()],
        "client": Client(),
    }
    assert len(PYTHON) >= 4
    for block in PYTHON:
        exec(compile(block, "README.md", "exec"), known)  # our own text
        if "upstream" in block:
            assert known["client"].received.endswith(b"event: message_stop\n" + _last())
    assert "/v1/chat/completions" in capsys.readouterr().out
    assert known["wire"].body["stop_reason"] == "tool_use"
    assert [message["role"] for message in known["messages"]] == ["assistant", "tool"]


def _last() -> bytes:
    return b'data: {"type":"message_stop"}\n\n'


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_can_be_called_as_shown(command, tmp_path, monkeypatch, capsysbinary):
    for name, body in FILES.items():
        (tmp_path / name).write_text(json.dumps(body))
    for name, fixture in STREAMS.items():
        (tmp_path / name).write_bytes((ROOT / "tests" / "fixtures" / fixture).read_bytes())
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command, comments=True)
    if words[1] in LASTING:
        assert callable(_parser().parse_args(words[1:]).run)
        return
    if "<" in words:
        place = words.index("<")
        file = (tmp_path / words[place + 1]).open()
        monkeypatch.setattr("sys.stdin", file)
        words = words[:place]
        assert main(words[1:]) == 0
        file.close()
    else:
        assert main(words[1:]) == 0
    assert capsysbinary.readouterr().out


def test_commands_are_shown():
    assert {shlex.split(command)[1] for command in COMMANDS} >= {"translate", "explain"}


def test_make_knows_the_targets_that_are_shown():
    assert MAKE
    for target in MAKE:
        done = subprocess.run(
            ["make", "--dry-run", "--always-make", target],
            cwd=ROOT,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()


def test_every_protocol_is_listed():
    assert [name for name in PROTOCOLS if f"| `{name}` |" not in README] == []


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert "://" in target or (ROOT / target).exists(), f"README.md links to {target}"
