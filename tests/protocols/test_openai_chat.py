"""The `openai-chat` protocol: identity, the official types, tables, totality and streams."""

import copy
import json
import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionMessageParam,
    ChatCompletionToolChoiceOptionParam,
    ChatCompletionToolUnionParam,
    CompletionCreateParams,
)
from pydantic import TypeAdapter

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import (
    Failed,
    Finished,
    Grammar,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    fold,
    unfold,
)
from toolglot.ir import (
    ApiError,
    Audio,
    Choice,
    Citation,
    CustomTool,
    Document,
    FileRef,
    FunctionTool,
    Image,
    Inline,
    Message,
    NamespaceTool,
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
    ToolChoice,
    ToolResult,
    Usage,
)
from toolglot.protocols import openai_chat as chat
from toolglot.protocols.openai_chat._legacy import encode_legacy
from toolglot.protocols.openai_chat.surface import ERROR, ERROR_FROM, STOP, STOP_FROM
from toolglot.surface import Surface
from toolglot.wire.message import WireRequest, WireResponse

FIXTURES = Path(__file__).parents[1] / "fixtures" / "openai-chat"
REQUESTS = sorted(FIXTURES.glob("*.request.json"))
RESPONSES = sorted(FIXTURES.glob("*.response.json"))
ERRORS = sorted(FIXTURES.glob("*.error.json"))
STREAMS = sorted(FIXTURES.glob("*.stream.txt"))

ELSEWHERE = Surface(name="elsewhere", path="/", settings={}, messages="messages", media={})
ADAPTER = TypeAdapter(CompletionCreateParams)
MESSAGE = TypeAdapter(ChatCompletionMessageParam)
TOOL = TypeAdapter(ChatCompletionToolUnionParam)
CHOICE = TypeAdapter(ChatCompletionToolChoiceOptionParam)


def name_of(path):
    return path.name.split(".")[0]


def load(path):
    return json.loads(path.read_text())


def fixture(name):
    return load(FIXTURES / name)


def foreign(**kwargs):
    return Context(source=ELSEWHERE, target=chat.SURFACE, now=1794770000, **kwargs)


def decode(body, ctx=None):
    return chat.decode_request(WireRequest(body=body), ctx or Context())


def encode(request, ctx=None):
    return chat.encode_request(request, ctx or Context()).body


def ask(*messages, **members):
    """A request body around some messages."""
    return {"model": "m", "messages": list(messages), **members}


def user(text="hi"):
    return {"role": "user", "content": text}


def call(call_id="c1", name="f", arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(message, finish="stop", **members):
    """A response body with one message."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        **members,
    }


def answer(body, ctx=None, status=200, headers=None):
    wire = WireResponse(body=body, status=status, headers=headers or {})
    return chat.decode_response(wire, ctx or Context())


def reply(response, ctx=None):
    return chat.encode_response(response, ctx or foreign())


def codes(ctx):
    return list(ctx.receipt().codes())


def shown(*parts, stop="end", **members):
    """A response with one choice."""
    choice = Choice(parts=parts, stop=StopReason(kind=stop))
    return Response(id="r1", model="m", choices=(choice,), **members)


# --- identity -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", REQUESTS, ids=name_of)
def test_request_identity(path):
    body = load(path)
    kept = copy.deepcopy(body)
    assert encode(decode(body)) == body
    assert body == kept


@pytest.mark.parametrize("path", RESPONSES, ids=name_of)
def test_response_identity(path):
    body = load(path)
    assert reply(answer(body), Context()).body == body


@pytest.mark.parametrize("path", ERRORS, ids=name_of)
def test_error_identity(path):
    wire = WireResponse(**load(path))
    error = chat.decode_response(wire, Context())
    assert isinstance(error, ApiError)
    assert chat.encode_response(error, Context()) == wire


@pytest.mark.parametrize("name", ["tools", "vendor-reasoning", "media", "custom-tools"])
def test_decoded_request_golden(name, golden):
    request = decode(fixture(f"{name}.request.json"))
    golden(f"openai-chat/{name}.request.ir.json", msgspec.to_builtins(request))


@pytest.mark.parametrize("name", ["text", "vendor-deepseek", "citations"])
def test_decoded_response_golden(name, golden):
    response = answer(fixture(f"{name}.response.json"))
    golden(f"openai-chat/{name}.response.ir.json", msgspec.to_builtins(response))


@pytest.mark.parametrize("name", ["parallel-calls", "vendor-openrouter", "length-inside-call"])
def test_decoded_stream_golden(name, golden):
    events = read((FIXTURES / f"{name}.stream.txt").read_bytes())
    golden(f"openai-chat/{name}.events.json", msgspec.to_builtins(events))


# --- the official types ---------------------------------------------------------------------------


def check_sdk(body):
    ADAPTER.validate_python(body)
    for message in body["messages"]:
        MESSAGE.validate_python(message)
        list(message.get("tool_calls") or ())
    for tool in body.get("tools") or ():
        TOOL.validate_python(tool)
    if "tool_choice" in body:
        CHOICE.validate_python(body["tool_choice"])


@pytest.mark.parametrize(
    "path",
    [p for p in REQUESTS if not p.name.startswith(("vendor", "unknown"))],
    ids=name_of,
)
def test_requests_fit_the_sdk(path):
    check_sdk(encode(decode(load(path))))


@pytest.mark.parametrize(
    "path",
    [p for p in RESPONSES if not p.name.startswith(("null", "no-", "unknown", "citations"))],
    ids=name_of,
)
def test_responses_fit_the_sdk(path):
    ChatCompletion.model_validate(reply(answer(load(path)), Context()).body)


def test_a_foreign_response_is_complete_for_the_sdk():
    parts = (
        Reasoning(text="hm", signature="s"),
        Text(text="a", citations=(Citation(url="https://a.example", title="A"),)),
        Text(text="b", citations=(Citation(url="https://b.example", start=0, end=1),)),
        ToolCall(id="t1", name="f", arguments=""),
        ToolCall(id="t2", name="c", arguments="raw", type="custom"),
    )
    ctx = foreign()
    body = reply(shown(*parts, stop="tool_calls", usage=Usage(input=3)), ctx).body
    ChatCompletion.model_validate(body)
    assert body["created"] == 1794770000
    assert body["choices"][0]["logprobs"] is None
    message = body["choices"][0]["message"]
    assert message["content"] == "ab"
    assert message["refusal"] is None
    assert [c["url_citation"]["start_index"] for c in message["annotations"]] == [0, 1]
    assert [c["url_citation"]["end_index"] for c in message["annotations"]] == [1, 2]
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"
    assert body["usage"] == {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 3}
    assert codes(ctx) == ["text-joined"]


# --- settings -------------------------------------------------------------------------------------


def test_max_tokens_keeps_its_spelling():
    assert "max_completion_tokens" in encode(decode(ask(max_completion_tokens=5)))
    assert decode(ask(max_completion_tokens=5)).max_tokens == 5
    assert encode(Request(model="m", messages=(), max_tokens=5))["max_tokens"] == 5


def test_stop_keeps_its_spelling():
    assert decode(ask(stop="x")).stop == ("x",)
    assert encode(decode(ask(stop="x")))["stop"] == "x"
    assert encode(replace(decode(ask(stop="x")), stop=("x", "y")))["stop"] == ["x", "y"]


@pytest.mark.parametrize("effort", ["minimal", "low", "medium", "high", "xhigh", "max"])
def test_reasoning_effort(effort):
    assert decode(ask(reasoning_effort=effort)).reasoning == ReasoningSettings(effort=effort)


def test_no_reasoning():
    assert decode(ask(reasoning_effort="none")).reasoning == ReasoningSettings(enabled=False)
    request = Request(model="m", messages=(), reasoning=ReasoningSettings(enabled=True))
    assert "reasoning_effort" not in encode(request)


def test_output_formats():
    schema = {"name": "n", "description": "d", "schema": {"type": "object"}, "strict": True}
    output = decode(ask(response_format={"type": "json_schema", "json_schema": schema})).output
    assert output == OutputFormat(
        kind="schema", name="n", description="d", schema={"type": "object"}, strict=True
    )
    assert decode(ask(response_format={"type": "json_object"})).output == OutputFormat(kind="json")
    assert decode(ask(response_format={"type": "text"})).output == OutputFormat(kind="text")
    assert decode(ask(response_format={"type": "grammar", "x": 1})).output is None


def test_service_tiers_that_others_know():
    assert decode(ask(service_tier="priority")).service_tier == "priority"
    assert decode(ask(service_tier="scale")).service_tier is None


def test_a_foreign_stream_asks_for_its_usage():
    ctx = foreign()
    body = encode(Request(model="m", messages=(), stream=True), ctx)
    assert body["stream_options"] == {"include_usage": True}
    assert codes(ctx) == ["default-added"]
    assert "stream_options" not in encode(decode(ask(stream=True)))


def test_request_system_becomes_the_first_message():
    system = Message(role="system", parts=(Text(text="Be brief."),))
    body = encode(Request(model="m", messages=(), system=system), foreign())
    assert body["messages"] == [{"role": "system", "content": "Be brief."}]


def test_s2_08_roles_and_content_forms():
    """S2-08: system, developer, user, assistant and tool, content as string or parts."""
    messages = decode(fixture("settings.request.json")).messages
    assert [m.role for m in messages][:4] == ["system", "developer", "user", "assistant"]
    assert messages[2].name == "harbour_master"
    assert len(messages[1].parts) == 2
    result = decode(ask(call_message(call()), tool("c1", "x"))).messages[1]
    assert result == Message(role="user", parts=(ToolResult(id="c1", parts=(Text(text="x"),)),))


@pytest.mark.parametrize(
    "body",
    [
        ask({"role": "user"}, {"role": "user", "content": None}, {"role": "assistant"}),
        ask({"role": "tool", "tool_call_id": "a", "content": None}),
        ask(response_format={"type": "json_schema"}),
        ask(response_format={"type": ["json_schema"]}),
        ask(
            tool_choice={
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{}, 1]},
            }
        ),
        ask(stop=[], tools=[], stream_options=None),
    ],
)
def test_bare_and_empty_members_are_kept(body):
    assert encode(decode(body)) == body


# --- tools ----------------------------------------------------------------------------------------


def test_s4_03_tools_and_choice_use_the_present_names():
    """S4-03: `tools` and `tool_choice`, never `functions`."""
    tool = FunctionTool(name="f", parameters={"type": "object"}, strict=False)
    choice = ToolChoice(mode="tool", names=("f",))
    body = encode(Request(model="m", messages=(), tools=(tool,), tool_choice=choice), foreign())
    function = {"name": "f", "parameters": {"type": "object"}, "strict": False}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert "functions" not in body


def test_s0_11_a_missing_description_stays_missing():
    """S0-11: no description is no key."""
    body = encode(Request(model="m", messages=(), tools=(FunctionTool(name="f"),)), foreign())
    assert body["tools"][0]["function"] == {"name": "f"}


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        (ToolChoice(mode="auto"), "auto"),
        (ToolChoice(mode="required"), "required"),
        (ToolChoice(mode="none"), "none"),
        (
            ToolChoice(mode="tool", names=("X",)),
            {"type": "function", "function": {"name": "X"}},
        ),
        (
            ToolChoice(mode="tool", names=("X",), kind="custom"),
            {"type": "custom", "custom": {"name": "X"}},
        ),
    ],
)
def test_s0_49_to_s0_52_s2_09_tool_choice(choice, wire):
    """S0-49, S0-50, S0-51, S0-52, S2-09: one wire form for each choice, and back."""
    assert encode(Request(model="m", messages=(), tool_choice=choice))["tool_choice"] == wire
    assert decode(ask(tool_choice=wire)).tool_choice == choice
    CHOICE.validate_python(wire)


def test_allowed_tools():
    choice = decode(fixture("allowed-tools.request.json")).tool_choice
    assert (choice.mode, choice.names) == ("required", ("ferry_status", "shell"))
    wire = encode(
        Request(model="m", messages=(), tool_choice=ToolChoice(mode="auto", names=("a", "b")))
    )["tool_choice"]
    assert wire["allowed_tools"]["mode"] == "auto"
    assert [tool["function"]["name"] for tool in wire["allowed_tools"]["tools"]] == ["a", "b"]
    renamed = replace(choice, names=("other",))
    wire = encode(Request(model="m", messages=(), tool_choice=renamed))["tool_choice"]
    assert [tool["function"]["name"] for tool in wire["allowed_tools"]["tools"]] == ["other"]


@pytest.mark.parametrize(
    ("wire", "nested"),
    [
        ({"type": "function", "name": "X"}, {"type": "function", "function": {"name": "X"}}),
        ({"type": "custom", "name": "X"}, {"type": "custom", "custom": {"name": "X"}}),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "X"}]},
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "name": "X"}]},
            },
        ),
        ({"type": "auto"}, "auto"),
    ],
)
def test_s0_54_d_07_other_shapes_of_a_choice_are_read(wire, nested):
    """S0-54, D-07: flat and one-word objects are accepted and written in the documented shape."""
    ctx = Context()
    assert encode(decode(ask(tool_choice=wire), ctx))["tool_choice"] == nested
    assert codes(ctx) == ["spelling-normalised"]


def test_case_26_d_07_flat_tools_are_read():
    """case-26, D-07: flat custom and function tools are accepted, and written nested."""
    ctx = Context()
    grammar = {"type": "grammar", "syntax": "regex", "definition": "a+"}
    flat = [
        {"type": "custom", "name": "ApplyPatch", "format": grammar},
        {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True},
        {"function": {"name": "untyped"}},
    ]
    request = decode(ask(tools=flat), ctx)
    assert request.tools[0] == CustomTool(name="ApplyPatch", syntax="regex", definition="a+")
    assert request.tools[1] == FunctionTool(name="f", parameters={"type": "object"}, strict=True)
    body = encode(request)
    check_sdk(body)
    assert body["tools"][0]["custom"]["format"]["grammar"]["syntax"] == "regex"
    assert ctx.receipt().codes() == {"spelling-normalised": 3}


def test_case_26_custom_calls_are_nested_on_the_way_out():
    """case-26: a flat custom call is read, the answer is nested."""
    flat = {"id": "c1", "type": "custom", "name": "ApplyPatch", "input": "+x"}
    request = decode(ask(call_message(flat), tool("c1", "ok")))
    made = request.messages[0].parts[0]
    assert (made.kind, made.name, made.arguments) == ("custom", "ApplyPatch", "+x")
    assert request.messages[1].parts[0].kind == "custom"
    assert encode(request)["messages"][0]["tool_calls"] == [
        {"id": "c1", "type": "custom", "custom": {"name": "ApplyPatch", "input": "+x"}}
    ]


def test_tools_without_a_form_here_are_named():
    ctx = foreign()
    tools = (
        NamespaceTool(name="n"),
        ProviderTool(protocol="elsewhere", type="search", value={}),
        CustomTool(name="c", definition="x"),
    )
    body = encode(Request(model="m", messages=(), tools=tools), ctx)
    assert [tool["type"] for tool in body["tools"]] == ["custom"]
    assert ctx.receipt().codes() == {"tool-dropped": 2}


# --- calls ----------------------------------------------------------------------------------------


def call_message(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tool(call_id, content):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_s0_34_s4_04_null_content_is_no_text():
    """S0-34, S4-04: calls beside null content make no empty text, and come back with null."""
    request = decode(ask(call_message(call())))
    assert request.messages[0].parts == (ToolCall(id="c1", name="f", arguments="{}"),)
    message = Message(role="assistant", parts=request.messages[0].parts)
    body = encode(Request(model="m", messages=(message,)), foreign())
    assert body["messages"][0] == {**call_message(call())}


def test_empty_content_beside_calls_is_no_text():
    body = ask(call_message(call(), content=""))
    assert [type(part) for part in decode(body).messages[0].parts] == [ToolCall]
    assert encode(decode(body)) == body
    assert decode(ask({"role": "assistant", "content": ""})).messages[0].parts == (Text(text=""),)


def test_s4_06_parallel_calls_keep_their_ids_and_order():
    """S4-06: several calls in one message, each with its id."""
    made = decode(fixture("tools.request.json")).messages[1].parts
    assert [part.id for part in made] == ["call_b1", "call_s1", "call_f1"]


def test_d_04_arguments_are_the_text_that_came():
    """D-04: key order, spaces, big integers and 1.0 survive; invalid JSON too."""
    for text in ('{"b": 1.0, "a": 12345678901234567890}', "{broken", ""):
        made = decode(ask(call_message(call(arguments=text)))).messages[0].parts[0]
        assert made.arguments == text


def test_s0_63_arguments_given_as_an_object_are_written_once():
    """S0-63: an object in place of JSON text becomes that text."""
    ctx = Context()
    made = decode(ask(call_message(call(arguments={"a": 1}))), ctx).messages[0].parts[0]
    assert made.arguments == '{"a":1}'
    assert codes(ctx) == ["arguments-normalised"]


def test_calls_without_ids_are_numbered():
    ctx = Context()
    messages = [
        call_message(call(""), call("call_1")),
        {"role": "tool", "content": "first"},
        tool("call_1", "second"),
        call_message({"type": "function", "function": {"name": "g"}}, call("")),
    ]
    decoded = decode(ask(*messages), ctx).messages
    assert [part.id for part in decoded[0].parts] == ["call_0", "call_1"]
    assert decoded[1].parts[0].id == "call_0"
    assert decoded[1].parts[0].id_made
    assert [part.id for part in decoded[3].parts] == ["call_2", "call_3"]
    assert codes(ctx) == ["id-made"]
    assert decode(ask(call_message(call("call_1"), call("")))).messages[0].parts[1].id == "call_1_"


def test_calls_of_unknown_types_are_kept():
    message = fixture("vendor-local.request.json")["messages"][1]
    parts = decode(ask(message)).messages[0].parts
    assert isinstance(parts[0], ToolCall)
    assert isinstance(parts[1], Opaque)
    ctx = foreign()
    stray = (Opaque(protocol="elsewhere", type="tool_calls.x", value={}),)
    request = Request(model="m", messages=(Message(role="assistant", parts=stray),))
    assert encode(request, ctx)["messages"] == [{"role": "assistant", "content": None}]
    assert ctx.receipt().codes() == {"part-dropped": 1}


# --- results --------------------------------------------------------------------------------------


def results(*parts, role="user"):
    return Request(model="m", messages=(Message(role=role, parts=parts),))


def test_s0_35_s2_11_s4_05_a_result_is_a_tool_message():
    """S0-35, S2-11, S4-05: role `tool`, its id, its text as it is, and no empty user message."""
    result = ToolResult(id="call_xxx", parts=(Text(text="72°F, sunny"),))
    body = encode(results(result), foreign())
    assert body["messages"] == [tool("call_xxx", "72°F, sunny")]
    assert "°" in WireRequest(body=body).data().decode()


def test_s0_37_an_empty_result_has_content():
    """S0-37: the key is there, with an empty text."""
    assert encode(results(ToolResult(id="a")), foreign())["messages"] == [tool("a", "")]


def test_x_09_results_come_before_other_content():
    """X-09: the results of a turn, in order, then the rest of the user's message."""
    parts = (
        Text(text="also"),
        ToolResult(id="a", parts=(Text(text="1"),)),
        ToolResult(id="b", parts=(Text(text="2"),)),
    )
    messages = encode(results(*parts), foreign())["messages"]
    assert messages == [tool("a", "1"), tool("b", "2"), user("also")]


def test_case_31_d_15_failed_results_are_marked_and_read_back():
    """case-31, D-15: the flag becomes a mark in the text, and the mark the flag."""
    ctx = foreign()
    failed = ToolResult(id="a", parts=(Text(text="boom"),), is_error=True)
    body = encode(results(failed), ctx)
    assert body["messages"] == [tool("a", "[tool error] boom")]
    assert codes(ctx) == ["error-marked"]
    assert decode(body).messages[0].parts == (failed,)
    nothing = encode(results(ToolResult(id="a", is_error=True)), foreign())
    assert nothing["messages"] == [tool("a", "[tool error] ")]


def test_several_texts_of_a_foreign_result_are_joined():
    ctx = foreign()
    texts = (Text(text="one"), Text(text="two"), Image(source=Remote(url="https://i.example")))
    assert encode(results(ToolResult(id="a", parts=texts)), ctx)["messages"] == [
        tool("a", "one\ntwo")
    ]
    assert codes(ctx) == ["part-dropped", "text-joined"]


def test_a_failed_result_of_parts_is_marked_in_its_first_text():
    image = {"type": "image_url", "image_url": {"url": "https://i.example/a.png"}}
    request = decode(ask(tool("a", [image])))
    failed = replace(request.messages[0].parts[0], is_error=True)
    content = encode(results(failed))["messages"][0]["content"]
    assert content == [{"type": "text", "text": "[tool error] "}, image]


def test_a_result_in_the_wrong_place_is_named():
    ctx = foreign()
    encode(results(ToolResult(id="a"), role="assistant"), ctx)
    assert codes(ctx) == ["part-dropped"]


# --- the form before tools ------------------------------------------------------------------------

LEGACY = {
    "model": "m",
    "messages": [
        user("Add and double."),
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "add", "arguments": '{"a":1}', "x": 1},
        },
        {"role": "function", "name": "add", "content": "2"},
        {"role": "assistant", "content": "", "function_call": {"name": "twice", "arguments": "{}"}},
        {"role": "function", "name": "twice", "content": "4"},
        {"role": "function", "name": "stray", "content": "?"},
    ],
    "functions": [{"name": "add", "parameters": {"type": "object"}}, {"name": "twice"}],
    "function_call": {"name": "add"},
}


def test_s4_33_legacy_requests_are_upgraded():
    """S4-33: `functions`, `function_call` and role `function` read as tools, calls and results."""
    ctx = Context()
    body = encode(decode(LEGACY, ctx), ctx)
    check_sdk(body)
    assert {"functions", "function_call"}.isdisjoint(body)
    assert body["tool_choice"] == {"type": "function", "function": {"name": "add"}}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["add", "twice"]
    messages = body["messages"]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == "call_0"
    assert messages[3]["tool_calls"][0]["id"] == messages[4]["tool_call_id"] == "call_1"
    assert messages[5]["tool_call_id"] == "call_2"
    assert messages[1]["tool_calls"][0]["function"]["x"] == 1
    assert "legacy-upgraded" in codes(ctx)


def test_s4_33_and_written_back_on_request():
    """S4-33: the way back to the form before tools."""
    legacy = encode_legacy(encode(decode(LEGACY)))
    assert legacy["functions"] == LEGACY["functions"]
    assert legacy["function_call"] == LEGACY["function_call"]
    assert [m["role"] for m in legacy["messages"]][:5] == [
        "user",
        "assistant",
        "function",
        "assistant",
        "function",
    ]
    assert legacy["messages"][-1] == {"role": "user", "content": "?"}


def test_parallel_calls_in_legacy_form_follow_one_another():
    body = fixture("tools.request.json") | {"tool_choice": "auto"}
    legacy = encode_legacy(body)
    roles = [m["role"] for m in legacy["messages"]]
    assert roles[:7] == ["user", *["assistant", "function"] * 3]
    assert legacy["function_call"] == "auto"
    assert "parallel_tool_calls" not in legacy
    assert encode_legacy(ask(call_message(call()), tool_choice="required")) == {
        "model": "m",
        "messages": [
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "f", "arguments": "{}"},
            }
        ],
    }


@pytest.mark.parametrize("word", ["auto", "none"])
def test_legacy_choice_words(word):
    assert decode(ask(function_call=word)).tool_choice.mode == word


def test_legacy_results_find_the_call_of_their_name():
    old = [
        {"role": "assistant", "function_call": {"name": name, "arguments": "{}"}} for name in "ab"
    ]
    answers = [{"role": "function", "name": name, "content": name} for name in "ba"]
    messages = decode(ask(*old, *answers)).messages
    assert [message.parts[0].id for message in messages] == ["call_0", "call_1", "call_1", "call_0"]


def test_legacy_answers_are_upgraded():
    ctx = Context()
    body = said(
        {"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call"
    )
    response = answer(body, ctx)
    wire = reply(response, Context()).body["choices"][0]
    assert wire["finish_reason"] == "tool_calls"
    assert wire["message"]["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}
    assert codes(ctx) == ["legacy-upgraded"]


# --- parts ----------------------------------------------------------------------------------------


def test_media_sources():
    parts = decode(fixture("media.request.json")).messages[0].parts
    assert parts[1] == Image(source=Remote(url="https://pictures.example/heron.jpg"), detail="high")
    assert parts[2].source.media_type == "image/png"
    assert parts[3].source == Inline(media_type="audio/wav", data="UklGRiQAAABXQVZF")
    assert parts[4].source.media_type == "audio/mp3"
    assert parts[5] == Document(
        source=Inline(media_type="application/pdf", data="JVBERi0xLjcK"), name="survey.pdf"
    )
    assert parts[6].source == FileRef(id="file-8kd02", issuer="openai-chat")
    assert parts[7].source == Inline(media_type="application/pdf", data="JVBERi0xLjQK")


def test_odd_media_keep_their_spelling():
    content = [
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mpeg"}},
        {"type": "file", "file": {"file_data": "https://f.example/a.pdf"}},
        {"type": "file", "file": {"file_data": "data:;base64,AA=="}},
        {"type": "file", "file": {"filename": "empty"}},
        {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}},
    ]
    body = ask({"role": "user", "content": content})
    assert encode(decode(body)) == body


def test_foreign_media():
    ctx = foreign()
    parts = (
        Audio(source=Inline(media_type="audio/mpeg", data="AA==")),
        Document(source=Inline(media_type="", data="AA==")),
        Document(source=Inline(media_type="text/csv", data="AA=="), name="t.csv"),
        Document(source=FileRef(id="f", issuer="elsewhere")),
        Document(source=PlainText(text="t")),
        Image(source=FileRef(id="f", issuer="openai-chat")),
        Audio(source=Remote(url="https://a.example")),
        Refusal(text="no"),
    )
    content = encode(results(*parts), ctx)["messages"][0]["content"]
    assert content[0]["input_audio"]["format"] == "mp3"
    assert content[1]["file"] == {
        "file_data": "data:application/pdf;base64,AA==",
        "filename": "document.pdf",
    }
    assert content[2]["file"]["filename"] == "t.csv"
    assert content[3:] == [{"type": "text", "text": "no"}]
    assert ctx.receipt().codes() == {"default-added": 1, "part-dropped": 4}


def test_an_image_given_as_a_bare_url_is_read():
    ctx = Context()
    content = [{"type": "image_url", "image_url": "https://i.example/a.png"}]
    body = encode(decode(ask({"role": "user", "content": content}), ctx))
    assert body["messages"][0]["content"][0]["image_url"] == {"url": "https://i.example/a.png"}
    assert codes(ctx) == ["spelling-normalised"]


def test_parts_of_others_are_not_carried():
    ctx = foreign()
    opaque = Opaque(protocol="elsewhere", type="x", value={})
    body = encode(results(Text(text="t"), opaque), ctx)
    assert body["messages"][0]["content"] == [{"type": "text", "text": "t"}]
    assert codes(ctx) == ["part-dropped"]
    assert encode(results(), foreign())["messages"] == [{"role": "user", "content": ""}]


# --- reasoning ------------------------------------------------------------------------------------


def test_case_37_case_38_reasoning_beside_content_and_calls():
    """case-37, case-38: both names of reasoning are read, and nothing beside it is lost."""
    for key in ("reasoning_content", "reasoning"):
        message = {"content": "hello", key: "why", "tool_calls": [call()]}
        parts = answer(said(message, "tool_calls")).choices[0].parts
        assert [type(part) for part in parts] == [Reasoning, Text, ToolCall]
        assert parts[0].text == "why"
        body = ask({"role": "assistant", **message})
        assert encode(decode(body)) == body


def test_foreign_reasoning_is_written_as_reasoning_content():
    ctx = foreign()
    parts = (
        Reasoning(text="one", signature="S1"),
        Reasoning(summary=("two", "three")),
        Reasoning(redacted=True, signature="S2"),
        Reasoning(),
        Text(text="t"),
    )
    message = encode(results(*parts, role="assistant"), ctx)["messages"][0]
    assert message["reasoning_content"] == "one\n\ntwo\n\nthree"
    assert message["reasoning_details"] == [
        {"type": "reasoning.encrypted", "format": "toolglot-v1", "data": "S1", "index": 0},
        {"type": "reasoning.encrypted", "format": "toolglot-v1", "data": "S2", "index": 1},
    ]
    assert codes(ctx) == ["reasoning-dropped", "text-joined"]
    back = decode(ask(message)).messages[0].parts
    assert back[0] == Reasoning(text="one\n\ntwo\n\nthree")
    assert back[1] == Reasoning(redacted=True, signature="S1")
    assert back[2] == Reasoning(redacted=True, signature="S2")


def test_details_alone_are_shown_and_not_doubled():
    message = fixture("vendor-reasoning.request.json")["messages"][7]
    part = decode(ask(message)).messages[0].parts[0]
    assert part.text == "Checked twice."
    assert encode(decode(ask(message)))["messages"] == [message]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)
entries = (
    st.fixed_dictionaries(
        {"type": st.just("reasoning.encrypted"), "format": st.just("toolglot-v1")},
        optional={"data": st.text(max_size=3), "index": st.integers(0, 3), "id": st.text()},
    )
    | st.fixed_dictionaries({"type": st.just("reasoning.text"), "text": st.text(max_size=3)})
    | json_values
)


@given(
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | st.text(max_size=3)},
        optional={
            "reasoning": st.none() | st.text(max_size=3),
            "reasoning_content": st.none() | st.text(max_size=3),
            "reasoning_details": st.lists(entries, max_size=5),
            "refusal": st.none() | st.text(max_size=3),
            "tool_calls": st.just([call()]),
        },
    )
)
def test_reasoning_in_every_mix_is_kept(message):
    assert encode(decode(ask(message)))["messages"] == [message]
    body = said({key: value for key, value in message.items() if key != "role"})
    assert reply(answer(body), Context()).body == body


# --- responses ------------------------------------------------------------------------------------


def test_another_object_is_kept():
    body = said({"content": "x"}) | {"object": "chat.completion.v2", "created": 1.5}
    assert reply(answer(body), Context()).body == body


@pytest.mark.parametrize(("word", "kind"), list(STOP.items()))
def test_stop_words(word, kind):
    assert answer(said({"content": "x"}, word)).choices[0].stop == StopReason(kind=kind, raw=word)


@pytest.mark.parametrize(("kind", "told"), list(STOP_FROM.items()))
def test_s1_21_case_44_stop_kinds(kind, told):
    """S1-21, case-44: every stop kind has its word, with a note where it says less."""
    ctx = foreign()
    word, exact = told
    assert reply(shown(Text(text="x"), stop=kind), ctx).body["choices"][0]["finish_reason"] == word
    assert codes(ctx) == ([] if exact else ["stop-mapped"])


def test_a_missing_stop_is_filled_in_for_others_only():
    ctx = foreign()
    response = Response(id="r", model="m", choices=(Choice(parts=(Text(text="x"),)),))
    assert reply(response, ctx).body["choices"][0]["finish_reason"] == "stop"
    assert codes(ctx) == ["default-added"]


def test_d_11_s2_10_calls_count_whenever_they_are_there():
    """D-11, S2-10: `stop` beside calls means that results are awaited; the word itself is kept."""
    body = said({"content": None, "tool_calls": [call("call_1", "f", '{"a":1}')]})
    choice = answer(body).choices[0]
    assert choice.stop == StopReason(kind="tool_calls", raw="stop")
    assert choice.parts == (ToolCall(id="call_1", name="f", arguments='{"a":1}'),)
    assert reply(answer(body), Context()).body == body


def test_s0_04_made_ids_begin_with_call():
    """S0-04: an id that had to be made begins with `call_`."""
    ctx = Context()
    made = answer(said({"tool_calls": [{"function": {}}]}), ctx).choices[0].parts[0]
    assert made.id.startswith("call_")
    assert made.id_made
    assert made.name == "tool_0"
    assert answer({}).id.startswith("chatcmpl-")


@pytest.mark.parametrize("choices", [None, [], "absent"])
def test_case_21_no_choices_with_a_good_status(choices):
    """case-21: no choices is no choices; no stop is made up."""
    body = said({"content": "x"}) | {"choices": choices}
    if choices == "absent":
        del body["choices"]
    response = answer(body)
    assert response.choices == ()
    assert reply(response, Context()).body == body


def test_case_08_usage_is_split():
    """case-08: the prompt less what a cache held, and together again on the way out."""
    usage = answer(fixture("text.response.json")).usage
    assert (usage.input, usage.cache_read, usage.cache_write) == (66, 1920, 20)
    assert (usage.output, usage.reasoning) == (300, 120)
    told = Usage(input=86, cache_read=1920, output=300)
    wire = reply(shown(usage=told)).body["usage"]
    assert wire == {
        "prompt_tokens": 2006,
        "completion_tokens": 300,
        "total_tokens": 2306,
        "prompt_tokens_details": {"cached_tokens": 1920},
    }
    plain = answer(said({}, usage={"prompt_tokens": 1, "completion_tokens": 2})).usage
    assert plain.cache_read is None


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"prompt_tokens": 5},
        {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "cached_tokens": 3},
        {"prompt_tokens": 5, "completion_tokens": 2},
        {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": None},
        {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 8},
        {"prompt_tokens": 2, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 9}},
        {"prompt_cache_hit_tokens": 2, "total_tokens": 2},
        {"completion_tokens_details": {"reasoning_tokens": None, "x": 1}},
    ],
)
def test_odd_usage_is_kept(usage):
    body = said({"content": "x"}, usage=usage)
    assert reply(answer(body), Context()).body == body
    wire = reply(shown(usage=answer(body).usage)).body["usage"]
    assert {"prompt_tokens", "completion_tokens", "total_tokens"} <= wire.keys()


def test_deepseek_tells_its_cache_elsewhere():
    assert answer(fixture("vendor-deepseek.response.json")).usage.cache_read == 64


def test_citations():
    text = answer(fixture("citations.response.json")).choices[0].parts[0]
    assert text.citations[0] == Citation(
        url="https://bureau.example/rain", title="Rain", start=3, end=15
    )
    ctx = foreign()
    cited = Text(text="x", citations=(Citation(title="a book"),))
    assert "annotations" not in reply(shown(cited), ctx).body["choices"][0]["message"]
    assert codes(ctx) == ["citation-dropped"]


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "told"), list(ERROR_FROM.items()))
def test_x_16_error_kinds(kind, told):
    """X-16: every kind of error has its type, code and status here, and is read back as itself."""
    word, code, status = told
    wire = reply(ApiError(kind=kind, message="m", retry_after="3", request_id="q"))
    assert wire.status == status
    assert wire.body == {"error": {"message": "m", "type": word, "param": None, "code": code}}
    assert wire.headers == {"retry-after": "3", "x-request-id": "q"}
    assert chat.decode_response(wire, Context()).kind == kind


@pytest.mark.parametrize(("word", "told"), list(ERROR.items()))
def test_error_words(word, told):
    kind, status = told
    body = {"error": {"message": "m", "type": word}}
    assert answer(body, status=status).kind == kind


def test_foreign_status_is_changed_with_a_note():
    ctx = foreign()
    assert reply(ApiError(kind="overloaded", message="m", status=529), ctx).status == 503
    assert codes(ctx) == ["status-changed"]


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("vendor-llamacpp", "context_length", "request (12031"),
        ("vendor-flat", "not_found", "The model"),
        ("vendor-text", "server", "model runner"),
        ("vendor-detail", "not_found", "Not Found"),
        ("vendor-detail-list", "invalid_request", "[{"),
        ("vendor-empty", "server", ""),
        ("rate-limit", "rate_limit", "Rate limit"),
        ("context-length", "context_length", "This model"),
    ],
)
def test_error_shapes(name, kind, message):
    error = chat.decode_response(WireResponse(**fixture(f"{name}.error.json")), Context())
    assert error.kind == kind
    assert error.message.startswith(message)


def test_an_error_with_a_good_status_is_an_error():
    error = answer({"error": {"message": "no credits", "code": 402}})
    assert isinstance(error, ApiError)
    assert reply(error, Context()).status == 500


# --- totality -------------------------------------------------------------------------------------

NASTY_REQUESTS = [
    {},
    {"model": 1},
    {"model": "m"},
    {"model": "m", "messages": None},
    {"model": "m", "messages": {}},
    ask(1),
    ask({}),
    ask({"role": "owl"}),
    ask({"role": "user", "content": 1}),
    ask({"role": "user", "content": [1]}),
    ask({"role": "user", "content": [{}]}),
    ask({"role": "user", "content": [{"type": "text"}]}),
    ask({"role": "user", "content": [{"type": "image_url"}]}),
    ask({"role": "user", "content": [{"type": "image_url", "image_url": {"url": 1}}]}),
    ask({"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}),
    ask({"role": "user", "content": [{"type": "file", "file": {"file_data": 1}}]}),
    ask({"role": "assistant", "tool_calls": [1]}),
    ask({"role": "assistant", "tool_calls": [{}]}),
    ask({"role": "assistant", "tool_calls": [{"type": "function"}]}),
    ask({"role": "assistant", "tool_calls": [{"type": "function", "function": {}}]}),
    ask({"role": "assistant", "tool_calls": [{"type": "custom"}]}),
    ask({"role": "assistant", "refusal": 1}),
    ask({"role": "assistant", "content": "x", "annotations": [1]}),
    ask({"role": "tool", "tool_call_id": 1}),
    ask({"role": "assistant", "function_call": {}}),
    ask(tools={}),
    ask(tools=[1]),
    ask(tools=[{"type": []}]),
    ask(tools=[{"type": "function"}]),
    ask(tools=[{"type": "function", "function": {"name": "f", "parameters": []}}]),
    ask(functions=[{}]),
    ask(tool_choice=1),
    ask(tool_choice="banana"),
    ask(tool_choice={}),
    ask(tool_choice={"type": "banana"}),
    ask(tool_choice={"type": "function"}),
    ask(tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}),
    ask(function_call=1),
    ask(response_format="json"),
    ask(stop=[1]),
    ask(temperature="hot"),
    ask(stream_options=1),
    ask(reasoning_effort=3),
]


@pytest.mark.parametrize("body", NASTY_REQUESTS, ids=lambda body: json.dumps(body)[:60])
def test_refused_requests_say_where(body):
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.path


NASTY_RESPONSES = [
    {},
    {"choices": [{}]},
    {"choices": [{"message": None}]},
    {"choices": [{"message": {}}]},
    {"choices": [{"message": {"content": None, "tool_calls": None}}]},
    {"choices": [], "usage": None, "id": None, "model": None},
    {"id": "", "created": "yesterday", "choices": [{"message": {"content": "x"}}]},
    {"object": "error"},
    {"error": []},
    {"error": {}},
]


@pytest.mark.parametrize("body", NASTY_RESPONSES, ids=json.dumps)
def test_survivable_responses(body):
    decoded = answer(body)
    reply(decoded, Context())
    reply(decoded, foreign())


JUNK = [None, True, -1, 0.5, 2**70, "", "x", [], [None], {}, {"type": 7}, [{"type": "zz"}], [[]]]


def places(node):
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, child in items:
        yield node, key
        if isinstance(child, (dict, list)):
            yield from places(child)


@given(st.data())
def test_anything_decodes_or_is_refused(data):
    path = data.draw(st.sampled_from([*REQUESTS, *RESPONSES, *ERRORS]))
    body = load(path)
    spots = list(places(body))
    for node, key in data.draw(st.lists(st.sampled_from(spots), min_size=1, max_size=3)):
        node[key] = data.draw(st.sampled_from(JUNK))
    try:
        if path in REQUESTS:
            encode(decode(body), foreign())
        else:
            status = 500 if path in ERRORS else 200
            body = body["body"] if path in ERRORS else body
            reply(answer(body, status=status), foreign())
    except DecodeError:
        pass


# --- streams in -----------------------------------------------------------------------------------


def read(data, ctx=None, cuts=None):
    """All events of a stream, checked against the grammar."""
    decoder = chat.StreamDecoder(ctx or Context())
    events = []
    grammar = Grammar()
    for piece in [data] if cuts is None else cuts:
        events += decoder.feed(piece)
    events += decoder.close()
    for event in events:
        grammar.check(event)
    assert grammar.complete
    return events


def stream(name, ctx=None):
    return read((FIXTURES / f"{name}.stream.txt").read_bytes(), ctx)


def lines(*chunks, done=True):
    """A stream of chunks with one choice each, given as its members."""
    out = b""
    for chunk in chunks:
        choice = {"index": 0, **chunk} if "choices" not in chunk else None
        value = {"id": "s1", "choices": [choice]} if choice else chunk
        out += b"data: " + json.dumps(value).encode() + b"\n\n"
    return out + (b"data: [DONE]\n\n" if done else b"")


def piece(index=0, call_id=None, name=None, arguments=None):
    """A chunk with one piece of a call."""
    entry = {} if index is None else {"index": index}
    if call_id is not None:
        entry["id"] = call_id
    function = {"name": name, "arguments": arguments}
    entry["function"] = {key: value for key, value in function.items() if value is not None}
    return {"delta": {"tool_calls": [entry]}}


END = {"delta": {}, "finish_reason": "tool_calls"}


def parts_of(events):
    return fold(events).choices[0].parts


@pytest.mark.parametrize("path", STREAMS, ids=name_of)
def test_case_10_x_06_a_stream_cut_anywhere_gives_the_same_events(path):
    """case-10, X-06: whole, byte by byte, at random cuts, with CRLF or CR for LF."""
    data = path.read_bytes()
    whole = read(data)
    assert read(data, cuts=[data[i : i + 1] for i in range(len(data))]) == whole
    dice = random.Random(path.name)
    at = sorted(dice.sample(range(len(data)), 12))
    cuts = [data[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]
    assert read(data, cuts=cuts) == whole
    bare = data.replace(b"\r\n", b"\n")
    assert read(bare.replace(b"\n", b"\r\n")) == whole
    assert read(bare.replace(b"\n", b"\r")) == whole
    assert read(bare.replace(b"data: ", b": note\ndata:")) == whole


def test_x_12_whitespace_is_kept():
    """X-12: deltas of nothing but whitespace are text."""
    assert parts_of(stream("text"))[0].text == "The tide \n\nturns at 北京 time 🌊."


def test_usage_comes_before_the_end():
    events = stream("text")
    assert [type(event) for event in events[-2:]] == [UsageSeen, Finished]
    assert events[-2].usage == Usage(input=86, cache_read=1920, output=300)


def test_case_07_s0_58_parallel_calls_keep_apart():
    """case-07, S0-58: interleaved pieces reach their own call, byte for byte."""
    made = parts_of(stream("parallel-calls"))[1:]
    assert [part.arguments for part in made] == ['{"port": "Brest"}', '{"line":7}']


def test_case_03_x_04_text_between_pieces_of_a_call():
    """case-03, X-04: text amid arguments is a part of its own, and the call stays whole."""
    assert parts_of(stream("text-inside-arguments")) == (
        ToolCall(id="call_1", name="read", arguments='{"path":"a"}'),
        Text(text="I will wait."),
    )


def test_x_02_arguments_before_id_and_name_are_held():
    """X-02: what comes before the name or id of its call is not lost."""
    made = parts_of(stream("arguments-first"))
    assert made == (ToolCall(id="call_late", name="late", arguments='{"a":1}'),)
    chunks = [piece(0, name="f", arguments="{"), piece(0, "late"), piece(0, arguments="}"), END]
    assert parts_of(read(lines(*chunks)))[0] == ToolCall(id="late", name="f", arguments="{}")


def test_case_06_missing_ids_and_names():
    """case-06: an id is made, a name stands in, and a call without anything is none."""
    made = parts_of(read(lines(piece(0, name="run", arguments="{}"), END)))[0]
    assert made.id.startswith("call_")
    assert made.id_made
    made = parts_of(read(lines(piece(0, "call_a", "", '{"a":1}'), END)))[0]
    assert (made.name, made.arguments) == ("tool_0", '{"a":1}')
    events = read(lines(piece(0, "", "", ""), {"delta": {}, "finish_reason": "stop"}))
    assert fold(events).choices[0] == Choice(parts=(), stop=StopReason(kind="end", raw="stop"))


def test_calls_without_index_are_told_apart():
    ctx = Context()
    made = parts_of(stream("vendor-no-ids", ctx))
    assert [part.arguments for part in made] == ['{"port":"Brest"}', '{"line":7}']
    chunks = [piece(None, "a", "f", "{"), piece(None, "b", "g", "{"), piece(None, "a", None, "}")]
    made = parts_of(read(lines(*chunks, piece(None, "b", None, "}"), END)))
    assert [(part.id, part.arguments) for part in made] == [("a", "{}"), ("b", "{}")]


def test_a_new_id_on_the_same_index_is_a_new_call():
    chunks = [piece(0, "a", "f", "{}"), piece(0, "b", "f", "{}"), END]
    assert [part.id for part in parts_of(read(lines(*chunks)))] == ["a", "b"]


def test_case_14_repeated_ids_and_both_forms_are_one_call():
    """case-14: a server that repeats id, name and the old form in every delta makes one call."""
    assert parts_of(stream("vendor-repeated-ids")) == (
        ToolCall(id="call__0_tide", name="tide_table", arguments='{ "port": "Brest" }'),
    )


def test_a_call_in_the_old_form():
    ctx = Context()
    events = stream("legacy-function-call", ctx)
    assert parts_of(events)[0].arguments == '{"port":"Brest"}'
    assert events[-1].stops == (StopReason(kind="tool_calls", raw="tool_calls"),)
    assert "legacy-upgraded" in codes(ctx)


def test_x_07_a_call_cut_by_the_limit_is_incomplete():
    """X-07: the cut call ends incomplete, the whole one does not, and the stop stays `length`."""
    events = stream("length-inside-call")
    assert [event for event in events if isinstance(event, PartEnded)] == [
        PartEnded(0),
        PartEnded(1, incomplete=True),
    ]
    assert events[-1].stops[0].kind == "length"


def test_freeform_input_cut_by_the_limit_cannot_be_told():
    entry = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "c", "input": "-a"}}
    chunk = {"delta": {"tool_calls": [entry]}, "finish_reason": "length"}
    assert PartEnded(0) in read(lines(chunk))


def test_case_16_done_without_a_finish_reason():
    """case-16: `[DONE]` ends what is whole; what follows it is passed over."""
    assert stream("no-finish")[-1] == Finished((StopReason(kind="end"),))
    whole = read(lines(piece(0, "a", "f", "{}")))
    assert whole[-1] == Finished((StopReason(kind="tool_calls"),))
    cut = read(lines(piece(0, "a", "f", '{"a')))
    assert isinstance(cut[-1], Failed)
    assert stream("broken-line")[-1] == Finished((StopReason(kind="end", raw="stop"),))


def test_case_09_a_cut_stream_is_an_error():
    """case-09: no end marker is an error, after what was delivered; a broken line is not."""
    events = stream("cut")
    assert events[-1].error.status == 502
    assert [event for event in events if isinstance(event, PartEnded)] == [
        PartEnded(0),
        PartEnded(1, incomplete=True),
    ]
    ctx = Context()
    assert parts_of(stream("broken-line", ctx)) == (Text(text="One two."),)
    assert codes(ctx) == ["event-skipped"]
    assert isinstance(read(b"")[0], Failed)
    assert isinstance(read(b"data: [DONE]\n\n")[0], Failed)


def test_a_finished_stream_needs_no_done():
    assert isinstance(stream("no-done")[-1], Finished)


def test_the_last_blank_line_may_be_missing():
    data = (FIXTURES / "text.stream.txt").read_bytes()
    assert read(data.rstrip()) == read(data)


def test_x_15_an_error_in_the_stream():
    """X-15: an error object ends the stream with open parts closed."""
    events = stream("error")
    assert events[-2] == PartEnded(0, incomplete=True)
    assert (events[-1].error.kind, events[-1].error.status) == ("server", 503)
    assert isinstance(read(b'data: {"object":"error","message":"x"}\n\n')[-1], Failed)
    assert isinstance(read(b'event: error\ndata: {"message":"x"}\n\n')[-1], Failed)


def test_reasoning_ends_where_text_begins():
    kinds = [type(part) for part in parts_of(stream("vendor-deepseek"))]
    assert kinds == [Reasoning, Text, ToolCall]
    assert stream("vendor-deepseek")[-2].usage.cache_read == 64


def test_reasoning_details_are_gathered():
    parts = parts_of(stream("vendor-openrouter"))
    message = encode(results(*parts, role="assistant"))["messages"][0]
    assert message["reasoning"] == "Bees again."
    assert message["reasoning_details"] == [
        {
            "type": "reasoning.text",
            "text": "Bees again.",
            "format": "anthropic-claude-v1",
            "index": 0,
            "signature": "ErUB",
        }
    ]


def test_details_without_words_beside_them_are_shown():
    entry = {"type": "reasoning.summary", "summary": "Thin", "index": 0}
    more = entry | {"summary": "king", "index": 0, "type": "reasoning.summary", "id": None}
    state = {"type": "reasoning.encrypted", "data": "x"}
    chunks = [
        {"delta": {"reasoning_details": [entry]}},
        {"delta": {"reasoning_details": [more, more | {"summary": None}, state, "odd"]}},
        {"delta": {"content": "Yes."}, "finish_reason": "stop"},
    ]
    parts = parts_of(read(lines(*chunks)))
    assert [part.text for part in parts] == ["Thinking", "", "Yes."]
    message = encode(results(*parts, role="assistant"))["messages"][0]
    assert "reasoning" not in message
    assert message["reasoning_details"] == [
        entry | {"summary": "Thinking", "id": None},
        state,
        "odd",
    ]


def test_sealed_state_in_a_stream():
    parts = parts_of(stream("sealed"))
    assert parts[:2] == (Reasoning(text="Hm."), Reasoning(redacted=True, signature="tg1.QUJD"))


def test_the_same_reasoning_under_two_names_is_read_once():
    delta = {"reasoning_content": "a", "reasoning": "a"}
    parts = parts_of(read(lines({"delta": delta}, {"delta": delta}, END)))
    assert parts == (Reasoning(text="aa"),)


def test_other_members_of_deltas_are_named_once():
    ctx = Context()
    chunk = {"delta": {"audio": {"id": "a"}, "video": None}, "logprobs": {"content": [1]}}
    read(lines(chunk, chunk, {"delta": {"content": [{"type": "text", "text": "x"}]}}, END), ctx)
    assert ctx.receipt().codes() == {"event-skipped": 2, "logprobs-dropped": 1}
    ctx = Context()
    read(
        lines({"delta": {"annotations": [{}]}}, {"delta": {"content": "x"}, "usage": []}, END), ctx
    )
    assert codes(ctx) == ["citation-dropped"]


def test_choices_are_kept_apart():
    response = fold(stream("two-choices"))
    assert [choice.parts[0].text for choice in response.choices] == ["Heads", "Tails"]
    assert [choice.stop.kind for choice in response.choices] == ["end", "length"]


def test_the_first_chunk_may_be_about_the_prompt():
    assert stream("vendor-azure")[0] == Started(
        id="chatcmpl-St1", model="gpt-6.1", created=1794771111
    )


ODD_CHUNKS = [
    {"choices": None},
    {"choices": 1},
    {"choices": [1, None, []]},
    {"choices": [{"index": -5, "delta": {"content": "x"}}]},
    {"choices": [{"index": 10**9, "delta": {"content": "x"}}]},
    {"choices": [{"delta": {"content": 5}}]},
    {"choices": [{"delta": {"reasoning": 5, "refusal": 5, "annotations": 5}}]},
    {"choices": [{"delta": {"tool_calls": [None, {}, {"function": 5}, {"function": []}]}}]},
    {"choices": [{"delta": {"tool_calls": {"index": 0}}}]},
    {"choices": [{"delta": {"function_call": 5}}]},
    {"choices": [{"delta": {"reasoning_details": 5}}]},
    {"choices": [{"delta": {"content": "x", "annotations": [5]}}]},
    {"choices": [{"delta": [], "finish_reason": 5}]},
    {"choices": [{"message": {"role": "assistant", "content": "whole"}}]},
    {"choices": [], "usage": 5},
    {"choices": [], "usage": {"prompt_tokens": "many"}},
    {"choices": [{"delta": {}, "usage": {"prompt_tokens": 1}}]},
]


@pytest.mark.parametrize("chunk", ODD_CHUNKS, ids=json.dumps)
def test_odd_chunks_give_legal_events(chunk):
    read(lines(chunk, {"delta": {"content": "y"}}, chunk, END))


@given(st.data())
@settings(max_examples=100)
def test_any_chunks_give_legal_events(data):
    path = data.draw(st.sampled_from(STREAMS))
    frames = [each for each in path.read_bytes().replace(b"\r", b"").split(b"\n\n") if each]
    chunks = []
    for each in frames:
        try:
            value = json.loads(each[6:])
        except ValueError:
            chunks.append(each)
            continue
        spots = list(places(value))
        for node, key in data.draw(st.lists(st.sampled_from(spots), max_size=1)):
            node[key] = data.draw(st.sampled_from(JUNK))
        chunks.append(b"data: " + json.dumps(value).encode())
    read(b"\n\n".join(data.draw(st.permutations(chunks))) + b"\n\n")


# --- streams out ----------------------------------------------------------------------------------


def write(events, ctx=None):
    encoder = chat.StreamEncoder(ctx or foreign())
    return b"".join(map(encoder.encode, events)) + encoder.close()


def chunks_of(data):
    frames = [each.removeprefix(b"data: ") for each in data.split(b"\n\n") if each]
    assert frames[-1] == b"[DONE]"
    return [json.loads(each) for each in frames[:-1]]


def bare(value):
    """A response without what a stream cannot say."""
    built = msgspec.to_builtins(value)

    def strip(node):
        if isinstance(node, dict):
            skipped = ("extras", "logprobs", "wire_form", "id_made", "raw")
            return {key: strip(child) for key, child in node.items() if key not in skipped}
        return [strip(child) for child in node] if isinstance(node, (list, tuple)) else node

    return strip(built)


@pytest.mark.parametrize(
    "path",
    [p for p in RESPONSES if not p.name.startswith(("null", "no-", "vendor-openrouter"))],
    ids=name_of,
)
def test_a_stream_folds_to_the_body(path):
    response = answer(load(path))
    data = write(unfold(response), Context())
    assert bare(fold(read(data))) == bare(response)


@pytest.mark.parametrize("path", STREAMS, ids=name_of)
def test_streams_written_are_read_back(path):
    events = read(path.read_bytes())
    again = read(write(events, Context()))
    if isinstance(events[-1], Failed):
        assert again[-1].error.message == events[-1].error.message
    else:
        assert bare(fold(again)) == bare(fold(events))


TALK = [
    Started(id="r1", model="m", created=5, service_tier="default"),
    PartStarted(0, Reasoning()),
    PartDelta(0, "Hm"),
    PartDelta(0, "SIG", "signature"),
    PartEnded(0),
    PartStarted(1, Text(text="")),
    PartDelta(1, "Sure."),
    PartEnded(1),
    PartStarted(2, ToolCall(id="toolu_1", name="f", arguments="")),
    PartDelta(2, '{"expression":"'),
    PartStarted(3, ToolCall(id="toolu_2", name="g", arguments="")),
    PartDelta(2, "5+6"),
    PartDelta(2, '"}'),
    PartEnded(2),
    PartEnded(3),
    UsageSeen(Usage(input=5, cache_read=2, output=3)),
    Finished((StopReason(kind="tool_calls"),)),
]


def test_s1_16_s1_20_d_09_the_contract_of_call_deltas():
    """S1-16, S1-20, D-09: id, type and name once, then only pieces; calls are numbered from 0."""
    entries = [
        entry
        for chunk in chunks_of(write(TALK))
        for choice in chunk["choices"]
        for entry in choice["delta"].get("tool_calls", ())
    ]
    first = {"index": 0, "id": "toolu_1", "type": "function"}
    assert entries[0] == {**first, "function": {"name": "f", "arguments": ""}}
    pieces = [entry["function"]["arguments"] for entry in entries if entry["index"] == 0]
    assert "".join(pieces) == '{"expression":"5+6"}'
    for entry in entries[1:]:
        if "id" not in entry:
            assert entry.keys() == {"index", "function"}
            assert entry["function"].keys() == {"arguments"}
    assert [entry["id"] for entry in entries if "id" in entry] == ["toolu_1", "toolu_2"]
    assert entries[-1] == {"index": 1, "function": {"arguments": "{}"}}


def test_x_14_x_13_one_stream_one_id_one_role_one_done():
    """X-14, X-13: one id, one role, one finish reason, the usage, and exactly one `[DONE]`."""
    data = write(TALK)
    assert data.count(b"[DONE]") == 1
    chunks = chunks_of(data)
    assert {(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks} == {("r1", 5, "m")}
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": None}
    assert data.count(b'"role"') == 1
    words = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]]
    assert [word for word in words if word] == ["tool_calls"]
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["prompt_tokens"] == 7


@pytest.mark.parametrize(("wanted", "count"), [(True, 1), (False, 0), (None, 0)])
def test_usage_is_told_when_asked_for(wanted, count):
    request = Request(model="m", messages=(), include_usage=wanted)
    assert write(TALK, foreign(request=request)).count(b'"usage"') == count


def test_reasoning_state_goes_out_as_a_detail():
    deltas = [choice["delta"] for chunk in chunks_of(write(TALK)) for choice in chunk["choices"]]
    assert {"reasoning_content": "Hm"} in deltas
    entry = {"type": "reasoning.encrypted", "format": "toolglot-v1", "data": "SIG", "index": 0}
    assert {"reasoning_details": [entry]} in deltas


def test_the_sdk_reads_what_we_stream():
    state = ChatCompletionStreamState()
    for chunk in chunks_of(write(TALK)):
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    final = state.get_final_completion()
    message = final.choices[0].message
    assert final.id == "r1"
    assert final.usage.prompt_tokens == 7
    assert message.content == "Sure."
    assert [made.function.arguments for made in message.tool_calls] == [
        '{"expression":"5+6"}',
        "{}",
    ]


@pytest.mark.parametrize(
    "path", [p for p in STREAMS if not p.name.startswith(("custom", "error", "cut"))], ids=name_of
)
def test_every_chunk_fits_the_sdk(path):
    for chunk in chunks_of(write(read(path.read_bytes()), Context())):
        ChatCompletionChunk.model_validate(chunk)


def test_several_reasoning_parts_and_summaries_are_set_apart():
    events = [
        Started(id="r", model="m"),
        PartStarted(0, Reasoning(summary=("one",))),
        PartDelta(0, "two", "summary", 1),
        PartDelta(0, "not this"),
        PartEnded(0),
        PartStarted(1, Reasoning(text="three")),
        PartEnded(1),
        PartStarted(2, Reasoning(redacted=True, signature="S")),
        PartEnded(2),
        Finished((StopReason(kind="end"),)),
    ]
    parts = parts_of(read(write(events)))
    assert parts[0].text == "one\n\ntwo\n\nthree"
    assert parts[1].signature == "S"


def test_parts_without_a_form_in_a_stream():
    ctx = foreign()
    events = [
        Started(id="r", model="m", created="2026-11-15T00:00:00Z"),
        PartStarted(0, Image(source=Remote(url="https://i.example"))),
        PartDelta(0, "x"),
        PartEnded(0),
        PartStarted(1, Opaque(protocol="elsewhere", type="x", value={})),
        PartDelta(1, "x"),
        PartEnded(1),
        PartStarted(2, Text(text="known ")),
        PartDelta(2, "text"),
        PartDelta(2, "", "citation", citation=Citation(url="https://a.example")),
        PartDelta(2, "", "citation", citation=Citation(title="book")),
        PartDelta(2, "S", "signature"),
        PartEnded(2),
        OpaqueEvent("elsewhere", "x", {}),
        OpaqueEvent("openai-chat", "x", {"choices": [], "note": 1}),
        Finished((StopReason(kind="refusal"),)),
    ]
    data = write(events, ctx)
    text = parts_of(read(data))[0]
    assert text.text == "known text"
    assert text.citations == (Citation(url="https://a.example", title="", start=0, end=10),)
    assert b'"note":1' in data
    assert chunks_of(data)[0]["created"] == 1794770000
    assert ctx.receipt().codes() == {"part-dropped": 2, "citation-dropped": 1, "stop-mapped": 1}


def test_several_choices_go_out_with_a_role_each():
    data = write(stream("two-choices"))
    assert data.count(b'"role":"assistant"') == 2
    assert [choice.parts[0].text for choice in fold(read(data)).choices] == ["Heads", "Tails"]


def test_case_09_a_failure_goes_out_as_an_error_object():
    """case-09: what was delivered stays, then an error that the SDK raises."""
    data = write(stream("cut"))
    error = chunks_of(data)[-1]["error"]
    assert error["type"] == "server_error"
    assert b'"content":"Hal"' in data
    assert data.count(b"[DONE]") == 1
    assert chunks_of(write([Failed(ApiError(kind="rate_limit", message="m"))]))[0]["error"]["code"]


def test_incomplete_calls_are_not_completed():
    events = [
        Started(id="r", model="m"),
        PartStarted(0, ToolCall(id="a", name="b", arguments="")),
        PartEnded(0, incomplete=True),
        Finished((StopReason(kind="length"),)),
    ]
    assert parts_of(read(write(events)))[0].arguments == ""


# --- reasoning state on calls, as Google's models have it ----------------------------------------

SIGNED = {"google": {"thought_signature": "c2lnbmF0dXJl"}}


@pytest.mark.parametrize("extra", [SIGNED, {**SIGNED, "other": 1}, {"google": {}}, {"x": []}, "?"])
def test_a_signature_on_a_call_is_state_and_stays_where_it_was(extra):
    """X-18."""
    told = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{**call(), "extra_content": extra}],
    }
    body = ask(user(), told)
    request = decode(body)
    (part,) = request.messages[-1].parts
    has_state = isinstance(extra, dict) and extra.get("google") == SIGNED["google"]
    assert part.signature == ("c2lnbmF0dXJl" if has_state else None)
    assert encode(request) == body


@pytest.mark.parametrize("late", [False, True])
def test_a_signature_in_a_stream_is_the_calls(late):
    """X-18: with the first piece of the call, or a later one."""
    first = {"index": 0, **call(arguments="")}
    more = {"index": 0, "function": {"arguments": "{}"}}
    (more if late else first)["extra_content"] = SIGNED
    chunks = [
        {"id": "1", "object": "chat.completion.chunk", "model": "m", "created": 1,
         "choices": [{"index": 0, "delta": {"tool_calls": [each]}, "finish_reason": None}]}
        for each in (first, more)
    ]  # fmt: skip
    chunks.append({**chunks[0], "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    data = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    decoder = chat.StreamDecoder(Context())
    events = [*decoder.feed(data), *decoder.feed(b"data: [DONE]\n\n")]
    (part,) = fold(events).choices[0].parts
    assert part.signature == "c2lnbmF0dXJl"
    encoder = chat.StreamEncoder(Context())
    again = chat.StreamDecoder(Context())
    assert fold([*again.feed(b"".join(map(encoder.encode, events)))]) == fold(events)
