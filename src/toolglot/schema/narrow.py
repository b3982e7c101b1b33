"""A schema in the subset of JSON Schema that a target takes, and how arguments are converted back.

A schema in the subset is returned as it is. Any other is written anew, from what it says of each
place: references are followed (and given up where they lead back into themselves),
`allOf` is merged, `oneOf` becomes `anyOf`, `const` a list of one value. Where a target cannot
list values of a type, they are listed as texts, if a text can stand in that place for nothing
else; the `Plan` turns them back. What cannot be said is left out, so that the new schema allows
more than the old one, never less, unless the subset demands closed objects: then there may be
no answer at all, which is `None`.

The work is a loop over jobs, one for each place: down to find out what each place may hold, up
to write it.
"""

from typing import Any, Final

from msgspec import Struct

from toolglot.ir import Json
from toolglot.schema.convert import Plan, merged, send, widen
from toolglot.schema.keywords import (
    NUMBERS,
    bound,
    conforming,
    inferred,
    is_filled,
    is_limit,
    is_null,
    is_open,
    labels_of,
    listed_values,
    table,
    texts,
    type_of,
)
from toolglot.schema.merge import UNROLLED, Flat, References, cut, flatten
from toolglot.schema.roots import object_root
from toolglot.schema.subsets import (
    ANNOTATIONS,
    Subset,
    fits,
    kind,
    object_depth,
    types_of,
    within,
)
from toolglot.schema.walk import INNER, schemas

_SLACK: Final = 1000
"""How much larger than the old schema a new one may grow, in places."""

_PLAN_DEPTH: Final = 64
"""Below, arguments stay as they are, so that plans are shallow."""

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

_REWRITTEN: Final = frozenset(
    {"const", "definitions", "exclusiveMaximum", "exclusiveMinimum", "oneOf"}
)

_WORDS_OF: Final[dict[str, frozenset[str]]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": NUMBERS | {"format"},
    "integer": NUMBERS | {"format"},
    "array": frozenset({"minItems", "maxItems"}),
    "object": frozenset({"minProperties", "maxProperties"}),
}
_LIMITS: Final = frozenset().union(*_WORDS_OF.values())
_ANY: Final = ("string", "number", "boolean", "object", "array")


class Narrowed(Struct, frozen=True, kw_only=True):
    """A schema for a target, what was done to it, and how arguments differ."""

    schema: Json
    rewritten: tuple[str, ...] = ()
    """Keywords that were written otherwise, with the same meaning."""

    dropped: tuple[str, ...] = ()
    """Keywords that could not be written."""

    plan: Plan | None = None

    @property
    def lossy(self) -> bool:
        """Whether the new schema allows what the old one did not."""
        return not ANNOTATIONS.issuperset(self.dropped)

    def widen(self, value: Any) -> Any:
        """The client's arguments from those of a provider that saw this schema."""
        return widen(self.plan, value) if self.plan else value

    def send(self, value: Any) -> Any:
        """The arguments that a provider would have written for those of the client."""
        return send(self.plan, value) if self.plan else value


class _ImpossibleError(Exception):
    """There is no such schema in the subset."""


def narrow(schema: Json, subset: Subset, *, tool: bool = True) -> Narrowed | None:
    """The schema in a subset; None if that is not possible.

    The arguments of a tool may differ, as long as the plan can turn them back, and are an object.
    Output is the same under both schemas, because it goes to the client as it comes.
    """
    if fits(schema, subset, tool=tool):
        return Narrowed(schema=schema)
    try:
        return _Narrowing(schema, subset, reversible=tool).run(tool=tool)
    except _ImpossibleError:
        return None


class _Job:
    """One place: what it may hold, then what is written there."""

    __slots__ = (
        "below",
        "depth",
        "enum",
        "flat",
        "loose",
        "never",
        "null",
        "plan",
        "raw",
        "refs",
        "schema",
        "types",
        "union",
    )

    def __init__(self, raw: Any, depth: int, refs: tuple[str, ...], *, loose: bool) -> None:
        self.raw = raw
        self.depth = depth
        self.refs = refs
        self.loose = loose
        self.flat: Json = {}
        self.types: tuple[str, ...] = ()
        self.enum: list[Any] | None = None
        self.null = False
        self.never = False
        self.union = False
        self.below: list[tuple[str, Any, _Job]] = []
        self.schema: Json = {}
        self.plan = Plan()

    def at(self, slot: str) -> list["_Job"]:
        return [job for where, _, job in self.below if where == slot]


class _Narrowing:
    __slots__ = (
        "_dropped",
        "_jobs",
        "_limit",
        "_properties",
        "_references",
        "_reversible",
        "_rewritten",
        "_root",
        "_subset",
    )

    def __init__(self, schema: Json, subset: Subset, *, reversible: bool) -> None:
        self._root = schema
        self._subset = subset
        self._reversible = reversible
        self._references = References(schema)
        self._limit = len(schemas(schema)) * 2 + _SLACK
        self._jobs: list[_Job] = []
        self._dropped: set[str] = set()
        self._rewritten: set[str] = set()
        self._properties = 0

    def run(self, *, tool: bool) -> Narrowed:
        raw, wrapped = self._top(tool=tool)
        root = _Job(raw, 0, (), loose=not self._reversible)
        self._jobs.append(root)
        for job in self._jobs:
            self._expand(job)
        for job in reversed(self._jobs):
            self._write(job)
        schema = root.schema if tool else self._with_null(root)
        root.plan.wrap = wrapped
        depth = object_depth(schema) if self._subset.max_depth is not None else 0
        if not within(self._subset, depth, self._properties):
            raise _ImpossibleError
        self._rewritten |= {"$defs"}.intersection(self._root)
        if not self._dropped and not self._rewritten:
            self._rewritten.add("type")
        return Narrowed(
            schema=schema,
            rewritten=tuple(sorted(self._rewritten)),
            dropped=tuple(sorted(self._dropped)),
            plan=root.plan if root.plan.done() else None,
        )

    def _top(self, *, tool: bool) -> tuple[Any, bool]:
        """What the root has to be, and whether that wraps it."""
        if not tool and not self._subset.object_root:
            return self._root, False
        root = object_root(self._root, self._references)
        if self._subset.closed and (root.wrapped or root.lossy):
            raise _ImpossibleError
        self._rewritten.update(root.rewritten)
        if root.lossy:
            self._dropped.update(root.rewritten)
        return root.schema, root.wrapped

    # --- down: what a place may hold -------------------------------------------------------------

    def _flatten(self, raw: Any, refs: tuple[str, ...]) -> Flat:
        follow = UNROLLED if len(self._jobs) < self._limit else 0
        flat = flatten(raw, self._references, refs, follow=follow)
        self._rewritten |= flat.words
        if flat.cut:
            if self._subset.closed:
                raise _ImpossibleError
            self._dropped.add("$ref")
        return flat

    def _expand(self, job: _Job) -> None:
        raw = job.raw if len(self._jobs) < 2 * self._limit else cut(job.raw)
        flat = self._flatten(raw, job.refs)
        job.flat, job.never, job.refs = flat.schema, flat.never, flat.refs
        if job.never:
            return
        self._rewritten |= _REWRITTEN.intersection(job.flat) - self._subset.keywords
        self._rewritten |= {"const"}.intersection(job.flat)
        branches = next(
            (job.flat[k] for k in ("anyOf", "oneOf") if is_filled(job.flat.get(k))), None
        )
        if branches is not None:
            values = listed_values(branches)
            if values is None:
                self._expand_union(job, branches)
                return
            job.flat = {k: v for k, v in job.flat.items() if k not in ("anyOf", "oneOf")}
            listed = job.flat.get("enum")
            job.flat["enum"] = [v for v in values if v in listed] if is_filled(listed) else values
            self._rewritten.add("anyOf")
        self._read_types(job)
        self._expand_members(job)

    def _expand_union(self, job: _Job, branches: list[Any]) -> None:
        job.union = True
        base = {
            key: value
            for key, value in job.flat.items()
            if key not in ANNOTATIONS and key not in ("anyOf", "oneOf", "$defs", "definitions")
        }
        if len(self._jobs) >= self._limit:
            base = {key: base[key] for key in ("type",) if key in base}
        loose = job.loose or sum(not is_null(branch) for branch in branches) > 1
        for index, branch in enumerate(branches):
            raw = {"allOf": [branch, base]} if base else branch
            self._add(job, "anyOf", index, raw, loose=loose)

    def _read_types(self, job: _Job) -> None:
        flat, types = job.flat, types_of(job.flat)
        values = flat.get("enum")
        if "const" in flat:
            values = [flat["const"]]
        if is_filled(values):
            job.enum = conforming(values, types)
            job.null = None in job.enum or flat.get("nullable") is True
            job.enum = [value for value in job.enum if value is not None]
            types = tuple(dict.fromkeys(map(kind, job.enum)))
            if not job.enum:
                job.enum, job.null, types = None, False, ("null",)
        else:
            if flat.get("nullable") is True and types:
                types = (*types, "null")
            job.null = "null" in types and len(types) > 1
        job.types = types if types == ("null",) else tuple(t for t in types if t != "null")
        if not types and self._subset.typed:
            job.types = inferred(flat)
            job.null = not job.types
        if not job.types and self._subset.closed:
            raise _ImpossibleError

    def _expand_members(self, job: _Job) -> None:
        if job.enum is not None:
            return
        flat, types = job.flat, job.types
        if not types or "object" in types:
            for name, raw in table(flat.get("properties")).items():
                self._add(job, "properties", name, raw)
            rest = flat.get("additionalProperties")
            if type(rest) is dict and rest and not is_open(flat):
                if self._subset.closed:
                    raise _ImpossibleError
                if "additionalProperties" in self._subset.keywords:
                    self._add(job, "rest", None, rest)
        if not types or "array" in types:
            self._expand_items(job)

    def _expand_items(self, job: _Job) -> None:
        flat = job.flat
        items, prefix = flat.get("items"), flat.get("prefixItems")
        if type(items) is list:
            prefix, items = items, flat.get("additionalItems")
        if type(prefix) is not list or not prefix:
            if items is not None:
                self._add(job, "items", None, items)
        elif "prefixItems" in self._subset.keywords:
            for index, raw in enumerate(prefix):
                self._add(job, "prefixItems", index, raw, loose=True)
            if items is not None:
                self._add(job, "items", None, items, loose=True)
        else:
            self._rewritten.add("prefixItems")
            rest = [] if items is False else [True if items is None else items]
            self._add(job, "items", None, {"anyOf": [*prefix, *rest]}, loose=True)

    def _add(
        self, job: _Job, slot: str, place: Any, raw: Any, *, loose: bool | None = None
    ) -> None:
        loose = job.loose if loose is None else loose
        below = _Job(raw, job.depth + 1, job.refs, loose=loose or job.depth >= _PLAN_DEPTH)
        job.below.append((slot, place, below))
        self._jobs.append(below)

    # --- up: what is written ---------------------------------------------------------------------

    def _write(self, job: _Job) -> None:
        if job.never:
            return
        if job.union:
            self._write_union(job)
        elif job.enum is not None:
            self._write_enum(job, job.enum)
        elif not job.types and self._subset.typed:
            job.schema = self._any(job)
        elif len(job.types) > 1 and self._subset.lone_unions:
            self._rewritten.add("type")
            branches = [self._typed(job, (name,)) for name in job.types]
            job.schema = self._union(branches, job)
        else:
            job.schema = self._typed(job, job.types)
        if job.plan.order or job.plan.items or job.plan.rest or job.plan.labels:
            job.plan.done()
        job.schema = _in_order(job.schema, job.flat)
        self._count(job)

    def _count(self, job: _Job) -> None:
        """Write down which of its words a place could not keep."""
        self._dropped |= job.flat.keys() - self._subset.keywords - _STRUCTURAL
        if is_open(job.flat):
            self._dropped.add("patternProperties")
        if "additionalProperties" in job.flat and job.flat["additionalProperties"] is not True:
            self._dropped |= {"additionalProperties"} - self._subset.keywords

    def _annotations(self, job: _Job) -> Json:
        flat, words = job.flat, self._subset.keywords
        kept = {key: flat[key] for key in ("title", "description") if type(flat.get(key)) is str}
        if job.enum is None and not job.union:
            kept |= {key: flat[key] for key in ("default", "example") if key in flat}
        return {key: value for key, value in kept.items() if key in words}

    def _any(self, job: _Job) -> Json:
        scalars: list[Json] = [{"type": name} for name in _ANY[:-1]]
        return self._union([*scalars, {"type": "array", "items": {"anyOf": scalars}}], job)

    def _union(self, branches: list[Json], job: _Job) -> Json:
        words = self._annotations(job)
        if len(branches) == 1:
            return {**branches[0], **words}
        if not self._subset.lone_unions:
            return {**words, "anyOf": branches}
        if "description" in words and not any("description" in each for each in branches):
            branches = [{**branches[0], "description": words["description"]}, *branches[1:]]
        return {"anyOf": branches}

    def _write_union(self, job: _Job) -> None:
        branches: list[Json] = []
        plans: list[Plan] = []
        for below in job.at("anyOf"):
            empty = below.schema.get("type") == "null"
            job.null = job.null or below.null or empty
            if below.never or empty:
                continue
            inner = below.schema.get("anyOf") if len(below.schema) == 1 else None
            found = inner if type(inner) is list else [below.schema]
            branches += [
                each for each in found if not INNER.isdisjoint(each) or each not in branches
            ]
            plans.append(below.plan)
        if {} in branches:
            branches = []
        if plans:
            job.plan = merged(plans)
        if branches:
            job.schema = self._union(branches, job)
        elif job.null and not plans:
            job.null, job.schema = False, {**self._annotations(job), "type": "null"}
        elif self._subset.typed:
            job.null, job.schema = True, self._any(job)
        else:
            job.schema = self._annotations(job)

    # --- listed values ---------------------------------------------------------------------------

    def _write_enum(self, job: _Job, values: list[Any]) -> None:
        subset = self._subset
        words = self._annotations(job)
        if subset.enums.issuperset(map(kind, values)):
            job.schema = {
                **type_of(values),
                **words,
                **self._format(job, "string"),
                "enum": values,
            }
            if subset.lone_unions or len(set(map(kind, values))) == 1:
                return
            job.schema["type"] = list(job.types)
        elif [*map(kind, values)] == ["boolean", "boolean"]:
            job.schema = {"type": "boolean", **words}
        elif not job.loose:
            labels = labels_of(values)
            self._rewritten.add("enum")
            job.plan.labels = labels
            job.schema = {"type": "string", **words, "enum": list(labels)}
        else:
            self._dropped.add("enum")
            listed = [value for value in values if kind(value) in subset.enums]
            branches: list[Json] = [{**type_of(listed), "enum": listed}] if listed else []
            free = dict.fromkeys(kind(value) for value in values if value not in listed)
            branches += map(self._free, free)
            job.schema = self._union(branches, job)

    def _free(self, name: str) -> Json:
        if name in ("object", "array") and self._subset.closed:
            raise _ImpossibleError
        if name == "array" and self._subset.typed:
            return {"type": name, "items": {"anyOf": [{"type": each} for each in _ANY[:-1]]}}
        return {"type": name}

    def _format(self, job: _Job, name: str) -> Json:
        word = job.flat.get("format")
        if word is None or name != "string" or job.types != ("string",):
            return {}
        return {"format": word} if self._knows(word) else {}

    def _knows(self, word: Any) -> bool:
        known = self._subset.formats
        if type(word) is str and (known is None or word in known):
            return True
        self._dropped.add("format")
        return False

    # --- places of one type ----------------------------------------------------------------------

    def _typed(self, job: _Job, types: tuple[str, ...]) -> Json:
        schema: Json = {}
        if types:
            schema["type"] = types[0] if len(types) == 1 else list(types)
        schema |= self._annotations(job)
        schema |= self._limits(job, types)
        if not types or "array" in types:
            self._write_items(job, schema, typed=bool(types))
        if not types or "object" in types:
            self._write_members(job, schema, typed=bool(types))
        return schema

    def _limits(self, job: _Job, types: tuple[str, ...]) -> Json:
        flat, keywords = job.flat, self._subset.keywords
        words = (
            frozenset().union(*(_WORDS_OF.get(name, ()) for name in types)) if types else _LIMITS
        )
        kept: Json = {}
        for key, value in flat.items():
            if key not in words:
                continue
            if key == "format":
                if self._knows(value):
                    kept[key] = value
            elif key in ("exclusiveMinimum", "exclusiveMaximum") and key not in keywords:
                exact = "minimum" in keywords and bound(kept, flat, key, types)
                self._dropped |= set() if exact else {key}
            elif key in keywords and is_limit(key, value):
                kept.setdefault(key, value)
        most = self._subset.max_min_items
        if most is not None and kept.get("minItems", 0) > most:
            self._dropped.add("minItems")
            kept["minItems"] = most
        return kept

    def _write_items(self, job: _Job, schema: Json, *, typed: bool) -> None:
        prefix, items = job.at("prefixItems"), job.at("items")
        if prefix:
            schema["prefixItems"] = [
                self._with_null(each) if not each.never else {} for each in prefix
            ]
        if items and not items[0].never:
            schema["items"] = self._with_null(items[0])
            if job.depth <= _PLAN_DEPTH:
                job.plan.items = items[0].plan
        elif typed and (self._subset.typed or items):
            if self._subset.closed:
                raise _ImpossibleError
            if items and "maxItems" in self._subset.keywords:
                schema["maxItems"] = min(len(prefix), schema.get("maxItems", len(prefix)))
            if self._subset.typed:
                schema["items"] = {"anyOf": [{"type": each} for each in _ANY[:-1]]}

    def _write_members(self, job: _Job, schema: Json, *, typed: bool) -> None:
        members = {
            name: below
            for slot, name, below in job.below
            if slot == "properties" and not below.never
        }
        self._properties += len(members)
        job.plan.order = tuple(members)
        closes = self._subset.closed and typed
        required = self._required(job, members, closes=closes)
        written = {name: self._with_null(below) for name, below in members.items()}
        if job.depth <= _PLAN_DEPTH:
            job.plan.members = {name: below.plan for name, below in members.items()}
        if written or closes or "properties" in job.flat:
            schema["properties"] = written
        if required or (typed and self._subset.all_required):
            schema["required"] = required
        self._write_ordering(job, schema, members)
        self._write_rest(job, schema, typed=typed)

    def _required(self, job: _Job, members: dict[str, _Job], *, closes: bool) -> list[str]:
        """The names that are required; in closed objects that may have to be all of them."""
        named = texts(job.flat.get("required"))
        required = [name for name in named if name in members]
        if closes:
            self._close(job, members)
            if self._subset.all_required:
                self._require_all(job, members, required)
                required = list(members)
        unknown = [name for name in named if name not in members]
        if unknown and self._subset.known_required:
            self._dropped.add("required")
            return required
        return [*required, *unknown]

    def _write_ordering(self, job: _Job, schema: Json, members: dict[str, _Job]) -> None:
        order = job.flat.get("propertyOrdering")
        if type(order) is list and "propertyOrdering" in self._subset.keywords:
            schema["propertyOrdering"] = [name for name in order if name in members]

    def _write_rest(self, job: _Job, schema: Json, *, typed: bool) -> None:
        if "additionalProperties" not in self._subset.keywords:
            return
        if self._subset.closed:
            if typed:
                schema["additionalProperties"] = False
            return
        rest, said = job.at("rest"), job.flat.get("additionalProperties")
        if rest and not rest[0].never:
            schema["additionalProperties"] = self._with_null(rest[0])
            if job.depth <= _PLAN_DEPTH:
                job.plan.rest = rest[0].plan
        elif (said is False or rest) and not is_open(job.flat):
            schema["additionalProperties"] = False
        elif said is True:
            schema["additionalProperties"] = True

    def _close(self, job: _Job, members: dict[str, _Job]) -> None:
        said = job.flat.get("additionalProperties")
        free = said is not None and said is not False
        empty = said is None and not members and job.depth > 0
        if free or empty or is_open(job.flat):
            raise _ImpossibleError
        if said is None:
            self._rewritten.add("additionalProperties")

    def _require_all(self, job: _Job, members: dict[str, _Job], required: list[str]) -> None:
        plan, depth = job.plan, job.depth
        optional = [name for name in members if name not in required]
        plan.keeps = frozenset(name for name, below in members.items() if _takes_null(below))
        plan.null = frozenset(optional) - plan.keeps
        if not optional:
            return
        if not self._reversible or (plan.null and depth > _PLAN_DEPTH):
            raise _ImpossibleError
        self._rewritten.add("required")
        for name in plan.null:
            members[name].null = True

    # --- null ------------------------------------------------------------------------------------

    def _with_null(self, job: _Job) -> Json:
        """What is written for a place, with null if it may hold that."""
        schema = job.schema
        if not job.null or not schema or schema.get("type") == "null":
            return schema
        if self._subset.null == "keyword":
            return _nullable(schema)
        if "anyOf" in schema:
            return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
        if "enum" in schema and "null" not in self._subset.enums:
            return self._union([schema, {"type": "null"}], _Job({}, 0, (), loose=True))
        types = schema.get("type")
        if types is None:
            return schema
        schema = {**schema, "type": [*([types] if type(types) is str else types), "null"]}
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
        return schema


def _in_order(schema: Json, like: Json) -> Json:
    """A schema with its words in the order of another one; new ones stand at the end."""
    kept = {key: schema[key] for key in like if key in schema}
    return kept | schema if kept else schema


def _takes_null(job: _Job) -> bool:
    return job.null or job.schema.get("type") == "null" or not job.schema


def _nullable(schema: Json) -> Json:
    if "anyOf" not in schema:
        return {**schema, "nullable": True}
    first, *others = schema["anyOf"]
    return {**schema, "anyOf": [{**first, "nullable": True}, *others]}
