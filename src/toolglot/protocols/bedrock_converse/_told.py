"""Blocks that no other protocol has, in words.

Read in the service model of botocore 1.44.0 (2026-11-16).
"""

from collections.abc import Mapping
from typing import Final

from toolglot.ir import Json
from toolglot.surface import Teller
from toolglot.wire.json_values import member
from toolglot.wire.told import as_json, joined, named, text_in, texts_at


def _found(value: Json) -> tuple[str, str]:
    result = value.get("searchResult")
    words = joined(*texts_at(result, "title", "source"), text_in(member(result, "content")))
    return "A search result", words


def _cited(value: Json) -> tuple[str, str]:
    return "Cited text", text_in(member(value, "citationsContent", "content"))


def _call(value: Json) -> tuple[str, str]:
    call = value.get("toolUse")
    title = f"Call of {named(call, 'name')}, which the provider ran"
    return title, as_json(member(call, "input"))


def _result(value: Json) -> tuple[str, str]:
    content = member(value, "toolResult", "content")
    words = text_in(content) or as_json(content)
    return "Result of a tool that the provider ran", words


def _document(value: Json) -> tuple[str, str]:
    document = value.get("document")
    words = text_in(member(document, "source", "content"))
    return "A document", joined(*texts_at(document, "name"), words) if words else ""


TOLD: Final[Mapping[str, Teller]] = {
    "citationsContent": _cited,
    "document": _document,
    "searchResult": _found,
    "toolResult": _result,
    "toolUse": _call,
}
"""What is told of each kind of block: what it is, and what is in it."""
