"""`toolglot replay`: recorded exchanges come out the same, and what does not is shown."""

import json

import pytest
from tests.laws.corpus import FIXTURES, NAMES, path_to

from toolglot.cli.replay import replay
from toolglot.context import Options
from toolglot.exchange import Exchange
from toolglot.gateway.telemetry.recorder import Meta, Recorder, options_to_json
from toolglot.ir import ApiError

NOW = 1790000000
ASKS = {
    "anthropic": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]},
    "openai-chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "openai-responses": {"model": "m", "input": "hi"},
    "gemini-interactions": {"model": "m", "input": "hi"},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "ollama": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "bedrock-converse": {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
}
TYPES = {
    "ollama": "application/x-ndjson",
    "bedrock-converse": "application/vnd.amazon.eventstream",
}
STREAMS = {name: min((FIXTURES / name).glob("*.stream.txt")) for name in NAMES}
BODIES = {name: min((FIXTURES / name).glob("*.response.json")) for name in NAMES}
ERROR = ApiError(kind="timeout", message="provider work fell silent", status=504)


def pieces(data: bytes) -> list[bytes]:
    return [data[place : place + 50] for place in range(0, len(data), 50)]


def record(
    directory, client, provider, data, *, stream=False, status=200, error=None, options=None
):
    """What the gateway does with one exchange."""
    options = options or Options(model="other-model")
    meta = Meta(
        request_id=f"{client}-{provider}",
        client=client,
        provider=provider,
        path=path_to(client),
        stream=stream,
        options=options_to_json(options),
        now=NOW,
    )
    recorder = Recorder(directory)
    recording = recorder.start(meta)
    exchange = Exchange(client, provider, options, now=NOW)
    asked = json.dumps(ASKS[client], indent=1).encode()
    recording.client_request(asked)
    sent = exchange.request(asked, meta.path)
    recording.upstream_request(sent.data, f"https://host{sent.path}", {})
    streams = (stream and not data.startswith(b"{")) or (stream and provider == "ollama")
    kind = TYPES.get(provider, "text/event-stream") if streams else "application/json"
    recording.upstream_response(status, {"content-type": kind})
    if streams:
        translator = exchange.stream()
        for piece in pieces(data):
            recording.upstream_chunk(piece)
            recording.client_chunk(translator.feed(piece))
        recording.client_chunk(translator.fail(error) if error else translator.close())
    else:
        recording.upstream_chunk(data)
        if stream and status < 400:
            recording.client_chunk(exchange.unfolded(data).data)
        else:
            recording.client_chunk(exchange.response(data, status=status, headers={}).data)
    recording.end(exchange.receipt, error)
    recorder.close()


@pytest.mark.parametrize("provider", NAMES)
@pytest.mark.parametrize("client", NAMES)
def test_answers_and_streams_come_out_the_same(cli, tmp_path, client, provider):
    record(tmp_path, client, provider, BODIES[provider].read_bytes())
    record(tmp_path, client, provider, STREAMS[provider].read_bytes(), stream=True)
    done = cli("replay", str(tmp_path))
    assert done.code == 0, done.out.decode()
    lines = done.out.decode().splitlines()
    assert lines[0].split() == ["exchange", "request", "answer"]
    assert [line.split()[1:] for line in lines[1:]] == [["same", "same"]] * 2


def test_errors_breaks_and_whole_answers_to_streams_come_out_the_same(cli, tmp_path):
    error = b'{"error":{"message":"slow down","type":"rate_limit_error"}}'
    record(tmp_path, "anthropic", "openai-chat", error, status=429, stream=True)
    whole = BODIES["openai-chat"].read_bytes()
    record(tmp_path, "anthropic", "openai-chat", whole, stream=True)
    cut = STREAMS["openai-chat"].read_bytes()[:300]
    record(tmp_path, "anthropic", "openai-chat", cut, stream=True, error=ERROR)
    done = cli("replay", str(tmp_path))
    assert done.out.count(b"same") == 6, done.out.decode()
    assert done.code == 0


def test_the_recorded_time_is_used(tmp_path):
    """An Anthropic answer has no time, so a Chat client is told that of the exchange."""
    record(tmp_path, "openai-chat", "anthropic", BODIES["anthropic"].read_bytes())
    _, answer = replay(next(tmp_path.iterdir()))
    assert json.loads(answer.now)["created"] == NOW


def test_the_recorded_options_are_used(tmp_path):
    options = Options(model="other-model", max_tokens=77)
    body = BODIES["anthropic"].read_bytes()
    record(tmp_path, "openai-chat", "anthropic", body, options=options)
    request, _ = replay(next(tmp_path.iterdir()))
    assert json.loads(request.now)["max_tokens"] == 77


def test_differences_are_shown_and_can_be_accepted(cli, tmp_path):
    record(tmp_path, "anthropic", "openai-chat", BODIES["openai-chat"].read_bytes())
    (folder,) = tmp_path.iterdir()
    file = folder / "upstream.request.json"
    file.write_bytes(file.read_bytes().replace(b'"hi"', b'"ho"'))
    done = cli("replay", str(tmp_path))
    assert done.code == 1
    assert [line.split()[1:] for line in done.out.decode().splitlines()[1:2]] == [
        ["different", "same"]
    ]
    assert b'-      "content": "ho"' in done.out
    assert b'+      "content": "hi"' in done.out
    assert cli("replay", str(folder), "--update").code == 0
    assert cli("replay", str(folder)).code == 0


def test_blanks_in_json_are_no_difference(cli, tmp_path):
    record(tmp_path, "anthropic", "openai-chat", BODIES["openai-chat"].read_bytes())
    (folder,) = tmp_path.iterdir()
    file = folder / "client.response.json"
    file.write_text(json.dumps(json.loads(file.read_bytes()), indent=4, ensure_ascii=False))
    assert cli("replay", str(tmp_path)).code == 0


def test_a_long_difference_is_cut(cli, tmp_path):
    record(tmp_path, "anthropic", "openai-chat", BODIES["openai-chat"].read_bytes())
    (folder,) = tmp_path.iterdir()
    (folder / "client.response.json").write_text("\n".join(map(str, range(500))))
    done = cli("replay", str(tmp_path))
    assert done.code == 1
    assert b"more lines" in done.out


def test_a_refused_request_has_nothing_to_replay(cli, tmp_path):
    recorder = Recorder(tmp_path)
    recording = recorder.start(Meta(request_id="r", client="anthropic", provider="openai-chat"))
    recording.client_request(b"{}")
    recording.end()
    recorder.close()
    done = cli("replay", str(tmp_path))
    assert done.code == 0
    assert done.out.decode().splitlines()[1].split() == ["0001-r", "-", "-"]


def test_a_directory_without_recordings_is_an_error(cli, tmp_path):
    done = cli("replay", str(tmp_path))
    assert done.code == 1
    assert str(tmp_path) in done.err


def test_a_recording_that_cannot_be_read_is_named(cli, tmp_path):
    record(tmp_path, "anthropic", "openai-chat", BODIES["openai-chat"].read_bytes())
    (folder,) = tmp_path.iterdir()
    (folder / "client.request.json").write_text("{")
    done = cli("replay", str(tmp_path))
    assert done.code == 1
    assert folder.name in done.err


def test_a_directory_is_asked_for(cli):
    assert cli("replay").code == 2
