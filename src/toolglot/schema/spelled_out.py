"""Schemas that say what JSON Schema leaves to be understood: members at the top, and list items."""

from toolglot.ir import Json
from toolglot.schema.walk import edit, schemas


def spell_out(schema: Json) -> tuple[Json, int]:
    """The schema with `properties` at its top and `items` in every list, and how many it lacked."""
    lists = 0
    for node in schemas(schema):
        if "type" in node and "items" not in node and _lacks_items(node):
            lists += 1
    made = edit(schema, _with_items) if lists else schema
    if "properties" in made or not _names(made, "object"):
        return made, lists
    return {**made, "properties": {}}, lists + 1


def _names(node: Json, kind: str) -> bool:
    named = node.get("type")
    return named == kind or (type(named) is list and kind in named)


def _lacks_items(node: Json) -> bool:
    return "items" not in node and _names(node, "array")


def _with_items(node: Json) -> Json:
    return {**node, "items": {}} if _lacks_items(node) else node
