"""A sample answer in place of a server: a body, a stream, a message of one, or a model's words."""

from collections.abc import Callable
from typing import Final

from toolglot.dialects.text import parse_text
from toolglot.discovery.facts import Notebook, note_answer, note_calls, note_dialect, note_stream
from toolglot.discovery.reading import Reading, read_answer
from toolglot.discovery.result import make_result
from toolglot.discovery.values import Answer, DiscoveryResult, Spoken
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext

_WRAPPERS: Final[tuple[tuple[str, Callable[[Json], Json]], ...]] = (
    ("tool_calls", lambda value: {"choices": [{"index": 0, "message": value}]}),
    ("functionCall", lambda value: {"candidates": [{"content": {"parts": [value]}}]}),
    ("parts", lambda value: {"candidates": [{"content": value}]}),
    ("content", lambda value: {"type": "message", "role": "assistant", **value}),
    ("input", lambda value: {"type": "message", "role": "assistant", "content": [value]}),
    ("call_id", lambda value: {"output": [value]}),
)
"""A key that gives away a piece of an answer, and the answer around it."""

_PROBE: Final = "sample"


def read_sample(data: bytes) -> DiscoveryResult:
    """What one answer alone shows. It has no address, so it says nothing about where or how."""
    if not data.strip():
        raise DecodeError("", "the sample is empty")
    book, answer = Notebook(), Answer(status=200, body=data)
    reading = _read(data)
    if not reading.protocol:
        return _read_words(book, answer, reading)
    book.add("protocol", reading.protocol, _PROBE, answer)
    note_answer(book, _PROBE, answer, reading)
    note_calls(book, _PROBE, answer, reading, parse_text(reading.text))
    if reading.streamed:
        note_stream(book, _PROBE, answer, reading)
    if len({call.arguments for call in reading.calls}) > 1:
        book.add("parallel", "yes", _PROBE, answer)
    return make_result(book, spoken=(Spoken(protocol=reading.protocol, base_url=""),))


def _read(data: bytes) -> Reading:
    reading = read_answer(data)
    if reading.protocol:
        return reading
    try:
        value = jsontext.peek(data)
    except ValueError:
        return reading
    if isinstance(value, dict):
        for key, wrap in _WRAPPERS:
            if value.get(key):
                whole = read_answer(jsontext.encode(wrap(value)))
                if whole.parts:
                    return whole
    return reading


def _read_words(book: Notebook, answer: Answer, reading: Reading) -> DiscoveryResult:
    """A sample that is of no protocol: the words of a model, or an error."""
    parsed = parse_text(answer.body.decode("utf-8", "replace"))
    if note_dialect(book, _PROBE, answer, parsed):
        book.add("tools", "in text", _PROBE, answer, parsed.calls[0].raw)
    elif reading.error in ("openai", "anthropic", "gemini", "ollama"):
        book.add("errors", reading.error, _PROBE, answer)
    if parsed.reasoning:
        book.add("reasoning", "tags", _PROBE, answer)
    return make_result(book)
