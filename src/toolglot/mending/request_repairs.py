"""Repairs of a history after a refusal that no fact explains: they hold for one request alone."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt.messages.prompt_cache import adapt_cache_marks
from toolglot.context import Context
from toolglot.history import repair_history
from toolglot.history.findings import DecodedRequest, decode_body
from toolglot.ir import Json, Message, Opaque, Part, Reasoning, Request, Text, ToolCall, ToolResult
from toolglot.receipt import Note
from toolglot.wire.json_values import is_text

_Change = Callable[[Request, Context, DecodedRequest], Request]


class HistoryRepair(Struct, frozen=True, kw_only=True):
    """One way to repair a history."""

    does: str
    """What it does, in words."""

    change: _Change | None = None
    """What it makes of a request; None: what `repair_history` does."""


def repair_body(
    body: Json, protocol: str, names: Iterable[str], *, path: str = "", issuer: str | None = None
) -> tuple[Json, tuple[Note, ...]]:
    """The body of a request with some repairs made, and a note for each change."""
    notes: list[Note] = []
    for name in names:
        change = REPAIRS[name].change
        if change is None:
            body, receipt = repair_history(body, protocol, path=path, issuer=issuer)
            notes += (note for note in receipt if note.code != "call-unknown")
            continue
        given = decode_body(body, protocol, path, issuer)
        ctx = Context(given.ctx.options, source=given.surface, target=given.surface)
        changed = change(given.request, ctx, given)
        if changed is not given.request:
            body = given.codec.encode_request(changed, ctx).body
            notes += ctx.notes()
    return body, tuple(notes)


def _drop_blank_texts(request: Request, ctx: Context, _given: DecodedRequest) -> Request:
    kept: list[Message] = []
    for index, message in enumerate(request.messages):
        parts = tuple(part for part in message.parts if not _is_blank(part))
        if len(parts) < len(message.parts):
            ctx.note("message-dropped" if not parts else "part-dropped", ctx.at(index), _BLANK)
        elif not parts:
            ctx.note("message-dropped", ctx.at(index))
        if parts:
            kept.append(
                message if len(parts) == len(message.parts) else replace(message, parts=parts)
            )
    return replace(request, messages=tuple(kept)) if _differ(kept, request) else request


_BLANK: Final = "the text is blank, which the provider refuses"


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip() and not part.signature


def _drop_reasoning(request: Request, ctx: Context, _given: DecodedRequest) -> Request:
    """The history without what was thought, and without the signatures of its parts."""
    kept: list[Message] = []
    for index, message in enumerate(request.messages):
        parts = tuple(_unsigned(part) for part in message.parts if not isinstance(part, Reasoning))
        same = len(parts) == len(message.parts) and all(
            new is old for new, old in zip(parts, message.parts, strict=True)
        )
        if not same:
            ctx.note("reasoning-dropped", ctx.at(index), "the provider does not take it back")
        if parts or not message.parts:
            kept.append(message if same else replace(message, parts=parts))
    return replace(request, messages=tuple(kept)) if _differ(kept, request) else request


def _unsigned(part: Part) -> Part:
    if isinstance(part, (Text, ToolCall)) and part.signature is not None:
        return replace(part, signature=None)
    return part


def _sign_calls(request: Request, ctx: Context, given: DecodedRequest) -> Request:
    """The word that stands for the signature of a call that another model made."""
    words = sorted(given.surface.reasoning.empty_states)
    if not words:
        return request
    kept: list[Message] = []
    for index, message in enumerate(request.messages):
        calls = [place for place, part in enumerate(message.parts) if isinstance(part, ToolCall)]
        signed = any(is_text(getattr(part, "signature", None)) for part in message.parts)
        if not calls or signed:
            kept.append(message)
            continue
        parts = list(message.parts)
        parts[calls[0]] = replace(parts[calls[0]], signature=words[0])
        ctx.note("default-added", ctx.at(index, calls[0]), "the call has no signature: marked so")
        kept.append(replace(message, parts=tuple(parts)))
    return replace(request, messages=tuple(kept)) if _differ(kept, request) else request


def _add_empty_reasoning(request: Request, ctx: Context, _given: DecodedRequest) -> Request:
    """Reasoning of no words before calls whose reasoning the client did not keep."""
    kept: list[Message] = []
    for index, message in enumerate(request.messages):
        thought = any(isinstance(part, Reasoning) for part in message.parts)
        if message.role != "assistant" or thought:
            kept.append(message)
            continue
        ctx.note("default-added", ctx.at(index), "what was thought is not known: it is left blank")
        kept.append(replace(message, parts=(Reasoning(text=_UNKNOWN), *message.parts)))
    return replace(request, messages=tuple(kept)) if _differ(kept, request) else request


_UNKNOWN: Final = " "
"""Servers that ask for reasoning take a blank, and some of them nothing shorter."""


def _limit_cache_marks(request: Request, ctx: Context, _given: DecodedRequest) -> Request:
    return adapt_cache_marks(request, ctx)


def _drop_prefill(request: Request, ctx: Context, _given: DecodedRequest) -> Request:
    """The history without the beginning of an answer at its end."""
    messages = request.messages
    if len(messages) < _TWO or messages[-1].role != "assistant":
        return request
    if any(isinstance(part, (ToolCall, ToolResult, Opaque)) for part in messages[-1].parts):
        return request
    words = "the provider does not go on with a text that was begun; it begins anew"
    ctx.note("prefill-changed", ctx.at(len(messages) - 1), words)
    return replace(request, messages=messages[:-1])


def _trim_prefill(request: Request, ctx: Context, _given: DecodedRequest) -> Request:
    """The beginning of an answer without the white space at its end."""
    last = request.messages[-1] if request.messages else None
    text = last.parts[-1] if last is not None and last.parts else None
    if last is None or last.role != "assistant" or not isinstance(text, Text):
        return request
    trimmed = text.text.rstrip()
    if not trimmed or trimmed == text.text:
        return request
    index, place = len(request.messages) - 1, len(last.parts) - 1
    words = "white space at its end is not accepted"
    ctx.note("prefill-changed", ctx.at(index, place), words, "info")
    parts = (*last.parts[:-1], replace(text, text=trimmed))
    return replace(request, messages=(*request.messages[:-1], replace(last, parts=parts)))


_TWO: Final = 2


def _differ(kept: list[Message], request: Request) -> bool:
    messages = request.messages
    return len(kept) != len(messages) or any(
        new is not old for new, old in zip(kept, messages, strict=True)
    )


REPAIRS: Final[Mapping[str, HistoryRepair]] = {
    "history": HistoryRepair(does="calls and results were paired, arguments made JSON"),
    "blank-text": HistoryRepair(does="blank texts were left out", change=_drop_blank_texts),
    "reasoning": HistoryRepair(
        does="reasoning and signatures were left out of the history", change=_drop_reasoning
    ),
    "signatures": HistoryRepair(
        does="calls without a signature were marked as another model's", change=_sign_calls
    ),
    "empty-reasoning": HistoryRepair(
        does="messages without reasoning got an empty one", change=_add_empty_reasoning
    ),
    "cache-marks": HistoryRepair(
        does="there are fewer marks for the prompt cache", change=_limit_cache_marks
    ),
    "prefill-space": HistoryRepair(
        does="white space was cut from the beginning of the answer", change=_trim_prefill
    ),
    "prefill": HistoryRepair(does="the beginning of the answer was left out", change=_drop_prefill),
}
