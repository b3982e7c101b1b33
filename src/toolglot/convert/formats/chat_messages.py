"""Rows of chat messages: OpenAI's files for fine-tuning, and the tables of TRL and chat templates.

`openai` has the arguments of calls as text and a fixed set of columns; `trl` has them as objects,
which chat templates want, and any further columns.
"""

from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.plain_turns import list_of, rest_of
from toolglot.convert.protocol_rows import read_body, write_body
from toolglot.convert.surfaces import written_down
from toolglot.convert.transcript import RecordedConversation
from toolglot.ir import Json
from toolglot.protocols import openai_chat
from toolglot.surface import ID_RULES
from toolglot.wire.call_arguments import read_arguments

_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_LISTS: Final = ("messages", "tools", "functions")
_KNOWN: Final = (
    *_LISTS,
    "parallel_tool_calls",
    "model",
    "tool_choice",
    "function_call",
    "response_format",
)
_SPLIT: Final = ("prompt", "completion")
"""Two lists of messages that are one conversation, in tables for prompts and their completions."""

_SURFACE: Final = written_down(openai_chat.SURFACE)


def recognise(row: Json) -> str:
    """Messages with the roles of Chat Completions, and nothing of what other protocols have."""
    messages = _messages(row)
    if not messages or not all(isinstance(each, dict) for each in messages):
        return ""
    if not all(each.get("role") in _ROLES for each in messages):
        return ""
    return "" if any(map(_is_foreign, messages)) else "its messages have the roles of chats"


def _messages(row: Json) -> list[Any]:
    if all(isinstance(row.get(key), list) for key in _SPLIT):
        return [*row["prompt"], *row["completion"]]
    value = row.get("messages")
    return value if isinstance(value, list) else []


_FOREIGN: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


def _is_foreign(message: Json) -> bool:
    content = message.get("content")
    if not isinstance(content, list):
        return False
    parts = [part for part in content if isinstance(part, dict)]
    return any(part.get("type") in _FOREIGN or "type" not in part for part in parts)


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    body = {key: row[key] for key in _KNOWN if row.get(key) is not None}
    for key in _LISTS:
        if isinstance(body.get(key), str):
            body[key] = list_of(body, key)
    if "messages" not in body and _messages(row):
        ctx.note("spelling-normalised", "prompt", "prompt and completion are one list of messages")
        body["messages"] = _messages(row)
    body["messages"] = [_without_nulls(each) for each in body.get("messages", ())]
    request = read_body(body, openai_chat.NAME, ctx)
    return RecordedConversation(request=request, metadata=rest_of(row, *_KNOWN, *_SPLIT))


def _without_nulls(message: Any) -> Any:
    """Tables have every member in every message, as null where it was not."""
    if not isinstance(message, dict) or None not in message.values():
        return message
    return {key: value for key, value in message.items() if value is not None or key == "content"}


def write(conversation: RecordedConversation, ctx: Context, *, objects: bool) -> list[Json]:
    """A row; `objects`: with the arguments of calls as objects."""
    body = write_body(conversation.request, openai_chat.NAME, ctx)
    if objects:
        body["messages"] = [_with_objects(message, ctx) for message in body.get("messages", ())]
    return [{**conversation.metadata, **body} if conversation.metadata else body]


def _with_objects(message: Json, ctx: Context) -> Json:
    calls = message.get("tool_calls")
    if not calls:
        return message
    return {**message, "tool_calls": [_with_object(call, ctx) for call in calls]}


def _with_object(call: Json, ctx: Context) -> Json:
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
        return call
    value, troubles = read_arguments(function["arguments"])
    for code, why in troubles:
        ctx.note(code, "messages", f"the arguments of {function.get('name')}: {why}")
    return {**call, "function": {**function, "arguments": value}}


def _never(_row: Json) -> str:
    return ""


FINE_TUNING: Final = Format(
    name="openai",
    summary="OpenAI's files for fine-tuning: `messages`, `tools`, arguments as text",
    reference="https://developers.openai.com/api/docs/guides/supervised-fine-tuning (2026-11-16)",
    surface=_SURFACE,
    read=read,
    write=partial(write, objects=False),
    recognise=recognise,
    holds=frozenset({"system", "tools", "model"}),
    aliases=("openai-finetune", "chat"),
)
TABLE: Final = Format(
    name="trl",
    summary="TRL and chat templates: `messages`, `tools`, arguments as objects, any more columns",
    reference="https://huggingface.co/docs/trl/dataset_formats (2026-11-16)",
    surface=_SURFACE,
    read=read,
    write=partial(write, objects=True),
    recognise=_never,
    holds=frozenset({"system", "tools", "model", "metadata"}),
    aliases=("hf", "chatml"),
)
MISTRAL: Final = Format(
    name="mistral",
    summary="Mistral's files for fine-tuning: ids of nine letters and digits",
    reference="https://docs.mistral.ai/capabilities/finetuning/text_vision_finetuning (2026-11-16)",
    surface=replace(
        _SURFACE, calls=replace(_SURFACE.calls, id_rule=ID_RULES["mistral"], id_prefix=None)
    ),
    read=read,
    write=partial(write, objects=False),
    recognise=_never,
    holds=frozenset({"system", "tools"}),
)
