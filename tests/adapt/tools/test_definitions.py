"""Tool definitions and tool choice."""

import pytest
from msgspec.structs import replace
from tests.wires import asking, pair, tool, user

from toolglot import Options, ir, translate_request
from toolglot.adapt.tools.definitions import (
    EMPTY_SCHEMA,
    adapt_choice,
    adapt_tools,
    limit_strict,
)
from toolglot.ir import FunctionTool, ProviderTool, ReasoningSettings, ToolChoice

OPTIONAL = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "string", "description": "Optional."}},
    "required": ["a", "b"],
}


def notes(ctx):
    return [(note.code, note.path) for note in ctx.receipt()]


def adapted(source, target, *tools, options=None):
    ctx = pair(source, target)
    ctx.options = options or Options()
    return adapt_tools(asking(user("hi"), tools=tools), ctx).tools, ctx


def test_no_tools_are_no_question():
    ctx = pair("anthropic", "openai-chat")
    request = asking(user("hi"))
    assert adapt_tools(request, ctx) is request


def test_strict_is_said_where_there_is_such_a_thing():
    [found], ctx = adapted("anthropic", "openai-chat", tool("f"))
    assert found.strict is False
    assert [code for code, _ in notes(ctx)] == ["strict-added"]


def test_strict_is_dropped_where_there_is_none():
    [found], ctx = adapted("openai-chat", "gemini", tool("f", strict=False))
    assert found.strict is None
    assert notes(ctx) == [("field-dropped", "tools[0].function.strict")]


@pytest.mark.parametrize("schema", [None, {}])
def test_an_empty_schema_is_written_out(schema):
    given = FunctionTool(name="f", parameters=schema, strict=True)
    [found], ctx = adapted("anthropic", "openai-chat", given)
    assert found.parameters == EMPTY_SCHEMA
    assert notes(ctx) == [("schema-default", "tools[0]")]


def test_what_is_optional_is_no_longer_required():
    given = FunctionTool(name="f", parameters=OPTIONAL, strict=False)
    [found], ctx = adapted("anthropic", "openai-chat", given)
    assert found.parameters["required"] == ["a"]
    assert notes(ctx) == [("required-filtered", "tools[0]")]
    assert "b" in next(iter(ctx.receipt())).message
    assert OPTIONAL["required"] == ["a", "b"]


@pytest.mark.parametrize(
    ("source", "target", "strict", "options"),
    [
        ("anthropic", "openai-chat", False, Options(filter_required=False)),
        ("anthropic", "openai-chat", True, None),
        ("openai-chat", "anthropic", False, None),
        ("openai-chat", "openai-responses", False, None),
    ],
    ids=["switched off", "strict", "to anthropic", "not from anthropic"],
)
def test_requirements_are_left_alone_otherwise(source, target, strict, options):
    given = FunctionTool(name="f", parameters=OPTIONAL, strict=strict)
    [found], ctx = adapted(source, target, given, options=options)
    assert found.parameters is OPTIONAL
    assert notes(ctx) == []


def test_cache_marks_go_where_there_are_none():
    given = tool("f", strict=False, cache=ir.CacheMark())
    [found], ctx = adapted("anthropic", "openai-responses", given)
    assert found.cache is None
    assert notes(ctx) == [("cache-dropped", "tools[0]")]


def test_a_providers_own_tool_is_dropped_for_others():
    search = ProviderTool(protocol="anthropic", type="new_thing", value={"type": "new_thing"})
    tools, ctx = adapted("anthropic", "ollama", tool("f"), search)
    assert [each.name for each in tools] == ["f"]
    assert notes(ctx) == [("tool-dropped", "tools[1]")]


def test_a_tool_that_fits_is_the_same_one():
    custom = ir.CustomTool(name="patch")
    (first, second), ctx = adapted(
        "openai-responses", "openai-chat", custom, given := tool("f", strict=False)
    )
    assert first is custom
    assert second is given
    assert notes(ctx) == []


# --- choice ---------------------------------------------------------------------------------------


F = (tool("f"),)


def chosen(target, choice, *, source="openai-chat", parallel=None, tools=F):
    ctx = pair(source, target)
    request = asking(user("hi"), tools=tools, tool_choice=choice, parallel_tool_calls=parallel)
    return adapt_choice(request, ctx), ctx


@pytest.mark.parametrize("mode", ["auto", "required", "none"])
def test_a_choice_that_is_known_stays(mode):
    request, ctx = chosen("anthropic", choice := ToolChoice(mode=mode))
    assert request.tool_choice is choice
    assert notes(ctx) == []


def test_no_choice_without_tools():
    request, ctx = chosen("anthropic", ToolChoice(mode="auto"), parallel=False, tools=())
    assert (request.tool_choice, request.parallel_tool_calls) == (None, None)
    assert notes(ctx) == [("field-dropped", "tool_choice")]


def test_no_parallel_calls_without_tools():
    request, ctx = chosen("anthropic", None, parallel=False, tools=())
    assert request.parallel_tool_calls is None
    assert notes(ctx) == [("field-dropped", "parallel_tool_calls")]


def test_no_parallel_calls_where_there_are_none():
    request, ctx = chosen("anthropic", ToolChoice(mode="none"), parallel=False)
    assert request.parallel_tool_calls is None
    assert notes(ctx) == [("field-minor", "parallel_tool_calls")]


def test_silence_stays_silence():
    ctx = pair("openai-chat", "anthropic")
    request = asking(user("hi"), tools=(tool("f"),))
    assert adapt_choice(request, ctx) is request


def test_several_allowed_tools_where_they_cannot_be_said():
    request, ctx = chosen("anthropic", ToolChoice(mode="auto", names=("f", "g")))
    assert request.tool_choice == ToolChoice(mode="auto")
    assert notes(ctx) == [("choice-mapped", "tool_choice")]


def test_the_one_required_tool_is_the_named_one():
    request, ctx = chosen("anthropic", ToolChoice(mode="required", names=("f",)))
    assert request.tool_choice == ToolChoice(mode="tool", names=("f",))
    assert notes(ctx) == []


def test_allowed_tools_where_they_can_be_said():
    request, ctx = chosen("openai-responses", choice := ToolChoice(mode="auto", names=("f",)))
    assert request.tool_choice is choice
    assert notes(ctx) == []


def test_only_required_can_be_narrowed_somewhere():
    ctx = pair("openai-chat", "gemini")
    choices = frozenset({"auto", "tool", "allowed.required"})
    ctx.target = replace(ctx.target, tools=replace(ctx.target.tools, choices=choices))
    required = asking(
        user("hi"), tools=(tool("f"),), tool_choice=ToolChoice(mode="required", names=("f", "g"))
    )
    assert adapt_choice(required, ctx).tool_choice is required.tool_choice
    auto = replace(required, tool_choice=ToolChoice(mode="auto", names=("f", "g")))
    assert adapt_choice(auto, ctx).tool_choice == ToolChoice(mode="auto")


def test_a_tool_of_the_provider_cannot_be_required_elsewhere():
    choice = ToolChoice(mode="tool", names=("file_search",), kind="provider")
    request, ctx = chosen("anthropic", choice, source="openai-responses")
    assert request.tool_choice == ToolChoice(mode="required")
    assert notes(ctx) == [("choice-mapped", "tool_choice")]


@pytest.mark.parametrize(
    ("when", "settings", "forced"),
    [
        ("never", ReasoningSettings(enabled=True, budget=2000), True),
        ("with_budget", ReasoningSettings(enabled=True, budget=2000), False),
        ("with_budget", ReasoningSettings(enabled=True, adaptive=True), True),
        ("when_on", ReasoningSettings(effort="low"), False),
        ("when_on", None, True),
        ("unless_off", ReasoningSettings(effort="low"), False),
        ("unless_off", ReasoningSettings(enabled=False), True),
        ("unless_off", ReasoningSettings(effort="none"), True),
    ],
)
def test_when_no_tool_can_be_forced(when, settings, forced):
    ctx = pair("openai-chat", "anthropic")
    reasoning = replace(ctx.target.reasoning, bars_forced_tools=when)
    ctx.target = replace(ctx.target, reasoning=reasoning)
    choice = ToolChoice(mode="required")
    request = asking(user("hi"), tools=(tool("f"),), tool_choice=choice, reasoning=settings)
    assert (adapt_choice(request, ctx).tool_choice == choice) is forced
    assert [note.code for note in ctx.receipt()] == ([] if forced else ["choice-mapped"])


@pytest.mark.parametrize(("switch", "code"), [(True, "default-added"), (False, "choice-mapped")])
def test_reasoning_that_nobody_asked_for_gives_way_to_a_forced_tool(switch, code):
    ctx = pair("openai-chat", "anthropic")
    controls = ctx.target.reasoning.controls - (set() if switch else {"switch"})
    reasoning = replace(
        ctx.target.reasoning, bars_forced_tools="unless_off", controls=frozenset(controls)
    )
    ctx.target = replace(ctx.target, reasoning=reasoning)
    choice = ToolChoice(mode="required")
    adapted = adapt_choice(asking(user("hi"), tools=(tool("f"),), tool_choice=choice), ctx)
    assert (adapted.tool_choice == choice) is switch
    assert adapted.reasoning == (ReasoningSettings(enabled=False) if switch else None)
    assert [note.code for note in ctx.receipt()] == [code]


@pytest.mark.parametrize("mode", ["required", "tool"])
def test_where_no_tool_can_be_forced_the_model_chooses(mode):
    ctx = pair("openai-chat", "anthropic")
    tools = replace(ctx.target.tools, choices=frozenset({"auto", "none"}))
    ctx.target = replace(ctx.target, tools=tools)
    choice = ToolChoice(mode=mode, names=("f",) if mode == "tool" else ())
    request = asking(user("hi"), tools=(tool("f"),), tool_choice=choice)
    assert adapt_choice(request, ctx).tool_choice == ToolChoice(mode="auto")
    assert {note.code for note in ctx.receipt()} == {"choice-mapped"}


def test_only_so_many_tools_are_strict():
    ctx = pair("openai-chat", "anthropic")
    ctx.target = replace(ctx.target, tools=replace(ctx.target.tools, most_strict=2))
    tools = tuple(replace(tool(name), strict=name != "b") for name in "abcd")
    there = limit_strict(asking(user("hi"), tools=tools), ctx)
    assert [each.strict for each in there.tools] == [True, False, True, False]
    assert notes(ctx) == [("strict-dropped", "tools[3].strict")]


def test_strict_tools_have_only_so_many_optional_parameters():
    ctx = pair("openai-chat", "anthropic")
    inner = {"type": "object", "properties": {key: {"type": "string"} for key in "abc"}}
    schema = {"type": "object", "properties": {"in": inner}, "required": ["in"]}
    tools = tuple(FunctionTool(name=name, parameters=schema, strict=True) for name in "abcdefghi")
    there = limit_strict(asking(user("hi"), tools=tools), ctx)
    assert sum(bool(each.strict) for each in there.tools) == 7
    few = asking(user("hi"), tools=tools[:7])
    assert limit_strict(few, ctx) is few


def test_strict_tools_have_only_so_many_parameters_of_several_types():
    ctx = pair("openai-chat", "anthropic")
    either = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    several = {"type": ["string", "null"]}
    keys = [f"k{number}" for number in range(8)]
    schema = {
        "type": "object",
        "properties": {key: either if key < "k4" else several for key in keys},
        "required": keys,
    }
    tools = tuple(FunctionTool(name=name, parameters=schema, strict=True) for name in "abc")
    there = limit_strict(asking(user("hi"), tools=tools), ctx)
    assert [each.strict for each in there.tools] == [True, True, False]
    assert notes(ctx) == [("strict-dropped", "tools[2].strict")]


# --- examples, and tools that wait for a search ---------------------------------------------------

SEARCHES = {
    "anthropic": {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    "openai-responses": {"type": "tool_search"},
}


def declared(source, tool, *more):
    """What a request with a tool declares in another protocol, and the notes on it."""
    if source == "anthropic":
        one = {"name": "f", "input_schema": {"type": "object"}, **tool}
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    else:
        one = {"type": "function", "name": "f", "parameters": {"type": "object"}, **tool}
        body = {"model": "m", "input": "x"}
    body["tools"] = [one, *more]

    def to(target):
        wire, receipt = translate_request(body, source=source, target=target)
        return wire.body.get("tools"), {note.code: note.path for note in receipt}

    return to


@pytest.mark.parametrize(
    ("source", "target"),
    [("anthropic", "openai-responses"), ("openai-responses", "anthropic")],
)
def test_a_search_for_tools_has_a_counterpart(source, target):
    tools, codes = declared(source, {"defer_loading": True}, SEARCHES[source])(target)
    assert [tool.get("defer_loading") for tool in tools] == [True, None]
    assert {key: tools[1][key] for key in SEARCHES[target]} == SEARCHES[target]
    assert codes["tool-mapped"] == "tools[1]"


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (source, target)
        for source in SEARCHES
        for target in ("anthropic", "openai-responses", "openai-chat", "gemini")
        if source != target
    ],
)
def test_without_a_search_all_tools_are_there_at_once(source, target):
    tools, codes = declared(source, {"defer_loading": True})(target)
    assert "defer_loading" not in str(tools)
    assert codes["field-minor"] == "tools[0].defer_loading"


@pytest.mark.parametrize("target", ["openai-responses", "openai-chat", "gemini", "ollama"])
def test_examples_are_described(target):
    examples = [{"city": "Köln"}, {"city": "Rom", "days": 2}]
    tool = {"description": "The weather.", "input_examples": examples}
    tools, codes = declared("anthropic", tool)(target)
    words = 'The weather.\n\nExamples of arguments:\n{"city":"Köln"}\n{"city":"Rom","days":2}'
    assert words in [each["description"] for each in functions(tools)]
    assert codes["examples-described"] == "tools[0].input_examples"


def functions(tools):
    """All objects in declarations that have a description."""
    for one in tools:
        inner = one.get("functionDeclarations") or [one.get("function") or one]
        yield from (each for each in inner if "description" in each)
