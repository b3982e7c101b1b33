"""Many rows at once: what a process, or a worker of a cluster, does without files.

A batch is lines of one file. Whatever cannot be read or written is kept aside with its line and the
reason, and never stops the rest.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import to_builtins

from toolglot.adapt.calls.validate import validate_arguments
from toolglot.convert.conversion import Converted, convert_rows
from toolglot.convert.filters import Filter, Seen, keeps
from toolglot.convert.format import Format
from toolglot.convert.formats import get_format, recognise
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import DecodeError, ToolglotError
from toolglot.ir import FunctionTool, Json, ToolCall
from toolglot.receipt import Note, Receipt
from toolglot.schema.conform import SchemaError
from toolglot.wire import jsontext

_MOST_KEPT: Final = 100_000
"""How many bytes of a bad row are kept."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked for, the same for all rows."""

    target: str
    source: str | None = None
    """None: each row is recognised."""
    strict: bool = False
    validate: bool = False
    filters: tuple[Filter, ...] = ()
    now: int = 0
    defaults: tuple[tuple[str, str], ...] = ()
    """Facts of conversations that do not tell them."""


@dataclass(frozen=True, kw_only=True)
class BadRow:
    """A row that was left out, and why."""

    line: int
    reason: str
    row: str


@dataclass(frozen=True, kw_only=True)
class GoodRow:
    """A conversation as it was written."""

    line: int
    source: str
    """The format it was read in."""
    data: bytes
    """All its lines; a line end after each."""
    notes: tuple[Note, ...]


@dataclass(kw_only=True)
class Counts:
    """What there was to convert and what became of it."""

    conversations: int = 0
    filtered: int = 0
    bad: int = 0
    messages: int = 0
    calls: int = 0
    calls_ok: int = 0
    calls_bad: int = 0
    lossy: int = 0
    codes: dict[str, int] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)

    def add(self, other: "Counts") -> None:
        """Count what another batch counted."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(value, dict):
                for key, count in value.items():
                    mine[key] = mine.get(key, 0) + count
            else:
                setattr(self, name, mine + value)


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    """All rows of a batch, in order."""

    good: list[GoodRow]
    bad: list[BadRow]
    counts: Counts


def convert_batch(lines: Iterable[tuple[int, bytes]], wanted: Wanted) -> BatchResult:
    """Lines that are a conversation each."""
    work = _Work(wanted)
    for number, line in lines:
        work.row(number, line)
    return work.result()


def convert_file_rows(lines: Iterable[tuple[int, bytes]], wanted: Wanted) -> BatchResult:
    """Lines that are one conversation together, as in the sessions of agents."""
    work = _Work(wanted)
    work.session(list(lines))
    return work.result()


class _Work:
    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._target = get_format(wanted.target)
        self._source = get_format(wanted.source) if wanted.source else None
        self._good: list[GoodRow] = []
        self._bad: list[BadRow] = []
        self._counts = Counts()

    def row(self, number: int, line: bytes) -> None:
        try:
            row = read_row(line)
            source = self._source or _recognised(row)
            self._convert(number, [row], source)
        except Exception as error:  # noqa: BLE001 - a mistake of ours must not cost the other rows
            self._set_aside(number, line, error)

    def session(self, lines: list[tuple[int, bytes]]) -> None:
        rows: list[Json] = []
        for number, line in lines:
            try:
                rows.append(read_row(line))
            except (ToolglotError, ValueError) as error:
                # A session that was cut is still a session.
                self._set_aside(number, line, error)
        first = lines[0] if lines else (1, b"")
        try:
            source = self._source or _recognised(*rows)
            self._convert(first[0], rows, source)
        except Exception as error:  # noqa: BLE001 - as above
            self._set_aside(*first, error)

    def result(self) -> BatchResult:
        return BatchResult(good=self._good, bad=self._bad, counts=self._counts)

    def _convert(self, number: int, rows: list[Json], source: Format) -> None:
        wanted, counts = self._wanted, self._counts
        done = convert_rows(
            rows,
            source,
            self._target,
            strict=wanted.strict,
            now=wanted.now,
            defaults=dict(wanted.defaults),
        )
        notes = done.receipt.notes
        calls = list(_calls(done.conversation))
        checked = list(_mismatches(done.conversation, calls)) if wanted.validate else []
        wrong = [note for note in checked if note.severity != "info"]
        notes = (*notes, *checked)
        if wanted.filters and not keeps(wanted.filters, _seen(done, len(calls), notes, wrong)):
            counts.filtered += 1
            return
        data = b"".join(jsontext.encode(row) + b"\n" for row in done.rows)
        self._good.append(GoodRow(line=number, source=source.name, data=data, notes=notes))
        self._count(done, len(calls), len(wrong), Receipt(notes), source)

    def _count(
        self, done: Converted, calls: int, wrong: int, receipt: Receipt, source: Format
    ) -> None:
        counts = self._counts
        counts.conversations += 1
        counts.messages += len(done.conversation.messages)
        counts.calls += calls
        if self._wanted.validate:
            counts.calls_bad += wrong
            counts.calls_ok += calls - wrong
        counts.lossy += bool(receipt.losses)
        counts.sources[source.name] = counts.sources.get(source.name, 0) + 1
        for code, count in receipt.codes().items():
            counts.codes[code] = counts.codes.get(code, 0) + count

    def _set_aside(self, number: int, line: bytes, error: Exception) -> None:
        self._counts.bad += 1
        known = isinstance(error, (ToolglotError, ValueError))
        reason = str(error) if known else f"a mistake of toolglot: {type(error).__name__}: {error}"
        text = line[:_MOST_KEPT].decode("utf-8", "backslashreplace")
        self._bad.append(BadRow(line=number, reason=reason, row=text.rstrip("\r\n")))


def read_row(line: bytes) -> Json:
    """The object in a line; a list is one of messages."""
    row = jsontext.decode(line)
    if isinstance(row, list):
        return {"messages": row}
    if not isinstance(row, dict):
        raise DecodeError("", "a row is a JSON object")
    return row


def _recognised(*rows: Json) -> Format:
    found = recognise(rows)
    if found is None:
        members = ", ".join(sorted(rows[0])[:8]) if rows else ""
        raise DecodeError("", f"it is of no known format; its members are {members}")
    return found[0]


def _calls(conversation: RecordedConversation) -> Iterator[ToolCall]:
    for message in conversation.messages:
        yield from (part for part in message.parts if isinstance(part, ToolCall))


def _mismatches(conversation: RecordedConversation, calls: list[ToolCall]) -> Iterator[Note]:
    """A note for each call that does not fit its tool."""
    declared = conversation.request.tools
    tools = {tool.name: tool for tool in declared if isinstance(tool, FunctionTool)}
    for call in calls:
        if call.type != "function" or not tools:
            continue
        if call.name not in tools:
            yield Note("call-invalid", "lossy", call.id, f"no tool is called {call.name}")
            continue
        try:
            problems = validate_arguments(tools[call.name], call.arguments)
        except SchemaError as error:
            yield Note("arguments-unchecked", "info", call.id, f"{call.name}: {error}")
            continue
        if problems:
            words = f"{call.name}: {problems[0]}"
            yield Note("arguments-mismatch", "lossy", call.id, words)


def _seen(done: Converted, calls: int, notes: tuple[Note, ...], wrong: list[Note]) -> Seen:
    receipt = Receipt(notes)
    return Seen(
        model=done.conversation.request.model,
        messages=len(done.conversation.messages),
        calls=calls,
        tools=len(done.conversation.request.tools),
        lossy=bool(receipt.losses),
        invalid=bool(wrong),
        codes=frozenset(receipt.codes()),
    )


def notes_as_json(notes: Iterable[Note]) -> Any:
    """Notes as a receipt has them on file."""
    return to_builtins(tuple(notes))
