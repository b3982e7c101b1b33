"""Converting: rows of one format to rows of another, with a receipt.

    read (source)  →  adapt  →  write (target)

The passes are those of requests, over the surfaces of the two formats; what a format has beside
messages is compared here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from toolglot.adapt import active_passes, restrict_request
from toolglot.adapt.calls.pairing import pair_results
from toolglot.adapt.messages.prompt_cache import adapt_cache_marks
from toolglot.adapt.messages.turn_order import require_messages
from toolglot.adapt.reasoning.sealed_state import SealedState, pack, unpack, unseal
from toolglot.context import Context, Options
from toolglot.convert.format import Format, Rows
from toolglot.convert.read_back import check_written
from toolglot.convert.tool_names import rename_tools
from toolglot.convert.transcript import FACTS, NO_FACTS, TURN_FACTS, RecordedConversation, turn_of
from toolglot.digest import digest
from toolglot.errors import DecodeError
from toolglot.ir import Json, Message, Part, Reasoning, Request, ToolCall
from toolglot.receipt import Note, Receipt, Severity
from toolglot.wire import jsontext

_NOT_FOR_FILES: Final = frozenset({require_messages, adapt_cache_marks})
"""What only a request that is sent needs."""

_LEFT_OUT: Final = {
    (paired, seals): _NOT_FOR_FILES
    | frozenset(() if paired else (pair_results,))
    | frozenset((unseal,) if seals else ())
    for paired in (False, True)
    for seals in (False, True)
}
"""Passes that are left out, by whether calls need results, and sealed state has a place."""

_AS_KEPT: Final = Options(prompt_cache="off")
_STRICT: Final = replace(_AS_KEPT, strict=True)


@dataclass(frozen=True, kw_only=True)
class Converted:
    """What became of one conversation."""

    rows: list[Json]
    receipt: Receipt
    conversation: RecordedConversation
    """As it was read."""


def convert_rows(
    rows: Rows,
    source: Format,
    target: Format,
    *,
    strict: bool = False,
    now: int = 0,
    defaults: Mapping[str, str] = NO_FACTS,
) -> Converted:
    """Rows that are one conversation, in another format, and what that changed.

    `now` is written where a format needs a time that the source does not tell; `defaults` are
    facts of the conversation, by the names in `FACTS`, for those that it does not tell.
    """
    ctx = Context(
        _STRICT if strict else _AS_KEPT,
        source=source.surface,
        target=target.surface,
        seed=lambda: digest(jsontext.encode(list(rows)), 16),
        now=now,
    )
    conversation = _read(rows, source, ctx)
    if defaults:
        conversation = replace(conversation, facts={**defaults, **conversation.facts})
    adapted = adapt_conversation(conversation, source, target, ctx)
    before = len(_losses(ctx)) if target.checked else 0
    written = target.write(adapted, ctx)
    if target.checked:
        check_written(adapted, written, target, ctx, told=len(_losses(ctx)) > before)
    return Converted(rows=written, receipt=ctx.receipt(), conversation=conversation)


def _read(rows: Rows, source: Format, ctx: Context) -> RecordedConversation:
    """A conversation; formats look where they expect something, and rows may have anything."""
    try:
        return source.read(rows, ctx)
    except (AttributeError, KeyError, IndexError, TypeError):
        raise DecodeError("", f"it does not have the shape of {source.name}") from None


def _losses(ctx: Context) -> list[Note]:
    return [note for note in ctx.notes() if note.severity != "info"]


def adapt_conversation(
    conversation: RecordedConversation, source: Format, target: Format, ctx: Context
) -> RecordedConversation:
    """A conversation as the target can write it."""
    request = conversation.request
    ctx.place(request.messages)
    _note_facts(conversation, target, ctx)
    if target.client and source.client and source.client != target.client:
        request = _without_scene(request, target, ctx)
    if source.client != target.client:
        request = rename_tools(request, source.client, target.client, ctx)
    if not ctx.in_protocol:
        request = _carry_reasoning(request, target, ctx)
    request = _adapted(request, target, ctx)
    request = _without(request, source, target, ctx)
    if not target.ids:
        _note_ids(request, ctx)
    sides = conversation.sides if "sides" in target.holds else ()
    return replace(
        conversation,
        request=request,
        facts={key: value for key, value in conversation.facts.items() if key in target.facts},
        metadata=conversation.metadata if "metadata" in target.holds else {},
        sides=tuple(adapt_conversation(each, source, target, ctx) for each in sides),
    )


def _adapted(request: Request, target: Format, ctx: Context) -> Request:
    if ctx.in_protocol:
        return restrict_request(request, ctx)
    left_out = _LEFT_OUT[target.paired, target.seals]
    for adapt in active_passes(*ctx.surfaces):
        if adapt not in left_out:
            request = adapt(request, ctx)
    return request


# --- what stands beside the messages --------------------------------------------------------------


def _note_facts(conversation: RecordedConversation, target: Format, ctx: Context) -> None:
    """Note what is known of a conversation that the target has no place for."""
    for name in FACTS:
        if name in conversation.facts and name not in target.facts:
            ctx.note("field-minor", name, f"{target.name} does not say the {name}")
    known = dict.fromkeys(TURN_FACTS, 0)
    for message in conversation.messages:
        for name in turn_of(message):
            known[name] += 1
    for name, count in known.items():
        if count and name not in target.turn_facts:
            where = f"{ctx.surfaces[0].messages.path}[].{name}"
            ctx.note("field-minor", where, f"{target.name} does not say it of {count} messages")
    if "metadata" not in target.holds:
        for key in conversation.metadata:
            ctx.note("field-dropped", key, f"{target.name} has a fixed set of members")
    if conversation.sides and "sides" not in target.holds:
        count = len(conversation.sides)
        ctx.note("part-dropped", "", f"{target.name} has no place for {count} sub-agents")


def _without(request: Request, source: Format, target: Format, ctx: Context) -> Request:
    """A request without the tools, model and system text that the target has no place for."""
    changes: dict[str, Any] = {}
    if request.tools and "tools" not in target.holds:
        words = f"{target.name} does not list its tools"
        ctx.note("field-dropped", ctx.setting("tools"), words, _severity(source, target))
        changes["tools"] = ()
    if request.model and "model" not in target.holds:
        ctx.note("field-minor", "model", f"{target.name} names no model")
        changes["model"] = ""
    if request.system is not None and "system" not in target.holds:
        words = f"{target.name} has no place for system text"
        ctx.note("field-dropped", ctx.setting("system"), words, _severity(source, target))
        changes["system"] = None
    return replace(request, **changes) if changes else request


def _without_scene(request: Request, target: Format, ctx: Context) -> Request:
    """A session without what its client wrote into it by itself, which another client does, too."""
    kept = tuple(each for each in request.messages if not turn_of(each).get("context"))
    count = len(request.messages) - len(kept)
    if not count:
        return request
    words = f"{count} messages in which the client sets the scene; {target.name} does so itself"
    ctx.note("message-dropped", ctx.surfaces[0].messages.path, words)
    return replace(request, messages=kept)


def _severity(source: Format, target: Format) -> Severity | None:
    """An agent that continues another's session brings its own system text and tools."""
    return "info" if source.client and target.client else None


def _note_ids(request: Request, ctx: Context) -> None:
    calls = [part for part in _parts(request) if isinstance(part, ToolCall) and not part.id_made]
    if calls:
        ctx.note("id-dropped", ctx.surfaces[0].messages.path, f"{len(calls)} calls")


def _parts(request: Request) -> Iterator[Part]:
    for message in request.messages:
        yield from message.parts


# --- reasoning ------------------------------------------------------------------------------------


def _carry_reasoning(request: Request, target: Format, ctx: Context) -> Request:
    """Keep the words of reasoning where the target takes words; its state only where that has a
    place, sealed, or returns to its issuer.
    """
    if not any(isinstance(part, Reasoning) for part in _parts(request)):
        return request
    messages = [_carried(each, target, ctx) for each in request.messages]
    return replace(request, messages=tuple(messages))


def _carried(message: Message, target: Format, ctx: Context) -> Message:
    parts = tuple(_carried_part(part, target, ctx) for part in message.parts)
    return replace(message, parts=tuple(part for part in parts if part is not None))


def _carried_part(part: Part, target: Format, ctx: Context) -> Part | None:
    if not isinstance(part, Reasoning) or not (part.signature or part.redacted or part.summary):
        return part
    source, surface = ctx.surfaces
    words = part.text or "\n\n".join(part.summary)
    sealed = unpack(part.signature)
    if sealed is not None and sealed.issuer == surface.name and not target.seals:
        return part
    if target.seals:
        state = part.signature if sealed else pack(SealedState(source.name, part))
        ctx.note("reasoning-carried", ctx.where(part))
        return Reasoning(text=words, signature=state)
    if not surface.reasoning.takes_unsigned:
        return part
    if part.signature or part.redacted:
        words_kept = "its words are kept, its state is bound to its provider"
        ctx.note("reasoning-dropped", ctx.where(part), words_kept if words else "")
    return Reasoning(text=words) if words else None
