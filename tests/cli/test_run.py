"""`toolglot run` with programs that say what they were given."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web
from tests.gateway.running import upstream
from tests.upstreams.server import ScriptedUpstream

SAYS_ALL = """
import json, os, pathlib, sys
home = os.environ.get("GEMINI_CLI_HOME")
settings = pathlib.Path(home or ".", ".gemini/settings.json")
print(json.dumps({
    "arguments": sys.argv[1:],
    "environment": dict(os.environ),
    "settings": json.loads(settings.read_text()) if home else None,
}))
sys.exit(7)
"""
WAITS = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(9))
print("ready", flush=True)
signal.pause()
"""
COUNTS = """
import os, signal, socket, sys
mine, theirs = socket.socketpair()
theirs.setblocking(False)
# Python calls a handler once for signals that come together; here each leaves its number.
signal.set_wakeup_fd(theirs.fileno())
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"interrupted\\n"))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(10 + mine.recv(100).count(signal.SIGINT)))
os.write(1, b"ready\\n")
while True:
    signal.pause()
"""


@pytest.fixture
def install(tmp_path):
    """Make a program of that name, and the environment in which it is found."""
    home, programs = tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    programs.mkdir()
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
    environment = {**kept, "PATH": f"{programs}:/usr/bin:/bin", "HOME": str(home)}

    def make(name, source):
        program = programs / name
        program.write_text(f"#!{sys.executable}\n{source}")
        program.chmod(0o755)
        return environment

    return make


def command(*argv):
    return [sys.executable, "-m", "toolglot", "run", *argv]


def run(environment, *argv):
    return subprocess.run(
        command(*argv), env=environment, capture_output=True, text=True, check=False
    )


NO_CHECK = ("--gateway", "http://127.0.0.1:1", "--no-check")


def test_the_client_gets_its_environment_and_arguments(install):
    done = run(
        install("claude", SAYS_ALL), "claude", *NO_CHECK, "--model", "m", "--", "-p", "--", "x"
    )
    said = json.loads(done.stdout)
    assert done.returncode == 7, done.stderr
    assert said["arguments"][1:] == ["-p", "--", "x"]
    assert said["environment"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert said["environment"]["ANTHROPIC_MODEL"] == "m"


def test_its_own_arguments_come_first(install):
    done = run(install("codex", SAYS_ALL), "codex", *NO_CHECK, "--", "exec", "hello")
    said = json.loads(done.stdout)["arguments"]
    assert said[0] == "-c=model_provider=toolglot"
    assert said[-2:] == ["exec", "hello"]


def test_files_are_temporary_and_those_of_the_user_stay(install, tmp_path):
    own = tmp_path / "home/.gemini/settings.json"
    own.parent.mkdir()
    own.write_text('{"ui": {"theme": "GitHub"}}')
    done = run(install("gemini", SAYS_ALL), "gemini", *NO_CHECK)
    said = json.loads(done.stdout)
    assert said["settings"]["ui"] == {"theme": "GitHub"}
    assert said["settings"]["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert own.read_text() == '{"ui": {"theme": "GitHub"}}'
    assert not Path(said["environment"]["GEMINI_CLI_HOME"]).exists()
    assert sorted(path.name for path in (tmp_path / "home").rglob("*.json")) == ["settings.json"]


def test_a_client_that_is_not_installed(install):
    done = run(install("other", ""), "codex", *NO_CHECK)
    assert done.returncode == 127
    assert done.stderr == "toolglot: Codex CLI is not installed: npm install -g @openai/codex\n"


def test_no_gateway_there(install):
    done = run(install("claude", SAYS_ALL), "claude", "--gateway", "http://127.0.0.1:1")
    assert done.returncode == 1
    assert done.stderr.startswith("toolglot: no gateway answers at http://127.0.0.1:1: ")


def test_called_wrongly(install):
    done = run(install("claude", SAYS_ALL), "claude", "-p", "hello")
    assert done.returncode == 2
    assert "-p hello: put arguments of the client after --" in done.stderr


OLD = {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:3456", "CLAUDE_CODE_USE_BEDROCK": "1"}}


def test_settings_of_an_earlier_router_do_not_win(install, tmp_path):
    """Claude Code takes them over the environment, but not over those that an option names."""
    own = tmp_path / "home/.claude/settings.json"
    own.parent.mkdir()
    own.write_text(json.dumps(OLD))
    says_settings = SAYS_ALL.replace(
        'pathlib.Path(home or ".", ".gemini/settings.json")',
        "pathlib.Path(sys.argv[1].removeprefix('--settings='))",
    ).replace("if home else None", "")
    done = run(install("claude", says_settings), "claude", *NO_CHECK)
    said = json.loads(done.stdout)
    for environment in (said["settings"]["env"], said["environment"]):
        assert environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
        assert environment["CLAUDE_CODE_USE_BEDROCK"] == "0"
        assert "ANTHROPIC_MODEL" not in environment
    assert json.loads(own.read_text()) == OLD


def test_the_list_of_clients(install):
    done = run(install("codex", SAYS_ALL), "--list")
    assert done.returncode == 0
    rows = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert rows["codex"].endswith("/bin/codex")
    assert rows["gemini"].endswith("no: npm install -g @google/gemini-cli")


def test_a_client_must_be_named(install):
    done = run(install("codex", SAYS_ALL))
    assert done.returncode == 2
    assert "name a client: claude, codex" in done.stderr


# --- the gateway ----------------------------------------------------------------------------------


MODELS = ["claude-sonnet-4-5", "claude-haiku-4-5"]


def with_upstream(scenario, tmp_path, environment, *argv):
    """Run with a gateway of its own, in front of a strict upstream."""
    config = tmp_path / "toolglot.toml"

    async def main():
        async with ScriptedUpstream(scenario) as scripted:
            config.write_text(
                f'[providers.up]\nprofile = "anthropic"\nmodels = {MODELS}\n'
                'api_key = "key-of-a-test"\n'
                f'base_url = "{scripted.url}/strict/anthropic/v1"\n'
                '[[routes]]\nmatch = "*"\nto = "up"\n'
            )
            options = ("--config", str(config))
            done = await asyncio.to_thread(run, environment, argv[0], *options, *argv[1:])
            assert scripted.problems == []
            return done, [each.model for each in scripted.asked]

    return asyncio.run(main())


def test_a_gateway_is_started_and_tried(install, tmp_path):
    environment = install("claude", SAYS_ALL)
    done, asked = with_upstream("one-tool", tmp_path, environment, "claude", "--model", MODELS[0])
    assert done.returncode == 7, done.stderr
    assert asked == [MODELS[0]]
    url = json.loads(done.stdout)["environment"]["ANTHROPIC_BASE_URL"]
    gone = run(environment, "claude", "--gateway", url)
    assert "no gateway answers" in gone.stderr


def test_what_the_provider_refuses_is_said_before_the_client_starts(install, tmp_path):
    environment = install("claude", SAYS_ALL)
    done, _ = with_upstream("refused", tmp_path, environment, "claude", "--model", MODELS[0])
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"a first request to {MODELS[0]} fails: The moon is in the wrong house." in done.stderr


def test_a_key_that_is_rejected_is_said_without_a_model_too(install, tmp_path):
    config = tmp_path / "toolglot.toml"

    async def refuse(_request):
        error = {"type": "error", "error": {"type": "authentication_error", "message": "bad key"}}
        return web.json_response(error, status=401)

    async def main():
        async with upstream(refuse) as url:
            config.write_text(
                f'[providers.up]\nprofile = "anthropic"\napi_key = "key-of-a-test"\nbase_url = "{url}"\n'
            )
            argv = ("claude", "--config", str(config))
            return await asyncio.to_thread(run, install("claude", SAYS_ALL), *argv)

    done = asyncio.run(main())
    assert done.returncode == 1
    assert done.stdout == ""
    assert "bad key" in done.stderr


def test_that_no_real_model_answers_is_said(install, tmp_path):
    environment = install("claude", SAYS_ALL)
    environment["TOOLGLOT_GATEWAY"] = "http://127.0.0.1:1"
    done = run(environment, "claude", "--model", "gpt-5.4", "--log", str(tmp_path / "log.txt"))
    assert done.returncode == 7
    assert "no provider has a key here, so the built-in demo model answers" in done.stderr
    assert "toolglot listens on" in (tmp_path / "log.txt").read_text()


def test_records_and_receipts_of_a_run(install, tmp_path):
    asks = """
import json, os, urllib.request
body = {"model": "claude-haiku-4-5", "max_tokens": 9, "top_k": 1, "messages": [{"role": "user", "content": "hi"}]}
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
request = urllib.request.Request(url, json.dumps(body).encode())
print(urllib.request.urlopen(request).status)
"""
    environment, folder = install("claude", asks), tmp_path / "exchanges"
    argv = ("claude", "--model", MODELS[0], "--record", str(folder), "--show")
    done, _ = with_upstream("one-tool", tmp_path, environment, *argv)
    assert done.stdout == "200\n"
    assert "2. anthropic claude-haiku-4-5 → up (anthropic), " in done.stderr
    assert len(list(folder.iterdir())) == 2


def test_what_needs_a_gateway_of_its_own(install):
    done = run(install("claude", SAYS_ALL), "claude", *NO_CHECK, "--record", "there")
    assert done.returncode == 2
    assert "are for a gateway that is started here" in done.stderr


def test_a_model_for_a_client_without_one(install, tmp_path):
    environment = install("opencode", SAYS_ALL)
    done, asked = with_upstream("one-tool", tmp_path, environment, "opencode")
    assert done.returncode == 7, done.stderr
    config = json.loads(json.loads(done.stdout)["environment"]["OPENCODE_CONFIG_CONTENT"])
    assert config["model"] == f"toolglot/{asked[0]}"
    assert f"no --model given, so opencode asks for {asked[0]}" in done.stderr


def test_a_gateway_that_does_not_start(install, tmp_path):
    environment = install("claude", SAYS_ALL)
    done = run(environment, "claude", "--config", str(tmp_path / "gone.toml"))
    assert done.returncode == 1
    assert "the gateway did not start: " in done.stderr
    assert "gone.toml" in done.stderr


# --- signals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 9), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_signals_reach_the_client(install, number, code):
    environment = install("claude", WAITS)
    with subprocess.Popen(
        command("claude", *NO_CHECK), env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(30) == code


TAKE_TERMINAL = (
    "import os, sys; os.open(os.ttyname(0), os.O_RDWR); os.execv(sys.argv[1], sys.argv[1:])"
)
"""The first terminal that the leader of a session opens becomes its own."""


def test_a_key_typed_at_a_terminal_reaches_it_once(install):
    """The terminal tells the client itself."""
    environment = install("claude", COUNTS)
    keyboard, terminal = os.openpty()
    with (
        os.fdopen(keyboard, "rb+", buffering=0) as keys,
        subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *command("claude", *NO_CHECK)],
            env=environment,
            stdin=terminal,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        os.close(terminal)
        assert process.stdout.readline() == b"ready\n"
        keys.write(b"\x03")
        assert process.stdout.readline() == b"interrupted\n"
        # What toolglot got with the key, it has handed on before this.
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 11
