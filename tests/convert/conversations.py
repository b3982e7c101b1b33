"""Conversations to convert, and what they say in a form that can be compared."""

from typing import Any

from hypothesis import strategies as st

from toolglot.context import Context
from toolglot.convert import Format, RecordedConversation, convert_rows, get_format
from toolglot.ir import FunctionTool, Reasoning, Text, ToolCall, ToolResult
from toolglot.wire.parts import unmark_error

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather in a place.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Where."},
                    "days": {"type": "integer"},
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "get_time",
            "description": "The time in a place.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    },
]


def call(number: int, name: str = "get_weather", arguments: str = '{"city":"Oslo"}') -> Any:
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def result(number: int, text: str = "Rain, 7 degrees") -> Any:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


WEATHER = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How is the weather in Oslo?"},
        {"role": "assistant", "content": None, "tool_calls": [call(1)]},
        result(1),
        {"role": "assistant", "content": "It rains."},
    ],
    "tools": TOOLS,
}
"""What nearly every format can say."""

RICH = {
    "model": "a-model",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather and time in Oslo?"},
        {
            "role": "assistant",
            "reasoning_content": "Two tools are needed.",
            "content": "I will look.",
            "tool_calls": [call(1), call(2, "get_time")],
        },
        result(1),
        result(2, "12:30"),
        {"role": "assistant", "content": "It rains, and it is half past twelve."},
        {"role": "user", "content": "Thanks."},
        {"role": "assistant", "content": "You are welcome."},
    ],
    "tools": TOOLS,
}

_NAMES = [tool["function"]["name"] for tool in TOOLS]
_WORDS = st.text(
    st.one_of(
        st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")),
        st.sampled_from("\n<>{}[]'\""),
    ),
    min_size=1,
    max_size=12,
)
_TEXTS = st.one_of(
    _WORDS,
    st.sampled_from(
        ["  a  ", "a\n", "\n\nUSER: b", "<tool_call>", "[f(a=1)]", "<think>c</think>", "{}", "[]"]
    ),
)
_ARGUMENTS = st.dictionaries(
    st.sampled_from(["city", "days", "a b", "it's"]),
    st.one_of(_WORDS, st.integers(-5, 5), st.booleans(), st.none(), st.lists(_WORDS, max_size=2)),
    max_size=2,
)


@st.composite
def rows(draw: Any) -> Any:
    """Rows of chat messages."""
    messages: list[Any] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(_TEXTS)})
    number = 0
    for _ in range(draw(st.integers(1, 2))):
        messages.append({"role": "user", "content": draw(_TEXTS)})
        for _ in range(draw(st.integers(0, 1))):
            count = draw(st.integers(1, 2))
            calls = []
            for _ in range(count):
                number += 1
                value = draw(_ARGUMENTS)
                calls.append((number, draw(st.sampled_from(_NAMES)), value))
            turn: Any = {"role": "assistant", "content": draw(st.none() | _TEXTS)}
            if draw(st.booleans()):
                turn["reasoning_content"] = draw(_TEXTS)
            turn["tool_calls"] = [call(n, name, _json(value)) for n, name, value in calls]
            messages.append(turn)
            messages += [result(n, draw(_TEXTS)) for n, _, _ in calls]
        messages.append({"role": "assistant", "content": draw(_TEXTS)})
    return {"messages": messages, **({"tools": TOOLS} if draw(st.booleans()) else {})}


def _json(value: Any) -> str:
    import json

    return json.dumps(value)


def in_format(row: Any, target: Format) -> Any:
    """A row of chat messages in a format, and its receipt."""
    done = convert_rows([row], get_format("openai"), target)
    return done.rows, done.receipt


def read(rows: Any, source: Format) -> RecordedConversation:
    return source.read(rows, Context(source=source.surface, target=source.surface))


def said(conversation: RecordedConversation) -> list[Any]:
    """Everything that is said, in order; calls and results are matched by number."""
    request = conversation.request
    found: list[Any] = []
    if request.system is not None:
        found += [("system", part.text) for part in request.system.parts]
    numbers: dict[str, int] = {}
    for message in request.messages:
        found += _said(message, numbers)
    return [*_joined(found), *sorted(_tools(conversation))]


def _said(message: Any, numbers: dict[str, int]) -> Any:
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    others = [part for part in message.parts if not isinstance(part, Reasoning)]
    for part in [*thoughts, *others]:
        if isinstance(part, Text) and part.text:
            yield message.role, part.text
        elif isinstance(part, Reasoning) and (part.text or part.summary):
            yield "thought", part.text or "\n\n".join(part.summary)
        elif isinstance(part, ToolCall):
            numbers[part.id] = len(numbers)
            yield "call", part.name, part.input
        elif isinstance(part, ToolResult):
            text = "".join(each.text for each in part.parts if isinstance(each, Text))
            text, failed = unmark_error(text)
            yield "result", numbers.get(part.id), text, bool(part.is_error or failed)


def _joined(found: list[Any]) -> list[Any]:
    """Texts of one speaker that follow each other are one."""
    joined: list[Any] = []
    for each in found:
        if joined and len(each) == 2 and each[0] == joined[-1][0]:
            joined[-1] = (each[0], joined[-1][1] + "\n\n" + each[1])
        else:
            joined.append(each)
    return joined


def _tools(conversation: RecordedConversation) -> Any:
    for tool in conversation.request.tools:
        if isinstance(tool, FunctionTool):
            yield "~tool", tool.name, tool.description or "", repr(tool.parameters)
