"""`toolglot convert`: files in, files out, and what is wrong with them."""

import bz2
import gzip
import json
import lzma
import os
import sys
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from tests.convert.conversations import RICH, WEATHER

from toolglot.cli import main
from toolglot.cli.byte_progress import ByteProgress, describe
from toolglot.cli.convert_input import InputLimits, _lines, find_files
from toolglot.wire.event_stream import encode_event

ROWS = [WEATHER, RICH, WEATHER]


def written(path, *rows):
    data = b"".join(r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n" for r in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def read(path):
    data = path.read_bytes()
    return [json.loads(line) for line in data.splitlines()]


def convert(*args):
    return main(["convert", *map(str, args)])


@pytest.fixture
def source(tmp_path):
    return written(tmp_path / "in" / "rows.jsonl", *ROWS)


def test_a_file_to_a_file(source, tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    assert convert(source, "--to", "anthropic", "--out", out) == 0
    assert [row["system"] for row in read(out)] == ["Be brief."] * 3
    said = capsys.readouterr().err
    assert "openai, because its messages have the roles of chats" in said
    assert "3 conversations of 1 file" in said


def test_standard_input_and_output(monkeypatch, capfdbinary):
    data = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(data)))
    assert convert("-", "--to", "sharegpt") == 0
    assert len(capfdbinary.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_packed_files(tmp_path, pack):
    data = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    source = written(tmp_path / "rows.jsonl.packed", pack(data))
    assert convert(source, "--to", "sharegpt", "--out", tmp_path / "out.jsonl") == 0
    assert len(read(tmp_path / "out.jsonl")) == 3


@pytest.mark.parametrize("suffix", ["gz", "xz"])
def test_packed_output_has_the_same_bytes_each_time(source, tmp_path, suffix):
    outs = [tmp_path / f"{number}.jsonl.{suffix}" for number in range(2)]
    for out in outs:
        assert convert(source, "--to", "sharegpt", "--out", out) == 0
    first, second = (out.read_bytes() for out in outs)
    assert first == second


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_in_one_document(tmp_path, indent):
    source = written(tmp_path / "rows.json", json.dumps(ROWS, indent=indent).encode())
    assert convert(source, "--to", "sharegpt", "--out", tmp_path / "out.jsonl") == 0
    assert len(read(tmp_path / "out.jsonl")) == 3


def test_an_indented_object(tmp_path):
    source = written(tmp_path / "row.json", json.dumps(WEATHER, indent=1).encode())
    assert convert(source, "--to", "sharegpt", "--out", tmp_path / "out.jsonl") == 0
    assert len(read(tmp_path / "out.jsonl")) == 1


def test_folders_patterns_and_names(tmp_path, monkeypatch):
    for name in ("a/rows.jsonl", "a/b/rows.jsonl", "a/b/rows.jsonl.gz"):
        data = gzip.compress(json.dumps(WEATHER).encode()) if name.endswith("gz") else WEATHER
        written(tmp_path / name, data)
    (tmp_path / "a" / "notes.txt").write_text("nothing")
    out = tmp_path / "out"
    assert convert(tmp_path / "a", "--to", "openai", "--out", out) == 0
    files = sorted(str(path.relative_to(out)) for path in out.rglob("*.jsonl"))
    assert files == [".toolglot-convert.jsonl", "b/rows-2.jsonl", "b/rows.jsonl", "rows.jsonl"]
    monkeypatch.chdir(tmp_path)
    assert convert("a/**/*.jsonl", "--to", "openai", "--out", "other") == 0
    assert len(list((tmp_path / "other").rglob("rows.jsonl"))) == 2


def test_documents_and_sessions_get_a_file_each(source, tmp_path):
    assert convert(source, "--to", "atif", "--out", tmp_path / "atif") == 0
    names = sorted(path.name for path in (tmp_path / "atif" / "rows").iterdir())
    assert names == ["000001.json", "000002.json", "000003.json"]
    assert convert(source, "--to", "codex", "--out", tmp_path / "codex") == 0
    assert convert(tmp_path / "codex", "--to", "openai", "--out", tmp_path / "back.jsonl") == 0
    assert len(read(tmp_path / "back.jsonl")) == 3


def test_several_sessions_do_not_fit_into_one_file(source, tmp_path, capsys):
    assert convert(source, "--to", "codex", "--out", tmp_path / "one.jsonl") == 1
    assert "give --out a folder" in capsys.readouterr().err


def test_bad_rows_are_kept_aside_with_line_and_reason(tmp_path, capsys):
    rows = (WEATHER, b'{"messages": [\n', b"\n", b'{"a": "\xff"}\n', RICH)
    source = written(tmp_path / "rows.jsonl", *rows)
    out = tmp_path / "out"
    assert convert(source, "--to", "anthropic", "--out", out) == 1
    assert len(read(out / "rows.jsonl")) == 2
    bad = read(out / "bad-rows.jsonl")
    assert [(row["file"], row["line"]) for row in bad] == [(str(source), 2), (str(source), 4)]
    said = capsys.readouterr().err
    assert f"{source}:4: not UTF-8" in said
    assert "2 left out" in said


def test_a_file_that_was_cut_is_converted_as_far_as_it_goes(tmp_path, capsys):
    data = b"".join(json.dumps({**WEATHER, "n": n}).encode() + b"\n" for n in range(2000))
    packed = gzip.compress(data)
    source = written(tmp_path / "rows.jsonl.gz", packed[: len(packed) // 2])
    assert convert(source, "--to", "trl", "--out", tmp_path / "out.jsonl") == 1
    assert "cut off or damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("[]".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04....", "zip archive"),
        (gzip.compress(b" " * (70 << 20)), "expands more than"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, data, words, capsys):
    source = written(tmp_path / "rows.jsonl", data)
    good = written(tmp_path / "good.jsonl", WEATHER)
    assert convert(source, good, "--to", "openai", "--out", tmp_path / "out.jsonl") == 1
    assert words in capsys.readouterr().err
    assert len(read(tmp_path / "out.jsonl")) == 1


def test_a_row_that_is_too_long_is_skipped(tmp_path, capsys):
    long = {"messages": [{"role": "user", "content": "x" * (2 << 20)}]}
    source = written(tmp_path / "rows.jsonl", WEATHER, long, WEATHER)
    out = tmp_path / "out.jsonl"
    assert convert(source, "--to", "openai", "--out", out, "--max-row", 1) == 1
    assert len(read(out)) == 2
    assert f"{source}:2: the row has more than 1 MB" in capsys.readouterr().err


def test_long_rows_are_not_kept_in_memory():
    pieces = (b"x" * 1000 for _ in range(1000))
    (row,) = _lines(pieces, InputLimits(row=10))
    assert row.line == 1


def test_links_that_lead_nowhere_or_around(tmp_path):
    written(tmp_path / "a" / "rows.jsonl", WEATHER)
    (tmp_path / "a" / "around").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "a" / "self.jsonl").symlink_to(tmp_path / "a" / "self.jsonl")
    (tmp_path / "a" / "same.jsonl").symlink_to(tmp_path / "a" / "rows.jsonl")
    files, missing = find_files([str(tmp_path / "a"), str(tmp_path / "nothing.jsonl")])
    assert [Path(file.path).name for file in files] == ["rows.jsonl"]
    assert [Path(path).name for path, _ in missing] == ["self.jsonl", "nothing.jsonl"]


def test_a_missing_file_is_said_and_the_rest_converted(source, tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    assert convert(source, tmp_path / "none.jsonl", "--to", "openai", "--out", out) == 1
    assert "none.jsonl: there is no such file" in capsys.readouterr().err
    assert len(read(out)) == 3


@pytest.mark.slow
def test_several_processes_write_the_same_bytes(tmp_path):
    rows = [{**WEATHER, "n": number} for number in range(4000)]
    source = written(tmp_path / "rows.jsonl", *rows, b"{\n")
    outs = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for jobs, out in enumerate(outs, 1):
        assert convert(source, "--to", "anthropic", "--out", out, "--jobs", jobs) == 1
    one, two = (out.read_bytes() for out in outs)
    assert one == two
    assert one.count(b"\n") == 4000


def test_a_run_is_resumed_file_by_file(tmp_path, capsys):
    for name in "ab":
        written(tmp_path / "in" / f"{name}.jsonl", WEATHER)
    args = (tmp_path / "in", "--to", "anthropic", "--out", tmp_path / "out", "--resume")
    assert convert(*args) == 0
    kept = (tmp_path / "out" / "a.jsonl").stat().st_mtime_ns
    written(tmp_path / "in" / "b.jsonl", WEATHER, RICH)
    written(tmp_path / "in" / "c.jsonl", WEATHER)
    capsys.readouterr()
    assert convert(*args) == 0
    assert "4 conversations of 3 files, 1 file converted before" in capsys.readouterr().err
    assert (tmp_path / "out" / "a.jsonl").stat().st_mtime_ns == kept
    assert len(read(tmp_path / "out" / "b.jsonl")) == 2


def test_other_options_convert_again(tmp_path, capsys):
    written(tmp_path / "in" / "a.jsonl", WEATHER)
    args = (tmp_path / "in", "--out", tmp_path / "out", "--resume", "--to")
    assert convert(*args, "anthropic") == 0
    assert convert(*args, "sharegpt") == 0
    assert "conversations" in read(tmp_path / "out" / "a.jsonl")[0]


def test_receipts_and_counts(source, tmp_path, capsys):
    receipts = tmp_path / "receipts.jsonl"
    args = ("--out", tmp_path / "o.jsonl", "--receipts", receipts, "--stats", "--validate")
    assert convert(source, "--to", "sharegpt", *args) == 0
    lines = read(receipts)
    assert [line["line"] for line in lines] == [1, 2, 3]
    assert {"code", "severity", "path", "message"} == lines[0]["notes"][0].keys()
    said = capsys.readouterr().err
    assert "1 lost something" in said
    assert "calls that fit their tools 4" in said
    assert "note part-dropped" in said


def test_filters(source, tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    args = ("--filter", "model=a-*", "--filter", "has-calls")
    assert convert(source, "--to", "openai", "--out", out, *args) == 0
    assert len(read(out)) == 1
    assert "2 filtered out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), "give files"),
        (("a.jsonl",), "give --to FORMAT"),
        (("a.jsonl", "--to", "wordperfect"), "no format named"),
        (("a.jsonl", "--to", "openai", "--filter", "nice"), "cannot read the filter"),
        (("a.jsonl", "--to", "openai", "--resume"), "--resume needs --out FOLDER"),
    ],
)
def test_calls_that_mean_nothing(args, words, capsys):
    with pytest.raises(SystemExit) as stopped:
        convert(*args)
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err


def test_the_list_of_formats(capsys):
    assert convert("--list") == 0
    assert "sharegpt" in capsys.readouterr().out


def test_a_folder_of_recordings(tmp_path):
    folder = tmp_path / "0001-req_1"
    meta = {"request_id": "req_1", "client": "openai-chat", "provider": "anthropic"}
    answer = {
        "id": "x",
        "model": "m",
        "choices": [{"index": 0, "message": WEATHER["messages"][-1]}],
    }
    files = {
        "meta.json": meta,
        "client.request.json": {**WEATHER, "model": "m", "messages": WEATHER["messages"][:-1]},
        "client.response.json": answer,
        "upstream.request.json": {},
        "receipt.json": [],
    }
    for name, value in files.items():
        written(folder / name, value)
    out = tmp_path / "out.jsonl"
    assert convert(tmp_path, "--to", "openai", "--out", out) == 0
    assert [m["content"] for m in read(out)[0]["messages"]][-1] == "It rains."
    with pytest.raises(SystemExit):
        convert(out, "--to", "recording")


def test_a_recorded_stream_of_binary_messages(tmp_path):
    folder, out = tmp_path / "0001-req_1", tmp_path / "out.jsonl"
    meta = {"client": "bedrock-converse", "provider": "ollama", "path": "/model/m/converse-stream"}
    asked = {"messages": [{"role": "user", "content": [{"text": "Deep?"}]}]}
    written(folder / "meta.json", meta)
    written(folder / "client.request.json", asked)
    events = {"messageStart": {"role": "assistant"}}
    events["contentBlockDelta"] = {"contentBlockIndex": 0, "delta": {"text": "Knee deep."}}
    events["messageStop"] = {"stopReason": "end_turn"}
    data = b"".join(encode_event(name, json.dumps(each).encode()) for name, each in events.items())
    (folder / "client.response.eventstream").write_bytes(data)
    assert convert(tmp_path, "--to", "openai", "--out", out) == 0
    assert [m["content"] for m in read(out)[0]["messages"]] == ["Deep?", "Knee deep."]


# --- sessions of agents ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "variable", "pattern"),
    [
        ("codex", "CODEX_HOME", "sessions/2*/*/*/rollout-*.jsonl"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "projects/-home-ada-tides/*.jsonl"),
    ],
)
def test_a_session_is_installed_once(tmp_path, monkeypatch, capsys, agent, *, variable, pattern):
    monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.setattr(os, "getcwd", lambda: "/home/ada/tides")
    source = written(tmp_path / "row.jsonl", WEATHER)
    assert convert(source, "--to", agent, "--install") == 0
    (installed,) = (tmp_path / "home").glob(pattern)
    hint = capsys.readouterr().out
    assert "resume" in hint
    assert "cd /home/ada/tides && " in hint
    before = installed.read_bytes()
    monkeypatch.setattr("toolglot.cli.convert_command.time.time", lambda: _time_of(installed))
    assert convert(source, "--to", agent, "--install") == 1
    assert "is not overwritten" in capsys.readouterr().err
    assert installed.read_bytes() == before


def _time_of(path):
    from datetime import datetime

    first = json.loads(path.read_bytes().splitlines()[0])
    return datetime.fromisoformat(first["timestamp"]).timestamp()


def test_other_formats_are_not_installed(source, capsys):
    assert convert(source, "--to", "openai", "--install") == 1
    assert "--install is for" in capsys.readouterr().err


# --- the bar --------------------------------------------------------------------------------------


def test_the_bar_says_rate_and_time_left():
    text = describe(50_000_000, 100_000_000, 7, 10.0)
    assert text == "████████████░░░░░░░░░░░░ 50 % 7 conversations, 5.0 MB/s, 10 s left"
    assert describe(1_000_000, 1_000_000_000, 1, 1.0).endswith("16:39 left")
    assert describe(1_000_000, 10_000_000_000, 1, 1.0).endswith("2:46:39 left")
    assert describe(5_000_000, 0, 1, 1.0) == "1 conversations, 5.0 MB/s"


def test_the_bar_is_drawn_on_a_terminal_only():
    plain = StringIO()
    with ByteProgress(10, plain) as bar:
        bar.show(5, 1)
    assert plain.getvalue() == ""
