"""What a provider would refuse in the history of a request, or wonder at."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec import Struct

from toolglot.adapt.calls.arguments import normalise
from toolglot.adapt.reasoning.sealed_state import TAG, unpack
from toolglot.context import Context, Options
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
from toolglot.registry import ProtocolModule, get_protocol
from toolglot.surface import Surface
from toolglot.translate import Body
from toolglot.wire import jsontext
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


class Finding(Struct, frozen=True):
    """One thing that is wrong: what kind, where in the request, and in words."""

    kind: Kind
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class DecodedRequest(Struct, frozen=True, kw_only=True):
    """A decoded request: to be checked, and to be repaired."""

    codec: ProtocolModule
    ctx: Context
    body: Json
    request: Request
    surface: Surface
    issuer: str
    continues: bool
    """Whether it goes on from an answer that the provider keeps."""


def decode_body(body: Body, protocol: str, path: str, issuer: str | None) -> DecodedRequest:
    """A request in this protocol, decoded."""
    codec = get_protocol(protocol)
    surface = codec.SURFACE
    ctx = Context(Options(issuer=issuer), source=surface, target=surface)
    value = read_body(body)
    wire = WireRequest(body=value, path=path or surface.path.replace("{model}", "any"))
    return DecodedRequest(
        codec=codec,
        ctx=ctx,
        body=value,
        request=codec.decode_request(wire, ctx),
        surface=surface,
        issuer=issuer or surface.name,
        continues=any(value.get(key) for key in surface.earlier_keys),
    )


def find(given: DecodedRequest) -> list[Finding]:
    """Everything that is wrong, in the order of the history."""
    history = CallHistory(given.request.messages)
    found = [
        *_pairing(history, given.surface, continues=given.continues),
        *_arguments(history, given.surface),
        *_reasoning(history, given.surface, given.issuer),
        *_unknown(history, given.request),
        *empty_messages(history.messages),
    ]
    located = [
        Finding(kind, _path(given, where, kind), message)
        for where, kind, message in sorted(found, key=lambda each: each[0])
    ]
    noted = [
        Finding("arguments-invalid", note.path, "the arguments are not written as an object")
        for note in given.ctx.receipt()
        if note.code == "arguments-normalised"
    ]
    return located + noted


def _path(given: DecodedRequest, where: "Where", kind: Kind) -> str:
    message, part = where
    inside = given.surface.messages.holds_calls and kind != "message-empty"
    return given.ctx.at(message, part if inside else None)


# --- what a history holds -------------------------------------------------------------------------

Where: TypeAlias = tuple[int, int]
_Trouble: TypeAlias = tuple[Where, Kind, str]


class Placed(Struct, frozen=True):
    """A call or a result, with its place and its turn."""

    part: Any
    where: Where
    turn: int


class CallHistory:
    """Calls and results with their turns.

    A turn is what the assistant says and all that follows until it speaks again.
    """

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self.messages = messages
        self.calls: list[Placed] = []
        self.results: list[Placed] = []
        self.turns = turns_of(messages)
        for index, message in enumerate(messages):
            for place, part in enumerate(message.parts):
                at = Placed(part, (index, place), self.turns[index])
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


def _pairing(history: CallHistory, surface: Surface, *, continues: bool) -> Iterator[_Trouble]:
    first: dict[str, Placed] = {}
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
    if surface.calls.results_in_order:
        yield from _order(history)


def _in_turn(result: Placed, history: CallHistory, *, again: bool) -> Iterator[_Trouble]:
    if again:
        yield result.where, "result-duplicate", f"{_named(result.part)} has two results"
    elif _is_behind(result, history):
        message = f"the result for {_named(result.part)} comes after other content"
        yield result.where, "result-late", message


def _is_behind(result: Placed, history: CallHistory) -> bool:
    """Whether something else comes between a result and its calls."""
    index, place = result.where
    parts = list(history.messages[index].parts[:place])
    while index and history.messages[index - 1].role != "assistant":
        index -= 1
        parts += history.messages[index].parts
    return any(not isinstance(part, (ToolResult, Opaque)) for part in parts)


def _elsewhere(result: Placed, call: Placed, *, again: bool) -> tuple[Kind, str]:
    name = _named(result.part)
    if again:
        return "result-duplicate", f"{name} has two results"
    if result.turn < call.turn:
        return "result-early", f"the result for {name} comes before its call"
    return "result-late", f"the result for {name} comes after later turns"


def _unanswered(
    history: CallHistory, answered: Counter[tuple[str, int]], misplaced: Counter[str]
) -> Iterator[_Trouble]:
    left, elsewhere = answered.copy(), set(misplaced)
    for call in history.calls:
        key = call.part.id, call.turn
        if left[key] > 0:
            left[key] -= 1
        elif call.part.id in elsewhere:
            elsewhere.remove(call.part.id)
        else:
            message = f"the call of {call.part.name} ({call.part.id}) has no result"
            yield call.where, "call-unanswered", message


def _order(history: CallHistory) -> Iterator[_Trouble]:
    calls: dict[int, list[str]] = {}
    for call in history.calls:
        calls.setdefault(call.turn, []).append(call.part.id)
    seen: dict[int, list[Placed]] = {}
    for result in history.results:
        if result.part.id in calls.get(result.turn, ()):
            seen.setdefault(result.turn, []).append(result)
    for turn, results in seen.items():
        places = [calls[turn].index(result.part.id) for result in results]
        if places != sorted(places):
            message = "the results are not in the order of their calls"
            yield results[0].where, "result-order", message


def _named(result: ToolResult) -> str:
    return f"{result.name} ({result.id})" if result.name else result.id


def _arguments(history: CallHistory, surface: Surface) -> Iterator[_Trouble]:
    if surface.calls.arguments != "text":
        return
    for call in history.calls:
        wrong = argument_trouble(call.part)
        if wrong:
            message = f"the arguments of {call.part.name} ({call.part.id}) {wrong}"
            yield call.where, "arguments-invalid", message


def argument_trouble(call: ToolCall) -> str:
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


def _reasoning(history: CallHistory, surface: Surface, issuer: str) -> Iterator[_Trouble]:
    for where, part in history.parts():
        if isinstance(part, (Reasoning, Text, ToolCall)):
            wrong = signature_trouble(part, surface, issuer)
            if wrong is not None:
                yield where, *wrong


def signature_trouble(
    part: Reasoning | Text | ToolCall, surface: Surface, issuer: str
) -> tuple[Kind, str] | None:
    """What is wrong with the state of a part."""
    signature = part.signature
    if signature is None:
        if isinstance(part, Reasoning) and surface.reasoning.signed:
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


def _unknown(history: CallHistory, request: Request) -> Iterator[_Trouble]:
    if not request.tools:
        return
    names = {*_names(request.tools), *_added(history.messages)}
    for call in history.calls:
        if call.part.name not in names:
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


def empty_messages(messages: tuple[Message, ...]) -> Iterator[_Trouble]:
    """Messages that say nothing; the last one of the model may be there to be continued."""
    for index, message in enumerate(messages):
        last = index == len(messages) - 1 and message.role == "assistant"
        if not (last or message.extras) and all(_says_nothing(part) for part in message.parts):
            yield (index, 0), "message-empty", f"the {message.role} message is empty"


def _says_nothing(part: Part) -> bool:
    return isinstance(part, Text) and not (part.text or part.signature or part.extras)
