"""Where schemas are inside a schema, and how to change each of them.

All walks are loops, since schemas can be deep. Nothing is ever changed in place: what has to
change is copied, with what holds it, and what has not is returned as it is.
"""

from collections.abc import Callable
from typing import Any, Final

from toolglot.ir import Json

CHILDREN: Final = frozenset(
    {
        "items",
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
LISTS: Final = frozenset({"items", "anyOf", "oneOf", "allOf", "prefixItems"})
TABLES: Final = frozenset(
    {"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}
)
INNER: Final = CHILDREN | LISTS | TABLES
"""Keys that hold schemas: one, a list of them, or a table by name."""


def schemas(schema: Json) -> list[Json]:
    """The schema and all schemas in it, each after the one that holds it."""
    found = [schema]
    for node in found:
        if not INNER.isdisjoint(node):
            found += children(node)
    return found


def children(node: Json) -> list[Json]:
    """The schemas directly in a schema."""
    found: list[Json] = []
    for key, held in node.items():
        if key not in INNER:
            continue
        if type(held) is dict:
            if key in TABLES:
                found += [each for each in held.values() if type(each) is dict]
            elif key in CHILDREN:
                found.append(held)
        elif type(held) is list and key in LISTS:
            found += [each for each in held if type(each) is dict]
    return found


class _Node:
    """A schema in its place: the one that holds it, its key there, its place under the key."""

    __slots__ = ("holder", "key", "new", "old", "step")

    def __init__(
        self, schema: Json, holder: "_Node | None", key: str, step: str | int | None
    ) -> None:
        self.old = schema
        self.new = schema
        self.holder = holder
        self.key = key
        self.step = step

    def children(self, keys: frozenset[str]) -> list["_Node"]:
        found: list[_Node] = []
        for key in [key for key in self.old if key in keys]:
            held = self.old[key]
            if type(held) is dict and key in TABLES:
                pairs: list[tuple[Any, Any]] = list(held.items())
            elif type(held) is list and key in LISTS:
                pairs = list(enumerate(held))
            else:
                pairs = [(None, held)] if key in CHILDREN else []
            found += [_Node(each, self, key, at) for at, each in pairs if type(each) is dict]
        return found

    def put_into_holder(self) -> None:
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


def edit(schema: Json, change: Callable[[Json], Json], *, keys: frozenset[str] = INNER) -> Json:
    """The schema with every schema in it changed, those inside before those that hold them.

    `change` gets a schema whose inner ones are changed already, and returns it or a copy. `keys`
    are those under which schemas are looked for.
    """
    nodes = [_Node(schema, None, "", None)]
    for node in nodes:
        if not keys.isdisjoint(node.old):
            nodes += node.children(keys)
    for node in reversed(nodes):
        node.new = change(node.new)
        node.put_into_holder()
    return nodes[0].new
