"""The subsets of JSON Schema that targets take, as data, and whether a schema is in one.

`OPENAPI` is the OpenAPI 3.0 subset of `parameters` and `responseSchema` of Gemini and Vertex AI
(https://ai.google.dev/api/caching#Schema); `JSON_SUBSET` what `parametersJsonSchema` and
`responseJsonSchema` honour (https://ai.google.dev/api/generate-content, `responseJsonSchema`);
`CLOSED` the strict mode of OpenAI (https://platform.openai.com/docs/guides/structured-outputs,
"Supported schemas"); `SEALED` the one of Anthropic
(https://platform.claude.com/docs/en/build-with-claude/structured-outputs). All as of 2026-11-15.
"""

from typing import Any, Final, Literal

from msgspec import Struct

from toolglot.ir import Json
from toolglot.schema.walk import children, schemas


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

    lone_unions: bool = False
    """`anyOf` is the only key, and a type is one word."""

    typed: bool = False
    """Every schema has a type or is a union, and every list says what it holds."""

    known_required: bool = False
    """Only members that are described can be required."""

    object_root: bool = False
    """Output, too, must be an object and no union at the top."""

    closed: bool = False
    """Objects name all that they may hold; `additionalProperties` is false."""

    all_required: bool = False
    """Every member is required."""

    recursive: bool = False
    """Definitions may lead back to themselves."""

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
    lone_unions=True,
    typed=True,
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
    known_required=True,
    closed=True,
    object_root=True,
    all_required=True,
    recursive=True,
    max_depth=10,
    max_properties=5000,
)

SEALED: Final = Subset(
    name="sealed",
    keywords=(_COMMON - {"maximum", "maxItems", "minimum"})
    | {"$defs", "$ref", "additionalProperties", "const", "default", "pattern"},
    formats=STRICT_FORMATS | {"uri"},
    typed=True,
    known_required=True,
    closed=True,
    max_min_items=1,
)

SUBSETS: Final = {subset.name: subset for subset in (OPENAPI, JSON_SUBSET, CLOSED, SEALED)}

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
    if not subset.recursive and type(definitions) is dict and _recursive(definitions):
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
            if subset.lone_unions and len(node) > 1:
                return False
            below += union
        return self._takes_type(node) and self._takes_words(node) and self._inner(node, below)

    def _takes_ref(self, node: Json) -> bool:
        ref = node["$ref"]
        if type(ref) is not str:
            return False
        if not (ref == "#" and self._subset.recursive) and not (
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
        elif subset.lone_unions or type(name) is not list or not name or not _known(name):
            return False
        return "enum" not in node or self._takes_enum(node["enum"], name)

    def _takes_enum(self, values: Any, name: Any) -> bool:
        if type(values) is not list or not values:
            return False
        kinds = self._subset.enums
        if name == "string" and set(map(type, values)) == {str}:
            return True
        types = frozenset({name} if type(name) is str else name)
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
        elif subset.typed and (name == "array" or (type(name) is list and "array" in name)):
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


def _recursive(definitions: Json) -> bool:
    """Whether definitions lead back to themselves."""
    uses = {
        name: {str(node["$ref"]).removeprefix(_DEFINED) for node in schemas(held) if "$ref" in node}
        for name, held in definitions.items()
        if type(held) is dict
    }
    while uses:
        done = [name for name, used in uses.items() if not used & uses.keys()]
        if not done:
            return True
        for name in done:
            del uses[name]
    return False
