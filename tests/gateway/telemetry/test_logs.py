"""Log lines: JSON for machines, words for people, and no secrets in either."""

import asyncio
import io
import json
import logging
import sys

import pytest
from tests.gateway.running import gateway

from toolglot.gateway.telemetry import logs
from toolglot.gateway.telemetry.logs import FIELDS, LOGGER, log_request
from toolglot.gateway.telemetry.request_record import RequestRecord
from toolglot.ir import Usage
from toolglot.receipt import Note, Receipt

KEY = "sk-ant-api03-Zm9vYmFyYmF6cXV4-0123456789abcd"
SEEN = {
    "request_id": "req_1",
    "client": "anthropic",
    "asked_model": "claude-x",
    "provider": "work",
    "model": "gpt-x",
    "status": 200,
    "ms": 812.5,
    "tokens": {"prompt": 120, "output": 45},
    "notes": {"id-made": 2},
    "retries": 1,
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_gets_json():
    stream = io.StringIO()
    logs.set_up(stream=stream)
    LOGGER.info("request", extra={FIELDS: SEEN})
    line = json.loads(stream.getvalue())
    assert {**line, **SEEN} == line
    assert line["level"] == "info"
    assert line["time"].endswith("+00:00")


def test_a_terminal_gets_words():
    stream = Terminal()
    logs.set_up(stream=stream)
    LOGGER.info("request", extra={FIELDS: SEEN})
    assert stream.getvalue().endswith(
        "info    200 anthropic claude-x → work gpt-x, 812.5 ms, 120+45 tokens, 2 notes, "
        "1 retry [req_1]\n"
    )
    failed = {**SEEN, "status": 502, "error": "server"}
    LOGGER.warning("request", extra={FIELDS: {**failed, "provider": ""}})
    assert "502 anthropic claude-x, 812.5 ms" in stream.getvalue()
    assert "server [req_1]" in stream.getvalue()


def test_a_client_cannot_write_lines_of_its_own():
    stream = Terminal()
    logs.set_up(stream=stream)
    LOGGER.info("request", extra={FIELDS: {**SEEN, "asked_model": "x\n00:00:00 info \x1b[31m"}})
    LOGGER.info("model %s", "y\r\nz")
    assert stream.getvalue().count("\n") == 2
    assert "\x1b" not in stream.getvalue()


def test_lines_go_to_what_standard_error_is_then(monkeypatch):
    """A process may replace standard error and close what it was, as test runners do."""
    monkeypatch.setattr(sys, "stderr", old := io.StringIO())
    logs.set_up()
    monkeypatch.setattr(sys, "stderr", new := io.StringIO())
    old.close()
    LOGGER.info("ready")
    assert "ready" in new.getvalue()


def test_setting_up_twice_logs_once():
    stream = io.StringIO()
    logs.set_up(stream=stream)
    logs.set_up("debug", stream=stream)
    LOGGER.debug("ready")
    assert stream.getvalue().count("ready") == 1


@pytest.mark.parametrize("as_json", [True, False])
def test_no_key_reaches_a_line(as_json):
    stream = io.StringIO()
    logs.set_up(as_json=as_json, stream=stream)
    LOGGER.warning("cannot reach %s", f'https://host/x?key={KEY}"')
    LOGGER.info("request", extra={FIELDS: {**SEEN, "asked_model": KEY, "error": f"Bearer {KEY}"}})
    LOGGER.error("failed", exc_info=ValueError(f"x-api-key: {KEY}"))
    assert KEY not in stream.getvalue()
    assert KEY[-12:] not in stream.getvalue()
    assert "failed" in stream.getvalue()
    if as_json:
        assert all(json.loads(line) for line in stream.getvalue().splitlines())


def test_the_level_is_kept_to():
    stream = io.StringIO()
    logs.set_up("warning", stream=stream)
    LOGGER.info("quiet")
    assert not stream.getvalue()
    assert logging.getLogger("toolglot") is LOGGER


@pytest.mark.parametrize("library", ["asyncio"])
def test_libraries_speak_in_the_same_form(library):
    stream = io.StringIO()
    logs.set_up("info", stream=stream)
    logging.getLogger(library).error("trouble with %s", KEY)
    line = json.loads(stream.getvalue())
    assert (line["level"], KEY in line["message"]) == ("error", False)


def test_what_is_no_http_is_told_in_one_line(capfd):
    logs.set_up("info", as_json=False)

    async def run():
        async with gateway() as session:
            url = session._build_url("/")
            reader, writer = await asyncio.open_connection(url.host, url.port)
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n")
            assert b" 400 " in await reader.readline()
            writer.close()
            await writer.wait_closed()

    asyncio.run(run())
    (line,) = capfd.readouterr().err.splitlines()
    assert "warning" in line
    assert "Content-Length" in line


# --- requests -------------------------------------------------------------------------------------

PROMPT = "the secret plan"


def request(**more) -> RequestRecord:
    """A request that has ended."""
    known = {
        "request_id": "req_1",
        "client": "anthropic",
        "started": 10.0,
        "first_byte": 10.2,
        "duration": 1.0,
        "waited": 0.875,
        "asked_model": "claude-x",
        "model": "gpt-x",
        "provider": "work",
        "protocol": "openai-chat",
        "key_id": "key_7",
        "status": 200,
        "usage": Usage(input=10, cache_read=90, output=7, reasoning=3),
        "receipt": Receipt((Note("id-made", "info", "a", PROMPT),) * 2),
    }
    return RequestRecord(**known | more)


def test_a_request_is_one_line(log):
    log_request(request(retries=1))
    line = json.loads(log.getvalue())
    assert line["message"] == "request"
    assert {
        "request_id": "req_1",
        "key": "key_7",
        "client": "anthropic",
        "asked_model": "claude-x",
        "provider": "work",
        "protocol": "openai-chat",
        "model": "gpt-x",
        "status": 200,
        "tokens": {"prompt": 100, "input": 10, "cache_read": 90, "output": 7, "reasoning": 3},
        "notes": {"id-made": 2},
        "retries": 1,
        "ms": 1000.0,
        "first_byte_ms": 200.0,
        "overhead_ms": 125.0,
    }.items() <= line.items()
    assert "error" not in line


def test_no_text_of_a_conversation_reaches_the_line(log):
    """Notes may quote what they are about; only their codes are logged."""
    log_request(request())
    assert "id-made" in log.getvalue()
    assert PROMPT not in log.getvalue()


def test_what_failed_is_a_warning(log):
    log_request(request(status=502, error="server"))
    line = json.loads(log.getvalue())
    assert (line["level"], line["error"]) == ("warning", "server")


def test_a_request_without_a_provider_has_a_line_too(log):
    log_request(RequestRecord(request_id="req_2", client="gemini", started=0.0, status=401))
    assert json.loads(log.getvalue())["status"] == 401


def test_a_terminal_gets_a_line_of_a_request_that_took_no_time():
    stream = Terminal()
    logs.set_up(stream=stream)
    log_request(RequestRecord(request_id="req_2", client="gemini", started=0.0, status=401))
    assert stream.getvalue().endswith("401 gemini ?, 0.0 ms [req_2]\n")
