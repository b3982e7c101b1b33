"""What providers refuse in a JSON Schema, each in its own words."""

import re
from collections.abc import Iterator
from typing import Any

from tests.upstreams.strict.refusal import Json

Fault = tuple[str, str]
"""The id of a rule, and words."""

_COMBINING = ("oneOf", "anyOf", "allOf", "enum", "not")
STRICT_FORMATS = frozenset({
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
})  # fmt: skip
_NOT_STRICT = (
    "allOf", "oneOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else",
    "propertyNames", "patternProperties",
)  # fmt: skip


def subschemas(schema: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every schema inside of a schema, itself first, each with its path."""
    yield path, schema
    if not isinstance(schema, dict):
        return
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        inner = schema.get(key)
        for name, each in inner.items() if isinstance(inner, dict) else ():
            yield from subschemas(each, (*path, key, name))
    for key in ("items", "additionalProperties", "not", "if", "then", "else", "propertyNames"):
        if isinstance(schema.get(key), dict):
            yield from subschemas(schema[key], (*path, key))
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        listed = schema.get(key)
        for index, each in enumerate(listed if isinstance(listed, list) else ()):
            yield from subschemas(each, (*path, key, str(index)))


def _types(schema: Json) -> list[str]:
    kind = schema.get("type")
    return [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []


# --- OpenAI ---------------------------------------------------------------------------------------


def openai_function(schema: Any, name: str) -> Iterator[Fault]:
    """What is refused in the parameters of a function, strict or not."""
    says = f"Invalid schema for function '{name}': "
    if not isinstance(schema, dict):
        yield "OAI-085", f"{says}{schema!r} is not of type 'object', 'boolean'."
        return
    if not schema:
        return
    if any(key in schema for key in _COMBINING):
        named = "/".join(f"'{key}'" for key in _COMBINING)
        yield (
            "OAI-085",
            f"{says}schema must have type 'object' and not have {named} at the top level.",
        )
    elif schema.get("type") != "object":
        kind = schema.get("type")
        said = f'"{kind}"' if kind else "null"
        yield (
            "OAI-085",
            f"{says}schema must be a JSON Schema of 'type: \"object\"', got 'type: {said}'.",
        )
    elif "properties" not in schema:
        yield "OAI-086", f"{says}In context=(), object schema missing properties."
    yield from _openai_inside(schema, says)


def _openai_inside(schema: Json, says: str) -> Iterator[Fault]:
    for path, each in subschemas(schema):
        if not isinstance(each, (dict, bool)):
            yield "OAI-088", f"{says}{each!r} is not of type 'object', 'boolean'."
        elif isinstance(each, dict) and "array" in _types(each) and "items" not in each:
            yield "OAI-087", f"{says}In context={path!r}, array schema missing items."


def openai_strict(schema: Any, says: str, *, formats: bool = True) -> Iterator[Fault]:
    """What is refused where `strict` is true."""
    for path, each in subschemas(schema):
        if not isinstance(each, dict):
            continue
        here = f"{says}In context={path!r}, "
        for key in _NOT_STRICT:
            if key in each:
                yield "OAI-092", f"{here}'{key}' is not permitted."
        if "object" in _types(each) or "properties" in each:
            yield from _strict_object(each, here)
        textual = "string" in _types(each)
        if formats and textual and each.get("format") not in (None, *STRICT_FORMATS):
            yield "OAI-091", f"{here}'{each['format']}' is not a valid format."


def _strict_object(each: Json, here: str) -> Iterator[Fault]:
    if each.get("additionalProperties") is not False:
        yield "OAI-089", f"{here}'additionalProperties' is required to be supplied and to be false."
    properties = each.get("properties") or {}
    missing = [key for key in properties if key not in (each.get("required") or ())]
    if missing:
        yield (
            "OAI-090",
            (
                f"{here}'required' is required to be supplied and to be an array including every "
                f"key in properties. Missing '{missing[0]}'."
            ),
        )


# --- Anthropic ------------------------------------------------------------------------------------

_PROPERTY = re.compile(r"^[a-zA-Z0-9_.-]{1,64}$")
_NOT_COMPILED = ("minimum", "maximum", "multipleOf", "minLength", "maxLength")


def anthropic_tool(schema: Any, where: str) -> Iterator[Fault]:
    """What is refused in an `input_schema`, strict or not."""
    at = f"{where}.input_schema"
    if not isinstance(schema, dict):
        yield "AN-102", f"{at}: Input does not match the expected shape."
        return
    if "type" not in schema:
        yield "AN-102", f"{at}.type: Field required"
        return
    if schema["type"] != "object":
        yield "AN-102", f"{at}.type: Input should be 'object'"
        return
    if any(key in schema for key in ("oneOf", "allOf", "anyOf")):
        yield (
            "AN-103",
            f"{at}: input_schema does not support oneOf, allOf, or anyOf at the top level",
        )
    properties = schema.get("properties")
    for key in properties if isinstance(properties, dict) else ():
        if not _PROPERTY.match(key):
            yield (
                "AN-105",
                f"{at}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'",
            )
    for _, each in subschemas(schema):
        if isinstance(each, dict) and _is_draft_4(each):
            yield (
                "AN-104",
                (
                    f"{at}: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
                    "(https://json-schema.org/draft/2020-12)."
                ),
            )


def _is_draft_4(schema: Json) -> bool:
    bounds = (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
    return (
        any(isinstance(bound, bool) for bound in bounds)
        or not isinstance(schema.get("required", []), list)
        or not isinstance(schema.get("enum", []), list)
        or isinstance(schema.get("items"), list)
    )


def anthropic_strict(schema: Any, where: str) -> Iterator[Fault]:
    """What its compiler of grammars refuses."""
    for path, each in subschemas(schema):
        if each is True:
            yield "AN-108", f"{where}: For 'object' type, property 'properties' is not supported"
        if not isinstance(each, dict):
            continue
        if "object" in _types(each) and each.get("additionalProperties") is not False:
            yield (
                "AN-112",
                (
                    f"{where}: For 'object' type, 'additionalProperties' must be explicitly set to "
                    "false"
                ),
            )
        for key in _NOT_COMPILED:
            if key in each:
                kind = (_types(each) or ["number"])[0]
                yield "AN-113", f"{where}: For '{kind}' type, property '{key}' is not supported"
        reference = each.get("$ref")
        if isinstance(reference, str) and path and _is_circular(schema, reference):
            yield (
                "AN-107",
                (
                    f"{where}: Invalid schema: Circular reference detected in schema definitions: "
                    f"{reference.rpartition('/')[2]} -> {reference.rpartition('/')[2]}. "
                    "Self-referencing or mutually-referencing definitions are not supported."
                ),
            )


def _is_circular(root: Any, reference: str, seen: frozenset[str] = frozenset()) -> bool:
    if reference in seen:
        return True
    target = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        target = target.get(step) if isinstance(target, dict) and step else target
    return any(
        _is_circular(root, each["$ref"], seen | {reference})
        for _, each in subschemas(target)
        if isinstance(each, dict) and isinstance(each.get("$ref"), str)
    )


def optional_parameters(schema: Any) -> int:
    """How many properties of all its objects need not be there."""
    return sum(
        len(set(each.get("properties") or {}) - set(each.get("required") or ()))
        for _, each in subschemas(schema)
        if isinstance(each, dict) and isinstance(each.get("properties"), dict)
    )


def union_parameters(schema: Any) -> int:
    """How many properties have one of several types."""
    return sum(
        isinstance(each, dict) and ("anyOf" in each or isinstance(each.get("type"), list))
        for path, each in subschemas(schema)
        if len(path) >= 2 and path[-2] == "properties"
    )


# --- Gemini ---------------------------------------------------------------------------------------

_GEMINI_KEYS = frozenset({
    "type", "format", "title", "description", "nullable", "enum", "max_items", "maxItems",
    "min_items", "minItems", "properties", "required", "min_properties", "minProperties",
    "max_properties", "maxProperties", "min_length", "minLength", "max_length", "maxLength",
    "pattern", "example", "any_of", "anyOf", "property_ordering", "propertyOrdering", "default",
    "items", "minimum", "maximum",
})  # fmt: skip
_GEMINI_TYPES = ("TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT")


def gemini_parameters(schema: Any, at: str) -> Iterator[Fault]:
    """What is refused in `parameters` and `responseSchema`: Google's own subset of OpenAPI."""
    yield from _gemini(schema, at, at.replace("tools", "GenerateContentRequest.tools"), top=True)


def _gemini(schema: Any, at: str, request: str, *, top: bool) -> Iterator[Fault]:
    if not isinstance(schema, dict):
        yield "GE-008", f"Invalid value at '{at}' (type.googleapis.com/google.ai.v1beta.Schema)"
        return
    for key in schema:
        if key not in _GEMINI_KEYS:
            yield (
                "GE-038",
                (
                    f"Invalid JSON payload received. Unknown name \"{key}\" at '{at}': Cannot find "
                    "field."
                ),
            )
    kind = schema.get("type")
    if isinstance(kind, list):
        yield (
            "GE-007",
            (
                f"Invalid JSON payload received. Unknown name \"type\" at '{at}': Proto field is "
                "not repeating, cannot start list."
            ),
        )
        return
    if isinstance(kind, str) and kind.upper() not in (*_GEMINI_TYPES, "NULL"):
        yield (
            "GE-008",
            (
                f"Invalid value at '{at}.type' "
                f'(type.googleapis.com/google.ai.generativelanguage.v1beta.Type), "{kind}"'
            ),
        )
    yield from _gemini_node(schema, request, str(kind or "").upper(), top=top)
    properties = schema.get("properties")
    for name, each in properties.items() if isinstance(properties, dict) else ():
        yield from _gemini(
            each, f"{at}.properties[{name}]", f"{request}.properties[{name}]", top=False
        )
    if "items" in schema:
        yield from _gemini(schema["items"], f"{at}.items", f"{request}.items", top=False)
    listed = schema.get("anyOf", schema.get("any_of"))
    for index, each in enumerate(listed if isinstance(listed, list) else ()):
        yield from _gemini(each, f"{at}.any_of[{index}]", f"{request}.any_of[{index}]", top=False)


def _gemini_node(schema: Json, at: str, kind: str, *, top: bool) -> Iterator[Fault]:
    if kind == "ARRAY" and "items" not in schema:
        yield "GE-041", f"* {at}.items: missing field."
    if schema.get("enum") and kind not in ("STRING", ""):
        yield "GE-042", f"* {at}.enum: only allowed for STRING type"
    for index, each in enumerate(schema.get("enum") or ()):
        if not isinstance(each, str):
            yield "GE-008", f"Invalid value at '{at}.enum[{index}]' (TYPE_STRING), {each}"
        elif not each:
            yield "GE-043", f"* {at}.enum[{index}]: cannot be empty"
    if kind == "OBJECT" and not top and not schema.get("properties"):
        yield "GE-044", f"* {at}.properties: should be non-empty for OBJECT type"
    for index, name in enumerate(schema.get("required") or ()):
        if name not in (schema.get("properties") or {}):
            yield "GE-045", f"* {at}.required[{index}]: property is not defined"
    if kind == "STRING" and schema.get("format") not in (None, "", "enum", "date-time"):
        yield (
            "GE-047",
            f"* {at}.format: only 'enum' and 'date-time' are supported for STRING type",
        )
