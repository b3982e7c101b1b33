"""Items of OpenAI Responses, both ways: messages, calls, results, reasoning and everything else.

In a request an item is a message of the interlingua. In a response all items together are one
answer, and the parts remember which message they came in: see `ITEM`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    Json,
    Message,
    NamespaceTool,
    Opaque,
    Part,
    ProviderTool,
    Reasoning,
    Role,
    Tool,
    ToolCall,
    ToolResult,
)
from toolglot.protocols.openai_responses.parts import (
    INPUT,
    ITEM,
    OUTPUT,
    decode_cache,
    decode_content,
    encode_content,
    encode_part,
    is_bare,
    is_content,
    kept,
)
from toolglot.protocols.openai_responses.surface import EASY_BARE, NAME
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import arguments_text, cannot_carry

_BARE: Final = NAME
_EASY: Final = f"{NAME} without type"
"""Spellings of a message: content as a string, `type` left out, or both."""

_ROLES: Final = frozenset({"user", "assistant", "system", "developer"})
_STATUS: Final = {"completed": False, "incomplete": True}
_STATUS_FROM: Final = {failed: status for status, failed in _STATUS.items()}
"""Whether a tool failed: the only word for it that a result has."""

PIECES: Final = "\n\n"
"""Between the pieces of readable reasoning, where they become one text."""

# --- in requests: an item is a message -----------------------------------------------------------


def decode_item(fields: Fields) -> Message:
    """One item of the input as a message; a cache mark on it belongs to its last part."""
    mark = decode_cache(fields)
    message = _decode_item(fields)
    last = message.parts[-1] if message.parts else None
    if mark is None or not hasattr(last, "cache"):
        return message
    marked = replace(cast("Any", last), cache=mark)
    return replace(message, parts=(*message.parts[:-1], marked))


def _decode_item(fields: Fields) -> Message:
    kind = fields.peek("type")
    if kind is None:
        kind = (
            "message"
            if "role" in fields
            else "item_reference"
            if "id" in fields
            else fields.text("type")
        )
    if kind == "message":
        return _decode_message(fields)
    decoder = _DECODERS.get(kind) if type(kind) is str else None
    if decoder is not None:
        part = decoder(fields)
        return Message(role="user" if isinstance(part, ToolResult) else "assistant", parts=(part,))
    if type(kind) is not str:
        fields.fail("type", "expected string")
    opaque = Opaque(protocol=NAME, type=kind, value=fields.whole())
    return Message(role=_role_of(kind), parts=(opaque,))


def encode_items(message: Message, ctx: Context) -> Iterator[Json]:
    """One message as items: what stands together in a message, and everything else by itself."""
    content: list[Part] = []
    for part in _results_first(message):
        if is_content(part):
            content.append(part)
            continue
        if content:
            yield from _encode_message(message, tuple(content), ctx)
            content = []
        wire = encode_item(part, ctx)
        if wire is not None:
            yield wire
    if content or not message.parts:
        yield from _encode_message(message, tuple(content), ctx)


def encode_item(part: Part, ctx: Context) -> Json | None:
    """A part that is an item of its own; None, with a note, for what has no form here."""
    if isinstance(part, Opaque):
        return part.value if part.protocol == NAME else cannot_carry(part, ctx)
    encoder = _ENCODERS.get(type(part))
    return encoder(part, ctx) if encoder else cannot_carry(part, ctx)


def _role_of(kind: str) -> Role:
    if kind in ("additional_tools", "configuration_update"):
        return "developer"
    return "user" if kind.endswith(("_output", "_response", "_trigger")) else "assistant"


def _results_first(message: Message) -> tuple[Part, ...]:
    parts = message.parts
    if message.role != "user" or len(parts) == 1:
        return parts
    return tuple(sorted(parts, key=lambda part: not isinstance(part, ToolResult)))


def _decode_message(fields: Fields) -> Message:
    role = fields.text("role")
    if role not in _ROLES:
        fields.fail("role", f"expected user, assistant, system or developer, got {role!r}")
    easy = fields.take("type") is None
    parts, bare = decode_content(fields, "content", OUTPUT if role == "assistant" else INPUT)
    extras = fields.rest() if parts else kept(fields)
    wire_form = (EASY_BARE if bare else _EASY) if easy else (_BARE if bare else "")
    return Message(role=cast("Role", role), parts=parts, wire_form=wire_form, extras=extras)


def _encode_message(message: Message, parts: tuple[Part, ...], ctx: Context) -> Iterator[Json]:
    role, wire_form = message.role, message.wire_form
    easy = wire_form in (_EASY, EASY_BARE)
    wire: Json = {"role": role} if easy else {"type": "message", "role": role}
    if wire_form in (_BARE, EASY_BARE) and is_bare(parts):
        wire["content"] = parts[0].text  # type: ignore[union-attr] # is_bare says it is a Text
    elif content := encode_content(parts, OUTPUT if role == "assistant" else INPUT, ctx):
        wire["content"] = content
    elif NAME not in message.extras:
        return
    yield merge(wire, message.extras, NAME)


# --- in responses: a message is an item ----------------------------------------------------------


def decode_output_item(fields: Fields) -> tuple[Part, ...]:
    """The parts of one item of the output; an empty message has none."""
    kind = fields.peek("type")
    if kind == "message":
        return _decode_output_message(fields)
    known = isinstance(kind, str) and kind in OUTPUT_ITEMS
    if known and not (kind == "custom_tool_call" and is_servers_own(fields.peek("name"), fields)):
        return (_DECODERS[kind](fields),)
    return (Opaque(protocol=NAME, type=str(kind), value=fields.whole()),)


def is_servers_own(name: Any, fields: Fields) -> bool:
    """Whether nobody declared the custom tool of a call: xAI tells so what it ran itself."""
    declared = fields.document.ctx.declared
    return declared is not None and name not in _tool_names(declared)


def _tool_names(tools: tuple[Tool, ...]) -> Iterator[str]:
    for tool in tools:
        if isinstance(tool, NamespaceTool):
            yield from _tool_names(tool.tools)
        elif not isinstance(tool, ProviderTool):
            yield tool.name


def _decode_output_message(fields: Fields) -> tuple[Part, ...]:
    fields.constant("type", "message")
    fields.constant("role", "assistant")
    parts, _ = decode_content(fields, "content", OUTPUT)
    rest = fields.rest().get(NAME, {})
    return tuple(with_item(part, None if index else rest) for index, part in enumerate(parts))


def with_item(part: Part, item: Json | None) -> Part:
    """A content part that knows which message it came in."""
    if isinstance(part, Opaque):
        return replace(part, value={**part.value, ITEM: item})
    extras = cast("Any", part).extras
    return replace(part, extras={NAME: {**extras.get(NAME, {}), ITEM: item}})


def item_of(part: Part) -> tuple[bool, Json | None]:
    """Whether a content part knows its message, and the members of the message that it opens."""
    own = part.value if isinstance(part, Opaque) else cast("Any", part).extras.get(NAME)
    return (True, own[ITEM]) if own and ITEM in own else (False, None)


def encode_output(parts: tuple[Part, ...], status: str, ctx: Context) -> list[Json]:
    """All items of an answer; the last one has the status, those before are complete."""
    items: list[Json] = []
    for index, part in enumerate(parts):
        last = status if index == len(parts) - 1 else "completed"
        if not is_content(part):
            wire = encode_item(part, ctx)
            if wire is not None:
                items.append(with_id(wire, part, last, ctx))
            continue
        content = encode_part(part, OUTPUT, ctx)
        if content is None:
            continue
        known, rest = item_of(part)
        if known and rest is None and items and items[-1].get("type") == "message":
            items[-1]["content"].append(content)
        else:
            items.append(_output_message(content, rest if known else None, last, ctx))
    return items


def _output_message(content: Json, rest: Json | None, status: str, ctx: Context) -> Json:
    if rest is not None:
        wire: Json = {"type": "message", "role": "assistant", "content": [content]}
        return merge(wire, {NAME: rest}, NAME)
    return message_item(ctx.new_id("msg_"), [content], status)


def message_item(id_: str, content: list[Json], status: str) -> Json:
    """A message of the output."""
    return {"id": id_, "type": "message", "status": status, "role": "assistant", "content": content}


def with_id(wire: Json, part: Part, status: str, ctx: Context) -> Json:
    """An item with the id and status that every item of an output has, a call with both its ids."""
    if isinstance(part, ToolCall):
        wire.setdefault("call_id", part.id)
    if isinstance(part, Opaque) or NAME in cast("Any", part).extras:
        return wire
    kind = wire["type"]
    if "id" not in wire:
        wire = {"id": ctx.new_id(OUTPUT_ITEMS.get(kind, "item_")), **wire}
    return wire if kind == "reasoning" else {**wire, "status": status}


# --- calls ---------------------------------------------------------------------------------------


def _decode_call_id(fields: Fields) -> tuple[str, bool]:
    """The id that pairs a call with its result, and whether it had to be made."""
    call_id = fields.maybe_text("call_id")
    if call_id is not None:
        return call_id, False
    item_id = fields.peek("id")
    if type(item_id) is str:
        fields.note("spelling-normalised", "call_id", "the id of the item stands in for it")
        return item_id, False
    fields.note("id-made", "call_id")
    return fields.document.ctx.new_id("call_"), True


def _decode_function_call(fields: Fields) -> ToolCall:
    fields.constant("type", "function_call")
    call_id, made = _decode_call_id(fields)
    arguments = fields.take("arguments")
    if type(arguments) is not str:
        if arguments is not None:
            fields.note("arguments-normalised", "arguments", "they came as a JSON value")
        arguments = "" if arguments is None else arguments_text(arguments)
    return ToolCall(
        id=call_id,
        name=fields.text("name"),
        arguments=arguments,
        namespace=fields.maybe_text("namespace"),
        id_made=made,
        extras=kept(fields),
    )


def _decode_custom_call(fields: Fields) -> ToolCall:
    fields.constant("type", "custom_tool_call")
    call_id, made = _decode_call_id(fields)
    return ToolCall(
        id=call_id,
        name=fields.text("name"),
        arguments=fields.maybe_text("input") or "",
        type="custom",
        namespace=fields.maybe_text("namespace"),
        id_made=made,
        extras=kept(fields),
    )


def _encode_call(part: ToolCall, _ctx: Context) -> Json:
    custom, own = part.kind == "custom", NAME in part.extras
    wire: Json = {"type": "custom_tool_call" if custom else "function_call"}
    if not (own and part.id_made):
        wire["call_id"] = part.id
    wire["name"] = part.name
    if part.namespace is not None:
        wire["namespace"] = part.namespace
    if custom:
        wire["input"] = part.arguments
    else:
        wire["arguments"] = part.arguments or ("" if own else "{}")
    return merge(wire, part.extras, NAME)


# --- results -------------------------------------------------------------------------------------


def _decode_result(fields: Fields) -> ToolResult:
    custom = fields.take("type") == "custom_tool_call_output"
    call_id, made = _decode_call_id(fields)
    parts, bare = decode_content(fields, "output", INPUT)
    status = fields.peek("status")
    failed = _STATUS.get(status) if type(status) is str else None
    if failed is not None:
        fields.take("status")
    return ToolResult(
        id=call_id,
        parts=parts,
        name=fields.maybe_text("name"),
        is_error=failed,
        kind="custom" if custom else "function",
        id_made=made,
        wire_form="" if bare else NAME,
        extras=kept(fields),
    )


def _encode_result(part: ToolResult, ctx: Context) -> Json:
    own = part.extras.get(NAME)
    wire: Json = {
        "type": "custom_tool_call_output" if part.kind == "custom" else "function_call_output"
    }
    if own is None or not part.id_made:
        wire["call_id"] = part.id
    if part.name is not None and own is not None:
        wire["name"] = part.name
    if part.parts or not own or "output" not in own:
        wire["output"] = _encode_output_content(part, ctx)
    if part.is_error is not None:
        wire["status"] = _STATUS_FROM[part.is_error]
    return merge(wire, part.extras, NAME)


def _encode_output_content(part: ToolResult, ctx: Context) -> str | list[Json]:
    if not part.parts:
        return ""
    if part.wire_form != NAME and is_bare(part.parts):
        return part.parts[0].text  # type: ignore[union-attr] # is_bare says it is a Text
    return encode_content(part.parts, INPUT, ctx) or ""


# --- reasoning -----------------------------------------------------------------------------------


def _decode_reasoning(fields: Fields) -> Reasoning:
    fields.constant("type", "reasoning")
    summary, _ = _decode_pieces(fields, "summary", "summary_text")
    texts, taken = _decode_pieces(fields, "content", "reasoning_text")
    signature, item_id = fields.maybe_text("encrypted_content"), fields.maybe_text("id")
    extras = kept(fields)
    if taken and (len(texts) > 1 or not texts[0]):
        # There is room for one text only; the pieces wait in the extras.
        extras = {NAME: {**extras[NAME], "content": _pieces(texts, "reasoning_text")}}
    return Reasoning(
        text=PIECES.join(texts), summary=summary, signature=signature, id=item_id, extras=extras
    )


def _encode_reasoning(part: Reasoning, _ctx: Context) -> Json:
    own = part.extras.get(NAME)
    wire: Json = {"type": "reasoning"}
    if part.id is not None:
        wire["id"] = part.id
    if own is None:
        # Clients show the summary and send it back; they do neither with content.
        pieces = (*part.summary, part.text) if part.text else part.summary
        wire["summary"] = _pieces(pieces, "summary_text")
    else:
        if "summary" not in own:
            wire["summary"] = _pieces(part.summary, "summary_text")
        if part.text and "content" not in own:
            wire["content"] = _pieces((part.text,), "reasoning_text")
    if part.signature is not None:
        wire["encrypted_content"] = part.signature
    return merge(wire, part.extras, NAME)


def _decode_pieces(fields: Fields, key: str, kind: str) -> tuple[tuple[str, ...], bool]:
    """The texts of a list of pieces, and whether that is all there was; if not, the list stays."""
    value = fields.peek(key)
    if not isinstance(value, list) or not value:
        fields.maybe_list(key)
        return (), False
    texts = tuple(
        each["text"] for each in value if isinstance(each, dict) and type(each.get("text")) is str
    )
    if value != _pieces(texts, kind):
        return texts, False
    fields.take(key)
    return texts, True


def _pieces(texts: tuple[str, ...], kind: str) -> list[Json]:
    return [{"type": kind, "text": text} for text in texts]


OUTPUT_ITEMS: Final = {
    "message": "msg_",
    "function_call": "fc_",
    "custom_tool_call": "ctc_",
    "reasoning": "rs_",
}
"""Items that an answer is made of, and how their ids begin."""

_DECODERS: Final[Mapping[str, Callable[[Fields], ToolCall | ToolResult | Reasoning]]] = {
    "function_call": _decode_function_call,
    "custom_tool_call": _decode_custom_call,
    "function_call_output": _decode_result,
    "custom_tool_call_output": _decode_result,
    "reasoning": _decode_reasoning,
}
_ENCODERS: Final[Mapping[type[Any], Callable[[Any, Context], Json]]] = {
    ToolCall: _encode_call,
    ToolResult: _encode_result,
    Reasoning: _encode_reasoning,
}
