"""One canonical call, given out in the forms of several providers."""

import json

import anthropic
import ollama
import openai
import pytest
from google import genai

import toolglot
from toolglot import (
    DecodeError,
    ToolCall,
    ToolingMiddleware,
    detect,
    format_tools,
    get_parser,
    parse_tool_calls,
    translate_response,
    validate_tool_calls,
)
from toolglot.exchange import encode_stream
from toolglot.parsers import validated_calls

CALL = ToolCall(id="1", name="test", arguments='{"x":5}')
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
ANTHROPIC = {"name": "calc", "description": "Calculates", "input_schema": SCHEMA}


def test_one_parse_gives_both_forms():
    """S3-03"""
    body = {"content": [{"type": "tool_use", "id": "toolu_1", "name": "calc", "input": {"x": 5}}]}
    [call] = parse_tool_calls(body, "anthropic")
    assert call.to_anthropic() == body["content"][0]
    assert call.to_openai() == {
        "id": "toolu_1",
        "type": "function",
        "function": {"name": "calc", "arguments": '{"x":5}'},
    }


def test_the_canonical_form():
    """S3-07: arguments as an object; the raw input only where there is one."""
    assert CALL.to_canonical() == {
        "id": "1",
        "name": "test",
        "arguments": {"x": 5},
        "type": "function",
    }
    raw = ToolCall(id="2", name="bash", arguments="{}", type="bash", raw_input="<tool>ls</tool>")
    assert raw.to_canonical()["raw_input"] == "<tool>ls</tool>"
    assert raw.to_canonical()["type"] == "bash"


def test_the_form_of_anthropic():
    """S3-14"""
    assert CALL.to_anthropic() == {
        "type": "tool_use",
        "id": "1",
        "name": "test",
        "input": {"x": 5},
    }


def test_the_form_of_openai():
    """S3-15"""
    assert CALL.to_openai() == {
        "id": "1",
        "type": "function",
        "function": {"name": "test", "arguments": '{"x":5}'},
    }


def test_the_form_of_no_standard():
    """S3-16"""
    assert CALL.to_generic() == {
        "tool_call_id": "1",
        "tool_name": "test",
        "parameters": {"x": 5},
    }


def test_definitions_from_anthropic_to_openai():
    """S3-21"""
    [tool] = format_tools([ANTHROPIC], "openai")
    assert tool == {
        "type": "function",
        "function": {"name": "calc", "description": "Calculates", "parameters": SCHEMA},
    }


def test_definitions_from_openai_to_anthropic():
    """S3-22: and every one of several."""
    function = {"name": "calc", "description": "Calculates", "parameters": SCHEMA}
    tools = [{"type": "function", "function": {**function, "name": n}} for n in ("calc", "two")]
    assert format_tools(tools, "anthropic") == [ANTHROPIC, {**ANTHROPIC, "name": "two"}]


def test_the_parser_for_anthropic():
    """S3-47"""
    text = '{"content": [{"type": "tool_use", "id": "123", "name": "calc", "input": {"x": 5}}]}'
    [call] = parse_tool_calls(text, "anthropic")
    assert call.name == "calc"
    assert call.input["x"] == 5


@pytest.mark.parametrize(
    "arguments",
    ['{"x":5}', '{"x":5.0}', '{"x":12345678901234567890}', '{"b":1,"a":[null,"ä"]}', "{}"],
)
def test_the_round_trip_is_equality(arguments):
    """S3-48, D-19: integers stay integers, and numbers with a point stay so."""
    call = ToolCall(id="1", name="test", arguments=arguments)
    anthropic = {"content": [call.to_anthropic()], "stop_reason": "tool_use"}
    assert parse_tool_calls(anthropic, "anthropic") == [call]
    message = {"role": "assistant", "content": None, "tool_calls": [call.to_openai()]}
    assert parse_tool_calls(message, "openai") == [call]
    assert json.dumps(call.input) == json.dumps(json.loads(arguments))


def test_whole_numbers_are_of_their_type():
    """D-19"""
    assert type(CALL.input["x"]) is int
    [again] = parse_tool_calls({"content": [CALL.to_anthropic()]}, "anthropic")
    assert type(again.input["x"]) is int


# --- detection ------------------------------------------------------------------------------------

BLOCK = {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "<tool>ls</tool>"}}
ITEM = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
PART = {"functionCall": {"name": "look", "args": {"tool_calls": []}}}
ENTRY = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("piece", "name"),
    [
        (BLOCK, "anthropic"),
        ([{"type": "text", "text": "Hm."}, BLOCK], "anthropic"),
        ({"role": "assistant", "content": [BLOCK]}, "anthropic"),
        (ITEM, "openai-responses"),
        ([{"type": "message", "role": "assistant", "content": []}, ITEM], "openai-responses"),
        (PART, "gemini"),
        ([{"text": "Hm."}, PART], "gemini"),
        ({"role": "model", "parts": [PART]}, "gemini"),
        (ENTRY, "openai-chat"),
        ([ENTRY], "openai-chat"),
        ({"tool_calls": [ENTRY]}, "openai-chat"),
        ({"role": "assistant", "content": None, "tool_calls": [ENTRY]}, "openai-chat"),
        ({"type": "function_call_output", "call_id": "c1", "output": "x"}, None),
        ([{"type": "text", "text": "tool_use"}], None),
        ([], None),
        ([1, "tool_use"], None),
    ],
)
def test_pieces_of_responses_are_detected(piece, name):
    """S3-04, S3-19: a bare call, a list of parts, a message; its parser reads it."""
    assert detect(json.dumps(piece, indent=1)) == name
    if name is not None:
        [call] = parse_tool_calls(json.dumps(piece), name)
        assert call.name == "look"
        assert get_parser(name).parse(piece) == [call]


IN_TEXT = [name for name in toolglot.PROTOCOLS if name != "bedrock-converse"]
"""Protocols whose streams are text."""


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("name", IN_TEXT)
def test_recorded_streams_are_detected(name, cut):
    """S3-04: by their events; one that was cut in the middle, too."""
    call = ToolCall(id="call_1", name="look", arguments='{"at":"<tool>ls</tool>"}')
    choice = toolglot.ir.Choice(
        parts=(toolglot.Text(text="Well."), call), stop=toolglot.ir.StopReason(kind="tool_calls")
    )
    made = toolglot.Response(id="r1", model="m", choices=(choice,))
    data = encode_stream(made, name, toolglot.Context()).decode()
    if cut:
        at = data.rindex("ls</tool>")
        data = data[: data.index("\n", at) + 1] + ("" if name == "ollama" else "\n")
    assert detect(data) == name
    if not cut:
        [found] = parse_tool_calls(data, name)
        assert (found.name, found.input) == (call.name, call.input)
    words = toolglot.Response(
        id="r1",
        model="m",
        choices=(toolglot.ir.Choice(parts=(toolglot.Text(text="No tool_use."),)),),
    )
    assert detect(encode_stream(words, name, toolglot.Context()).decode()) is None


@pytest.mark.parametrize("name", list(toolglot.PROTOCOLS))
def test_a_dialect_is_detected_inside_a_response(name):
    """S3-04: whole or streamed; the response has no call, but its text does."""
    text = 'Well.\n<tool_call>{"name": "look", "arguments": {"at": "sea"}}</tool_call>'
    choice = toolglot.ir.Choice(
        parts=(toolglot.Text(text=text),), stop=toolglot.ir.StopReason(kind="end")
    )
    made = toolglot.Response(id="r1", model="m", choices=(choice,))
    body = toolglot.encode_response(made, target=name).data().decode()
    stream = encode_stream(made, name, toolglot.Context()).decode("utf-8", "replace")
    for given in (body, *([stream] if name in IN_TEXT else ()), text):
        assert detect(given) == "hermes"
        [call] = get_parser("hermes").parse(given)
        assert (call.name, call.input) == ("look", {"at": "sea"})


# --- parsers --------------------------------------------------------------------------------------


def test_every_dialect_is_the_name_of_a_parser():
    """S3-44, S3-05: so what discovery finds can be used."""
    for name in toolglot.dialects.table.DIALECTS:
        parser = get_parser(name)
        assert parser.provider_id() == name
        assert parser.format() in ("json", "xml", "custom")
    [call] = parse_tool_calls('<tool name="look" at="sea"/>', "generic_tool_xml")
    assert (call.name, call.input) == ("look", {"at": "sea"})
    answer = ToolingMiddleware("generic_tool_xml").process_response('<tool name="look" at="sea"/>')
    assert answer.get_tool_calls("anthropic")[0]["input"] == {"at": "sea"}


@pytest.mark.parametrize(
    ("text", "name", "value", "kind"),
    [
        ('<tool name="get" city="Łódź"/>', "get", {"city": "Łódź"}, "function"),
        ("<tool><name>put</name><n>1</n></tool>", "put", {"n": "1"}, "function"),
        ("<tool>ls -la</tool>", "bash", {"command": "ls -la"}, "bash"),
        ('<tool name="bash" command="ls"/>', "bash", {"command": "ls"}, "function"),
    ],
)
def test_the_forms_of_deepseek(text, name, value, kind):
    """S3-49, S3-50: a command alone is a call of the type bash."""
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
    for given in (text, body):
        [call] = get_parser("deepseek").parse(given)
        assert (call.name, call.input, call.type, call.raw_input) == (name, value, kind, text)
        assert call.to_canonical()["type"] == kind


# --- definitions ----------------------------------------------------------------------------------

KINDS = [
    {"type": "function", "name": "one", "parameters": {"type": "object", "properties": {}}},
    {"type": "custom", "name": "free", "description": "Takes text."},
    {
        "type": "namespace",
        "name": "ns",
        "description": "A group.",
        "tools": [
            {"type": "function", "name": "a", "parameters": {"type": "object", "properties": {}}}
        ],
    },
    {"type": "image_generation"},
]


@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama", "openai"])
def test_definitions_of_every_kind_are_formatted(target):
    """S3-23, S3-39: none is lost without a note, and calls find their way back."""
    tools = format_tools(KINDS, target)
    written = json.dumps(tools)
    for name in ("one", "free", "ns__a"):
        assert f'"{name}"' in written
    assert [(note.code, note.path) for note in tools.receipt.losses] == [
        ("tool-dropped", "tools[3]")
    ]
    call = tools.restore(ToolCall(id="1", name="ns__a"))
    assert (call.namespace, call.name) == ("ns", "a")
    request = {"model": "m", "tools": KINDS}
    assert ToolingMiddleware(target).process_request(request)["tools"] == tools
    answer = {"anthropic": {"content": [{**BLOCK, "name": "free", "input": {"input": "x y"}}]}}
    if target in answer:
        done = ToolingMiddleware(target).process_response(answer[target], request=request)
        assert [(c.name, c.type, c.arguments) for c in done.tool_calls] == [
            ("free", "custom", "x y")
        ]


def test_definitions_are_narrowed_as_in_a_request():
    """S3-23: a schema that the target refuses is not sent to it."""
    schema = {"type": "object", "properties": {"u": {"type": "string", "format": "uri"}}}
    [tool] = format_tools([{"name": "f", "input_schema": schema}], "responses")
    assert tool["strict"] is False, "there, silence means that a tool is strict"
    assert "format" not in tool["parameters"]["properties"]["u"]
    tools = format_tools([{"name": "a/b", "input_schema": schema}], "openai")
    assert "/" not in tools[0]["function"]["name"]
    assert tools.restore(ToolCall(id="1", name=tools[0]["function"]["name"])).name == "a/b"


# --- validation -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [('{"a": 1}', {"a": 1}), ("<a>1</a>", {"a": "1"}), ("<x><a>1</a><b>2</b></x>", None)],
)
def test_raw_input_is_json_or_xml_for_every_validator(raw, arguments):
    """S3-30"""
    call = ToolCall(id="1", name="f", raw_input=raw)
    [(checked, problems)] = validate_tool_calls([call])
    [valid] = validated_calls([call])
    assert valid.arguments == checked.arguments
    assert not problems
    assert arguments is None or valid.input == arguments

    class Raw:
        def parse(self, _response):
            return [call]

        def format(self):
            return "xml"

        def provider_id(self):
            return "raw"

    done = ToolingMiddleware("openai", parser=Raw()).process_response("any")
    assert done.tool_calls[0].arguments == valid.arguments


def test_every_validator_makes_the_same_id():
    """S3-29"""
    call = ToolCall(id="", name="f", arguments='{"a":1}')
    assert validated_calls([call])[0].id == validate_tool_calls([call])[0][0].id


# --- limits ---------------------------------------------------------------------------------------


def _two_calls():
    calls = [{**ENTRY, "id": each} for each in ("a", "b")]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": "c", "model": "m", "choices": [choice]}


def test_queued_calls_can_be_reached():
    """S3-38: from the receipt of a whole answer, of a stream and of an exchange."""
    limit = {"max_calls": 1, "max_calls_policy": "queue"}
    wire, receipt = translate_response(
        _two_calls(), source="openai-chat", target="anthropic", **limit
    )
    assert [block["id"] for block in wire.body["content"]] == ["a"]
    assert [call.id for call in receipt.queued] == ["b"]
    assert receipt.queued[0].to_anthropic()["name"] == "look"
    decoded = toolglot.decode_response(_two_calls(), source="openai-chat")
    data = encode_stream(decoded, "openai-chat", toolglot.Context())
    translator = toolglot.StreamTranslator("openai-chat", "anthropic", **limit)
    translator.feed(data)
    translator.close()
    assert [call.id for call in translator.receipt.queued] == ["b"]
    exchange = toolglot.Exchange("anthropic", "openai-chat", toolglot.Options(**limit))
    exchange.request(b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}')
    exchange.response(json.dumps(_two_calls()).encode())
    assert [call.id for call in exchange.receipt.queued] == ["b"]


# --- notes and passes of one's own ----------------------------------------------------------------


def test_passes_have_notes_of_their_own():
    """S3-39"""

    def shout(request, ctx):
        ctx.note("house-rule", "model", "asked for the big one")
        return toolglot.ir.Request(model="big", messages=request.messages)

    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    wire, receipt = toolglot.translate_request(
        body, source="chat", target="claude", passes=(shout,)
    )
    assert wire.body["model"] == "big"
    assert "house-rule" in receipt.codes()


def test_passes_over_whole_responses_are_refused_for_streams():
    with pytest.raises(ValueError, match="event_passes"):
        toolglot.StreamTranslator("gemini", "anthropic", response_passes=(lambda r, _: r,))


# --- what callers have at hand --------------------------------------------------------------------


def test_protocols_have_the_names_of_providers():
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    for source, target in (("claude", "openai"), ("anthropic", "openai-chat")):
        wire, _ = toolglot.translate_request(body, source=source, target=target)
        assert wire.path == "/v1/chat/completions"
    assert toolglot.Exchange("claude", "anthropic").client == "anthropic"
    assert toolglot.decode_request(body, source="claude").model == "m"
    with pytest.raises(toolglot.UnknownProtocolError):
        toolglot.translate_request(body, source="nobody", target="claude")


def test_lists_do_for_the_options():
    schema = {
        "type": "object",
        "properties": {"x": {"type": "string", "description": "zap"}},
        "required": ["x"],
    }
    body = {"model": "m", "max_tokens": 9, "messages": [], "tools": [{"name": "f"}]}
    body["tools"][0]["input_schema"] = schema
    wire, _ = toolglot.translate_request(
        body, source="anthropic", target="openai-chat", optional_markers=["zap"]
    )
    assert "required" not in wire.body["tools"][0]["function"]["parameters"]


OBJECTS = {
    "anthropic": anthropic.types.Message.model_validate(
        {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [BLOCK],
         "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}
    ),
    "openai-chat": openai.types.chat.ChatCompletion.model_validate(
        {**_two_calls(), "object": "chat.completion", "created": 1}
    ),
    "gemini": genai.types.GenerateContentResponse.model_validate(
        {"candidates": [{"content": {"role": "model", "parts": [
            {"functionCall": {"name": "look", "args": {"at": "sea"}}, "thoughtSignature": "YWI="}
        ]}}]}
    ),
    "ollama": ollama.ChatResponse.model_validate(
        {"model": "m", "done": True, "message": {"role": "assistant", "tool_calls": [
            {"function": {"name": "look", "arguments": {"at": "sea"}}}
        ]}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_of_sdks_are_responses(name):
    calls = parse_tool_calls(OBJECTS[name], name)
    assert {call.name for call in calls} == {"look"}
    assert get_parser(name).parse(OBJECTS[name]) == calls
    for target in toolglot.PROTOCOLS:
        wire, _ = translate_response(OBJECTS[name], source=name, target=target)
        [*_, last] = parse_tool_calls(wire.body, target)
        assert last.input == calls[-1].input


def test_a_stream_that_is_cut_is_told_in_its_own_protocol():
    """case-09: by the library, too, unless it is to pass unread."""
    start = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m"}
    data = f"event: message_start\ndata: {json.dumps({'type': 'message_start', 'message': start})}"
    told = toolglot.StreamTranslator("anthropic", "anthropic")
    written = told.feed(f"{data}\n\n".encode()) + told.close()
    assert b"event: error" in written
    assert told.error is not None
    unread = toolglot.StreamTranslator("anthropic", "anthropic", watch=False)
    assert unread.feed(f"{data}\n\n".encode()) + unread.close() == f"{data}\n\n".encode()


@pytest.mark.parametrize("source", [n for n in toolglot.PROTOCOLS if n != "anthropic"])
def test_an_answer_for_anthropic_names_a_model(source):
    """X-17: a name is needed there, whoever answered and whether the request is known or not."""
    choice = toolglot.ir.Choice(
        parts=(toolglot.Text(text="Hi."),), stop=toolglot.ir.StopReason(kind="end")
    )
    made = toolglot.Response(id="r1", model="", choices=(choice,))
    data = encode_stream(made, source, toolglot.Context())
    translator = toolglot.StreamTranslator(source, "anthropic")
    written = (translator.feed(data) + translator.close()).decode()
    assert toolglot.lint_stream(written.encode(), protocol="anthropic") == []
    first = json.loads(written.split("data: ", 2)[1].split("\n")[0])
    assert first["message"]["model"] == "unknown"
    assert "default-added" in translator.receipt.codes()
    wire = toolglot.encode_response(made, target=source)
    whole, _ = translate_response(wire.body, source=source, target="anthropic")
    assert whole.body["model"] == "unknown"


def test_what_is_no_response_is_refused():
    with pytest.raises(DecodeError):
        parse_tool_calls("[]", "anthropic")
    with pytest.raises(DecodeError):
        parse_tool_calls('[1, {"type": "tool_use"}]', "anthropic")
