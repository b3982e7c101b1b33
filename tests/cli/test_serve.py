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


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ('[providers.a]\nprofile = "openai"\napi_key = "env:NOT_SET_1"', "NOT_SET_1 is not set"),
        ('[server]\ndatabase = "."', "unable to open"),
        ('[server]\nrecord = "toolglot.toml"', "File exists"),
    ],
)
def test_what_cannot_start_says_only_why(tmp_path, capfd, monkeypatch, server, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toolglot.toml").write_text(server)
    assert main(["serve", "--port", "0"]) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("toolglot: ")
    assert words in line


@pytest.mark.parametrize("option", [("--port", "70000"), ("--port", "x"), ("--workers", "0")])
def test_numbers_that_cannot_be_are_refused(option, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", *option])
    assert ended.value.code == 2
    assert option[1] in capsys.readouterr().err
