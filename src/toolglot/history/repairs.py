"""A history that a provider accepts, out of one that it would refuse."""

from collections.abc import Callable, Iterable, Mapping
from operator import is_
from typing import Final, Literal, TypeAlias, get_args

from msgspec.structs import replace

from toolglot.adapt.calls.pairing import pair_results
from toolglot.adapt.calls.repair import repair_arguments
from toolglot.adapt.reasoning.sealed_state import unseal
from toolglot.context import Context
from toolglot.errors import MissingExtraError
from toolglot.history.findings import (
    CallHistory,
    DecodedRequest,
    Kind,
    Placed,
    Where,
    argument_trouble,
    empty_messages,
    signature_trouble,
)
from toolglot.ir import (
    Json,
    Message,
    Part,
    Reasoning,
    Request,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.surface import Surface
from toolglot.wire import jsontext
from toolglot.wire.call_arguments import INVALID_KEY

Policy: TypeAlias = Literal["placeholder", "text", "drop"]
POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)
"""What becomes of a call without a result and of a result without a call: a placeholder answers the
call and the result becomes text; both become text; or both are left out."""

_ID_ROOM: Final = 56
"""Characters of an id that a new one keeps; some providers take 64 in all."""


def repair(given: DecodedRequest, policy: Policy, kinds: set[Kind]) -> Json:
    """The body with everything put right; `kinds` says what is wrong."""
    ctx = Context(given.ctx.options, source=given.surface, target=given.surface)
    request, about = given.request, {kind.partition("-")[0] for kind in kinds}
    if "arguments" in about:
        request = _each_part(request, given.surface, _with_arguments)
    if "reasoning" in about:
        request = unseal(_each_part(request, given.surface, lambda part: _signed(part, given)), ctx)
    if about & {"call", "result"}:
        request = _paired(request, given, policy, ctx)
    messages = tuple(
        message
        for message in request.messages
        if message.parts or message.extras or message in given.request.messages
    )
    if "message-empty" in kinds:
        nothing = {index for (index, _), _, _ in empty_messages(messages)}
        messages = tuple(each for index, each in enumerate(messages) if index not in nothing)
    return given.codec.encode_request(replace(request, messages=messages), ctx).body


def _each_part(
    request: Request, surface: Surface, change: Callable[[Part], Part | None]
) -> Request:
    """The request with every part of the model's turns changed or left out."""
    messages = []
    for message in request.messages:
        if message.role == "assistant":
            parts = tuple(new for part in message.parts if (new := change(part)) is not None)
            if not _same(parts, message.parts):
                # What was a list stays one, even of a single text.
                listed = surface.name if surface.messages.holds_calls else message.wire_form
                message = replace(message, parts=parts, wire_form=listed)  # noqa: PLW2901
        messages.append(message)
    return replace(request, messages=tuple(messages))


def _with_arguments(part: Part) -> Part:
    if not isinstance(part, ToolCall) or not argument_trouble(part):
        return part
    try:
        repair = repair_arguments(part.arguments, None)
    except MissingExtraError:
        repair = None
    text = repair.arguments if repair else jsontext.text({INVALID_KEY: part.arguments})
    return replace(part, arguments=text)


def _signed(part: Part, given: DecodedRequest) -> Part | None:
    """A part without state that the provider would refuse; None if nothing is left of it."""
    if not isinstance(part, (Reasoning, ToolCall, Text)):
        return part
    wrong = signature_trouble(part, given.surface, given.issuer)
    if wrong is None or wrong[0] == "reasoning-sealed":
        return part
    if isinstance(part, Reasoning):
        bound = wrong[0] == "reasoning-foreign" or given.surface.reasoning.signed
        if bound or not (part.text or part.summary):
            return None
    return replace(part, signature=None)


def _paired(request: Request, given: DecodedRequest, policy: Policy, ctx: Context) -> Request:
    messages = _gathered(_renamed(request.messages))
    if policy != "placeholder":
        messages = _without_loose(messages, policy, continues=given.continues)
    known = _earlier_calls(messages) if given.continues else ()
    # Calls that an earlier answer made stand before everything; the end of the history is a place
    # where an answer may be missing too.
    lead = (Message(role="assistant", parts=known),) if known else ()
    end = Message(role="user", parts=())
    paired = pair_results(replace(request, messages=(*lead, *messages, end)), ctx)
    kept = tuple(each for each in paired.messages[len(lead) :] if each is not end)
    if given.surface.messages.merges_turns:
        kept = _joined(kept, request.messages)
    return replace(request, messages=kept)


def _joined(messages: tuple[Message, ...], before: tuple[Message, ...]) -> tuple[Message, ...]:
    """Results that were put in place join the turn that they belong to."""
    old = {id(message) for message in before}
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined and id(joined[-1]) not in old else None
        if last and last.role == message.role == "user" and _only_results(last):
            joined[-1] = replace(message, parts=(*last.parts, *message.parts), wire_form="")
        else:
            joined.append(message)
    return tuple(joined)


def _only_results(message: Message) -> bool:
    return all(isinstance(part, ToolResult) for part in message.parts)


def _edited(
    messages: tuple[Message, ...], changes: Mapping[Where, Part | None]
) -> tuple[Message, ...]:
    """Messages with the parts at some places replaced, or left out where there is None."""
    edited = list(messages)
    for index in {index for index, _ in changes}:
        message = messages[index]
        places = enumerate(message.parts)
        parts = (changes.get((index, place), part) for place, part in places)
        edited[index] = replace(message, parts=tuple(part for part in parts if part is not None))
    return tuple(edited)


def _renamed(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Every call with an id of its own, and its results with it."""
    history = CallHistory(messages)
    taken = {at.part.id for at in (*history.calls, *history.results)}
    seen: set[str] = set()
    new: dict[Where, Part | None] = {}
    by_turn: dict[tuple[str, int], list[str]] = {}
    for call in history.calls:
        name = call.part.id
        if name in seen:
            name = _fresh(name, taken)
            new[call.where] = replace(call.part, id=name)
        seen.add(call.part.id)
        by_turn.setdefault((call.part.id, call.turn), []).append(name)
    for result in history.results if new else ():
        names = by_turn.get((result.part.id, result.turn))
        if names:
            name = names.pop(0) if len(names) > 1 else names[0]
            new[result.where] = replace(result.part, id=name)
    return _edited(messages, new)


def _fresh(name: str, taken: set[str]) -> str:
    count = 2
    while (made := f"{name[:_ID_ROOM]}_{count}") in taken:
        count += 1
    taken.add(made)
    return made


def _gathered(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Results that stand in another turn than their call, brought into that one."""
    history = CallHistory(messages)
    home = {call.part.id: call.turn for call in history.calls}
    away = [at for at in history.results if home.get(at.part.id, at.turn) != at.turn]
    early = _by_turn((at for at in away if at.turn < home[at.part.id]), home)
    late = _by_turn((at for at in away if at.turn > home[at.part.id]), home)
    edited = _edited(messages, {at.where: None for at in away})
    ends = {turn: index for index, turn in enumerate(history.turns)}
    gathered: list[Message] = []
    for index, (message, turn) in enumerate(zip(edited, history.turns, strict=True)):
        if message.role != "assistant":
            gathered.extend(early.pop(turn, ()))
        if message.parts or message is messages[index]:
            gathered.append(message)
        if ends[turn] == index:
            gathered.extend((*early.pop(turn, ()), *late.pop(turn, ())))
    return tuple(gathered)


def _by_turn(results: Iterable[Placed], home: dict[str, int]) -> dict[int, list[Message]]:
    """Messages of single results, by the turn that they belong to."""
    turns: dict[int, list[Message]] = {}
    for at in results:
        turns.setdefault(home[at.part.id], []).append(Message(role="user", parts=(at.part,)))
    return turns


def _without_loose(
    messages: tuple[Message, ...], policy: Policy, *, continues: bool
) -> tuple[Message, ...]:
    """Calls without results, and results without calls, as text or left out."""
    history = CallHistory(messages)
    called = {call.part.id for call in history.calls}
    answered = {result.part.id for result in history.results}
    loose: dict[Where, Part | None] = {
        call.where: _as_text(call.part) if policy == "text" else None
        for call in history.calls
        if call.part.id not in answered
    }
    if policy == "drop":
        orphans = (result for result in history.results if result.part.id not in called)
        loose |= {each.where: None for each in orphans if not (continues and each.turn == 0)}
    pairs = zip(_edited(messages, loose), messages, strict=True)
    return tuple(new for new, old in pairs if new.parts or not old.parts)


def _as_text(call: ToolCall) -> Text:
    return Text(text=f"[call of {call.name} without a result: {call.arguments}]")


def _earlier_calls(messages: tuple[Message, ...]) -> tuple[ToolCall, ...]:
    """The calls, made in an answer that the provider keeps, that the first results belong to."""
    history = CallHistory(messages)
    called = {call.part.id for call in history.calls}
    return tuple(
        ToolCall(id=at.part.id, name=at.part.name or "", type=at.part.kind)
        for at in history.results
        if at.turn == 0 and at.part.id not in called
    )


def _same(parts: tuple[Part, ...], before: tuple[Part, ...]) -> bool:
    return len(parts) == len(before) and all(map(is_, parts, before))
