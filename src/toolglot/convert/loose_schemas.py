"""Schemas of data sets that name types as Python or Gorilla do, both ways."""

from collections.abc import Mapping
from typing import Any, Final

from toolglot.ir import Json

_TYPES: Final = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "dict": "object",
    "any": "",
    "double": "number",
    "long": "integer",
    "hashmap": "object",
    "arraylist": "array",
}
_PYTHON: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
}
_WHOLE: Final = ("properties", "items", "additionalProperties")


def to_json_schema(schema: Any) -> Any:
    """A schema with the types of JSON, from one with those of Python: `dict`, `List[int]`."""
    if isinstance(schema, list):
        return [to_json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    changed = dict(schema)
    kind = schema.get("type")
    if isinstance(kind, str):
        changed |= _typed(kind)
        if not changed["type"]:
            del changed["type"]
    for key in _WHOLE:
        if key == "properties" and isinstance(schema.get(key), dict):
            changed[key] = {name: to_json_schema(each) for name, each in schema[key].items()}
        elif isinstance(schema.get(key), dict):
            changed[key] = to_json_schema(schema[key])
    return changed


def _typed(kind: str) -> Json:
    word = kind.partition(",")[0].strip()
    head, _, inner = word.partition("[")
    base = _TYPES.get(head.lower(), head.lower() if head.lower() in _PYTHON else "")
    inner = inner.removesuffix("]")
    if base == "array" and inner:
        items = _typed(inner)
        return {"type": base, "items": items} if items["type"] else {"type": base}
    if head == "Optional" and inner:
        return _typed(inner)
    return {"type": base}


def flat_to_schema(parameters: Mapping[str, Any]) -> Json:
    """Parameters by name, each with a Python type, as the schema of an object."""
    properties = {}
    required = []
    for name, each in parameters.items():
        given = each if isinstance(each, dict) else {"type": str(each)}
        kind = str(given.get("type", ""))
        properties[name] = to_json_schema(given)
        if "optional" not in kind and "default" not in given:
            required.append(name)
    schema: Json = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def schema_to_flat(schema: Json | None) -> tuple[Json, bool]:
    """The reverse, and whether the schema says no more than that."""
    properties = (schema or {}).get("properties")
    if not isinstance(properties, dict):
        return {}, not schema or schema.keys() <= {"type"}
    required = (schema or {}).get("required") or []
    whole = (schema or {}).keys() <= {"type", "properties", "required"}
    flat: Json = {}
    for name, each in properties.items():
        given = dict(each) if isinstance(each, dict) else {}
        word = given.get("type")
        python = _PYTHON.get(word) if isinstance(word, str) else None
        whole = (
            whole
            and python is not None
            and given.keys() <= {"type", "description", "default", "enum"}
        )
        kind = python or "str"
        has_default = "default" in given
        suffix = "" if name in required or has_default else ", optional"
        whole = whole and not (name in required and has_default)
        flat[name] = {**given, "type": kind + suffix}
    return flat, whole
