"""Limits that a target has no keywords for, told in the description.

They stand at the end of it, as JSON Schema: models know that language, nothing is put in other
words, and a program can read them back. Anthropic's SDKs do the same for their structured output
(anthropic-sdk-python 2.8.0, `lib/_parse/_transform.py`).
"""

from typing import Any, Final

from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.schema.walk import edit, schemas
from toolglot.wire import jsontext

_TOLD: Final = "Further JSON Schema: "

TELLABLE: Final = frozenset(
    {
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "contentEncoding",
        "contentMediaType",
        "default",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "enum",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "if",
        "maxContains",
        "maximum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "minContains",
        "minimum",
        "minItems",
        "minLength",
        "minProperties",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "required",
        "then",
        "type",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    }
)
"""Keywords that are worth telling a model."""

_LONGEST: Final = 1000
"""Characters that one keyword may take in a description."""

_ALL: Final = 100_000
"""Characters that all descriptions of a schema may take for this."""


class Telling:
    """What the descriptions of one schema tell."""

    __slots__ = ("_left", "_written")

    def __init__(self) -> None:
        self._left = _ALL
        self._written: dict[int, tuple[Any, str | None]] = {}
        """Texts by the identity of what they are of, which is kept with them."""

    def describe(self, schema: Json, limits: Json) -> tuple[Json, list[str]]:
        """A schema that tells limits in its description, and the keywords that it does tell."""
        told = {key: text for key, value in limits.items() if (text := self._text(key, value))}
        if not told:
            return schema, []
        line = _TOLD + "{" + ", ".join(f'"{key}": {text}' for key, text in told.items()) + "}"
        return with_words(schema, line), list(told)

    def _text(self, key: str, value: Any) -> str | None:
        if key not in TELLABLE:
            return None
        if id(value) not in self._written:
            self._written[id(value)] = value, _written(value)
        text = self._written[id(value)][1]
        if text is None or len(text) > self._left:
            return None
        self._left -= len(text)
        return text


def with_words(schema: Json, words: str) -> Json:
    """A schema with more words at the end of its description."""
    known = schema.get("description")
    text = f"{known}\n\n{words}" if type(known) is str and known else words
    return {**schema, "description": text}


def _written(value: Any) -> str | None:
    """The text of a value that can be understood where it is told; None if it cannot."""
    try:
        text = jsontext.spaced(value)
    except DecodeError:  # nested too deeply to be written
        return None
    return None if len(text) > _LONGEST or '"$ref"' in text else text


def read_told(schema: Json) -> Json:
    """A schema with what its descriptions tell as keywords again."""
    return edit(schema, _read) if any(map(_tells, schemas(schema))) else schema


def _tells(node: Json) -> bool:
    words = node.get("description")
    return type(words) is str and _TOLD in words


def _read(node: Json) -> Json:
    if not _tells(node):
        return node
    kept: list[str] = []
    found: list[Json] = []
    for line in node["description"].split("\n"):
        limits = _limits(line)
        if limits is None:
            kept.append(line)
        else:
            found.append(limits)
    words = "\n".join(kept).strip()
    new = {key: held for key, held in node.items() if key != "description"}
    if words:
        new["description"] = words
    for limits in found:
        again = {key: held for key, held in limits.items() if key in new}
        new |= {key: held for key, held in limits.items() if key not in again}
        if again:
            new["allOf"] = [*new.get("allOf", ()), again]
    return new


def _limits(line: str) -> Json | None:
    if not line.startswith(_TOLD):
        return None
    try:
        limits = jsontext.peek(line.removeprefix(_TOLD))
    except ValueError:
        return None
    return limits if type(limits) is dict else None
