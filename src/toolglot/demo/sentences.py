"""The text of the demo model's answers."""

import re
from typing import Final

from toolglot.demo.hints import short
from toolglot.demo.turn import Turn
from toolglot.ir import Audio, Document, Image, Inline, Part, PlainText, Remote, Text, ToolResult
from toolglot.wire import jsontext

_LINES: Final = 8
_WIDTH: Final = 200
_LONG: Final = 2000
_HEADED: Final = re.compile(r"\A(?:[^\n]*\n){0,6}?Output:\n")
"""What some clients write above the output of a command."""

_WRAPPERS: Final = ("output", "result", "content", "error")

WHO: Final = (
    "This is toolglot's demo model: a small program that calls tools and answers from their "
    "results, without any network."
)
HOW: Final = (
    "For a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY before you start "
    "the gateway, or name a provider in toolglot.toml."
)
_TRY: Final = (
    "Ask for something that one of the tools can do, for example to list files, or say one of "
    "parallel, twice, long, refuse, error, truncate."
)
REFUSAL: Final = "The demo model declines, because the message says refuse."
NO_MESSAGES: Final = "There is no message to answer."
OVERLOADED: Final = "The demo model is overloaded, because the message says error."


def small_talk(turn: Turn, *, tools: bool) -> str:
    """The answer where no tool fits."""
    said = f'\n\nYou said: "{short(turn.prompt)}"' if turn.prompt else ""
    return f"{WHO} {HOW}{said}" + (f"\n\n{_TRY}" if tools else "")


def long_text() -> str:
    """About two thousand words."""
    words = WHO.split()
    lines = [f"{number}. {WHO}" for number in range(1, _LONG // (len(words) + 1) + 2)]
    return "\n".join(lines)


def from_results(turn: Turn) -> str:
    """The answer once tools have answered."""
    names = {call.id: call.name for call in turn.calls}
    lines = [_quoted(each, names.get(each.id) or each.name) for each in turn.results]
    lines += [f"There is also {_what(part)}." for part in turn.media if _what(part)]
    return "\n\n".join(lines) or "The tools have not answered."


def thoughts(turn: Turn, plan: str, kept: int) -> str:
    """What the model thinks before it answers."""
    about = f'The user said "{short(turn.prompt)}". ' if turn.prompt else ""
    earlier = f" Of my earlier thoughts, {kept} came back unchanged." if kept else ""
    return f"{about}{plan}{earlier}"


def _quoted(result: ToolResult, name: str | None) -> str:
    tool = f"`{name}`" if name else "The tool"
    text = "\n".join(filter(None, (_text(part) for part in result.parts)))
    text = _HEADED.sub("", _unwrapped(text)).strip("\n")
    media = [what for part in result.parts if (what := _what(part))]
    verb = "failed" if result.is_error else "answered"
    if not text:
        with_what = f" with {' and '.join(media)}" if media else ", but said nothing"
        return f"{tool} {verb}{with_what}."
    more = f"\n\nIt also gave {' and '.join(media)}." if media else ""
    return f"{tool} {verb}:\n\n{_quote(text)}{more}"


def _quote(text: str) -> str:
    lines = text.splitlines()
    shown = [f"> {line[:_WIDTH]}{'…' if len(line) > _WIDTH else ''}" for line in lines[:_LINES]]
    rest = len(lines) - _LINES
    return "\n".join(shown) + (f"\n\n({rest} more lines)" if rest > 0 else "")


def _unwrapped(text: str) -> str:
    """The words of a result that is a JSON object around them."""
    if not text.startswith("{"):
        return text
    try:
        value = jsontext.peek(text)
    except ValueError:
        return text
    held = [value[key] for key in _WRAPPERS if key in value]
    return next((each for each in held if isinstance(each, str)), text)


def _text(part: Part) -> str:
    if isinstance(part, Document) and isinstance(part.source, PlainText):
        return part.source.text
    return part.text if isinstance(part, Text) else ""


def _what(part: Part) -> str:
    """A medium in words; nothing for what can be read."""
    words = {Image: "an image", Audio: "a sound", Document: "a document"}.get(type(part), "")
    if not words or not isinstance(part, (Image, Audio, Document)) or _text(part):
        return ""
    kind = part.source.media_type if isinstance(part.source, (Inline, Remote)) else None
    return f"{words} ({kind})" if kind else words
