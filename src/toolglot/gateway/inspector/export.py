"""The page and its data in one HTML file, which needs neither a gateway nor a network.

Keys are masked. Redacted, it has what happened and not what was said: names, ids, sizes, codes.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from typing import Any, Final

from toolglot.gateway.inspector.conversation_json import numbers_json, session_detail, session_json
from toolglot.gateway.inspector.exchange_detail import exchange_detail
from toolglot.gateway.inspector.grouping import InspectedConversation
from toolglot.gateway.inspector.page_files import SCRIPTS, STYLE, page_file
from toolglot.gateway.inspector.stream_events import stream_json
from toolglot.gateway.telemetry.redact import scrub
from toolglot.ir import Json
from toolglot.wire import jsontext

_IMPORT: Final = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ", re.MULTILINE)
_LAST_EXPORT: Final = re.compile(r"export\s*\{([^}]*)\};?\s*$")
_MOST_EVENTS: Final = 2000
"""Events of a stream that a file has, on each side."""
_KEPT: Final = frozenset(
    {
        "asked_model", "client", "code", "codes", "end", "finishReason", "finish_reason", "id",
        "kind", "meaning", "media", "model", "name", "object", "path", "protocol", "protocols",
        "provider", "provider_protocol", "reason", "request_id", "role", "rule", "severity", "side",
        "source", "state", "status", "stop_reason", "stops", "target", "tool_call_id",
        "tool_use_id", "call_id", "tools", "type", "version",
    }
)  # fmt: skip
"""Members that say what happened, and not what was said."""

_SAID: Final = frozenset({"args", "arguments", "input", "metadata", "response"})
"""Members whose objects have names of their own, which were said too: arguments and results."""


def export_page(
    found: Iterable[InspectedConversation], info: Json, *, redact: bool = False
) -> bytes:
    """One HTML file with conversations in it."""
    data = export_data(list(found), info)
    data = _redacted(data) if redact else _scrubbed(data)
    # Nothing in it can end the element that it is in, or begin another.
    text = (
        jsontext.text(data).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    )
    script, style = _script(), (page_file(STYLE) or b"").decode()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    page = (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>toolglot inspector</title>\n<style>{style}</style>\n"
        '<body><div id="app"></div>\n'
        f'<script type="application/json" id="data">{text}</script>\n'
        f'<script type="module">{script}</script>\n</body></html>\n'
    )
    return page.encode("utf-8", "backslashreplace")


def export_data(found: list[InspectedConversation], info: Json) -> Json:
    """What the API would answer, by what is asked."""
    turns = [turn.exchange for each in found for turn in each.turns]
    return {
        "info": {**info, "live": False},
        "sessions": [session_json(each) for each in reversed(found)],
        "session": {str(each.id): session_detail(each) for each in found},
        "exchange": {str(each.number): exchange_detail(each) for each in turns},
        "stream": {str(each.number): _first_events(stream_json(each)) for each in turns},
        "numbers": numbers_json(found),
    }


def _first_events(stream: Json) -> Json:
    for side in stream.values():
        side["left_out"] = max(0, len(side["events"]) - _MOST_EVENTS)
        del side["events"][_MOST_EVENTS:]
    return stream


# --- what may be shown ----------------------------------------------------------------------------


def _scrubbed(value: Any) -> Any:
    """The same with everything that looks like a key masked."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {name: _scrubbed(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(each) for each in value]
    return value


def _redacted(value: Any, name: str = "") -> Any:
    """The same without what was said."""
    if isinstance(value, str):
        return scrub(value) if name in _KEPT or not value else f"[{len(value)} characters]"
    if isinstance(value, dict):
        if name in _SAID:
            return f"[{len(value)} members]"
        return {key: _redacted(each, key) for key, each in value.items()}
    if isinstance(value, list | tuple):
        if name == "events":
            return [[at, size, kind, f"[{size} bytes]"] for at, size, kind, _ in value]
        return [_redacted(each, name) for each in value]
    return value


# --- one script of all ----------------------------------------------------------------------------


def _script() -> str:
    """All modules as one, in their order: names at their top are unique."""
    library, *modules = ((page_file(name) or b"").decode() for name in SCRIPTS)
    parts = [_as_constant(library)]
    parts += (_EXPORT.sub("", _IMPORT.sub("", module)) for module in modules)
    return "\n".join(parts)


def _as_constant(library: str) -> str:
    """A module that exports names at its end, as a value."""
    found = _LAST_EXPORT.search(library)
    if found is None:
        raise AssertionError  # pragma: no cover - a test reads the file
    pairs = [each.strip().partition(" as ") for each in found[1].split(",")]
    members = ",".join(f"{name or inner}:{inner}" for inner, _, name in pairs)
    names = ",".join(name or inner for inner, _, name in pairs)
    return f"const {{{names}}}=(()=>{{{library[: found.start()]};return {{{members}}}}})();"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
