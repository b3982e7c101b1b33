"""What an unknown provider is asked: small requests in the interlingua, so in every protocol."""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from toolglot import ir

SMALL: Final = 16
"""Tokens for an answer in words; some providers take no less."""

ENOUGH: Final = 512
"""Tokens for an answer with a call, and for some thinking before it."""

WEATHER: Final = ir.FunctionTool(
    name="get_weather",
    description="Get the current weather for a city",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
)
ADD: Final = ir.FunctionTool(
    name="add",
    description="Add two whole numbers",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
)
RICH: Final = ir.FunctionTool(
    name="get_weather",
    description="Get the current weather for a city",
    parameters={
        "type": "object",
        "properties": {
            "city": {"$ref": "#/$defs/city"},
            "day": {"type": ["string", "null"]},
            "unit": {"anyOf": [{"const": "celsius"}, {"const": "fahrenheit"}]},
        },
        "required": ["city"],
        "additionalProperties": False,
        "$defs": {"city": {"type": "string", "minLength": 1}},
    },
)
STRICT: Final = replace(
    WEATHER,
    strict=True,
    parameters={**(WEATHER.parameters or {}), "additionalProperties": False},
)
FREEFORM: Final = ir.CustomTool(name="note", description="Write down a line of text")
"""A tool that takes text, which few servers accept."""
LONG_ID: Final = "call_toolglot-" + "0123456789abcdef" * 3 + "_z"
"""An id of 64 characters such as no provider makes itself."""

SHORT_ID: Final = "tg0a1b2c3"
"""An id that every provider takes."""

_PARIS: Final = "What is the weather in Paris right now?"


def _says(role: ir.Role, text: str) -> ir.Message:
    return ir.Message(role=role, parts=(ir.Text(text=text),))


def _asks(text: str, *tools: ir.Tool, limit: int = ENOUGH) -> ir.Request:
    return ir.Request(
        model="",
        messages=(_says("user", text),),
        tools=tools,
        max_tokens=limit,
        temperature=0.0,
        stream=False,
    )


def history(id: str) -> ir.Request:  # noqa: A002 - the wire's word
    """A conversation in which a call under this id was made and answered."""
    call = ir.ToolCall(id=id, name=WEATHER.name, arguments='{"city":"Paris"}')
    result = ir.ToolResult(id=id, name=WEATHER.name, parts=(ir.Text(text="18 C, cloudy"),))
    messages = (
        _says("user", _PARIS),
        ir.Message(role="assistant", parts=(call,)),
        ir.Message(role="user", parts=(result,)),
    )
    return replace(_asks("", WEATHER, limit=SMALL), messages=messages)


_GREETING: Final = {
    "type": "object",
    "properties": {"greeting": {"type": "string"}},
    "required": ["greeting"],
    "additionalProperties": False,
}
_HELLO: Final = _asks("Say hello.", limit=SMALL)
_TAUGHT: Final = (
    "You can look up the weather. To do so, write exactly one line of this form and nothing else: "
    '<tool_call>{"name": "get_weather", "arguments": {"city": "..."}}</tool_call>'
)

PROBE_REQUESTS: Final[Mapping[str, ir.Request]] = {
    "hello": _HELLO,
    "tools": _asks(_PARIS, WEATHER),
    "stream": replace(_asks(_PARIS, WEATHER), stream=True, include_usage=True),
    "parallel": _asks(
        "What is the weather in Paris and in Tokyo? Call the function once for each city.", WEATHER
    ),
    "required": replace(_asks("Say hello.", WEATHER), tool_choice=ir.ToolChoice(mode="required")),
    "named": replace(
        _asks("Use the add function to compute 17 plus 25.", WEATHER, ADD),
        tool_choice=ir.ToolChoice(mode="tool", names=(WEATHER.name,)),
    ),
    "strict": _asks(_PARIS, STRICT),
    "schemas": _asks(_PARIS, RICH),
    "custom": _asks(_PARIS, WEATHER, FREEFORM),
    "single": replace(_asks(_PARIS, WEATHER), parallel_tool_calls=False),
    "output": replace(
        _HELLO,
        output=ir.OutputFormat(kind="schema", name="greeting", schema=_GREETING, strict=True),
    ),
    "long-id": history(LONG_ID),
    "short-id": history(SHORT_ID),
    "system": replace(_HELLO, system=_says("system", "Answer in one word.")),
    "developer": replace(
        _HELLO, messages=(_says("developer", "Answer in one word."), *_HELLO.messages)
    ),
    "stream-hello": replace(_HELLO, stream=True, include_usage=True),
    "limit": _asks("Count from 1 to 50.", limit=SMALL),
    "error": _HELLO,
    "taught": replace(_asks(_PARIS), system=_says("system", _TAUGHT)),
}
"""Each question by its name. The model is filled in when it is asked."""
