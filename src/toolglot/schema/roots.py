"""The top of a tool's schema as every provider wants it: an object, without a union around it.

A union at the top becomes one object with the members of all its branches, of which those are
required that all branches require. Arguments that are no object at all are wrapped in one.
"""

from collections import Counter
from typing import Any, Final

from msgspec import Struct

from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.schema.convert import WRAPPED
from toolglot.schema.keywords import is_filled, table, texts
from toolglot.schema.merge import References, flatten
from toolglot.schema.subsets import kind, types_of
from toolglot.schema.walk import INNER
from toolglot.wire import jsontext

_COMPOSED: Final = frozenset({"anyOf", "oneOf", "allOf", "$ref", "enum", "const", "not"})
_DEFINITIONS: Final = frozenset({"$defs", "definitions"})


class Root(Struct, frozen=True, kw_only=True):
    """The top of a schema as an object."""

    schema: Json
    wrapped: bool = False
    rewritten: tuple[str, ...] = ()
    lost: Json = {}
    """Limits that an object at the top cannot have."""

    cut: bool = False
    """Whether a reference was not followed."""

    @property
    def lossy(self) -> bool:
        """Whether it allows more."""
        return bool(self.lost) or self.cut


def is_object_root(schema: Json) -> bool:
    """Whether a schema is an object at its top and nothing else."""
    return schema.get("type") == "object" and _COMPOSED.isdisjoint(schema)


def rename_members(schema: Json, names: dict[str, str]) -> Json:
    """A schema whose members at the top have other names."""
    made = dict(schema)
    made["properties"] = {names.get(name, name): each for name, each in made["properties"].items()}
    for key in ("required", "propertyOrdering"):
        if type(listed := made.get(key)) is list:
            made[key] = [names.get(name, name) for name in listed if type(name) is str]
    return made


def object_root(schema: Json, references: References) -> Root:
    """The top of a schema as an object; references and `allOf` there are resolved."""
    if is_object_root(schema):
        return Root(schema=schema)
    flat = flatten(schema, references)
    top, rewritten = flat.schema, set(flat.words)
    if not _is_object(top):
        return _wrapped(schema)
    lost: Json = {"allOf": flat.lost} if flat.lost else {}
    lost |= {key: held for key, held in top.items() if key in _COMPOSED}
    union = next((key for key in ("anyOf", "oneOf") if is_filled(top.get(key))), None)
    if union is not None:
        united = _united(top, top[union], references)
        if united is not None:
            top = united
            rewritten.add(union)
    if top.get("type") != "object":
        rewritten.add("type")
    kept = {key: held for key, held in top.items() if key not in _COMPOSED and key != "nullable"}
    return Root(
        schema={**kept, "type": "object"},
        rewritten=tuple(sorted(rewritten)),
        lost=lost,
        cut=bool(flat.cut),
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
    flats = [flatten(each, references) for each in branches]
    objects = [each.schema for each in flats if not each.never and _is_object(each.schema)]
    if not objects:
        return None
    closed = rest.get("additionalProperties") is False
    united = {**rest, "type": "object", "properties": _members_of(rest, objects, closed=closed)}
    required = dict.fromkeys([*texts(rest.get("required")), *_required_by_all(objects)])
    if required:
        united["required"] = list(required)
    if all(map(_is_closed, objects)):
        united["additionalProperties"] = False
    return united


def _members_of(base: Json, objects: list[Json], *, closed: bool) -> Json:
    """The members of all objects; one that differs among them is a union."""
    own = table(base.get("properties"))
    members: dict[str, dict[object, Any]] = {}
    counts: Counter[str] = Counter()
    for each in objects:
        for name, held in table(each.get("properties")).items():
            members.setdefault(name, {}).setdefault(same_as(held), held)
            counts[name] += 1
    opened = Counter[str]()
    for each in objects:
        if not closed and not _is_closed(each):
            opened.update(table(each.get("properties")).keys())
    open_count = sum(not closed and not _is_closed(each) for each in objects)
    found: Json = {}
    for name in dict.fromkeys([*own, *members]):
        held = list(members.get(name, {}).values())
        if name in own:
            everywhere = counts[name] == len(objects)
            found[name] = {"allOf": [own[name], _any_of(held)]} if everywhere else own[name]
        else:
            # An alternative that does not name it and is open takes anything in its place.
            found[name] = _any_of(held if opened[name] == open_count else [*held, {}])
    return found


def _any_of(held: list[Any]) -> Any:
    return held[0] if len(held) == 1 else {"anyOf": held}


def _is_closed(schema: Json) -> bool:
    return schema.get("additionalProperties") is False and not table(
        schema.get("patternProperties")
    )


def _required_by_all(objects: list[Json]) -> list[str]:
    first, *others = (dict.fromkeys(texts(each.get("required"))) for each in objects)
    counts = Counter(name for names in others for name in names)
    return [name for name in first if counts[name] == len(others)]


def same_as(schema: Any) -> object:
    """What equal schemas have in common; one with others in it is like none but itself."""
    if type(schema) is not dict or not INNER.isdisjoint(schema):
        return id(schema)
    try:
        return jsontext.text(schema)
    except DecodeError:  # nested too deeply to be written
        return id(schema)
