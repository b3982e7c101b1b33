"""Which parameters are truly required.

Some clients list every parameter of a tool as required, the optional ones too, and a model that
must fill them all invents values. A parameter stays required unless its schema says otherwise: a
default, `nullable`, or a description in words such as "(optional)" or "defaults to". "Not optional"
is not such words. Order is kept, and what has nothing to change is returned as it is, not copied.

Conditions (`if`, `not`) are left alone: there, fewer requirements would mean another condition.
"""

import re
from functools import lru_cache
from typing import Any, Final

from toolglot.ir import Json
from toolglot.schema.walk import INNER, edit

MARKERS: Final = ("optional", "defaults to", "if not specified", "only provide if")
"""Words that make a parameter optional, as words of their own: `optionally` is not `optional`."""

_NEGATED: Final = re.compile(
    r"\b(?:not|isn['\u2019]t|never|no|non)[\s-]+(?:\w+\s+)?optional\b", re.IGNORECASE
)

_KEYS: Final = INNER - {
    "additionalItems",
    "dependentSchemas",
    "if",
    "not",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
}
"""Keys under which schemas are looked for."""


def filter_required(
    schema: Json, *, markers: tuple[str, ...] = MARKERS, booleans: bool = False
) -> tuple[Json, tuple[str, ...]]:
    """The schema with only true requirements, and the names of those that were removed.

    `markers` are the words in a description that make a parameter optional, in any case.
    `booleans` counts every boolean parameter as optional, which also drops true requirements.
    """
    if type(schema) is not dict:
        return schema, ()
    marked = _Marked(markers)
    removed: list[list[str]] = []

    def change(node: Json) -> Json:
        optional = _optional_names(node, marked, booleans=booleans)
        if not optional:
            return node
        removed.append(optional)
        return _without(node, optional)

    filtered = edit(schema, change, keys=_KEYS)
    # Inner schemas are changed first; the names are given from the top down.
    return filtered, tuple(name for names in reversed(removed) for name in names)


def _optional_names(node: Json, marked: "_Marked", *, booleans: bool) -> list[str]:
    required, properties = node.get("required"), node.get("properties")
    if type(required) is not list or type(properties) is not dict:
        return []
    return [
        name
        for name in required
        if type(name) is str
        and name in properties
        and _is_optional(properties[name], marked, booleans=booleans)
    ]


def _without(node: Json, names: list[str]) -> Json:
    """A schema that does not require some names, nor has an empty list."""
    gone = frozenset(names)
    kept = [name for name in node["required"] if type(name) is not str or name not in gone]
    if kept:
        return {**node, "required": kept}
    return {key: value for key, value in node.items() if key != "required"}


def _is_optional(schema: Any, marked: "_Marked", *, booleans: bool) -> bool:
    if type(schema) is not dict:
        return False
    if "default" in schema or schema.get("nullable") is True:
        return True
    if booleans and schema.get("type") == "boolean":
        return True
    words = schema.get("description")
    return type(words) is str and marked.are_in(words) and _NEGATED.search(words) is None


class _Marked:
    """The markers, looked for as words of their own, however their words are spaced."""

    __slots__ = ("_starts", "_words")

    def __init__(self, markers: tuple[str, ...]) -> None:
        self._starts, self._words = _patterns(markers)

    def are_in(self, text: str) -> bool:
        """Whether one of them is there: a quick look for their longest words, then a careful
        one.
        """
        lower = text.lower()
        for start in self._starts:
            if start in lower:
                return self._words.search(text) is not None
        return False


@lru_cache(maxsize=64)
def _patterns(markers: tuple[str, ...]) -> tuple[tuple[str, ...], re.Pattern[str]]:
    known = [marker.lower().split() for marker in markers if marker.strip()]
    words = "|".join(r"\s+".join(map(re.escape, each)) for each in known)
    longest = tuple(dict.fromkeys(max(each, key=len) for each in known))
    return longest, re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
