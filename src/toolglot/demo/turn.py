"""The current turn of a conversation: the prompt, the calls made for it, and their results."""

import re
from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec import Struct

from toolglot.ir import Message, Part, Reasoning, Request, Text, ToolCall, ToolResult

_P = TypeVar("_P")

_INJECTED: Final = re.compile(
    r"<((?:[\w-]*(?:reminder|context|instructions|environment|caveat|metadata)[\w-]*))\b[^>]*>"
    r".*?</\1>",
    re.DOTALL | re.IGNORECASE,
)
"""What clients put among the user's words, in tags."""

_CUES: Final = frozenset({"parallel", "twice", "error", "refuse", "long", "truncate"})
_MOST_WORDS: Final = 30
"""A longer message is a task or a client's own prompt; its words are no cues."""


class Turn(Struct, frozen=True, kw_only=True):
    """The last prompt of the user, and what followed it."""

    prompt: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    media: tuple[Part, ...] = ()
    """Pictures and other things beside the results, which belong to them."""

    rounds: int = 0
    """How often the model has called tools for it."""

    thoughts: tuple[Reasoning, ...] = ()
    """All reasoning in the history."""

    @property
    def cues(self) -> frozenset[str]:
        """The words of the prompt that ask for a special behaviour."""
        words = re.findall(r"[\w-]+", self.prompt.lower())
        return _CUES.intersection(words) if len(words) <= _MOST_WORDS else frozenset()

    @property
    def asked_rounds(self) -> int:
        """How often tools may be called for this prompt."""
        return 2 if "twice" in self.cues else 1


def read_turn(request: Request) -> Turn:
    """The current turn of a request."""
    talk = [each for each in request.messages if each.role in ("user", "assistant")]
    start = _start(talk)
    since = talk[start + 1 :]
    return Turn(
        prompt=own_words(talk[start]) if talk and start >= 0 else "",
        calls=tuple(_parts(since, ToolCall)),
        results=tuple(_parts(since, ToolResult)),
        media=tuple(
            part
            for message in since
            if message.role == "user"
            for part in message.parts
            if not isinstance(part, (Text, ToolResult, ToolCall, Reasoning))
        ),
        rounds=_rounds(since),
        thoughts=tuple(_parts(request.messages, Reasoning)),
    )


def own_words(message: Message) -> str:
    """The last text of a message, without what the client put into it."""
    for part in reversed(message.parts):
        if isinstance(part, Text) and (words := _INJECTED.sub("", part.text).strip()):
            return words
    return ""


def _start(talk: list[Message]) -> int:
    """The message that is the prompt, or -1.

    A message with results is none, nor is one that only brings the media of the results before it.
    """
    for index in range(len(talk) - 1, -1, -1):
        message = talk[index]
        if message.role != "user" or _has_results(message) or not own_words(message):
            continue
        follows = index > 0 and _has_results(talk[index - 1])
        if follows and any(not isinstance(part, Text) for part in message.parts):
            continue
        return index
    return -1


def _rounds(messages: Iterable[Message]) -> int:
    """Runs of calls; parallel calls may stand in messages of their own."""
    rounds, calling = 0, False
    for message in messages:
        calls = any(isinstance(part, ToolCall) for part in message.parts)
        rounds += calls and not calling
        calling = calls or (calling and message.role == "assistant")
    return rounds


def _has_results(message: Message) -> bool:
    return any(isinstance(part, ToolResult) for part in message.parts)


def _parts(messages: Iterable[Message], kind: type[_P]) -> list[_P]:
    return [part for message in messages for part in message.parts if isinstance(part, kind)]
