"""OpenAPI 3.0 schemas, which some clients write, as JSON Schema."""

from typing import Any, Final

from toolglot.ir import Json
from toolglot.schema.subsets import TYPES, types_of
from toolglot.schema.walk import edit, schemas

_COUNTS: Final = (
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
)
_NUMBERS: Final = {
    1: "string",
    2: "number",
    3: "integer",
    4: "boolean",
    5: "array",
    6: "object",
    7: "null",
}
"""Types by their numbers in google.ai.generativelanguage.v1beta.Type, which Google's REST clients
may write (`enum-encoding=int`; googleapis, read 2026-11-16)."""
_NULL: Final = {"type": "null"}


def from_openapi(schema: Json) -> Json:
    """An OpenAPI schema as JSON Schema: types in lower case, null as a type, counts as numbers."""
    if any(map(_is_openapi, schemas(schema))):
        return edit(schema, _respell)
    return schema


def _is_openapi(node: Json) -> bool:
    name = node.get("type")
    return (
        "nullable" in node
        or (type(name) is str and name not in TYPES)
        or type(name) is int
        or any(type(node.get(key)) is str for key in _COUNTS)
    )


def _respell(node: Json) -> Json:
    if not _is_openapi(node):
        return node
    new = {key: _counted(key, value) for key, value in node.items() if key != "nullable"}
    number = node.get("type")
    types = (_NUMBERS.get(number),) if type(number) is int else types_of(node)
    if types and types[0]:
        new["type"] = types[0]
    elif number in ("TYPE_UNSPECIFIED", 0):
        del new["type"]
    return _with_null(new) if node.get("nullable") is True else new


def _counted(key: str, value: Any) -> Any:
    if key in _COUNTS and type(value) is str and value.isdecimal():
        return int(value)
    return value


def _with_null(node: Json) -> Json:
    if type(node.get("anyOf")) is list:
        return {**node, "anyOf": [*node["anyOf"], _NULL]}
    if type(node.get("type")) is not str:
        return node
    node = {**node, "type": [node["type"], "null"]}
    if type(node.get("enum")) is list:
        node["enum"] = [*node["enum"], None]
    return node
