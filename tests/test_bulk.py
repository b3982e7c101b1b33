"""Conversations in Arrow tables."""

import json

import pytest
from tests.convert.conversations import RICH, WEATHER

from toolglot.cli import main

pa = pytest.importorskip("pyarrow")

from toolglot import bulk  # noqa: E402 - it needs what was just asked for
from toolglot.errors import DecodeError  # noqa: E402

TEXTS = [json.dumps(WEATHER), "{", json.dumps(RICH)]


@pytest.fixture
def batch():
    return pa.record_batch([pa.array(TEXTS)], names=["record"])


def test_a_row_out_for_each_row_in(batch):
    done = bulk.convert(batch, target="sharegpt")
    assert done.schema == bulk.schema()
    assert done.column("ok").to_pylist() == [True, False, True]
    record = json.loads(done.column("record")[0].as_py())
    assert record["conversations"][0] == {"from": "human", "value": "How is the weather in Oslo?"}
    assert done.column("record")[1].as_py() is None
    assert "not JSON" in done.column("reason")[1].as_py()
    codes = [note["code"] for note in done.column("receipt")[2].as_py()]
    assert "part-dropped" in codes


def test_a_table_gives_a_table(batch):
    table = pa.Table.from_batches([batch, batch])
    done = bulk.convert(table, target="anthropic")
    assert isinstance(done, pa.Table)
    assert done.num_rows == 6


def test_columns_are_a_row():
    turns = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]
    table = pa.Table.from_pylist([{"conversations": turns, "system": "Be brief.", "tools": None}])
    done = bulk.convert(table, target="openai")
    messages = json.loads(done.column("record")[0].as_py())["messages"]
    assert [message["content"] for message in messages] == ["Be brief.", "Hi", "Ho"]


def test_whole_files_in_a_column(batch):
    from pathlib import Path

    session = (Path(__file__).parent / "convert" / "files" / "codex.jsonl").read_bytes()
    table = pa.Table.from_pylist([{"bytes": session}])
    done = bulk.convert(table, source="codex", target="openai", column="bytes")
    assert done.column("ok").to_pylist() == [True]
    with pytest.raises(DecodeError, match="whole files"):
        bulk.convert(pa.Table.from_pylist([{"a": 1, "b": 2}]), source="codex", target="openai")


def test_batches_one_by_one(batch):
    assert [each.num_rows for each in bulk.convert_batches([batch] * 2, target="openai")] == [3, 3]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_tables_in_and_out(tmp_path, suffix):
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in (WEATHER, RICH)))
    table, back = tmp_path / f"rows.{suffix}", tmp_path / "back.jsonl"
    assert main(["convert", str(source), "--to", "openai", "--out", str(table)]) == 0
    only = tmp_path / f"records.{suffix}"
    _write(only, _read(table).select(["record"]), suffix)
    assert main(["convert", str(only), "--to", "openai", "--out", str(back)]) == 0
    direct = tmp_path / "direct.jsonl"
    assert main(["convert", str(source), "--to", "openai", "--out", str(direct)]) == 0
    assert back.read_bytes() == direct.read_bytes()


def _read(path):
    if path.suffix == ".parquet":
        return __import__("pyarrow.parquet").parquet.read_table(path)
    return __import__("pyarrow.ipc").ipc.open_file(path).read_all()


def _write(path, table, suffix):
    if suffix == "parquet":
        __import__("pyarrow.parquet").parquet.write_table(table, path)
        return
    with __import__("pyarrow.ipc").ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def test_others_read_what_is_written(tmp_path):
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    source, out = tmp_path / "rows.jsonl", tmp_path / "rows.parquet"
    source.write_text("".join(json.dumps(row) + "\n" for row in (WEATHER, RICH)))
    assert main(["convert", str(source), "--to", "sharegpt", "--out", str(out)]) == 0
    asked = f"SELECT n.code, count(*) FROM (SELECT unnest(receipt) AS n FROM '{out}') GROUP BY 1"
    counts = dict(duckdb.sql(asked).fetchall())
    assert counts["part-dropped"] == 1
    frame = polars.read_parquet(out)
    assert frame["ok"].to_list() == [True, True]
    assert json.loads(frame["record"][0])["system"] == "Be brief."
    again = polars.from_arrow(bulk.convert(frame.select("record").to_arrow(), target="openai"))
    assert again["ok"].all()
