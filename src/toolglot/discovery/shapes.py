"""Which protocol wrote something, by its structure alone: answers, events, errors, lists."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from toolglot.errors import ToolglotError
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.ndjson import NdjsonDecoder
from toolglot.wire.sse import SseDecoder

Shape = Callable[[Json], bool]


def _has_list(value: Json, key: str) -> bool:
    return isinstance(value.get(key), list)


def _has_choices(value: Json, inner: str) -> bool:
    choices = value.get("choices")
    return isinstance(choices, list) and any(
        isinstance(each, dict) and isinstance(each.get(inner), dict) for each in choices
    )


ANSWERS: Final[Mapping[str, Shape]] = {
    "anthropic": lambda value: value.get("type") == "message" and _has_list(value, "content"),
    "openai-chat": lambda value: _has_choices(value, "message"),
    "openai-responses": lambda value: _has_list(value, "output"),
    "gemini": lambda value: _has_list(value, "candidates"),
    "ollama": lambda value: isinstance(value.get("message"), dict) and "done" in value,
}
"""What a whole answer looks like, by protocol."""

EVENTS: Final[Mapping[str, Shape]] = {
    "anthropic": lambda value: value.get("type") == "message_start",
    "openai-chat": lambda value: _has_choices(value, "delta"),
    "openai-responses": lambda value: str(value.get("type")).startswith("response."),
    "gemini": lambda value: _has_list(value, "candidates"),
    "ollama": lambda value: isinstance(value.get("message"), dict) and "done" in value,
}
"""What the first telling event of a stream looks like, by protocol."""


def json_value(body: bytes) -> Any:
    """The value of a JSON text; None if it is none."""
    try:
        return jsontext.peek(body)
    except ValueError:
        return None


def keys_of(body: bytes) -> str:
    """The keys of an answer, by which its protocol shows; of a stream, those of its first event."""
    value = json_value(body)
    first = value if isinstance(value, dict) else next(stream_values(body), {})
    return f"an object of {', '.join(map(str, first))}"


def wordy_shape(body: bytes) -> str:
    """What something is that is no JSON."""
    text = body.lstrip()[:200].lower()
    if not text:
        return "empty"
    return "html" if text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")) else "text"


def protocol_by(shapes: Mapping[str, Shape], values: list[Json]) -> str:
    """The protocol whose shape is the first to fit one of the values."""
    for value in values:
        for name, fits in shapes.items():
            if fits(value):
                return name
    return ""


def stream_values(body: bytes) -> Iterator[Json]:
    """The JSON objects of a stream, of events or of lines."""
    try:
        sse = SseDecoder()
        pieces = [data for _, data in [*sse.feed(body), *sse.close()]]
        if not pieces:
            lines = NdjsonDecoder()
            pieces = [*lines.feed(body), *lines.close()]
    except ToolglotError:
        return
    for piece in pieces:
        value = json_value(piece)
        if isinstance(value, dict):
            yield value


# --- errors and lists -----------------------------------------------------------------------------

_UPPER: Final = re.compile(r"^[A-Z_]+$")


def error_shape(value: Json) -> str:
    """Whose shape an error has, or a word for it."""
    error = value.get("error")
    if isinstance(error, dict):
        if value.get("type") == "error":
            return "anthropic"
        return "gemini" if _UPPER.match(str(error.get("status", ""))) else "openai"
    if isinstance(error, str):
        return "ollama"
    return "detail" if "detail" in value else "json"


def error_text(body: bytes) -> str:
    """What an error says, in its own words."""
    value = json_value(body)
    if isinstance(value, dict):
        error = value.get("error", value.get("detail", value.get("message")))
        if isinstance(error, dict):
            error = error.get("message", error)
        if error:
            return error if isinstance(error, str) else jsontext.text(error)
    return body.decode("utf-8", "replace")


_LISTS: Final = (("data", "id"), ("models", "model"), ("models", "name"))
"""Where a list of models is, and the key of a name in it."""


def read_models(body: bytes) -> tuple[str, tuple[str, ...]]:
    """The protocol that a list of models is of, where it says so, and the models."""
    value = json_value(body)
    if not isinstance(value, dict):
        return "", ()
    for where, key in _LISTS:
        entries = value.get(where)
        if not isinstance(entries, list):
            continue
        named = [each for each in entries if isinstance(each, dict) and _is_name(each.get(key))]
        if named:
            names = (str(each[key]).removeprefix("models/") for each in named)
            return _list_shape(where, key, named[0]), tuple(dict.fromkeys(names))
    return "", ()


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable()


def _list_shape(where: str, key: str, entry: Json) -> str:
    if where == "data":
        return "anthropic" if entry.get("type") == "model" and "display_name" in entry else ""
    return "ollama" if key == "model" else "gemini" if "/" in str(entry[key]) else ""
