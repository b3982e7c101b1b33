import os
import socket
import subprocess
import sys
from contextlib import contextmanager

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


def test_an_address_that_is_the_gateways_own_is_refused(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = '[server]\nport = 8100\n[providers.a]\nbase_url = "http://localhost:8100/v1/messages"\n'
    (tmp_path / "toolglot.toml").write_text(text)
    assert main(["serve"]) == 1
    assert "providers.a.base_url: http://localhost:8100/v1/messages is" in capfd.readouterr().err


@contextmanager
def serving(folder, environ, *options):
    """A gateway as a process, and the lines that it says."""
    clean = {name: value for name, value in os.environ.items() if "_API_KEY" not in name}
    process = subprocess.Popen(
        [sys.executable, "-m", "toolglot", "serve", *options],
        cwd=folder,
        env={**clean, **environ},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process.stderr
    finally:
        process.terminate()
        process.communicate(timeout=30)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def test_an_address_where_nobody_is_is_named_at_the_start(tmp_path):
    port = free_port()
    with serving(tmp_path, {"OLLAMA_HOST": f"0.0.0.0:{port}"}, "--port", "0") as said:
        assert said.readline().startswith("toolglot listens on ")
        warning = next(line for line in said if line.startswith("warning"))
    assert warning.startswith(f"warning: provider ollama: http://127.0.0.1:{port}/api/tags: ")
    assert "Connection refused" in warning


def test_an_address_in_the_environment_that_is_the_gateways_own_is_named(tmp_path):
    port = free_port()
    with serving(tmp_path, {"OLLAMA_HOST": f"localhost:{port}"}, "--port", str(port)) as said:
        warning = said.readline()
        assert said.readline().startswith("toolglot listens on ")
    assert warning.startswith("warning: OLLAMA_HOST is the address of this gateway itself")


def test_serving_loads_nothing_that_it_does_not_use():
    """Each of these takes a tenth of the time in which the gateway starts."""
    code = (
        "import sys; from toolglot.cli import parser_for; parser_for('serve');"
        "import toolglot.gateway.app as it, toolglot.gateway.http.server;"
        "from toolglot.gateway.config import Config; it.App(Config());"
        "print(*{'sqlite3', 'http.client', 'toolglot.discovery', 'toolglot.dialects'}"
        " & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
