"""Clients that know `functions` and no tools get their answers in the form that they know."""

import json

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from tests.laws.streams import stream_of

from toolglot import ir, translate_request, translate_response
from toolglot.context import Context
from toolglot.events import PartDelta, PartStarted, Started
from toolglot.exchange import Exchange
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.streams import StreamTranslator
from toolglot.translate import decode_request, encode_response

CHAT = "openai-chat"
OTHERS = [name for name in PROTOCOLS if name != CHAT]
FUNCTION = {"name": "look_up", "parameters": {"type": "object", "properties": {}}}
ASKED = {
    "model": "m",
    "messages": [{"role": "user", "content": "What is a lintel?"}],
    "functions": [FUNCTION],
    "function_call": "auto",
}
CALL = ir.ToolCall(id="call_1", name="look_up", arguments='{"word":"lintel"}')
CALLED = {"name": "look_up", "arguments": '{"word":"lintel"}'}


def answer(*parts, stop="tool_calls"):
    choice = ir.Choice(parts=parts, stop=ir.StopReason(kind=stop))
    return ir.Response(id="r", model="m", choices=(choice,), usage=ir.Usage(input=5, output=3))


def exchange(upstream, **more):
    made = Exchange(CHAT, upstream)
    made.request(json.dumps(ASKED | more).encode())
    return made


def whole(upstream, *parts, stop="tool_calls", **more):
    made = exchange(upstream, **more)
    reply = encode_response(answer(*parts, stop=stop), target=upstream).data()
    body = json.loads(made.response(reply).data)
    ChatCompletion.model_validate(body, strict=True)
    return body["choices"][0], made.receipt.codes()


def streamed(upstream, *parts, stop="tool_calls", **more):
    made = exchange(upstream, stream=True, **more)
    translator = made.stream()
    data = translator.feed(stream_of(upstream, answer(*parts, stop=stop))) + translator.close()
    return chunks(data), made.receipt.codes()


def chunks(data):
    lines = [line[6:] for line in data.decode().splitlines() if line.startswith("data: {")]
    bodies = [json.loads(line) for line in lines]
    for body in bodies:
        ChatCompletionChunk.model_validate(body)
    return [body["choices"][0] for body in bodies if body["choices"]]


def joined(found):
    """The function call in the deltas of a stream."""
    deltas = [each["delta"]["function_call"] for each in found if "function_call" in each["delta"]]
    names = [delta["name"] for delta in deltas if "name" in delta]
    return names, "".join(delta.get("arguments", "") for delta in deltas)


@pytest.mark.parametrize("upstream", OTHERS)
def test_s4_33_a_whole_answer(upstream):
    choice, codes = whole(upstream, CALL)
    assert choice["finish_reason"] == "function_call"
    assert choice["message"]["function_call"] == CALLED
    assert "tool_calls" not in choice["message"]
    assert codes["id-dropped"] == 1


@pytest.mark.parametrize("upstream", OTHERS)
def test_s4_33_a_streamed_answer(upstream):
    found, codes = streamed(upstream, ir.Text(text="I look."), CALL)
    names, arguments = joined(found)
    assert names == ["look_up"]
    assert json.loads(arguments) == {"word": "lintel"}
    assert found[-1]["finish_reason"] == "function_call"
    assert not any("tool_calls" in each["delta"] for each in found)
    assert codes["id-dropped"] == 1


@pytest.mark.parametrize("upstream", OTHERS)
def test_s4_33_a_whole_answer_for_a_client_that_wants_a_stream(upstream):
    made = exchange(upstream, stream=True)
    found = chunks(made.unfolded(encode_response(answer(CALL), target=upstream).data()).data)
    assert joined(found) == (["look_up"], '{"word":"lintel"}')
    assert found[-1]["finish_reason"] == "function_call"


@pytest.mark.parametrize("upstream", OTHERS)
def test_there_is_one_call_only(upstream):
    other = ir.ToolCall(id="call_2", name="look_away", arguments="{}")
    choice, codes = whole(upstream, CALL, other)
    assert choice["message"]["function_call"] == CALLED
    assert codes["calls-over-limit"] == 1
    found, codes = streamed(upstream, CALL, other)
    assert joined(found)[0] == ["look_up"]
    assert found[-1]["finish_reason"] == "function_call"
    assert codes["calls-over-limit"] == 1


@pytest.mark.parametrize("upstream", OTHERS)
def test_a_call_without_arguments_has_an_empty_object(upstream):
    bare = ir.ToolCall(id="call_1", name="look_up", arguments="{}")
    assert whole(upstream, bare)[0]["message"]["function_call"]["arguments"] == "{}"
    assert joined(streamed(upstream, bare)[0]) == (["look_up"], "{}")


@pytest.mark.parametrize("upstream", OTHERS)
def test_an_answer_without_a_call_is_as_always(upstream):
    text = ir.Text(text="A beam.")
    choice, _ = whole(upstream, text, stop="end")
    assert (choice["finish_reason"], choice["message"]["content"]) == ("stop", "A beam.")
    assert "function_call" not in choice["message"]
    found, _ = streamed(upstream, text, stop="end")
    assert found[-1]["finish_reason"] == "stop"
    assert joined(found) == ([], "")


@pytest.mark.parametrize("upstream", OTHERS)
def test_a_client_that_declares_tools_gets_tool_calls(upstream):
    tools = [{"type": "function", "function": FUNCTION}]
    for more in ({"tools": tools}, {"tools": tools, "functions": None, "function_call": None}):
        choice, _ = whole(upstream, CALL, **more)
        assert choice["finish_reason"] == "tool_calls"
        assert "function_call" not in choice["message"]


@pytest.mark.parametrize("upstream", OTHERS)
def test_the_request_alone_decides(upstream):
    reply = encode_response(answer(CALL), target=upstream).data()
    wire, _ = translate_response(reply, source=upstream, target=CHAT, request=ASKED)
    assert wire.body["choices"][0]["message"]["function_call"] == CALLED
    chosen = ASKED | {"functions": None, "function_call": {"name": "look_up"}}
    wire, _ = translate_response(reply, source=upstream, target=CHAT, request=chosen)
    assert wire.body["choices"][0]["finish_reason"] == "function_call"
    wire, _ = translate_response(reply, source=upstream, target=CHAT)
    assert wire.body["choices"][0]["finish_reason"] == "tool_calls"
    translator = StreamTranslator(upstream, CHAT, request=ASKED)
    data = translator.feed(stream_of(upstream, answer(CALL))) + translator.close()
    assert joined(chunks(data))[0] == ["look_up"]


def test_what_stays_in_the_protocol_stays_as_it_is():
    message = {"role": "assistant", "content": None, "function_call": CALLED}
    choice = {"index": 0, "message": message, "finish_reason": "function_call"}
    body = {"id": "r", "object": "chat.completion", "model": "m", "choices": [choice]}
    reply = json.dumps(body).encode()
    made = Exchange(CHAT, CHAT)
    asked = json.dumps(ASKED).encode()
    assert made.request(asked).data == asked
    assert made.response(reply).data == reply
    delta = {"role": "assistant", "function_call": CALLED}
    head = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    pieces = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "function_call"}]},
    ]
    data = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in pieces)
    data += b"data: [DONE]\n\n"
    translator = exchange(CHAT, stream=True).stream()
    assert translator.feed(data) + translator.close() == data


def test_the_state_of_a_call_comes_back():
    """The call has no id in this form; its place tells which call the state belongs to."""
    signed = ir.ToolCall(id="call_1", name="look_up", arguments="{}", signature="c2ln")
    choice, _ = whole("gemini", signed)
    result = {"role": "function", "name": "look_up", "content": "a beam"}
    history = [*ASKED["messages"], choice["message"], result]
    wire, _ = translate_request(ASKED | {"messages": history}, source=CHAT, target="gemini")
    _, called, answered = wire.body["contents"]
    assert called["parts"][0]["thoughtSignature"] == "c2ln"
    response = answered["parts"][0]["functionResponse"]
    assert response["id"] == called["parts"][0]["functionCall"]["id"]


def test_state_beside_the_arguments_in_a_rewritten_answer():
    """Google's own server of this protocol has it in `extra_content`."""
    signed = ir.ToolCall(id="call_1", name="look_up", arguments="{}", signature="c2ln")
    ctx = Context(request=decode_request(ASKED, source=CHAT))
    extra = {"google": {"thought_signature": "c2ln"}}
    body = encode_response(answer(signed), target=CHAT, context=ctx).body
    called = body["choices"][0]["message"]["function_call"]
    assert called == {"name": "look_up", "arguments": "{}", "extra_content": extra}
    encoder = get_protocol(CHAT).StreamEncoder(ctx)
    encoder.encode(Started(id="r", model="m"))
    encoder.encode(PartStarted(0, CALL))
    (late,) = chunks(encoder.encode(PartDelta(0, "c2ln", "signature")))
    assert late["delta"] == {"function_call": {"extra_content": extra}}
