"""Conversations, their turns and their numbers, as the API has them."""

from collections.abc import Iterable
from typing import Final

from toolglot.gateway.inspector.call_rows import CallRow, call_json, call_rows, counted
from toolglot.gateway.inspector.grouping import InspectedConversation, InspectedTurn, client_of
from toolglot.gateway.telemetry.captures import CapturedExchange
from toolglot.gateway.telemetry.redact import redact_url, scrub
from toolglot.ir import Json, Usage
from toolglot.receipt import SEVERITIES

_ENDS: Final = {"tool_calls": "calls", "end": "end", "stop_sequence": "end", "length": "length"}
"""How a turn ended, by the stop reason; what is not here is called `other`."""
_BAD: Final = frozenset({"unknown", "mismatch", "withheld", "unanswered"})
"""Verdicts that count as errors of calls."""


def session_json(conversation: InspectedConversation) -> Json:
    """A row of the list."""
    return _row(conversation, call_rows(conversation))


def _row(conversation: InspectedConversation, rows: list[CallRow]) -> Json:
    first, last = conversation.turns[0].exchange, conversation.last.exchange
    name, version = client_of(last.headers)
    attempt = next(
        (e.exchange.attempt for e in reversed(conversation.turns) if e.exchange.attempt), None
    )
    state, why = _state(conversation)
    return {
        "id": conversation.id,
        "title": _title(conversation),
        "client": {"name": name, "version": version},
        "protocol": last.protocol,
        "provider": attempt.provider if attempt else "",
        "provider_protocol": attempt.protocol if attempt else "",
        "model": (attempt.model if attempt else "") or last.model,
        "asked_model": last.model,
        "state": state,
        "reason": why,
        "started": first.started,
        "updated": last.started + last.duration,
        "turns": len(conversation.turns),
        "strip": [
            {"exchange": turn.exchange.number, "end": turn_end(turn), "mended": _mended(turn)}
            for turn in conversation.turns
        ],
        "calls": len(rows),
        "verdicts": dict(counted(rows)),
        "tools": sorted({row.facts.call.name for row in rows}),
        "codes": sorted({note.code for turn in conversation.turns for note in turn.exchange.notes}),
    }


def session_detail(conversation: InspectedConversation) -> Json:
    """A conversation with its turns and its calls."""
    rows = call_rows(conversation)
    return {
        **_row(conversation, rows),
        "turn_list": [turn_json(turn) for turn in conversation.turns],
        "call_list": [call_json(row) for row in rows],
    }


def turn_json(turn: InspectedTurn) -> Json:
    """A turn of the strip."""
    exchange = turn.exchange
    attempt = exchange.attempt
    return {
        "exchange": exchange.number,
        "request_id": exchange.request_id,
        "started": exchange.started,
        "duration": round(exchange.duration, 4),
        "first_byte": None if exchange.first_byte is None else round(exchange.first_byte, 4),
        "own": round(max(0.0, exchange.duration - exchange.waited), 5),
        "state": exchange.state,
        "status": exchange.status,
        "end": turn_end(turn),
        "stops": list(exchange.stops),
        "error": scrub(exchange.error.message) if exchange.error else "",
        "stream": exchange.stream,
        "calls": len(turn.facts.answer.calls),
        "text": turn.facts.answer.text[:300],
        "protocol": exchange.protocol,
        "asked_model": exchange.model,
        "provider": attempt.provider if attempt else "",
        "provider_protocol": attempt.protocol if attempt else "",
        "model": attempt.model if attempt else "",
        "attempts": _attempts(exchange),
        "usage": usage_json(exchange.usage),
        "notes": {
            severity: sum(note.severity == severity for note in exchange.notes)
            for severity in SEVERITIES
        },
        "left_out": exchange.left_out,
        "problem": turn.facts.request.problem,
    }


def turn_end(turn: InspectedTurn) -> str:
    """How a turn ended: calls, end, length, other or error; or that it goes on."""
    if turn.failed:
        return "error"
    if turn.exchange.state != "ended":
        return turn.exchange.state
    if turn.facts.answer.calls:
        return "calls"
    stop = next(iter(turn.exchange.stops), "end")
    return _ENDS.get(stop, "other") if stop != "tool_calls" else "end"


def usage_json(usage: Usage | None) -> Json | None:
    """Tokens by kind."""
    if usage is None:
        return None
    return {
        "input": usage.input or 0,
        "cache_read": usage.cache_read or 0,
        "cache_write": usage.cache_write or 0,
        "output": usage.output or 0,
        "reasoning": usage.reasoning or 0,
    }


def _attempts(exchange: CapturedExchange) -> list[Json]:
    return [
        {
            "provider": attempt.provider,
            "protocol": attempt.protocol,
            "model": attempt.model,
            "url": redact_url(attempt.url),
            "reason": attempt.reason,
            "at": round(attempt.at, 4),
            "status": attempt.status,
            "tries": [
                {
                    "at": round(each.at, 4),
                    "status": each.status,
                    "words": scrub(each.words),
                    "body": scrub(each.body[:2000].decode("utf-8", "replace")),
                }
                for each in attempt.tries
            ],
        }
        for attempt in exchange.attempts
    ]


def _mended(turn: InspectedTurn) -> bool:
    return any(attempt.reason == "mended" for attempt in turn.exchange.attempts)


def _title(conversation: InspectedConversation) -> str:
    titles = (turn.facts.request.title for turn in conversation.turns)
    return next(filter(None, titles), "") or f"exchange {conversation.id}"


def _state(conversation: InspectedConversation) -> tuple[str, str]:
    last = conversation.last
    if last.failed:
        error = last.exchange.error
        words = scrub(error.message) if error else f"status {last.exchange.status}"
        return "dead", words
    if last.exchange.state != "ended":
        return "live", ""
    return ("calls" if last.facts.answer.calls else "done"), ""


# --- numbers --------------------------------------------------------------------------------------


def numbers_json(found: Iterable[InspectedConversation]) -> Json:
    """Sums over all conversations: by provider and model, and in all."""
    rows: dict[tuple[str, str], Json] = {}
    for conversation in found:
        for turn in conversation.turns:
            _add_turn(rows.setdefault(_where(turn), _nothing()), turn)
        for row in call_rows(conversation):
            _add_call(rows.setdefault(_where(row.turn), _nothing()), row)
    return {
        "models": [
            {"provider": provider, "model": model, **_means(sums)}
            for (provider, model), sums in rows.items()
        ]
    }


def _where(turn: InspectedTurn) -> tuple[str, str]:
    attempt = turn.exchange.attempt
    return (attempt.provider, attempt.model) if attempt else ("", turn.exchange.model)


def _nothing() -> Json:
    kinds = ("input", "cache_read", "cache_write", "output", "reasoning")
    return {
        "exchanges": 0,
        "errors": 0,
        "tokens": dict.fromkeys(kinds, 0),
        "calls": 0,
        "bad_calls": 0,
        "repaired_calls": 0,
        "first_byte": [],
        "own": [],
    }


def _add_turn(sums: Json, turn: InspectedTurn) -> None:
    exchange = turn.exchange
    sums["exchanges"] += 1
    sums["errors"] += turn.failed
    for kind, count in (usage_json(exchange.usage) or {}).items():
        sums["tokens"][kind] += count
    if exchange.first_byte is not None:
        sums["first_byte"].append(exchange.first_byte)
    if exchange.state == "ended":
        sums["own"].append(max(0.0, exchange.duration - exchange.waited))


def _add_call(sums: Json, row: CallRow) -> None:
    sums["calls"] += 1
    sums["bad_calls"] += row.verdict.kind in _BAD
    sums["repaired_calls"] += row.verdict.kind == "repaired"


def _means(sums: Json) -> Json:
    return {
        **sums,
        "first_byte": _median(sums["first_byte"]),
        "own": _median(sums["own"]),
    }


def _median(values: list[float]) -> float | None:
    return round(sorted(values)[len(values) // 2], 5) if values else None
