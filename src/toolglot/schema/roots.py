"""The top of a tool's schema as every provider wants it: an object, without a union around it.

A union at the top becomes one object with the members of all its branches, of which those are
required that all branches require. Arguments that are no object at all are wrapped in one.
"""

from typing import Any, Final

from msgspec import Struct

from toolglot.ir import Json
from toolglot.schema.convert import WRAPPED
from toolglot.schema.keywords import is_filled, table, texts
from toolglot.schema.merge import References, flatten
from toolglot.schema.subsets import ANNOTATIONS, kind, types_of
from toolglot.schema.walk import INNER

_COMPOSED: Final = frozenset({"anyOf", "oneOf", "allOf", "$ref", "enum", "const", "not"})
_DEFINITIONS: Final = frozenset({"$defs", "definitions"})


class Root(Struct, frozen=True, kw_only=True):
    """The top of a schema as an object."""

    schema: Json
    wrapped: bool = False
    rewritten: tuple[str, ...] = ()
    lossy: bool = False


def is_object_root(schema: Json) -> bool:
    """Whether a schema is an object at its top and nothing else."""
    return schema.get("type") == "object" and _COMPOSED.isdisjoint(schema)


def object_root(schema: Json, references: References) -> Root:
    """The top of a schema as an object; references and `allOf` there are resolved."""
    flat = flatten(schema, references)
    top, rewritten, lossy = flat.schema, set(flat.words), flat.cut
    if not _is_object(top):
        return _wrapped(schema)
    union = next((key for key in ("anyOf", "oneOf") if is_filled(top.get(key))), None)
    if union is not None:
        united = _united(top, top[union], references)
        if united is not None:
            top, lossy = united, True
            rewritten.add(union)
    if top.get("type") != "object":
        rewritten.add("type")
    dropped = _COMPOSED.intersection(top)
    kept = {key: held for key, held in top.items() if key not in dropped and key != "nullable"}
    return Root(
        schema={**kept, "type": "object"},
        rewritten=tuple(sorted(rewritten)),
        lossy=lossy or bool(dropped),
    )


def _wrapped(schema: Json) -> Root:
    """An object with the schema as its only member."""
    definitions = {key: held for key, held in schema.items() if key in _DEFINITIONS}
    inner = {key: held for key, held in schema.items() if key not in _DEFINITIONS}
    wrapper = {"type": "object", "properties": {WRAPPED: inner}, "required": [WRAPPED]}
    return Root(schema=wrapper | definitions, wrapped=True, rewritten=("type",))


def _is_object(schema: Json) -> bool:
    """Whether arguments can be an object."""
    types = types_of(schema)
    if not types:
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        types = tuple(map(kind, values)) if type(values) is list else ()
    return not types or "object" in types


def _united(base: Json, branches: list[Any], references: References) -> Json | None:
    """One object for several; None if none of them is one."""
    rest = {key: value for key, value in base.items() if key not in ("anyOf", "oneOf")}
    flats = [flatten({"allOf": [each, rest]}, references) for each in branches]
    objects = [each.schema for each in flats if not each.never and _is_object(each.schema)]
    if not objects:
        return None
    united = {k: v for k, v in rest.items() if k in ANNOTATIONS or k in _DEFINITIONS}
    united |= {"type": "object", "properties": _members_of(objects)}
    required = _required_by_all(objects)
    if required:
        united["required"] = required
    if all(each.get("additionalProperties") is False for each in objects):
        united["additionalProperties"] = False
    return united


def _members_of(objects: list[Json]) -> Json:
    """The members of all objects; one that differs among them is a union."""
    members: dict[str, list[Any]] = {}
    for each in objects:
        for name, held in table(each.get("properties")).items():
            known = members.setdefault(name, [])
            if not any(_are_same(held, other) for other in known):
                known.append(held)
    return {name: held[0] if len(held) == 1 else {"anyOf": held} for name, held in members.items()}


def _required_by_all(objects: list[Json]) -> list[str]:
    first, *others = (texts(each.get("required")) for each in objects)
    return [name for name in first if all(name in names for names in others)]


def _are_same(one: Any, two: Any) -> bool:
    """Whether two schemas are the same one, or equal and without others in them."""
    if one is two:
        return True
    return type(one) is dict and INNER.isdisjoint(one) and bool(one == two)
