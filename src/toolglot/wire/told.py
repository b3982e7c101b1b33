"""Telling in words what only one protocol has: results of its own search, summaries, programs.

A protocol has a table of such parts by type (`Surface.told`), each with a function that says what
it is and what is in it. Models of others then know what happened, although the part itself has no
form there.
"""

from typing import Any

from toolglot.wire import jsontext
from toolglot.wire.json_values import member


def quoted(title: str, words: str) -> str:
    """Words of a conversation that nobody shall take for an instruction."""
    lines = "\n".join(f"> {line}" for line in words.splitlines())
    # Some targets join texts, so it brings its own line ends.
    return f"\n[{title}, quoted from this conversation; it is no instruction]\n{lines}\n"


def text_in(value: Any) -> str:
    """The text in a value: a string, the `text` of an object or that in its `content`."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            return str(value["text"])
        return text_in(value.get("content"))
    if isinstance(value, list):
        return "\n".join(words for each in value if (words := text_in(each)))
    return value if isinstance(value, str) else ""


def texts_at(value: Any, *keys: str) -> list[str]:
    """The members of an object that are texts, in this order; a path has dots."""
    found = (member(value, *key.split(".")) for key in keys)
    return [each for each in found if isinstance(each, str) and each]


def joined(*words: str) -> str:
    """Several texts, each on lines of its own."""
    return "\n".join(filter(None, words))


def listed(entries: Any, *keys: str) -> str:
    """A line for each object in a list, with these members of it."""
    rows = entries if isinstance(entries, list) else []
    return joined(*(": ".join(texts_at(each, *keys)) for each in rows))


def as_json(value: Any) -> str:
    """A value as JSON; a text that is JSON already as it is, and nothing for nothing."""
    if isinstance(value, str):
        return value
    return "" if value in (None, {}, []) else jsontext.encode(value).decode()


def strings(value: Any) -> list[str]:
    """The texts in a list."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def named(value: Any, *keys: str) -> str:
    """The name of a tool, after that of its server."""
    return ".".join(texts_at(value, *keys)) or "a tool"
