"""A name, a separator and an object."""

import json

import pytest

from toolglot.dialects.text import parse_text


def calls(text: str, dialect: str, tools: list | None = None) -> list:
    parsed = parse_text(text, tools, dialect)
    return [(call.id, call.name, json.loads(call.arguments)) for call in parsed.calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[TOOL_CALLS]f{"a": 1}', ("call_0", "f", {"a": 1})),
        ('[TOOL_CALLS]f[ARGS]{"a": 1}', ("call_0", "f", {"a": 1})),
        ('[TOOL_CALLS]f[CALL_ID]abc123def[ARGS]{"a": 1}', ("abc123def", "f", {"a": 1})),
        ('[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}, "id": "x"}]', ("x", "f", {"a": 1})),
        ("[TOOL_CALLS]f", ("call_0", "f", {})),
    ],
)
def test_four_bodies_of_mistral(text, expected):
    assert calls(text, "mistral") == [expected]


def kimi(head: str, body: str = '{"a": 1}') -> str:
    return f"<|tool_call_begin|>{head}<|tool_call_argument_begin|>{body}<|tool_call_end|>"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("functions.f:0", ("functions.f:0", "f")),
        ("functions.a.b-c:12", ("functions.a.b-c:12", "a.b-c")),
        ("f:1", ("f:1", "f")),
        ("f", ("call_0", "f")),
        ("functions.f:0\n", ("functions.f:0", "f")),
    ],
)
def test_ids_of_kimi_are_kept(head, expected):
    assert [found[:2] for found in calls(kimi(head), "kimi_k2")] == [expected]


def test_bare_counter_means_the_only_tool_that_fits():
    tools = [
        {"name": "f", "parameters": {"properties": {"a": {}}}},
        {"name": "g", "parameters": {"properties": {"b": {}}}},
    ]
    assert [found[1] for found in calls(kimi("5"), "kimi_k2", tools)] == ["f"]
    assert calls(kimi("5", '{"c": 1}'), "kimi_k2", tools) == []


def test_both_shapes_of_deepseek_in_one_dialect():
    begin, sep = "<\uff5ctool\u2581call\u2581begin\uff5c>", "<\uff5ctool\u2581sep\uff5c>"
    end = "<\uff5ctool\u2581call\u2581end\uff5c>"
    new = f'{begin}f{sep}{{"a": 1}}{end}'
    old = f'{begin}function{sep}f\n```json\n{{"a": 1}}\n```{end}'
    for dialect in ("deepseek_v3", "deepseek_v31"):
        assert calls(new + old, dialect) == [
            ("call_0", "f", {"a": 1}),
            ("call_1", "f", {"a": 1}),
        ]
    plain = new.replace("\uff5c", "|").replace("\u2581", "_")
    assert calls(plain, "deepseek_v31") == [("call_0", "f", {"a": 1})]


@pytest.mark.parametrize(
    "text", ['<function=f>{"a": ', "<function=f>[1]</function>", "[Tool call: f("]
)
def test_no_call(text):
    for dialect in ("llama3_custom", "bracket_calling"):
        assert parse_text(text, None, dialect).content == text


def test_several_objects_for_one_name():
    text = '✿FUNCTION✿: f\n✿ARGS✿: {"a": 1}\n✿ARGS✿: {"a": 2}\n✿RETURN✿: done'
    assert calls(text, "qwen_agent") == [("call_0", "f", {"a": 1}), ("call_1", "f", {"a": 2})]
    assert parse_text(text, None, "qwen_agent").content == "\n done"


def test_raw_code_for_the_code_tool():
    assert calls("python\nprint(1)", "functionary_v32") == [
        ("call_0", "python", {"code": "print(1)"})
    ]
