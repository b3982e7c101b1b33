"""`toolglot translate`: documents and streams, the receipt, and how streams are cut."""

import json
import random

import pytest
from tests.laws.corpus import FIXTURES, NAMES, PAIRS

from toolglot.cli.translate_document import split_by, words
from toolglot.lint import lint_stream
from toolglot.receipt import Note, Receipt
from toolglot.streams import StreamTranslator
from toolglot.translate import translate_request, translate_response

ASK = {
    "model": "claude-sonnet-5",
    "max_tokens": 64,
    "top_k": 4,
    "messages": [{"role": "user", "content": "hé ☀"}],
}
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-6.1",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Ja."}}
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
}
CALLS = FIXTURES / "openai-chat" / "parallel-calls.stream.txt"


def pair(source, target):
    return ("--from", source, "--to", target)


@pytest.mark.parametrize(("source", "target"), [("anthropic", name) for name in NAMES])
def test_a_request_alone_goes_to_standard_output(cli, source, target):
    wire, receipt = translate_request(ASK, source=source, target=target)
    done = cli("translate", *pair(source, target), data=json.dumps(ASK).encode())
    body = json.loads(done.out)
    assert done.code == 0
    assert done.out.count(b"\n") == 1
    assert {key: body[key] for key in wire.body} == wire.body
    assert words(receipt) in done.err


def test_a_gemini_body_carries_the_model_and_the_path_is_told(cli):
    data = json.dumps(ASK | {"stream": True}).encode()
    done = cli("translate", *pair("anthropic", "gemini"), data=data)
    assert json.loads(done.out)["model"] == "models/claude-sonnet-5"
    assert "path /v1beta/models/claude-sonnet-5:streamGenerateContent" in done.err.splitlines()
    back = cli("translate", *pair("gemini", "anthropic"), data=done.out)
    assert json.loads(back.out)["model"] == "claude-sonnet-5"


def test_the_path_says_model_and_streaming_where_the_protocol_has_them_there(cli):
    data = json.dumps({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}).encode()
    path = "/v1beta/models/gemini-3-pro:streamGenerateContent"
    done = cli("translate", *pair("gemini", "openai-chat"), "--path", path, data=data)
    body = json.loads(done.out)
    assert (body["model"], body["stream"]) == ("gemini-3-pro", True)
    done = cli("translate", *pair("gemini", "openai-chat"), data=data)
    assert (done.code, done.err) == (1, "toolglot: model: expected string, but it is missing\n")


def test_model_beside_a_request_that_has_none(cli):
    """The model of a Gemini request is in its path; towards Gemini nothing needs it."""
    data = b'{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'
    done = cli("translate", *pair("gemini", "openai-chat"), "--model", "m-1", data=data)
    assert (done.code, json.loads(done.out)["model"]) == (0, "m-1")
    done = cli("translate", *pair("gemini", "gemini"), data=data)
    assert (done.code, json.loads(done.out)) == (0, json.loads(data))
    done = cli("translate", *pair("gemini", "openai-chat"), data=data)
    assert (done.code, "model" in done.err) == (1, True)


def test_input_from_a_file_and_the_model_replaced(cli, tmp_path):
    (tmp_path / "in.json").write_text(json.dumps(ASK))
    done = cli(
        "translate",
        *pair("anthropic", "ollama"),
        "--model",
        "qwen3",
        str(tmp_path / "in.json"),
        data=b"not this",
    )
    assert json.loads(done.out)["model"] == "qwen3"


def test_the_receipt_as_json_leaves_standard_error_silent(cli, tmp_path):
    file = tmp_path / "receipt.json"
    argv = ("translate", *pair("anthropic", "openai-responses"), "--receipt", str(file))
    done = cli(*argv, data=json.dumps(ASK).encode())
    notes = json.loads(file.read_bytes())
    assert (done.code, done.err) == (0, "")
    assert all(list(note) == ["code", "severity", "path", "message"] for note in notes)
    assert ("field-dropped", "top_k") in [(note["code"], note["path"]) for note in notes]


def test_a_receipt_that_cannot_be_written_costs_the_result(cli, tmp_path):
    argv = ("translate", *pair("anthropic", "ollama"), "--receipt", str(tmp_path / "no" / "r.json"))
    done = cli(*argv, data=json.dumps(ASK).encode())
    assert (done.code, done.out) == (1, b"")
    assert "r.json: No such file" in done.err


def test_strict_refuses_with_the_place_and_writes_nothing(cli):
    data = json.dumps(ASK).encode()
    done = cli("translate", *pair("anthropic", "openai-responses"), "--strict", data=data)
    assert (done.code, done.out) == (1, b"")
    assert done.err.startswith("toolglot: top_k: ")


def test_pretty_is_the_same_result_indented(cli):
    data = json.dumps(ASK).encode()
    plain = cli("translate", *pair("anthropic", "ollama"), data=data)
    pretty = cli("translate", *pair("anthropic", "ollama"), "--pretty", data=data)
    assert json.loads(pretty.out) == json.loads(plain.out)
    assert pretty.out.startswith(b'{\n  "model"')


def test_a_response_answers_in_the_name_the_client_used(cli, tmp_path):
    request = tmp_path / "request.json"
    request.write_text(json.dumps(ASK))
    argv = ("translate", *pair("openai-chat", "anthropic"), "--what", "response")
    data = json.dumps(ANSWER).encode()
    expected, _ = translate_response(ANSWER, source="openai-chat", target="anthropic", request=ASK)
    assert json.loads(cli(*argv, "--request", str(request), data=data).out) == expected.body
    assert json.loads(cli(*argv, data=data).out)["model"] == "gpt-6.1"


def test_an_error_tells_its_status_to_the_person(cli):
    error = {"error": {"message": "slow down", "type": "rate_limit_error", "code": None}}
    argv = ("translate", *pair("openai-chat", "anthropic"), "--what", "error", "--status", "429")
    done = cli(*argv, data=json.dumps(error).encode())
    assert done.code == 0
    assert json.loads(done.out)["error"]["type"] == "rate_limit_error"
    assert "status 429" in done.err.splitlines()


# --- streams --------------------------------------------------------------------------------------


def whole(source, target, data, **options):
    translator = StreamTranslator(source, target, **options)
    return translator.feed(data) + translator.close()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_stream_is_translated(cli, source, target):
    file = min((FIXTURES / source).glob("*calls*.stream.txt"))
    done = cli("translate", *pair(source, target), "--what", "stream", str(file))
    assert done.code == 0
    assert done.out == whole(source, target, file.read_bytes())
    assert done.err


@pytest.mark.parametrize("split", ["char", "1", "7", "random:42", "random:x"])
def test_a_stream_is_the_same_however_it_is_cut(cli, split):
    data = CALLS.read_bytes()
    argv = ("translate", *pair("openai-chat", "anthropic"), "--what", "stream")
    # Live arguments come in the pieces that they are cut into only where an event is complete.
    assert cli(*argv, "--split", split, data=data)[:2] == cli(*argv, data=data)[:2]


def test_calls_can_be_streamed_whole(cli):
    argv = ("translate", *pair("openai-chat", "openai-responses"), "--what", "stream")
    live = cli(*argv, data=CALLS.read_bytes()).out
    buffered = cli(*argv, "--stream-tools", "buffered", data=CALLS.read_bytes()).out
    delta = b"event: response.function_call_arguments.delta"
    done = b"event: response.function_call_arguments.done"
    assert buffered.count(delta) == buffered.count(done) == live.count(done) < live.count(delta)
    assert cli(*argv, "--stream-tools", "live", data=CALLS.read_bytes()).out == live


def test_a_stream_that_breaks_off_ends_in_the_clients_error_and_0(cli):
    argv = ("translate", *pair("openai-chat", "anthropic"), "--what", "stream")
    done = cli(*argv, str(FIXTURES / "openai-chat" / "cut.stream.txt"))
    assert done.code == 0
    assert b"event: error\n" in done.out
    assert lint_stream(done.out, "anthropic") == []


def test_a_stream_answers_in_the_name_the_client_used(cli, tmp_path):
    request = tmp_path / "request.json"
    request.write_text(json.dumps(ASK))
    argv = ("translate", *pair("openai-chat", "anthropic"), "--what", "stream")
    done = cli(*argv, "--request", str(request), data=CALLS.read_bytes())
    assert b'"model":"claude-sonnet-5"' in done.out


def test_a_strict_stream_writes_all_or_nothing(cli, tmp_path):
    argv = ("translate", *pair("openai-chat", "anthropic"), "--what", "stream", "--strict")
    two = FIXTURES / "openai-chat" / "two-choices.stream.txt"
    done = cli(*argv, str(two))
    assert (done.code, done.out) == (1, b"")
    assert done.err.count("\n") == 1
    clean = cli(*argv, "--receipt", str(tmp_path / "r"), str(CALLS))
    assert (clean.code, clean.err) == (0, "")
    assert clean.out == whole("openai-chat", "anthropic", CALLS.read_bytes())
    assert json.loads((tmp_path / "r").read_bytes()) is not None


@pytest.mark.parametrize("how", ["", "0", "-1", "1.5", "char:1", "random", "random:", "words"])
def test_an_unknown_way_to_cut_is_refused(cli, how):
    argv = ("translate", *pair("ollama", "gemini"), "--what", "stream", f"--split={how}")
    done = cli(*argv)
    assert done.code == 2
    assert "expected char, a number or random:SEED" in done.err


def test_tools_are_told_as_text_if_asked_for(cli):
    tool = {"name": "tide", "input_schema": {"type": "object", "properties": {}}}
    body = {**ASK, "tools": [tool]}
    for how in ("emulated", "emulated:glm45", "native"):
        wire, _ = translate_request(body, source="anthropic", target="ollama", tools=how)
        assert ("tools" in wire.body) is (how == "native")
        data = json.dumps(body).encode()
        done = cli("translate", *pair("anthropic", "ollama"), "--tools", how, data=data)
        assert (done.code, json.loads(done.out)) == (0, wire.body)
    for how in ("emulated:volapuek", "text", "native:hermes"):
        done = cli("translate", *pair("anthropic", "ollama"), "--tools", how)
        assert done.code == 2
        assert "expected native, emulated or emulated:DIALECT" in done.err


@pytest.mark.parametrize("how", ["char", "3", "random:7"])
def test_cutting_loses_nothing(how):
    data = "a ☀ ünd 北\n".encode() + b"\xff\xfe" + random.Random(1).randbytes(300)
    assert b"".join(split_by(how)(data)) == data
    assert list(split_by(how)(data)) == list(split_by(how)(data))


def test_ways_to_cut():
    assert list(split_by("char")("a☀b".encode())) == [b"a", "☀".encode(), b"b"]
    assert list(split_by("2")(b"abcde")) == [b"ab", b"cd", b"e"]
    assert list(split_by("random:1")(bytes(500))) != list(split_by("random:2")(bytes(500)))


def test_a_receipt_in_words():
    assert words(Receipt()) == "nothing was changed"
    notes = (
        Note("id-made", "info", "a", "made"),
        Note("part-dropped", "unsupported", "b", "gone"),
        Note("id-made", "info", "", "made"),
    )
    assert words(Receipt(notes)).splitlines() == [
        "1 unsupported, 2 info:",
        "  info: id-made at a: made",
        "  unsupported: part-dropped at b: gone",
        "  info: id-made: made",
    ]


def test_calls_in_the_text_are_found_if_asked_for(cli, tmp_path):
    written = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    body = {"choices": [{"message": {"content": written}, "finish_reason": "stop"}]}
    asked = tmp_path / "ask.json"
    asked.write_text(json.dumps({**ASK, "tools": [{"name": "now", "input_schema": {}}]}))
    how = ("--what", "response", "--dialect", "auto", "--request", str(asked))
    done = cli("translate", *pair("openai-chat", "anthropic"), *how, data=json.dumps(body).encode())
    shown = json.loads(done.out)
    assert (shown["stop_reason"], shown["content"][0]["name"]) == ("tool_use", "now")
    assert "call-promoted" in done.err
    refused = cli("translate", *pair("anthropic", "openai-chat"), "--dialect", "auto", data=b"{}")
    assert refused.code == 2
    assert "--dialect has no effect with --what request" in refused.err
