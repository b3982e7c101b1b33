"""Formats that a target does not know.

`format` is an annotation: it says what a text looks like and is no rule. Some servers refuse a
schema with a format that they do not know, so the description tells it there.
"""

from toolglot.ir import Json
from toolglot.schema.describe import Telling
from toolglot.schema.walk import edit, schemas


def describe_formats(schema: Json, known: frozenset[str]) -> tuple[Json, tuple[str, ...]]:
    """The schema with the known formats only, and the names of those that descriptions tell."""
    found = [node["format"] for node in schemas(schema) if "format" in node]
    dropped = {str(word) for word in found if not _is_known(word, known)}
    if not dropped:
        return schema, ()

    telling = Telling()

    def change(node: Json) -> Json:
        if "format" not in node or _is_known(node["format"], known):
            return node
        rest = {key: value for key, value in node.items() if key != "format"}
        if type(node["format"]) is not str:
            return rest
        return telling.describe(rest, {"format": node["format"]})[0]

    return edit(schema, change), tuple(sorted(dropped))


def _is_known(value: object, known: frozenset[str]) -> bool:
    return type(value) is str and value in known
