"""Calls that a provider could not read, and sent back in its error as the model wrote them.

Most of these texts are almost a call of a dialect. `failed_text` gives them as one, so that the
readers of dialects find the call:

    <function=look{"at": "x"}</function>      no bracket behind the name
    <function=look={"at": "x"}></function>    others in its place
    <function=look>{"at": "x"}                no end
    ```{"tool_calls": [{"function": {"name": "look"}, "parameters": {"at": "x"}}]}```

Sources: https://github.com/groq/groq-typescript/issues/28,
https://github.com/langchain-ai/langchain/pull/31440, and texts in public code (read 2026-11).
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from toolglot.wire import jsontext

_MEMBER: Final = "failed_generation"
"""Where the text of the model is: https://console.groq.com/docs/tool-use (read 2026-11)."""
_OPENED: Final = re.compile(r"<function[=(]\s{0,8}([\w.:-]{1,128})[\s=()>]{0,16}(?=\{|/>)")
_CLOSED: Final = re.compile(r"[\s)>}]{0,16}(?:</?function>?)?")
_AROUND: Final = re.compile(
    r"^(?:```\w{0,16}|<[\w-]{1,32}>)\s{0,64}|\s{0,64}(?:```|</[\w-]{1,32}>)$"
)
_ARGUMENTS: Final = ("arguments", "parameters", "input", "args")
_OBJECT: Final = json.JSONDecoder(strict=False)


def failed_text(body: bytes) -> str | None:
    """What the model had written, of an error that says so."""
    if _MEMBER.encode() not in body:
        return None
    try:
        value: Any = jsontext.peek(body)
    except ValueError:
        return None
    inner = value.get("error") if isinstance(value, dict) else None
    for each in (inner, value):
        if isinstance(each, dict) and isinstance(text := each.get(_MEMBER), str) and text.strip():
            return _written(text.strip())
    return None


def _written(text: str) -> str:
    """A text in which calls are written as a dialect has them."""
    listed = _AROUND.sub("", _AROUND.sub("", text))
    if listed.startswith("{") and '"tool_calls"' in listed:
        calls = "\n".join(_listed(listed))
        return calls or text
    return "".join(_closed(text))


def _listed(text: str) -> Iterator[str]:
    """Calls in a list of the kind that an answer has, with their arguments anywhere."""
    try:
        value = jsontext.peek(text)
    except ValueError:
        return
    calls = value.get("tool_calls") if isinstance(value, dict) else None
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        places = [each for each in (function, call) if isinstance(each, dict)]
        name = next((each["name"] for each in places if isinstance(each.get("name"), str)), None)
        given = (each[key] for each in places for key in _ARGUMENTS if key in each)
        arguments: Any = next(given, {})
        if name is not None:
            written = arguments if isinstance(arguments, str) else jsontext.text(arguments)
            yield _call(name, written)


def _closed(text: str) -> Iterator[str]:
    """The text with each function in the brackets that belong to it."""
    place = 0
    while (opened := _OPENED.search(text, place)) is not None:
        start, arguments, end = opened.end(), "{}", opened.end() + 2
        if text[start] == "{":
            try:
                _, end = _OBJECT.raw_decode(text, start)
            except ValueError:
                break
            arguments = text[start:end]
        yield text[place : opened.start()]
        yield _call(opened[1], arguments)
        closed = _CLOSED.match(text, end)
        place = closed.end() if closed is not None else end
    yield text[place:]


def _call(name: str, arguments: str) -> str:
    return f"<function={name}>{arguments}</function>"
