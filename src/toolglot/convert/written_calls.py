"""Calls inside the text of an answer, in a dialect, both ways."""

from collections.abc import Iterable, Iterator

from toolglot.convert.plain_turns import PlainTurn, TurnReader, functions
from toolglot.dialects.reader import CallSegment, ReasoningSegment
from toolglot.dialects.rendering import has_ids, render_calls
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import parse_text
from toolglot.ir import Part, Reasoning, Text, Tool


def read_answer(
    text: str, dialect: str, tools: Iterable[Tool], reader: TurnReader
) -> Iterator[Part]:
    """The words, thoughts and calls of an answer."""
    declared = list(functions(tools)) or None
    named = has_ids(dialect)
    for segment in parse_text(text, declared, dialect).segments:
        if isinstance(segment, CallSegment):
            yield reader.call(segment.name, segment.arguments, segment.id if named else None)
        elif isinstance(segment, ReasoningSegment):
            yield Reasoning(text=segment.text.strip("\n"))
        elif words := getattr(segment, "text", "").strip("\n"):
            yield Text(text=words)


def write_answer(turn: PlainTurn, dialect: str, tools: Iterable[Tool]) -> str:
    """The text of an answer: thoughts, words and calls."""
    declared = list(functions(tools)) or None
    pieces = []
    if turn.thoughts:
        opener, closer = DIALECTS.find(dialect).reasoning[0]
        pieces.append(f"{opener}\n{turn.thoughts}\n{closer}")
    if turn.text:
        pieces.append(turn.text)
    if turn.calls:
        calls = [{"name": each.name, "arguments": each.input} for each in turn.calls]
        pieces.append(render_calls(calls, dialect, declared))
    return "\n".join(pieces)
