"""The work of `toolglot convert`: files to batches, batches to processes, results in order."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, Final

from toolglot.cli.byte_progress import ByteProgress
from toolglot.cli.convert_input import (
    InputError,
    InputFile,
    InputLimits,
    Line,
    OpenFile,
    TooLong,
    first_rows,
    recorded,
    rows_of,
)
from toolglot.cli.convert_output import Output
from toolglot.convert.batches import (
    BadRow,
    BatchResult,
    Counts,
    Wanted,
    convert_batch,
    convert_file_rows,
    notes_as_json,
)
from toolglot.convert.formats import get_format, recognise
from toolglot.digest import digest
from toolglot.errors import ToolglotError
from toolglot.wire import jsontext

_BATCH: Final = 2 << 20
"""How many bytes of rows are converted at once."""
MANIFEST: Final = ".toolglot-convert.jsonl"
"""In a folder of output: which files are complete."""

Sink = Callable[[Any], Any]


@dataclass(kw_only=True)
class Run:
    """One run of the command: what is wanted, where results go, and what is known so far."""

    wanted: Wanted
    output: Output
    limits: InputLimits
    jobs: int = 1
    receipts: Sink
    bad: Sink
    say: Callable[[str], None]
    manifest: "Manifest | None" = None
    quiet: bool = False
    """No bar is drawn: another process does."""
    counts: Counts = field(default_factory=Counts)
    troubles: int = 0
    skipped: int = 0

    def convert(self, files: list[InputFile]) -> None:
        """Convert all files, in order."""
        total = sum(file.size for file in files)
        with ExitStack() as stack:
            stream = StringIO() if self.quiet else None
            self._progress = stack.enter_context(ByteProgress(total, stream))
            self._pool = (
                stack.enter_context(ProcessPoolExecutor(self.jobs)) if self.jobs > 1 else None
            )
            self._waiting: deque[tuple[str, Future[BatchResult] | Callable[[], Any]]] = deque()
            self._done = 0
            for file in files:
                self._file(file)
            self._drain(0)
        self.output.close()

    def is_known(self, file: InputFile) -> bool:
        """Whether an earlier run has completed a file; it is then counted."""
        known = self.manifest.known(file) if self.manifest is not None else None
        if known is None:
            return False
        self.counts.add(known)
        self.skipped += 1
        return True

    def _file(self, file: InputFile) -> None:
        if self.is_known(file):
            self._done += file.size
            return
        self._after(file.path, lambda: self.output.begin(file.name))
        trouble = ""
        try:
            self._read(file)
        except (InputError, OSError, ToolglotError) as error:
            trouble = getattr(error, "strerror", None) or str(error)
        self._after(file.path, lambda: self._end(file, trouble))
        self._done += file.size

    def _end(self, file: InputFile, trouble: str) -> list[str]:
        written = self.output.end()
        if trouble:
            self.troubles += 1
            self.counts.bad += 1
            self.bad({"file": file.path, "line": 0, "reason": trouble, "row": ""})
            self.say(f"{file.path}: {trouble}")
        counts = self.counts if self.manifest is None else self.manifest.since(self.counts)
        if self.manifest is not None and not trouble:
            self.manifest.add(file, written, counts)
        return written

    def _read(self, file: InputFile) -> None:
        opened = OpenFile(file, self.limits)
        try:
            rows = self._rows(file, opened)
            taken, values = first_rows(rows)
            name = self.wanted.source
            if name is None and (found := recognise(values)) is not None:
                name = found[0].name
                self.say(f"{file.path}: {name}, because {found[1]}")
            unit = get_format(name).unit if name is not None else "row"
            for batch in _batches(taken, rows, whole=unit == "file"):
                lines = [row for row in batch if isinstance(row, tuple)]
                for row in batch:
                    if isinstance(row, TooLong):
                        self._take(file.path, _too_long(row))
                work = convert_file_rows if unit == "file" else convert_batch
                self._submit(file.path, work, lines)
                shown = self._done + opened.position
                self._progress.show(shown, self.counts.conversations)
        finally:
            opened.close()

    def _rows(self, file: InputFile, opened: OpenFile) -> Iterator[Line | TooLong]:
        if (row := recorded(file)) is not None:
            return iter([(1, row)])
        if opened.form in ("parquet", "arrow"):
            rows: Iterator[Line | TooLong] = import_module("toolglot.bulk").rows_of_table(
                opened.path, parquet=opened.form == "parquet"
            )
            return rows
        return rows_of(opened, self.limits)

    # --- in order

    def _submit(self, path: str, work: Callable[..., BatchResult], lines: list[Line]) -> None:
        if not lines:
            return
        if self._pool is None:
            self._take(path, work(lines, self.wanted))
            return
        self._waiting.append((path, self._pool.submit(work, lines, self.wanted)))
        self._drain(3 * self.jobs)

    def _after(self, path: str, act: Callable[[], Any]) -> None:
        """Do something after all that was submitted before."""
        if self._waiting:
            self._waiting.append((path, act))
        else:
            act()

    def _drain(self, most: int) -> None:
        while len(self._waiting) > most or (self._waiting and not _is_work(self._waiting[0][1])):
            path, each = self._waiting.popleft()
            if isinstance(each, Future):
                self._take(path, each.result())
            else:
                each()

    def _take(self, path: str, result: BatchResult) -> None:
        self.counts.add(result.counts)
        for row in result.good:
            self.output.take(row)
            if row.notes:
                notes = notes_as_json(row.notes)
                self.receipts({"file": path, "line": row.line, "notes": notes})
        for each in result.bad:
            self.bad({"file": path, **asdict(each)})
            self.say(f"{path}:{each.line}: {each.reason}")


def _is_work(each: object) -> bool:
    return isinstance(each, Future)


def _too_long(row: TooLong) -> BatchResult:
    bad = [BadRow(line=row.line, reason=row.reason, row="")]
    return BatchResult(good=[], bad=bad, counts=Counts(bad=1))


def _batches(
    taken: list[Line | TooLong], rows: Iterator[Line | TooLong], *, whole: bool
) -> Iterator[list[Line | TooLong]]:
    """Rows in lists of some size; `whole`: all in one."""
    batch: list[Line | TooLong] = []
    size = 0
    for row in _both(taken, rows):
        batch.append(row)
        size += len(row[1]) if isinstance(row, tuple) else 0
        if size >= _BATCH and not whole:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _both(taken: list[Line | TooLong], rows: Iterator[Line | TooLong]) -> Iterator[Line | TooLong]:
    yield from taken
    yield from rows


# --- which files are complete ---------------------------------------------------------------------


class Manifest:
    """The files of a folder of output that are complete, so that a run can be resumed."""

    def __init__(self, folder: str, wanted: Wanted, *, resume: bool) -> None:
        self._path = Path(folder) / MANIFEST
        self._asked = digest(repr(wanted).encode(), 8).hex()
        self._known: dict[str, Any] = {}
        self._last = Counts()
        if resume and self._path.is_file():
            for line in self._path.read_bytes().splitlines():
                try:
                    entry = jsontext.peek(line)
                except ValueError:
                    continue  # the line that was being written when the run ended
                self._known[entry["file"]] = entry
        elif self._path.exists():
            self._path.unlink()

    def known(self, file: InputFile) -> Counts | None:
        """What was counted for a file, if it was converted before and has not changed since."""
        entry = self._known.get(file.path)
        if entry is None or file.path == "-" or entry["state"] != self._state(file):
            return None
        if not all(Path(path).is_file() for path in entry["written"]):
            return None
        counts = Counts(**entry["counts"])
        self._last.add(counts)
        return counts

    def since(self, counts: Counts) -> Counts:
        """What was counted since the last file."""
        new = Counts(
            **{
                name: _minus(getattr(self._last, name), value)
                for name, value in vars(counts).items()
            }
        )
        self._last = Counts()
        self._last.add(counts)
        return new

    def add(self, file: InputFile, written: list[str], counts: Counts) -> None:
        """A file is complete."""
        if file.path == "-":
            return
        entry = {"file": file.path, "state": self._state(file), "written": written}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as manifest:
            manifest.write(jsontext.encode({**entry, "counts": asdict(counts)}) + b"\n")

    def _state(self, file: InputFile) -> list[Any]:
        status = Path(file.path).stat()
        return [self._asked, status.st_size, status.st_mtime_ns]


def _minus(old: Any, new: Any) -> Any:
    if isinstance(new, dict):
        left = {key: count - old.get(key, 0) for key, count in new.items()}
        return {key: count for key, count in left.items() if count}
    return new - old
