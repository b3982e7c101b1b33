"""Recordings: exact bytes, no secrets, and never in the way of an exchange."""

import json
import threading
from pathlib import Path

import pytest

from toolglot.context import Options
from toolglot.errors import DecodeError
from toolglot.gateway.telemetry.recorder import (
    Meta,
    Recorder,
    options_from_json,
    options_to_json,
    read_meta,
)
from toolglot.ir import ApiError
from toolglot.receipt import Note, Receipt
from toolglot.rules import ToolRules

KEY = "sk-ant-api03-Zm9vYmFyYmF6cXV4-0123456789abcd"
ASKED = b'{"model": "claude-x",\n "messages": []}'
SENT = b'{"model":"gpt-x","messages":[]}'
CHUNKS = (b'data: {"a"', b":1}\n\n", b"data: [DONE]\n\n")
SHOWN = b"event: message_stop\ndata: {}\n\n"


@pytest.fixture
def recorder(tmp_path):
    recorder = Recorder(tmp_path / "recordings")
    yield recorder
    recorder.close()


def meta(**more) -> Meta:
    known = {
        "request_id": "req_1",
        "client": "anthropic",
        "provider": "openai-chat",
        "now": 1790000000,
    }
    return Meta(**{**known, **more})


def recorded(recorder: Recorder, **more) -> None:
    recording = recorder.start(meta(**more))
    recording.client_request(ASKED)
    recording.upstream_request(
        SENT, f"https://host/v1/chat?key={KEY}", {"Authorization": f"Bearer {KEY}", "accept": "*/*"}
    )
    recording.upstream_response(200, {"Content-Type": "text/event-stream", "set-cookie": KEY})
    for chunk in CHUNKS:
        recording.upstream_chunk(chunk)
    recording.client_response(200, {"content-type": "text/event-stream"})
    recording.client_chunk(SHOWN)
    recording.end(Receipt((Note("id-made", "info", "messages[0]", "why"),)))


def folders(recorder: Recorder) -> list[str]:
    recorder.close()
    return sorted(path.name for path in recorder.directory.iterdir())


def test_an_exchange_is_a_folder_of_exact_bytes(recorder):
    recorded(recorder)
    assert folders(recorder) == ["0001-req_1"]
    folder = recorder.directory / "0001-req_1"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert json.loads(files.pop("receipt.json")) == [
        {"code": "id-made", "severity": "info", "path": "messages[0]", "message": "why"}
    ]
    known = json.loads(files.pop("meta.json"))
    assert files == {
        "client.request.json": ASKED,
        "upstream.request.json": SENT,
        "upstream.response.sse": b"".join(CHUNKS),
        "client.response.sse": SHOWN,
    }
    assert [size for _, size in known["upstream_chunks"]] == [len(chunk) for chunk in CHUNKS]
    assert known["status"] == known["client_status"] == 200
    assert known["now"] == 1790000000
    assert known["started"].endswith("+00:00")
    assert read_meta(folder).client == "anthropic"


def test_secrets_are_masked(recorder):
    recorded(recorder, path=f"/v1beta/models/m:generateContent?key={KEY}")
    recorder.close()
    text = (recorder.directory / "0001-req_1" / "meta.json").read_text()
    assert KEY not in text
    assert "Bearer sk-…abcd" in text
    assert "https://host/v1/chat?key=sk-…abcd" in text


def test_exchanges_are_numbered_on(recorder):
    recorded(recorder)
    recorded(recorder, request_id="../../etc/passwd")
    recorder.close()
    later = Recorder(recorder.directory)
    recorded(later, request_id="")
    assert folders(later) == ["0001-req_1", "0002-.._.._etc_passwd", "0003-request"]


def test_the_last_attempt_is_what_counts(recorder):
    recording = recorder.start(meta())
    recording.client_request(ASKED)
    recording.upstream_request(b"{}", "https://one/x", {})
    recording.upstream_response(503, {})
    recording.upstream_chunk(b"busy")
    recording.upstream_request(SENT, "https://two/x", {})
    recording.upstream_response(200, {"content-type": "application/json; charset=utf-8"})
    recording.upstream_chunk(b"{}")
    recording.end()
    recorder.close()
    folder = recorder.directory / "0001-req_1"
    assert (folder / "upstream.request.json").read_bytes() == SENT
    assert (folder / "upstream.response.json").read_bytes() == b"{}"
    assert not (folder / "receipt.json").exists()
    known = read_meta(folder)
    assert known.attempts == [{"url": "https://one/x", "status": 503}]
    assert (known.url, known.status, len(known.upstream_chunks)) == ("https://two/x", 200, 1)


def test_a_request_that_was_refused_is_recorded_too(recorder):
    recording = recorder.start(meta())
    recording.client_request(ASKED)
    recording.client_response(400, {})
    recording.client_chunk(b'{"error":{}}')
    recording.end(error=ApiError(kind="invalid_request", message="no"))
    recorder.close()
    folder = recorder.directory / "0001-req_1"
    assert {path.name for path in folder.iterdir()} == {
        "client.request.json",
        "client.response.json",
        "meta.json",
    }
    assert read_meta(folder).error == ApiError(kind="invalid_request", message="no")


@pytest.mark.parametrize(
    ("content_type", "data", "suffix"),
    [
        ("application/x-ndjson", b'{"a":1}\n{"b":2}\n', "ndjson"),
        ("text/event-stream; charset=utf-8", b"data: {}\n\n", "sse"),
        ("text/plain", b"data: {}\n\n", "sse"),
        ("application/json", b": keep-alive\n\ndata: {}\n\n", "sse"),
        ("", b"{}", "json"),
    ],
)
def test_files_are_called_by_what_is_in_them(recorder, content_type, data, suffix):
    recording = recorder.start(meta())
    recording.upstream_request(SENT, "https://host/x", {})
    recording.upstream_response(200, {"content-type": content_type})
    recording.upstream_chunk(data)
    recording.end()
    recorder.close()
    assert (recorder.directory / "0001-req_1" / f"upstream.response.{suffix}").read_bytes() == data


def test_writing_happens_in_another_thread(recorder, monkeypatch):
    threads = []
    write = recorder._write
    monkeypatch.setattr(
        recorder, "_write", lambda *args: (threads.append(threading.current_thread()), write(*args))
    )
    recorded(recorder)
    recorder.close()
    assert threads
    assert threads[0] is not threading.current_thread()


def test_a_disk_that_fails_is_a_warning(recorder, caplog):
    recorder.directory.rmdir()
    recorder.directory.write_text("in the way")
    recorded(recorder)
    recorder.close()
    assert "cannot record req_1" in caplog.text


def test_a_disk_that_fails_for_long_is_one_warning_and_its_end_another(recorder, caplog):
    recorder.directory.rmdir()
    recorder.directory.write_text("in the way")
    for _ in range(3):
        recorder._write("req_1", {})
    recorder.directory.unlink()
    recorder.directory.mkdir()
    recorder._write("req_2", {})
    assert [record.message.split(";")[-1].strip() for record in caplog.records][1:] == [
        "3 exchanges were not recorded"
    ]


def test_half_a_recording_is_taken_away(recorder, monkeypatch, caplog):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "rename", full)
    recorded(recorder)
    recorder.close()
    assert "no space left" in caplog.text
    assert list(recorder.directory.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(model="gpt-x", max_tokens=5, strict=True, optional_markers=("maybe",)),
        Options(rules="codex-anthropic"),
        Options(rules=ToolRules(filter=("a*",), rename={"b": "c"}), validate="note"),
    ],
)
def test_options_come_back(options):
    value = json.loads(json.dumps(options_to_json(options)))
    assert options_from_json(value) == options


def test_functions_are_not_recorded():
    options = Options(model="m", passes=(lambda request, ctx: request,))
    assert options_to_json(options) == {"model": "m"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"client":"anthropic"}',
        '{"version":2,"request_id":"r","client":"a","provider":"b"}',
    ],
)
def test_what_is_no_recording_is_named(tmp_path, text):
    (tmp_path / "meta.json").write_text(text)
    with pytest.raises(DecodeError, match=r"meta\.json"):
        read_meta(tmp_path)
