"""One line for each request: JSON for machines, words for a person at a terminal.

A line has numbers and names, never a prompt, an answer or a key; whatever is logged goes through
`scrub` as the last net.
"""

import logging
import sys
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, TextIO

from toolglot.gateway.telemetry.redact import scrub
from toolglot.ir import Json
from toolglot.wire import jsontext

LOGGER: Final = logging.getLogger("toolglot")
_LIBRARIES: Final = ("aiohttp", "asyncio")
"""Whose words shall not stand between our lines in another form."""
FIELDS: Final = "toolglot_fields"
"""The attribute of a log record that holds what a line says of a request."""

_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
"""A client must not be able to write lines of its own, or to colour the terminal."""


def set_up(
    level: str = "info", *, as_json: bool | None = None, stream: TextIO | None = None
) -> None:
    """Log to a stream, standard error by default; as JSON unless that is a terminal."""
    target = stream or sys.stderr
    if as_json is None:
        as_json = not target.isatty()
    handler = logging.StreamHandler(target)
    handler.setFormatter(JsonLines() if as_json else Words())
    handler.addFilter(_shorten)
    for logger in (LOGGER, *map(logging.getLogger, _LIBRARIES)):
        for old in logger.handlers[:]:
            logger.removeHandler(old)
        logger.addHandler(handler)
        logger.propagate = False
    LOGGER.setLevel(level.upper())


def _shorten(record: logging.LogRecord) -> bool:
    """Whoever sends something else than HTTP is worth a line, but no traceback.

    The library is known by name, because commands that keep a log must not need it.
    """
    problem = record.exc_info[1] if record.exc_info else None
    if problem is not None and type(problem).__module__.startswith("aiohttp."):
        record.msg, record.args = f"{record.getMessage()}: {' '.join(str(problem).split())}", ()
        record.exc_info, record.exc_text = None, None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True


class JsonLines(logging.Formatter):
    """Each record as one JSON object in one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        line: Json = {
            "time": _moment(record).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": _scrubbed(record.getMessage()),
            **_shown(getattr(record, FIELDS, {})),
        }
        if record.exc_info:
            line["error"] = scrub(self.formatException(record.exc_info))
        return jsontext.text(line)


class Words(logging.Formatter):
    """Each record as a line for a person."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        fields: Json = getattr(record, FIELDS, {})
        said = (_said(fields) if fields else record.getMessage()).translate(_CONTROLS)
        line = f"{_moment(record):%H:%M:%S} {record.levelname.lower():7} {said}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return scrub(line)


def _shown(fields: Json) -> Json:
    return {
        name: _scrubbed(value) if isinstance(value, str) else value
        for name, value in fields.items()
    }


_scrubbed = lru_cache(maxsize=512)(scrub)
"""Names of protocols, providers and models come again and again."""


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _said(fields: Json) -> str:
    """`200 anthropic claude-x → openai gpt-x, 812 ms, 120+45 tokens, 2 notes [req_1]`."""
    asked = f"{fields['client']} {fields.get('asked_model') or '?'}"
    there = ""
    if provider := fields.get("provider"):
        there = f" → {provider} {fields.get('model', '')}".rstrip()
    words = [f"{fields['status']} {asked}{there}", f"{fields['ms']} ms"]
    if tokens := fields.get("tokens"):
        words.append(f"{tokens.get('prompt', 0)}+{tokens.get('output', 0)} tokens")
    if notes := fields.get("notes"):
        words.append(f"{sum(notes.values())} notes")
    if retries := fields.get("retries"):
        words.append(f"{retries} retries")
    if error := fields.get("error"):
        words.append(error)
    return f"{', '.join(words)} [{fields['request_id']}]"
