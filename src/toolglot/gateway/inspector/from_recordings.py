"""Recordings on disk, as captured exchanges."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import ValidationError, convert

from toolglot.errors import DecodeError
from toolglot.gateway.inspector.exchange_facts import client_answer, joined
from toolglot.gateway.telemetry.captures import CapturedAttempt, CapturedExchange, Captures
from toolglot.gateway.telemetry.recorder import (
    CONTINUED,
    RECEIPT,
    SUFFIXES,
    Meta,
    options_from_json,
    read_meta,
)
from toolglot.ir import ApiError, Response
from toolglot.receipt import Note
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext

_MOST: Final = 100_000
_ALL_BYTES: Final = 4 * 2**30


def captures_from(folders: Iterable[Path]) -> Captures:
    """The exchanges of recordings, in their order."""
    captures = Captures(_MOST, _ALL_BYTES)
    read = sorted(
        ((read_meta(folder), folder) for folder in folders), key=lambda each: each[0].started
    )
    for number, (meta, folder) in enumerate(read, 1):
        captures.add(read_recording(folder, meta, number))
    return captures


def read_recording(folder: Path, meta: Meta, number: int = 1) -> CapturedExchange:
    """One recording."""
    for protocol in (meta.client, meta.provider):
        if protocol not in PROTOCOLS:
            raise DecodeError(str(folder), f"unknown protocol {protocol!r}")
    body = _file(folder, "client.request.json")
    asked = _file(folder, CONTINUED) or body
    came = _chunks(_file(folder, "upstream.response.*"), meta.upstream_chunks)
    attempt = CapturedAttempt(
        provider=meta.url.partition("://")[2].partition("/")[0],
        protocol=meta.provider,
        url=meta.url,
        headers=meta.upstream_headers,
        asked=asked,
        body=_file(folder, "upstream.request.*"),
        translation=options_from_json(meta.options),
        echo=meta.echo,
        supplied=dict(meta.supplied),
        repairs=meta.repairs,
        now=meta.now,
        answer_id=meta.answer_id,
        status=meta.status,
        response_headers=meta.response_headers,
        times=[at for at, _ in came],
        pieces=[data for _, data in came],
    )
    asked_for = attempt.translation.model if attempt.translation is not None else None
    attempt.model = asked_for or meta.model
    earlier = [
        CapturedAttempt(
            provider=attempt.provider,
            protocol=meta.provider,
            url=str(each.get("url", "")),
            status=int(each.get("status") or 0),
        )
        for each in meta.attempts
    ]
    if earlier:
        attempt.reason = "mended" if meta.repairs else "fallback"
    chunks = _chunks(_file(folder, "client.response.*"), meta.client_chunks)
    notes = _notes(folder)
    attempt.notes = len(notes) if meta.request_notes is None else meta.request_notes
    last = max((at for at, _ in (*chunks, *came)), default=0.0)
    exchange = CapturedExchange(
        number=number,
        request_id=meta.request_id,
        owner="",
        started=_moment(meta.started),
        clock=0.0,
        protocol=meta.client,
        path=meta.path,
        model=meta.model,
        stream=meta.stream,
        headers={},
        body=body,
        attempts=[*earlier, attempt],
        status=meta.client_status,
        response_headers=_framing(folder),
        times=[at for at, _ in chunks],
        pieces=[data for _, data in chunks],
        state="ended",
        error=meta.error,
        notes=notes,
        duration=last,
        waited=last,
        first_byte=chunks[0][0] if chunks else None,
        readings=meta.clock,
    )
    answer = client_answer(exchange)
    if isinstance(answer, Response):
        exchange.usage = answer.usage
        exchange.stops = tuple(each.stop.kind for each in answer.choices if each.stop)
    elif isinstance(answer, ApiError) and exchange.error is None:
        exchange.error = answer
    exchange.kept = len(body) + len(attempt.body) + len(joined(chunks)) + len(joined(came))
    return exchange


def _framing(folder: Path) -> dict[str, str]:
    """How the answer to the client is framed, by the suffix of its file."""
    kinds = {f".{suffix}": kind for kind, suffix in SUFFIXES.items()}
    found = next(iter(sorted(folder.glob("client.response.*"))), Path())
    return {"content-type": kinds.get(found.suffix, "application/json")}


def _file(folder: Path, pattern: str) -> bytes:
    found = next(iter(sorted(folder.glob(pattern))), None)
    return found.read_bytes() if found is not None else b""


def _chunks(data: bytes, sizes: Iterable[tuple[float, int]]) -> list[tuple[float, bytes]]:
    chunks, place = [], 0
    for at, size in sizes:
        chunks.append((at / 1000, data[place : place + size]))
        place += size
    if place < len(data):
        chunks.append((chunks[-1][0] if chunks else 0.0, data[place:]))
    return chunks


def _notes(folder: Path) -> tuple[Note, ...]:
    data = _file(folder, RECEIPT)
    if not data:
        return ()
    try:
        return convert(jsontext.peek(data), tuple[Note, ...])
    except (ValueError, ValidationError) as error:
        raise DecodeError(str(folder / RECEIPT), str(error)) from None


def _moment(started: str) -> float:
    try:
        return datetime.fromisoformat(started).timestamp()
    except ValueError:
        return 0.0
