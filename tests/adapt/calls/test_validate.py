"""Calls in answers, checked against the tools of the request."""

import json

import pytest
from tests.wires import NAMES, PAIRS, answer, asking, call, parts_of, said, seen, shown, user

import toolglot
from toolglot import (
    Context,
    MissingExtraError,
    Options,
    StreamTranslator,
    ToolCall,
    UntranslatableError,
    decode_response,
    encode_response,
    get_protocol,
    ir,
    translate_response,
    validate_arguments,
    validate_tool_calls,
)
from toolglot.adapt.answers.passes import adapt_whole
from toolglot.adapt.calls.validate import CheckCalls
from toolglot.events import (
    Failed,
    Finished,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    fold,
    unfold,
)
from toolglot.schema import conform

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = ir.FunctionTool(name="weather", parameters=SCHEMA)
REQUEST = asking(user("hi"), tools=(TOOL, ir.FunctionTool(name="clock")))
GOOD = call("weather", '{"city":"Ghent","days":2}', "call_1")
BAD = call("weather", '{"city":"Ghent","days":"two"}', "call_2")
MENDABLE = call("weather", '{"city":"Ghent","days":"2"}', "call_3")
MENDED = '{"city":"Ghent","days":2}'


def context(request=REQUEST, name="openai-chat", **options):
    surface = get_protocol(name).SURFACE
    return Context(Options(**options), source=surface, target=surface, request=request)


def notes(ctx):
    return [(note.code, note.severity, note.message) for note in ctx.receipt()]


def checked(*parts, request=REQUEST, stop=None, **options):
    ctx = context(request, **options)
    response = adapt_whole(answer(*parts, stop=stop), [CheckCalls(ctx)], ctx)
    return list(response.choices[0].parts), ctx


def streamed(*parts, request=REQUEST, **options):
    """The same through the pass for streams."""
    ctx = context(request, **options)
    checking = CheckCalls(ctx)
    events = [out for event in unfold(answer(*parts)) for out in checking.feed(event)]
    response = fold(events)
    assert isinstance(response, ir.Response)
    return list(response.choices[0].parts), ctx


BOTH = pytest.mark.parametrize("run", [checked, streamed], ids=["whole", "stream"])


# --- the library function


@pytest.mark.parametrize(
    "tool",
    [
        SCHEMA,
        TOOL,
        {"name": "weather", "input_schema": SCHEMA},
        {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}},
        {"type": "function", "name": "weather", "parameters": SCHEMA},
        {"name": "weather", "parametersJsonSchema": SCHEMA},
    ],
    ids=["schema", "ir", "anthropic", "chat", "responses", "gemini"],
)
def test_arguments_are_checked_against_any_definition(tool):
    """S1-51"""
    assert validate_arguments(tool, '{"city":"Ghent"}') == []
    assert validate_arguments(tool, {"city": "Ghent"}) == []
    assert [str(p) for p in validate_arguments(tool, '{"city":5,"days":1}')] == [
        'city: 5 is not of type "string"'
    ]
    assert [p.path for p in validate_arguments(tool, "")] == [""]


def test_arguments_that_are_no_json():
    """S1-51"""
    [problem] = validate_arguments(SCHEMA, "{'city'}")
    assert problem.message.startswith("not JSON: ")


@pytest.mark.parametrize("tool", [None, {"name": "clock"}, ir.FunctionTool(name="clock")])
def test_without_a_schema_any_json_will_do(tool):
    assert validate_arguments(tool, "[1]") == []
    assert validate_arguments(tool, "[1") != []


def test_a_call_without_a_name():
    """S3-28"""
    [(same, problems)] = validate_tool_calls([ToolCall(id="1", name="")])
    assert [p.message for p in problems] == ["tool call missing name"]
    assert same == ToolCall(id="1", name="")


def test_calls_without_ids_get_unique_ones():
    """S3-29: and the same ones for the same calls."""
    calls = [
        ToolCall(id="", name="clock"),
        ToolCall(id="", name="clock"),
        ToolCall(id="x", name="a"),
    ]
    ids = [each.id for each, _ in validate_tool_calls(calls)]
    assert all(ids)
    assert len(set(ids)) == 3
    assert ids[2] == "x"
    assert ids == [each.id for each, _ in validate_tool_calls(calls)]


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [('{"x": 5}', '{"x": 5}'), ("<x>5</x>", '{"x":"5"}'), ("<a><x>5</x></a>", '{"x":"5"}')],
)
def test_raw_input_is_read_as_json_then_as_xml(raw, arguments):
    """S3-30"""
    [(found, problems)] = validate_tool_calls([ToolCall(id="1", name="calc", raw_input=raw)])
    assert found.arguments == arguments
    assert problems == []


def test_raw_input_that_cannot_be_read_is_kept():
    """S3-30, D-11: and the calls beside it are not harmed."""
    bad = ToolCall(id="1", name="calc", raw_input="ls -la")
    good = ToolCall(id="2", name="calc", arguments='{"x":5}')
    (kept, problems), (other, none) = validate_tool_calls([bad, good])
    assert kept == bad
    [problem] = problems
    assert problem.message.startswith("failed to parse tool arguments: Expecting value")
    assert (other, none) == (good, [])


def test_calls_are_checked_against_their_tools():
    """S1-51"""
    calls = [ToolCall(id="1", name="weather", arguments="{}"), ToolCall(id="2", name="nope")]
    first, second = validate_tool_calls(calls, [TOOL])
    assert [str(p) for p in first[1]] == ['"city" is a required property']
    assert [str(p) for p in second[1]] == ["name: there is no tool 'nope'"]


# --- policies


@BOTH
def test_off_changes_and_says_nothing(run):
    """D-11"""
    parts, ctx = run(GOOD, BAD, request=None)
    assert parts == [GOOD, BAD]
    assert notes(ctx) == []


@BOTH
def test_note_names_the_path_and_what_is_wrong(run):
    """S1-51, D-11: the call is delivered as it came, and so are the others."""
    parts, ctx = run(GOOD, BAD, MENDABLE, validate="note")
    assert parts == [GOOD, BAD, MENDABLE]
    assert notes(ctx) == [
        ("arguments-mismatch", "lossy", 'weather: days: "two" is not of type "integer"'),
        ("arguments-mismatch", "lossy", 'weather: days: "2" is not of type "integer"'),
    ]


@BOTH
def test_retry_marks_the_call(run):
    """D-11"""
    parts, ctx = run(GOOD, MENDABLE, validate="retry")
    assert parts == [GOOD, MENDABLE]
    assert [code for code, _, _ in notes(ctx)] == ["call-invalid"]


@BOTH
def test_repair_mends_what_it_can(run):
    """S0-63, D-11: what cannot be repaired is delivered untouched and called invalid."""
    parts, ctx = run(GOOD, BAD, MENDABLE, validate="repair")
    assert [part.arguments for part in parts] == [GOOD.arguments, BAD.arguments, MENDED]
    assert notes(ctx) == [
        (
            "arguments-mismatch",
            "lossy",
            'invalid: weather: days: "two" is not of type "integer"',
        ),
        ("arguments-repaired", "info", "weather: days as integer"),
    ]


@BOTH
def test_a_tool_that_does_not_exist(run):
    parts, ctx = run(call("nope"), GOOD, validate="repair")
    assert parts == [call("nope"), GOOD]
    assert notes(ctx) == [("arguments-mismatch", "lossy", "invalid: nope: there is no tool 'nope'")]


@BOTH
def test_a_call_without_a_name_in_an_answer(run):
    """S3-28, D-11"""
    _, ctx = run(call(""), GOOD, validate="note")
    assert notes(ctx) == [("arguments-mismatch", "lossy", "a call: tool call missing name")]


@BOTH
def test_a_call_without_an_id_in_an_answer(run):
    """S3-29"""
    parts, ctx = run(call("clock", id=""), call("clock", id=""), validate="repair")
    assert parts[0].id
    assert parts[1].id
    assert parts[0].id != parts[1].id
    assert [code for code, _, _ in notes(ctx)] == ["id-made", "id-made"]


@BOTH
def test_freeform_calls_have_no_schema(run):
    custom = ir.ToolCall(id="c", name="patch", arguments="*** Begin", type="custom")
    request = asking(user("hi"), tools=(ir.CustomTool(name="patch"),))
    parts, ctx = run(custom, request=request, validate="repair")
    assert parts == [custom]
    assert notes(ctx) == []


@BOTH
def test_tools_in_a_namespace(run):
    space = ir.NamespaceTool(name="sky", tools=(TOOL,))
    inside = ir.ToolCall(id="1", name="weather", namespace="sky", arguments='{"city":1}')
    parts, _ = run(inside, request=asking(user("hi"), tools=(space,)), validate="repair")
    assert parts[0].arguments == '{"city":"1"}'


@BOTH
def test_without_a_request_only_json_is_checked(run):
    parts, ctx = run(BAD, call("x", "{'a': 1}"), request=None, validate="repair")
    assert [part.arguments for part in parts] == [BAD.arguments, '{"a":1}']
    assert [code for code, _, _ in notes(ctx)] == ["arguments-repaired"]


@BOTH
def test_a_schema_that_cannot_be_read_is_noted(run):
    odd = ir.FunctionTool(name="odd", parameters={"type": "STRING"})
    parts, ctx = run(
        call("odd", '{"a":1}'), request=asking(user("hi"), tools=(odd,)), validate="note"
    )
    assert parts == [call("odd", '{"a":1}')]
    assert [code for code, _, _ in notes(ctx)] == ["arguments-unchecked"]


def test_strict_refuses_an_invalid_call():
    """D-11"""
    with pytest.raises(UntranslatableError, match="days"):
        shown(
            answer(BAD), "openai-chat", "anthropic", request=REQUEST, validate="note", strict=True
        )


@pytest.mark.parametrize("package", ["jsonschema_rs", "json_repair"])
def test_a_policy_says_what_it_needs(package, monkeypatch):
    def without(name):
        if name == package:
            raise ImportError(name)

    monkeypatch.setattr(conform, "import_module", without)
    with pytest.raises(MissingExtraError, match="validate"):
        shown(answer(GOOD), "openai-chat", "anthropic", request=REQUEST, validate="repair")
    with pytest.raises(MissingExtraError, match="validate"):
        StreamTranslator("openai-chat", "anthropic", validate="repair")


def test_off_needs_nothing(monkeypatch):
    def without(name):
        raise ImportError(name)

    monkeypatch.setattr(conform, "import_module", without)
    assert seen(answer(BAD), "openai-chat", "anthropic", request=REQUEST)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_pair(source, target):
    """S1-51, S0-63: the client's own schema counts, whatever the provider was told."""
    request = said(REQUEST, target)
    if target == "gemini":
        request = {**request, "model": "models/some-model"}
    found = seen(answer(MENDABLE), source, target, request=request, validate="repair")
    [part] = parts_of(found, ir.ToolCall)
    assert json.loads(part.arguments) == json.loads(MENDED)


# --- calls that broke off

CUT = call("weather", '{"city":"Gh')


def test_a_cut_call_is_completed_only_on_request():
    """case-50: and the note says that something is lost."""
    parts, ctx = checked(CUT, stop="length", validate="note")
    assert parts == [CUT]
    assert [code for code, _, _ in notes(ctx)] == ["arguments-mismatch"]
    parts, ctx = checked(CUT, stop="length", validate="repair")
    assert [part.arguments for part in parts] == ['{"city":"Gh"}']
    assert [(code, severity) for code, severity, _ in notes(ctx)] == [
        ("arguments-repaired", "lossy")
    ]


def events(*, end):
    start = ir.ToolCall(id="c", name="weather", arguments="")
    yield Started(id="r", model="m")
    yield PartStarted(0, start)
    yield PartDelta(0, '{"city":')
    yield PartDelta(0, '"Gh')
    yield PartEnded(0, incomplete=True)
    yield end


LENGTH = Finished((ir.StopReason(kind="length"),))
FAILED = Failed(ir.ApiError(kind="server", message="cut"))


def run_events(given, **options):
    ctx = context(**options)
    checking = CheckCalls(ctx)
    return [out for event in given for out in checking.feed(event)], ctx


def test_a_cut_call_in_a_stream_that_ended():
    """case-50"""
    out, ctx = run_events(events(end=LENGTH), validate="repair")
    assert PartEnded(0) in out
    assert PartDelta(0, '{"city":"Gh"}') in out
    assert out[-1] == LENGTH
    assert [severity for _, severity, _ in notes(ctx)] == ["lossy"]


def test_a_cut_call_in_a_stream_that_failed_is_never_complete():
    """case-50"""
    out, ctx = run_events(events(end=FAILED), validate="repair")
    assert PartEnded(0, incomplete=True) in out
    assert PartDelta(0, '{"city":"Gh') in out
    assert out[-1] == FAILED
    assert notes(ctx) == []


@pytest.mark.parametrize("options", [{"validate": "note"}, {"sanitize": "nul"}])
def test_a_cut_call_stays_cut_without_repair(options):
    """case-50"""
    out, _ = run_events(events(end=LENGTH), **options)
    assert PartEnded(0, incomplete=True) in out


def test_notes_let_a_stream_flow():
    """D-11: checked at the end, delivered at once."""
    ctx = context(validate="note")
    checking = CheckCalls(ctx)
    start = PartStarted(0, ir.ToolCall(id="c", name="weather", arguments=""))
    assert list(checking.feed(start)) == [start]
    assert list(checking.feed(PartDelta(0, '{"city"'))) == [PartDelta(0, '{"city"')]
    assert list(checking.feed(PartDelta(0, ":5}"))) == [PartDelta(0, ":5}")]
    assert notes(ctx) == []
    assert list(checking.feed(PartEnded(0))) == [PartEnded(0)]
    assert [code for code, _, _ in notes(ctx)] == ["arguments-mismatch"]


# --- more calls than the client takes

CALLS = tuple(call("clock", id=f"call_{n}") for n in range(3))
SINGLE = asking(user("hi"), tools=REQUEST.tools, parallel_tool_calls=False)


@BOTH
@pytest.mark.parametrize(
    ("how", "most"),
    [({"request": SINGLE}, 1), ({"max_calls": 2}, 2), ({"request": SINGLE, "max_calls": 2}, 1)],
)
def test_further_calls_are_noted_and_kept(run, how, most):
    """S3-38"""
    parts, ctx = run("text", *CALLS, **how)
    assert parts[1:] == list(CALLS)
    assert [(code, severity) for code, severity, _ in notes(ctx)] == [
        ("calls-over-limit", "lossy")
    ] * (3 - most)
    assert ctx.queued == ()


@BOTH
def test_further_calls_are_queued(run):
    """S3-38: none is lost; what stands between them is delivered."""
    first, *others = CALLS
    parts, ctx = run(first, others[0], "more", others[1], request=SINGLE, max_calls_policy="queue")
    assert parts == [first, ir.Text(text="more")]
    assert ctx.queued == tuple(others)
    assert [code for code, _, _ in notes(ctx)] == ["calls-over-limit"] * 2


@BOTH
def test_queued_calls_are_repaired_too(run):
    """S3-38"""
    _, ctx = run(GOOD, MENDABLE, max_calls=1, max_calls_policy="queue", validate="repair")
    assert [each.arguments for each in ctx.queued] == [MENDED]


def test_a_cut_call_is_not_queued():
    """S3-38"""
    parts, ctx = checked(GOOD, CUT, stop="length", max_calls=1, max_calls_policy="queue")
    assert parts == [GOOD, CUT]
    assert ctx.queued == ()


# --- the same protocol on both sides


@pytest.mark.parametrize("name", NAMES)
def test_one_protocol_with_a_policy(name):
    """S1-51: a sound answer comes back as it is, a bad call is repaired."""
    sound = encode_response(answer("Hm.", GOOD), target=name).body
    wire, receipt = translate_response(
        sound, source=name, target=name, request=REQUEST, validate="repair"
    )
    assert wire.body is sound
    assert not receipt
    bad = encode_response(answer("Hm.", MENDABLE), target=name).body
    wire, receipt = translate_response(
        bad, source=name, target=name, request=REQUEST, validate="repair"
    )
    assert receipt.codes() == {"arguments-repaired": 1}
    decoded = decode_response(wire.body, source=name)
    [part] = parts_of(decoded, ir.ToolCall)
    assert json.loads(part.arguments) == json.loads(MENDED)


def chat_stream(*pieces):
    chunks = [
        {
            "index": 0,
            "id": "call_1",
            "type": "function",
            "function": {"name": "weather", "arguments": ""},
        },
        *({"index": 0, "function": {"arguments": piece}} for piece in pieces),
    ]
    for chunk in chunks:
        choice = {"index": 0, "delta": {"tool_calls": [chunk]}, "finish_reason": None}
        yield {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    last = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    yield {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [last]}


def sse(chunks):
    return (
        b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in chunks) + b"data: [DONE]\n\n"
    )


def test_one_protocol_in_a_stream_is_watched():
    """S1-51: the bytes are the provider's own."""
    data = sse(chat_stream('{"city"', ":5}"))
    translator = StreamTranslator("openai-chat", "openai-chat", request=REQUEST, validate="note")
    assert translator.feed(data) + translator.close() == data
    assert translator.receipt.codes() == {"arguments-mismatch": 1}


@pytest.mark.parametrize("target", NAMES)
def test_a_stream_is_repaired(target):
    """S0-63: for every client, in pieces or not."""
    data = sse(chat_stream('{"city"', ":5,", "}"))
    translator = StreamTranslator("openai-chat", target, request=REQUEST, validate="repair")
    written = b"".join(translator.feed(data[n : n + 7]) for n in range(0, len(data), 7))
    written += translator.close()
    assert "arguments-repaired" in translator.receipt.codes()
    ctx = Context(source=get_protocol(target).SURFACE, target=get_protocol(target).SURFACE)
    decoder = get_protocol(target).StreamDecoder(ctx)
    response = fold([*decoder.feed(written), *decoder.close()])
    [part] = parts_of(response, ir.ToolCall)
    assert json.loads(part.arguments) == {"city": "5"}


# --- limits that the provider was only told ------------------------------------------------------

LIMITED = {
    "type": "object",
    "properties": {"n": {"type": "integer", "multipleOf": 5}, "s": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("args", "delivered", "code"),
    [
        ({"n": 10}, {"n": 10}, None),
        ({"n": "10"}, {"n": 10}, "arguments-repaired"),
        ({"n": 11}, {"n": 11}, "arguments-mismatch"),
        ({"n": "11"}, {"n": "11"}, "arguments-mismatch"),
    ],
)
def test_calls_of_tools_with_limits_that_were_only_told_are_checked(args, delivered, code):
    """Without any option: the client's own schema counts, and nothing is changed in silence."""
    request = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "f", "input_schema": LIMITED}, {"name": "g", "input_schema": {}}],
    }
    call = {"functionCall": {"name": "f", "args": args}}
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [call]}, "finishReason": "STOP"}]
    }
    made, receipt = toolglot.translate_response(
        answer, source="gemini", target="anthropic", request=request
    )
    assert made.body["content"][0]["input"] == delivered
    assert {note.code for note in receipt if note.code.startswith("arguments-")} == (
        {code} if code else set()
    )
