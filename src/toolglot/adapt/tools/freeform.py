"""Free-form tools for targets that only know functions.

A tool that takes free text becomes a function with one string, `input`, whose description has
the grammar that the text must follow. Calls in the history are converted in the same way. An answer
comes back as the free-form call that the client declared, its text decoded while it streams in.

Models do not always keep to the form: some write the text itself, or an object with another key.
What they mean is unwrapped all the same, with a note.
"""

import re
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    CustomTool,
    FunctionTool,
    Json,
    Message,
    Part,
    Request,
    Tool,
    ToolCall,
    ToolResult,
)
from toolglot.undo import UndoStep
from toolglot.wire import jsontext

KEY: Final = "input"
"""The one parameter of the function."""

_WORDS: Final = "The input of the tool as plain text, exactly as the tool takes it."
_LIKELY: Final = (KEY, "patch", "command", "content", "text", "code", "script", "arguments")
"""Keys under which models put the text, most likely first."""


def freeform_to_function(request: Request, ctx: Context) -> Request:
    """Convert free-form tools and their calls to functions where the target has no such tools."""
    source, target = ctx.tool_surfaces
    if "custom" in target.tools.kinds or "custom" not in source.tools.kinds:
        return request
    changes: Json = {}
    if any(type(tool) is CustomTool for tool in request.tools):
        changes["tools"] = tuple(
            _wrap(tool, index, ctx) if isinstance(tool, CustomTool) else tool
            for index, tool in enumerate(request.tools)
        )
    if any(map(_is_freeform, request.messages)):
        changes["messages"] = tuple(
            _message(message, index, ctx) if _is_freeform(message) else message
            for index, message in enumerate(request.messages)
        )
    choice = request.tool_choice
    if choice is not None and choice.kind == "custom":
        changes["tool_choice"] = replace(choice, kind="function")
    return replace(request, **changes) if changes else request


# --- tools ---------------------------------------------------------------------------------------


def _wrap(tool: CustomTool, index: int, ctx: Context) -> Tool:
    name = tool.name
    ctx.note("tool-wrapped", ctx.tool_at(index), f"{name} takes its text as the string {KEY!r}")
    ctx.undo.tool(
        name,
        UndoStep(
            name=name,
            kind="custom",
            arguments=partial(unwrap, name=name),
            live=partial(FreeText, name),
            odd=partial(oddity, name=name),
        ),
    )
    return FunctionTool(name=name, description=_description(tool), parameters=_schema())


def _description(tool: CustomTool) -> str | None:
    if tool.definition is None:
        return tool.description
    grammar = f"{tool.syntax} grammar" if tool.syntax else "grammar"
    rule = f"The {KEY} must match this {grammar}:\n\n{tool.definition}"
    return f"{tool.description}\n\n{rule}" if tool.description else rule


def _schema() -> Json:
    return {
        "type": "object",
        "properties": {KEY: {"type": "string", "description": _WORDS}},
        "required": [KEY],
        "additionalProperties": False,
    }


# --- history -------------------------------------------------------------------------------------


def _is_freeform(message: Message) -> bool:
    for part in message.parts:
        kind = type(part)
        if (kind is ToolCall or kind is ToolResult) and part.kind == "custom":  # type: ignore[union-attr]
            return True
    return False


def _message(message: Message, index: int, ctx: Context) -> Message:
    parts = tuple(_part(message, index, place, ctx) for place in range(len(message.parts)))
    return replace(message, parts=parts)


def _part(message: Message, index: int, place: int, ctx: Context) -> Part:
    part = message.parts[place]
    if isinstance(part, ToolResult) and part.kind == "custom":
        return replace(part, kind="function")
    if isinstance(part, ToolCall) and part.kind == "custom":
        path = ctx.at_part(index, message, place)
        ctx.note("arguments-wrapped", path, f"the free text of {part.name}")
        return replace(part, type="function", arguments=jsontext.text({KEY: part.arguments}))
    return part


# --- answers -------------------------------------------------------------------------------------


def unwrap(arguments: str, name: str) -> str:
    """The free text in the arguments of a call."""
    reader = FreeText(name)
    return reader.feed(arguments) + reader.close()


def oddity(arguments: str, name: str) -> str:
    """In which other form the arguments came, in words; nothing if it was the one asked for."""
    reader = FreeText(name)
    reader.feed(arguments)
    reader.close()
    return reader.odd


_SPACE: Final = " \t\r\n"
_PLAIN: Final = re.compile(r'[^"\\]+')
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_BEGUN: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
"""An escape of which more may come."""

_SIMPLE: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_HIGH: Final = range(0xD800, 0xDC00)
_LOW: Final = range(0xDC00, 0xE000)


class FreeText:
    """Reads the string `input` out of arguments that arrive in pieces, cut anywhere.

    Everything up to the string is only looked at; from its first letter on, text leaves as it
    comes. If there is no such string, all is held until the end and then unwrapped as far as it
    makes sense.
    """

    __slots__ = ("_buffer", "_held", "_inside", "_name", "_over", "_seek", "_tail", "odd")

    def __init__(self, name: str) -> None:
        self._name = name
        self._seek = _Seek()
        self._held: list[str] = []
        self._buffer = ""
        self._inside = self._over = False
        self._tail: list[str] = []
        self.odd = ""
        """In which other form the text came, once it is closed."""

    def feed(self, text: str) -> str:
        """The free text in these pieces."""
        if self._over:
            self._tail.append(text)
            return ""
        if not self._inside:
            self._held.append(text)
            start = self._seek.feed(text)
            if start is None:
                return ""
            self._inside = True
            self._held.clear()
            text = text[start:]
        return self._read(text)

    def close(self) -> str:
        """What is left at the end."""
        if not self._inside:
            text, self.odd = _guess("".join(self._held), self._name)
            return text
        if not self._over:
            self.odd = "the text was never closed"
            return self._high()
        if "".join(self._tail).strip() != "}" or self._seek.skipped:
            self.odd = f"there was more than {KEY!r}"
        return ""

    def _high(self) -> str:
        """Half a character that waited for its other half."""
        match = _ESCAPE.match(self._buffer)
        return _character(match) if match else ""

    def _read(self, text: str) -> str:
        """More of the string: plain runs as they are, escapes decoded."""
        text, self._buffer = self._buffer + text, ""
        read: list[str] = []
        place = 0
        while place < len(text):
            plain = _PLAIN.match(text, place)
            if plain:
                read.append(plain.group())
                place = plain.end()
            elif text[place] == '"':
                self._over = True
                self._tail.append(text[place + 1 :])
                break
            else:
                decoded, end = _escape(text, place)
                if end == place:
                    self._buffer = text[place:]
                    break
                read.append(decoded)
                place = end
        return "".join(read)


def _escape(text: str, place: int) -> tuple[str, int]:
    """The character of an escape and where it ends; the same place, if more of it may come."""
    begun = _BEGUN.match(text, place)
    if begun is not None and begun.end() == len(text):
        return "", place
    match = _ESCAPE.match(text, place)
    if match is None:
        return "\\", place + 1
    if match[1] is None or int(match[1], 16) not in _HIGH:
        return _character(match), match.end()
    return _pair(text, match)


def _pair(text: str, high: re.Match[str]) -> tuple[str, int]:
    """A character in two escapes; the first alone, if no second one follows."""
    begun = _BEGUN.match(text, high.end())
    if high.end() == len(text) or (begun is not None and begun.end() == len(text)):
        return "", high.start()
    low = _ESCAPE.match(text, high.end())
    if low is None or low[1] is None or int(low[1], 16) not in _LOW:
        return _character(high), high.end()
    code = 0x10000 + ((int(high[1], 16) - 0xD800) << 10) + int(low[1], 16) - 0xDC00
    return chr(code), low.end()


def _character(match: re.Match[str]) -> str:
    """The character of one escape; what is no escape of JSON is unchanged, with its backslash."""
    if match[1] is not None:
        return chr(int(match[1], 16))
    return match.group() if match[2] == "u" else _SIMPLE.get(match[2], match.group())


class _Seek:
    """Looks for the beginning of the string, past other members of the object."""

    __slots__ = ("_depth", "_escaped", "_key", "_look", "skipped")

    def __init__(self) -> None:
        self._look = _Seek._start
        self._key: list[str] = []
        self._depth = 0
        self._escaped = False
        self.skipped = False

    def feed(self, text: str) -> int | None:
        """Where in these pieces the string begins, behind its quote."""
        if self._look is _Seek._never:
            return None
        for place, char in enumerate(text):
            self._look = look = self._look(self, char)
            if look is _Seek._found:
                return place + 1
            if look is _Seek._never:
                return None
        return None

    # Each looks at one character and says what looks at the next.

    def _found(self, _char: str) -> Any:
        return _Seek._found

    def _never(self, _char: str) -> Any:
        return _Seek._never

    def _start(self, char: str) -> Any:
        if char in _SPACE:
            return _Seek._start
        return _Seek._member if char == "{" else _Seek._never

    def _member(self, char: str) -> Any:
        if char in _SPACE or char == ",":
            return _Seek._member
        self._key.clear()
        return _Seek._in_key if char == '"' else _Seek._never

    def _in_key(self, char: str) -> Any:
        if char == '"':
            return _Seek._colon
        self._key.append(char)
        return _Seek._in_key if len(self._key) <= 256 else _Seek._never  # noqa: PLR2004

    def _colon(self, char: str) -> Any:
        if char in _SPACE:
            return _Seek._colon
        return _Seek._value if char == ":" else _Seek._never

    def _value(self, char: str) -> Any:
        if char in _SPACE:
            return _Seek._value
        if "".join(self._key) == KEY:
            return _Seek._found if char == '"' else _Seek._never
        self.skipped = True
        self._depth = 0
        return self._skip(char)

    def _skip(self, char: str) -> Any:
        """Inside a value that is not the one sought."""
        if char == '"':
            return _Seek._in_string
        if char in "{[":
            self._depth += 1
        elif char in "}]":
            if self._depth == 0:
                return _Seek._never
            self._depth -= 1
        elif char == "," and self._depth == 0:
            return _Seek._member
        return _Seek._skip

    def _in_string(self, char: str) -> Any:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            return _Seek._skip
        return _Seek._in_string


# --- what models write instead -------------------------------------------------------------------


def _guess(text: str, name: str) -> tuple[str, str]:
    """The free text in arguments without the string asked for, and which form they had."""
    try:
        value = jsontext.peek(text)
    except ValueError:
        return text, "the text itself, not wrapped at all" if text else ""
    if isinstance(value, str):
        twice = _FROM_STRING.match(value) is not None
        return unwrap(value, name) if twice else value, "a bare JSON string"
    if isinstance(value, dict):
        found = _member_text(value, name)
        if found is not None:
            return found
    return text, "the text itself, not wrapped at all"


_FROM_STRING: Final = re.compile(r'\s*\{\s*"input"\s*:')
"""Arguments that were encoded twice."""


def _member_text(value: Json, name: str) -> tuple[str, str] | None:
    if not value:
        return "", ""
    texts = {key: text for key, each in value.items() if (text := _text(each, name)) is not None}
    likely = [key for key in _LIKELY if key in texts] if len(texts) > 1 else list(texts)
    if not likely:
        return None
    return texts[likely[0]], f"under {likely[0]!r}, not {KEY!r}" if likely[0] != KEY else "a list"


def _text(value: Any, name: str) -> str | None:
    """A text, or the one in a command line that calls the tool by its name."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return None
    words = value[1:] if len(value) > 1 and value[0] and name.endswith(value[0]) else value
    return str(words[0]) if len(words) == 1 else None
