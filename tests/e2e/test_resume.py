"""Sessions of one agent that another continues, after `toolglot convert --install`."""

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.convert.conversations import read, said
from tests.e2e import through
from tests.e2e.clients import QUIET, UnavailableError, drive, program
from tests.e2e.trial import LIMIT
from tests.upstreams.server import ScriptedUpstream
from tests.upstreams.strict.upstreams import ANTHROPIC, OPENAI_RESPONSES

from toolglot.cli import main
from toolglot.convert import get_format

pytestmark = pytest.mark.timeout(600)

FILES = Path(__file__).parents[1] / "convert" / "files"


@pytest.mark.e2e_smoke
def test_opencode_takes_a_session_of_another_agent(tmp_path):
    try:
        opencode = program("opencode")
    except UnavailableError as error:
        pytest.skip(str(error))
    source, session = FILES / "claude-code.jsonl", tmp_path / "session.json"
    assert main(["convert", str(source), "--to", "opencode", "--out", str(session)]) == 0
    environment = {**os.environ, **QUIET, "HOME": str(tmp_path)}

    def run(*arguments):
        command = [str(opencode), *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, check=True, timeout=LIMIT
        )
        return done.stdout.decode()

    name = re.search(r"ses_\w+", run("import", str(session)))
    exported = run("export", name[0])
    form = get_format("opencode")
    assert _told(form, json.loads(exported)) == _told(form, json.loads(session.read_text()))


def _told(form, row):
    return said(read([row], form))


@pytest.mark.e2e_smoke
@pytest.mark.parametrize(
    ("client", "file", "target", "upstream"),
    [
        ("codex", "claude-code.jsonl", "codex", OPENAI_RESPONSES),
        ("claude", "codex.jsonl", "claude-code", ANTHROPIC),
        ("codex", "opencode.json", "codex", OPENAI_RESPONSES),
        ("claude", "qwen-code.jsonl", "claude-code", ANTHROPIC),
    ],
)
def test_a_session_goes_on(client, file, target, upstream, tmp_path, monkeypatch, capsys):  # noqa: PLR0917
    try:
        program(client)
    except UnavailableError as error:
        pytest.skip(str(error))
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    monkeypatch.setenv("CODEX_HOME", str(home / ".codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
    source = tmp_path / file
    source.write_text((FILES / file).read_text().replace("/home/ada/tides", str(work)))
    assert main(["convert", str(source), "--to", target, "--install"]) == 0
    session = capsys.readouterr().out.split()[-1]

    async def go_on():
        scripted = ScriptedUpstream("one-tool", spares_checks=True)
        async with scripted as server, through.gateway(upstream, server.url) as url:
            ran = await drive(
                client,
                upstream.protocol,
                url=url,
                model=upstream.model,
                prompt="And tomorrow?",
                root=tmp_path,
                limit=LIMIT,
                session=session,
            )
        return ran, scripted

    ran, scripted = asyncio.run(go_on())
    said = f"{ran.out[-1500:]}\n{ran.err[-1500:]}"
    assert ran.code == 0, said
    assert {request.status for request in scripted.requests if request.asked} == {200}, said
    last = scripted.asked[-1]
    for words in ("How is the weather in Oslo?", "Rain, 7 degrees", "It rains.", "And tomorrow?"):
        assert words in last.text
    assert [name for _, name in last.calls] == ["get_weather"]
