"""Mistakes that stop or break agents, in answers that stay in their protocol."""

import json

import pytest

from toolglot.context import Options
from toolglot.exchange import Exchange
from toolglot.lint import lint_stream
from toolglot.receipt import CATALOGUE

ASKING = [{"role": "user", "content": "Look."}]
LOOK = {
    "name": "look",
    "parameters": {"type": "object", "properties": {"at": {}}, "required": ["at"]},
}
CHAT = {"model": "m", "messages": ASKING, "tools": [{"type": "function", "function": LOOK}]}
CLAUDE = {"model": "m", "max_tokens": 9, "messages": ASKING}
LOCAL = {"model": "m", "messages": ASKING}
RESPONSES = {"model": "m", "input": "Look."}
GONE = object()


def exchange(protocol, asked, **options):
    made = Exchange(protocol, protocol, Options(**options))
    made.request(json.dumps(asked).encode())
    return made


def whole(protocol, asked, answer, **options):
    """What the client gets, and the codes of what was changed."""
    made, data = exchange(protocol, asked, **options), json.dumps(answer).encode()
    got = made.response(data).data
    return (None if got == data else json.loads(got)), [note.code for note in made.notes]


def without(value):
    return {key: each for key, each in value.items() if each is not GONE}


def chat_call(**changes):
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":1}'}}
    function = changes.pop("function", None)
    if function is not None:
        call["function"] = without({**call["function"], **function})
    return without({**call, **changes})


def chat_answer(*calls, finish="tool_calls"):
    message = {"role": "assistant", "content": None, "tool_calls": [*calls]}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    head = {"id": "a", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": [choice]}


# --- whole ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "finish", "note"),
    [
        ({}, "stop", "answer-mended"),
        ({}, None, "answer-mended"),
        ({"id": GONE}, "tool_calls", "id-made"),
        ({"type": GONE}, "tool_calls", "spelling-normalised"),
        ({"function": {"name": GONE}}, "tool_calls", "name-made"),
        ({"function": {"arguments": GONE}}, "tool_calls", "arguments-normalised"),
        ({"function": {"arguments": ""}}, "tool_calls", "answer-mended"),
        ({"function": {"arguments": {"at": 1}}}, "tool_calls", "arguments-normalised"),
    ],
)
def test_a_whole_answer_of_chat(call, finish, note):
    broken = chat_answer(chat_call(**call), finish=finish)
    got, notes = whole("openai-chat", CHAT, broken)
    (choice,) = got["choices"]
    (made,) = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls"
    assert made["id"]
    assert made["type"] == "function"
    assert made["function"]["name"]
    assert isinstance(json.loads(made["function"]["arguments"]), dict)
    assert note in notes
    off, silent = whole("openai-chat", CHAT, broken, mend="off")
    assert off is None, "bytes as they came"
    assert "answer-mended" not in silent


def test_arguments_that_are_required_and_missing_are_named():
    broken = chat_answer(chat_call(function={"arguments": ""}))
    got, notes = whole("openai-chat", CHAT, broken)
    assert got["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert notes == ["arguments-mismatch", "answer-mended"]
    assert CATALOGUE["arguments-mismatch"].severity == "lossy"


def test_a_good_answer_passes_untouched():
    for finish in ("tool_calls", "length", "content_filter"):
        assert whole("openai-chat", CHAT, chat_answer(chat_call(), finish=finish)) == (None, [])
    plain = chat_answer(finish="stop")
    del plain["choices"][0]["message"]["tool_calls"]
    assert whole("openai-chat", CHAT, plain) == (None, [])


def claude_answer(stop, **changes):
    block = without({"type": "tool_use", "id": "t1", "name": "look", "input": {}, **changes})
    head = {"id": "a", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    end = {"stop_reason": stop, "stop_sequence": None, "usage": usage}
    return {**head, "content": [block], **end}


@pytest.mark.parametrize(
    ("stop", "changes"),
    [("end_turn", {}), (None, {}), ("tool_use", {"input": GONE}), ("tool_use", {"input": "{}"})],
)
def test_a_whole_answer_of_messages(stop, changes):
    broken = claude_answer(stop, **changes)
    got, notes = whole("anthropic", CLAUDE, broken)
    assert got == claude_answer("tool_use")
    assert set(notes) <= {"answer-mended", "arguments-normalised"}
    assert notes
    assert whole("anthropic", CLAUDE, broken, mend="off")[0] is None
    assert whole("anthropic", CLAUDE, claude_answer("tool_use"))[0] is None
    assert whole("anthropic", CLAUDE, claude_answer("max_tokens"))[0] is None


@pytest.mark.parametrize("arguments", ['{"at":1}', GONE])
def test_a_whole_answer_of_a_local_server(arguments):
    def answer(value):
        function = without({"name": "look", "arguments": value})
        message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
        head = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message}
        return {**head, "done": True, "done_reason": "stop"}

    got, notes = whole("ollama", LOCAL, answer(arguments))
    made = got["message"]["tool_calls"][0]["function"]["arguments"]
    assert made == ({} if arguments is GONE else {"at": 1})
    assert notes == ["arguments-normalised"]
    assert whole("ollama", LOCAL, answer({"at": 1})) == (None, [])


@pytest.mark.parametrize(
    "changes", [{"arguments": ""}, {"call_id": GONE}, {"arguments": {"at": 1}}]
)
def test_a_whole_answer_of_responses(changes):
    item = {"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "{}"}
    head = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    broken = {**head, "output": [without({**item, **changes})]}
    got, notes = whole("openai-responses", RESPONSES, broken)
    (made,) = got["output"]
    assert made["call_id"]
    assert isinstance(json.loads(made["arguments"]), dict)
    assert notes
    assert whole("openai-responses", RESPONSES, {**head, "output": [item]}) == (None, [])


def test_a_call_without_a_name_is_one_of_the_only_tool():
    asked = {
        "contents": [{"role": "user", "parts": [{"text": "Look."}]}],
        "tools": [{"functionDeclarations": [{"name": "look"}]}],
    }
    content = {"role": "model", "parts": [{"functionCall": {"args": {"at": 1}}}]}
    answer = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    for tools, name in ((asked["tools"], "look"), ([], None)):
        made = Exchange("gemini", "gemini")
        body = json.dumps({**asked, "tools": tools}).encode()
        made.request(body, "/v1beta/models/m:generateContent")
        got = json.loads(made.response(json.dumps(answer).encode()).data)
        call = got["candidates"][0]["content"]["parts"][0]["functionCall"]
        assert call.get("name") == name
        (note,) = made.notes
        assert note.code == ("answer-mended" if name else "call-invalid")


def test_an_answer_that_cannot_be_read_passes_if_nothing_is_mended():
    data = json.dumps(claude_answer("tool_use", name=GONE)).encode()
    answer = exchange("anthropic", CLAUDE, mend="off").response(data)
    assert (answer.data, answer.status) == (data, 200)


# --- streamed -------------------------------------------------------------------------------------


def chunk(finish=None, **delta):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice]}


def piece(index, text, **first):
    function = without({"arguments": text, "name": first.pop("name", GONE)})
    return chunk(tool_calls=[without({"index": index, **first, "function": function})])


def begin(index, number, text=""):
    return piece(index, text, id=f"c{number}", type="function", name="look")


def sse(*events):
    return [f"data: {json.dumps(event)}\n\n".encode() for event in events] + [b"data: [DONE]\n\n"]


START = chunk(role="assistant", content=None)
ONE = [START, begin(0, 1), piece(0, '{"at":'), piece(0, "1}")]


def streamed(protocol, asked, events, **options):
    """What the client gets for each event, and the codes of what was changed."""
    made = exchange(protocol, asked, **options)
    translator = made.stream()
    pieces = [translator.feed(event) for event in events]
    return [*pieces, translator.close()], [note.code for note in made.notes]


def calls_of(data):
    """The calls that a client puts together, by index, and the finish reason."""
    calls, finish = {}, None
    for line in data.split(b"\n\n"):
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            finish = choice["finish_reason"] or finish
            for entry in choice["delta"].get("tool_calls", ()):
                call = calls.setdefault(entry["index"], {"arguments": ""})
                call.update({key: entry[key] for key in ("id",) if key in entry})
                function = entry["function"]
                call.update({key: function[key] for key in ("name",) if key in function})
                call["arguments"] += function.get("arguments", "")
    return list(calls.values()), finish


GOOD_CALL = {"id": "c1", "name": "look", "arguments": '{"at":1}'}
OTHER_CALL = {"id": "c2", "name": "look", "arguments": '{"at":2}'}
STREAMS = {
    "stop beside a call": ([*ONE, chunk("stop")], [GOOD_CALL]),
    "stop in the chunk of a call": (
        [
            START,
            chunk("stop", tool_calls=begin(0, 1, '{"at":1}')["choices"][0]["delta"]["tool_calls"]),
        ],
        [GOOD_CALL],
    ),
    "two calls with index 0": (
        [*ONE, begin(0, 2, '{"at":2}'), chunk("tool_calls")],
        [GOOD_CALL, OTHER_CALL],
    ),
    "two whole calls with index 0 in one chunk": (
        [
            START,
            chunk(
                tool_calls=[
                    {"index": 0, **chat_call()},
                    {"index": 0, **chat_call(id="c2", function={"arguments": '{"at":2}'})},
                ]
            ),
            chunk("tool_calls"),
        ],
        [GOOD_CALL, OTHER_CALL],
    ),
    "two calls with index 0, and stop": (
        [*ONE, begin(0, 2), piece(0, '{"at":2}'), chunk("stop")],
        [GOOD_CALL, OTHER_CALL],
    ),
    "no index": (
        [START, chunk(tool_calls=[chat_call()]), chunk("tool_calls")],
        [GOOD_CALL],
    ),
    "no arguments": (
        [START, begin(0, 1), chunk("tool_calls")],
        [{**GOOD_CALL, "arguments": "{}"}],
    ),
    "no arguments in the last chunk": (
        [
            START,
            chunk("tool_calls", tool_calls=begin(0, 1)["choices"][0]["delta"]["tool_calls"]),
        ],
        [{**GOOD_CALL, "arguments": "{}"}],
    ),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_of_chat(name):
    events, calls = STREAMS[name]
    pieces, notes = streamed("openai-chat", CHAT, sse(*events))
    data = b"".join(pieces)
    assert calls_of(data) == (calls, "tool_calls")
    assert lint_stream(data, "openai-chat") == []
    assert "stream-mended" in notes
    raw, silent = streamed("openai-chat", CHAT, sse(*events), mend="off")
    assert b"".join(raw) == b"".join(sse(*events))
    assert "stream-mended" not in silent


def test_events_pass_live_and_untouched_up_to_the_mistake():
    events = sse(*ONE, chunk("stop"))
    pieces, _ = streamed("openai-chat", CHAT, events)
    assert pieces[: len(ONE)] == events[: len(ONE)]


def test_a_name_that_never_comes_is_made_up_and_noted():
    events = sse(START, piece(0, '{"at":1}', id="c1", type="function"), chunk("tool_calls"))
    pieces, notes = streamed("openai-chat", CHAT, events)
    calls, finish = calls_of(b"".join(pieces))
    assert (calls, finish) == ([{**GOOD_CALL, "name": "tool_0"}], "tool_calls")
    assert "name-made" in notes


@pytest.mark.parametrize("finish", ["tool_calls", "length"])
def test_a_good_stream_passes_untouched(finish):
    events = sse(*ONE, chunk(finish))
    pieces, notes = streamed("openai-chat", CHAT, events)
    assert b"".join(pieces) == b"".join(events)
    assert notes == []


def test_a_stream_of_messages():
    def named(event):
        return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

    head = claude_answer(None)
    message = {**head, "content": []}
    block = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    partial = {"type": "input_json_delta", "partial_json": '{"at":1}'}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": partial},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]
    sent = [*map(named, events)]
    pieces, notes = streamed("anthropic", CLAUDE, sent)
    data = b"".join(pieces)
    assert pieces[:4] == sent[:4]
    assert b'"stop_reason":"tool_use"' in data
    assert lint_stream(data, "anthropic") == []
    assert notes == ["stream-mended", "answer-mended"]
    raw, _ = streamed("anthropic", CLAUDE, sent, mend="off")
    assert b"".join(raw) == b"".join(sent)


def test_a_stream_of_a_local_server():
    def line(arguments):
        function = {"name": "look", "arguments": arguments}
        message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
        return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message}

    last = {**line({}), "message": {"role": "assistant", "content": ""}, "done_reason": "stop"}
    events = [{**line('{"at":1}'), "done": False}, {**last, "done": True}]
    sent = [json.dumps(event).encode() + b"\n" for event in events]
    pieces, notes = streamed("ollama", LOCAL, sent)
    first = json.loads(b"".join(pieces).split(b"\n")[0])
    assert first["message"]["tool_calls"][0]["function"]["arguments"] == {"at": 1}
    assert "stream-mended" in notes
