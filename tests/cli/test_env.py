"""`toolglot env`, read by real shells."""

import json
import shutil
import subprocess

import pytest

from toolglot.cli.clients import CLIENTS

URL = ("--gateway", "http://127.0.0.1:1234", "--model", "it's $odd")
CHAT = ("--protocol", "openai-chat")


BY_FILE = ("cline", "continue", "pi", "droid", "llm")
"""Clients that have no variables and no arguments for an address."""


@pytest.mark.parametrize("name", BY_FILE)
def test_a_client_that_needs_a_file_is_refused(cli, name):
    done = cli("env", name, *URL)
    assert (done.code, done.out) == (2, b"")
    assert f"use `toolglot run {name}`" in done.err


@pytest.mark.parametrize("name", [name for name in CLIENTS if name not in BY_FILE])
def test_lines_can_be_pasted_into_a_shell(cli, name):
    lines = cli("env", name, *URL).out.decode()
    script = f"{lines}\nenv -0\n"
    environment = {"PATH": "/usr/bin:/bin"}
    command = ["sh", "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    said = dict(each.split("=", 1) for each in done.stdout.decode().strip("\0").split("\0"))
    assert "http://127.0.0.1:1234" in json.dumps(said) + lines
    assert "it's $odd" in json.dumps(said) or name == "codex"


def test_arguments_become_an_alias(cli, tmp_path):
    lines = cli("env", "codex", *URL).out.decode()
    program = tmp_path / "codex"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    script = tmp_path / "script"
    script.write_text(f"shopt -s expand_aliases\n{lines}\ncodex exec hello\n")
    bash = shutil.which("bash")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run([bash, script], env=environment, capture_output=True, check=True)
    told = done.stdout.decode().splitlines()
    assert told[-2:] == ["exec", "hello"]
    assert '-c=model_providers.toolglot.base_url="http://127.0.0.1:1234/v1"' in told
    assert """-c=model="it's $odd\"""" in told


def test_fish_and_powershell(cli):
    fish = cli("env", "qwen", *URL, *CHAT, "--shell", "fish").out.decode()
    assert "set -gx OPENAI_MODEL 'it\\'s $odd'\n" in fish
    assert "function qwen; command qwen '--auth-type=openai' $argv; end\n" in fish
    power = cli("env", "qwen", *URL, *CHAT, "--shell", "powershell").out.decode()
    assert "$env:OPENAI_MODEL = 'it''s $odd'\n" in power
    assert "'--auth-type=openai' @args }" in power


def test_the_address_of_the_usual_gateway(cli, monkeypatch):
    monkeypatch.delenv("TOOLGLOT_GATEWAY", raising=False)
    assert b"export ANTHROPIC_BASE_URL=http://127.0.0.1:8100\n" in cli("env", "claude").out
    monkeypatch.setenv("TOOLGLOT_GATEWAY", "http://elsewhere:1")
    assert b"export ANTHROPIC_BASE_URL=http://elsewhere:1\n" in cli("env", "claude").out


def test_a_key(cli, monkeypatch):
    monkeypatch.setenv("TOOLGLOT_KEY", "tg-environment")
    assert b"AUTH_TOKEN=tg-environment\n" in cli("env", "claude").out
    assert b"AUTH_TOKEN=tg-option\n" in cli("env", "claude", "--key", "tg-option").out


def test_a_hint_is_a_comment(cli):
    assert cli("env", "gemini").out.startswith(b"# Gemini CLI must be set to use an API key")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("nobody",), "there is no 'nobody'"),
        (("claude", "--protocol", "gemini"), "Claude Code speaks anthropic, not gemini"),
        (("opencode",), "opencode needs a model: add --model"),
    ],
)
def test_called_wrongly(cli, argv, words):
    done = cli("env", *argv)
    assert done.code == 2
    assert words in done.err
