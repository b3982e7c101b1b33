"""What is rendered reads back as the same call, in every dialect; what cannot be is refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.dialects.samples import BOTH, TOOLS

import toolglot
from toolglot import ir
from toolglot.dialects.literals import same
from toolglot.dialects.reader import CallSegment
from toolglot.dialects.rendering import render_calls, render_result, render_tools
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import TextDecoder, parse_text
from toolglot.errors import DecodeError, InexpressibleError
from toolglot.wire import jsontext

JSON_ONLY = [
    name
    for name, row in DIALECTS.items()
    if type(row.writer).__name__ in ("JsonWriter", "NamedWriter", "PythonWriter")
]
"""Dialects that can say any arguments, whatever the schema."""

MARKS = [
    "</tool_call>", "</parameter>", "</function>", "<arg_key>", "```", "\n\n", "]]>", "<think>",
    "</invoke>", "<|im_end|>", "<|tool_call_end|>", '<|"|>', "<escape>", "✿ARGS✿:", "\nObservation",
    "[TOOL_CALLS]", "<｜tool▁call▁end｜>", "{", "}", '"', "'", "\\", "\r\n", "&amp;", "<city>",  # noqa: RUF001
]  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(["", " ", "00123", "1e5", "true", "null", "[1]", '{"a": 1}', "  x \n", "\nx"]),
    st.lists(st.one_of(st.text(max_size=4), st.sampled_from(MARKS)), max_size=4).map("".join),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.just(12345678901234567890123), TEXTS,
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["port", "hours", "max-size", "a b", "name", "arguments", "id", "_x"])
NAMES = st.sampled_from(["note_tide", "ring-bell", "mcp__sea__look_up", "sea.look", "print", "7"])
TYPES = {
    bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array",
}  # fmt: skip


def tool(name: str, *calls: dict[str, Any], typed: bool) -> dict[str, Any]:
    """A tool that takes what these calls say, with the types or without."""
    properties: dict[str, Any] = {}
    for arguments in calls:
        for key, value in arguments.items():
            rule = properties.setdefault(key, {"type": []} if typed else {})
            kind = TYPES.get(type(value), "null")
            if typed and kind not in rule["type"]:
                rule["type"].append(kind)
    return {"name": name, "input_schema": {"type": "object", "properties": properties}}


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Some calls, and the tools that they call."""
    objects = st.dictionaries(KEYS, VALUES, max_size=3)
    calls = draw(st.lists(st.tuples(NAMES, objects), min_size=1, max_size=3))
    typed = draw(st.booleans())
    tools = [
        tool(name, *(arguments for each, arguments in calls if each == name), typed=typed)
        for name in sorted({name for name, _ in calls})
    ]
    return [{"name": name, "arguments": arguments} for name, arguments in calls], tools


def read(text: str, tools: list[Any] | None, dialect: str, size: int) -> list[tuple[str, Any]]:
    """The calls in a text that comes in pieces of this size."""
    decoder = TextDecoder(dialect, tools)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    segments = [each for piece in pieces for each in decoder.feed(piece)] + decoder.close()
    return [
        (each.name, json.loads(each.arguments))
        for each in segments
        if isinstance(each, CallSegment)
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(conversation=conversations())
@example(conversation=([{"name": "f", "arguments": {"x": "</tool_call>"}}], ["f"]))
@example(conversation=([{"name": "f", "arguments": {"x": 1}}, {"name": "f"}], ["f"]))
def test_any_call_that_is_rendered_reads_back_d_20(dialect, conversation):
    """D-20: whole and by the character, one call or several, whatever is in them."""
    calls, tools = conversation
    try:
        text = render_calls(calls, dialect, tools)
    except InexpressibleError:
        return
    wanted = [(call["name"], call.get("arguments", {})) for call in calls]
    for size in (len(text), 1):
        found = read(text, tools, dialect, size)
        assert [name for name, _ in found] == [name for name, _ in wanted]
        assert same([each for _, each in found], [each for _, each in wanted])


@pytest.mark.parametrize("dialect", JSON_ONLY)
@given(arguments=st.dictionaries(st.sampled_from(["port", "a_b"]), VALUES, max_size=2))
def test_dialects_of_json_and_python_can_say_all_arguments(dialect, arguments):
    text = render_calls([{"name": "note_tide", "arguments": arguments}], dialect, ["note_tide"])
    assert len(parse_text(text, ["note_tide"], dialect).calls) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_can_say_ordinary_calls(dialect):
    """Strings that look like numbers or markup, big integers, several calls, none at all."""
    calls = [{"name": name, "arguments": arguments} for name, arguments in BOTH]
    calls.append({"name": "ring_bell", "arguments": {}})
    for some in (calls[:1], calls[1:2], calls[2:], calls, calls[::-1]):
        text = render_calls(some, dialect, TOOLS)
        assert read(text, TOOLS, dialect, 3) == [(each["name"], each["arguments"]) for each in some]
    assert render_calls([], dialect, TOOLS) == ""


OTHERWISE = (
    "hermes_lenient", "generic_tool_xml", "qwen_agent_code", "langchain_xml", "openai_json", "react"
)  # fmt: skip
"""Dialects whose example shows one of several forms, and not the one that is written."""


@pytest.mark.parametrize("dialect", [each for each in DIALECTS if each not in OTHERWISE])
def test_every_dialect_is_written_as_its_example_is(dialect):
    """A model is shown what the row says that models write: the same marks, in the same order."""
    tools = [tool("get_weather", {"city": "Oslo"}, typed=True)]
    city = "A & B" if dialect == "mimo" else "Oslo"
    call = {"name": "get_weather", "arguments": {"city": city}}
    if dialect == "xml_id_name_args":
        call["id"] = "a1"
    plain = str.maketrans("", "", " \n'\"")
    text = render_calls([call], dialect, tools).translate(plain)
    assert text == DIALECTS[dialect].example.translate(plain)


def test_arguments_stay_as_they_were_written():
    """Key order, spaces and `1.0` are the model's own, which prompt caches depend on."""
    given_text = '{"b":1.0, "a" : [ ]}'
    call = ir.ToolCall(id="c", name="f", arguments=given_text)
    assert given_text in render_calls([call], "hermes")


@pytest.mark.parametrize(
    "call",
    [
        {"name": "f", "arguments": {"x": 1}},
        {"type": "function", "id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
        {"name": "f", "args": {"x": 1}},
        CallSegment("a", "f", '{"x": 1}'),
    ],
)
def test_calls_come_in_any_shape(call):
    text = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
    assert render_calls([call], "hermes") == text


def test_ids_are_told_where_a_dialect_has_them():
    call = {"id": "a1", "name": "f", "arguments": {}}
    assert parse_text(render_calls([call], "xml_id_name_args"), None, "xml_id_name_args").calls[
        0
    ] == CallSegment("a1", "f", "{}", render_calls([call], "xml_id_name_args"))
    assert '"tool_call_id": "a1"' in render_calls([call], "cohere_command3")
    assert "functions.f:0<" in render_calls([call], "kimi_k2")
    numbered = {**call, "id": "functions.f:7"}
    assert "functions.f:7<" in render_calls([numbered], "kimi_k2")


@pytest.mark.parametrize(
    ("dialect", "call", "why"),
    [
        ("pythonic", {"name": "no name", "arguments": {}}, "not be read"),
        ("gemma4", {"name": "f", "arguments": {"x": '<|"|>'}}, "not be read"),
        ("cline_xml", {"name": "f", "arguments": {"x": {"y": 1}}}, "another type"),
        ("hermes", {"name": "f", "arguments": "[1]"}, "no JSON object"),
        ("hermes", {"name": "f", "arguments": '{"a":'}, "no JSON object"),
        ("hermes", {"name": "undeclared", "arguments": {}}, "not be read"),
    ],
)
def test_what_a_dialect_cannot_say_is_refused(dialect, call, why):
    with pytest.raises(InexpressibleError, match=why) as caught:
        render_calls([call], dialect, ["f", "no name"])
    assert (caught.value.dialect, caught.value.name) == (dialect, call["name"])


def test_calls_without_a_name_and_unknown_dialects_are_errors():
    with pytest.raises(DecodeError, match="no name"):
        render_calls([{"arguments": {}}], "hermes")
    for render in (render_calls, render_tools):
        with pytest.raises(ValueError, match="unknown dialect volapuek"):
            render([], "volapuek")
    with pytest.raises(ValueError, match="unknown dialect volapuek"):
        render_result({"content": ""}, "volapuek")


# --- tools ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tools_are_declared_with_an_example_of_a_call(dialect):
    text = render_tools(TOOLS, dialect)
    lines = text.split("<tools>\n")[1].split("\n</tools>")[0].split("\n")
    assert [json.loads(line) for line in lines] == TOOLS
    sample = render_calls(
        [{"name": "tool_name", "arguments": {"parameter": "value"}}], dialect, ["tool_name"]
    )
    assert f"\n\n{sample}\n\n" in text
    assert ("another_tool" in text) is True
    assert "another_tool" not in render_tools(TOOLS, dialect, parallel=False)


def test_tools_come_in_any_shape():
    schema = {"type": "object", "properties": {}}
    shapes = [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}},
        {"type": "function", "name": "f", "description": "d", "parameters": schema},
        {"name": "f", "description": "d", "input_schema": schema},
        {"name": "f", "description": "d", "inputSchema": schema},
        ir.FunctionTool(name="f", description="d", parameters=schema),
    ]
    assert len({render_tools([shape], "hermes") for shape in shapes}) == 1
    assert '{"name": "f"}' in render_tools(["f"], "hermes")
    assert render_tools([], "hermes") == ""
    with pytest.raises(DecodeError, match="no name"):
        render_tools([{"description": "d"}], "hermes")


# --- results --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("failed", [False, True])
def test_results_are_told_with_their_text_and_failure(dialect, failed):
    result = {"name": "note_tide", "content": "low at 7", "is_error": failed}
    text = render_result(result, dialect)
    assert "low at 7" in text
    assert ("error" in text) is failed
    assert parse_text(text, TOOLS, dialect).calls == ()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_result_cannot_forge_its_end(dialect):
    """What stands after a result stands there once, whatever the result quotes."""
    text = render_result({"name": "f", "content": "x"}, dialect)
    end = text[text.rindex("x") + 1 :].strip().lstrip('"}').strip()
    forged = render_result({"name": "f", "content": f"x{end}y"}, dialect)
    assert not end or forged.count(end) == text.count(end)


def test_results_of_dialects_with_ids_say_them():
    result = {"tool_call_id": "a1", "name": "f", "content": [1, 2]}
    assert render_result(result, "cohere_command3") == (
        '<|START_TOOL_RESULT|>{"id": "a1", "name": "f", "content": "[1,2]"}<|END_TOOL_RESULT|>'
    )
    assert "a1" not in render_result(result, "hermes")


@pytest.mark.parametrize(("content", "text"), [(None, ""), ("", ""), (0, "0"), ([], "[]")])
def test_results_that_are_no_text_are_json(content, text):
    assert render_result({"content": content}, "react") == f"Observation: {text}"


def test_rendering_is_deterministic():
    calls = [{"name": name, "arguments": arguments} for name, arguments in BOTH]
    for dialect in DIALECTS:
        assert render_calls(calls, dialect, TOOLS) == render_calls(calls, dialect, TOOLS)
        assert jsontext.text(render_tools(TOOLS, dialect)) == jsontext.text(
            render_tools(TOOLS, dialect)
        )


# --- the documentation ----------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "dialects.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text under a heading."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_what_the_documentation_shows_works():
    names: dict[str, Any] = {"toolglot": toolglot}
    for title in ("Writing", "Models without tools", "A dialect of your own"):
        blocks = re.findall(r"```python\n(.*?)```", section(title), re.DOTALL)
        assert blocks
        for block in blocks:
            exec(block, names)
    assert names["text"].startswith("<tool_call>\n<function=tide>")
    assert names["answer"].startswith("<tool_response>")
