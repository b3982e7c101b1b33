"""One schema out of several that hold at once: references followed, `allOf` taken together.

Where two cannot be taken together exactly, the result allows more, never less, and says what it
left out.
"""

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote

from toolglot.ir import Json
from toolglot.schema.keywords import same_value, texts
from toolglot.schema.subsets import ANNOTATIONS
from toolglot.schema.walk import schemas

_LOWER: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_UPPER: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_NOT_MERGED: Final = frozenset({"$ref", "$dynamicRef", "allOf"})
UNROLLED: Final = 2
"""How often a reference is followed within itself."""

_LONGEST_ROW: Final = 100
"""Of longer rows of items, only one is kept: what follows it is under both."""

_CHAIN: Final = 100
"""How many references are followed on the way to one place."""


class References:
    """What references in a schema lead to."""

    __slots__ = ("_anchors", "_root", "alone")

    def __init__(self, root: Json) -> None:
        self._root = root
        self._anchors: dict[str, Json] | None = None
        self.alone = _OLD_DRAFTS.search(str(root.get("$schema", ""))) is not None
        """Up to draft 7, what stands beside a reference does not count."""

    def find(self, ref: Any) -> Any:
        """The schema that a reference leads to, or None."""
        if type(ref) is not str:
            return None
        own = self._root.get("$id")
        if type(own) is str and own:
            ref = ref.removeprefix(own)
        if ref in ("", "#"):
            return self._root
        if ref.startswith("#/"):
            return self._follow(ref[2:])
        return self._anchor(ref[1:]) if ref.startswith("#") else None

    def _follow(self, pointer: str) -> Any:
        node: Any = self._root
        for step in pointer.split("/"):
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            if type(node) is dict:
                node = node.get(key)
            elif type(node) is list and key.isdecimal() and int(key) < len(node):
                node = node[int(key)]
            else:
                return None
        return node if type(node) in (dict, bool) else None

    def _anchor(self, name: str) -> Json | None:
        if self._anchors is None:
            self._anchors = {}
            for node in schemas(self._root):
                for key in ("$anchor", "$dynamicAnchor"):
                    if type(node.get(key)) is str:
                        self._anchors.setdefault(node[key], node)
        return self._anchors.get(name)


_OLD_DRAFTS: Final = re.compile(r"draft-0[1-7]\b")


class Flat:
    """A schema without references and `allOf`."""

    __slots__ = ("_own", "cut", "lost", "never", "refs", "schema", "words")

    def __init__(self, refs: tuple[str, ...]) -> None:
        self.schema: Json = {}
        self.refs = refs
        """The references followed on the way to here."""
        self.never = False
        self.cut = ""
        """A reference that was not followed any further."""
        self.words: set[str] = set()
        """What was taken away: `$ref`, `allOf`."""
        self.lost: list[Json] = []
        """What could not be taken together with the rest."""
        self._own: set[str] = set()
        """Keys whose tables and lists are copies."""

    def add(self, node: Json) -> None:
        """Take a schema together with those before it."""
        node = _with_prefix(node)
        if "prefixItems" in self.schema or ("prefixItems" in node and "items" in self.schema):
            node = self._add_rows(node)
        for group in _GROUPS:
            held = {key: node[key] for key in group if key in node}
            if not held:
                continue
            if self.schema.keys().isdisjoint(group):
                self.schema |= held
            elif not all(key in self.schema and _is(self.schema[key], held[key]) for key in held):
                self.lost.append(held)
        for key, value in node.items():
            if key in self.schema:
                if key not in _GROUPED:
                    self._merge(key, value)
            elif key not in _NOT_MERGED:
                self.schema[key] = value

    def _add_rows(self, node: Json) -> Json:
        """Take the items of a schema together with those before; returns the rest of it."""
        if not ("prefixItems" in node or "items" in node):
            return node
        mine, other = _row(self.schema), _row(node)
        length = max(len(mine), len(other))
        if length <= _LONGEST_ROW:
            ends = self.schema.get("items", True), node.get("items", True)
            rows = [
                [*row, *[end] * (length - len(row))]
                for row, end in zip((mine, other), ends, strict=True)
            ]
            self.schema["prefixItems"] = list(map(_both, *rows))
        else:
            self.schema["prefixItems"] = mine if length == len(mine) else other
        return {key: held for key, held in node.items() if key != "prefixItems"}

    def _merge(self, key: str, value: Any) -> None:
        mine = self.schema[key]
        grow = _GROWING.get(key)
        if grow is not None:
            kind = list if key == "required" else dict
            if type(mine) is not kind:
                self.schema[key] = value
            elif type(value) is kind:
                if key not in self._own:
                    self._own.add(key)
                    self.schema[key] = mine = mine.copy()
                grow(mine, value)
        elif key in _MERGES:
            self.schema[key] = _MERGES[key](mine, value)
        elif key in _LOWER and _are_numbers(mine, value):
            self.schema[key] = max(mine, value)
        elif key in _UPPER and _are_numbers(mine, value):
            self.schema[key] = min(mine, value)
        elif key not in ANNOTATIONS and key not in _TABLES and not _is(mine, value):
            self.lost.append({key: value})

    def finish(self) -> None:
        """Name each required member once."""
        if "required" in self._own:
            self.schema["required"] = texts(self.schema["required"])


def flatten(
    schema: Any, references: References, refs: tuple[str, ...] = (), *, follow: int = UNROLLED
) -> Flat:
    """A schema with its references followed, up to `follow` times each, and `allOf` merged."""
    flat = Flat(refs)
    pending = [schema]
    while pending:
        node = pending.pop()
        if node is False:
            flat.never = True
        if type(node) is not dict:
            continue
        ref = node.get("$ref", node.get("$dynamicRef"))
        if ref is not None:
            flat.words.add("$ref")
            if references.alone:
                node = {key: held for key, held in node.items() if key in ANNOTATIONS}
        flat.add(node)
        parts = node.get("allOf")
        if type(parts) is list:
            flat.words.add("allOf")
            pending += reversed(parts)
        if ref is not None:
            pending.append(_target(ref, references, flat, follow))
    flat.finish()
    return flat


def _target(ref: Any, references: References, flat: Flat, follow: int) -> Any:
    found = references.find(ref)
    if found is None:
        flat.cut = str(ref)
        return True
    if len(flat.refs) >= _CHAIN or flat.refs.count(ref) >= follow:
        flat.cut = str(ref)
        return cut(found)
    flat.refs = (*flat.refs, ref)
    return found


def cut(schema: Any) -> Any:
    """What is left of a schema that is not looked into: its type, or that it is an object."""
    if type(schema) is not dict:
        return schema
    kept = {key: schema[key] for key in ("type", "nullable", "description") if key in schema}
    return kept if "type" in kept or "properties" not in schema else {"type": "object", **kept}


def _with_prefix(node: Json) -> Json:
    """A schema with `prefixItems` where it has a list of `items`, as up to draft 2019-09."""
    items = node.get("items")
    if type(items) is not list:
        return node
    new = {key: held for key, held in node.items() if key not in ("items", "additionalItems")}
    if "additionalItems" in node:
        new["items"] = node["additionalItems"]
    return {**new, "prefixItems": items} if items else new


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _is(one: Any, two: Any) -> bool:
    """Whether two values are one; those that hold others are not compared."""
    return one is two or (type(one) not in (dict, list) and type(one) is type(two) and one == two)


def _both(one: Any, two: Any) -> Any:
    if one is True or two is True:
        return two if one is True else one
    return {"allOf": [one, two]}


def _row(schema: Json) -> list[Any]:
    row = schema.get("prefixItems")
    return row if type(row) is list else []


def _add_members(mine: Json, members: Json) -> None:
    for name, held in members.items():
        mine[name] = _both(mine[name], held) if name in mine else held


def _add_names(mine: list[Any], names: list[Any]) -> None:
    mine += names


def _types(one: Any, two: Any) -> Any:
    mine, others = _listed(one), _listed(two)
    both = [name for name in mine if name in others or (name == "integer" and "number" in others)]
    both += [name for name in others if name == "integer" and "number" in mine]
    both = list(dict.fromkeys(both))
    return both[0] if len(both) == 1 else both or one


def _listed(value: Any) -> list[Any]:
    return value if type(value) is list else [value]


def _values(one: Any, two: Any) -> Any:
    if type(one) is not list or type(two) is not list:
        return one if type(one) is list else two
    known = set(map(same_value, two))
    return [value for value in one if same_value(value) in known] or one


_GROWING: Final[dict[str, Callable[[Any, Any], None]]] = {
    "properties": _add_members,
    "patternProperties": _add_members,
    "required": _add_names,
}
_MERGES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "type": _types,
    "enum": _values,
    "items": _both,
    "additionalProperties": _both,
}
_GROUPS: Final = (
    ("anyOf",),
    ("oneOf",),
    ("if", "then", "else"),
    ("contains", "minContains", "maxContains"),
)
"""Words that count only together, so that those of two schemas are not mixed."""

_GROUPED: Final = frozenset(word for group in _GROUPS for word in group)
_TABLES: Final = frozenset({"$defs", "definitions", "$anchor", "$dynamicAnchor"})
