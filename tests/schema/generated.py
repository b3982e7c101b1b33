"""Generated schemas, values that conform to them, and an own account of what targets forbid."""

import json
from typing import Any

import jsonschema_rs
from hypothesis import strategies as st

NAMES = ["a", "b", "title", "format", "properties", "default", "const", "enum", "type", "items"]
"""Members; most are called like keywords."""

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, "a", "1", "true"])
literals = scalars | st.sampled_from([[1], {"a": 1}, []])
names = st.sampled_from(NAMES)
words = st.sampled_from(
    [
        {},
        {"description": "words", "$comment": "more"},
        {"title": "words", "x-own": [1]},
        {"deprecated": True, "examples": ["words"]},
    ]
)


def _limits(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    options: dict[str, dict[str, st.SearchStrategy[Any]]] = {
        "string": {
            "minLength": st.integers(0, 1),
            "maxLength": st.integers(3, 5),
            "pattern": st.just("^.*$"),
            "format": st.sampled_from(["uri", "date-time", "email", "odd"]),
        },
        "integer": {
            "minimum": st.integers(-9, -3),
            "exclusiveMaximum": st.integers(5, 9),
            "multipleOf": st.just(1),
        },
        "number": {"exclusiveMinimum": st.just(-7.5), "maximum": st.integers(4, 5)},
        "array": {"minItems": st.integers(0, 1), "maxItems": st.integers(2, 4)},
        "object": {"minProperties": st.just(0), "propertyNames": st.just(True)},
    }
    return st.fixed_dictionaries({}, optional=options.get(kind, {}))


def schemas(*, closed: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of draft 2020-12 for tools; `closed` ones name all that their objects hold."""
    return _rooted(closed=closed)


@st.composite
def _rooted(draw: st.DrawFn, *, closed: bool) -> dict[str, Any]:
    inner = st.recursive(
        _leaves(closed=closed), lambda below: _nodes(below, closed=closed), max_leaves=8
    )
    root = draw(_objects(inner, closed=closed))
    if draw(st.booleans()):
        root["$defs"] = {"one": draw(inner), "two": draw(inner)}
    return root


def _leaves(*, closed: bool) -> st.SearchStrategy[Any]:
    typed = st.sampled_from(["string", "integer", "number", "boolean", "null"]).flatmap(
        lambda kind: st.builds(lambda a, b: {"type": kind, **a, **b}, _limits(kind), words)
    )
    lists = st.lists(literals, min_size=1, max_size=4).map(lambda found: {"enum": found})
    consts = literals.map(lambda value: {"const": value})
    several = st.lists(
        st.sampled_from(["string", "integer", "boolean", "null"]), min_size=1, unique=True
    ).map(lambda kinds: {"type": kinds})
    refs = st.sampled_from(["#/$defs/one", "#/$defs/two", "#", "#/$defs/none"]).map(
        lambda ref: {"$ref": ref}
    )
    found = typed | lists | consts | several
    return found if closed else found | refs | st.booleans() | st.just({})


def _nodes(below: st.SearchStrategy[Any], *, closed: bool) -> st.SearchStrategy[Any]:
    unions = st.builds(
        lambda key, branches, more: {key: branches, **more},
        st.sampled_from(["anyOf", "oneOf"] if closed else ["anyOf", "oneOf", "allOf"]),
        st.lists(below, min_size=1, max_size=3),
        words,
    )
    arrays = st.builds(
        lambda items, more: {"type": "array", "items": items, **more}, below, _limits("array")
    )
    found = _objects(below, closed=closed) | unions | arrays
    if closed:
        return found
    tuples = st.lists(below, min_size=1, max_size=2).map(
        lambda prefix: {"type": "array", "prefixItems": prefix}
    )
    negative = st.just({"type": "string", "not": {"const": "b"}})
    return found | tuples | negative


@st.composite
def _objects(draw: st.DrawFn, below: st.SearchStrategy[Any], *, closed: bool) -> dict[str, Any]:
    members = draw(st.dictionaries(names, below, min_size=1, max_size=3))
    schema = {"type": "object", "properties": members, **draw(_limits("object"))}
    required = draw(st.lists(st.sampled_from(list(members)), unique=True))
    if required:
        schema["required"] = required
    if closed:
        schema["additionalProperties"] = False
    else:
        rest = draw(st.sampled_from([None, None, False, True, {"type": "integer"}]))
        if rest is not None:
            schema["additionalProperties"] = rest
    return schema


# --- values --------------------------------------------------------------------------------------


@st.composite
def conforming(draw: st.DrawFn, schema: dict[str, Any], *, nulls: bool = False) -> Any:
    """Arguments that conform to the schema, or None if none were found.

    With `nulls`, members that may be null are always there: a target that demands all members
    cannot say that such a one is not.
    """
    for _ in range(3):
        value = _Values(draw, schema, nulls=nulls).of(schema)
        if isinstance(value, dict) and _conforms(schema, value):
            return value
    return None


def _conforms(schema: dict[str, Any], value: Any) -> bool:
    try:
        return is_valid(schema, value)
    except (jsonschema_rs.ReferencingError, jsonschema_rs.ValidationError):
        return False  # a reference that leads nowhere


def is_valid(schema: dict[str, Any], value: Any) -> bool:
    return jsonschema_rs.Draft202012Validator(schema).is_valid(value)


class _Values:
    def __init__(self, draw: st.DrawFn, root: dict[str, Any], *, nulls: bool) -> None:
        self.draw = draw
        self.root = root
        self.nulls = nulls

    def of(self, schema: Any, depth: int = 0) -> Any:
        if not isinstance(schema, dict) or not schema or depth > 6:
            return self.draw(scalars)
        if "$ref" in schema:
            held = self.root.get("$defs", {}).get(schema["$ref"].removeprefix("#/$defs/"))
            return self.of(self.root if schema["$ref"] == "#" else held, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.draw(st.sampled_from(schema["enum"]))
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return self.of(self.draw(st.sampled_from(schema[key])), depth + 1)
        kind = schema.get("type")
        kind = self.draw(st.sampled_from(kind)) if isinstance(kind, list) else kind
        if kind == "object":
            return {
                name: self.of(held, depth + 1)
                for name, held in schema.get("properties", {}).items()
                if self._is_there(name, held, schema)
            }
        if kind == "array":
            held = schema.get("prefixItems")
            held = held or [schema.get("items")] * self.draw(st.integers(0, 2))
            return [self.of(each, depth + 1) for each in held]
        return self.draw(_SIMPLE[kind])

    def _is_there(self, name: str, held: Any, schema: dict[str, Any]) -> bool:
        if name in schema.get("required", ()):
            return True
        # Targets read `oneOf` as `anyOf`, so null may be taken where two branches allow it.
        loose = json.loads(json.dumps(held).replace('"oneOf"', '"anyOf"'))
        if self.nulls and is_valid(loose, None):
            return True
        return bool(self.draw(st.booleans()))


_SIMPLE = {
    "string": st.sampled_from(["a", "1", "true", "abc"]),
    "integer": st.integers(-3, 3),
    "number": st.sampled_from([1, 0.5, -2]),
    "boolean": st.booleans(),
    "null": st.none(),
}

# --- what targets forbid -------------------------------------------------------------------------

_COMMON = {"type", "format", "title", "description", "enum", "anyOf", "items", "minItems"}
_COMMON |= {"properties", "required"}
SUBSET_WORDS = _COMMON | {"$id", "$defs", "$ref", "$anchor", "prefixItems", "maxItems", "minimum"}
SUBSET_WORDS |= {"maximum", "oneOf", "additionalProperties", "propertyOrdering"}
OPENAPI_WORDS = _COMMON | {"nullable", "default", "maxItems", "propertyOrdering", "minProperties"}
OPENAPI_WORDS |= {"maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern"}
OPENAPI_WORDS |= {"example"}
SEALED_WORDS = _COMMON | {"$defs", "$ref", "const", "pattern", "additionalProperties", "default"}
CLOSED_WORDS = (SEALED_WORDS - {"default"}) | {"maxItems", "minimum", "maximum", "multipleOf"}
CLOSED_WORDS |= {"exclusiveMinimum", "exclusiveMaximum"}
CLOSED_FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6"}
CLOSED_FORMATS |= {"uuid"}
MOONSHOT_WORDS = (_COMMON - {"format"}) | {"$defs", "$ref", "additionalProperties", "default"}
MOONSHOT_WORDS |= {"minLength", "maxLength", "minimum", "maximum", "maxItems"}
WORDS = {
    "moonshot": MOONSHOT_WORDS,
    "subset": SUBSET_WORDS,
    "openapi": OPENAPI_WORDS,
    "closed": CLOSED_WORDS,
    "sealed": SEALED_WORDS,
}


def forbidden(schema: Any, dialect: str) -> list[str]:
    """What the dialect forbids of a schema, in words."""
    assert isinstance(schema, dict)
    found = [] if schema.get("type") == "object" else ["the top is no object"]
    if "anyOf" in schema:
        found.append("a union at the top")
    return found + _forbidden(schema, dialect, "")


def _forbidden(schema: Any, dialect: str, path: str) -> list[str]:
    if not isinstance(schema, dict):
        return [f"{path}: not an object: {schema}"]
    found = [f"{path}: {word}" for word in schema.keys() - WORDS[dialect]]
    found += [f"{path}: {each}" for each in _CHECKS[dialect](schema)]
    values = schema.get("enum")
    if values is not None:
        if not values:
            found.append(f"{path}: an empty list of values")
        kinds = schema.get("type")
        if kinds is None or not all(is_valid({"type": kinds}, value) for value in values):
            found.append(f"{path}: values of another type")
    for name, held in schema.get("properties", {}).items():
        found += _forbidden(held, dialect, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict) or (key == "items" and key in schema):
            found += _forbidden(schema[key], dialect, f"{path}[{key}]")
    for key in ("anyOf", "prefixItems"):
        for index, held in enumerate(schema.get(key, ())):
            found += _forbidden(held, dialect, f"{path}[{key} {index}]")
    for name, held in schema.get("$defs", {}).items():
        found += _forbidden(held, dialect, f"{path}[def {name}]")
    return found


def _subset(schema: dict[str, Any]) -> list[str]:
    found = []
    if not all(type(value) in (str, int, float) for value in schema.get("enum", ())):
        found.append("listed values that are neither texts nor numbers")
    if "$ref" in schema and any(not key.startswith("$") for key in schema):
        found.append("words beside a reference")
    return found


def _openapi(schema: dict[str, Any]) -> list[str]:
    found = []
    if "anyOf" in schema:
        return ["words beside a union"] if len(schema) > 1 else []
    if not isinstance(schema.get("type"), str):
        found.append("no type")
    if schema.get("type") == "array" and "items" not in schema:
        found.append("a list of what?")
    if not all(type(value) is str for value in schema.get("enum", ())):
        found.append("listed values that are no texts")
    if not set(schema.get("required", ())) <= schema.get("properties", {}).keys():
        found.append("an unknown member is required")
    known = {"enum", "date-time", "float", "double", "int32", "int64"}
    if schema.get("format", "enum") not in known:
        found.append("an unknown format")
    return found


def _closed(schema: dict[str, Any], *, every: bool = True) -> list[str]:
    found = []
    kinds = schema.get("type")
    if kinds is None and not {"anyOf", "$ref", "const"} & schema.keys():
        found.append("no type")
    if kinds == "object" or (isinstance(kinds, list) and "object" in kinds):
        if schema.get("additionalProperties") is not False:
            found.append("an open object")
        if every and set(schema.get("required", ())) != set(schema.get("properties", ())):
            found.append("not all members are required")
    if schema.get("format", "date") not in CLOSED_FORMATS | (set() if every else {"uri"}):
        found.append("an unknown format")
    if not every and schema.get("minItems", 0) > 1:
        found.append("more than one item demanded")
    return found


def _moonshot(schema: dict[str, Any]) -> list[str]:
    found = []
    beside = schema.keys() - {"title", "description", "$defs"}
    if "anyOf" in schema:
        if beside != {"anyOf"}:
            found.append("limits beside a union")
        if not 1 <= len(schema["anyOf"]) <= 10:
            found.append("too many alternatives")
        return found
    if "$ref" in schema:
        return ["limits beside a reference"] if beside != {"$ref"} else []
    kinds = schema.get("type")
    if kinds is None:
        found.append("no type")
    if isinstance(kinds, list) and "enum" not in schema and beside != {"type"}:
        found.append("limits beside several types")
    if "enum" in schema:
        several = {"number" if type(v) in (int, float) else type(v) for v in schema["enum"]}
        if len(several - {type(None)}) > 1:
            found.append("values of several types")
        if isinstance(kinds, list) and (len(kinds) != 2 or "null" not in kinds):
            found.append("several types of values")
    if not set(schema.get("required", ())) <= schema.get("properties", {}).keys():
        found.append("an unknown member is required")
    if schema.get("items") == {}:
        found.append("a list of nothing")
    if isinstance(schema.get("default"), (dict, list)):
        found.append("a default that is not simple")
    return found


_CHECKS = {
    "moonshot": _moonshot,
    "subset": _subset,
    "openapi": _openapi,
    "closed": _closed,
    "sealed": lambda schema: _closed(schema, every=False),
}


# --- schemas of any make, and any values ---------------------------------------------------------

_PLACES: st.SearchStrategy[Any] = st.sampled_from(
    [
        True,
        False,
        {},
        {"type": "string"},
        {"type": "integer", "minimum": 1},
        {"type": ["string", "null"]},
        {"minimum": 1},
        {"minLength": 2},
        {"const": 1},
        {"enum": [1, True, "a", None, [1]]},
        {"$ref": "#/$defs/one"},
        {"$ref": "#/$defs/two", "minLength": 2, "minimum": 1, "required": ["a"]},
        {"$ref": "#/$defs/loop"},
    ]
)


def wild_schemas() -> st.SearchStrategy[dict[str, Any]]:
    """Schemas as nobody should write them, for arguments that are an object."""
    inner = st.recursive(_PLACES, _wild_nodes, max_leaves=6)
    one = _wild_objects(inner)
    tops = one | st.builds(
        lambda word, branches, base: {**base, word: branches},
        st.sampled_from(["anyOf", "oneOf", "allOf"]),
        st.lists(one, min_size=1, max_size=3),
        st.just({}) | one,
    )
    loop = {"type": "object", "properties": {"a": {"$ref": "#/$defs/loop"}, "b": {"minimum": 1}}}
    return st.builds(
        lambda top, defs, draft, closes: {
            **top,
            "$defs": {**defs, "loop": {**loop, "required": ["a"] if closes else []}},
            # Draft 7 has no `prefixItems`; we read them all the same.
            **(draft if "prefixItems" not in str((top, defs)) else {}),
        },
        tops,
        st.fixed_dictionaries({"one": inner, "two": inner}),
        st.sampled_from([{}, {}, {"$schema": "http://json-schema.org/draft-07/schema#"}]),
        st.booleans(),
    )


def _wild_nodes(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    rows = st.fixed_dictionaries(
        {},
        optional={
            "prefixItems": st.lists(below, min_size=1, max_size=2),
            "items": below,
            "minItems": st.integers(0, 2),
            "uniqueItems": st.booleans(),
        },
    )
    unions = st.builds(
        lambda word, branches, base: {word: branches, **base},
        st.sampled_from(["anyOf", "oneOf", "allOf"]),
        st.lists(below | rows, min_size=1, max_size=3),
        st.just({}) | rows,
    )
    conditions = st.builds(
        lambda one, two: {"if": one, "then": two, "not": {"const": "a"}}, below, below
    )
    return _wild_objects(below) | rows | unions | conditions


def _wild_objects(below: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["a", "b", "c"])
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object"),
            "properties": st.dictionaries(names, below, max_size=3),
            "required": st.lists(names, unique=True, max_size=1),
            "additionalProperties": below,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "c"]), below, max_size=1),
            "minProperties": st.integers(0, 2),
        },
    )


wild_values = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.recursive(
        st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["", "a", "abc", 1.0]),
        lambda below: (
            st.lists(below, max_size=3)
            | st.dictionaries(st.sampled_from(["a", "b", "c"]), below, max_size=3)
        ),
        max_leaves=5,
    ),
    max_size=3,
)
