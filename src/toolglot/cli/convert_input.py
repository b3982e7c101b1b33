"""The files of `toolglot convert`: finding them, opening them and splitting them into rows.

Memory does not grow with a file: compressed data is read in pieces, and a row that is longer than
the limit is skipped without being kept.
"""

import bz2
import codecs
import gzip
import lzma
import re
import sys
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final

from toolglot.errors import MissingExtraError, ToolglotError
from toolglot.wire import jsontext

_PIECE: Final = 1 << 20
_SUFFIXES: Final = (".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather")
_PACKED: Final = (".gz", ".xz", ".zst", ".bz2")
_MAGIC: Final = (
    (b"\x1f\x8b", "gz"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"BZh", "bz2"),
    (b"PK\x03\x04", "zip"),
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
)
BAD_ROWS: Final = "bad-rows.jsonl"
"""In a folder of output: rows that were left out; never taken as input."""
_REQUEST, _CONTINUED, _META, _ANSWERS = (
    "client.request.json",
    "continued.request.json",
    "meta.json",
    "client.response.*",
)
"""The files of a recording of the gateway."""
_STREAMED: Final = ("response", lambda data: data.decode("utf-8", "replace"))
_ANSWER_FORMS: Final[dict[str, tuple[str, Callable[[bytes], Any]]]] = {
    ".json": ("response", jsontext.peek),
    ".eventstream": ("response_base64", lambda data: b64encode(data).decode("ascii")),
}
"""How an answer is kept in a row, by the suffix of its file: all others are streams of text."""
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LOOKED_AT: Final = 64
"""Rows that are read to recognise the format of a file."""
_SAFE_SIZE: Final = 64 << 20
"""Compressed data may expand to this many bytes at any ratio."""
_BROKEN: Final = (EOFError, OSError, lzma.LZMAError, zlib.error)


class InputError(ToolglotError, ValueError):
    """A file that cannot be read, or not to its end."""


@dataclass(frozen=True, kw_only=True)
class InputLimits:
    """What is too much: bytes of one row, and how many-fold a file may expand."""

    row: int = 512 << 20
    ratio: int = 200


@dataclass(frozen=True)
class InputFile:
    """A file, or standard input under the name `-`."""

    path: str
    base: str = ""
    """The folder that output names are relative to."""

    @property
    def size(self) -> int:
        """How many bytes it has on disk; 0 if that is not known."""
        return 0 if self.path == "-" else Path(self.path).stat().st_size

    @cached_property
    def name(self) -> str:
        """Its path below the base, without what names its form."""
        if self.path == "-":
            return "stdin"
        path = Path(self.path)
        try:
            path = path.relative_to(self.base or ".")
        except ValueError:
            path = Path(path.name)
        name = path.as_posix()
        for suffixes in (_PACKED, _SUFFIXES):
            name = next((name.removesuffix(each) for each in suffixes if name.endswith(each)), name)
        return name.lstrip("/") or "rows"


# --- finding --------------------------------------------------------------------------------------


def find_files(patterns: Iterable[str]) -> tuple[list[InputFile], list[tuple[str, str]]]:
    """The files that patterns name, each once, in order; and what could not be found, with why."""
    found: dict[str, InputFile] = {}
    missing: list[tuple[str, str]] = []
    for pattern in patterns:
        if pattern == "-":
            found["-"] = InputFile("-")
            continue
        matches = list(_matches(pattern))
        if not matches:
            missing.append((pattern, "there is no such file"))
        for path, base in matches:
            try:
                real = str(path.resolve(strict=True))
            except (OSError, RuntimeError) as error:
                missing.append((str(path), f"cannot be followed: {_words(error)}"))
                continue
            found.setdefault(real, InputFile(str(path), base))
    return list(found.values()), missing


def _matches(pattern: str) -> Iterator[tuple[Path, str]]:
    path = Path(pattern)
    if path.is_symlink() or path.is_file():
        yield path, str(path.parent)
        return
    if path.is_dir():
        # Links to folders are not followed, so that one to a folder above is no loop.
        files = (each for each in path.rglob("*") if _has_rows(each.name))
        for each in sorted(files):
            if (each.is_file() or _dangles(each)) and _is_main_file(each):
                yield each, pattern
        return
    parts = path.parts
    first = next((index for index, part in enumerate(parts) if re.search(r"[*?\[]", part)), None)
    if first is None:
        return
    base = Path(*parts[:first]) if first else Path()
    for each in sorted(base.glob("/".join(parts[first:]))):
        if each.is_file() or _dangles(each):
            yield each, str(base)


def _is_main_file(path: Path) -> bool:
    """Of a folder that is a recording, only the request stands for it."""
    return path.name == _REQUEST or not (path.parent / _REQUEST).is_file()


def _dangles(path: Path) -> bool:
    return path.is_symlink() and not path.exists()


def _has_rows(name: str) -> bool:
    bare = next((name.removesuffix(each) for each in _PACKED if name.endswith(each)), name)
    return bare.endswith(_SUFFIXES) and not name.startswith(".") and name != BAD_ROWS


def recorded(file: InputFile) -> bytes | None:
    """A recording of the gateway as one row, if a file is the request of one; else None."""
    path = Path(file.path)
    if path.name != _REQUEST or not (path.parent / _META).is_file():
        return None
    folder = path.parent
    asked = folder / _CONTINUED
    row = {
        "meta": jsontext.peek((folder / _META).read_bytes()),
        "request": jsontext.peek((asked if asked.is_file() else path).read_bytes()),
    }
    for answer in sorted(folder.glob(_ANSWERS)):
        key, read = _ANSWER_FORMS.get(answer.suffix, _STREAMED)
        row[key] = read(answer.read_bytes())
    return jsontext.encode(row)


# --- opening --------------------------------------------------------------------------------------


class _Guarded:
    """Reads expanded bytes, and stops if there are suspiciously many."""

    def __init__(self, stream: Any, raw: Any, limits: InputLimits) -> None:
        self._stream, self._raw, self._limits = stream, raw, limits
        self._expanded = 0

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        self._expanded += len(data)
        if self._expanded > _SAFE_SIZE and self._expanded > self._limits.ratio * self._raw.tell():
            raise InputError(
                f"it expands more than {self._limits.ratio}-fold, as archives do that are made to "
                "fill memory; --max-ratio allows more"
            )
        return data


class OpenFile:
    """A file while it is read: its form, and how far it was read."""

    def __init__(self, file: InputFile, limits: InputLimits) -> None:
        self._limits = limits
        self._raw = _open(file.path)
        self._file = file
        head = _peek(self._raw)
        self.form = next((form for magic, form in _MAGIC if head.startswith(magic)), "")
        self._head = head

    def close(self) -> None:
        """Close the file, unless it is standard input."""
        if self._file.path != "-":
            self._raw.close()

    @property
    def position(self) -> int:
        """How many bytes on disk were read."""
        return self._raw.tell() if self._file.path != "-" else 0

    def pieces(self) -> Iterator[bytes]:
        """The expanded bytes; an `InputError` where they end too early."""
        if self._head.startswith(_UTF16):
            raise InputError("it is UTF-16; convert it to UTF-8 first")
        stream = self._expanded()
        first = True
        while True:
            try:
                data = stream.read(_PIECE)
            except _BROKEN as error:
                raise InputError(f"it is cut off or damaged: {_words(error)}") from None
            if not data:
                return
            yield data.removeprefix(codecs.BOM_UTF8) if first else data
            first = False

    def _expanded(self) -> Any:
        if self.form == "zip":
            raise InputError("it is a zip archive; unpack it first")
        openers: dict[str, Callable[[], Any]] = {
            "gz": lambda: gzip.GzipFile(fileobj=self._raw),
            "xz": lambda: lzma.LZMAFile(self._raw),  # noqa: SIM115
            "bz2": lambda: bz2.BZ2File(self._raw),
            "zst": lambda: _open_zst(self._raw),
        }
        opened = openers.get(self.form)
        if opened is None:
            return self._raw
        return _Guarded(opened(), self._raw, self._limits)

    @property
    def path(self) -> str:
        """Where it is, for readers of tables."""
        return self._file.path


def _open(path: str) -> IO[bytes]:
    if path == "-":
        return sys.stdin.buffer
    return Path(path).open("rb")


def _peek(stream: Any) -> bytes:
    peek = getattr(stream, "peek", None)
    return bytes(peek(8)[:8]) if peek is not None else b""


def _open_zst(raw: Any) -> Any:
    for module, name in (("compression.zstd", "ZstdFile"), ("backports.zstd", "ZstdFile")):
        try:
            return getattr(import_module(module), name)(raw)
        except ImportError:
            continue
    try:
        return import_module("zstandard").ZstdDecompressor().stream_reader(raw)
    except ImportError:
        raise MissingExtraError("bulk", "zstandard") from None


def _words(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


# --- rows -----------------------------------------------------------------------------------------

Line = tuple[int, bytes]


@dataclass(frozen=True)
class TooLong:
    """A row that was skipped."""

    line: int
    reason: str


def rows_of(opened: OpenFile, limits: InputLimits) -> Iterator[Line | TooLong]:
    """The rows of a file of JSON with the numbers of their lines: one on each line, or the values
    of one document, which may be a list.
    """
    pieces = opened.pieces()
    lines = _lines(pieces, limits)
    first: list[Line | TooLong] = []
    for line in lines:
        first.append(line)
        if not isinstance(line, tuple) or line[1].strip():
            break
    start = first[-1] if first else None
    if isinstance(start, tuple) and _opens_document(start[1]):
        yield from _values(_chain(start[1], lines), limits, start[0])
        return
    for line in _chained(first, lines):
        if isinstance(line, TooLong) or line[1].strip():
            yield line


def _opens_document(line: bytes) -> bool:
    """Whether a first line begins a value that goes on after it, or a list of rows."""
    text = line.strip()
    if text.startswith(b"["):
        return _is_list_of_rows(text)
    if not text.startswith(b"{"):
        return False
    try:
        jsontext.peek(text)
    except ValueError:
        # A cut line of a file of lines looks the same up to here.
        return len(text) < _LONGEST_OPENING
    return False


_LONGEST_OPENING: Final = 80
"""The first line of an indented document is shorter than this."""


def _is_list_of_rows(text: bytes) -> bool:
    """A list on one line is one row if it is a list of messages, and there are more lines."""
    try:
        value = jsontext.peek(text)
    except ValueError:
        return True
    return not (isinstance(value, list) and value and _is_message(value[0]))


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value


def _lines(pieces: Iterator[bytes], limits: InputLimits) -> Iterator[Line | TooLong]:
    """Lines without their ends; those that are too long are skipped."""
    kept: list[bytes] = []
    length, number = 0, 1
    for piece in pieces:
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            length += end - start
            kept.append(piece[start:end])
            yield _row(kept, length, number, limits)
            kept, length, number, start = [], 0, number + 1, end + 1
        rest = piece[start:]
        length += len(rest)
        if length <= limits.row:
            kept.append(rest)
        else:
            kept = []
    if length:
        yield _row(kept, length, number, limits)


def _row(kept: list[bytes], length: int, number: int, limits: InputLimits) -> Line | TooLong:
    if length > limits.row:
        return TooLong(number, _too_long(length, limits))
    return number, b"".join(kept)


def _too_long(length: int, limits: InputLimits) -> str:
    mega = 1 << 20
    return f"the row has more than {limits.row // mega} MB ({length // mega}); --max-row allows it"


def _chain(first: bytes, lines: Iterator[Line | TooLong]) -> Iterator[bytes]:
    yield first + b"\n"
    for line in lines:
        if isinstance(line, TooLong):
            raise InputError(line.reason)
        yield line[1] + b"\n"


def _chained(first: list[Line | TooLong], rest: Iterator[Line | TooLong]) -> Iterator[Any]:
    yield from first
    yield from rest


_MARK: Final = re.compile(rb'["\[\]{},]')
_IN_STRING: Final = re.compile(rb'["\\]')


def _values(lines: Iterator[bytes], limits: InputLimits, number: int) -> Iterator[Line | TooLong]:
    """The values of a document with the lines on which they begin: those of its list, or those
    that follow each other.
    """
    splitter = _Splitter(number)
    for line in lines:
        yield from splitter.feed(line)
        if splitter.length > limits.row:
            raise InputError(_too_long(splitter.length, limits))
    yield from splitter.close()


class _Splitter:
    """Finds where values end, without reading them."""

    def __init__(self, number: int) -> None:
        self._number = self._begun = number
        self._kept: list[bytes] = []
        self._depth = 0
        self._listed: bool | None = None
        self._quoted = False
        self.length = 0

    def feed(self, line: bytes) -> Iterator[Line]:
        start = place = 0
        if self._listed is None and line.strip():
            self._listed = line.lstrip().startswith(b"[")
            if self._listed:
                start = place = line.index(b"[") + 1
        while True:
            mark = (_IN_STRING if self._quoted else _MARK).search(line, place)
            if mark is None:
                break
            place = mark.end()
            ends = self._mark(mark[0])
            if mark[0] == b"\\":
                place += 1
            if ends:
                stop = place if mark[0] == b"}" else mark.start()
                yield from self._value(line[start:stop])
                start = place
        self._keep(line[start:])
        self._number += 1

    def _mark(self, mark: bytes) -> bool:
        """Take a mark; whether a value ends there."""
        if mark == b"\\":
            return False
        if mark == b'"':
            self._quoted = not self._quoted
        elif mark in (b"{", b"["):
            self._depth += 1
        elif mark in (b"}", b"]"):
            self._depth -= 1
            return (self._depth == 0 and mark == b"}") or self._depth < 0
        else:
            return self._depth == 0
        return False

    def _keep(self, data: bytes) -> None:
        if not self._kept and not data.strip():
            return
        if not self._kept:
            self._begun = self._number
        self._kept.append(data)
        self.length += len(data)

    def _value(self, end: bytes) -> Iterator[Line]:
        self._keep(end)
        value = b"".join(self._kept).strip()
        self._kept, self.length = [], 0
        if value:
            yield self._begun, value

    def close(self) -> Iterator[Line]:
        yield from self._value(b"")


def first_rows(rows: Iterable[Line | TooLong]) -> tuple[list[Line | TooLong], list[Any]]:
    """The first rows of a file, as they were and as values, to recognise its format."""
    taken: list[Line | TooLong] = []
    values: list[Any] = []
    for row in rows:
        taken.append(row)
        if isinstance(row, tuple):
            try:
                value = jsontext.peek(row[1])
            except ValueError:
                value = None
            values.append({"messages": value} if isinstance(value, list) else value)
        if len(taken) >= _LOOKED_AT:
            break
    return taken, [value for value in values if isinstance(value, dict)]
