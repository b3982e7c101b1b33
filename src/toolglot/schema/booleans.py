"""Schemas that are `true` or `false`, written as objects.

Both are JSON Schema, but some servers read every schema as an object.
"""

from typing import Any

from toolglot.ir import Json
from toolglot.schema.walk import LISTS, TABLES, edit, schemas


def write_booleans(schema: Json) -> tuple[Json, int]:
    """The schema without booleans among its properties and alternatives, and how many there were.

    `additionalProperties` and the like may be booleans everywhere, and stay.
    """
    count = sum(map(_count, schemas(schema)))
    return (edit(schema, _written), count) if count else (schema, 0)


def _count(node: Json) -> int:
    return sum(type(each) is bool for key in node for each in _held(key, node[key]))


def _held(key: str, value: Any) -> list[Any]:
    if key in TABLES and type(value) is dict:
        return list(value.values())
    return value if key in LISTS and type(value) is list else []


def _written(node: Json) -> Json:
    if not _count(node):
        return node
    made: Json = {}
    for key, value in node.items():
        if key in TABLES and type(value) is dict:
            made[key] = {name: _object(each) for name, each in value.items()}
        elif key in LISTS and type(value) is list:
            made[key] = [_object(each) for each in value]
        else:
            made[key] = value
    return made


def _object(value: Any) -> Any:
    if type(value) is not bool:
        return value
    return {} if value else {"not": {}}
