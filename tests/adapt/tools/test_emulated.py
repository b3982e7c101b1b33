"""Tools for models that have none: told as text, called in text, and nobody notices."""

import copy
import json
from typing import Any

import pytest
from tests.laws.corpus import fixtures, load
from tests.wires import NAMES, path_to

from toolglot import (
    Context,
    Options,
    StreamTranslator,
    TextDecoder,
    UntranslatableError,
    decode_request,
    decode_response,
    encode_response,
    get_protocol,
    ir,
    parse_text,
    render_calls,
    translate_request,
)
from toolglot.adapt import context_of_request, emulate_tools_only
from toolglot.adapt.tools.emulated import dialect_of, emulate_tools
from toolglot.dialects.reader import CallSegment
from toolglot.dialects.table import DIALECTS
from toolglot.events import fold, unfold
from toolglot.exchange import Exchange
from toolglot.wire import jsontext

BASH = {
    "name": "Bash",
    "description": "Runs a command.",
    "input_schema": {
        "type": "object",
        "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
        "required": ["command"],
    },
}
READ = {
    "name": "Read",
    "description": "Reads a file.",
    "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
}
PICTURE = {"type": "base64", "media_type": "image/png", "data": "aGVyb24="}
SESSION: dict[str, Any] = {
    "model": "some-model",
    "max_tokens": 512,
    "system": [{"type": "text", "text": "You work in a terminal."}],
    "tools": [BASH, READ],
    "messages": [
        {"role": "user", "content": "What is in heron.png?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
                {
                    "type": "tool_use",
                    "id": "toolu_2",
                    "name": "Read",
                    "input": {"file_path": "heron.png"},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [{"type": "image", "source": PICTURE}],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": "no such shell",
                    "is_error": True,
                },
                {"type": "text", "text": "Go on."},
            ],
        },
    ],
}
"""What a coding client sends: tools, and a history with parallel calls, a failure and a picture."""

WANTED = [("Bash", {"command": "echo '00123' && ls", "timeout": 5}), ("Read", {"file_path": "7"})]


def asked(body: Any = SESSION, source: str = "anthropic", target: str = "openai-chat", **options):
    """A translated request in the interlingua of its target, and the receipt."""
    options = {"tools": "emulated", **options}
    wire, receipt = translate_request(
        body, source=source, target=target, path=path_to(source), **options
    )
    return decode_request(wire.body, source=target, path=wire.path), receipt, wire


def texts(message: ir.Message | ir.Choice) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, ir.Text))


def system(request: ir.Request) -> str:
    lead = request.system or request.messages[0]
    return texts(lead)


# --- from a request to calls ----------------------------------------------------------------------


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("dialect", ["hermes", "qwen3_coder", "react", "pythonic", "gemma4"])
def test_a_session_runs_without_tools(target, dialect):
    """Request without tools, plain text back, calls of the client's tools in it: every target."""
    tools = f"emulated:{dialect}"
    request, _, wire = asked(target=target, tools=tools)
    assert (request.tools, request.tool_choice) == ((), None)
    assert not {"tools", "tool_choice", "toolConfig", "functions"} & wire.body.keys()
    kinds = {type(part) for message in request.messages for part in message.parts}
    assert kinds == {ir.Text, ir.Image}

    calls = [{"name": name, "arguments": arguments} for name, arguments in WANTED]
    text = render_calls(calls, dialect, SESSION["tools"])
    choice = ir.Choice(parts=(ir.Text(text=text),), stop=ir.StopReason(kind="end"))
    answer = ir.Response(id="r", model="m", choices=(choice,))
    back = decode_response(encode_response(answer, target=target).body, source=target)
    assert isinstance(back, ir.Response)
    (part,) = back.choices[0].parts
    assert isinstance(part, ir.Text)
    decoder = TextDecoder(dialect_of(Options(tools=tools)) or "", SESSION["tools"])
    segments = [each for char in part.text for each in decoder.feed(char)] + decoder.close()
    found = [each for each in segments if isinstance(each, CallSegment)]
    assert [(call.name, json.loads(call.arguments)) for call in found] == WANTED


ANSWERED = "I run it.\n"


def answered(dialect: str) -> ir.Response:
    """What the model says: some words and two calls, as plain text."""
    calls = [{"name": name, "arguments": arguments} for name, arguments in WANTED]
    text = ANSWERED + render_calls(calls, dialect, SESSION["tools"])
    choice = ir.Choice(parts=(ir.Text(text=text),), stop=ir.StopReason(kind="end"))
    return ir.Response(id="r", model="m", choices=(choice,))


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("provider", NAMES)
@pytest.mark.parametrize("dialect", ["hermes", "qwen3_coder", "kimi_k2"])
def test_a_client_gets_calls_from_a_model_without_tools(client, provider, dialect):
    """Every client on every provider, whole and streamed: the client sees calls of its tools."""
    options = Options(tools=f"emulated:{dialect}")
    asked_for = translate_request(SESSION, source="anthropic", target=client)[0]
    answer = answered(dialect)
    exchange = Exchange(client, provider, options)
    sent = exchange.request(jsontext.encode(asked_for.body), asked_for.path)
    assert "tools" not in json.loads(sent.data)
    whole = exchange.response(encode_response(answer, target=provider).data())
    shown = decode_response(whole.data, source=client)
    assert isinstance(shown, ir.Response)
    check(shown)

    codec = get_protocol(provider)
    encoder = codec.StreamEncoder(Context(target=codec.SURFACE))
    wire = b"".join(map(encoder.encode, unfold(answer))) + encoder.close()
    translator = StreamTranslator(provider, client, request=asked_for, tools=options.tools)
    pieces = [wire[at : at + 7] for at in range(0, len(wire), 7)]
    data = b"".join(map(translator.feed, pieces)) + translator.close()
    reader = get_protocol(client).StreamDecoder(Context(source=get_protocol(client).SURFACE))
    streamed = fold([*reader.feed(data), *reader.close()])
    assert isinstance(streamed, ir.Response)
    check(streamed)


def check(response: ir.Response) -> None:
    """The words and the calls that were meant, and the reason for the stop."""
    (choice,) = response.choices
    calls = [part for part in choice.parts if isinstance(part, ir.ToolCall)]
    assert [(call.name, json.loads(call.arguments)) for call in calls] == WANTED
    assert texts(choice).strip() == ANSWERED.strip()
    assert choice.stop is not None
    assert choice.stop.kind == "tool_calls"


@pytest.mark.parametrize("target", NAMES)
def test_the_history_is_told_in_order_and_by_name(target):
    request, receipt, _ = asked(target=target)
    messages = [each for each in request.messages if each.role in ("user", "assistant")]
    question, turn, results = messages
    assert texts(question) == "What is in heron.png?"
    parsed = parse_text(texts(turn), SESSION["tools"], "hermes")
    assert parsed.content == "I look.\n\n"
    assert [call.name for call in parsed.calls] == ["Bash", "Read"]
    shown = texts(results)
    failed = '{"name": "Bash", "content": "no such shell", "is_error": true}'
    assert shown.index(failed) < shown.index('"name": "Read"') < shown.index("Go on.")
    assert [part.source for part in results.parts if isinstance(part, ir.Image)] == [
        ir.Inline(media_type="image/png", data="aGVyb24=")
    ]
    codes = receipt.codes()
    assert (codes["tools-emulated"], codes["error-marked"], codes["results-reordered"]) == (2, 1, 1)
    assert receipt.losses == ()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_dialect_tells_the_same_session(dialect):
    request, receipt, _ = asked(tools=f"emulated:{dialect}")
    _, _, turn, results = request.messages
    words = texts(turn).removeprefix("I look.").removeprefix("\n")
    parsed = parse_text(words, SESSION["tools"], dialect)
    assert [(call.name, json.loads(call.arguments)) for call in parsed.calls] == [
        ("Bash", {"command": "ls"}),
        ("Read", {"file_path": "heron.png"}),
    ]
    assert "no such shell" in texts(results)
    assert "Runs a command." in system(request)
    assert receipt.losses == ()


def test_a_turn_comes_back_as_the_model_wrote_it():
    """What the model wrote, split into text and calls for the client, is the same text again."""
    written = (
        "Let me see.\n<tool_call>\n"
        '{"name": "Bash", "arguments": {"command": "ls",  "timeout": 1.0}}\n</tool_call>'
    )
    parsed = parse_text(written, SESSION["tools"], "hermes")
    (call,) = parsed.calls
    turn = ir.Message(
        role="assistant",
        parts=(
            ir.Text(text=parsed.content),
            ir.ToolCall(id="c", name=call.name, arguments=call.arguments),
        ),
    )
    surface = get_protocol("openai-chat").SURFACE
    ctx = Context(Options(tools="emulated"), source=surface, target=surface)
    changed = emulate_tools(ir.Request(model="m", messages=(turn,)), ctx)
    assert changed.messages[0].parts == (ir.Text(text=written),)


def test_the_same_request_gives_the_same_bytes():
    """X-22: and the request is left as it was."""
    body = copy.deepcopy(SESSION)
    assert asked(body)[2] == asked(copy.deepcopy(SESSION))[2]
    assert body == SESSION


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize(("source", "file"), fixtures("request"), ids=lambda each: str(each)[-40:])
def test_nothing_of_tools_is_left_in_any_request(source, file, target):
    """Whatever clients send; and doing it twice changes nothing."""
    request, _, wire = asked(load(file), source=source, target=target)
    kinds = {type(part) for message in request.messages for part in message.parts}
    assert request.tools == ()
    assert kinds.isdisjoint({ir.ToolCall, ir.ToolResult})
    again, receipt, _ = asked(wire.body, source=target, target=target)
    assert (again.system, again.messages) == (request.system, request.messages)
    assert "tools-emulated" not in receipt.codes()


# --- what the model is told -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (None, None),
        ({"type": "auto"}, None),
        ({"type": "none"}, "Do not call any tool"),
        ({"type": "any"}, "must call a tool"),
        ({"type": "tool", "name": "Read"}, "must call the tool Read."),
    ],
)
def test_a_choice_is_said_in_words(choice, words):
    body = {**SESSION, **({"tool_choice": choice} if choice else {})}
    request, receipt, _ = asked(body)
    assert ("next answer" in system(request)) is (words is not None)
    assert words is None or words in system(request)
    assert [note.code for note in receipt.losses] == (["choice-mapped"] if words else [])


def test_a_choice_among_some_tools_names_them():
    allowed = [{"type": "function", "name": "f"}]
    body = {
        "model": "m",
        "input": "hi",
        "tools": [{"type": "function", "name": name, "parameters": {}} for name in "fg"],
        "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": allowed},
    }
    request, _, _ = asked(body, source="openai-responses")
    assert "call only: f.\n\nYour next answer must call a tool." in system(request)


@pytest.mark.parametrize("single", [True, False])
def test_one_call_at_a_time_is_said_in_words(single):
    body = {**SESSION, "tool_choice": {"type": "auto", "disable_parallel_tool_use": single}}
    request, receipt, _ = asked(body)
    assert ("at most one tool" in system(request)) is single
    assert ("several tools" in system(request)) is not single
    assert bool(receipt.losses) is single


def test_strict_refuses_what_words_cannot_enforce():
    body = {**SESSION, "tool_choice": {"type": "any"}}
    with pytest.raises(UntranslatableError, match="nothing enforces"):
        asked(body, strict=True)
    assert asked(SESSION, strict=True)[1].losses == ()


def test_declarations_stand_behind_the_system_text_wherever_that_is():
    chat = {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
    }
    for target in NAMES:
        request, _, _ = asked(chat, source="openai-chat", target=target)
        assert system(request).startswith("Be brief.\n\n# Tools")
    for body in ({**chat, "messages": chat["messages"][1:]}, {**chat, "messages": []}):
        assert system(asked(body, source="openai-chat", target="anthropic")[0])[:7] == "# Tools"


def test_cache_marks_of_tools_go_with_their_declarations():
    marked = {**BASH, "cache_control": {"type": "ephemeral"}}
    _, _, wire = asked({**SESSION, "tools": [READ, marked]}, target="anthropic")
    assert wire.body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    _, receipt, _ = asked({**SESSION, "tools": [READ, marked]})
    assert [note.path for note in receipt if note.code == "cache-dropped"] == ["tools[1]"]


def test_a_cache_mark_of_the_system_text_stays_where_it_is():
    text = {"type": "text", "text": "Long.", "cache_control": {"type": "ephemeral"}}
    _, _, wire = asked({**SESSION, "system": [text]}, target="anthropic")
    assert wire.body["system"][0] == text
    assert len(wire.body["system"]) == 2
    _, _, wire = asked({**SESSION, "system": [text]})
    assert wire.body["messages"][0]["content"].startswith("Long.\n\n# Tools")


# --- other kinds of tools -------------------------------------------------------------------------

PATCHING: dict[str, Any] = {
    "model": "m",
    "input": [
        {"role": "user", "content": "Fix it."},
        {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** A"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
    ],
    "tools": [
        {"type": "custom", "name": "apply_patch", "description": "Edits files."},
        {
            "type": "namespace",
            "name": "sea",
            "description": "The sea.",
            "tools": [{"type": "function", "name": "tide", "parameters": {"type": "object"}}],
        },
        {"type": "web_search"},
    ],
}


@pytest.mark.parametrize("target", NAMES)
def test_freeform_tools_and_namespaces_work_as_functions(target):
    """Also where the target has such tools, and where it is the client's own protocol."""
    request, receipt, _ = asked(PATCHING, source="openai-responses", target=target)
    shown = system(request)
    assert '{"name": "apply_patch"' in shown
    assert '{"name": "sea__tide"' in shown
    assert any('{"input":"*** A"}' in texts(message) for message in request.messages)
    dropped = [note.path for note in receipt if note.code == "tool-dropped"]
    assert dropped == ["tools[2]"]

    surfaces = [get_protocol(name).SURFACE for name in ("openai-responses", target)]
    asked_for = decode_request(PATCHING, source="openai-responses")
    undo = context_of_request(asked_for, *surfaces, Options(tools="emulated")).undo
    call = ir.ToolCall(id="x", name="apply_patch", arguments='{"input": "*** B"}')
    assert undo.call(call) == ir.ToolCall(
        id="x", name="apply_patch", arguments="*** B", type="custom"
    )
    member = undo.call(ir.ToolCall(id="x", name="sea__tide", arguments="{}"))
    assert (member.namespace, member.name) == ("sea", "tide")


@pytest.mark.parametrize("provider", NAMES)
def test_a_freeform_call_in_text_comes_back_freeform(provider):
    text = render_calls([{"name": "apply_patch", "arguments": {"input": "*** B"}}], "hermes")
    choice = ir.Choice(parts=(ir.Text(text=text),), stop=ir.StopReason(kind="end"))
    answer = ir.Response(id="r", model="m", choices=(choice,))
    exchange = Exchange("openai-responses", provider, Options(tools="emulated"))
    exchange.request(jsontext.encode(PATCHING))
    shown = json.loads(exchange.response(encode_response(answer, target=provider).data()).data)
    (item,) = shown["output"]
    assert (item["type"], item["name"], item["input"]) == (
        "custom_tool_call",
        "apply_patch",
        "*** B",
    )


def test_the_tools_as_they_were_told_are_kept_for_the_answer():
    surface = get_protocol("openai-responses").SURFACE
    ctx = Context(Options(tools="emulated"), source=surface, target=surface)
    emulate_tools_only(decode_request(PATCHING, source="openai-responses"), ctx)
    assert ctx.declared is not None
    assert [tool.name for tool in ctx.declared if isinstance(tool, ir.FunctionTool)] == [
        "apply_patch",
        "sea__tide",
    ]


# --- at home --------------------------------------------------------------------------------------


def test_one_protocol_on_both_sides_is_no_way_around_it():
    request, _, wire = asked(target="anthropic")
    assert "tools" not in wire.body
    assert request.messages[0] == ir.Message(
        role="user", parts=(ir.Text(text="What is in heron.png?"),), wire_form=""
    )
    assert asked(target="anthropic", tools="native")[2].body == SESSION


def test_what_stays_in_its_protocol_says_what_text_cannot_hold():
    tool = {**BASH, "input_examples": [{"command": "ls"}], "strict": True}
    tool["eager_input_streaming"] = True
    _, receipt, wire = asked({**SESSION, "tools": [tool]}, target="anthropic")
    found = {(note.code, note.path) for note in receipt}
    assert ("strict-dropped", "tools[0]") in found
    assert ("field-dropped", "tools[0].eager_input_streaming") in found
    assert ("examples-described", "tools[0].input_examples") in found
    assert "Examples of arguments" in str(wire.body["system"])


def test_a_request_without_tools_and_calls_stays_as_it_is():
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    request, receipt, wire = asked(body, target="anthropic")
    assert (wire.body, len(receipt)) == (body, 0)
    assert request.system is None


# --- odd histories --------------------------------------------------------------------------------


def chat(*messages: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "hi"}, *messages]}


def chat_call(arguments: str, name: str = "f") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    calls = [{"id": "c", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


DONE = {"role": "tool", "tool_call_id": "c", "content": "done"}


def test_calls_of_tools_that_are_no_longer_declared_are_told_too():
    request, receipt, _ = asked(chat(chat_call("{}"), DONE), source="openai-chat", target="gemini")
    assert texts(request.messages[1]) == (
        '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    )
    assert receipt.codes() == {"tools-emulated": 1}


@pytest.mark.parametrize(
    ("dialect", "call"),
    [("hermes", chat_call("{broken")), ("pythonic", chat_call("{}", "no-such name"))],
)
def test_a_call_that_the_dialect_cannot_say_is_told_in_words(dialect, call):
    body = chat(call, DONE)
    request, receipt, _ = asked(body, source="openai-chat", tools=f"emulated:{dialect}")
    function = call["tool_calls"][0]["function"]
    assert texts(request.messages[1]) == (
        f"(I called {function['name']} with: {function['arguments']})"
    )
    assert [note.code for note in receipt.losses] == ["tools-emulated"]


def test_calls_without_results_and_results_without_calls_are_named():
    """Nothing becomes the result of a call that was never made."""
    lost = {"role": "tool", "tool_call_id": "z", "content": "stray"}
    again = {"role": "user", "content": "so?"}
    request, receipt, _ = asked(chat(chat_call("{}"), lost, again), source="openai-chat")
    assert {"call-unanswered", "result-unmatched"} <= receipt.codes().keys()
    assert "No result was recorded" in texts(request.messages[2])
    assert "stray" in texts(request.messages[2])
    assert [message.role for message in request.messages] == ["user", "assistant", "user"]


def test_results_of_separate_messages_are_one_turn():
    """Templates of simple models want user and assistant to alternate."""
    two = chat_call("{}")
    two["tool_calls"].append({**two["tool_calls"][0], "id": "d"})
    body = chat(two, DONE, {**DONE, "tool_call_id": "d"}, {"role": "user", "content": "and?"})
    request, _, wire = asked(body, source="openai-chat", target="openai-chat")
    assert [message.role for message in request.messages] == ["user", "assistant", "user"]
    assert texts(request.messages[2]).count("<tool_response>") == 2
    assert texts(request.messages[2]).endswith("and?")
    assert isinstance(wire.body["messages"][1]["content"], str)


def test_state_on_a_call_is_lost_with_a_note():
    part = ir.ToolCall(id="c", name="f", arguments="{}", signature="c2ln")
    surface = get_protocol("gemini").SURFACE
    ctx = Context(Options(tools="emulated"), source=surface, target=surface)
    message = ir.Message(role="assistant", parts=(part,))
    emulate_tools(ir.Request(model="m", messages=(message,)), ctx)
    assert "reasoning-dropped" in ctx.receipt().codes()


# --- the option -----------------------------------------------------------------------------------


def test_the_dialect_of_an_answer():
    assert dialect_of(Options()) is None
    assert dialect_of(Options(tools="emulated")) == "hermes"
    assert dialect_of(Options(tools="emulated:glm45")) == "glm45"


@pytest.mark.parametrize("tools", ["emulated:volapuek", "imitated", "native:hermes", ""])
@pytest.mark.parametrize("target", ["anthropic", "openai-chat"])
def test_an_option_that_means_nothing_is_an_error(tools, target):
    with pytest.raises(ValueError, match="tools"):
        asked(target=target, tools=tools)
