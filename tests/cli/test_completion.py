"""What shells are told about commands, options and their values."""

import shutil
import subprocess
import sys

import pytest

from toolglot.cli import parser_for
from toolglot.cli.clients import CLIENTS
from toolglot.cli.completion import candidates
from toolglot.registry import PROTOCOLS

CASES = {
    "tr": {"translate"},
    "tools ": {"format", "parse", "result"},
    "tools format --to ": set(PROTOCOLS),
    "translate --from ": set(PROTOCOLS),
    "translate --from=anth": {"--from=anthropic"},
    "translate --from = anth": {"anthropic"},
    "translate --what st": {"stream"},
    "translate --prov": {"--provider"},
    "translate --provider deep": {"deepinfra", "deepseek"},
    "parse --dialect hermes_": {"hermes_lenient"},
    "run ": set(CLIENTS),
    "run claude --no": {"--no-check"},
    "run claude -- -": set(),
    "translate --receipt ": set(),
}


@pytest.mark.parametrize("typed", CASES)
def test_what_can_follow(typed):
    words = typed.split(" ")
    found = set(candidates(parser_for(*words[:1]), words))
    assert found == CASES[typed] or (typed.endswith("deep") and found <= CASES[typed])


def test_every_command_is_offered():
    assert set(candidates(parser_for(), [""])) >= {"serve", "run", "translate", "completion"}


SHELLS = {
    "bash": "COMP_WORDS=(toolglot tra); COMP_CWORD=1; _toolglot; echo ${COMPREPLY[@]}",
    "fish": "complete -C 'toolglot tra'",
}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_every_shell(shell, cli, tmp_path):
    script = cli("completion", shell).out.decode()
    assert "toolglot completion --words" in script
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    check = subprocess.run(
        [program, "-n"], input=script, text=True, capture_output=True, check=False
    )
    assert check.returncode == 0, check.stderr
    if shell in SHELLS:
        (tmp_path / "toolglot").write_text(f'#!/bin/sh\nexec {sys.executable} -m toolglot "$@"\n')
        (tmp_path / "toolglot").chmod(0o755)
        done = subprocess.run(
            [program, "-c", f"PATH={tmp_path}:$PATH\n{script}\n{SHELLS[shell]}"],
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.stdout.split() == ["translate"]


def test_a_shell_must_be_named(cli):
    done = cli("completion")
    assert done.code == 2
    assert "bash, zsh, fish" in done.err
