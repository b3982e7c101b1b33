"""What an error says, whatever its shape: its words, its code and the parameter that it names."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from toolglot.wire import jsontext

MOST_WORDS: Final = 6000
"""Characters of an error that are looked at; some repeat the whole request."""
_DEPTH: Final = 6
_INNER: Final = ("error", "errors", "detail", "details", "message", "msg", "metadata", "raw")
"""Where servers have the words, or an object or a list that has them."""


class ErrorWords(Struct, frozen=True, kw_only=True):
    """What a provider said in place of an answer."""

    status: int
    words: str
    code: str = ""
    param: str = ""


def read_error(status: int, body: bytes) -> ErrorWords:
    """The words of a reply that is an error; one that is no JSON is its own words."""
    try:
        value = jsontext.peek(body)
    except ValueError:
        return ErrorWords(status=status, words=body[:MOST_WORDS].decode("utf-8", "replace").strip())
    words = "\n".join(dict.fromkeys(_words(value, 0)))
    return ErrorWords(
        status=status,
        words=words[:MOST_WORDS],
        code=_named(value, "code"),
        param=_named(value, "param"),
    )


def _words(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEPTH:
        return
    if isinstance(value, str):
        yield from _text(value, depth)
    elif isinstance(value, list):
        for each in value[:64]:
            yield from _words(each, depth + 1)
    elif isinstance(value, dict):
        place, said = value.get("loc", value.get("path")), value.get("msg", value.get("message"))
        if isinstance(place, list) and isinstance(said, str):
            yield f"{'.'.join(map(str, place))}: {said}"
            return
        for key in _INNER:
            if key in value:
                yield from _words(value[key], depth + 1)


def _text(text: str, depth: int) -> Iterator[str]:
    """The words of a text; some servers have the JSON of another error in it."""
    text = text.strip()
    if text[:1] in ("{", "["):
        try:
            inner = jsontext.peek(text)
        except ValueError:
            yield text
            return
        found = list(_words(inner, depth + 1))
        yield from found or [text]
    elif text:
        yield text


def _named(value: Any, key: str) -> str:
    """A member of the error itself, or of what it is wrapped in."""
    inner = value
    for _ in range(_DEPTH):
        if not isinstance(inner, dict):
            return ""
        if isinstance(found := inner.get(key), (str, int)) and not isinstance(found, bool):
            return str(found)
        inner = inner.get("error") or inner.get("detail")
    return ""
