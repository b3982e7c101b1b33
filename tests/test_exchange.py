"""One request and its answer, read once, give what the two translations give."""

import json
import re

import pytest
from msgspec.structs import replace
from tests.laws.streams import decode, stream_of
from tests.wires import parts_of, words

from toolglot import ir
from toolglot.context import Context, Options
from toolglot.errors import DecodeError, UntranslatableError
from toolglot.events import fold, unfold
from toolglot.exchange import Exchange
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    translate_request,
    translate_response,
)
from toolglot.wire import jsontext

PAIRS = [(ours, theirs) for ours in PROTOCOLS for theirs in PROTOCOLS]
TOOL = ir.FunctionTool(
    name="look.up",
    description="Looks something up.",
    parameters={"type": "object", "properties": {"word": {"type": "string"}}},
)
ASKED = ir.Request(
    model="m",
    messages=(ir.Message(role="user", parts=(ir.Text(text="What is a lintel?"),)),),
    max_tokens=50,
    tools=(TOOL,),
)
CALL = ir.ToolCall(id="call_1", name="look_up", arguments='{"word":"lintel"}')
ANSWER = ir.Response(
    id="r1",
    model="m",
    choices=(ir.Choice(parts=(CALL,), stop=ir.StopReason(kind="tool_calls")),),
    usage=ir.Usage(input=5, output=3),
)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_both_ways(ours, theirs):
    wire = encode_request(ASKED, target=ours)
    body = wire.data()
    exchange = Exchange(ours, theirs)
    sent = exchange.request(body, wire.path)
    expected, _ = translate_request(body, source=ours, target=theirs, path=wire.path)
    assert sent.data == expected.data()
    reply = encode_response(ANSWER, target=theirs).data()
    answer = exchange.response(reply)
    told, _ = translate_response(reply, source=theirs, target=ours, request=wire)
    assert answer.data == told.data()
    assert answer.usage.output == 3
    assert [stop.kind for stop in answer.stops] == ["tool_calls"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_same_protocol_leaves_every_byte(name):
    wire = encode_request(ASKED, target=name)
    body = b" " + wire.data().replace(b":", b" : ", 1)
    exchange = Exchange(name, name)
    assert exchange.request(body, wire.path).data == body
    reply = b"\n" + encode_response(ANSWER, target=name).data()
    assert exchange.response(reply).data == reply
    assert exchange.notes == ()


def test_a_whole_answer_as_a_stream():
    exchange = Exchange("anthropic", "openai-chat")
    exchange.request(encode_request(ASKED, target="anthropic").data())
    answer = exchange.unfolded(encode_response(ANSWER, target="openai-chat").data())
    assert answer.data.count(b"event: message_stop") == 1
    assert answer.usage.input == 5


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_a_whole_answer_as_a_stream_says_what_the_answer_says(ours, theirs):
    wire = encode_request(ASKED, target=ours)
    body = encode_response(ANSWER, target=theirs).data()
    whole, unfolded = Exchange(ours, theirs), Exchange(ours, theirs)
    for each in (whole, unfolded):
        each.request(wire.data(), wire.path)
    answer, stream = whole.response(body), unfolded.unfolded(body)
    assert (stream.usage, stream.stops) == (answer.usage, answer.stops)
    assert [stop.kind for stop in stream.stops] == ["tool_calls"]
    expected = decode_response(answer.data, source=ours)
    found = fold(decode(ours, [stream.data]))
    (call,), (same,) = parts_of(found, ir.ToolCall), parts_of(expected, ir.ToolCall)
    assert (call.name, json.loads(call.arguments)) == (same.name, json.loads(same.arguments))
    assert found.choices[0].stop.kind == "tool_calls"
    assert unfolded.receipt.codes() == whole.receipt.codes()


def test_a_whole_answer_as_a_stream_names_the_model_that_was_asked_for():
    for name in PROTOCOLS:
        wire = encode_request(ASKED, target=name)
        exchange = Exchange(name, name, Options(model="theirs"))
        exchange.request(wire.data(), wire.path)
        reply = encode_response(replace(ANSWER, model="theirs"), target=name).data()
        named = "m" if PROTOCOLS[name].SURFACE.model_at else ""
        assert fold(decode(name, [exchange.unfolded(reply).data])).model == named


@pytest.mark.parametrize("ours", ["openai-chat", "anthropic"])
def test_probabilities_that_a_stream_has_no_place_for_are_noted(ours):
    wire = encode_request(ASKED, target=ours)
    exchange = Exchange(ours, "openai-chat")
    exchange.request(wire.data(), wire.path)
    choice = replace(ANSWER.choices[0], logprobs={"content": [{"token": "a", "logprob": -1.0}]})
    reply = encode_response(replace(ANSWER, choices=(choice,)), target="openai-chat")
    exchange.unfolded(reply.data())
    assert exchange.receipt.codes()["logprobs-dropped"] == 1


def test_arguments_of_an_unfolded_answer_stay_as_they_were():
    """They are encoded once, not written as an object and read again."""
    exchange = Exchange("anthropic", "openai-chat")
    exchange.request(encode_request(ASKED, target="anthropic").data())
    call = replace(CALL, arguments='{"word": "lintel"}')
    choice = ir.Choice(parts=(call,), stop=ir.StopReason(kind="tool_calls"))
    reply = encode_response(replace(ANSWER, choices=(choice,)), target="openai-chat")
    (found,) = parts_of(
        fold(decode("anthropic", [exchange.unfolded(reply.data()).data])), ir.ToolCall
    )
    assert found.arguments == call.arguments


def test_what_cannot_be_read_is_told_with_its_path():
    with pytest.raises(DecodeError, match="messages"):
        Exchange("anthropic", "openai-chat").request(b'{"model":"m","messages":3}')


def test_strict_refuses_and_still_says_what():
    exchange = Exchange("anthropic", "openai-chat", Options(strict=True))
    body = encode_request(ASKED, target="anthropic").data()[:-1] + b',"tomorrow":1}'
    with pytest.raises(UntranslatableError, match="tomorrow"):
        exchange.request(body)
    assert "field-unknown" in exchange.receipt.codes()


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_calls_in_the_text_are_calls_of_the_clients_own_tools(ours, theirs):
    """X-08: under the name that the provider was told, whole and streamed, also at home."""
    wire = encode_request(ASKED, target=ours)
    for streams in (False, True):
        exchange = Exchange(ours, theirs, Options(dialect="auto"))
        sent = exchange.request(wire.data(), wire.path)
        told = decode_request(sent.data, source=theirs, path=sent.path).tools[0].name
        text = f'<tool_call>{{"name": "{told}", "arguments": {{"word": "lintel"}}}}</tool_call>'
        parts = (ir.Text(text=text), ir.Text(text=text.replace(told, "other")))
        choice = ir.Choice(parts=parts, stop=ir.StopReason(kind="end"))
        response = replace(ANSWER, choices=(choice,))
        if streams:
            stream = exchange.stream()
            shown = fold(decode(ours, [stream.feed(stream_of(theirs, response)), stream.close()]))
        else:
            shown = decode_response(
                exchange.response(encode_response(response, target=theirs).data()).data, source=ours
            )
        (found,) = parts_of(shown, ir.ToolCall)
        assert (found.name, json.loads(found.arguments)) == ("look.up", {"word": "lintel"})
        assert shown.choices[0].stop.kind == "tool_calls"
        assert "other" in words(shown)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_tools_that_were_told_as_text_are_called_as_tools(ours, theirs):
    """The whole way of a model without tools, also at home: told as text, called as tools."""
    patch = ir.CustomTool(name="patch") if ours == "openai-responses" else TOOL
    asked = replace(ASKED, tools=(patch,))
    wire = encode_request(asked, target=ours)
    exchange = Exchange(ours, theirs, Options(tools="emulated:qwen3_coder"))
    sent = exchange.request(wire.data(), wire.path)
    assert not decode_request(sent.data, source=theirs, path=sent.path).tools
    key = "input" if patch is not TOOL else "word"
    text = f"<function={patch.name}>\n<parameter={key}>\nlintel\n</parameter>\n</function>"
    choice = ir.Choice(parts=(ir.Text(text=text),), stop=ir.StopReason(kind="end"))
    response = replace(ANSWER, choices=(choice,))
    stream = exchange.stream()
    streamed = fold(decode(ours, [stream.feed(stream_of(theirs, response)), stream.close()]))
    body = encode_response(response, target=theirs).data()
    whole = decode_response(exchange.response(body).data, source=ours)
    for shown in (streamed, whole):
        (found,) = parts_of(shown, ir.ToolCall)
        assert found.name == patch.name
        assert "lintel" in found.arguments
        assert found.kind == ("custom" if patch is not TOOL else "function")


@pytest.mark.parametrize("theirs", PROTOCOLS)
def test_what_the_provider_need_not_know_is_repeated(theirs):
    """An answer says what it continues, although its provider never heard of that."""
    exchange = Exchange("openai-responses", theirs)
    echo = {"previous_response_id": "resp_0", "store": True, "conversation": {"id": "conv_1"}}
    body = b'{"model":"m","input":"Hi","max_output_tokens":9}'
    sent = exchange.request(body, "/v1/responses")
    exchange.echo(echo)
    assert b"resp_0" not in sent.data
    answer = exchange.response(encode_response(ANSWER, target=theirs).data())
    told = jsontext.decode(answer.data)
    if theirs != "openai-responses":
        assert {key: told[key] for key in echo} == echo


def test_what_was_changed_before_is_noted_too():
    exchange = Exchange("openai-responses", "openai-chat")
    exchange.note("reasoning-dropped", "previous_response_id", "of another provider")
    exchange.request(b'{"model":"m","input":"Hi"}', "/v1/responses")
    assert "reasoning-dropped" in exchange.receipt.codes()


@pytest.mark.parametrize("theirs", PROTOCOLS)
@pytest.mark.parametrize("ours", PROTOCOLS)
def test_errors_that_clients_look_for_in_a_stream(ours, theirs):
    """X-16: a prompt that is too long is told inside the stream where only that is understood."""
    error = ir.ApiError(kind="context_length", message="The prompt is too long.", status=400)
    wire = encode_response(error, target=theirs)
    for stream in (False, True):
        exchange = Exchange(ours, theirs)
        exchange.request(b'{"model":"m","messages":[],"input":"","contents":[]}', "/x/models/m:do")
        answer = exchange.response(wire.data(), status=wire.status, stream=stream)
        inside = stream and ours == "openai-responses"
        assert (answer.failed is not None) == inside
        assert answer.status == (200 if inside else 400)
        if inside:
            told = fold(decode(ours, [answer.data]))
            assert isinstance(told, ir.ApiError)
            assert told.code == "context_length_exceeded"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_calls_are_checked_although_the_request_was_passed_on(name):
    wire = encode_request(ASKED, target=name)
    exchange = Exchange(name, name, Options(validate="note"))
    assert exchange.request(wire.data(), wire.path).data == wire.data()
    wrong = ir.ToolCall(id="call_1", name="look.up", arguments='{"word":7}')
    choice = ir.Choice(parts=(wrong,), stop=ir.StopReason(kind="tool_calls"))
    reply = encode_response(ir.Response(id="r1", model="m", choices=(choice,)), target=name)
    assert exchange.response(reply.data()).data == reply.data()
    assert "arguments-mismatch" in exchange.receipt.codes()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("theirs", ["gemini", "ollama"])
def test_made_up_ids_differ_from_turn_to_turn(theirs, stream):
    """Servers without ids and without a fine clock may begin two answers with the same bytes."""
    choice = replace(ANSWER.choices[0], parts=(replace(CALL, id_made=True),))
    given = replace(ANSWER, choices=(choice,))
    reply = encode_response(given, target=theirs).data()
    encoder = get_protocol(theirs).StreamEncoder(Context())
    streamed = b"".join(map(encoder.encode, unfold(given))) + encoder.close()
    assert b"call_1" not in reply + streamed

    def call_id(question):
        exchange = Exchange("openai-chat", theirs)
        asked = replace(ASKED, messages=(ir.Message(role="user", parts=(ir.Text(text=question),)),))
        exchange.request(encode_request(asked, target="openai-chat").data())
        if not stream:
            body = jsontext.peek(exchange.response(reply).data)
            return body["choices"][0]["message"]["tool_calls"][0]["id"]
        translator = exchange.stream()
        data = translator.feed(streamed) + translator.close()
        return re.search(rb'"id":"(call_[^"]+)"', data)[1]

    assert call_id("One?") == call_id("One?") != call_id("Two?")


DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")


def durations(body):
    return [body[name] for name in DURATIONS]


@pytest.mark.parametrize("theirs", [name for name in PROTOCOLS if name != "ollama"])
def test_answers_for_ollama_clients_say_how_long_they_took(theirs):
    """Servers always do, and clients count on it."""
    exchange = Exchange("ollama", theirs, clock=iter([1_000, 1_700]).__next__)
    exchange.request(encode_request(ASKED, target="ollama").data())
    answer = jsontext.peek(exchange.response(encode_response(ANSWER, target=theirs).data()).data)
    assert durations(answer) == [700, 0, 700, 700]
    assert exchange.clock_readings == [1_000, 1_700]


@pytest.mark.parametrize("theirs", [name for name in PROTOCOLS if name != "ollama"])
def test_the_last_line_of_a_stream_says_how_long_it_took(theirs):
    exchange = Exchange("ollama", theirs, clock=iter([1_000, 1_200, 1_900]).__next__)
    exchange.request(encode_request(ASKED, target="ollama").data())
    encoder, translator = get_protocol(theirs).StreamEncoder(Context()), exchange.stream()
    data = translator.feed(b"".join(map(encoder.encode, unfold(ANSWER))) + encoder.close())
    *_, last = (data + translator.close()).splitlines()
    assert durations(jsontext.peek(last)) == [900, 0, 200, 700]


def test_without_a_clock_the_durations_are_zero():
    reply = encode_response(ANSWER, target="anthropic").data()
    told, _ = translate_response(reply, source="anthropic", target="ollama")
    assert durations(told.body) == [0, 0, 0, 0]


def test_what_a_server_measured_itself_stays():
    measured = {"total_duration": 5, "eval_duration": 3}
    reply = {**encode_response(ANSWER, target="ollama").body, **measured}
    exchange = Exchange("ollama", "ollama", Options(validate="repair"), clock=lambda: 1)
    exchange.request(encode_request(ASKED, target="ollama").data())
    answer = jsontext.peek(exchange.response(jsontext.encode(reply)).data)
    assert {name: answer[name] for name in measured} == measured


class KnownBytes(bytes):
    """A text that says when nobody holds it any longer."""

    gone = 0

    def __del__(self):
        KnownBytes.gone += 1


def test_a_stream_needs_the_text_of_its_request_no_longer_and_makes_the_same_ids():
    choice = replace(ANSWER.choices[0], parts=(replace(CALL, id_made=True),))
    events = stream_of("gemini", replace(ANSWER, choices=(choice,)))
    made = []
    for releases in (False, True):
        body = KnownBytes(encode_request(ASKED, target="anthropic").data())
        exchange = Exchange("anthropic", "gemini")
        exchange.request(body)
        del body
        stream = exchange.stream()
        before = KnownBytes.gone
        if releases:
            exchange.release_text()
        assert KnownBytes.gone - before == releases
        made.append(stream.feed(events) + stream.close())
    assert made[0] == made[1]
    assert b"toolu_" in made[0]


def test_the_text_of_a_request_stays_where_the_answer_may_need_it():
    exchange = Exchange("anthropic", "anthropic")
    exchange.request(encode_request(ASKED, target="anthropic").data())
    exchange.stream()
    exchange.release_text()
    assert exchange.client_request.tools[0].name == TOOL.name
