"""Logs: one line for each request, as JSON, or as plain text at a terminal.

A line has numbers and names, never a prompt, a response or a key. Everything that is logged passes
through `scrub` as the last safeguard.
"""

import logging
import sys
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, TextIO

from toolglot.gateway.telemetry.redact import scrub
from toolglot.gateway.telemetry.request_record import TOKEN_KINDS, RequestRecord
from toolglot.ir import Json, Usage
from toolglot.wire import jsontext

LOGGER: Final = logging.getLogger("toolglot")
FIELDS: Final = "toolglot_fields"
"""The attribute of a log record that holds the fields of a request."""

_LIBRARIES: Final = ("asyncio",)
"""Libraries whose records are written in the same format as ours."""

_SERVER_ERROR: Final = 500
_CONTROLS: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
"""A client must not be able to forge lines, or to colour the terminal."""


def set_up(
    level: str = "info", *, as_json: bool | None = None, stream: TextIO | None = None
) -> None:
    """Log to a stream, standard error by default; as JSON unless that is a terminal."""
    if as_json is None:
        as_json = not (stream or sys.stderr).isatty()
    handler = StderrHandler() if stream is None else logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if as_json else TextFormatter())
    for logger in (LOGGER, *map(logging.getLogger, _LIBRARIES)):
        for old in logger.handlers[:]:
            logger.removeHandler(old)
        logger.addHandler(handler)
        logger.propagate = False
    LOGGER.setLevel(level.upper())


class StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to whatever standard error is at that moment: it may be replaced and closed."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        """Standard error."""
        return sys.stderr


# --- requests -------------------------------------------------------------------------------------


def log_request(request: RequestRecord) -> None:
    """Write the line of a request that has ended."""
    failed = request.status >= _SERVER_ERROR or request.error
    level = logging.WARNING if failed else logging.INFO
    if LOGGER.isEnabledFor(level):
        # Made here because `LOGGER.log` would first look for its caller, which takes longer.
        record = LOGGER.makeRecord(LOGGER.name, level, __file__, 0, "request", (), None)
        setattr(record, FIELDS, request_fields(request))
        LOGGER.handle(record)


def request_fields(request: RequestRecord) -> Json:
    """The fields of a request's line; what is not known is left out."""
    first_byte = request.time_to_first_byte
    fields: Json = {
        "request_id": request.request_id,
        "key": request.key_id,
        "client": request.client,
        "asked_model": request.asked_model,
        "provider": request.provider,
        "protocol": request.protocol,
        "model": request.model,
        "stream": request.stream,
        "status": request.status,
        "error": request.error,
        "ms": _ms(request.duration),
        "first_byte_ms": None if first_byte is None else _ms(first_byte),
        "overhead_ms": _ms(request.overhead),
        "tokens": _token_fields(request.usage) if request.usage else None,
        "notes": request.receipt.codes(),
        "retries": request.retries,
        "trace_id": request.trace.trace_id if request.trace else None,
    }
    return {name: value for name, value in fields.items() if value or name == "status"}


def _token_fields(usage: Usage) -> Json:
    counts = {kind: getattr(usage, kind) for kind in TOKEN_KINDS}
    return {"prompt": usage.prompt} | {kind: n for kind, n in counts.items() if n is not None}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


# --- formats --------------------------------------------------------------------------------------


class JsonFormatter(logging.Formatter):
    """Each record as one JSON object in one line."""

    def format(self, record: logging.LogRecord) -> str:
        line: Json = {
            "time": _time_of(record).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": _scrubbed(record.getMessage()),
            **_scrubbed_fields(getattr(record, FIELDS, {})),
        }
        if record.exc_info:
            line["error"] = scrub(self.formatException(record.exc_info))
        return jsontext.text(line)


class TextFormatter(logging.Formatter):
    """Each record as a line for people."""

    def format(self, record: logging.LogRecord) -> str:
        fields: Json = getattr(record, FIELDS, {})
        text = (_request_text(fields) if fields else record.getMessage()).translate(_CONTROLS)
        line = f"{_time_of(record):%H:%M:%S} {record.levelname.lower():7} {text}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return scrub(line)


def _scrubbed_fields(fields: Json) -> Json:
    return {
        name: _scrubbed(value) if isinstance(value, str) else value
        for name, value in fields.items()
    }


_cached_scrub = lru_cache(maxsize=512)(scrub)
_SHORT: Final = 256
_LONGEST: Final = 8192
"""Characters of a text that are logged; no name of ours is as long."""


def _scrubbed(text: str) -> str:
    """Cached, because the names of protocols, providers and models come again and again."""
    if len(text) <= _SHORT:
        return _cached_scrub(text)
    return scrub(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _time_of(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _request_text(fields: Json) -> str:
    """`200 anthropic claude-x → openai gpt-x, 812 ms, 120+45 tokens, 2 notes [req_1]`."""
    asked = f"{fields['client']} {fields.get('asked_model') or '?'}"
    upstream = ""
    if provider := fields.get("provider"):
        upstream = f" → {provider} {fields.get('model', '')}".rstrip()
    words = [f"{fields['status']} {asked}{upstream}", f"{fields.get('ms', 0.0)} ms"]
    if tokens := fields.get("tokens"):
        words.append(f"{tokens.get('prompt', 0)}+{tokens.get('output', 0)} tokens")
    if notes := fields.get("notes"):
        words.append(_counted(sum(notes.values()), "note", "notes"))
    if retries := fields.get("retries"):
        words.append(_counted(retries, "retry", "retries"))
    if error := fields.get("error"):
        words.append(error)
    return f"{', '.join(words)} [{fields['request_id']}]"
