"""Requests of Ollama."""

import json

import pytest
from msgspec.structs import replace
from tests.protocols.harness import codes
from tests.protocols.ollama.helpers import (
    call,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    foreign,
    load,
    user,
)

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import (
    Audio,
    Choice,
    Citation,
    CustomTool,
    Document,
    FunctionTool,
    Image,
    Inline,
    Message,
    Opaque,
    OutputFormat,
    PlainText,
    ProviderTool,
    Reasoning,
    ReasoningSettings,
    Refusal,
    Remote,
    Request,
    Response,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.protocols import ollama

# --- requests -------------------------------------------------------------------------------------


def test_settings_under_options():
    request = decode_request(load("request", "turns"))
    assert (request.temperature, request.top_p, request.top_k) == (0, 0.95, 40)
    assert (request.max_tokens, request.stop, request.seed) == (256, ("###", "END"), 7)
    assert (request.presence_penalty, request.frequency_penalty) == (0.5, -0.25)
    assert request.stream is False
    assert request.extras == {}


def test_every_setting_of_the_surface_is_read():
    wire = {"model": "m", "messages": [], "options": {}}
    values = {"tools": [], "think": True, "format": "json", "options.stop": ["x"]}
    for field, path in ollama.SURFACE.settings.items():
        if field == "tools":
            continue
        value = values.get(path, True if field in ("stream", "logprobs") else 3)
        *outer, key = path.split(".")
        (wire[outer[0]] if outer else wire)[key] = value
    request = decode_request(wire)
    unread = [
        field
        for field in ollama.SURFACE.settings
        if field != "tools" and getattr(request, field) is None
    ]
    assert unread == []
    assert encode_request(request) == wire


def test_streaming_is_not_made_up():
    assert decode_request(load("request", "plain")).stream is None


def test_no_limit_is_no_limit_of_tokens():
    request = decode_request(load("request", "odd_options"))
    assert request.max_tokens is None
    assert request.stop == ("\n",)
    assert decode_request({"model": "m", "options": {"num_predict": -2.0}}).max_tokens is None


@pytest.mark.parametrize(
    ("think", "settings"),
    [
        (True, ReasoningSettings(enabled=True)),
        (False, ReasoningSettings(enabled=False)),
        ("low", ReasoningSettings(effort="low")),
        (None, None),
    ],
)
def test_think(think, settings):
    assert decode_request({"model": "m", "think": think}).reasoning == settings


def test_think_of_others():
    request = user(Text(text="x"))
    both = replace(request, reasoning=ReasoningSettings(enabled=True, effort="high"))
    off = replace(request, reasoning=ReasoningSettings(enabled=False, effort="high"))
    nothing = replace(request, reasoning=ReasoningSettings(budget=9))
    assert encode_request(both)["think"] == "high"
    assert encode_request(off)["think"] is False
    assert "think" not in encode_request(nothing)


@pytest.mark.parametrize(
    ("wire", "output"),
    [
        ("json", OutputFormat(kind="json")),
        ("", OutputFormat(kind="text")),
        ({"type": "object"}, OutputFormat(kind="schema", schema={"type": "object"})),
        ({}, OutputFormat(kind="schema", schema={})),
    ],
)
def test_format(wire, output):
    body = {"model": "m", "format": wire}
    assert decode_request(body).output == output
    assert encode_request(decode_request(body)) == body


def test_a_schema_without_a_schema_is_any_json():
    request = replace(user(), output=OutputFormat(kind="schema"))
    assert encode_request(request)["format"] == "json"


def test_tools():
    """S4-11 and S4-16: tools in the shape that OpenAI has, the order of their keys kept."""
    request = decode_request(load("request", "tools"))
    tide = request.tools[0]
    assert isinstance(tide, FunctionTool)
    assert list(tide.parameters) == ["type", "required", "properties"]
    written = encode_request(request)["tools"][0]
    assert json.dumps(written) == json.dumps(load("request", "tools")["tools"][0])
    assert isinstance(request.tools[4], ProviderTool)
    assert request.tools[3].strict is None, "no such field here"
    assert request.tools[3].extras == {"ollama": {"function": {"strict": True}, "cached": 1}}


def test_a_tool_without_type_is_a_function():
    ctx = Context()
    body = {"model": "m", "tools": [{"function": {"name": "f"}}]}
    request = decode_request(body, ctx)
    assert request.tools == (FunctionTool(name="f"),)
    assert codes(ctx) == {"spelling-normalised"}
    assert encode_request(request)["tools"] == [{"type": "function", "function": {"name": "f"}}]


def test_tools_that_are_not_here():
    ctx = foreign()
    tools = (CustomTool(name="patch"), ProviderTool(protocol="other", type="x", value={}))
    assert "tools" not in encode_request(replace(user(), tools=tools), ctx)
    assert codes(ctx) == {"tool-dropped"}


def test_system_text_outside_the_messages_comes_first():
    system = Message(role="system", parts=(Text(text="Be brief."),))
    later = Message(role="developer", parts=(Text(text="Briefer."),))
    request = Request(model="m", system=system, messages=(later,))
    assert encode_request(request)["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": "Briefer."},
    ]


def test_results_come_before_the_rest_of_their_message():
    """X-09: tool results stand apart and first."""
    request = user(
        Text(text="Look."),
        ToolResult(id="c1", name="f", parts=(Text(text="1"),)),
        ToolResult(id="c2", name="g"),
    )
    assert encode_request(request, foreign())["messages"] == [
        {"role": "tool", "content": "1", "tool_name": "f"},
        {"role": "tool", "content": "", "tool_name": "g"},
        {"role": "user", "content": "Look."},
    ]


def test_image_types_by_their_first_bytes():
    images = [
        part.source.media_type
        for message in decode_request(load("request", "vision")).messages[:2]
        for part in message.parts
        if isinstance(part, Image)
    ]
    assert images == ["image/png", "image/jpeg", "image/gif", "image/webp", "image/png"]


def test_texts_are_joined_with_a_note():
    ctx = foreign()
    parts = (Text(text="a"), Text(text="b"), Refusal(text="no"))
    assert encode_request(user(*parts), ctx)["messages"][0]["content"] == "a\nb\nno"
    assert codes(ctx) == {"text-joined"}


def test_what_cannot_be_carried_is_left_out_with_a_note():
    ctx = foreign()
    parts = (
        Image(source=Remote(url="https://x.example/a.png")),
        Document(source=PlainText(text="t")),
        Audio(source=Inline(media_type="audio/wav", data="AA==")),
        Opaque(protocol="other", type="x", value={}),
        Text(text="seen", citations=(Citation(url="https://x.example"),)),
    )
    assert encode_request(user(*parts), ctx)["messages"] == [{"role": "user", "content": "seen"}]
    assert ctx.receipt().codes() == {"part-dropped": 4, "citation-dropped": 1}


# --- calls, ids and results -----------------------------------------------------------------------


def test_calls_without_ids_are_numbered_and_their_results_find_them():
    """S4-17: results pair with the unanswered calls of their name, in order."""
    request = decode_request(load("request", "tool_loop"))
    calls = [part for m in request.messages for part in m.parts if isinstance(part, ToolCall)]
    results = [part for m in request.messages for part in m.parts if isinstance(part, ToolResult)]
    assert [each.id for each in calls] == ["call_0", "call_1", "call_2", "call_3"]
    assert [(each.id, each.name) for each in results] == [
        ("call_0", "tide_times"),
        ("call_2", "add"),
        ("call_1", "tide_times"),
        ("call_3", "tide_times"),
    ]
    assert all(each.id_made for each in (*calls, *results))


def test_ids_on_the_wire_are_kept():
    """S4-18: newer servers write ids; made ones keep clear of them."""
    request = decode_request(load("request", "tool_ids"))
    ids = [
        (part.id, part.id_made)
        for message in request.messages
        for part in message.parts
        if isinstance(part, (ToolCall, ToolResult))
    ]
    assert ids == [
        ("call_8fk2", False),
        ("call_1", False),
        ("call_1", False),
        ("call_8fk2", False),
        ("call_0", True),
        ("call_2", True),
        ("call_0", True),
        ("call_2", True),
    ]


def test_results_without_a_name_or_a_call():
    request = decode_request(load("request", "results"))
    results = [part for m in request.messages for part in m.parts if isinstance(part, ToolResult)]
    assert [each.id for each in results] == [
        "call_0",  # nobody called
        "call_1",
        "call_2",
        "call_3",  # no name: the first call that waits
        "call_4",
        "call_6",  # no call of that name waits any more
        "call_5",
    ]


def loop(calls, *results):
    """A turn with these calls (name, id) and results (name, id)."""
    return {
        "model": "m",
        "messages": [
            {"role": "user", "content": "x"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        **({"id": given} if given else {}),
                        "function": {"name": name, "arguments": {}},
                    }
                    for name, given in calls
                ],
            },
            *(
                {
                    "role": "tool",
                    "content": str(number),
                    **({"tool_name": name} if name else {}),
                    **({"tool_call_id": given} if given else {}),
                }
                for number, (name, given) in enumerate(results)
            ),
        ],
    }


@pytest.mark.parametrize(
    ("calls", "results", "answered"),
    [
        ([("f", "")], [("", "abc")], [0]),
        ([("f", ""), ("f", "")], [("", "b"), ("", "a")], [0, 1]),
        ([("f", ""), ("g", "")], [("g", "b"), ("f", "a")], [1, 0]),
        ([("f", ""), ("g", "")], [("", "b"), ("f", "a")], [0, None]),
        ([("f", "")], [("g", "a")], [None]),
        ([("f", "")], [("", "a"), ("", "b")], [0, None]),
        ([("f", "toolu_1")], [("f", "call_1")], [0]),
        ([("f", "x"), ("f", "y")], [("", "z"), ("", "x")], [1, 0]),
        ([("f", "x"), ("f", "y")], [("", "y"), ("", "z")], [1, 0]),
        ([("f", "x"), ("f", "")], [("", "q"), ("", "x")], [1, 0]),
    ],
)
def test_results_with_ids_that_no_call_has_are_paired_by_name_and_order(calls, results, answered):
    """S4-17: as the server does, which knows no ids; some clients return them with results only."""
    body, ctx = loop(calls, *results), Context(source=ollama.SURFACE)
    request = decode_request(body, ctx)
    made = [part.id for part in request.messages[1].parts]
    found = [message.parts[0].id for message in request.messages[2:]]
    given = [each for _, each in results]
    expected = [given[n] if at is None else made[at] for n, at in enumerate(answered)]
    assert found == expected
    notes = [note.path for note in ctx.notes() if note.code == "result-paired"]
    moved = [n for n, each in enumerate(expected) if each != given[n]]
    assert notes == [f"messages[{n + 2}].tool_call_id" for n in moved]
    assert encode_request(request, Context(source=ollama.SURFACE, target=ollama.SURFACE)) == body


def test_a_new_turn_forgets_unanswered_calls():
    f = {"function": {"name": "f", "arguments": {}}}
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [f]},
        {"role": "user", "content": "never mind"},
        {"role": "assistant", "content": "", "tool_calls": [f]},
        {"role": "assistant", "content": "", "tool_calls": [f]},
        {"role": "tool", "content": "1", "tool_name": "f"},
        {"role": "tool", "content": "2", "tool_name": "f"},
    ]
    request = decode_request({"model": "m", "messages": messages})
    assert [message.parts[0].id for message in request.messages[4:]] == ["call_1", "call_2"]


def test_foreign_ids_are_not_written():
    """S4-15: a result names its tool, not its call."""
    request = Request(
        model="m",
        messages=(
            Message(role="assistant", parts=(call("add", '{"a":1}', "toolu_1"),)),
            Message(
                role="user",
                parts=(ToolResult(id="toolu_1", name="add", parts=(Text(text="23775"),)),),
            ),
        ),
    )
    assert encode_request(request, foreign())["messages"] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "content": "23775", "tool_name": "add"},
    ]
    own = encode_request(request)["messages"]
    assert own[0]["tool_calls"][0]["id"] == own[1]["tool_call_id"] == "toolu_1"


def test_calls_of_a_response():
    """S4-12, S4-13 and S4-14: calls beside an empty text, each with an id, arguments as text."""
    choice = decode_response(load("response", "calls")).choices[0]
    first, second = choice.parts
    assert isinstance(first, ToolCall)
    assert first.id != second.id
    assert first.id.startswith("call_")
    assert first.id_made
    assert first.arguments == '{"harbour":"Faro"}'
    assert choice.stop == StopReason(kind="tool_calls", raw="stop")


@pytest.mark.parametrize(
    ("given", "text"),
    [('{"a": 1}', '{"a": 1}'), (None, "{}"), ("", "{}"), ("not json", '"not json"'), (5, "5")],
)
def test_arguments_that_are_no_object_are_read_with_a_note(given, text):
    ctx = Context()
    calls = [{"function": {"name": "f", "arguments": given}}]
    body = {"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": True}
    assert decode_response(body, ctx).choices[0].parts[0].arguments == text
    assert codes(ctx) == {"arguments-normalised"}


def test_arguments_are_written_as_objects():
    request = Request(
        model="m",
        messages=(
            Message(
                role="assistant",
                parts=(call(arguments='{"n":12345678901234567890}'), call(arguments="[1]")),
            ),
        ),
    )
    calls = encode_request(request, foreign())["messages"][0]["tool_calls"]
    assert [each["function"]["arguments"] for each in calls] == [
        {"n": 12345678901234567890},
        {"$value": [1]},
    ]


def test_failed_results_are_marked_in_their_text():
    ctx = foreign()
    request = user(ToolResult(id="c", name="f", parts=(Text(text="no"),), is_error=True))
    wire = encode_request(request, ctx)["messages"]
    assert wire == [{"role": "tool", "content": "[tool error] no", "tool_name": "f"}]
    assert codes(ctx) == {"error-marked"}
    back = decode_request({"model": "m", "messages": wire}).messages[0].parts[0]
    assert (back.is_error, back.parts) == (True, (Text(text="no"),))


def test_an_empty_text_beside_something_is_no_part():
    request = decode_request(load("request", "tool_loop"))
    assert [type(part) for part in request.messages[1].parts] == [ToolCall] * 3
    assert decode_request(load("request", "turns")).messages[-1].parts == (Text(text=""),)


# --- reasoning ------------------------------------------------------------------------------------


def test_reasoning_state_is_carried():
    parts = (
        Reasoning(text="One.", signature="tg1.a"),
        Reasoning(redacted=True, signature="tg1.b"),
        Reasoning(summary=("Two.", "Three.")),
        Text(text="So."),
    )
    ctx = foreign()
    response = Response(id="r", model="m", choices=(Choice(parts=parts),))
    message = encode_response(response, ctx)["message"]
    assert message["thinking"] == "One.\n\nTwo.\n\nThree."
    assert [each["data"] for each in message["reasoning_details"]] == ["tg1.a", "tg1.b"]
    assert codes(ctx) == {"text-joined"}
    request = decode_request({"model": "m", "messages": [message]})
    assert request.messages[0].parts == (
        Reasoning(text="One.\n\nTwo.\n\nThree."),
        Reasoning(redacted=True, signature="tg1.a"),
        Reasoning(redacted=True, signature="tg1.b"),
        Text(text="So."),
    )


def test_other_details_stay_where_they_are():
    message = decode_request(load("request", "thinking")).messages[-1]
    assert message.parts == (Text(text="Both are."),)
    assert set(message.extras["ollama"]) == {"thinking", "reasoning_details"}


# --- totality -------------------------------------------------------------------------------------


NASTY = [
    {},
    {"model": None},
    {"model": 5},
    {"model": "m", "messages": {}},
    {"model": "m", "messages": [5]},
    {"model": "m", "messages": [{}]},
    {"model": "m", "messages": [{"role": "robot"}]},
    {"model": "m", "messages": [{"role": "user", "content": []}]},
    {"model": "m", "messages": [{"role": "user", "content": "x", "images": [5]}]},
    {"model": "m", "messages": [{"role": "user", "content": "x", "images": "x"}]},
    {"model": "m", "messages": [{"role": "assistant", "thinking": 5}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": {}}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": [None]}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{}]}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"id": 1}]}]},
    {
        "model": "m",
        "messages": [
            {"role": "assistant", "tool_calls": [{"function": {"name": 5, "arguments": {}}}]}
        ],
    },
    {"model": "m", "messages": [{"role": "tool", "content": {}}]},
    {"model": "m", "messages": [{"role": "tool", "tool_name": 1}]},
    {"model": "m", "messages": [{"role": "tool"}, 5]},
    {"model": "m", "messages": [{"role": "tool"}, {"tool_calls": [5, {"id": []}]}]},
    {"model": "m", "messages": [{"role": "tool", "tool_call_id": 7}]},
    {"model": "m", "tools": 1},
    {"model": "m", "tools": [1]},
    {"model": "m", "tools": [{}]},
    {"model": "m", "tools": [{"type": 7}]},
    {"model": "m", "tools": [{"type": "function"}]},
    {"model": "m", "tools": [{"function": {"name": 5}}]},
    {"model": "m", "tools": [{"function": {"name": "f", "parameters": []}}]},
    {"model": "m", "options": []},
    {"model": "m", "options": {"temperature": "hot"}},
    {"model": "m", "options": {"stop": 5}},
    {"model": "m", "options": {"stop": [5]}},
    {"model": "m", "options": {"num_predict": "many"}},
    {"model": "m", "options": {"num_predict": 1.5}},
    {"model": "m", "stream": "yes"},
    {"model": "m", "think": 5},
    {"model": "m", "format": "yaml"},
    {"model": "m", "format": 5},
    {"model": "m", "format": []},
]


@pytest.mark.parametrize("body", NASTY, ids=json.dumps)
def test_wrong_requests_are_refused_with_a_path(body):
    with pytest.raises(DecodeError) as caught:
        decode_request(body)
    assert caught.value.path


def test_the_path_says_where():
    calls = [{"function": {"name": "f", "arguments": {}}}, {"function": {"arguments": {}}}]
    body = {"model": "m", "messages": [{"role": "assistant", "tool_calls": calls}]}
    with pytest.raises(DecodeError, match=r"^messages\[0\]\.tool_calls\[1\]\.function\.name: "):
        decode_request(body)
