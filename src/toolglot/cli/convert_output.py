"""Where `toolglot convert` writes: standard output, one file, a folder, or an agent's sessions.

A file is written under another name and renamed when it is complete: what is there is whole.
"""

import gzip
import lzma
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, Self

from toolglot.convert.batches import GoodRow, notes_as_json
from toolglot.convert.format import Format
from toolglot.errors import MissingExtraError, ToolglotError
from toolglot.wire import jsontext

TABLES: Final = (".parquet", ".arrow", ".feather")
_PACKERS: Final = (".gz", ".xz", ".zst")
_LEVEL: Final = 6


class OutputError(ToolglotError, ValueError):
    """Something that cannot be written where it should be."""


class Output(Protocol):
    """Takes conversations, file by file."""

    def begin(self, name: str, /) -> None:
        """A file begins, under its name without suffixes."""
        ...

    def take(self, row: GoodRow) -> None:
        """One more conversation of it."""
        ...

    def end(self) -> list[str]:
        """The file is complete; what was written for it."""
        ...

    def close(self) -> None:
        """Everything is complete."""
        ...


class StreamOutput:
    """All conversations into one stream: standard output, or a file that may be packed."""

    def __init__(self, path: str, target: Format) -> None:
        self._path, self._target = path, target
        self._count = 0
        self._part = f"{path}.part"
        self._stream: Any = sys.stdout.buffer if path == "-" else _Packed(path, self._part)

    def begin(self, name: str) -> None:
        pass

    def take(self, row: GoodRow) -> None:
        self._count += 1
        if self._target.unit == "file" and self._count > 1:
            raise OutputError(
                f"{self._target.name} has one conversation in each file, and there are several: "
                "give --out a folder"
            )
        self._stream.write(row.data)

    def end(self) -> list[str]:
        return [self._path]

    def close(self) -> None:
        if self._path == "-":
            self._stream.flush()
            return
        self._stream.close()
        Path(self._part).replace(self._path)


class _Packed:
    """A file that is packed while it is written."""

    def __init__(self, path: str, part: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        raw = Path(part)
        self._raw = raw.open("wb")
        self._packer: Any = self._raw
        if path.endswith(".gz"):
            # Without a time and a name, so that the same input gives the same bytes.
            self._packer = gzip.GzipFile("", "wb", _LEVEL, self._raw, 0)
        elif path.endswith(".xz"):
            self._packer = lzma.LZMAFile(self._raw, "wb")  # noqa: SIM115
        elif path.endswith(".zst"):
            self._packer = _zst_writer(self._raw)

    def write(self, data: bytes) -> None:
        self._packer.write(data)

    def close(self) -> None:
        self._packer.close()
        self._raw.close()


def _zst_writer(raw: Any) -> Any:
    try:
        return import_module("compression.zstd").ZstdFile(raw, "wb")
    except ImportError:
        pass
    try:
        return import_module("zstandard").ZstdCompressor().stream_writer(raw)
    except ImportError:
        raise MissingExtraError("bulk", "zstandard") from None


class FolderOutput:
    """A file for each file, below a folder; for each conversation, where the format wants that."""

    def __init__(self, folder: str, target: Format, suffix: str) -> None:
        self._folder, self._target, self._suffix = Path(folder), target, suffix
        self._apart = target.unit == "file" or target.suffix == ".json"
        self._taken: set[str] = set()
        self._name = ""
        self._stream: Any = None
        self._held: GoodRow | None = None
        self._written: list[str] = []

    def begin(self, name: str) -> None:
        safe = "/".join(part for part in name.split("/") if part not in ("", ".", ".."))
        unique, count = safe, 1
        while unique in self._taken:
            count += 1
            unique = f"{safe}-{count}"
        self._taken.add(unique)
        self._name, self._held, self._written = unique, None, []
        self._stream = None

    def take(self, row: GoodRow) -> None:
        if not self._apart:
            if self._stream is None:
                self._stream = _Packed(self._full(), self._full() + ".part")
            self._stream.write(row.data)
            return
        if self._held is not None or self._written:
            self._flush(f"{self._name}/{len(self._written) + 1:06}")
        self._held = row

    def end(self) -> list[str]:
        if self._held is not None:
            alone = not self._written
            self._flush(self._name if alone else f"{self._name}/{len(self._written) + 1:06}")
        if self._stream is not None:
            self._stream.close()
            Path(self._full() + ".part").replace(self._full())
            self._written.append(self._full())
        return self._written

    def close(self) -> None:
        pass

    def _full(self) -> str:
        return str(self._folder / f"{self._name}{self._suffix}")

    def _flush(self, name: str) -> None:
        row, self._held = self._held, None
        if row is None:
            return
        path = str(self._folder / f"{name}{self._suffix}")
        stream = _Packed(path, path + ".part")
        stream.write(row.data)
        stream.close()
        Path(path + ".part").replace(path)
        self._written.append(path)


class TableOutput:
    """All conversations into one Parquet or Arrow file: `record`, `receipt` and `ok`."""

    def __init__(self, path: str, target: Format) -> None:
        self._bulk = import_module("toolglot.bulk")
        self._path, self._target = path, target
        self._part = f"{path}.part"
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._writer = self._bulk.table_writer(self._part, parquet=path.endswith(".parquet"))
        self._rows: list[GoodRow] = []

    def begin(self, name: str) -> None:
        pass

    def take(self, row: GoodRow) -> None:
        self._rows.append(row)
        if len(self._rows) >= self._bulk.BATCH_ROWS:
            self._flush()

    def end(self) -> list[str]:
        return [self._path]

    def close(self) -> None:
        self._flush()
        self._writer.close()
        Path(self._part).replace(self._path)

    def _flush(self) -> None:
        if self._rows:
            records = [row.data.decode("utf-8", "surrogatepass").strip() for row in self._rows]
            receipts = [notes_as_json(row.notes) for row in self._rows]
            self._writer.write_batch(self._bulk.as_batch(records, receipts))
            self._rows = []


# --- sessions of agents ---------------------------------------------------------------------------


class InstallOutput:
    """Sessions where their agent looks for them; one that is there already is never replaced."""

    def __init__(self, target: Format) -> None:
        if target.client not in _PLACES:
            raise OutputError(f"--install is for {' and '.join(_PLACES)}, not for {target.name}")
        self._place = _PLACES[target.client]
        self.hints: list[str] = []
        self._written: list[str] = []

    def begin(self, _name: str) -> None:
        self._written = []

    def take(self, row: GoodRow) -> None:
        path, hint = self._place([jsontext.decode(line) for line in row.data.splitlines()])
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("xb") as file:
                file.write(row.data)
        except FileExistsError:
            raise OutputError(f"{path} is there already and is not overwritten") from None
        self._written.append(str(path))
        self.hints.append(hint)

    def end(self) -> list[str]:
        return self._written

    def close(self) -> None:
        pass


def _claude_code(lines: list[Any]) -> tuple[Path, str]:
    first = next(line for line in lines if "cwd" in line)
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    folder = re.sub(r"[^a-zA-Z0-9]", "-", first["cwd"])
    session = first["sessionId"]
    hint = f"cd {first['cwd']} && claude --resume {session}"
    return home / "projects" / folder / f"{session}.jsonl", hint


def _codex(lines: list[Any]) -> tuple[Path, str]:
    meta = lines[0]["payload"]
    home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    time = meta["timestamp"][:19]
    name = f"rollout-{time.replace(':', '-')}-{meta['id']}.jsonl"
    folder = home / "sessions" / Path(*time[:10].split("-"))
    return folder / name, f"cd {meta['cwd']} && codex resume {meta['id']}"


_PLACES: Final = {"claude-code": _claude_code, "codex": _codex}


def open_output(out: str, target: Format) -> Output:
    """What writes to `-`, to a file or to a folder, by the name."""
    name = next((out.removesuffix(each) for each in _PACKERS if out.endswith(each)), out)
    if out.endswith(TABLES):
        return TableOutput(out, target)
    if out == "-" or (name.endswith((".jsonl", ".json", ".ndjson")) and not Path(out).is_dir()):
        return StreamOutput(out, target)
    return FolderOutput(out, target, target.suffix)


class LinesFile:
    """A file of lines of JSON that is there from the first line on; without a path, none is."""

    def __init__(self, path: str | None) -> None:
        self._path = Path(path) if path else None
        self._file: Any = None

    def __enter__(self) -> Self:
        """Take away what an earlier run left."""
        if self._path is not None and self._path.is_file():
            self._path.unlink()
        return self

    def __call__(self, value: Any) -> None:
        """One more line."""
        if self._path is None:
            return
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("wb")
        self._file.write(jsontext.encode(value) + b"\n")

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
