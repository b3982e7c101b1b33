"""Rows of Anthropic messages: `system`, `messages`, `tools`, as the Messages API takes them."""

from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.plain_turns import rest_of
from toolglot.convert.protocol_rows import read_body, write_body
from toolglot.convert.surfaces import written_down
from toolglot.convert.transcript import RecordedConversation
from toolglot.ir import Json
from toolglot.protocols import anthropic

_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
_KNOWN: Final = ("model", "system", "messages", "tools", "tool_choice", "max_tokens", "thinking")


def recognise(row: Json) -> str:
    """Messages of users and assistants with a system text beside them, or with Claude's blocks."""
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        return ""
    if not all(isinstance(m, dict) and m.get("role") in ("user", "assistant") for m in messages):
        return ""
    if any(_has_blocks(message.get("content")) for message in messages):
        return "its messages have blocks of tool_use, tool_result or thinking"
    beside = "system" in row and not _is_bedrock(row)
    return "a system text stands beside its messages" if beside else ""


def _has_blocks(content: Any) -> bool:
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") in _BLOCKS for part in parts)


def _is_bedrock(row: Json) -> bool:
    return isinstance(row["system"], list) and "schemaVersion" in row


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    body = {key: row[key] for key in _KNOWN if row.get(key) is not None}
    return RecordedConversation(
        request=read_body(body, anthropic.NAME, ctx), metadata=rest_of(row, *_KNOWN)
    )


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row."""
    body = write_body(conversation.request, anthropic.NAME, ctx)
    return [{**conversation.metadata, **body}]


FORMAT: Final = Format(
    name="anthropic",
    summary="Anthropic messages: `system`, `messages` of blocks, `tools`",
    reference="https://platform.claude.com/docs/en/api/messages (2026-11-16)",
    surface=written_down(anthropic.SURFACE),
    read=read,
    write=write,
    recognise=recognise,
    paired=True,
    holds=frozenset({"system", "tools", "model", "metadata"}),
    aliases=("claude",),
)
