"""One schema out of several that hold at once: references followed, `allOf` taken together.

Where two cannot be taken together exactly, the result allows more, never less.
"""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote

from toolglot.ir import Json
from toolglot.schema.walk import schemas

_LOWER: Final = frozenset(
    {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"}
)
_UPPER: Final = frozenset(
    {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"}
)
_NOT_MERGED: Final = frozenset({"$ref", "$dynamicRef", "allOf"})
UNROLLED: Final = 2
"""How often a reference is followed within itself."""


class References:
    """What references in a schema lead to."""

    __slots__ = ("_anchors", "_root")

    def __init__(self, root: Json) -> None:
        self._root = root
        self._anchors: dict[str, Json] | None = None

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


class Flat:
    """A schema without references and `allOf`."""

    __slots__ = ("cut", "never", "refs", "schema", "words")

    def __init__(self, refs: tuple[str, ...]) -> None:
        self.schema: Json = {}
        self.refs = refs
        """The references followed on the way to here."""
        self.never = False
        self.cut = False
        """Whether a reference was not followed any further."""
        self.words: set[str] = set()
        """What was taken away: `$ref`, `allOf`."""


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
        for key, value in node.items():
            if key not in _NOT_MERGED:
                _merge(flat.schema, key, value)
        parts = node.get("allOf")
        if type(parts) is list:
            flat.words.add("allOf")
            pending += reversed(parts)
        ref = node.get("$ref", node.get("$dynamicRef"))
        if ref is not None:
            flat.words.add("$ref")
            pending.append(_target(ref, references, flat, follow))
    return flat


def _target(ref: Any, references: References, flat: Flat, follow: int) -> Any:
    found = references.find(ref)
    if found is None:
        flat.cut = True
        return True
    if flat.refs.count(ref) >= follow:
        flat.cut = True
        return cut(found)
    flat.refs = (*flat.refs, ref)
    return found


def cut(schema: Any) -> Any:
    """What is left of a schema that is not looked into: its type, or that it is an object."""
    if type(schema) is not dict:
        return schema
    kept = {key: schema[key] for key in ("type", "nullable", "description") if key in schema}
    return kept if "type" in kept or "properties" not in schema else {"type": "object", **kept}


def _merge(into: Json, key: str, value: Any) -> None:
    if key not in into:
        into[key] = value
        return
    merge = _MERGES.get(key)
    if merge is not None:
        into[key] = merge(into[key], value)
    elif key in _LOWER and _are_numbers(into[key], value):
        into[key] = max(into[key], value)
    elif key in _UPPER and _are_numbers(into[key], value):
        into[key] = min(into[key], value)


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _both(one: Any, two: Any) -> Any:
    return one if type(one) is list or type(two) is list else {"allOf": [one, two]}


def _tables(one: Any, two: Any) -> Any:
    if type(one) is not dict or type(two) is not dict:
        return one if type(one) is dict else two
    return {
        **one,
        **{name: _both(one[name], held) if name in one else held for name, held in two.items()},
    }


def _names(one: Any, two: Any) -> Any:
    if type(one) is not list or type(two) is not list:
        return one if type(one) is list else two
    return [*one, *(name for name in two if name not in one)]


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
    return [value for value in one if value in two] or one


def _first(one: Any, _: Any) -> Any:
    return one


_MERGES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "properties": _tables,
    "patternProperties": _tables,
    "required": _names,
    "type": _types,
    "enum": _values,
    "items": _both,
    "additionalProperties": _both,
    "anyOf": _first,
    "oneOf": _first,
}
