"""What is wrong with the history in a request, in words, and how to put it right.

Providers refuse a history in which a call has no result, a result no call, or reasoning no
signature; the session is then dead until someone edits it. `diagnose` says what they would refuse
and where, `repair_history` mends it. Nothing is deleted without a note, and what is sound stays as
it was.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt.calls.arguments import normalise
from toolglot.adapt.calls.pairing import pair_results
from toolglot.adapt.calls.repair import repair_arguments
from toolglot.adapt.reasoning.sealed_state import TAG, unpack, unseal
from toolglot.context import Context, Options
from toolglot.errors import MissingExtraError
from toolglot.ir import (
    Json,
    Message,
    NamespaceTool,
    Opaque,
    Part,
    ProviderTool,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from toolglot.receipt import CATALOGUE, Note, Receipt
from toolglot.registry import get_protocol
from toolglot.surface import Surface
from toolglot.translate import Body
from toolglot.wire import jsontext
from toolglot.wire.call_arguments import INVALID_KEY
from toolglot.wire.message import WireRequest, read_body

Kind: TypeAlias = Literal[
    "result-orphan",
    "result-duplicate",
    "result-early",
    "result-late",
    "result-order",
    "call-unanswered",
    "call-duplicate",
    "call-unknown",
    "arguments-invalid",
    "reasoning-foreign",
    "reasoning-sealed",
    "reasoning-unsigned",
    "message-empty",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Policy: TypeAlias = Literal["placeholder", "text", "drop"]
POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)
"""What becomes of a call without a result and of a result without a call: a placeholder answers the
call and the result becomes text; both become text; or both are left out."""

_ID_ROOM: Final = 56
"""Characters of an id that a new one keeps; some providers take 64 in all."""


class Finding(Struct, frozen=True):
    """One thing that is wrong: what kind, where in the request, and in words."""

    kind: Kind
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def diagnose(
    body: Body, protocol: str, *, path: str = "", issuer: str | None = None
) -> list[Finding]:
    """What a provider of this protocol would refuse in the history of a request, or wonder at.

    `issuer` is who issues reasoning state there, if it is not simply the protocol.
    """
    return _Patient(body, protocol, path, issuer).findings()


def repair_history(
    body: Body,
    protocol: str,
    *,
    policy: Policy = "placeholder",
    path: str = "",
    issuer: str | None = None,
) -> tuple[Json, Receipt]:
    """The request with a history that a provider accepts, and a note for every repair.

    A request in which nothing is wrong comes back as it is. A call of a tool that is not declared
    is noted and left alone, since providers accept it.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy: expected one of {', '.join(POLICIES)}, got {policy!r}")
    patient = _Patient(body, protocol, path, issuer)
    findings = patient.findings()
    if not findings:
        return patient.body, Receipt()
    notes = tuple(_note(finding, policy) for finding in findings)
    if all(finding.kind == "call-unknown" for finding in findings):
        return patient.body, Receipt(notes)
    return patient.repaired(policy, {finding.kind for finding in findings}), Receipt(notes)


_DONE: Final[dict[Kind, tuple[str, str]]] = {
    "result-orphan": ("result-unmatched", "it became text"),
    "result-duplicate": ("result-unmatched", "the last one counts"),
    "result-early": ("results-reordered", "it was put behind its call"),
    "result-late": ("results-reordered", "it was put directly behind its call"),
    "result-order": ("results-reordered", "they follow the order of their calls now"),
    "call-unanswered": ("call-unanswered", "a result that says so was added"),
    "call-duplicate": ("call-renamed", "it and its result got an id of their own"),
    "call-unknown": ("call-unknown", "it was left as it is"),
    "arguments-invalid": ("arguments-normalised", "they are one JSON object now"),
    "reasoning-foreign": ("reasoning-dropped", "it was taken out"),
    "reasoning-sealed": ("reasoning-restored", "it was opened for its issuer"),
    "reasoning-unsigned": ("reasoning-dropped", "it was taken out"),
    "message-empty": ("message-dropped", "it was taken out"),
}
_BY_POLICY: Final[dict[tuple[Policy, Kind], str]] = {
    ("text", "call-unanswered"): "it became text",
    ("drop", "call-unanswered"): "it was taken out",
    ("drop", "result-orphan"): "it was taken out",
}


def _note(finding: Finding, policy: Policy) -> Note:
    code, usual = _DONE[finding.kind]
    done = _BY_POLICY.get((policy, finding.kind), usual)
    return Note(code, CATALOGUE[code].severity, finding.path, f"{finding.message}; {done}")


class _Patient:
    """A request that was read, to be looked at and to be repaired."""

    def __init__(self, body: Body, protocol: str, path: str, issuer: str | None) -> None:
        self._codec = get_protocol(protocol)
        surface = self._codec.SURFACE
        self._ctx = Context(Options(issuer=issuer), source=surface, target=surface)
        self.body = read_body(body)
        where = path or surface.path.replace("{model}", "any")
        self._request = self._codec.decode_request(
            WireRequest(body=self.body, path=where), self._ctx
        )
        self._surface = surface
        self._issuer = issuer or surface.name
        self._continues = any(self.body.get(key) for key in surface.earlier_keys)

    # --- looking

    def findings(self) -> list[Finding]:
        """Everything that is wrong, in the order of the history."""
        history = _History(self._request.messages)
        found = [
            *_pairing(history, self._surface, continues=self._continues),
            *_arguments(history, self._surface),
            *_reasoning(history, self._surface, self._issuer),
            *_unknown(history, self._request),
            *_empty(self._request.messages),
        ]
        located = [
            (where, Finding(kind, self._path(where, kind), message))
            for where, kind, message in found
        ]
        noted = [
            Finding("arguments-invalid", note.path, "the arguments are not written as an object")
            for note in self._ctx.receipt()
            if note.code == "arguments-normalised"
        ]
        return [finding for _, finding in sorted(located, key=lambda each: each[0])] + noted

    def _path(self, where: tuple[int, int], kind: Kind) -> str:
        message, part = where
        inside = self._surface.parts_in_content and kind != "message-empty"
        return self._ctx.at(message, part if inside else None)

    # --- repairing

    def repaired(self, policy: Policy, kinds: set[Kind]) -> Json:
        """The body with everything put right."""
        ctx = Context(self._ctx.options, source=self._surface, target=self._surface)
        request = self._request
        steps: tuple[tuple[str, Callable[[Request], Request]], ...] = (
            ("arguments", lambda each: self._each_part(each, self._with_arguments)),
            ("reasoning", lambda each: unseal(self._each_part(each, self._signed), ctx)),
            ("call result", lambda each: self._paired(each, policy, ctx)),
        )
        for about, step in steps:
            if any(kind.partition("-")[0] in about for kind in kinds):
                request = step(request)
        messages = tuple(
            message
            for message in request.messages
            if message.parts or message.extras or message in self._request.messages
        )
        if "message-empty" in kinds:
            nothing = {where for where, _, _ in _empty(messages)}
            messages = tuple(m for i, m in enumerate(messages) if (i, 0) not in nothing)
        return self._codec.encode_request(replace(request, messages=messages), ctx).body

    def _each_part(self, request: Request, change: Callable[[Part], Part | None]) -> Request:
        """The request with every part of the model's turns changed or left out."""
        messages = []
        for message in request.messages:
            parts = message.parts
            if message.role == "assistant":
                parts = tuple(new for part in parts if (new := change(part)) is not None)
            if len(parts) == len(message.parts) and all(map(_is, parts, message.parts)):
                messages.append(message)
            else:
                # What was a list stays one, even of a single text.
                listed = self._surface.name if self._surface.parts_in_content else message.spelling
                messages.append(replace(message, parts=parts, spelling=listed))
        return replace(request, messages=tuple(messages))

    def _with_arguments(self, part: Part) -> Part | None:
        if not isinstance(part, ToolCall) or not _what_is_wrong(part):
            return part
        try:
            repair = repair_arguments(part.arguments, None)
        except MissingExtraError:
            repair = None
        text = repair.arguments if repair else jsontext.text({INVALID_KEY: part.arguments})
        return replace(part, arguments=text)

    def _signed(self, part: Part) -> Part | None:
        if not isinstance(part, (Reasoning, ToolCall, Text)):
            return part
        wrong = _signature(part, self._surface, self._issuer)
        if wrong is None or (wrong[0] == "reasoning-sealed"):
            return part
        if not isinstance(part, Reasoning):
            return replace(part, signature=None)
        if wrong[0] == "reasoning-foreign" or self._surface.signs_reasoning:
            return None
        return replace(part, signature=None) if part.text or part.summary else None

    def _paired(self, request: Request, policy: Policy, ctx: Context) -> Request:
        messages = _renamed(request.messages)
        messages = _gathered(messages)
        if policy != "placeholder":
            messages = _without_loose(messages, policy, continues=self._continues)
        known = _earlier_calls(messages) if self._continues else ()
        # Calls that an earlier answer made stand before everything; the end of the history is a
        # place where an answer may be missing too.
        lead = (Message(role="assistant", parts=known),) if known else ()
        end = Message(role="user", parts=())
        paired = pair_results(replace(request, messages=(*lead, *messages, end)), ctx)
        kept = tuple(each for each in paired.messages[len(lead) :] if each is not end)
        return replace(request, messages=self._joined(kept, request.messages))

    def _joined(
        self, messages: tuple[Message, ...], before: tuple[Message, ...]
    ) -> tuple[Message, ...]:
        """Results that were put in place join the turn that they belong to."""
        if not self._surface.merges_turns:
            return messages
        old = {id(message) for message in before}
        joined: list[Message] = []
        for message in messages:
            last = joined[-1] if joined else None
            if (
                last is not None
                and last.role == message.role == "user"
                and id(last) not in old
                and all(isinstance(part, ToolResult) for part in last.parts)
            ):
                joined[-1] = replace(message, parts=(*last.parts, *message.parts), spelling="")
            else:
                joined.append(message)
        return tuple(joined)


def _is(one: object, other: object) -> bool:
    return one is other


# --- what a history holds -------------------------------------------------------------------------

Where: TypeAlias = tuple[int, int]
_Found: TypeAlias = tuple[Where, Kind, str]


class _At(Struct, frozen=True):
    """A call or a result: where it stands, and in which turn."""

    part: Any
    where: Where
    turn: int


class _History:
    """Calls and results with the turns that they stand in.

    A turn is what the assistant says and all that follows until it speaks again.
    """

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self.messages = messages
        self.calls: list[_At] = []
        self.results: list[_At] = []
        self.turns = turns_of(messages)
        for index, message in enumerate(messages):
            for place, part in enumerate(message.parts):
                at = _At(part, (index, place), self.turns[index])
                if isinstance(part, ToolCall) and message.role == "assistant":
                    self.calls.append(at)
                elif isinstance(part, ToolResult):
                    self.results.append(at)

    def parts(self) -> Iterator[tuple[Where, Part]]:
        """All parts of the model's turns."""
        for index, message in enumerate(self.messages):
            if message.role == "assistant":
                for place, part in enumerate(message.parts):
                    yield (index, place), part


def turns_of(messages: Iterable[Message]) -> list[int]:
    """The number of the turn that each message belongs to; 0 before the assistant first speaks."""
    turns: list[int] = []
    turn, speaking = 0, False
    for message in messages:
        if message.role == "assistant" and not speaking:
            turn += 1
        speaking = message.role == "assistant"
        turns.append(turn)
    return turns


# --- findings -------------------------------------------------------------------------------------


def _pairing(history: _History, surface: Surface, *, continues: bool) -> Iterator[_Found]:
    first: dict[str, _At] = {}
    asked: Counter[tuple[str, int]] = Counter()
    for call in history.calls:
        asked[call.part.id, call.turn] += 1
        if call.part.id in first:
            message = f"the call of {call.part.name} has the id {call.part.id} of an earlier call"
            yield call.where, "call-duplicate", message
        else:
            first[call.part.id] = call
    answered: Counter[tuple[str, int]] = Counter()
    misplaced: Counter[str] = Counter()
    for result in history.results:
        key = result.part.id, result.turn
        if asked[key]:
            answered[key] += 1
            yield from _in_turn(result, history, again=answered[key] > asked[key])
        elif result.part.id in first:
            call = first[result.part.id]
            again = bool(misplaced[result.part.id] or answered[result.part.id, call.turn])
            misplaced[result.part.id] += 1
            yield result.where, *_elsewhere(result, call, again=again)
        elif not (continues and result.turn == 0):
            message = f"the result for {_named(result.part)} has no call in the conversation"
            yield result.where, "result-orphan", message
    yield from _unanswered(history, answered, misplaced)
    if surface.results_in_order:
        yield from _order(history)


def _in_turn(result: _At, history: _History, *, again: bool) -> Iterator[_Found]:
    if again:
        yield result.where, "result-duplicate", f"{_named(result.part)} has two results"
    elif _is_behind(result, history):
        message = f"the result for {_named(result.part)} stands behind other content"
        yield result.where, "result-late", message


def _is_behind(result: _At, history: _History) -> bool:
    """Whether something that is no result stands between a result and its calls."""
    index, place = result.where
    parts = list(history.messages[index].parts[:place])
    while index and history.messages[index - 1].role != "assistant":
        index -= 1
        parts += history.messages[index].parts
    return any(not isinstance(part, (ToolResult, Opaque)) for part in parts)


def _elsewhere(result: _At, call: _At, *, again: bool) -> tuple[Kind, str]:
    name = _named(result.part)
    if again:
        return "result-duplicate", f"{name} has two results"
    if result.turn < call.turn:
        return "result-early", f"the result for {name} stands before its call"
    return "result-late", f"the result for {name} stands behind later turns"


def _unanswered(
    history: _History, answered: Counter[tuple[str, int]], misplaced: Counter[str]
) -> Iterator[_Found]:
    left, elsewhere = answered.copy(), set(misplaced)
    for call in history.calls:
        key = call.part.id, call.turn
        if left[key] > 0:
            left[key] -= 1
        elif call.part.id in elsewhere:
            elsewhere.remove(call.part.id)
        elif call.part.kind != "provider":
            message = f"the call of {call.part.name} ({call.part.id}) has no result"
            yield call.where, "call-unanswered", message


def _order(history: _History) -> Iterator[_Found]:
    calls: dict[int, list[str]] = {}
    for call in history.calls:
        calls.setdefault(call.turn, []).append(call.part.id)
    seen: dict[int, list[_At]] = {}
    for result in history.results:
        if result.part.id in calls.get(result.turn, ()):
            seen.setdefault(result.turn, []).append(result)
    for turn, results in seen.items():
        places = [calls[turn].index(result.part.id) for result in results]
        if places != sorted(places):
            message = "the results do not stand in the order of their calls"
            yield results[0].where, "result-order", message


def _named(result: ToolResult) -> str:
    return f"{result.name} ({result.id})" if result.name else result.id


def _arguments(history: _History, surface: Surface) -> Iterator[_Found]:
    if surface.arguments != "text":
        return
    for call in history.calls:
        wrong = _what_is_wrong(call.part)
        if wrong:
            yield (
                call.where,
                "arguments-invalid",
                f"the arguments of {call.part.name} ({call.part.id}) {wrong}",
            )


def _what_is_wrong(call: ToolCall) -> str:
    """What is wrong with the text of arguments; nothing if it is JSON."""
    if call.kind != "function":
        return ""
    if normalise(call, "", Context()) is not call:
        return "are encoded twice" if call.arguments.strip()[:1] == '"' else "are empty"
    try:
        jsontext.peek(call.arguments)
    except ValueError as error:
        return f"are not JSON: {error}"
    return ""


def _reasoning(history: _History, surface: Surface, issuer: str) -> Iterator[_Found]:
    for where, part in history.parts():
        if isinstance(part, (Reasoning, Text, ToolCall)):
            wrong = _signature(part, surface, issuer)
            if wrong is not None:
                yield where, *wrong


def _signature(
    part: Reasoning | Text | ToolCall, surface: Surface, issuer: str
) -> tuple[Kind, str] | None:
    """What is wrong with the state of a part."""
    signature = part.signature
    if signature is None:
        if isinstance(part, Reasoning) and surface.signs_reasoning:
            return "reasoning-unsigned", "reasoning without its signature"
        return None
    if not signature:
        return "reasoning-unsigned", "reasoning with an empty signature"
    if not signature.startswith(TAG):
        return None
    carrier = unpack(signature)
    if carrier is None:
        return "reasoning-foreign", "sealed reasoning that cannot be read any more"
    if carrier.issuer != issuer:
        return "reasoning-foreign", f"reasoning that is bound to {carrier.issuer}"
    return "reasoning-sealed", "reasoning that is still sealed"


def _unknown(history: _History, request: Request) -> Iterator[_Found]:
    if not request.tools:
        return
    names = {*_names(request.tools), *_added(history.messages)}
    for call in history.calls:
        if call.part.kind != "provider" and call.part.name not in names:
            message = f"a call of {call.part.name!r}, which is not among the tools"
            yield call.where, "call-unknown", message


def _names(tools: tuple[Tool, ...]) -> Iterator[str]:
    for tool in tools:
        if isinstance(tool, NamespaceTool):
            yield from _names(tool.tools)
        elif isinstance(tool, ProviderTool):
            yield str(tool.value.get("name", tool.type))
        else:
            yield tool.name


def _added(messages: tuple[Message, ...]) -> Iterator[str]:
    """The names of tools that the history itself declares."""
    for message in messages:
        for part in message.parts:
            declared = part.value.get("tools") if isinstance(part, Opaque) else None
            for tool in declared if isinstance(declared, list) else ():
                if isinstance(tool, dict):
                    yield str(tool.get("name", ""))


def _empty(messages: tuple[Message, ...]) -> Iterator[_Found]:
    for index, message in enumerate(messages):
        last = index == len(messages) - 1 and message.role == "assistant"
        if not (last or message.extras) and all(_says_nothing(part) for part in message.parts):
            yield (index, 0), "message-empty", f"the {message.role} message is empty"


def _says_nothing(part: Part) -> bool:
    return isinstance(part, Text) and not (part.text or part.signature or part.extras)


# --- repairs --------------------------------------------------------------------------------------


def _renamed(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Every call with an id of its own, and its results with it."""
    history = _History(messages)
    taken = {at.part.id for at in (*history.calls, *history.results)}
    seen: set[str] = set()
    new: dict[Where, str] = {}
    by_turn: dict[tuple[str, int], list[str]] = {}
    for call in history.calls:
        name = call.part.id
        if name in seen:
            name = new[call.where] = _fresh(call.part.id, taken)
        seen.add(call.part.id)
        by_turn.setdefault((call.part.id, call.turn), []).append(name)
    if not new:
        return messages
    for result in history.results:
        names = by_turn.get((result.part.id, result.turn))
        if names:
            new[result.where] = names.pop(0) if len(names) > 1 else names[0]
    renamed = list(messages)
    for index in {index for index, _ in new}:
        parts = enumerate(messages[index].parts)
        named = tuple(_with_id(part, new.get((index, place))) for place, part in parts)
        renamed[index] = replace(messages[index], parts=named)
    return tuple(renamed)


def _with_id(part: Part, name: str | None) -> Part:
    if name is None or not isinstance(part, (ToolCall, ToolResult)) or part.id == name:
        return part
    return replace(part, id=name)


def _fresh(name: str, taken: set[str]) -> str:
    count = 2
    while (made := f"{name[:_ID_ROOM]}_{count}") in taken:
        count += 1
    taken.add(made)
    return made


def _gathered(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Results that stand in another turn than their call, brought into that one."""
    history = _History(messages)
    home = {call.part.id: call.turn for call in history.calls}
    away = [at for at in history.results if home.get(at.part.id, at.turn) != at.turn]
    if not away:
        return messages
    early = _by_turn((at for at in away if at.turn < home[at.part.id]), home)
    late = _by_turn((at for at in away if at.turn > home[at.part.id]), home)
    gone = {at.where for at in away}
    gathered: list[Message] = []
    ends = {turn: index for index, turn in enumerate(history.turns)}
    for index, message in enumerate(messages):
        turn = history.turns[index]
        if message.role != "assistant":
            gathered.extend(early.pop(turn, ()))
        parts = tuple(part for j, part in enumerate(message.parts) if (index, j) not in gone)
        if len(parts) == len(message.parts):
            gathered.append(message)
        elif parts:
            gathered.append(replace(message, parts=parts))
        if ends[turn] == index:
            gathered.extend((*early.pop(turn, ()), *late.pop(turn, ())))
    return tuple(gathered)


def _by_turn(results: Iterable[_At], home: dict[str, int]) -> dict[int, list[Message]]:
    """Messages of single results, by the turn that they belong to."""
    turns: dict[int, list[Message]] = {}
    for at in results:
        turns.setdefault(home[at.part.id], []).append(Message(role="user", parts=(at.part,)))
    return turns


def _without_loose(
    messages: tuple[Message, ...], policy: Policy, *, continues: bool
) -> tuple[Message, ...]:
    """Calls without results, and results without calls, as text or left out."""
    history = _History(messages)
    called = {call.part.id for call in history.calls}
    answered = {result.part.id for result in history.results}
    loose = {
        call.where
        for call in history.calls
        if call.part.id not in answered and call.part.kind != "provider"
    }
    if policy == "drop":
        loose |= {
            result.where
            for result in history.results
            if result.part.id not in called and not (continues and result.turn == 0)
        }
    kept = []
    for index, message in enumerate(messages):
        parts: list[Part] = []
        for place, part in enumerate(message.parts):
            if (index, place) not in loose:
                parts.append(part)
            elif policy == "text" and isinstance(part, ToolCall):
                parts.append(Text(text=f"[call of {part.name} without a result: {part.arguments}]"))
        if parts or not message.parts:
            same = len(parts) == len(message.parts) and all(map(_is, parts, message.parts))
            kept.append(message if same else replace(message, parts=tuple(parts)))
    return tuple(kept)


def _earlier_calls(messages: tuple[Message, ...]) -> tuple[ToolCall, ...]:
    """The calls, made in an answer that the provider keeps, that the first results belong to."""
    history = _History(messages)
    called = {call.part.id for call in history.calls}
    return tuple(
        ToolCall(id=at.part.id, name=at.part.name or "", type=at.part.kind)
        for at in history.results
        if at.turn == 0 and at.part.id not in called
    )
