"""`toolglot inspect`."""

import asyncio

import pytest
from tests.gateway.inspector.scenes import chats, inspected
from tests.gateway.running import in_thread

from toolglot.cli import main
from toolglot.gateway.http import server


def test_a_running_gateway_is_opened_and_exported(tmp_path, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    out = tmp_path / "report.html"
    with in_thread(inspected) as session:
        url = str(session._base_url).rstrip("/")
        assert main(["inspect", "--gateway", url]) == 0
        assert main(["inspect", "--gateway", url, "--out", str(out), "--redact"]) == 0
    assert opened == [f"{url}/toolglot/"]
    assert capsys.readouterr().out == f"{url}/toolglot/\n"
    assert b"toolglot inspector" in out.read_bytes()


def test_a_folder_of_recordings_needs_no_gateway(tmp_path, capsys, monkeypatch):
    folder, out = tmp_path / "recordings", tmp_path / "report.html"

    async def record():
        async with inspected(record=str(folder)) as session:
            body = {"model": "cut", "messages": [{"role": "user", "content": "harbour"}]}
            async with session.post("/v1/chat/completions", json=body) as reply:
                await reply.read()
            await chats(session, "not recorded: no provider was asked")

    asyncio.run(record())
    assert main(["inspect", str(folder), "--out", str(out)]) == 0
    assert b"harbour" in out.read_bytes()
    served = []
    monkeypatch.setattr(server, "serve", lambda app, sock, ready: (served.append(app()), ready()))
    assert main(["inspect", str(folder), "--no-open"]) == 0
    assert served[0].info["exchanges"] == 1
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")


def test_what_cannot_be_inspected_is_told(tmp_path, capsys):
    assert main(["inspect", "--gateway", "http://127.0.0.1:9"]) == 1
    assert "no gateway answers" in capsys.readouterr().err
    assert main(["inspect", str(tmp_path)]) == 1
    assert "no recordings" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["inspect", "--redact"])
    assert "--out" in capsys.readouterr().err
