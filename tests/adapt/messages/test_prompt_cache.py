"""Marks for the provider's prompt cache."""

import json

import pytest
from msgspec.structs import replace
from tests.wires import asking, assistant, call, carried, pair, result, tool, user

from toolglot import Context, Options, ir, translate_request
from toolglot.adapt import adapt_request
from toolglot.adapt.messages.prompt_cache import LONG_PROMPT, adapt_cache_marks
from toolglot.ir import CacheMark, Message, Text, ToolResult
from toolglot.registry import PROTOCOLS, get_protocol

MARK = CacheMark()
EPHEMERAL = {"type": "ephemeral"}
UNMARKED = [name for name in PROTOCOLS if not get_protocol(name).SURFACE.cache.marks]
SYSTEM = Message(role="system", parts=(Text(text="Be brief."),))
LONG = "x" * LONG_PROMPT
TALK = (
    user("one"),
    assistant(call("f")),
    user(result("two", name="f")),
    assistant("three"),
    user("four"),
)


def codes(ctx):
    return [note.code for note in ctx.receipt()]


def marked(request):
    """Where the marks of a request stand."""
    places = [f"tools[{i}]" for i, each in enumerate(request.tools) if getattr(each, "cache", None)]
    messages = [("system", request.system)] if request.system else []
    messages += [(f"messages[{i}]", message) for i, message in enumerate(request.messages)]
    for name, message in messages:
        for index, part in enumerate(message.parts):
            if getattr(part, "cache", None):
                places.append(f"{name}[{index}]")
    return places


def set_on(request, source="openai-chat", **options):
    """The places of the marks that are set on a request for Claude, and the notes."""
    ctx = pair(source, "anthropic", options=Options(**options))
    return marked(adapt_cache_marks(request, ctx)), codes(ctx)


# --- setting marks --------------------------------------------------------------------------------


def test_tools_system_and_the_last_two_turns_are_marked():
    places, notes = set_on(asking(*TALK, system=SYSTEM, tools=(tool("e"), tool("f"))))
    assert places == ["tools[1]", "system[0]", "messages[2][0]", "messages[4][0]"]
    assert notes == ["cache-marked"] * 4


@pytest.mark.parametrize("source", UNMARKED)
def test_a_client_without_marks_gets_them(source):
    request = asking(*TALK, system=SYSTEM, tools=(tool("e"), tool("f")))
    wire, receipt = carried(request, source, "anthropic")
    body = wire.body
    assert body["tools"][1]["cache_control"] == EPHEMERAL
    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": EPHEMERAL}]
    assert body["messages"][2]["content"][0]["cache_control"] == EPHEMERAL
    assert body["messages"][2]["content"][0]["type"] == "tool_result"
    assert body["messages"][4]["content"][0]["cache_control"] == EPHEMERAL
    assert json.dumps(body).count("cache_control") == 4
    paths = {note.path for note in receipt if note.code == "cache-marked"}
    assert {"system[0]", "messages[2].content[0]", "messages[4].content[0]"} < paths
    assert not receipt.losses


@pytest.mark.parametrize("source", UNMARKED)
def test_off_means_off(source):
    request = asking(*TALK, system=SYSTEM, tools=(tool("f"),))
    wire, receipt = carried(request, source, "anthropic", prompt_cache="off")
    assert "cache_control" not in json.dumps(wire.body)
    assert "cache-marked" not in receipt.codes()


@pytest.mark.parametrize("target", UNMARKED)
def test_a_provider_without_marks_gets_none(target):
    request = asking(*TALK, system=SYSTEM, tools=(tool("f"),))
    wire, receipt = carried(request, "openai-chat", target)
    assert "cache_control" not in json.dumps(wire.body)
    assert "cache-marked" not in receipt.codes()


def test_marks_of_the_client_are_the_only_ones():
    request = asking(user(Text(text="one", cache=MARK)), *TALK[1:], tools=(tool("f"),))
    ctx = pair("openai-chat", "anthropic")
    assert adapt_cache_marks(request, ctx) is request


def test_a_client_that_could_have_marked_and_did_not_is_left_alone():
    ctx = Context(
        source=get_protocol("anthropic").SURFACE, target=marking(get_protocol("openai-chat"))
    )
    request = asking(*TALK, tools=(tool("f"),))
    assert adapt_cache_marks(request, ctx) is request


def test_a_short_conversation_without_tools_is_not_marked():
    request = asking(user("one"), assistant("two"), user("three"), system=SYSTEM)
    assert set_on(request) == ([], [])


def test_a_long_conversation_is_marked():
    request = asking(user(LONG), assistant("two"), user("three"), system=SYSTEM)
    assert set_on(request)[0] == ["system[0]", "messages[0][0]", "messages[2][0]"]


def test_the_length_of_a_prompt_is_that_of_all_its_texts():
    half = "x" * (LONG_PROMPT // 2)
    assert set_on(asking(user(half), assistant("x" * (LONG_PROMPT // 2 - 2)), user("x")))[0] == []
    assert set_on(asking(user(half), assistant(half), user("x")))[0] != []


def test_media_are_long():
    picture = ir.Image(source=ir.Remote(url="https://pictures.example/heron.png"))
    places, _ = set_on(asking(user(picture), assistant("two"), user("three")))
    assert places == ["messages[0][0]", "messages[2][0]"]


def test_one_question_is_not_worth_writing_but_its_system_text_is():
    long = Message(role="system", parts=(Text(text=LONG),))
    assert set_on(asking(user(LONG), system=SYSTEM))[0] == []
    assert set_on(asking(user(LONG), system=long))[0] == ["system[0]"]


def test_one_question_with_tools_begins_a_conversation():
    places, _ = set_on(asking(user("one"), tools=(tool("f"),)))
    assert places == ["tools[0]", "messages[0][0]"]


def test_tools_that_are_told_as_text_count_as_tools():
    request = asking(user("one"), tools=(tool("f"),))
    wire, _ = carried(request, "openai-chat", "anthropic", tools="emulated")
    assert wire.body["system"][-1]["cache_control"] == EPHEMERAL
    assert wire.body["messages"][0]["content"][0]["cache_control"] == EPHEMERAL


@pytest.mark.parametrize(
    "refuses",
    [
        Text(text=""),
        Text(text=" \n"),
        ir.Reasoning(text="hm"),
        ir.Refusal(text="no"),
        ir.Opaque(protocol="anthropic", type="odd", value={"type": "odd"}),
    ],
)
def test_what_takes_no_mark_gets_none(refuses):
    request = asking(user("one", refuses), tools=(tool("f"),))
    assert set_on(request)[0] == ["tools[0]", "messages[0][0]"]
    assert set_on(asking(user(refuses), tools=(tool("f"),)))[0] == ["tools[0]"]


def test_nothing_is_marked_inside_a_result():
    ctx = pair("openai-chat", "anthropic")
    there = adapt_cache_marks(asking(*TALK[:3], tools=(tool("f"),)), ctx)
    [answered] = there.messages[2].parts
    assert (answered.cache, answered.parts[0].cache) == (MARK, None)


def test_system_text_between_messages_ends_no_turn():
    later = Message(role="system", parts=(Text(text="now"),))
    request = asking(user("one"), later, user("two"), assistant("three"), tools=(tool("f"),))
    assert set_on(request)[0] == ["tools[0]", "messages[2][0]"]


def test_the_last_function_is_marked_where_others_follow_it():
    search = ir.ProviderTool(protocol="anthropic", type="web_search", value={})
    assert set_on(asking(user("one"), tools=(tool("f"), search)))[0] == [
        "tools[0]",
        "messages[0][0]",
    ]
    assert set_on(asking(user("one"), tools=(search,)))[0] == ["messages[0][0]"]


@pytest.mark.parametrize(
    ("most", "places"),
    [
        (1, ["messages[4][0]"]),
        (2, ["system[0]", "messages[4][0]"]),
        (3, ["system[0]", "messages[2][0]", "messages[4][0]"]),
        (None, ["tools[0]", "system[0]", "messages[2][0]", "messages[4][0]"]),
    ],
)
def test_the_most_useful_marks_are_set_where_fewer_are_taken(most, places):
    surface = get_protocol("anthropic").SURFACE
    target = replace(surface, cache=replace(surface.cache, max_marks=most))
    ctx = Context(source=get_protocol("openai-chat").SURFACE, target=target)
    request = asking(*TALK, system=SYSTEM, tools=(tool("f"),))
    assert marked(adapt_cache_marks(request, ctx)) == places


# --- marks on the way to a Chat server that takes them --------------------------------------------


def marking(protocol):
    """The surface of a protocol whose server takes marks, as OpenRouter's does for Claude."""
    surface = protocol.SURFACE
    return replace(surface, cache=replace(surface.cache, marks=True, max_marks=4))


def chat(request, source="anthropic"):
    """A request as a Chat server gets it that takes marks, and the notes."""
    protocol = get_protocol("openai-chat")
    ctx = Context(source=get_protocol(source).SURFACE, target=marking(protocol))
    return protocol.encode_request(adapt_request(request, ctx), ctx).body, codes(ctx)


def test_marks_reach_a_chat_server_that_takes_them():
    body, notes = chat(
        asking(
            user(Text(text="one", cache=MARK)),
            assistant(Text(text="a", cache=CacheMark(ttl="1h")), Text(text="b"), call("f")),
            user(ToolResult(id="call_1", parts=(Text(text="two"),), cache=MARK)),
            system=Message(role="system", parts=(Text(text="s", cache=MARK),)),
        )
    )
    lead, question, said, answered = body["messages"]
    assert lead["content"] == [{"type": "text", "text": "s", "cache_control": EPHEMERAL}]
    assert question["content"] == [{"type": "text", "text": "one", "cache_control": EPHEMERAL}]
    hour = {"type": "ephemeral", "ttl": "1h"}
    assert said["content"] == [{"type": "text", "text": "ab", "cache_control": hour}]
    assert answered["content"] == [{"type": "text", "text": "two", "cache_control": EPHEMERAL}]
    assert "cache-dropped" not in notes


def test_tools_keep_their_marks_for_a_chat_server_that_takes_them():
    body, _ = chat(asking(user("one"), tools=(tool("f", cache=MARK),)))
    assert body["tools"][0]["cache_control"] == EPHEMERAL


def test_a_mark_inside_a_result_is_the_results():
    inner = (Text(text="a", cache=MARK), Text(text="b"))
    body, _ = chat(asking(assistant(call("f")), user(ToolResult(id="call_1", parts=inner))))
    text = {"type": "text", "text": "a\nb", "cache_control": EPHEMERAL}
    assert body["messages"][1]["content"] == [text]


def test_an_empty_result_and_a_call_have_no_place_for_a_mark():
    made = replace(call("f"), cache=MARK)
    body, notes = chat(asking(assistant(made), user(ToolResult(id="call_1", cache=MARK))))
    assert "cache_control" not in json.dumps(body)
    assert body["messages"][1]["content"] == ""
    assert notes.count("cache-dropped") == 2


def test_marks_are_set_for_other_clients_of_such_a_server():
    body, notes = chat(asking(*TALK, system=SYSTEM, tools=(tool("f"),)), "gemini")
    assert json.dumps(body).count("cache_control") == 4
    lead, *_, last = body["messages"]
    assert lead["content"][0]["cache_control"] == EPHEMERAL
    assert last["content"][0]["cache_control"] == EPHEMERAL
    assert notes.count("cache-marked") == 4


# --- too many marks -------------------------------------------------------------------------------


def marked_request():
    inner = Text(text="i", cache=MARK)
    return asking(
        user(Text(text="1", cache=MARK), Text(text="2", cache=MARK)),
        user(ToolResult(id="c", parts=(inner,), cache=MARK)),
        tools=(tool("f", cache=MARK), ir.ProviderTool(protocol="x", type="t", value={})),
        system=Message(role="system", parts=(Text(text="s", cache=MARK),)),
    )


def test_the_earliest_marks_go():
    """case-40: tools, then system, then messages; what is inside a result before the result."""
    ctx = pair("openai-chat", "anthropic")
    there = adapt_cache_marks(marked_request(), ctx)
    assert there.tools[0].cache is None
    assert there.system.parts[0].cache is None
    assert [part.cache for part in there.messages[0].parts] == [MARK, MARK]
    [answered] = there.messages[1].parts
    assert (answered.parts[0].cache, answered.cache) == (MARK, MARK)
    assert codes(ctx) == ["cache-dropped"]


def test_four_marks_are_legal():
    """case-40"""
    ctx = pair("openai-chat", "anthropic")
    request = asking(user(*[Text(text=str(n), cache=MARK) for n in range(4)]))
    assert adapt_cache_marks(request, ctx) is request
    assert codes(ctx) == []


def test_marks_inside_results_count():
    ctx = pair("openai-chat", "anthropic")
    inner = tuple(Text(text=str(n), cache=MARK) for n in range(6))
    there = adapt_cache_marks(asking(user(ToolResult(id="c", parts=inner))), ctx)
    [answered] = there.messages[0].parts
    assert [part.cache for part in answered.parts] == [None, None, MARK, MARK, MARK, MARK]


def test_a_target_without_a_maximum_takes_all():
    ctx = pair("anthropic", "openai-chat")
    request = marked_request()
    assert adapt_cache_marks(request, ctx) is request


# --- providers that take more or less than their protocol -----------------------------------------

LONG_ASK = {
    "model": "anthropic/claude-sonnet-4.5",
    "messages": [
        {"role": "system", "content": "Be brief. " * 200},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Go on"},
    ],
}


def test_a_chat_client_of_claude_behind_a_router_gets_marks():
    """OR-020: nothing is cached there without marks."""
    wire, receipt = translate_request(
        LONG_ASK, source="openai-chat", target="openai-chat", provider="openrouter"
    )
    marked = [
        message["role"]
        for message in wire.body["messages"]
        if isinstance(message["content"], list) and "cache_control" in message["content"][-1]
    ]
    assert marked == ["system", "user", "user"]
    assert {note.code for note in receipt} == {"cache-marked"}


def test_a_chat_client_that_marks_by_itself_is_left_alone():
    for asked in (
        {**LONG_ASK, "cache_control": {"type": "ephemeral"}},
        {
            **LONG_ASK,
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}
                    ],
                }
            ],
        },
        {**LONG_ASK, "model": "openai/gpt-5.4"},
    ):
        wire, receipt = translate_request(
            asked, source="openai-chat", target="openai-chat", provider="openrouter"
        )
        assert wire.body == asked
        assert not receipt
    unmarked, _ = translate_request(
        LONG_ASK,
        source="openai-chat",
        target="openai-chat",
        provider="openrouter",
        prompt_cache="off",
    )
    assert unmarked.body == LONG_ASK


WHOLE = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 9,
    "cache_control": {"type": "ephemeral", "ttl": "1h"},
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
}
MARKED = [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]


@pytest.mark.parametrize("provider", ["bedrock", "vertex"])
def test_a_mark_on_a_whole_request_is_set_on_its_last_part_where_it_is_refused(provider):
    wire, receipt = translate_request(
        WHOLE, source="anthropic", target="anthropic", provider=provider
    )
    assert "cache_control" not in wire.body
    assert wire.body["messages"][0]["content"] == MARKED
    assert [note.code for note in receipt] == ["cache-marked"]


def test_a_mark_on_a_whole_request_reaches_another_protocol():
    wire, _ = translate_request(
        WHOLE,
        source="anthropic",
        target="openai-chat",
        provider="openrouter",
        model="anthropic/claude-sonnet-4.5",
    )
    assert wire.body["messages"][0]["content"] == MARKED


def test_a_mark_on_a_whole_request_stays_where_it_is_taken():
    wire, receipt = translate_request(
        WHOLE, source="anthropic", target="anthropic", provider="anthropic"
    )
    assert wire.body == WHOLE
    assert not receipt


def test_marks_on_tools_are_dropped_where_only_those_are_refused():
    """FW-013"""
    schema = {"type": "object", "properties": {}}
    tools = [{"name": "f", "input_schema": schema, "cache_control": {"type": "ephemeral"}}]
    asked = {key: value for key, value in WHOLE.items() if key != "cache_control"}
    asked = {**asked, "tools": tools, "messages": [{"role": "user", "content": MARKED}]}
    wire, receipt = translate_request(
        asked, source="anthropic", target="anthropic", provider="fireworks"
    )
    assert "cache_control" not in wire.body["tools"][0]
    assert wire.body["messages"][0]["content"] == MARKED
    assert [(note.code, note.path) for note in receipt] == [("cache-dropped", "tools[0]")]
