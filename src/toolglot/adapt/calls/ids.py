"""Ids of calls: left alone, unless the target forbids them or prefixes are asked for.

An id ties a call to its result and means nothing else, so a foreign one is as good as any. Where a
target takes only certain ids, others get an alias, the same for the call and its result. Answers
have new ids, made by the provider; should one repeat an alias, the client gets its own id back.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Final, TypeAlias

from msgspec.structs import replace

from toolglot.adapt.aliases import DIGEST, FREE, Aliases, all_fit
from toolglot.context import Context, Options
from toolglot.events import Direct, Event, PartStarted
from toolglot.ir import Message, Request, ToolCall, ToolResult
from toolglot.surface import ID_RULES, IdentifierRule

PREFIXES: Final = ("toolu_", "tooluse_", "call_", "fc_")
"""How ids of the protocols begin."""


def with_prefix(call_id: str, prefix: str) -> str:
    """An id that begins as asked instead of as in another protocol; an empty one stays empty."""
    if not call_id or call_id.startswith(prefix):
        return call_id
    known = next((each for each in PREFIXES if call_id.startswith(each)), "")
    return prefix + call_id.removeprefix(known)


# --- requests ------------------------------------------------------------------------------------


def alias_ids(request: Request, ctx: Context) -> Request:
    """Give every call and its result an id that the target takes."""
    rule, prefix = _rule(ctx), _prefix(ctx)
    if prefix is None and (rule is None or all_fit(call_ids(request.messages), rule)):
        return request
    aliases = Aliases(rule or FREE)

    def respell(call_id: str) -> str:
        return aliases.of(call_id, None if prefix is None else with_prefix(call_id, prefix))

    messages = tuple(
        _respelled(message, index, respell, ctx) for index, message in enumerate(request.messages)
    )
    return replace(request, messages=messages)


def chooses_ids(options: Options) -> bool:
    """Whether ids are to change even where the protocol stays the same."""
    return options.id_rule is not None or options.id_max is not None or options.ids == "prefix"


def _rule(ctx: Context) -> IdentifierRule | None:
    """The ids that the provider takes: what is said of it, else what its protocol says."""
    source, target = ctx.surfaces
    options = ctx.options
    own = target.calls.id_rule
    rule = None if ctx.in_protocol and own == source.calls.id_rule else own
    if options.id_rule is not None:
        if options.id_rule not in ID_RULES:
            raise ValueError(f"id_rule: {options.id_rule!r} is none of {', '.join(ID_RULES)}")
        rule = ID_RULES[options.id_rule]
    if options.id_max is not None:
        if options.id_max < DIGEST:
            raise ValueError(f"id_max: {options.id_max} is too short to tell calls apart")
        rule = rule or IdentifierRule()
        rule = replace(rule, most=min(options.id_max, rule.most or options.id_max))
    return rule


def _prefix(ctx: Context) -> str | None:
    _, target = ctx.surfaces
    return target.calls.id_prefix if ctx.options.ids == "prefix" else None


def _respelled(
    message: Message, index: int, respell: Callable[[str], str], ctx: Context
) -> Message:
    parts = list(message.parts)
    for place, part in enumerate(parts):
        if isinstance(part, (ToolCall, ToolResult)):
            alias = respell(part.id)
            # One that stays is known too: see `_answering`.
            ctx.undo.id(alias, part.id)
            if alias != part.id:
                ctx.note("id-aliased", ctx.at(index), f"{part.id} became {alias}")
                parts[place] = replace(part, id=alias)
    same = all(map(is_, parts, message.parts))
    return message if same else replace(message, parts=tuple(parts))


# --- answers -------------------------------------------------------------------------------------

_Respell: TypeAlias = Callable[[ToolCall, str], ToolCall]


class PrefixIds:
    """Gives the calls of an answer ids that begin as the client's do."""

    __slots__ = ("_ctx", "_respell")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._respell = _answering(ctx)

    def feed(self, event: Event) -> Sequence[Event]:
        if isinstance(event, PartStarted) and isinstance(event.part, ToolCall):
            path = self._ctx.part_at(event.index)
            return (replace(event, part=self._respell(event.part, path)),)
        return (event,)

    def direct(self, index: int) -> Direct | None:
        """No text changes."""
        return index, None


def _answering(ctx: Context) -> _Respell:
    """What gives calls of an answer their ids, except those that the request knows: see `Undo`."""
    prefix = _prefix(ctx) or ""
    history = ctx.request.messages if ctx.request is not None else ()
    aliases = Aliases(FREE, taken=call_ids(history))
    known = ctx.undo.ids

    def respell(call: ToolCall, path: str) -> ToolCall:
        if call.id in known:
            return call
        alias = aliases.of(call.id, with_prefix(call.id, prefix))
        if alias == call.id:
            return call
        ctx.note("id-aliased", path, f"{call.id} became {alias}")
        return replace(call, id=alias)

    return respell


def call_ids(messages: Iterable[Message]) -> set[str]:
    """The ids of all calls and results of a history."""
    return {
        part.id
        for message in messages
        for part in message.parts
        if isinstance(part, (ToolCall, ToolResult))
    }
