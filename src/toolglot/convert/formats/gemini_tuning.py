"""Rows for tuning Gemini: `systemInstruction`, `contents` and `tools` as the API takes them."""

from typing import Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.plain_turns import rest_of
from toolglot.convert.protocol_rows import read_body, write_body
from toolglot.convert.surfaces import written_down
from toolglot.convert.transcript import RecordedConversation
from toolglot.ir import Json
from toolglot.protocols import gemini

_KNOWN: Final = ("model", "systemInstruction", "system_instruction", "contents", "tools")


def recognise(row: Json) -> str:
    """Contents of parts."""
    contents = row.get("contents")
    if not isinstance(contents, list) or not contents:
        return ""
    has_parts = all(isinstance(each, dict) and "parts" in each for each in contents)
    return "its `contents` have `parts`" if has_parts else ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    body = {key: row[key] for key in _KNOWN if row.get(key) is not None}
    return RecordedConversation(
        request=read_body(body, gemini.NAME, ctx), metadata=rest_of(row, *_KNOWN)
    )


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row."""
    return [{**conversation.metadata, **write_body(conversation.request, gemini.NAME, ctx)}]


FORMAT: Final = Format(
    name="gemini",
    summary="tuning of Gemini on Vertex: `systemInstruction`, `contents`, `tools`",
    reference="https://cloud.google.com/vertex-ai/generative-ai/docs/models/"
    "gemini-supervised-tuning-prepare (2026-11-16)",
    surface=written_down(gemini.SURFACE),
    read=read,
    write=write,
    recognise=recognise,
    paired=True,
    holds=frozenset({"system", "tools", "model", "metadata"}),
    aliases=("vertex",),
)
