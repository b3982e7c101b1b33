"""Schemas that say what JSON Schema leaves to be understood: members at the top, and list items."""

from toolglot.ir import Json
from toolglot.schema.subsets import types_of
from toolglot.schema.walk import edit, schemas


def spell_out(schema: Json) -> tuple[Json, int]:
    """The schema with `properties` at its top and `items` in every list, and how many it lacked."""
    lists = sum(map(_lacks_items, schemas(schema)))
    made = edit(schema, _with_items) if lists else schema
    if "object" not in types_of(made) or "properties" in made:
        return made, lists
    return {**made, "properties": {}}, lists + 1


def _lacks_items(node: Json) -> bool:
    return "array" in types_of(node) and "items" not in node


def _with_items(node: Json) -> Json:
    return {**node, "items": {}} if _lacks_items(node) else node
