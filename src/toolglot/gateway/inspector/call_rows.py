"""The ledger of tool calls: a row for each call of a conversation, with its result and verdict."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.gateway.inspector.exchange_facts import CallFacts, ResultFacts
from toolglot.gateway.inspector.grouping import InspectedConversation, InspectedTurn
from toolglot.ir import Json, ToolCall
from toolglot.receipt import CATALOGUE, Note
from toolglot.verdicts import Verdict, gravest, repeated, still_open, unanswered
from toolglot.wire import jsontext

_ARGUMENTS: Final = 20_000
"""Characters of arguments that a row has; the bodies have all."""
_IN_A_ROW: Final = 2
"""As often must a call be made again to be called repeated."""


class CallRow(Struct, frozen=True, kw_only=True):
    """One call, from the model to the client and back."""

    turn: InspectedTurn
    place: int
    """Its number in the answer."""
    facts: CallFacts
    result: ResultFacts | None = None
    back_after: float | None = None
    """Seconds until its result came back."""
    verdicts: tuple[Verdict, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The one that counts."""
        return gravest(self.verdicts)


def call_rows(conversation: InspectedConversation) -> list[CallRow]:
    """All calls of a conversation, in their order."""
    rows: list[CallRow] = []
    before, times = None, 0
    for at, turn in enumerate(conversation.turns):
        used: set[int] = set()
        for place, facts in enumerate(turn.facts.answer.calls):
            same = _meaning(facts.call)
            times = times + 1 if same == before else 1
            before = same
            row = CallRow(turn=turn, place=place, facts=facts, verdicts=facts.verdicts)
            row = _answered(row, conversation.turns[at + 1 :], used)
            if times >= _IN_A_ROW:
                row = replace(row, verdicts=(*row.verdicts, repeated(times)))
            rows.append(row)
    return rows


def _meaning(call: ToolCall) -> tuple[str, object]:
    """The same for calls that mean the same."""
    try:
        return call.name, jsontext.encode(jsontext.peek(call.arguments))
    except (ValueError, RecursionError):
        return call.name, call.arguments


def _answered(row: CallRow, later: list[InspectedTurn], used: set[int]) -> CallRow:
    """A row with its result, or with what is to be said of there being none."""
    call = row.facts.given
    if call is None:
        return row
    for turn in later:
        result = _result_of(call, turn, used)
        if result is not None:
            ended = row.turn.exchange.started + row.turn.exchange.duration
            back = max(0.0, turn.exchange.started - ended)
            return replace(row, result=result, back_after=back)
    chain = row.turn.facts.request.chain
    went_on = any(_follows(turn, chain, call) for turn in later)
    verdict = unanswered(call) if went_on else still_open(call)
    return replace(row, verdicts=(*row.verdicts, verdict))


def _result_of(call: ToolCall, turn: InspectedTurn, used: set[int]) -> ResultFacts | None:
    results = turn.facts.request.results
    for each in results:
        if each.id == call.id and not each.by_order:
            return each
    for at, each in enumerate(results):
        if each.by_order and at not in used and each.name in (call.name, None):
            used.add(at)
            return each
    return None


def _follows(turn: InspectedTurn, chain: tuple[int, ...], call: ToolCall) -> bool:
    """Whether a later request goes on from the answer that had a call, and has no result of it."""
    request = turn.facts.request
    if call.id in request.answered:
        return False
    return len(request.chain) > len(chain) and request.chain[: len(chain)] == chain


# --- as JSON --------------------------------------------------------------------------------------


def call_json(row: CallRow) -> Json:
    """A row as the API has it."""
    exchange, facts = row.turn.exchange, row.facts
    given, written, verdict = facts.given, facts.written, row.verdict
    return {
        "exchange": exchange.number,
        "place": row.place,
        "name": facts.call.name,
        "given": _call(given),
        "written": _call(written),
        "result": _result(row.result),
        "back_after": None if row.back_after is None else round(row.back_after, 3),
        "verdict": {"kind": verdict.kind, "sentence": verdict.sentence},
        "verdicts": [{"kind": each.kind, "sentence": each.sentence} for each in row.verdicts],
        "notes": [note_json(note) for note in facts.notes],
    }


def note_json(note: Note) -> Json:
    """A note as the API has it."""
    known = CATALOGUE.get(note.code)
    return {
        "code": note.code,
        "severity": note.severity,
        "path": note.path,
        "message": note.message,
        "meaning": known.meaning if known is not None else "",
    }


def _call(call: ToolCall | None) -> Json | None:
    if call is None:
        return None
    return {
        "id": call.id,
        "name": call.name,
        "type": call.type,
        "arguments": call.arguments[:_ARGUMENTS],
        "size": len(call.arguments),
    }


def _result(result: ResultFacts | None) -> Json | None:
    if result is None:
        return None
    return {
        "text": result.text,
        "size": result.size,
        "is_error": result.is_error,
        "media": list(result.media),
        "picture": result.picture,
    }


def counted(rows: list[CallRow]) -> Iterator[tuple[str, int]]:
    """How many calls have each verdict."""
    kinds = [row.verdict.kind for row in rows]
    for kind in dict.fromkeys(kinds):
        yield kind, kinds.count(kind)
