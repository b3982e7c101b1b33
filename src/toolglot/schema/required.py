"""Which parameters are truly required.

Some clients list every parameter of a tool as required, the optional ones too, and a model that
must fill them all invents values. A parameter stays required unless its schema says otherwise: a
default, `nullable`, or a description in words such as "(optional)" or "defaults to". "Not optional"
is not such words. Order is kept, and what has nothing to change is returned as it is, not copied.

Conditions (`if`, `not`) are left alone: there, fewer requirements would mean another condition.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from toolglot.ir import Json

MARKERS: Final = ("optional", "defaults to", "if not specified", "only provide if")
"""Words that make a parameter optional. They stand alone: `optionally` is not `optional`."""

MORE_MARKERS: Final = (
    "set to true to",
    "set to false to",
    "if provided",
    "when provided",
    "can be omitted",
    "not required",
)
"""Further words, to be added to `MARKERS` by callers who want them: they are more often wrong."""

_NEGATED: Final = re.compile(
    r"\b(?:not|isn['\u2019]t|never|no|non)[\s-]+(?:\w+\s+)?optional\b", re.IGNORECASE
)

_CHILDREN: Final = frozenset({"items", "additionalProperties", "then", "else", "contains"})
_LISTS: Final = frozenset({"items", "anyOf", "oneOf", "allOf", "prefixItems"})
_TABLES: Final = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_INNER: Final = _CHILDREN | _LISTS | _TABLES
"""Keys that hold schemas; most parameters have none of them and need no look inside."""


def filter_required(
    schema: Json, *, markers: tuple[str, ...] = MARKERS, booleans: bool = False
) -> tuple[Json, tuple[str, ...]]:
    """The schema with only true requirements, and the names of those that went.

    `markers` are the words in a description that make a parameter optional, in any case.
    `booleans` counts every boolean parameter as optional, which also drops true requirements.
    """
    if type(schema) is not dict:
        return schema, ()
    marked = _Marked(markers)
    removed: list[str] = []
    # Every schema comes after the one that holds it; the walk is a loop, since schemas can be deep.
    nodes = [_Node(schema, None, "")]
    for node in nodes:
        if not _is_flat(node.old):
            nodes.extend(node.children())
        node.filter(marked, removed, booleans=booleans)
    for node in reversed(nodes) if removed else ():
        node.hand_up()
    return nodes[0].new, tuple(removed)


def _is_flat(schema: Json) -> bool:
    """Whether it holds no schemas but plain parameters, as most tools do."""
    for key in _INNER.intersection(schema):
        held = schema[key]
        if key == "properties" and type(held) is dict:
            if not all(map(_is_leaf, held.values())):
                return False
        elif type(held) is dict or type(held) is list:
            return False
    return True


def _is_leaf(schema: Any) -> bool:
    return type(schema) is not dict or _INNER.isdisjoint(schema)


class _Node:
    """One schema in its place: the schema that holds it, its key there, its place under the key."""

    __slots__ = ("holder", "key", "new", "old", "step")

    def __init__(
        self, schema: Json, holder: "_Node | None", key: str, step: str | int | None = None
    ) -> None:
        self.old = schema
        self.new = schema
        self.holder = holder
        self.key = key
        self.step = step

    def children(self) -> Iterator["_Node"]:
        """The schemas that it holds."""
        for key, child in self.old.items():
            if type(child) is dict:
                if key in _TABLES:
                    for name, each in child.items():
                        if not _is_leaf(each):
                            yield _Node(each, self, key, name)
                elif key in _CHILDREN:
                    yield _Node(child, self, key)
            elif type(child) is list and key in _LISTS:
                for index, each in enumerate(child):
                    if type(each) is dict:
                        yield _Node(each, self, key, index)

    def filter(self, marked: "_Marked", removed: list[str], *, booleans: bool) -> None:
        """Take what is optional out of `required`, and the key with the last of it."""
        required, properties = self.old.get("required"), self.old.get("properties")
        if type(required) is not list or type(properties) is not dict:
            return
        kept: list[Any] = []
        for name in required:
            known = properties.get(name) if type(name) is str else None
            if known is not None and _is_optional(known, marked, booleans=booleans):
                removed.append(name)
            else:
                kept.append(name)
        if len(kept) == len(required):
            return
        self.new = self.old.copy()
        if kept:
            self.new["required"] = kept
        else:
            del self.new["required"]

    def hand_up(self) -> None:
        """Put what changed into a copy of what holds it."""
        holder = self.holder
        if holder is None or self.new is self.old:
            return
        if holder.new is holder.old:
            holder.new = holder.old.copy()
        if self.step is None:
            holder.new[self.key] = self.new
            return
        if holder.new[self.key] is holder.old[self.key]:
            holder.new[self.key] = holder.old[self.key].copy()
        holder.new[self.key][self.step] = self.new


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
