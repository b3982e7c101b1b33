"""The places of a schema, and what each may hold: the way down.

References are followed or kept, `allOf` is merged, and the types of each place are read. The work
is a loop over places, so that schemas may be deep; how many places there are is bounded.
"""

import re
from typing import Any, Final

from toolglot.ir import Json
from toolglot.schema.convert import Plan
from toolglot.schema.keywords import (
    conforming,
    inferred,
    is_filled,
    is_null,
    is_open,
    listed_values,
    same_value,
    satisfying,
    table,
    texts,
)
from toolglot.schema.merge import UNROLLED, Flat, References, cut, flatten
from toolglot.schema.roots import object_root
from toolglot.schema.subsets import ANNOTATIONS, Subset, circular, kind, types_of
from toolglot.schema.walk import schemas

_SLACK: Final = 1000
"""How much larger than the old schema a new one may grow, in places."""

PLAN_DEPTH: Final = 64
"""Below, arguments stay as they are, so that plans are shallow."""

_REWRITTEN: Final = frozenset(
    {"const", "definitions", "exclusiveMaximum", "exclusiveMinimum", "oneOf"}
)
_UNIONS: Final = ("anyOf", "oneOf")
_ODD: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_DEFINED: Final = "#/$defs/"


class ImpossibleError(Exception):
    """There is no such schema in the subset."""


class SchemaPlace:
    """One place: what it may hold, then what is written there."""

    __slots__ = (
        "above",
        "below",
        "definition",
        "depth",
        "enum",
        "flat",
        "key",
        "loose",
        "lost",
        "never",
        "null",
        "optional",
        "plan",
        "raw",
        "ref",
        "refs",
        "relaxed",
        "same_as",
        "schema",
        "slot",
        "types",
        "union",
    )

    def __init__(
        self, raw: Any, above: "SchemaPlace | None" = None, slot: str = "", key: Any = None
    ) -> None:
        self.raw = raw
        self.above = above
        self.slot = slot
        self.key = key
        self.depth: int = 0 if above is None else above.depth + 1
        self.refs: tuple[str, ...] = () if above is None else above.refs
        """The references that were followed on the way to here."""
        self.loose: bool = above is not None and (above.loose or above.depth >= PLAN_DEPTH)
        """Whether arguments cannot be converted here."""
        self.definition: str = "" if above is None else above.definition
        """The reference to the definition that this is a part of, if it is part of one."""
        self.optional: bool = above is not None and above.optional
        """Whether it is, or is in, a member of its definition that is not required."""
        self.flat: Json = {}
        self.ref = ""
        """The reference that is kept here."""
        self.types: tuple[str, ...] = ()
        self.enum: list[Any] | None = None
        self.null = False
        self.same_as = ""
        """What holds it and has the same form, where that cannot be said with a reference."""
        self.never = False
        self.union = False
        self.lost: Json = {}
        """Limits that cannot be said here with keywords."""
        self.relaxed: set[str] = set()
        """Members that are required and cannot be declared so."""
        self.below: list[SchemaPlace] = []
        self.schema: Json = {}
        self.plan = Plan()

    def at(self, slot: str) -> list["SchemaPlace"]:
        """The places right below, under one keyword."""
        return [place for place in self.below if place.slot == slot]

    def path(self) -> str:
        """Where it is, in words: `days[].name`."""
        steps: list[str] = []
        place: SchemaPlace | None = self
        while place is not None and place.slot:
            steps.append(_STEPS.get(place.slot, f".{place.key}"))
            place = place.above
        return "".join(reversed(steps)).lstrip(".")


_STEPS: Final = {"items": "[]", "prefixItems": "[]", "rest": ".*", "anyOf": ""}


class SchemaPlaces:
    """All places of a schema, those that hold others before those that they hold."""

    __slots__ = (
        "_limit",
        "_lost",
        "_references",
        "_root",
        "_subset",
        "_taken",
        "all",
        "definitions",
        "dropped",
        "keeps",
        "names",
        "rewritten",
        "root",
        "wrapped",
    )

    def __init__(self, schema: Json, subset: Subset, *, tool: bool, keeps: bool) -> None:
        self._root = schema
        self._subset = subset
        self._references = References(schema)
        self._limit = len(schemas(schema)) * 2 + _SLACK
        self.keeps = keeps
        """Whether references are kept, as far as they can be."""
        self.all: list[SchemaPlace] = []
        self.definitions: dict[str, SchemaPlace] = {}
        """By reference, what it leads to."""
        self.names: dict[str, str] = {}
        """By reference, the name of the definition that is written."""
        self._taken: dict[str, int] = {}
        self.rewritten: set[str] = set()
        self.dropped: set[str] = set()
        self.wrapped = False
        self._lost: Json = {}
        self.root = SchemaPlace(self._top(tool=tool))
        self.root.loose = not tool
        self.root.lost |= self._lost
        self.all.append(self.root)
        for place in self.all:
            self._expand(place)
        if self.definitions:
            self._check_circles()

    def _top(self, *, tool: bool) -> Any:
        """What the root has to be."""
        if not tool and not self._subset.object_root:
            return self._root
        root = object_root(self._root, self._references)
        if self._subset.closed and (root.wrapped or root.lossy):
            raise ImpossibleError
        self.rewritten.update(root.rewritten)
        if root.cut:
            self.dropped.add("$ref")
        self.wrapped = root.wrapped
        self._lost = root.lost
        return root.schema

    # --- references -------------------------------------------------------------------------------

    def _kept_ref(self, raw: Any) -> str:
        """The reference that a place consists of, if it can be kept."""
        if not self.keeps or type(raw) is not dict or not ("$ref" in raw or "allOf" in raw):
            return ""
        seen: set[str] = set()
        ref = _only_ref(raw)
        while ref and ref not in seen:
            seen.add(ref)
            found = self._references.find(ref)
            if type(found) is not dict:
                return ""
            further = _only_ref(found)
            if not further:
                return ref
            ref = further
        return ""

    def _keep_ref(self, place: SchemaPlace, ref: str) -> None:
        place.ref = ref
        place.flat = {key: held for key, held in place.raw.items() if key in ANNOTATIONS}
        if ref not in self.definitions:
            held = SchemaPlace(self._references.find(ref), slot="$defs")
            held.depth, held.loose, held.definition = 1, True, ref
            held.key = self.names[ref] = self._new_name(ref)
            self.definitions[ref] = held
            self.all.append(held)
        if place.raw != {"$ref": _DEFINED + self.names[ref]}:
            self.rewritten.add("$ref")

    def _new_name(self, ref: str) -> str:
        wanted = _ODD.sub("_", ref.rpartition("/")[2].strip("#")) or "root"
        name = wanted
        while name in self._taken:
            self._taken[wanted] += 1
            name = f"{wanted}_{self._taken[wanted]}"
        self._taken[name] = 1
        return name

    def _check_circles(self) -> None:
        """See to it that definitions lead back to themselves only as the subset allows."""
        if self._subset.recursive == "yes":
            return
        optional = self._subset.recursive == "optional"
        uses = [each for each in self.all if each.ref and not (optional and each.optional)]
        rings = circular([(each.definition, each.ref) for each in uses])
        if rings and not optional:
            raise ImpossibleError
        for place in uses:
            if place.ref in rings and place.definition in rings:
                self._relax(place)

    def _relax(self, place: SchemaPlace) -> None:
        """Let the member that holds a place be one that is not required."""
        while place.slot != "properties":
            if place.above is None:
                raise ImpossibleError
            place = place.above
        if place.above is not None:
            place.above.relaxed.add(place.key)

    # --- what a place may hold --------------------------------------------------------------------

    def _flatten(self, place: SchemaPlace, raw: Any) -> Flat:
        follow = UNROLLED if len(self.all) < self._limit else 0
        flat = flatten(raw, self._references, place.refs, follow=follow)
        self.rewritten |= flat.words
        if flat.cut:
            if self._subset.closed:
                raise ImpossibleError
            self.dropped.add("$ref")
            if self._references.find(flat.cut) is not None:
                place.same_as = flat.cut.rpartition("/")[2].strip("#") or "the whole"
        if flat.lost:
            place.lost["allOf"] = flat.lost
        return flat

    def _expand(self, place: SchemaPlace) -> None:
        ref = self._kept_ref(place.raw)
        if ref:
            self._keep_ref(place, ref)
            return
        raw = place.raw
        if len(self.all) >= 2 * self._limit:
            raw = cut(raw)
            if type(place.raw) is dict:
                self.dropped |= place.raw.keys() - raw.keys() - ANNOTATIONS
        flat = self._flatten(place, raw)
        place.flat, place.never, place.refs = flat.schema, flat.never, flat.refs
        if place.never:
            return
        self.rewritten |= _REWRITTEN.intersection(place.flat) - self._subset.keywords
        self.rewritten |= {"const"}.intersection(place.flat)
        word = next((key for key in _UNIONS if is_filled(place.flat.get(key))), None)
        if word is not None:
            other = place.flat.get("oneOf")
            if word == "anyOf" and is_filled(other):
                place.lost["oneOf"] = other
            values = listed_values(place.flat[word])
            if values is None:
                self._expand_union(place, place.flat[word])
                return
            self._list_values(place, values)
        self._read_types(place)
        self._expand_members(place)

    def _list_values(self, place: SchemaPlace, values: list[Any]) -> None:
        """Write a union of values as a list of them."""
        place.flat = {key: held for key, held in place.flat.items() if key not in _UNIONS}
        listed = place.flat.get("enum")
        if is_filled(listed):
            known = set(map(same_value, listed))
            values = [value for value in values if same_value(value) in known]
        place.flat["enum"] = values
        self.rewritten.add("anyOf")

    def _expand_union(self, place: SchemaPlace, branches: list[Any]) -> None:
        place.union = True
        base = {
            key: value
            for key, value in place.flat.items()
            if key not in ANNOTATIONS and key not in (*_UNIONS, "$defs", "definitions")
        }
        if len(self.all) >= self._limit:
            place.lost |= {key: held for key, held in base.items() if key != "type"}
            base = {key: base[key] for key in ("type",) if key in base}
        loose = sum(not is_null(branch) for branch in branches) > 1
        for index, branch in enumerate(branches):
            raw = {"allOf": [branch, base]} if base else branch
            self._add(place, "anyOf", index, raw).loose |= loose

    def _read_types(self, place: SchemaPlace) -> None:
        flat, types = place.flat, types_of(place.flat)
        values = flat.get("enum")
        if "const" in flat:
            values = [flat["const"]]
        if is_filled(values):
            place.enum = satisfying(conforming(values, types), flat)
            place.null = None in place.enum or flat.get("nullable") is True
            place.enum = [value for value in place.enum if value is not None]
            types = tuple(dict.fromkeys(map(kind, place.enum)))
            if not place.enum:
                place.enum, place.null, types = None, False, ("null",)
        else:
            if flat.get("nullable") is True and types:
                types = (*types, "null")
            place.null = "null" in types and len(types) > 1
        place.types = types if types == ("null",) else tuple(t for t in types if t != "null")
        if not types and self._subset.typed:
            place.types = inferred(flat)
            place.null = not place.types
        if not place.types and self._subset.closed:
            raise ImpossibleError

    def _expand_members(self, place: SchemaPlace) -> None:
        if place.enum is not None:
            return
        flat, types = place.flat, place.types
        if not types or "object" in types:
            required = frozenset(texts(flat.get("required")))
            for name, raw in table(flat.get("properties")).items():
                self._add(place, "properties", name, raw).optional |= name not in required
            rest = flat.get("additionalProperties")
            if type(rest) is dict and rest and not is_open(flat):
                if self._subset.closed:
                    raise ImpossibleError
                if "additionalProperties" in self._subset.keywords:
                    self._add(place, "rest", None, rest).optional = True
        if not types or "array" in types:
            self._expand_items(place)

    def _expand_items(self, place: SchemaPlace) -> None:
        flat = place.flat
        items, prefix = flat.get("items"), flat.get("prefixItems")
        if type(prefix) is not list or not prefix:
            if items is not None:
                self._add(place, "items", None, items)
        elif "prefixItems" in self._subset.keywords:
            for index, raw in enumerate(prefix):
                self._add(place, "prefixItems", index, raw).loose = True
            if items is not None:
                self._add(place, "items", None, items).loose = True
        else:
            self.rewritten.add("prefixItems")
            place.lost["prefixItems"] = prefix
            if items is False and type(flat.get("maxItems", 0)) is int:
                place.flat = {
                    **flat,
                    "maxItems": min(len(prefix), flat.get("maxItems", len(prefix))),
                }
            rest = [] if items is False else [True if items is None else items]
            self._add(place, "items", None, {"anyOf": [*prefix, *rest]}).loose = True

    def _add(self, place: SchemaPlace, slot: str, key: Any, raw: Any) -> SchemaPlace:
        below = SchemaPlace(raw, place, slot, key)
        place.below.append(below)
        self.all.append(below)
        return below


def _only_ref(schema: Json) -> str:
    """The reference that a schema is, with no more than words beside it."""
    ref, parts = schema.get("$ref"), schema.get("allOf")
    others = schema.keys() - ANNOTATIONS
    if others == {"$ref"} and type(ref) is str:
        return ref
    if others == {"allOf"} and type(parts) is list and len(parts) == 1 and type(parts[0]) is dict:
        inner = parts[0]
        if inner.keys() == {"$ref"} and type(inner["$ref"]) is str:
            found: str = inner["$ref"]
            return found
    return ""
