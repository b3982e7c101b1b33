"""Trees of elements behind a token."""

import json

from toolglot.dialects.text import parse_text

SCHEMA = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "integer"}},
        "place": {"type": "object", "properties": {"zip": {"type": "string"}}},
        "none": {"type": "array"},
    },
}
TOOLS = [{"name": "f", "parameters": SCHEMA}]


def block(body: str) -> str:
    return f'@<tool_call>@<invoke name="f">{body}@</invoke>@</tool_call>'.replace(
        "@", "]<]minimax[>["
    )


def test_objects_and_arrays_are_built_by_the_schema():
    body = "@<tags>@<item>1@</item>@<item>2@</item>@</tags>@<place>@<zip>00123@</zip>@</place>"
    parsed = parse_text(block(body + "@<none>@</none>"), TOOLS)
    assert parsed.dialect == "minimax_m3"
    assert [json.loads(call.arguments) for call in parsed.calls] == [
        {"tags": [1, 2], "place": {"zip": "00123"}, "none": []}
    ]


def test_wrong_closer_makes_it_text():
    text = block("@<tags>1@</other>")
    assert parse_text(text, TOOLS).content == text
