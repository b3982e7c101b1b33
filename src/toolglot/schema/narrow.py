"""A schema in the subset of JSON Schema that a target takes, and how arguments are converted back.

A schema in the subset is returned as it is. Any other is written anew, from what it says of each
place: references are kept where the target takes them and else followed (and given up where they
lead back into themselves), `allOf` is merged, `oneOf` becomes `anyOf`, `const` a list of one value.
Where a target cannot list values of a type, they are listed as texts, if a text can stand in that
place for nothing else; the `Plan` turns them back. A limit that cannot be said is told in the
description, so that the new schema allows more than the old one, never less, unless the subset
demands closed objects: then there may be no answer at all, which is `None`.

The work is a loop over places: down to find out what each may hold (`schema/places.py`), up to
write it.
"""

from typing import Any, Final

from msgspec import Struct

from toolglot.ir import Json
from toolglot.schema.convert import Plan, merged, send, widen
from toolglot.schema.describe import TELLABLE, Telling, with_words
from toolglot.schema.keywords import (
    NUMBERS,
    bound,
    is_limit,
    is_open,
    labels_of,
    texts,
    type_of,
)
from toolglot.schema.places import PLAN_DEPTH, ImpossibleError, SchemaPlace, SchemaPlaces
from toolglot.schema.roots import same_as
from toolglot.schema.subsets import (
    ANNOTATIONS,
    Subset,
    fits,
    is_of,
    kind,
    kinds_of,
    object_depth,
    within,
)

_STRUCTURAL: Final = frozenset(
    {
        "$defs",
        "$id",
        "$anchor",
        "$dynamicAnchor",
        "additionalItems",
        "additionalProperties",
        "anyOf",
        "const",
        "definitions",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "items",
        "nullable",
        "oneOf",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyOrdering",
        "required",
        "type",
    }
)
"""Words that are not copied but written anew."""

_WORDS_OF: Final[dict[str, frozenset[str]]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": NUMBERS | {"format"},
    "integer": NUMBERS | {"format"},
    "array": frozenset({"minItems", "maxItems", "uniqueItems", "contains"}),
    "object": frozenset({"minProperties", "maxProperties", "propertyNames"}),
}
_LIMITS: Final = frozenset().union(*_WORDS_OF.values())
_INEXACT: Final = frozenset({"oneOf", "prefixItems"})
"""Words that are rewritten with a meaning that is a little wider."""

_SCALARS: Final = ("string", "number", "boolean", "object")
_SHOWN: Final = 5
"""How many places that tell limits are named."""


class Narrowed(Struct, frozen=True, kw_only=True):
    """A schema for a target, what was done to it, and how arguments differ."""

    schema: Json
    rewritten: tuple[str, ...] = ()
    """Keywords that were written otherwise, with the same meaning."""

    described: tuple[str, ...] = ()
    """Keywords that are told in a description."""

    places: str = ""
    """The places of those, in words."""

    dropped: tuple[str, ...] = ()
    """Keywords that could not be written."""

    plan: Plan | None = None

    @property
    def lossy(self) -> bool:
        """Whether the new schema allows what the old one did not, and does not tell it."""
        return not ANNOTATIONS.issuperset(self.dropped)

    @property
    def loosened(self) -> tuple[str, ...]:
        """The limits that the new schema does not have as keywords."""
        return tuple(sorted({*self.described, *self.dropped} - ANNOTATIONS))

    @property
    def inexact(self) -> bool:
        """Whether arguments that fit the new schema may not fit the old one."""
        return bool(self.loosened) or not _INEXACT.isdisjoint(self.rewritten)

    def widen(self, value: Any) -> Any:
        """The client's arguments from those of a provider that saw this schema."""
        return widen(self.plan, value) if self.plan else value

    def send(self, value: Any) -> Any:
        """The arguments that a provider would have written for those of the client."""
        return send(self.plan, value) if self.plan else value


def narrow(schema: Json, subset: Subset, *, tool: bool = True) -> Narrowed | None:
    """The schema in a subset; None if that is not possible.

    The arguments of a tool may differ, as long as the plan can turn them back, and are an object.
    Output is the same under both schemas, because it goes to the client as it comes.
    """
    if fits(schema, subset, tool=tool):
        return Narrowed(schema=schema)
    for keeps in (True, False) if "$ref" in subset.keywords else (False,):
        try:
            return _Writer(schema, subset, tool=tool, keeps=keeps).run()
        except ImpossibleError:
            continue
    return None


class _Writer:
    """The way up: writes each place, those below before those that hold them."""

    __slots__ = (
        "_described",
        "_dropped",
        "_places",
        "_properties",
        "_rewritten",
        "_root",
        "_subset",
        "_telling",
        "_tells",
        "_tool",
    )

    def __init__(self, schema: Json, subset: Subset, *, tool: bool, keeps: bool) -> None:
        self._root = schema
        self._subset = subset
        self._tool = tool
        self._places = SchemaPlaces(schema, subset, tool=tool, keeps=keeps)
        self._rewritten, self._dropped = self._places.rewritten, self._places.dropped
        self._described: set[str] = set()
        self._tells: list[tuple[SchemaPlace, list[str]]] = []
        self._telling = Telling()
        self._properties = 0

    def run(self) -> Narrowed:
        places = self._places
        for place in reversed(places.all):
            self._write(place)
        root = places.root
        schema = root.schema if self._tool else self._with_null(root)
        if places.definitions:
            schema = _in_order({**schema, "$defs": self._definitions()}, self._root)
        root.plan.wrap = places.wrapped
        depth = object_depth(schema) if self._subset.max_depth is not None else 0
        if not within(self._subset, depth, self._properties):
            raise ImpossibleError
        if not places.definitions:
            self._rewritten |= {"$defs"}.intersection(self._root)
        if not self._dropped and not self._rewritten and not self._described:
            self._rewritten.add("type")
        return Narrowed(
            schema=schema,
            rewritten=tuple(sorted(self._rewritten)),
            described=tuple(sorted(self._described)),
            places=_in_words(self._tells[::-1]),
            dropped=tuple(sorted(self._dropped)),
            plan=root.plan if root.plan.done() else None,
        )

    def _definitions(self) -> Json:
        written: Json = {}
        for ref, place in self._places.definitions.items():
            if place.never or not place.schema:
                raise ImpossibleError
            written[self._places.names[ref]] = self._with_null(place)
        return written

    def _write(self, place: SchemaPlace) -> None:
        if place.never:
            return
        if place.ref:
            self._write_ref(place)
        elif place.union:
            self._write_union(place)
        elif place.enum is not None:
            self._write_enum(place, place.enum)
        elif not place.types and self._subset.typed:
            place.schema = self._any(place)
        elif len(place.types) > 1 and not self._takes_list(place):
            self._rewritten.add("type")
            branches = [self._typed(place, (name,)) for name in place.types]
            place.schema = self._union(branches, place)
        else:
            place.schema = self._typed(place, place.types)
        if place.plan.order or place.plan.items or place.plan.rest or place.plan.labels:
            place.plan.done()
        place.schema = _in_order(place.schema, place.flat)
        self._count(place)
        if place.lost:
            self._tell(place)
        if place.same_as:
            words = f'Has the same form as "{place.same_as}", which it is a part of.'
            place.schema = with_words(place.schema, words)

    def _takes_list(self, place: SchemaPlace) -> bool:
        """Whether several types can be one list."""
        if self._subset.type_lists == "bare":
            return _BARE.issuperset(self._typed(place, place.types))
        return self._subset.type_lists == "all"

    def _write_ref(self, place: SchemaPlace) -> None:
        ref = {"$ref": f"#/$defs/{self._places.names[place.ref]}"}
        words = self._annotations(place)
        place.lost |= {key: words.pop(key) for key in ("default", "example") if key in words}
        place.schema = {"anyOf": [ref], **words} if words else ref

    # --- what cannot be said ----------------------------------------------------------------------

    def _count(self, place: SchemaPlace) -> None:
        """Find out which of its words a place could not keep."""
        flat, keywords, types = place.flat, self._subset.keywords, place.types
        for key in flat.keys() - keywords - _STRUCTURAL:
            if place.union and key not in ANNOTATIONS:
                continue  # The alternatives have it.
            if types and key in _LIMITS and not _limits_any(key, types):
                self._rewritten.add(key)
            elif key in TELLABLE:
                place.lost[key] = flat[key]
            else:
                self._dropped.add(key)
        if place.union or place.enum is not None or (types and "object" not in types):
            return
        said = flat.get("additionalProperties")
        limits = said is not None and said is not True and said != {}
        if is_open(flat):
            place.lost["patternProperties"] = flat["patternProperties"]
            if limits:
                place.lost["additionalProperties"] = said
        elif limits and "additionalProperties" not in keywords:
            place.lost["additionalProperties"] = said

    def _tell(self, place: SchemaPlace) -> None:
        limits = {key: place.lost[key] for key in sorted(place.lost)}
        is_ref = "$ref" in place.schema  # also where it was the only one of several
        if is_ref:
            place.schema = {"anyOf": [place.schema]}
        if "anyOf" in place.schema and self._subset.beside_unions == "nothing":
            first, *others = place.schema["anyOf"]
            first, told = self._telling.describe(first, limits)
            place.schema = {"anyOf": [first, *others]}
        else:
            place.schema, told = self._telling.describe(place.schema, limits)
        if is_ref and not told:
            place.schema = place.schema["anyOf"][0]
        self._described.update(told)
        self._dropped.update(limits.keys() - told)
        if told:
            self._tells.append((place, told))

    # --- words and unions -------------------------------------------------------------------------

    def _annotations(self, place: SchemaPlace) -> Json:
        flat, words = place.flat, self._subset.keywords
        kept = {key: flat[key] for key in ("title", "description") if type(flat.get(key)) is str}
        if place.enum is None and not place.union:
            kept |= {key: flat[key] for key in ("default", "example") if key in flat}
        elif "default" in flat and "default" in words:
            place.lost["default"] = flat["default"]
        if self._subset.scalar_defaults and "default" in kept:
            self._check_default(place, kept)
        return {key: value for key, value in kept.items() if key in words}

    def _check_default(self, place: SchemaPlace, kept: Json) -> None:
        value = kept["default"]
        if kind(value) in ("object", "array") or not is_of(value, frozenset(place.types)):
            place.lost["default"] = kept.pop("default")

    def _any(self, place: SchemaPlace) -> Json:
        return self._union([*self._anything(), self._list_of_anything(2)], place)

    def _anything(self) -> list[Json]:
        return [{"type": name} for name in _SCALARS]

    def _list_of_anything(self, depth: int) -> Json:
        """A list that may hold anything, other lists up to a depth."""
        inner = self._anything()
        if depth:
            inner.append(self._list_of_anything(depth - 1))
        if self._subset.null == "keyword":
            inner[0] = {**inner[0], "nullable": True}
        else:
            inner.append({"type": "null"})
        return {"type": "array", "items": {"anyOf": inner}}

    def _union(self, branches: list[Json], place: SchemaPlace) -> Json:
        words = self._annotations(place)
        if len(branches) == 1 and not (words and "$ref" in branches[0]):
            return {**branches[0], **words}
        beside = self._subset.beside_unions
        if beside != "all":
            place.lost |= {key: words.pop(key) for key in ("default", "example") if key in words}
        most = self._subset.max_union
        while most is not None and len(branches) > most:
            groups = [branches[at : at + most] for at in range(0, len(branches), most)]
            branches = [{"anyOf": each} if len(each) > 1 else each[0] for each in groups]
        if beside != "nothing":
            return {**words, "anyOf": branches}
        if "description" in words and not any("description" in each for each in branches):
            branches = [{**branches[0], "description": words["description"]}, *branches[1:]]
        return {"anyOf": branches}

    def _write_union(self, place: SchemaPlace) -> None:
        found: dict[object, Json] = {}
        plans: list[Plan] = []
        anything = False
        for below in place.below:
            empty = below.schema.get("type") == "null"
            place.null = place.null or below.null or empty
            if below.never or empty:
                continue
            anything = anything or not below.schema
            inner = below.schema.get("anyOf") if len(below.schema) == 1 else None
            for each in inner if type(inner) is list else [below.schema]:
                found.setdefault(same_as(each), each)
            plans.append(below.plan)
        branches = [] if anything else list(found.values())
        if anything:
            place.lost["anyOf"] = [below.raw for below in place.below]
        if plans:
            place.plan = merged(plans)
        if branches:
            place.schema = self._union(branches, place)
        elif place.null and not plans:
            place.null, place.schema = False, {**self._annotations(place), "type": "null"}
        elif self._subset.typed:
            place.null, place.schema = True, self._any(place)
        else:
            place.schema = self._annotations(place)

    # --- listed values ----------------------------------------------------------------------------

    def _write_enum(self, place: SchemaPlace, values: list[Any]) -> None:
        subset = self._subset
        if subset.enums.issuperset(map(kind, values)):
            self._list(place, values)
        elif [*map(kind, values)] == ["boolean", "boolean"]:
            place.schema = {"type": "boolean", **self._annotations(place)}
        elif not place.loose:
            labels = labels_of(values)
            self._rewritten.add("enum")
            place.plan.labels = labels
            place.schema = {"type": "string", **self._annotations(place), "enum": list(labels)}
        else:
            place.lost["enum"] = values
            listed = [value for value in values if kind(value) in subset.enums]
            branches: list[Json] = [{**type_of(listed), "enum": listed}] if listed else []
            free = dict.fromkeys(map(kind, values))
            branches += [self._free(name) for name in free if name not in subset.enums]
            place.schema = self._union(branches, place)

    def _list(self, place: SchemaPlace, values: list[Any]) -> None:
        kinds = kinds_of(values)
        if self._subset.uniform_enums and len(kinds) > 1:
            self._rewritten.add("enum")
            groups = [[value for value in values if kinds_of([value]) == [name]] for name in kinds]
            branches = [{**type_of(each), "enum": each} for each in groups]
            place.schema = self._union(branches, place)
            return
        words = self._annotations(place)
        place.schema = {
            **type_of(values),
            **words,
            **self._format(place, "string"),
            "enum": values,
        }
        if self._subset.type_lists == "all" and len(set(map(kind, values))) > 1:
            place.schema["type"] = list(place.types)

    def _free(self, name: str) -> Json:
        if name in ("object", "array") and self._subset.closed:
            raise ImpossibleError
        if name == "array" and self._subset.needs_items:
            return self._list_of_anything(1)
        return {"type": name}

    def _format(self, place: SchemaPlace, name: str) -> Json:
        word = place.flat.get("format")
        if word is None or name != "string" or place.types != ("string",):
            return {}
        return {"format": word} if self._knows(place, word) else {}

    def _knows(self, place: SchemaPlace, word: Any) -> bool:
        known = self._subset.formats
        if "format" not in self._subset.keywords:
            return False
        if type(word) is str and (known is None or word in known):
            return True
        place.lost["format"] = word
        return False

    # --- places of one type -----------------------------------------------------------------------

    def _typed(self, place: SchemaPlace, types: tuple[str, ...]) -> Json:
        schema: Json = {}
        if types:
            schema["type"] = types[0] if len(types) == 1 else list(types)
        schema |= self._annotations(place)
        schema |= self._limits(place, types)
        if not types or "array" in types:
            self._write_items(place, schema, typed=bool(types))
        if not types or "object" in types:
            self._write_members(place, schema, typed=bool(types))
        return schema

    def _limits(self, place: SchemaPlace, types: tuple[str, ...]) -> Json:
        flat, keywords = place.flat, self._subset.keywords
        words = (
            frozenset().union(*(_WORDS_OF.get(name, ()) for name in types)) if types else _LIMITS
        )
        kept: Json = {}
        for key, value in flat.items():
            if key not in words:
                continue
            if key == "format":
                if self._knows(place, value):
                    kept[key] = value
            elif key in ("exclusiveMinimum", "exclusiveMaximum") and key not in keywords:
                if not ("minimum" in keywords and bound(kept, flat, key, types)):
                    place.lost[key] = value
            elif key in keywords and is_limit(key, value):
                kept.setdefault(key, value)
            elif key in keywords:
                self._dropped.add(key)
        most = self._subset.max_min_items
        if most is not None and kept.get("minItems", 0) > most:
            place.lost["minItems"] = kept["minItems"]
            kept["minItems"] = most
        return kept

    def _write_items(self, place: SchemaPlace, schema: Json, *, typed: bool) -> None:
        prefix, items = place.at("prefixItems"), place.at("items")
        if prefix:
            schema["prefixItems"] = [
                self._with_null(each) if not each.never else {} for each in prefix
            ]
        if items and not items[0].never:
            schema["items"] = self._with_null(items[0])
            if place.depth <= PLAN_DEPTH:
                place.plan.items = items[0].plan
        elif typed and (self._subset.needs_items or items):
            if self._subset.closed:
                raise ImpossibleError
            if items and "maxItems" in self._subset.keywords:
                schema["maxItems"] = min(len(prefix), schema.get("maxItems", len(prefix)))
            if self._subset.needs_items:
                schema["items"] = self._list_of_anything(1)["items"]

    def _write_members(self, place: SchemaPlace, schema: Json, *, typed: bool) -> None:
        members = {
            below.key: below
            for below in place.below
            if below.slot == "properties" and not below.never
        }
        self._properties += len(members)
        place.plan.order = tuple(members)
        closes = self._subset.closed and typed
        required = self._required(place, members, closes=closes)
        written = {name: self._with_null(below) for name, below in members.items()}
        if place.depth <= PLAN_DEPTH:
            place.plan.members = {name: below.plan for name, below in members.items()}
        if written or closes or "properties" in place.flat:
            schema["properties"] = written
        if required or (typed and self._subset.all_required):
            schema["required"] = required
        self._write_ordering(place, schema, members)
        self._write_rest(place, schema, typed=typed)
        if len(members) < len(place.at("properties")) and schema.get("additionalProperties", 1):
            barred = [each.key for each in place.at("properties") if each.never]
            place.lost["properties"] = dict.fromkeys(barred, False)

    def _required(
        self, place: SchemaPlace, members: dict[str, SchemaPlace], *, closes: bool
    ) -> list[str]:
        """The names that are required; in closed objects that may have to be all of them."""
        named = texts(place.flat.get("required"))
        if place.relaxed:
            place.lost["required"] = [name for name in named if name in place.relaxed]
            named = [name for name in named if name not in place.relaxed]
        required = [name for name in named if name in members]
        if closes:
            self._close(place, members)
            if self._subset.all_required:
                self._require_all(place, members, required)
                required = list(members)
        unknown = [name for name in named if name not in members]
        if unknown and self._subset.known_required:
            place.lost["required"] = unknown
            return required
        return [*required, *unknown]

    def _write_ordering(
        self, place: SchemaPlace, schema: Json, members: dict[str, SchemaPlace]
    ) -> None:
        order = place.flat.get("propertyOrdering")
        if type(order) is list and "propertyOrdering" in self._subset.keywords:
            schema["propertyOrdering"] = [name for name in order if name in members]

    def _write_rest(self, place: SchemaPlace, schema: Json, *, typed: bool) -> None:
        if "additionalProperties" not in self._subset.keywords:
            return
        if self._subset.closed:
            if typed:
                schema["additionalProperties"] = False
            return
        rest, said = place.at("rest"), place.flat.get("additionalProperties")
        if rest and not rest[0].never:
            schema["additionalProperties"] = self._with_null(rest[0])
            if place.depth <= PLAN_DEPTH:
                place.plan.rest = rest[0].plan
        elif (said is False or rest) and not is_open(place.flat):
            schema["additionalProperties"] = False
        elif said is True:
            schema["additionalProperties"] = True

    def _close(self, place: SchemaPlace, members: dict[str, SchemaPlace]) -> None:
        said = place.flat.get("additionalProperties")
        free = said is not None and said is not False
        empty = said is None and not members and place.depth > 0
        if free or empty or is_open(place.flat):
            raise ImpossibleError
        if said is None:
            self._rewritten.add("additionalProperties")

    def _require_all(
        self, place: SchemaPlace, members: dict[str, SchemaPlace], required: list[str]
    ) -> None:
        plan, depth = place.plan, place.depth
        needed = frozenset(required)
        optional = [name for name in members if name not in needed]
        if optional and (place.definition or any(members[name].ref for name in optional)):
            raise ImpossibleError  # What differs is not known of a definition that is shared.
        plan.keeps = frozenset(name for name, below in members.items() if _takes_null(below))
        plan.null = frozenset(optional) - plan.keeps
        if not optional:
            return
        if not self._tool or (plan.null and depth > PLAN_DEPTH):
            raise ImpossibleError
        self._rewritten.add("required")
        for name in plan.null:
            members[name].null = True

    # --- null ------------------------------------------------------------------------------------

    def _with_null(self, place: SchemaPlace) -> Json:
        """What is written for a place, with null if it may hold that."""
        schema = place.schema
        if not place.null or not schema or schema.get("type") == "null":
            return schema
        if self._subset.null == "keyword":
            return _nullable(schema)
        union, most = schema.get("anyOf"), self._subset.max_union
        if union is not None and (most is None or len(union) < most):
            return {**schema, "anyOf": [*union, _NULL]}
        types = schema.get("type")
        if types is None and union is None and "$ref" not in schema:
            return schema
        if types is None or union is not None or not self._takes_null_type(schema):
            return {"anyOf": [schema, _NULL]}
        schema = {**schema, "type": [*([types] if type(types) is str else types), "null"]}
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
        return schema

    def _takes_null_type(self, schema: Json) -> bool:
        """Whether null can be one more type of what is written for a place."""
        if "enum" in schema:
            return "null" in self._subset.enums
        return self._subset.type_lists == "all" or _BARE.issuperset(schema)


_NULL: Final[Json] = {"type": "null"}
_BARE: Final = frozenset({"type", "title", "description"})


def _limits_any(word: str, types: tuple[str, ...]) -> bool:
    return any(word in _WORDS_OF.get(name, ()) for name in types)


def _in_words(tells: list[tuple[SchemaPlace, list[str]]]) -> str:
    """Which places tell which limits."""
    shown = [f"{place.path() or 'the whole'} ({', '.join(told)})" for place, told in tells[:_SHOWN]]
    more = len(tells) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _in_order(schema: Json, like: Json) -> Json:
    """A schema with its words in the order of another one; new ones stand at the end."""
    kept = {key: schema[key] for key in like if key in schema}
    return kept | schema if kept else schema


def _takes_null(place: SchemaPlace) -> bool:
    return place.null or place.schema.get("type") == "null" or not place.schema


def _nullable(schema: Json) -> Json:
    if "anyOf" not in schema:
        return {**schema, "nullable": True}
    first, *others = schema["anyOf"]
    return {**schema, "anyOf": [{**first, "nullable": True}, *others]}
