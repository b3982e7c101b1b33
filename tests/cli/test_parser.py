"""Mistyped arguments."""

import pytest

from toolglot.cli import main


def said(capsys, *argv):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    return capsys.readouterr().err


MISTYPED = {
    "a command": (("tranlate",), "there is no 'tranlate'; perhaps translate"),
    "an option": (("parse", "--dialekt", "hermes"), "perhaps --dialect?"),
    "a dialect": (("parse", "--dialect", "hermess"), "perhaps hermes"),
    "nothing close": (("xyzzy",), "`toolglot --help` lists what there is"),
    "a client": (("run", "klaude"), "perhaps claude?: expected one of claude, codex"),
}


@pytest.mark.parametrize("case", MISTYPED)
def test_a_guess_at_what_was_meant(case, capsys):
    argv, words = MISTYPED[case]
    assert words in said(capsys, *argv)


def test_without_a_command_there_is_help(capsys):
    assert main([]) == 0
    assert "COMMAND" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["openai", "google", "ollama"])
def test_a_provider_stands_for_its_protocol(name, capsys, monkeypatch, tmp_path):
    file = tmp_path / "in.json"
    file.write_text('{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}')
    assert main(["translate", "--from", "anthropic", "--to", name, str(file)]) == 0
