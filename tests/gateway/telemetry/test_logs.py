"""Log lines: JSON for machines, words for people, and no secrets in either."""

import asyncio
import io
import json
import logging

import pytest
from tests.gateway.running import gateway

from toolglot.gateway.telemetry import logs
from toolglot.gateway.telemetry.logs import FIELDS, LOGGER

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


@pytest.fixture(autouse=True)
def _put_back():
    loggers = LOGGER, logging.getLogger("aiohttp"), logging.getLogger("asyncio")
    before = [(each.handlers[:], each.level, each.propagate) for each in loggers]
    yield
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


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
        "1 retries [req_1]\n"
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


@pytest.mark.parametrize("library", ["aiohttp.server", "asyncio"])
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
