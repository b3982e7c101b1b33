"""Messages of Ollama, both ways: one text, with images, thinking and calls beside it."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from toolglot.context import Context
from toolglot.ir import (
    Image,
    Inline,
    Json,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.protocols.ollama.surface import NAME
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import (
    arguments_object,
    cannot_carry,
    mark_error,
    take_arguments,
    unmark_error,
)

_IMAGES: Final = (
    ("iVBOR", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
)
"""How the base64 text of an image begins, and its type."""

_DETAIL: Final = {"type": "reasoning.encrypted", "format": "toolglot-v1"}
"""Marks an entry of `reasoning_details` that carries another provider's reasoning state."""

# --- everything beside the role -------------------------------------------------------------------


def decode_parts(fields: Fields, new_id: Callable[[], str]) -> tuple[tuple[Part, ...], str]:
    """The parts of a message, and its wire form: this protocol's name where it has no content."""
    parts: list[Part] = []
    thinking = filled(fields, "thinking")
    if thinking is not None:
        parts.append(Reasoning(text=thinking))
    parts.extend(decode_details(fields, 0))
    content = fields.maybe_text("content")
    if content:
        parts.append(Text(text=content))
    parts.extend(decode_images(fields))
    parts.extend(decode_call(each, new_id) for each in fields.each("tool_calls"))
    return tuple(parts), NAME if content is None else ""


def encode_parts(
    parts: tuple[Part, ...],
    wire_form: str,
    ctx: Context,
    where: Callable[[], str],
    *,
    answer: bool = False,
) -> Json:
    """The reverse, without the role; an answer tells the ids of its calls.

    `where` gives the source path of what has the parts, if a note needs it.
    """
    wire: Json = {}
    texts = [part.text for part in parts if isinstance(part, (Text, Refusal))]
    if texts or wire_form != NAME:
        wire["content"] = _join(texts, "" if answer else "\n", ctx, where)
    thoughts = [
        text
        for part in parts
        if isinstance(part, Reasoning) and (text := reasoning_text(part)) and not part.redacted
    ]
    if thoughts:
        wire["thinking"] = _join(thoughts, "\n\n", ctx, where)
    _encode_images(wire, parts, ctx)
    calls = [encode_call(part, ctx, answer=answer) for part in parts if isinstance(part, ToolCall)]
    if calls:
        wire["tool_calls"] = calls
    _encode_details(wire, parts)
    for part in parts:
        if isinstance(part, Text) and part.citations:
            ctx.note("citation-dropped", where())
        elif not isinstance(part, (Text, Refusal, Reasoning, Image, ToolCall)):
            cannot_carry(part, ctx)
    return wire


def _join(texts: list[str], separator: str, ctx: Context, where: Callable[[], str]) -> str:
    if len(texts) > 1:
        ctx.note("text-joined", where())
    return separator.join(texts)


def filled(fields: Fields, key: str) -> str | None:
    """A string that says something; an empty one stays among the rest."""
    return fields.maybe_text(key) if fields.peek(key) != "" else None


# --- images ---------------------------------------------------------------------------------------


def decode_images(fields: Fields) -> Iterator[Image]:
    """Pictures beside the text."""
    for data in fields.maybe_texts("images") or ():
        kind = next((kind for start, kind in _IMAGES if data.startswith(start)), "image/png")
        yield Image(source=Inline(media_type=kind, data=data))


def _encode_images(wire: Json, parts: tuple[Part, ...], ctx: Context) -> None:
    images = [
        data for part in parts if isinstance(part, Image) and (data := encode_image(part, ctx))
    ]
    if images:
        wire["images"] = images


def encode_image(part: Image, ctx: Context) -> str | None:
    """One picture as base64; None, with a note, for one that is elsewhere."""
    if isinstance(part.source, Inline):
        return part.source.data
    cannot_carry(part, ctx)
    return None


# --- reasoning ------------------------------------------------------------------------------------


def decode_details(fields: Fields, first: int) -> list[Reasoning]:
    """Reasoning state that was carried here; anything else under that key stays where it is."""
    entries = fields.peek("reasoning_details")
    if not isinstance(entries, list):
        return []
    found = [
        Reasoning(redacted=True, signature=entry["data"])
        for number, entry in enumerate(entries, first)
        if isinstance(entry, dict)
        and isinstance(entry.get("data"), str)
        and entry == encode_detail(entry["data"], number)
    ]
    if len(found) != len(entries):
        return []
    if found:
        fields.take("reasoning_details")
    return found


def _encode_details(wire: Json, parts: tuple[Part, ...]) -> None:
    states = [
        part.signature
        for part in parts
        if isinstance(part, Reasoning) and part.signature is not None
    ]
    if states:
        wire["reasoning_details"] = [encode_detail(state, n) for n, state in enumerate(states)]


def encode_detail(state: str, number: int) -> Json:
    """One carried state: the wire has no place of its own for it."""
    return {**_DETAIL, "data": state, "index": number}


def reasoning_text(part: Reasoning) -> str:
    """What can be read of some reasoning."""
    return part.text or "\n\n".join(part.summary)


# --- calls and results ----------------------------------------------------------------------------


def decode_call(fields: Fields, new_id: Callable[[], str]) -> ToolCall:
    """One call; a missing id is made."""
    call_id = filled(fields, "id")
    function = fields.fields("function")
    name, arguments = function.text("name"), _decode_arguments(function)
    fields.absorb(function)
    return ToolCall(
        id=call_id or new_id(),
        name=name,
        arguments=arguments,
        id_made=not call_id,
        extras=fields.rest(),
    )


def encode_call(part: ToolCall, ctx: Context, *, answer: bool = False) -> Json:
    """One call. Its id is sent to clients; servers get only ids that came from here."""
    known = not part.id_made and (answer or not ctx.foreign(NAME))
    wire: Json = {"id": part.id} if known else {}
    wire["function"] = {"name": part.name, "arguments": arguments_object(part, ctx)}
    return merge(wire, part.extras, NAME)


def _decode_arguments(function: Fields) -> str:
    given = take_arguments(function, "arguments")
    if given is None:
        function.note("arguments-normalised", "arguments")
        if "arguments" in function:
            function.constant("arguments", None)
    return given or "{}"


def decode_result(fields: Fields, pair: Callable[[str | None, str | None], str]) -> ToolResult:
    """What a tool answered; `pair` finds the call by its id, or by the tool's name and order."""
    given, name = filled(fields, "tool_call_id"), fields.maybe_text("tool_name")
    paired = pair(given, name)
    content = fields.maybe_text("content")
    text, failed = unmark_error(content or "")
    parts = (*((Text(text=text),) if text else ()), *decode_images(fields))
    extras = fields.rest()
    if given and paired != given:
        fields.note("result-paired", "tool_call_id")
        extras = {NAME: {**extras.get(NAME, {}), "tool_call_id": given}}
    return ToolResult(
        id=paired,
        name=name,
        parts=parts,
        is_error=True if failed else None,
        id_made=paired != given,
        wire_form=NAME if content is None else "",
        extras=extras,
    )


def encode_result(part: ToolResult, ctx: Context) -> Json:
    """The message of one answer; it names the tool, and the call only if that came from here."""
    where = partial(ctx.where, part)
    wire: Json = {"role": "tool", **encode_parts(part.parts, part.wire_form, ctx, where)}
    if part.is_error:
        wire["content"] = mark_error(wire.get("content", ""))
        if ctx.foreign(NAME):
            ctx.note("error-marked", ctx.where(part))
    if part.name is not None:
        wire["tool_name"] = part.name
    if not part.id_made and not ctx.foreign(NAME):
        wire["tool_call_id"] = part.id
    return merge(wire, part.extras, NAME)
