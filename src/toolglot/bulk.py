"""Conversations in Arrow tables: one function on record batches, for whatever engine has them.

    toolglot.bulk.convert(batch, target="openai")                      # a RecordBatch or a Table
    ray.data.read_json(…).map_batches(toolglot.bulk.convert, batch_format="pyarrow",
                                      fn_kwargs={"target": "openai"})
    frame.mapInArrow(partial(toolglot.bulk.convert_batches, target="openai"), toolglot.bulk.DDL)
    polars.from_arrow(toolglot.bulk.convert(frame.to_arrow(), target="openai"))

There is a row out for each row in: `record` (its JSON; null if it could not be converted),
`receipt` (the notes, so that losses can be queried), `ok` and `reason`. Needs the extra `bulk`.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Final

from toolglot.convert.batches import (
    BatchResult,
    Wanted,
    convert_batch,
    convert_file_rows,
    notes_as_json,
)
from toolglot.convert.formats import get_format
from toolglot.errors import DecodeError, MissingExtraError
from toolglot.wire import jsontext

BATCH_ROWS: Final = 4096
"""Rows that are read or written at once."""
DDL: Final = (
    "record string, receipt array<struct<code:string,severity:string,path:string,message:string>>, "
    "ok boolean, reason string"
)
"""The columns of the result, for Spark."""
_NOTE: Final = ("code", "severity", "path", "message")
_TEXTS: Final = ("record", "text", "bytes", "value")
"""Columns that hold a whole row, or a whole file, as text."""


def _pyarrow(name: str = "pyarrow") -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("bulk", "pyarrow") from None


def schema() -> Any:
    """The columns of the result."""
    pa = _pyarrow()
    note = pa.struct([(name, pa.string()) for name in _NOTE])
    columns = [("record", pa.string()), ("receipt", pa.list_(note))]
    return pa.schema([*columns, ("ok", pa.bool_()), ("reason", pa.string())])


def convert(
    batch: Any,
    *,
    target: str,
    source: str = "auto",
    column: str | None = None,
    strict: bool = False,
    validate: bool = False,
) -> Any:
    """The conversations of a record batch or a table in another format.

    A row is its columns, or the JSON in `column`; for formats with one conversation in each file,
    `column` holds whole files. The result is of the same kind as `batch`.
    """
    pa = _pyarrow()
    wanted = Wanted(
        target=get_format(target).name,
        source=None if source == "auto" else get_format(source).name,
        strict=strict,
        validate=validate,
    )
    rows = enumerate(_rows(batch, column), 1)
    whole = wanted.source is not None and get_format(wanted.source).unit == "file"
    if whole:
        if _text_column(batch, column) is None:
            raise DecodeError("column", f"{wanted.source} needs whole files in one column of text")
        results = [_file(number, data, wanted) for number, data in rows]
    else:
        results = [convert_batch(rows, wanted)]
    done = _as_rows(results, batch.num_rows)
    made = as_batch(*done)
    return pa.Table.from_batches([made]) if isinstance(batch, pa.Table) else made


def convert_batches(batches: Iterable[Any], **options: Any) -> Iterator[Any]:
    """The same for batches that come one by one."""
    for batch in batches:
        yield convert(batch, **options)


def _file(number: int, data: bytes, wanted: Wanted) -> BatchResult:
    """A whole file; all its lines count as the row that it is."""
    lines = [(number, line) for line in data.splitlines() if line.strip()]
    return convert_file_rows(lines, wanted)


def _text_column(batch: Any, column: str | None) -> str | None:
    if column is not None:
        return column
    names = batch.schema.names
    return names[0] if len(names) == 1 and names[0] in _TEXTS else None


def _rows(batch: Any, column: str | None) -> Iterator[bytes]:
    name = _text_column(batch, column)
    if name is None:
        for row in batch.to_pylist():
            yield jsontext.encode(row)
        return
    for value in batch.column(name).to_pylist():
        yield value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _as_rows(results: list[BatchResult], count: int) -> tuple[list[Any], list[Any], list[Any]]:
    records: list[Any] = [None] * count
    receipts: list[Any] = [[] for _ in range(count)]
    reasons: list[Any] = [None] * count
    for result in results:
        for row in result.good:
            records[row.line - 1] = row.data.decode("utf-8", "surrogatepass").rstrip("\n")
            receipts[row.line - 1] = notes_as_json(row.notes)
        for bad in result.bad:
            reasons[bad.line - 1] = bad.reason
    return records, receipts, reasons


def as_batch(records: list[Any], receipts: list[Any], reasons: list[Any] | None = None) -> Any:
    """A record batch of the result."""
    pa = _pyarrow()
    kinds = schema()
    columns = [records, receipts, [each is not None for each in records]]
    columns.append(reasons or [None] * len(records))
    arrays = [pa.array(values, kind.type) for values, kind in zip(columns, kinds, strict=True)]
    return pa.record_batch(arrays, schema=kinds)


# --- files ----------------------------------------------------------------------------------------


def table_writer(path: str, *, parquet: bool) -> Any:
    """What writes record batches of the result to a file."""
    if parquet:
        return _pyarrow("pyarrow.parquet").ParquetWriter(path, schema())
    return _pyarrow("pyarrow.ipc").new_file(path, schema())


def rows_of_table(path: str, *, parquet: bool) -> Iterator[tuple[int, bytes]]:
    """The rows of a file as JSON, with their numbers; a part of the file is in memory at once."""
    number = 0
    for batch in _batches_of(path, parquet=parquet):
        for row in _rows(batch, None):
            number += 1
            yield number, row


def _batches_of(path: str, *, parquet: bool) -> Iterator[Any]:
    if parquet:
        file = _pyarrow("pyarrow.parquet").ParquetFile(path)
        yield from file.iter_batches(batch_size=BATCH_ROWS)
        return
    opened = _pyarrow("pyarrow.ipc").open_file(_pyarrow().memory_map(path))
    for index in range(opened.num_record_batches):
        yield opened.get_batch(index)
