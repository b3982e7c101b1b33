"""The doctor, with providers of every protocol and of every kind of trouble."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path

import pytest
from aiohttp import web
from tests.gateway import weather
from tests.gateway.running import BASES, listening, upstream

from toolglot.cli.clients import CLIENTS
from toolglot.gateway import checks
from toolglot.profiles import profiles
from toolglot.registry import PROTOCOLS

SECRET = "sk-0123456789abcdefgh"


@pytest.fixture(autouse=True)
def _bare(monkeypatch, tmp_path):
    """A machine without keys, clients or configuration."""
    for profile in profiles():
        for name in profile.auth.env:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("WORK_KEY", SECRET)
    monkeypatch.chdir(tmp_path)


def table(name, protocol, url, more=""):
    return (
        f'[providers.{name}]\nprotocol = "{protocol}"\nbase_url = "{url}{BASES[protocol]}"\n'
        f'api_key = "env:WORK_KEY"\nretries = 0\n{more}\n'
    )


def run(cli, servers, config, *argv):
    """The command, while servers run; their addresses are filled into the configuration."""

    def command(text):
        Path("toolglot.toml").write_text(text, encoding="utf-8")
        return cli("doctor", *argv, columns=200)

    async def main():
        async with contextlib.AsyncExitStack() as stack:
            urls = [await stack.enter_async_context(each) for each in servers]
            text = config(*(getattr(url, "url", url) for url in urls))
            return await asyncio.to_thread(command, text)

    return asyncio.run(main())


def test_all_protocols(cli):
    done = run(
        cli,
        [weather.behaving(weather.able)],
        lambda url: "".join(table(f"up-{each}", each, url) for each in PROTOCOLS),
    )
    text = done.out.decode()
    assert done.code == 0, text
    assert f"toolglot.toml is valid: {len(PROTOCOLS)} providers" in text
    assert text.count("models: scripted") == len(PROTOCOLS)
    for protocol in PROTOCOLS:
        for form in ("whole", "stream"):
            assert f"  {protocol:<17} {form:<7}works   2 requests in " in text
    assert text.endswith("Everything works.\n")
    assert "env:WORK_KEY sk-…efgh" in text
    assert SECRET not in text
    assert not done.err


def test_as_json(cli):
    done = run(
        cli,
        [weather.behaving(weather.able)],
        lambda url: table("up", "gemini", url) + table("gone", "ollama", "http://127.0.0.1:9"),
        "--json",
        "--provider",
        "up",
        "--model",
        "mine",
    )
    report = json.loads(done.out)
    assert done.code == 0
    assert report["works"]
    assert set(report["clients"]) == set(CLIENTS)
    assert report["versions"]["Python"]
    assert report["config"] == {
        "path": "toolglot.toml",
        "words": "toolglot.toml is valid: 2 providers, 0 routes",
        "problem": "",
    }
    assert report["keys"]["up"] == [{"source": "env:WORK_KEY", "masked": "sk-…efgh", "problem": ""}]
    (up,) = report["providers"]
    assert (up["name"], up["works"], up["model"]) == ("up", True, "mine")
    assert [each["requests"] for each in up["outcomes"]] == [2, 2]


async def refuse(_request):
    body = {"error": {"message": f"Incorrect API key: {SECRET}", "type": "authentication_error"}}
    return web.json_response(body, status=401)


@contextlib.asynccontextmanager
async def nobody():
    async with listening(web.Application()) as url:
        pass
    yield url


def test_what_does_not_work_and_why(cli):
    done = run(
        cli,
        [upstream(refuse), nobody(), weather.behaving(weather.toolless)],
        lambda wrong, gone, plain: (
            table("wrong", "anthropic", wrong, 'models = ["m"]')
            + table("gone", "openai-chat", gone)
            + table("plain", "ollama", plain)
            + '[providers.unset]\nprofile = "openai"\napi_key = "env:UNSET_KEY"\n'
        ),
    )
    text = done.out.decode()
    assert done.code == 1
    assert text.endswith("Not everything works.\n")
    assert "fails   Incorrect API key: sk-…efgh; check its key" in text
    assert "is the server running, and is this its port?" in text
    assert 'does not support tools; set tools = "emulated" for this provider' in text
    assert "the environment variable UNSET_KEY is not set" in text
    assert SECRET not in text


def test_a_broken_configuration(cli, tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text('[server]\nport = 8100\n\n[providers.up]\nprotocol = "morse"\nbase_url = "x"\n')
    done = cli("doctor", "--config", str(file), columns=200)
    assert done.code == 1
    assert f"{file}:5: providers.up.protocol: expected one of anthropic," in done.out.decode()
    report = json.loads(cli("doctor", "--config", str(file), "--json").out)
    assert not report["works"]
    assert report["providers"] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[server\n", "toolglot.toml: "),
        ('[server]\nhost = "0.0.0.0"\n', "can be reached from other machines"),
    ],
)
def test_a_configuration_with_which_the_gateway_would_not_start(cli, tmp_path, text, words):
    (tmp_path / "toolglot.toml").write_text(text)
    done = cli("doctor", columns=200)
    assert done.code == 1
    assert words in done.out.decode()


def test_a_configuration_that_is_not_there(cli):
    done = cli("doctor", "--config", "gone.toml")
    assert done.code == 1
    assert "gone.toml: No such file" in done.out.decode()


def test_no_provider_at_all(cli):
    done = cli("doctor", columns=200)
    text = done.out.decode()
    assert done.code == 0
    assert "no toolglot.toml here; keys in the environment are for: none" in text
    assert text.count("works   2 requests") == 2 * len(PROTOCOLS)
    assert "`toolglot discover URL --write" in text


def test_a_provider_that_nobody_described(cli):
    done = cli("doctor", "--provider", "mine")
    assert done.code == 1
    assert "no provider 'mine'; known: demo" in done.err


def test_the_database(cli, tmp_path):
    file = tmp_path / "keys.db"
    (tmp_path / "toolglot.toml").write_text(f'[server]\nkeys = true\ndatabase = "{file}"\n')
    assert f"{file} will be created" in cli("doctor", columns=200).out.decode()
    assert not file.exists()
    assert cli("keys", "create", "mine", "--database", str(file)).code == 0
    assert f"{file}: 1 key, 0 requests" in cli("doctor", columns=200).out.decode()
    for each in tmp_path.glob("keys.db*"):
        each.unlink()
    file.write_text("This is something else than a database.")
    done = cli("doctor", columns=200)
    assert done.code == 1
    assert f"database       {file}: file is not a database" in done.out.decode()


def test_without_the_extra(cli, monkeypatch):
    monkeypatch.delattr(checks, "provider_check", raising=False)
    monkeypatch.setitem(sys.modules, "toolglot.gateway.checks.provider_check", None)
    done = cli("doctor")
    assert done.code == 1
    assert "pip install 'toolglot[gateway]'" in done.err
    assert "versions" in done.out.decode()


def test_every_question_is_announced_on_a_terminal(cli, monkeypatch, capsysbinary):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    done = cli("doctor")
    assert "  asking demo: gemini, stream\n" in done.err


def test_help_shows_an_example(cli):
    assert b"toolglot doctor --provider work" in cli("doctor", "--help").out


# --- security -------------------------------------------------------------------------------------


def test_security_says_what_is_weak(cli):
    Path("toolglot.toml").write_text(
        '[server]\nport = 9\nrecord = "kept"\n[providers.far]\nprotocol = "openai-chat"\n'
        'base_url = "http://far.example/v1"\napi_key = "env:WORK_KEY"\n',
        encoding="utf-8",
    )
    Path("toolglot.toml").chmod(0o600)
    done = cli("doctor", "--security", columns=200)
    assert done.code == 1
    lines = done.out.decode().splitlines()
    assert lines[0] == "toolglot.toml is valid: 1 provider, 0 routes"
    assert lines[1].startswith("serious        providers.far.base_url: http://far.example/v1 is")
    assert lines[2] == "               What to do: use https://, or a tunnel."
    assert lines[-2].startswith("No gateway answers at that address now")
    assert lines[-1] == "2 weaknesses."


def test_security_as_json_and_nothing_weak(cli):
    Path("toolglot.toml").write_text("[server]\nport = 9\n", encoding="utf-8")
    Path("toolglot.toml").chmod(0o600)
    done = cli("doctor", "--security", "--json")
    assert done.code == 0
    assert json.loads(done.out) == {"running": False, "findings": []}


def test_security_of_a_file_that_is_wrong(cli):
    Path("toolglot.toml").write_text('[server]\nhost = "0.0.0.0"\n', encoding="utf-8")
    done = cli("doctor", "--security")
    assert done.code != 0
    assert "can be reached from other machines" in done.err


def test_settings_of_another_router_are_reported(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    done = cli("doctor", "--provider", "demo", columns=200)
    assert "settings       CLAUDE_CODE_USE_BEDROCK sends Claude Code" in done.out.decode()
