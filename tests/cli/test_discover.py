"""`toolglot discover`: a server or a sample, shown, as JSON, or written into the configuration."""

import json
import os
import pty
import socket
import subprocess
import sys
import tomllib

import pytest
from tests.discovery.loopback import KEY, serving
from tests.discovery.scripted import Faithful, chat, chat_call, chat_only, reply

CHAT = Faithful(protocols=("openai-chat",))


def test_findings_are_shown_with_their_evidence(cli):
    """S3-43, S3-44: format, example, parser and schema style first, then all that was found."""
    with serving(CHAT) as url:
        done = cli("discover", url, columns=100)
    out = done.out.decode()
    assert (done.code, done.err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "format of calls json"
    assert "parser openai-chat" in lines
    assert "schema style openai" in lines
    assert f"client library openai, base URL {url}/v1" in lines
    assert lines[lines.index("tools called") + 1] == '[tools 200] get_weather {"city": "Paris"}'
    assert lines[-1].startswith("unknown reasoning")
    assert max(map(len, out.splitlines())) <= 100


def test_json_has_the_whole_result(cli):
    """S3-43: provider, sdk and tooling, each with its own fields."""
    with serving(CHAT) as url:
        done = cli("discover", url, "--json", "--model", "other")
    value = json.loads(done.out)
    assert done.code == 0
    assert value["tooling"].keys() == {"format", "example", "parser", "quirks", "schema_style"}
    assert value["provider"]["model"] == "other"
    assert value["sdk"] == {"name": "openai", "base_url": f"{url}/v1"}
    assert {"subject", "value", "evidence"} == value["findings"][0].keys()
    assert value["asked"][0]["method"] == "GET"


def test_a_sample_from_a_file_or_from_standard_input(cli, tmp_path):
    file = tmp_path / "answer.json"
    file.write_bytes(chat_call("call_1").body)
    done = cli("discover", "--sample", str(file), "--json")
    assert json.loads(done.out)["tooling"]["parser"] == "openai-chat"
    said = chat({"content": "<tool>ls -la</tool>"}).body
    done = cli("discover", "--sample", "-", data=said)
    assert b"dialect of calls in the text  generic_tool_xml" in done.out
    assert done.code == 0


def test_a_sample_that_shows_nothing(cli, tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("Nothing to see here.")
    done = cli("discover", "--sample", str(file))
    assert (done.code, done.out) == (1, b"")
    assert "words.txt: no protocol and no tool call was recognised in it" in done.err
    assert cli("discover", "--sample", str(tmp_path / "none")).code == 1


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        ((), "give the URL of a server, or --sample FILE"),
        (("http://x", "--sample", "y"), "give the URL of a server, or --sample FILE"),
        (("--sample", "y", "--write", "z"), "cannot be combined with --sample"),
        (("http://x", "--key", KEY), "--key takes env:NAME or file:PATH"),
        (("http://x", "--key", "env:"), "--key takes env:NAME or file:PATH"),
    ],
)
def test_wrong_calls(cli, argv, why):
    done = cli("discover", *argv)
    assert done.code == 2
    assert why in done.err
    assert KEY not in done.err


# --- keys -----------------------------------------------------------------------------------------


def gate(probe):
    return CHAT(probe) if probe.auth == "x-api-key" else reply(401, {"error": {"message": "who?"}})


def test_a_key_from_the_environment_or_a_file(cli, tmp_path, monkeypatch):
    file = tmp_path / "key"
    file.write_text(KEY + "\n")
    monkeypatch.setenv("SOME_KEY", KEY)
    for form in ("env:SOME_KEY", f"file:{file}"):
        with serving(gate) as url:
            done = cli("discover", url, "--key", form)
        assert done.code == 0
        assert b"how a key is sent             x-api-key" in done.out
        assert KEY not in done.out.decode() + done.err


def test_what_to_do_about_keys(cli, monkeypatch):
    with serving(gate) as url:
        done = cli("discover", url)
        assert done.code == 1
        assert (
            f"{url}: the server requires a key; give --key env:NAME or --key file:PATH" in done.err
        )
        monkeypatch.setenv("SOME_KEY", "not-the-right-one")
        done = cli("discover", url, "--key", "env:SOME_KEY")
    assert done.code == 1
    assert "the key in env:SOME_KEY was not accepted (sent as Authorization, x-api-key" in done.err
    monkeypatch.delenv("SOME_KEY")
    done = cli("discover", "http://x", "--key", "env:SOME_KEY")
    assert (done.code, done.err) == (1, "toolglot: the environment variable SOME_KEY is not set\n")


# --- nothing found --------------------------------------------------------------------------------


def test_what_is_no_llm_server(cli):
    page = reply(200, b"<!doctype html><title>Router</title>", "text/html")
    with serving(lambda _: page) as url:
        done = cli("discover", url)
    assert (done.code, done.out) == (1, b"")
    assert "no LLM server was recognised. Tried GET" in done.err
    assert f"POST {url}/v1/chat/completions: 200" in done.err


def test_a_server_that_wants_to_know_the_model(cli):
    missing = reply(404, {"error": {"message": "model default does not exist"}})
    with serving(lambda probe: missing) as url:
        done = cli("discover", url)
    assert done.code == 1
    assert "the server does not have this model; choose one with --model" in done.err


def test_nobody_there(cli):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        done = cli("discover", f"http://127.0.0.1:{free.getsockname()[1]}")
    assert done.code == 1
    assert "is the server running, and is this its port?" in done.err
    assert cli("discover", "ftp://x").err == (
        "toolglot: this is no address; give http://HOST:PORT or https://HOST\n"
    )


def test_without_the_extra(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "toolglot.gateway.checks.discovery_client", None)
    done = cli("discover", "http://x")
    assert done.code == 1
    assert "pip install 'toolglot[gateway]'" in done.err


# --- writing --------------------------------------------------------------------------------------


def test_the_provider_is_written_into_the_configuration(cli, tmp_path):
    file = tmp_path / "toolglot.toml"
    file.write_text("# Ours.\n[server]\nport = 1\n")
    file.chmod(0o600)
    with serving(CHAT) as url:
        done = cli("discover", url, "--write", str(file), "--name", "mine")
        assert done.code == 0
        assert f"{file}: added provider mine; its models are mine/MODEL" in done.err
        text = file.read_text()
        assert text.startswith("# Ours.\n[server]\nport = 1\n")
        assert tomllib.loads(text)["providers"]["mine"]["base_url"] == f"{url}/v1"
        again = cli("discover", url, "--write", str(file), "--name", "mine")
        assert again.code == 1
        assert f"{file}: there is a provider 'mine' already" in again.err
        assert file.read_text() == text
        replaced = cli("discover", url, "--write", str(file), "--name", "mine", "--replace")
    assert replaced.code == 0
    assert file.read_text() == text
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["toolglot.toml"]


def test_a_new_configuration_gets_a_name_from_the_address(cli, tmp_path):
    file = tmp_path / "toolglot.toml"
    with serving(CHAT) as url:
        assert cli("discover", url, "--write", str(file)).code == 0
    assert list(tomllib.loads(file.read_text())["providers"]) == [f"local-{url.rpartition(':')[2]}"]


def test_nothing_found_is_not_written(cli, tmp_path):
    file = tmp_path / "toolglot.toml"
    with serving(lambda _: reply(404, {})) as url:
        assert cli("discover", url, "--write", str(file)).code == 1
    assert not file.exists()


def test_a_folder_that_is_not_there(cli, tmp_path):
    with serving(chat_only({}, chat_call("call_1"))) as url:
        done = cli("discover", url, "--write", str(tmp_path / "none" / "toolglot.toml"))
    assert done.code == 1
    assert "No such file or directory" in done.err


def test_each_probe_is_told_on_a_terminal():
    """Progress is for people: it goes to a terminal only, and never into a file."""
    main, side = pty.openpty()
    with serving(CHAT) as url:
        command = [sys.executable, "-m", "toolglot", "discover", url, "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=side, check=True, timeout=60)
    os.close(side)
    said = os.read(main, 65536).decode()
    os.close(main)
    assert "models        GET" in said
    assert "tools         POST" in said
    assert json.loads(done.stdout)["provider"]["model"] == "tiny"
