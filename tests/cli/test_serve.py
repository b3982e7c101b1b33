import pytest

from toolglot.cli import main


def test_a_wrong_configuration_is_told_with_its_line(tmp_path, capsys):
    file = tmp_path / "toolglot.toml"
    file.write_text("[server]\nport = 8100\nprot = 3\n")
    assert main(["serve", "--config", str(file)]) == 1
    assert f"{file}:3: server.prot: there is no such key" in capsys.readouterr().err


def test_a_configuration_that_is_not_there(tmp_path, capsys):
    assert main(["serve", "--config", str(tmp_path / "gone.toml")]) == 1
    assert "gone.toml" in capsys.readouterr().err


def test_the_network_is_refused_without_keys(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--host", "0.0.0.0", "--port", "0"]) == 1
    assert "--keys" in capsys.readouterr().err


def test_help_shows_an_example(capsys):
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    assert "toolglot serve --config" in capsys.readouterr().out
