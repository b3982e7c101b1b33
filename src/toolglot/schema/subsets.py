"""The subsets of JSON Schema that targets take, as data, and whether a schema is in one.

`OPENAPI` is the OpenAPI 3.0 subset of `parameters` and `responseSchema` of Gemini and Vertex AI
(https://ai.google.dev/api/caching#Schema); `JSON_SUBSET` what `parametersJsonSchema` and
`responseJsonSchema` honour (https://ai.google.dev/api/generate-content, `responseJsonSchema`);
`CLOSED` the strict mode of OpenAI (https://platform.openai.com/docs/guides/structured-outputs,
"Supported schemas"); `SEALED` the one of Anthropic
(https://platform.claude.com/docs/en/build-with-claude/structured-outputs); `MOONSHOT` the "Moonshot
flavored JSON Schema" of Kimi (https://github.com/MoonshotAI/walle, docs/walle.md and
docs/mfjs-walle-vs-draft-2020-12.md). All as of 2026-11-16.
"""

from typing import Any, Final, Literal

from msgspec import Struct

from toolglot.ir import Json
from toolglot.schema.walk import children


class Subset(Struct, frozen=True, kw_only=True):
    """What a target takes of JSON Schema."""

    name: str
    keywords: frozenset[str]
    formats: frozenset[str] | None = None
    """Formats that it knows; None: any."""

    enums: frozenset[str] = frozenset({"string", "number", "integer", "boolean", "null"})
    """The JSON types of values that may be listed."""

    null: Literal["type", "keyword"] = "type"
    """Whether null is a type or the keyword `nullable`."""

    beside_unions: Literal["all", "words", "nothing"] = "all"
    """What may stand beside `anyOf`; `words` are a title and a description."""

    type_lists: Literal["all", "bare", "none"] = "all"
    """Whether a type may be a list of types; a bare one has only words beside it."""

    uniform_enums: bool = False
    """Listed values are of one type, or null."""

    scalar_defaults: bool = False
    """Only texts, numbers, booleans and null can be a default."""

    max_union: int | None = None
    """How many alternatives a union may have."""

    typed: bool = False
    """Every schema has a type or is a union."""

    needs_items: bool = False
    """Every list says what it holds."""

    known_required: bool = False
    """Only members that are described can be required."""

    object_root: bool = False
    """Output, too, must be an object and no union at the top."""

    closed: bool = False
    """Objects name all that they may hold; `additionalProperties` is false."""

    all_required: bool = False
    """Every member is required."""

    recursive: Literal["no", "optional", "yes"] = "no"
    """Whether definitions may lead back to themselves: only from members that are not required, or
    from anywhere."""

    max_depth: int | None = None
    """How deep objects may be nested."""

    max_properties: int | None = None
    max_min_items: int | None = None
    """The largest `minItems`."""


ANNOTATIONS: Final = frozenset(
    {
        "$comment",
        "$id",
        "$schema",
        "$vocabulary",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "default",
        "deprecated",
        "description",
        "encrypted",
        "enumDescriptions",
        "example",
        "examples",
        "format",
        "markdownDescription",
        "propertyOrdering",
        "readOnly",
        "title",
        "writeOnly",
    }
)
"""Words about a value that do not limit it."""

_COMMON: Final = frozenset(
    {
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maximum",
        "maxItems",
        "minimum",
        "minItems",
        "properties",
        "required",
        "title",
        "type",
    }
)

OPENAPI: Final = Subset(
    name="openapi",
    keywords=_COMMON
    | {
        "default",
        "example",
        "maxLength",
        "maxProperties",
        "minLength",
        "minProperties",
        "nullable",
        "pattern",
        "propertyOrdering",
    },
    formats=frozenset({"float", "double", "int32", "int64", "enum", "date-time"}),
    enums=frozenset({"string"}),
    null="keyword",
    beside_unions="nothing",
    type_lists="none",
    typed=True,
    needs_items=True,
    known_required=True,
)

JSON_SUBSET: Final = Subset(
    name="subset",
    keywords=_COMMON
    | {
        "$anchor",
        "$defs",
        "$id",
        "$ref",
        "additionalProperties",
        "prefixItems",
        "propertyOrdering",
    },
    enums=frozenset({"string", "number", "integer"}),
    # "Cyclic references are unrolled to a limited degree and, as such, may only be used within
    # non-required properties. (Nullable properties are not sufficient.)"
    recursive="optional",
)

STRICT_FORMATS: Final = frozenset(
    {
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "time",
        "uuid",
    }
)

CLOSED: Final = Subset(
    name="closed",
    keywords=_COMMON
    | {
        "$defs",
        "$ref",
        "additionalProperties",
        "const",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "multipleOf",
        "pattern",
    },
    formats=STRICT_FORMATS,
    typed=True,
    needs_items=True,
    known_required=True,
    closed=True,
    object_root=True,
    all_required=True,
    recursive="yes",
    max_depth=10,
    max_properties=5000,
)

SEALED: Final = Subset(
    name="sealed",
    keywords=(_COMMON - {"maximum", "maxItems", "minimum"})
    | {"$defs", "$ref", "additionalProperties", "const", "default", "pattern"},
    formats=STRICT_FORMATS | {"uri"},
    typed=True,
    needs_items=True,
    known_required=True,
    closed=True,
    max_min_items=1,
)

MOONSHOT: Final = Subset(
    name="moonshot",
    keywords=_COMMON - {"format"}
    | {"$defs", "$ref", "additionalProperties", "default", "maxLength", "minLength"},
    enums=frozenset({"string", "number", "integer", "boolean", "null"}),
    beside_unions="words",
    type_lists="bare",
    uniform_enums=True,
    scalar_defaults=True,
    max_union=10,
    typed=True,
    known_required=True,
    recursive="yes",
)

SUBSETS: Final = {
    subset.name: subset for subset in (OPENAPI, JSON_SUBSET, CLOSED, SEALED, MOONSHOT)
}

_PLAIN: Final = frozenset({"type", "description", "title"})
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})
"""Most parameters are of such a type and say nothing else, which every subset has."""

_DEFINED: Final = "#/$defs/"

TYPES: Final = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})


def kind(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array" if isinstance(value, list) else "number"


def kinds_of(values: list[Any]) -> list[str]:
    """The JSON types of values beside null, each once; integers are numbers."""
    names = (kind(value) for value in values if value is not None)
    return list(dict.fromkeys("number" if name == "integer" else name for name in names))


def is_of(value: Any, types: frozenset[str] | set[str]) -> bool:
    """Whether a value is of one of the types."""
    name = kind(value)
    if name in types:
        return True
    if name == "integer":
        return "number" in types
    return name == "number" and "integer" in types and value == int(value)


def types_of(schema: Json) -> tuple[str, ...]:
    """The types that a schema names, in lower case; OpenAPI writes them in capitals."""
    named = schema.get("type")
    words = named if type(named) is list else [named]
    lower = (word.lower() for word in words if type(word) is str)
    return tuple(dict.fromkeys(word for word in lower if word in TYPES))


# --- whether a schema is in a subset --------------------------------------------------------------


def fits(schema: Json, subset: Subset, *, tool: bool = True) -> bool:
    """Whether a schema can be sent as it is, for a tool, which wants an object, or for output."""
    rooted = tool or subset.object_root
    if rooted and schema.get("type") != "object":
        return False
    definitions = schema.get("$defs")
    if type(definitions) is dict and _is_circular(definitions, subset):
        return False
    checker = _Checker(subset, definitions if type(definitions) is dict else {})
    level: list[Any] = [schema]
    if type(definitions) is dict:
        level += definitions.values()
    depth = 0
    while level:
        below: list[Any] = []
        for node in level:
            if not checker.takes(node, below, root=rooted and node is schema):
                return False
        level = below
        depth += 1
    if subset.max_depth is not None and depth > subset.max_depth:
        depth = object_depth(schema)
    return within(subset, depth, checker.properties)


def within(subset: Subset, depth: int, properties: int) -> bool:
    """Whether a schema is not too large."""
    return (subset.max_depth is None or depth <= subset.max_depth) and (
        subset.max_properties is None or properties <= subset.max_properties
    )


def object_depth(schema: Json) -> int:
    """How deep objects are nested."""
    deepest = 0
    level: list[tuple[Json, int]] = [(schema, 0)]
    for node, above in level:
        depth = above + ("properties" in node)
        deepest = max(deepest, depth)
        level += [(each, depth) for each in children(node)]
    return deepest


class _Checker:
    __slots__ = ("_definitions", "_subset", "properties")

    def __init__(self, subset: Subset, definitions: Json) -> None:
        self._subset = subset
        self._definitions = definitions
        self.properties = 0

    def takes(self, node: Any, below: list[Any], *, root: bool) -> bool:
        """Whether one schema is in the subset; adds those in it to `below`."""
        subset = self._subset
        if type(node) is not dict:
            return False
        if _PLAIN.issuperset(node) and type(name := node.get("type")) is str and name in _SCALARS:
            return True
        if not subset.keywords.issuperset(node):
            return False
        if "$ref" in node:
            return self._takes_ref(node)
        if "$defs" in node and node["$defs"] is not self._definitions:
            return False
        union = node.get("anyOf")
        if union is not None:
            if type(union) is not list or not union or root:
                return False
            if len(node) > 1 and not _BESIDE[subset.beside_unions].issuperset(node):
                return False
            if subset.max_union is not None and len(union) > subset.max_union:
                return False
            below += union
        return self._takes_type(node) and self._takes_words(node) and self._inner(node, below)

    def _takes_ref(self, node: Json) -> bool:
        ref = node["$ref"]
        if type(ref) is not str:
            return False
        if not (ref == "#" and self._subset.recursive == "yes") and not (
            ref.startswith(_DEFINED) and ref.removeprefix(_DEFINED) in self._definitions
        ):
            return False
        return all(key[:1] == "$" for key in node) and "$defs" not in node

    def _takes_type(self, node: Json) -> bool:
        subset, name = self._subset, node.get("type")
        if type(name) is str:
            if name not in TYPES:
                return False
        elif name is None:
            if (subset.typed and "anyOf" not in node and "const" not in node) or "enum" in node:
                return False
        elif type(name) is not list or not self._takes_types(node, name):
            return False
        return "enum" not in node or self._takes_enum(node["enum"], name)

    def _takes_types(self, node: Json, names: list[str]) -> bool:
        allowed = self._subset.type_lists
        if not names or not _known(names):
            return False
        if allowed == "bare":
            if "enum" in node:
                return len(names) - 1 == len({*names} - {"null"}) == 1
            return _BARE.issuperset(node)
        return allowed == "all"

    def _takes_enum(self, values: Any, name: Any) -> bool:
        if type(values) is not list or not values:
            return False
        kinds = self._subset.enums
        if name == "string" and set(map(type, values)) == {str}:
            return True
        types = frozenset({name} if type(name) is str else name)
        if self._subset.uniform_enums and len(kinds_of(values)) > 1:
            return False
        return all(kind(value) in kinds and is_of(value, types) for value in values)

    def _takes_words(self, node: Json) -> bool:
        subset = self._subset
        if "format" in node and subset.formats is not None:
            word = node["format"]
            if type(word) is not str or word not in subset.formats:
                return False
        if "nullable" in node and node["nullable"] is not True:
            return False
        if "const" in node and type(node["const"]) in (dict, list):
            return False
        if subset.scalar_defaults and "default" in node and not _fits_default(node):
            return False
        limit = node.get("minItems")
        return limit is None or subset.max_min_items is None or limit <= subset.max_min_items

    def _inner(self, node: Json, below: list[Any]) -> bool:
        subset, name = self._subset, node.get("type")
        members = node.get("properties")
        if members is not None:
            if type(members) is not dict:
                return False
            self.properties += len(members)
            below += members.values()
        named = subset.known_required or subset.closed
        if named and not self._takes_members(node, name, members):
            return False
        if "items" in node:
            below.append(node["items"])
        elif subset.needs_items and (name == "array" or (type(name) is list and "array" in name)):
            return False
        if "prefixItems" in node:
            below += node["prefixItems"]
        rest = node.get("additionalProperties")
        if type(rest) is dict:
            below.append(rest)
        return True

    def _takes_members(self, node: Json, name: Any, members: Json | None) -> bool:
        required = node.get("required")
        if required is not None:
            if type(required) is not list:
                return False
            if not all(type(each) is str and each in (members or ()) for each in required):
                return False
        if not self._subset.closed:
            return True
        if name != "object" and not (type(name) is list and "object" in name):
            return members is None
        if node.get("additionalProperties") is not False or members is None:
            return False
        return not self._subset.all_required or len(required or ()) == len(members)


def _known(names: list[Any]) -> bool:
    return all(type(name) is str and name in TYPES for name in names)


_WORDS: Final = frozenset({"title", "description"})
_BARE: Final = _WORDS | {"type"}
_BESIDE: Final[dict[str, frozenset[str]]] = {
    "all": frozenset().union(*(subset.keywords for subset in SUBSETS.values())),
    "words": _WORDS | {"anyOf"},
    "nothing": frozenset({"anyOf"}),
}


def _fits_default(node: Json) -> bool:
    value, types = node["default"], types_of(node)
    return kind(value) not in ("object", "array") and is_of(value, frozenset(types))


def _is_circular(definitions: Json, subset: Subset) -> bool:
    """Whether definitions lead back to themselves in a way that the subset does not allow."""
    if subset.recursive == "yes":
        return False
    uses: list[tuple[str, str]] = []
    for name, held in definitions.items():
        if type(held) is dict:
            used = _used(held, optional=subset.recursive == "optional")
            uses += [(name, each) for each in used]
    return bool(circular(uses))


def _used(schema: Json, *, optional: bool) -> set[str]:
    """The definitions that a schema refers to; with `optional`, from places that must be there."""
    found: set[str] = set()
    level = [schema]
    for node in level:
        if "$ref" in node:
            found.add(str(node["$ref"]).removeprefix(_DEFINED))
        members = node.get("properties")
        if optional and type(members) is dict:
            required = node.get("required")
            named = frozenset(map(str, required)) if type(required) is list else frozenset()
            kept = {name: held for name, held in members.items() if name in named}
            level += children({**node, "properties": kept})
        else:
            level += children(node)
    return found


def circular(uses: list[tuple[str, str]]) -> set[str]:
    """The names that lead back to themselves, of pairs of a user and what it uses."""
    forth = _not_last(uses)
    return forth & _not_last([(used, user) for user, used in uses]) if forth else forth


def _not_last(uses: list[tuple[str, str]]) -> set[str]:
    """The names from which there is no end."""
    users: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for user, used in uses:
        users.setdefault(used, []).append(user)
        waiting[user] = waiting.get(user, 0) + 1
        waiting.setdefault(used, 0)
    done = [name for name, count in waiting.items() if not count]
    for name in done:
        for user in users.get(name, ()):
            waiting[user] -= 1
            if not waiting[user]:
                done.append(user)
    return waiting.keys() - set(done)
