"""What is seen of requests: metrics, logs and recordings."""

import asyncio
import json
import logging
import re

import pytest
from tests.gateway.running import gateway, provider, to, upstream
from tests.gateway.test_relay import asked, post, scripted

from toolglot.cli import main
from toolglot.gateway.logs import FIELDS, LOGGER


def run_some(record, *, stream):
    async def run():
        async with (
            upstream(scripted("openai-chat", [])) as url,
            gateway(
                {"them": provider("openai-chat", url, api_key="sk-very-secret-1234567")},
                [to("them/other-model")],
                record=str(record),
            ) as session,
        ):
            for protocol in ("anthropic", "openai-chat", "gemini"):
                reply, _ = await post(session, protocol, stream=stream)
                assert reply.status == 200
            async with session.get("/metrics") as reply:
                return await reply.text()

    return asyncio.run(run())


@pytest.mark.parametrize("stream", [False, True])
def test_metrics_logs_and_recordings_of_the_same_requests(tmp_path, stream, caplog, capsys):
    LOGGER.propagate = True
    with caplog.at_level(logging.INFO, logger="toolglot"):
        text = run_some(tmp_path, stream=stream)
    line = 'toolglot_requests_total{client="anthropic",provider="them",model="other-model"'
    assert line in text
    assert "toolglot_overhead_seconds_count" in text
    assert re.search(r'kind="output",worker="\d+"} 21\n', text)
    fields = [getattr(record, FIELDS) for record in caplog.records if hasattr(record, FIELDS)]
    assert [each["client"] for each in fields] == ["anthropic", "openai-chat", "gemini"]
    assert all(each["status"] == 200 and each["provider"] == "them" for each in fields)
    assert all(each["overhead_ms"] <= each["ms"] for each in fields)
    folders = sorted(tmp_path.iterdir())
    assert len(folders) == 3
    everything = "".join(
        file.read_text() for folder in folders for file in folder.iterdir() if file.is_file()
    )
    assert "sk-very-secret-1234567" not in everything + str(fields) + caplog.text
    assert main(["replay", str(tmp_path)]) == 0, capsys.readouterr()


def test_prompts_do_not_reach_a_log(caplog):
    LOGGER.propagate = True

    async def run():
        async with gateway() as session:
            wire = asked("openai-chat")
            async with session.post(wire["path"], data=wire["data"]) as reply:
                assert reply.status == 200
            async with session.post("/v1/messages", data=b'{"secret prompt') as reply:
                assert reply.status == 400

    with caplog.at_level(logging.DEBUG, logger="toolglot"):
        asyncio.run(run())
    said = caplog.text + json.dumps([getattr(each, FIELDS, {}) for each in caplog.records])
    assert "openai-chat" in said
    assert "Which way" not in said
    assert "secret prompt" not in said
