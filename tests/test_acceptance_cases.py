"""Failures that users of other gateways reported, each with the rule behind it."""

import json
from typing import Any

import pytest
from tests.laws.streams import arguments
from tests.wires import (
    NAMES,
    PAIRS,
    TRIO,
    across,
    answer,
    asking,
    assistant,
    call,
    carried,
    codes,
    home,
    parts_of,
    path_to,
    result,
    said,
    seen,
    shown,
    tool,
    user,
    words,
)

import toolglot
from toolglot import get_protocol, ir, translate_request, translate_response

SURFACES = {name: get_protocol(name).SURFACE for name in NAMES}
PNG = ir.Inline(media_type="image/png", data="iVBORw0KGgo=")
PDF = ir.Inline(media_type="application/pdf", data="JVBERi0=")
HI = [{"role": "user", "content": "hi"}]


def to(body: Any, source: str, target: str, **options: Any) -> tuple[Any, toolglot.Receipt]:
    """The body of a translated request."""
    wire, receipt = translate_request(
        body, source=source, target=target, path=path_to(source), **options
    )
    return wire.body, receipt


# --- case-08: usage -------------------------------------------------------------------------------

CHAT_USAGE = {
    "prompt_tokens": 2006,
    "completion_tokens": 300,
    "prompt_tokens_details": {"cached_tokens": 1920},
}


def chat(usage: Any) -> Any:
    """A chat response with this usage."""
    message = {"role": "assistant", "content": "hi"}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def test_cached_tokens_are_not_fresh_ones():
    """case-08"""
    wire, _ = translate_response(chat(CHAT_USAGE), source="openai-chat", target="anthropic")
    assert wire.body["usage"] == {
        "input_tokens": 86,
        "cache_read_input_tokens": 1920,
        "output_tokens": 300,
    }


def test_all_input_is_the_prompt():
    """case-08: the reverse, with what was written to the cache."""
    usage = {
        "input_tokens": 86,
        "cache_read_input_tokens": 1920,
        "cache_creation_input_tokens": 10,
        "output_tokens": 300,
    }
    body = {"content": [], "stop_reason": "end_turn", "usage": usage}
    wire, _ = translate_response(body, source="anthropic", target="openai-chat")
    assert wire.body["usage"] == {
        "prompt_tokens": 2016,
        "completion_tokens": 300,
        "total_tokens": 2316,
        "prompt_tokens_details": {"cached_tokens": 1920, "cache_write_tokens": 10},
    }


@pytest.mark.parametrize("target", [n for n in NAMES if n != "openai-chat"])
def test_what_was_not_said_of_the_cache_is_not_zero(target):
    """case-08: where the key may be absent, it is."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    wire, _ = translate_response(chat(usage), source="openai-chat", target=target)
    told = json.dumps(wire.body)
    if target != "openai-responses":
        assert "cache" not in told
    assert toolglot.decode_response(wire.body, source=target).usage.prompt == 7


@pytest.mark.parametrize(
    ("source", "target"),
    [p for p in PAIRS if not {"gemini", "gemini-interactions", "ollama"} & set(p)],
)
def test_what_was_written_to_the_cache_is_counted(source, target):
    """case-08"""
    usage = ir.Usage(input=5, cache_read=2, cache_write=3, output=4, reasoning=1)
    told = seen(answer("hi", usage=usage), source, target).usage
    assert told is not None
    # One protocol does not count what was thought apart.
    assert (told.input, told.cache_read, told.cache_write, told.output) == (5, 2, 3, 4)
    assert (told.reasoning or 0) == (0 if "bedrock-converse" in (source, target) else 1)


# --- case-13: text and calls ----------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_text_and_calls_in_one_answer(source, target):
    """case-13: both, in their order, and a stop reason that fits."""
    response = seen(answer("I look.", call("f", '{"a":1}')), source, target)
    shape = [p for p in response.choices[0].parts if not isinstance(p, ir.Reasoning)]
    assert [type(part) for part in shape] == [ir.Text, ir.ToolCall]
    assert response.choices[0].stop is not None
    assert response.choices[0].stop.kind == "tool_calls"


def test_a_message_and_a_call_of_responses_for_chat():
    """case-13"""
    output = [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look."}],
        },
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
    ]
    wire, _ = translate_response(
        {"status": "completed", "output": output}, source="openai-responses", target="openai-chat"
    )
    [choice] = wire.body["choices"]
    assert choice["message"]["content"] == "I look."
    assert [each["id"] for each in choice["message"]["tool_calls"]] == ["call_1"]
    assert choice["finish_reason"] == "tool_calls"


# --- case-19: no ids ------------------------------------------------------------------------------


def gemini_turns(ids: bool) -> list[Any]:
    """Two calls of one name and their results."""
    cities = ("Paris", "Rome")

    def named(index: int) -> Any:
        return {"id": f"g{index}"} if ids else {}

    calls = [
        {"functionCall": {**named(n), "name": "get_weather", "args": {"city": city}}}
        for n, city in enumerate(cities)
    ]
    results = [
        {
            "functionResponse": {
                **named(n),
                "name": "get_weather",
                "response": {"output": f"{city}: sun"},
            }
        }
        for n, city in enumerate(cities)
    ]
    return [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": results},
    ]


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("target", TRIO)
def test_calls_and_results_without_ids_find_each_other(target, ids):
    """case-19: by order within a name; ids that are there are used."""
    contents = gemini_turns(ids)
    body, _ = to({"contents": contents}, "gemini", target)
    request = toolglot.decode_request(body, source=target)
    calls = parts_of(request, ir.ToolCall)
    found = {each.id: json.loads(each.arguments)["city"] for each in calls}
    assert len(found) == 2
    answers = {found[each.id]: words(each) for each in parts_of(request, ir.ToolResult)}
    assert answers == {"Paris": "Paris: sun", "Rome": "Rome: sun"}
    if ids:
        assert list(found) == ["g0", "g1"]


@pytest.mark.parametrize("target", TRIO)
@pytest.mark.parametrize("source", ["gemini", "ollama"])
def test_made_ids_are_the_same_in_the_next_turn(source, target):
    """case-19"""
    made = [ir.ToolCall(id=f"x{n}", name="f", arguments="{}", id_made=True) for n in range(2)]
    results = [result(str(n), id=f"x{n}", name="f", id_made=True) for n in range(2)]
    turn = [user("hi"), assistant(*made), user(*results)]
    first = across(asking(*turn), source, target)
    longer = across(asking(*turn, assistant("well"), user("go on")), source, target)
    before = [each.id for each in parts_of(first, ir.ToolCall)]
    assert before == [each.id for each in parts_of(longer, ir.ToolCall)]
    assert len(set(before)) == 2


# --- case-20: one call at a time ------------------------------------------------------------------

CHOICES = [None, ir.ToolChoice(mode="auto"), ir.ToolChoice(mode="required")]
NAMED = ir.ToolChoice(mode="tool", names=("f",))


@pytest.mark.parametrize("choice", [*CHOICES, NAMED])
@pytest.mark.parametrize("parallel", [True, False, None])
@pytest.mark.parametrize(("source", "target"), [p for p in PAIRS if set(p) <= set(TRIO)])
def test_parallel_calls_are_allowed_as_they_were(source, target, parallel, choice):
    """case-20: absent stays absent, and a choice is not made stronger."""
    request = asking(
        user("hi"), tools=(tool("f"),), tool_choice=choice, parallel_tool_calls=parallel
    )
    there = across(request, source, target)
    assert there.parallel_tool_calls is parallel
    implied = choice or (ir.ToolChoice(mode="auto") if parallel is not None else None)
    if there.tool_choice is None:
        assert choice is None
    else:
        assert implied is not None
        assert (there.tool_choice.mode, there.tool_choice.names) == (implied.mode, implied.names)


def test_one_call_at_a_time_without_a_choice():
    """case-20"""
    request = asking(user("hi"), tools=(tool("f"),), parallel_tool_calls=False)
    wire, _ = carried(request, "openai-chat", "anthropic")
    assert wire.body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses"])
def test_no_flag_where_no_tool_may_be_called(source):
    """case-20"""
    request = asking(
        user("hi"),
        tools=(tool("f"),),
        tool_choice=ir.ToolChoice(mode="none"),
        parallel_tool_calls=False,
    )
    wire, _ = carried(request, source, "anthropic")
    assert wire.body["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize("target", ["gemini", "ollama"])
@pytest.mark.parametrize("source", TRIO)
def test_one_call_at_a_time_where_it_cannot_be_said(source, target):
    """case-20: it is reported."""
    request = asking(user("hi"), tools=(tool("f"),), parallel_tool_calls=False)
    _, receipt = carried(request, source, target)
    path = SURFACES[source].settings["parallel_tool_calls"]
    assert ("field-dropped", path) in {(note.code, note.path) for note in receipt.losses}


# --- case-21: nothing is dropped silently ---------------------------------------------------------


def test_strict_tools_for_anthropic():
    """case-21"""
    wire, _ = carried(
        asking(user("hi"), tools=(tool("f", strict=True),)), "openai-chat", "anthropic"
    )
    assert wire.body["tools"][0]["strict"] is True


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_constants_in_schemas_survive(source, target):
    """case-21: as such or as the only one of an enumeration."""
    schema = {"type": "object", "properties": {"a": {"const": "x"}}}
    request = asking(user("hi"), tools=(ir.FunctionTool(name="f", parameters=schema),))
    [found] = across(request, source, target).tools
    told = found.parameters["properties"]["a"]
    assert told.get("const") == "x" or told.get("enum") == ["x"]


@pytest.mark.parametrize(
    "target", [n for n in NAMES if n not in ("openai-chat", "openai-responses")]
)
@pytest.mark.parametrize("source", ["openai-chat", "openai-responses"])
def test_developer_text_is_system_text(source, target):
    """case-21: in place, and said so."""
    developer = ir.Message(role="developer", parts=(ir.Text(text="Be kind."),))
    wire, receipt = carried(asking(developer, user("hi")), source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    system = there.system or there.messages[0]
    assert system.role == "system"
    assert words(system) == "Be kind."
    assert "role-changed" in codes(receipt)


def test_no_choices_means_the_limit_was_eaten():
    """case-21"""
    body = {"id": "x", "choices": None, "usage": {"prompt_tokens": 9, "completion_tokens": 50}}
    wire, _ = translate_response(body, source="openai-chat", target="anthropic")
    assert wire.body["stop_reason"] == "max_tokens"
    assert wire.body["content"] == []
    wire, _ = translate_response(
        {"candidates": [{"finishReason": "MAX_TOKENS"}]}, source="gemini", target="openai-chat"
    )
    [choice] = wire.body["choices"]
    assert choice["finish_reason"] == "length"
    assert not choice["message"]["content"]


SETTINGS = {
    "temperature": 0.5,
    "top_p": 0.9,
    "top_k": 40,
    "n": 2,
    "seed": 7,
    "stop": ("END",),
    "frequency_penalty": 0.25,
    "presence_penalty": 0.5,
    "logprobs": True,
    "store": True,
    "user": "u",
    "verbosity": "low",
    "output": ir.OutputFormat(kind="json"),
}


def can_say(name: str, field: str) -> bool:
    """Whether a client of a protocol can ask for this."""
    known = field in SURFACES[name].settings
    return known and (field != "output" or "json" in SURFACES[name].outputs)


@pytest.mark.parametrize(
    ("source", "target", "field"),
    [(*p, field) for p in PAIRS for field in SETTINGS if can_say(p[0], field)],
)
def test_every_setting_crosses_or_is_named(source, target, field):
    """case-21, case-43: one does not push out another, either."""
    request = asking(user("hi"), **{"temperature": 0.5, "top_p": 0.9, field: SETTINGS[field]})
    wire, receipt = carried(request, source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    if getattr(there, field) != SETTINGS[field]:
        path = SURFACES[source].settings[field]
        assert path in {note.path for note in receipt.losses}
    assert (there.temperature, there.top_p) == (0.5, 0.9)


@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "openai-responses"])
def test_pictures_elsewhere_are_told_to_gemini_with_a_note(source):
    """case-21"""
    image = ir.Image(source=ir.Remote(url="https://pictures.example/heron.png"))
    wire, receipt = carried(asking(user(image)), source, "gemini")
    [part] = wire.body["contents"][0]["parts"]
    assert part["fileData"] == {
        "mimeType": "image/png",
        "fileUri": "https://pictures.example/heron.png",
    }
    assert "media-by-url" in codes(receipt)


# --- case-27: unknown tools and items -------------------------------------------------------------

UNKNOWN_ITEMS = [
    {"type": "agent_message", "id": "am_1", "content": [{"type": "text", "text": "found it"}]},
    {"type": "tool_search_call", "id": "ts_1", "arguments": {"query": "tides"}},
    {"type": "image_generation_call", "id": "ig_1", "result": "iVBORw0KGgo="},
]


@pytest.mark.parametrize("item", UNKNOWN_ITEMS, ids=lambda item: item["type"])
@pytest.mark.parametrize("target", [n for n in NAMES if n != "openai-responses"])
def test_unknown_items_do_not_kill_a_request(target, item):
    """case-27: they are named, and what can be read of them stays."""
    given = {"model": "m", "input": [*HI, item, {"role": "user", "content": "go on"}]}
    body, receipt = to(given, "openai-responses", target)
    request = toolglot.decode_request(body, source=target, path=path_to(target))
    assert codes(receipt) & {"part-dropped", "part-told"}
    said = words(request)
    assert said.startswith("hi")
    assert said.endswith("go on")
    assert ("> found it\n" in said) is (item["type"] == "agent_message")


@pytest.mark.parametrize("item", UNKNOWN_ITEMS, ids=lambda item: item["type"])
def test_unknown_items_pass_to_their_own_protocol(item):
    """case-27"""
    body = {"model": "m", "input": [*HI, item], "tools": [{"type": "namespace", "name": "n"}]}
    wire, _ = translate_request(body, source="openai-responses", target="openai-responses")
    assert wire.body == body
    wire, _ = translate_request(
        body, source="openai-responses", target="openai-responses", model="m"
    )
    assert wire.body == body


@pytest.mark.parametrize("arguments", ['{"q":1}', {"q": 1}])
@pytest.mark.parametrize("target", [n for n in NAMES if n != "openai-responses"])
def test_arguments_may_be_an_object_or_text(target, arguments):
    """case-27"""
    item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments}
    body, _ = to({"model": "m", "input": [item]}, "openai-responses", target)
    [made] = parts_of(
        toolglot.decode_request(body, source=target, path=path_to(target)), ir.ToolCall
    )
    assert made.arguments == '{"q":1}'


@pytest.mark.parametrize("target", [n for n in NAMES if n != "openai-responses"])
def test_namespaces_are_flattened(target):
    """case-27"""
    inner = {"type": "function", "name": "read", "parameters": {"type": "object"}}
    space = {"type": "namespace", "name": "files", "description": "", "tools": [inner]}
    body, _ = to({"model": "m", "input": "hi", "tools": [space]}, "openai-responses", target)
    [found] = toolglot.decode_request(body, source=target, path=path_to(target)).tools
    assert "read" in found.name


# --- case-29, case-30: media in results -----------------------------------------------------------


def shooting(*media: ir.Part) -> ir.Request:
    """Two calls, the first answered with media."""
    first = ir.ToolResult(id="call_1", name="shoot", parts=media)
    return asking(
        user("hi"),
        assistant(call("shoot", id="call_1"), call("look", id="call_2")),
        user(first, result("ok", id="call_2", name="look")),
    )


@pytest.mark.parametrize("text", [(), (ir.Text(text="a heron"),)], ids=["alone", "with text"])
@pytest.mark.parametrize(
    "source", [n for n in NAMES if "image.inline" in SURFACES[n].media.accepted["result"]]
)
def test_pictures_in_results_for_chat(source, text):
    """case-29: a text in the tool message, the picture after all tool messages of the turn."""
    request = shooting(*text, ir.Image(source=PNG))
    wire, receipt = carried(request, source, "openai-chat")
    roles = [message["role"] for message in wire.body["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    shot, after = wire.body["messages"][2], wire.body["messages"][-1]
    assert isinstance(shot["content"], str)
    assert shot["content"]
    assert "base64" not in shot["content"]
    urls = [each["image_url"]["url"] for each in after["content"] if each["type"] == "image_url"]
    assert urls == ["data:image/png;base64,iVBORw0KGgo="]
    assert "part-moved" in codes(receipt)


@pytest.mark.parametrize(
    ("source", "target"),
    [p for p in PAIRS if all("image.inline" in SURFACES[n].media.accepted["result"] for n in p)],
)
def test_pictures_in_results_stay_there_where_they_can(source, target):
    """case-29"""
    there = across(shooting(ir.Text(text="a heron"), ir.Image(source=PNG)), source, target)
    first, _ = parts_of(there, ir.ToolResult)
    assert words(first) == "a heron"
    assert [part.source for part in parts_of(first, ir.Image)] == [PNG]


@pytest.mark.parametrize("target", [n for n in NAMES if n != "anthropic"])
def test_pictures_elsewhere_in_results(target):
    """case-29: by their address, in the result, after it, or named."""
    image = ir.Image(source=ir.Remote(url="https://pictures.example/heron.png"))
    wire, _ = carried(shooting(image), "anthropic", target)
    assert "https://pictures.example/heron.png" in wire.data().decode()


def test_a_picture_in_a_result_for_responses():
    """case-29"""
    wire, _ = carried(shooting(ir.Image(source=PNG)), "anthropic", "openai-responses")
    outputs = [i for i in wire.body["input"] if i["type"] == "function_call_output"]
    [image] = outputs[0]["output"]
    assert image["type"] == "input_image"
    assert image["image_url"] == "data:image/png;base64,iVBORw0KGgo="


def test_a_picture_in_a_result_for_gemini():
    """case-29"""
    wire, _ = carried(shooting(ir.Image(source=PNG)), "anthropic", "gemini")
    answered = wire.body["contents"][-1]["parts"][0]["functionResponse"]
    assert answered["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]


def test_a_document_in_a_result_for_responses():
    """case-30: with a file name, which is required there."""
    wire, _ = carried(shooting(ir.Document(source=PDF)), "anthropic", "openai-responses")
    outputs = [i for i in wire.body["input"] if i["type"] == "function_call_output"]
    [file] = outputs[0]["output"]
    assert file["type"] == "input_file"
    assert file["file_data"] == "data:application/pdf;base64,JVBERi0="
    assert file["filename"].endswith(".pdf")


@pytest.mark.parametrize("target", [n for n in NAMES if n != "anthropic"])
def test_documents_in_results_are_not_lost(target):
    """case-30"""
    document = ir.Document(source=PDF, name="tides.pdf")
    wire, receipt = carried(shooting(document), "anthropic", target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    inside = [p for r in parts_of(there, ir.ToolResult) for p in parts_of(r, ir.Document)]
    if "document.inline" in SURFACES[target].media.accepted["user"]:
        [found] = inside or parts_of(there, ir.Document)
        assert found.source == PDF
    else:
        assert "part-dropped" in codes(receipt)
        assert "tides.pdf" in wire.data().decode()


@pytest.mark.parametrize("target", [n for n in NAMES if n != "anthropic"])
def test_an_empty_result_is_an_empty_text(target):
    """case-30"""
    messages = [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": []}]},
    ]
    body, _ = to({"model": "m", "max_tokens": 9, "messages": messages}, "anthropic", target)
    [given] = parts_of(
        toolglot.decode_request(body, source=target, path=path_to(target)), ir.ToolResult
    )
    assert words(given) == ""


# --- case-31: failed results ----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["boom", "", "[tool error] in its own words"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_failed_result_is_still_failed_when_it_comes_home(source, target, text):
    """case-31, D-15"""
    request = asking(user("hi"), assistant(call("f")), user(result(text, name="f", is_error=True)))
    [given] = parts_of(home(request, source, target), ir.ToolResult)
    assert given.is_error is True
    # One protocol takes no failed result without content.
    empty = "(no content)" if "bedrock-converse" in (source, target) else ""
    assert words(given) == (text or empty)


def test_how_a_failed_result_is_told():
    """case-31"""
    request = asking(user("hi"), assistant(call("f")), user(result("boom", is_error=True)))
    forms = {name: carried(request, "anthropic", name)[0].body for name in NAMES[1:]}
    assert forms["openai-chat"]["messages"][-1]["content"] == "[tool error] boom"
    assert forms["openai-responses"]["input"][-1]["status"] == "incomplete"
    parts = forms["gemini"]["contents"][-1]["parts"]
    assert parts[0]["functionResponse"]["response"] == {"error": "boom"}
    assert forms["ollama"]["messages"][-1]["content"] == "[tool error] boom"


# --- case-32: order, duplicates, orphans ----------------------------------------------------------


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "ollama"])
def test_results_of_one_turn_are_one_message_in_the_order_of_the_calls(source, target):
    """case-32 (a)"""
    calls = [call(f"f{n}", id=f"call_{n}") for n in range(4)]
    results = [result(str(n), id=f"call_{n}", name=f"f{n}") for n in range(4)]
    request = asking(user("hi"), assistant(*calls), *map(user, results))
    there = across(request, source, target)
    last = there.messages[-1]
    assert [words(part) for part in last.parts] == ["0", "1", "2", "3"]
    assert len(there.messages) == 3


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_results_come_first_in_their_message(target):
    """case-32 (b)"""
    request = asking(
        user("hi"), assistant(call("f")), user("by the way"), user(result("done")), user("so?")
    )
    last = across(request, "openai-chat", target).messages[-1]
    assert [type(part) for part in last.parts] == [ir.ToolResult, ir.Text, ir.Text]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_last_of_two_results_counts(source, target):
    """case-32 (c)"""
    request = asking(
        user("hi"),
        assistant(call("f")),
        user(result("old", name="f"), result("new", name="f")),
    )
    wire, receipt = carried(request, source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    [given] = parts_of(there, ir.ToolResult)
    assert words(given) == "new"
    assert "result-unmatched" in codes(receipt)


def test_an_output_of_an_earlier_response_is_text():
    """case-32 (d), (f)"""
    item = {"type": "function_call_output", "call_id": "call_0", "output": "from before"}
    given = {"model": "m", "input": [item, *HI], "previous_response_id": "resp_0"}
    body, receipt = to(given, "openai-responses", "anthropic")
    text = json.dumps(body["messages"])
    assert "from before" in text
    assert "tool_result" not in text
    assert "result-unmatched" in codes(receipt)


# --- case-33, case-34: state that is bound to its issuer ------------------------------------------

GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Hm.", "thought": True},
                    {
                        "functionCall": {"name": "f", "args": {"n": 1}},
                        "thoughtSignature": "c2lnMQ==",
                    },
                    {"functionCall": {"name": "f", "args": {"n": 2}}},
                ],
            },
            "finishReason": "STOP",
        }
    ]
}
RESEND = {
    "anthropic": lambda body: [{"role": "assistant", "content": body["content"]}],
    "openai-chat": lambda body: [body["choices"][0]["message"]],
    "openai-responses": lambda body: body["output"],
    "gemini-interactions": lambda body: body["steps"],
    "gemini": lambda body: [body["candidates"][0]["content"]],
    "bedrock-converse": lambda body: [body["output"]["message"]],
    "ollama": lambda body: [body["message"]],
}


def replayed(body: Any, upstream: str, client: str, target: str, **options: Any) -> Any:
    """An answer through a client into the history for a target, and the receipt of that."""
    wire, _ = translate_response(body, source=upstream, target=client)
    turn = RESEND[client](json.loads(wire.data()))
    history = {"model": "gemini-3-pro", "max_tokens": 9, SURFACES[client].messages.path: turn}
    path = path_to(client).replace("some-model", "gemini-3-pro")
    back, receipt = translate_request(history, source=client, target=target, path=path, **options)
    return back.body[SURFACES[target].messages.path], receipt


@pytest.mark.parametrize("client", [n for n in NAMES if n != "gemini"])
def test_thought_signatures_come_back_on_their_part(client):
    """case-33: beside the call that had it, once, and on no other."""
    [_opening, content], _ = replayed(GEMINI, "gemini", client, "gemini")
    signed = [part.get("thoughtSignature") for part in content["parts"]]
    calls = [part["functionCall"]["args"] for part in content["parts"] if "functionCall" in part]
    assert calls == [{"n": 1}, {"n": 2}]
    assert signed == [None, "c2lnMQ==", None]
    assert not any("thoughtSignature" in part.get("functionCall", {}) for part in content["parts"])


@pytest.mark.parametrize("client", [n for n in NAMES if n != "gemini"])
@pytest.mark.parametrize(
    "part",
    [
        {"text": "So.", "thoughtSignature": "c2lnMg=="},
        {"text": "", "thought": True, "thoughtSignature": "c2lnMw=="},
    ],
    ids=["text", "empty thought"],
)
def test_thought_signatures_on_other_parts(client, part):
    """case-33"""
    parts = [part, {"functionCall": {"id": "c", "name": "f", "args": {}}}]
    body = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    [_opening, content], _ = replayed(body, "gemini", client, "gemini")
    assert content["parts"] == parts


@pytest.mark.parametrize("client", [n for n in NAMES if n != "gemini"])
def test_calls_that_were_never_signed_say_so(client):
    """case-33: on the first call of a turn, with a note."""
    request = asking(user("hi"), assistant(call("f", id="call_1"), call("g", id="call_2")))
    wire, receipt = carried(request, client, "gemini", model="gemini-3-pro")
    calls = [part for part in wire.body["contents"][-1]["parts"] if "functionCall" in part]
    assert [part.get("thoughtSignature") for part in calls] == [
        "skip_thought_signature_validator",
        None,
    ]
    assert "default-added" in codes(receipt)


SIGNED = {
    "anthropic": {
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"},
            {"type": "text", "text": "So."},
        ],
        "stop_reason": "end_turn",
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Hm.", "thought": True, "thoughtSignature": "c2lnbmVk"},
                        {"text": "So."},
                    ],
                },
                "finishReason": "STOP",
            }
        ]
    },
    "openai-responses": {
        "status": "completed",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2lnbmVk"},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "So."}],
            },
        ],
    },
}


@pytest.mark.parametrize(
    ("upstream", "client"),
    [p for p in PAIRS if p[0] in SIGNED and "anthropic" not in p],
)
def test_no_other_signature_reaches_anthropic(upstream, client):
    """case-34"""
    messages, receipt = replayed(SIGNED[upstream], upstream, client, "anthropic")
    assert "c2lnbmVk" not in json.dumps(messages)
    assert "thinking" not in json.dumps(messages)
    assert "So." in json.dumps(messages)
    assert "reasoning-dropped" in codes(receipt)


@pytest.mark.parametrize("target", [n for n in NAMES if n != "anthropic"])
def test_a_native_signature_is_for_its_issuer_only(target):
    """case-34: straight from a client of the issuer's own protocol."""
    history = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "assistant", "content": SIGNED["anthropic"]["content"]}],
    }
    body, receipt = to(history, "anthropic", target)
    assert "c2lnbmVk" not in json.dumps(body)
    assert "reasoning-dropped" in codes(receipt)


def test_another_issuer_behind_the_same_protocol_is_another_issuer():
    """case-34: the caller says who issues; a carrier of one is not opened for another."""
    wire, _ = translate_response(
        SIGNED["anthropic"], source="anthropic", target="openai-chat", issuer="bedrock"
    )
    history = {"model": "m", "messages": [wire.body["choices"][0]["message"]]}
    body, receipt = to(history, "openai-chat", "anthropic", issuer="anthropic")
    assert "c2lnbmVk" not in json.dumps(body)
    assert "reasoning-dropped" in codes(receipt)
    body, _ = to(history, "openai-chat", "anthropic", issuer="bedrock")
    assert body["messages"][0]["content"] == SIGNED["anthropic"]["content"]


# --- case-35, case-36, case-37, case-38: reasoning in its place -----------------------------------

BLOCKS = [
    {"type": "thinking", "thinking": "one", "signature": "MQ=="},
    {"type": "text", "text": "So."},
    {"type": "thinking", "thinking": "two", "signature": "Mg=="},
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
    {"type": "tool_use", "id": "toolu_2", "name": "f", "input": {"a": 2}},
]


@pytest.mark.parametrize("client", [n for n in NAMES if n != "anthropic"])
def test_blocks_come_back_in_their_order(client):
    """case-35: interleaved thinking, byte for byte."""
    answered = {"content": BLOCKS, "stop_reason": "tool_use"}
    messages, _ = replayed(answered, "anthropic", client, "anthropic")
    assert messages == [{"role": "assistant", "content": BLOCKS}]


def test_blocks_pass_untouched_to_their_own_protocol():
    """case-35: settings too; nothing is made explicit."""
    body = {
        "model": "m",
        "max_tokens": 9,
        "thinking": {"type": "enabled", "budget_tokens": 5},
        "messages": [{"role": "assistant", "content": BLOCKS}],
    }
    wire, _ = translate_request(body, source="anthropic", target="anthropic", model="n")
    assert wire.body == {**body, "model": "n"}


DETAILS = [
    {"type": "reasoning.summary", "summary": "one"},
    {"type": "reasoning.text", "text": "two", "signature": "Mg=="},
    {"type": "reasoning.encrypted", "data": "xyz", "id": "r1"},
]


@pytest.mark.parametrize("client", [n for n in NAMES if n != "openai-chat"])
def test_reasoning_details_come_back(client):
    """case-35, case-37: all their kinds, on the same message."""
    message = {
        "role": "assistant",
        "content": None,
        "reasoning": "onetwo",
        "reasoning_details": DETAILS,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    }
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    [back], _ = replayed(body, "openai-chat", client, "openai-chat")
    assert back == message


def test_reasoning_details_from_a_client_are_not_dropped():
    """case-35"""
    message = {"role": "assistant", "content": "hi", "reasoning_details": DETAILS}
    body = {"model": "m", "messages": [message]}
    wire, _ = translate_request(body, source="openai-chat", target="openai-chat", model="n")
    assert wire.body["messages"] == [message]


@pytest.mark.parametrize("client", [n for n in NAMES if n != "openai-responses"])
def test_encrypted_reasoning_comes_back_exactly(client):
    """case-36: id, state and summary, and the request asks for such state again."""
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [
            {"type": "summary_text", "text": "one"},
            {"type": "summary_text", "text": "two"},
        ],
        "encrypted_content": "gAAA",
    }
    made = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"a": 1}'}
    body = {"status": "completed", "output": [item, made]}
    items, _ = replayed(body, "openai-responses", client, "openai-responses")
    assert items == [item, made]


@pytest.mark.parametrize("client", [n for n in NAMES if n != "openai-responses"])
def test_state_is_asked_for_and_nothing_is_stored(client):
    """case-36"""
    request = asking(user("hi"), reasoning=ir.ReasoningSettings(effort="high", enabled=True))
    wire, _ = carried(request, client, "openai-responses")
    assert wire.body["store"] is False
    assert wire.body["include"] == ["reasoning.encrypted_content"]


def test_no_carrier_reaches_a_provider():
    """case-36: neither in the same protocol nor in another."""
    body = {"status": "completed", "output": SIGNED["openai-responses"]["output"]}
    for target in NAMES:
        messages, _ = replayed(body, "openai-responses", "anthropic", target)
        assert "tg1." not in json.dumps(messages)


@pytest.mark.parametrize(("source", "target"), [p for p in PAIRS if SURFACES[p[0]].system.later])
def test_system_text_between_messages_stays_in_place(source, target):
    """case-36: where the target can have it there."""
    note = ir.Message(role="system", parts=(ir.Text(text="The time is noon."),))
    wire, receipt = carried(asking(user("hi"), note, user("go")), source, target)
    there = toolglot.decode_request(wire.body, source=target, path=wire.path)
    text = words(there)
    assert text.index("hi") < text.index("The time is noon.") < text.index("go")
    assert there.system is None
    if not SURFACES[target].system.later:
        assert "system-moved" in codes(receipt)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("client", [n for n in NAMES if n != "openai-chat"])
def test_reasoning_content_comes_back(client, field):
    """case-37: in the member that it came in."""
    message = {
        "role": "assistant",
        "content": "So.",
        field: "Hm.",
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    }
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    [back], _ = replayed(body, "openai-chat", client, "openai-chat")
    assert back == message


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_content_beside_reasoning_is_not_lost(field):
    """case-38"""
    message = {"role": "assistant", "content": "hello", field: "Hm."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    wire, _ = translate_response(body, source="openai-chat", target="anthropic")
    thinking, text = wire.body["content"]
    assert (thinking["type"], thinking["thinking"]) == ("thinking", "Hm.")
    assert text == {"type": "text", "text": "hello"}


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_reasoning_and_content_are_both_shown(source, target):
    """case-38"""
    response = seen(answer(ir.Reasoning(text="Hm."), "hello"), source, target)
    assert words(response) == "hello"
    shown_words = "".join(
        part.text + "".join(part.summary) for part in parts_of(response, ir.Reasoning)
    )
    assert shown_words.count("Hm.") == 1


# --- case-39: thinking and its contradictions -----------------------------------------------------


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "gemini", "ollama"])
def test_no_thinking_before_an_answer_that_is_begun(source):
    """case-39"""
    reasoning = ir.ReasoningSettings(enabled=True, effort="high")
    request = asking(user("hi"), assistant("{"), reasoning=reasoning)
    wire, receipt = carried(request, source, "anthropic")
    assert wire.body["thinking"] == {"type": "disabled"}
    there = toolglot.decode_request(wire.body, source="anthropic")
    assert (there.messages[-1].role, words(there.messages[-1])) == ("assistant", "{")
    assert "prefill-changed" in codes(receipt)


@pytest.mark.parametrize("target", [n for n in NAMES if n != "anthropic"])
def test_no_effort_for_thinking_that_is_off(target):
    """case-39"""
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": HI,
        "thinking": {"type": "disabled"},
        "output_config": {"effort": "high"},
    }
    there, receipt = to(body, "anthropic", target)
    reasoning = toolglot.decode_request(there, source=target, path=path_to(target)).reasoning
    # Where it is never off, there is the least effort.
    least = "minimal" if target == "gemini-interactions" else "none"
    assert reasoning is None or reasoning.effort in (None, least)
    assert "high" not in json.dumps(there)
    assert {"field-dropped", "value-mapped"} & codes(receipt)


# --- case-40: cache marks -------------------------------------------------------------------------


def marked(count: int) -> ir.Request:
    """A request with this many cache marks, in the order in which they are rendered."""
    mark = ir.CacheMark()
    texts = [ir.Text(text=f"t{n}", cache=mark) for n in range(max(count - 2, 0))]
    return asking(
        user(*texts, "end"),
        tools=(tool("f", cache=mark),),
        system=ir.Message(role="system", parts=(ir.Text(text="s", cache=mark),)),
    )


def marks(node: Any) -> int:
    """How often something is marked."""
    return json.dumps(node).count("cache_control")


@pytest.mark.parametrize(("count", "kept"), [(3, 3), (4, 4), (5, 4), (6, 4), (9, 4)])
def test_no_more_marks_than_are_legal(count, kept):
    """case-40: the earliest go, tools before system before messages."""
    wire, receipt = carried(marked(count), "openai-chat", "anthropic")
    body = wire.body
    found = [
        marks(body["tools"]),
        marks(body["system"]),
        *map(marks, body["messages"][0]["content"]),
    ]
    total = [1, 1, *[1] * (count - 2), 0]
    excess = count - kept
    assert found == [0] * excess + total[excess:]
    assert ("cache-dropped" in codes(receipt)) == (count > 4)


def test_marks_in_items_of_responses_clients():
    """case-40: on the last block of that item."""
    content = [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]
    item = {"role": "user", "content": content, "cache_control": {"type": "ephemeral"}}
    body, _ = to({"model": "m", "input": [item]}, "openai-responses", "anthropic")
    first, second = body["messages"][0]["content"]
    assert "cache_control" not in first
    assert second["cache_control"] == {"type": "ephemeral"}


def test_marks_in_parts_of_responses_clients():
    """case-40: on the block of that part, and on a result by itself."""
    text = {
        "type": "input_text",
        "text": "one",
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
    }
    made = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    done = {"type": "function_call_output", "call_id": "c", "output": "done"}
    items = [
        {"role": "user", "content": [text, {"type": "input_text", "text": "two"}]},
        made,
        {**done, "cache_control": {"type": "ephemeral"}},
    ]
    body, _ = to({"model": "m", "input": items}, "openai-responses", "anthropic")
    assert body["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert body["messages"][2]["content"][0]["cache_control"] == {"type": "ephemeral"}
    wire, _ = translate_request(
        {"model": "m", "input": items},
        source="openai-responses",
        target="openai-responses",
        model="n",
    )
    assert wire.body["input"] == items


def test_marks_of_chat_clients_stay_in_chat():
    """case-40"""
    content = [{"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}]
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    wire, _ = translate_request(body, source="openai-chat", target="openai-chat", model="n")
    assert wire.body["messages"] == body["messages"]


# --- case-41: order -------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_properties_keep_their_order(source, target):
    """case-41: in structured output, where the answer follows it."""
    schema = {
        "type": "object",
        "properties": {"z": {"type": "string"}, "a": {"type": "string"}, "m": {"type": "string"}},
        "required": ["z", "a", "m"],
        "additionalProperties": False,
    }
    output = ir.OutputFormat(kind="schema", schema=schema, name="report")
    there = across(asking(user("hi"), output=output), source, target)
    assert there.output is not None
    assert json.dumps(there.output.schema) == json.dumps(schema)


# --- case-43: fields that a target does not know --------------------------------------------------


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "ollama"])
def test_structured_output_is_mapped(target):
    """case-43"""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": HI,
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }
    there, _ = to(body, "anthropic", target)
    output = toolglot.decode_request(there, source=target, path=path_to(target)).output
    assert output is not None
    assert (output.kind, output.schema) == ("schema", schema)


@pytest.mark.parametrize("effort", ["low", "medium", "high", "xhigh", "max"])
@pytest.mark.parametrize("target", [n for n in NAMES if n != "anthropic"])
def test_efforts_are_mapped(target, effort):
    """case-43: or the nearest one is told, with a note."""
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": HI,
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": effort},
    }
    there, receipt = to(body, "anthropic", target)
    reasoning = toolglot.decode_request(there, source=target, path=path_to(target)).reasoning
    assert reasoning is not None
    if effort in SURFACES[target].reasoning.efforts:
        assert reasoning.effort == effort
    else:
        assert reasoning.effort == SURFACES[target].reasoning.efforts[-1]
        assert "value-mapped" in codes(receipt)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_unknown_fields_are_left_out_and_named(source, target):
    """case-43"""
    body = said(asking(user("hi")), source) | {"model": "some-model", "xNewThing": {"on": True}}
    wire, receipt = translate_request(body, source=source, target=target)
    assert "xNewThing" not in wire.data().decode()
    assert ("field-unknown", "xNewThing") in {(n.code, n.path) for n in receipt.losses}


# --- case-44: stop reasons and errors -------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "finish", "exact"),
    [
        ("end_turn", "stop", True),
        ("stop_sequence", "stop", True),
        ("max_tokens", "length", True),
        ("tool_use", "tool_calls", True),
        ("refusal", "content_filter", False),
        ("sensitive", "content_filter", True),
        ("pause_turn", "stop", False),
        ("model_context_window_exceeded", "length", False),
    ],
)
def test_stop_reasons_for_chat(word, finish, exact):
    """case-44, S1-21: by a table, with a report where a word is not quite the same."""
    body = {"content": [{"type": "text", "text": "hi"}], "stop_reason": word}
    wire, receipt = translate_response(body, source="anthropic", target="openai-chat")
    assert wire.body["choices"][0]["finish_reason"] == finish
    assert any(note.code == "stop-mapped" for note in receipt.losses) == (not exact)


@pytest.mark.parametrize(
    "kind",
    ["end", "length", "tool_calls", "content_filter", "refusal", "pause", "context_window"],
)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_stop_reasons_mean_the_same_or_are_reported(source, target, kind):
    """case-44"""
    parts = [call("f")] if kind == "tool_calls" else ["hi"]
    first = toolglot.encode_response(answer(*parts, stop=kind), target=source)
    said_kind = toolglot.decode_response(first.body, source=source).choices[0].stop.kind
    wire, receipt = translate_response(first.body, source=source, target=target)
    told = toolglot.decode_response(wire.body, source=target).choices[0].stop.kind
    assert told == said_kind or "stop-mapped" in codes(receipt)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 529])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_faults_stay_on_their_side(source, target, status):
    """case-44: a client's fault is not made the server's, nor worth trying again if it was not."""
    wire, _ = translate_response(
        {"error": {"message": "no"}}, source=source, target=target, status=status
    )
    assert wire.status // 100 == status // 100
    assert (wire.status == 429) == (status == 429)


@pytest.mark.parametrize("status", [429, 529, 503])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_how_long_to_wait_is_told(source, target, status):
    """case-44: whatever the case of the header was."""
    wire, _ = translate_response(
        {"error": {"message": "slow down"}},
        source=source,
        target=target,
        status=status,
        headers={"Retry-After": "7"},
    )
    assert wire.headers["retry-after"] == "7"


# --- case-50: arguments that are no object --------------------------------------------------------


@pytest.mark.parametrize("arguments", ["", "null", None, " "])
@pytest.mark.parametrize("target", [n for n in NAMES if n != "openai-chat"])
def test_no_arguments_are_an_empty_object(target, arguments):
    """case-50: in answers and in the history."""
    function = {"name": "f"} if arguments is None else {"name": "f", "arguments": arguments}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    wire, _ = translate_response(
        {"choices": [{"message": message, "finish_reason": "tool_calls"}]},
        source="openai-chat",
        target=target,
    )
    response = toolglot.decode_response(wire.body, source=target)
    assert [each.arguments for each in parts_of(response, ir.ToolCall)] == ["{}"]
    body, _ = to({"model": "m", "messages": [message]}, "openai-chat", target)
    request = toolglot.decode_request(body, source=target, path=path_to(target))
    assert [each.arguments for each in parts_of(request, ir.ToolCall)] == ["{}"]


@pytest.mark.parametrize("arguments", ['"plain"', '[1,"two"]', "42", "true", "3.5"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_values_that_are_no_object_survive(source, target, arguments):
    """case-50: wrapped where an object is wanted, and unwrapped again."""
    request = asking(user("hi"), assistant(call("f", arguments)), user(result("done")))
    for there in (across(request, source, target), home(request, source, target)):
        [made] = parts_of(there, ir.ToolCall)
        assert made.arguments == arguments
    wire, _ = carried(request, source, target)
    if SURFACES[target].calls.arguments == "object":
        assert "$value" in wire.data().decode()


ODD_ANSWERS = {
    "anthropic": lambda value: {
        "content": [
            {"type": "tool_use", "id": "c", "name": "f", "input": value},
            {"type": "tool_use", "id": "d", "name": "g", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
    },
    "gemini": lambda value: {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"functionCall": {"id": "c", "name": "f", "args": value}},
                        {"functionCall": {"id": "d", "name": "g", "args": {"a": 1}}},
                    ],
                },
                "finishReason": "STOP",
            }
        ]
    },
    "ollama": lambda value: {
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "c", "function": {"name": "f", "arguments": value}},
                {"id": "d", "function": {"name": "g", "arguments": {"a": 1}}},
            ],
        },
        "done": True,
        "done_reason": "stop",
    },
}
"""Answers of protocols that have arguments as an object, with one call that has something else."""

ODD_TURNS = {
    "anthropic": lambda body: {"role": "assistant", "content": body["content"]},
    "gemini": lambda body: body["candidates"][0]["content"],
    "ollama": lambda body: body["message"],
}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", '"plain"'),
        ([1, "two"], '[1,"two"]'),
        (42, "42"),
        (True, "true"),
        ("42", '"42"'),
        ('{"x":1}', '{"x":1}'),
        ('{"x": ', '{"x": '),
        ("", "{}"),
    ],
)
@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", ODD_ANSWERS)
def test_a_value_in_place_of_an_object_harms_nothing(source, target, value, text):
    """case-50, D-11: neither the answer nor the conversation, in protocols that want an object."""
    body = ODD_ANSWERS[source](value)
    wire, receipt = translate_response(body, source=source, target=target)
    calls = parts_of(toolglot.decode_response(wire.body, source=target), ir.ToolCall)
    assert [(each.name, each.arguments) for each in calls] == [("f", text), ("g", '{"a":1}')]
    assert "arguments-normalised" in codes(receipt)
    key = "contents" if source == "gemini" else "messages"
    asked, _ = to({"model": "m", "max_tokens": 9, key: [ODD_TURNS[source](body)]}, source, target)
    calls = parts_of(
        toolglot.decode_request(asked, source=target, path=path_to(target)), ir.ToolCall
    )
    assert [(each.name, each.arguments) for each in calls] == [("f", text), ("g", '{"a":1}')]


@pytest.mark.parametrize("value", ["plain", [1, "two"], 42, True])
@pytest.mark.parametrize("target", NAMES)
def test_a_value_in_place_of_an_object_harms_no_stream(target, value):
    """case-50"""
    block = {"type": "tool_use", "id": "c", "name": "f", "input": value}
    events = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "model": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    data = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    translator = toolglot.StreamTranslator("anthropic", target, watch=True)
    written = translator.feed(data.encode()) + translator.close()
    assert translator.error is None
    decoder = toolglot.get_protocol(target).StreamDecoder(toolglot.Context())
    response = toolglot.events.fold([*decoder.feed(written), *decoder.close()])
    [made] = parts_of(response, ir.ToolCall)
    assert arguments(made) == value


@pytest.mark.parametrize("arguments", ['{"a":1', "rm -rf", '{"a":NaN}'])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_arguments_that_are_cut_are_reported_not_repaired(source, target, arguments):
    """case-50, D-11"""
    request = asking(user("hi"), assistant(call("f", arguments)), user(result("done")))
    wire, receipt = carried(request, source, target)
    [made] = parts_of(
        toolglot.decode_request(wire.body, source=target, path=path_to(target)), ir.ToolCall
    )
    assert made.arguments == arguments
    textual = SURFACES[target].calls.arguments == "text"
    assert textual or "arguments-invalid" in codes(receipt)
    response = answer(call("f", arguments), stop="length")
    [made] = parts_of(seen(response, source, target), ir.ToolCall)
    assert made.arguments == arguments
    assert shown(response, source, target)[0].status == 200


# --- case-24 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("forced", [True, False])
def test_no_tool_is_forced_while_anthropic_thinks(source, forced):
    """case-24: forcing gives way to thinking with a budget, in sight; otherwise it stays."""
    tool: dict = {"name": "look", "parameters": {"type": "object"}}
    chat = source == "openai-chat"
    body: dict = {
        "model": "m",
        "tools": [{"type": "function", "function": tool} if chat else {"type": "function", **tool}],
        "tool_choice": "required" if forced else "auto",
        "messages" if chat else "input": [{"role": "user", "content": "hi"}],
    }
    thinking = {"reasoning_effort": "high"} if chat else {"reasoning": {"effort": "high"}}
    adaptive, _ = toolglot.translate_request(
        {**body, **thinking}, source=source, target="anthropic"
    )
    assert adaptive.body["thinking"]["type"] == "adaptive"
    assert adaptive.body["tool_choice"]["type"] == ("any" if forced else "auto")
    wire, receipt = toolglot.translate_request(
        {**body, **thinking}, source=source, target="anthropic", reasoning="budget"
    )
    assert wire.body["thinking"]["type"] == "enabled"
    assert wire.body["tool_choice"]["type"] == "auto"
    assert ("choice-mapped" in receipt.codes()) == forced
    calm, _ = toolglot.translate_request(body, source=source, target="anthropic")
    assert calm.body["tool_choice"]["type"] == ("any" if forced else "auto")
