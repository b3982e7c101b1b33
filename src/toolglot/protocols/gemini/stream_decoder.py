"""Streams of Gemini: bytes to events.

Reference: https://ai.google.dev/api/generate-content (read 2026-11-15). Every chunk is a response
with the next pieces of its candidates: texts to be joined, calls whole. `finishReason` comes with
the last piece of a candidate, token counts with any chunk. There is no end marker.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import (
    Event,
    Failed,
    Finished,
    OpaqueEvent,
    PartDelta,
    Started,
    UsageSeen,
)
from toolglot.ir import (
    NO_EXTRAS,
    ApiError,
    Citation,
    Json,
    Part,
    Reasoning,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols.gemini._framing import Framing
from toolglot.protocols.gemini._grounding import GROUNDING, citations, leave
from toolglot.protocols.gemini._partial_arguments import PartialCall
from toolglot.protocols.gemini._variants import CallIds, with_variants
from toolglot.protocols.gemini.parts import decode_part
from toolglot.protocols.gemini.response import (
    blocked,
    decode_response,
    decode_stop,
    decode_usage,
)
from toolglot.protocols.gemini.surface import NAME, STOP_NUMBERS, SURFACE
from toolglot.wire import jsontext
from toolglot.wire.fields import Fields, WireDocument
from toolglot.wire.message import WireResponse
from toolglot.wire.parts import arguments_text
from toolglot.wire.sent_text import SentText
from toolglot.wire.stream_base import BaseStreamDecoder, parse

_HEAD: Final = frozenset(
    {"candidates", "usageMetadata", "modelVersion", "responseId", "createTime", "promptFeedback"}
)
_CANDIDATE: Final = frozenset({"content", "finishReason", "index"})
_PLAIN_HEAD: Final = _HEAD - {"promptFeedback"}
_PLAIN: Final = frozenset({"content", "index"})
"""What a chunk and its one candidate hold that bring nothing but more text."""

_MOST_CHOICES: Final = 1024
_LONGEST_CITED: Final = 4 * 1024 * 1024
"""Characters of a text in which citations are placed."""


class StreamDecoder(BaseStreamDecoder):
    """Bytes to events."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(WireDocument(ctx, NAME, SURFACE.minor), Framing())
        self._ids = CallIds(lambda: ctx.new_id("call_"))
        self._kinds: dict[int, type[Part]] = {}
        self._held: dict[int, PartialCall] = {}
        self._called: set[int] = set()
        self._texts: dict[int, SentText] = {}
        """What came of the open text of each choice."""
        self._grounding: dict[int, Any] = {}
        """What the chunk that is being read says of the sources of each choice."""
        self._cited: dict[int, list[Citation]] = {}
        self._stops: dict[int, StopReason | None] = {}
        self._seen: dict[tuple[int, str], Any] = {}
        self._usage: Json | None = None
        self._extras: Json = {}
        self._went_on = False
        """Some servers say with every chunk that they stopped."""

    @property
    def could_end(self) -> int:
        stopped = bool(self._stops) and None not in self._stops.values()
        return self._count if stopped and not self._went_on and not self._held else 0

    def _at_end(self) -> Iterator[Event]:
        """The end of a response whose candidates all said why they stopped, else an error."""
        self._over = True
        yield from self._last()
        stops = tuple(self._stops.get(choice) for choice in range(max(self._stops, default=-1) + 1))
        if stops and None not in stops:
            yield from self._parts.end_all()
            yield Finished(
                tuple(stop for stop in stops if stop is not None),
                {NAME: self._extras} if self._extras else NO_EXTRAS,
            )
        else:
            yield from self._cut_off()

    def _last(self) -> Iterator[Event]:
        """What was held back: calls that never became whole, and the token counts."""
        for choice in list(self._held):
            yield from self._end_held(choice, incomplete=True)
        usage = self._last_usage()
        if usage is not None:
            yield UsageSeen(usage)

    def read(self, _name: str, payload: bytes, value: Json | None = None) -> Iterable[Event]:
        """What one event of the stream means; `value` is its JSON if that was read already."""
        self._count += 1
        if self._over or payload == b"[DONE]":
            return ()
        value = parse(payload, self._ctx, self._count, value)
        if not value:
            return ()
        delta = self._plain_delta(value)
        return self._other(value) if delta is None else (delta,)

    def _other(self, value: Json) -> Iterator[Event]:
        try:
            failed = value.get("error") is not None
            yield from self._error(value) if failed else self._chunk(value)
        except DecodeError as error:
            self._skip(str(error))

    def _plain_delta(self, value: Json) -> PartDelta | None:
        """By far the most chunks: more of an open text, and nothing else."""
        candidates = value.get("candidates")
        if type(candidates) is not list or len(candidates) != 1 or not value.keys() <= _PLAIN_HEAD:
            return None
        candidate = candidates[0]
        if type(candidate) is not dict or not candidate.keys() <= _PLAIN:
            return None
        text, choice = _only_text(candidate.get("content")), candidate.get("index", 0)
        if not text or type(choice) is not int or self._kinds.get(choice) is not Text:
            return None
        usage = value.get("usageMetadata")
        if type(usage) is dict:
            self._usage = usage
        self._texts[choice].append(text)
        return self._parts.delta(choice, text)

    def _chunk(self, value: Json) -> Iterator[Event]:
        usage = value.get("usageMetadata")
        if isinstance(usage, dict):
            self._usage = usage
        if not self._begun:
            yield self._begin(value)
        candidates = value.get("candidates")
        for place, candidate in enumerate(candidates if isinstance(candidates, list) else ()):
            if isinstance(candidate, dict):
                yield from self._candidate(candidate, place)
        if value.keys() - _HEAD or "promptFeedback" in value:
            self._more(value)

    def _begin(self, value: Json) -> Started:
        self._begun = True
        given, model, created = (
            value.get(key) for key in ("responseId", "modelVersion", "createTime")
        )
        known = isinstance(given, str) and given
        return Started(
            id=str(given) if known else self._ctx.new_id("resp_"),
            model=model if isinstance(model, str) else "",
            created=created if isinstance(created, str) else None,
            usage=self._last_usage(),
            extras=NO_EXTRAS if known else with_variants({}, {"without": ("responseId",)}),
        )

    def _last_usage(self) -> Usage | None:
        if self._usage is None:
            return None
        fields = Fields(self._usage, self._document, None, "usageMetadata")
        self._usage = None
        try:
            return decode_usage(fields)
        except DecodeError as error:
            self._skip(str(error))
            return None

    def _more(self, value: Json) -> None:
        """What is said of the whole response besides: a blocked prompt, and what we do not know."""
        more = {
            key: member
            for key, member in value.items()
            if key not in _HEAD or key == "promptFeedback"
        }
        fresh = {key: member for key, member in more.items() if key not in self._extras}
        self._ctx.leave(Fields({}, self._document), SURFACE.minor, fresh)
        self._extras |= more
        stop = blocked(value.get("promptFeedback"))
        if stop is not None and not self._stops:
            self._stops[0] = stop

    def _candidate(self, candidate: Json, place: int) -> Iterator[Event]:
        index = candidate.get("index")
        choice = index if type(index) is int and 0 <= index < _MOST_CHOICES else place
        if self._stops.setdefault(choice, None) is not None and candidate.get("content"):
            self._went_on = True
        if candidate.get(GROUNDING) is not None:
            self._grounding[choice] = candidate[GROUNDING]
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for number, part in enumerate(parts if isinstance(parts, list) else ()):
            if type(part) is dict and len(part) == 1 and type(part.get("text")) is str:
                yield from self._text(choice, Text, part["text"])
            else:
                yield from self._part(choice, part, number)
        word = candidate.get("finishReason")
        if type(word) is int and word:
            word = STOP_NUMBERS.get(word, str(word))
        if choice in self._grounding:
            yield from self._cite(choice)
            del self._grounding[choice]
        if isinstance(word, str):
            yield from self._end(choice)
            self._stops[choice] = decode_stop(word, calls=choice in self._called)
        if candidate.keys() - _CANDIDATE:
            yield from self._metadata(choice, candidate)

    def _text(self, choice: int, kind: type[Text | Reasoning], text: str) -> Iterator[Event]:
        if not text:
            return
        if self._kinds.get(choice) is not kind:
            yield from self._end(choice)
            self._kinds[choice] = kind
            self._texts[choice] = SentText(_LONGEST_CITED)
            yield self._parts.start(choice, kind(text=""), choice)
        self._texts[choice].append(text)
        yield self._parts.delta(choice, text)

    def _cite(self, choice: int) -> Iterator[Event]:
        """The pages that the open text was taken from, each once."""
        index = self._parts.index(choice)
        if index is None or self._kinds.get(choice) is not Text:
            return
        text = self._texts[choice].text()
        if text is None:
            self._skip("the text that is cited is too long")
            return
        known = self._cited.setdefault(choice, [])
        for _, citation in citations(self._grounding[choice], [text]):
            if citation not in known:
                known.append(citation)
                yield PartDelta(index, "", "citation", citation=citation)

    def _part(self, choice: int, value: Any, number: int) -> Iterator[Event]:
        call = value.get("functionCall") if isinstance(value, dict) else None
        if isinstance(call, dict) and (choice in self._held or _continues(call)):
            yield from self._piece(choice, value, call, number)
            return
        chunk = Fields({}, self._document, None, f"candidates[{choice}].content")
        part = decode_part(value, chunk, "parts", number, self._ids)
        if isinstance(part, (Text, Reasoning)):
            yield from self._signed(choice, part)
            return
        yield from self._end(choice)
        if isinstance(part, ToolCall):
            yield from self._call(choice, part, part.arguments)
        else:
            yield self._parts.start(choice, part, choice)
            yield self._parts.end(choice)

    def _signed(self, choice: int, part: Text | Reasoning) -> Iterator[Event]:
        """Text or thought with a signature, which ends the part that it signs, or with extras."""
        kind = type(part)
        yield from self._text(choice, kind, part.text)
        if part.signature is None:
            return
        if self._kinds.get(choice) is not kind:
            yield from self._end(choice)
            if isinstance(part, Reasoning):
                # Nothing but state, which stands in the part from its start.
                yield self._parts.start(choice, replace(part, extras=NO_EXTRAS), choice)
                yield self._parts.end(choice)
                return
            yield self._parts.start(choice, Text(text=""), choice)
        index = self._parts.index(choice)
        if index is not None:
            yield PartDelta(index, part.signature, "signature")
        yield from self._end(choice)

    def _call(
        self, choice: int, call: ToolCall, arguments: str, *, incomplete: bool = False
    ) -> Iterator[Event]:
        self._called.add(choice)
        yield self._parts.start(choice, replace(call, arguments=""), choice)
        if arguments:
            yield self._parts.delta(choice, arguments)
        yield self._parts.end(choice, incomplete=incomplete)

    def _piece(self, choice: int, value: Json, call: Json, number: int) -> Iterator[Event]:
        """A call, or more of it, whose arguments come in pieces."""
        if choice in self._held and call.get("name"):
            yield from self._end_held(choice, incomplete=True)
        if choice not in self._held:
            yield from self._end(choice)
            chunk = Fields({}, self._document, None, f"candidates[{choice}].content")
            first = {key: call[key] for key in ("id", "name") if key in call}
            part = decode_part(value | {"functionCall": first}, chunk, "parts", number, self._ids)
            if not isinstance(part, ToolCall):  # pragma: no cover - a functionCall is nothing else
                return
            args = call.get("args")
            self._held[choice] = PartialCall(
                replace(part, extras=NO_EXTRAS), dict(args) if isinstance(args, dict) else {}
            )
        self._held[choice].add(call.get("partialArgs"))
        if call.get("willContinue") is not True:
            yield from self._end_held(choice)

    def _end_held(self, choice: int, *, incomplete: bool = False) -> Iterator[Event]:
        held = self._held.pop(choice)
        arguments = arguments_text(held.arguments())
        yield from self._call(choice, held.call, arguments, incomplete=incomplete)

    def _end(self, choice: int) -> Iterator[Event]:
        if choice in self._held:
            yield from self._end_held(choice, incomplete=True)
        if choice in self._grounding:
            yield from self._cite(choice)
        self._kinds.pop(choice, None)
        if choice in self._parts:
            yield self._parts.end(choice)

    def _metadata(self, choice: int, candidate: Json) -> Iterator[Event]:
        """Members of a candidate beside its content, each when it is new."""
        news = {
            key: member
            for key, member in candidate.items()
            if key not in _CANDIDATE and self._seen.get((choice, key)) != member
        }
        if news:
            fresh = {key: member for key, member in news.items() if (choice, key) not in self._seen}
            where = Fields({}, self._document, None, ("candidates", choice))
            if GROUNDING in news:
                fresh.pop(GROUNDING, None)
                leave(news[GROUNDING], where, SURFACE.minor, cited=bool(self._cited.get(choice)))
            self._ctx.leave(where, SURFACE.minor, fresh)
            self._seen |= {(choice, key): member for key, member in news.items()}
            yield OpaqueEvent(NAME, f"candidates[{choice}]", {"index": choice, **news})

    def _error(self, value: Json) -> Iterator[Event]:
        self._over = True
        if self._begun:
            yield from self._last()
        yield from self._parts.end_all(incomplete=True)
        try:
            error = decode_response(WireResponse(body=value), self._ctx)
        except DecodeError:
            error = ApiError(kind="server", message=jsontext.text(value), status=500)
        assert isinstance(error, ApiError)  # noqa: S101 - a body with an error decodes to nothing else
        yield Failed(error)


def _only_text(content: Any) -> str:
    """The text of a content that is one part with nothing but text."""
    parts = content.get("parts") if type(content) is dict else None
    if type(parts) is not list or len(parts) != 1 or type(part := parts[0]) is not dict:
        return ""
    text = part.get("text")
    return text if len(part) == 1 and type(text) is str else ""


def _continues(call: Json) -> bool:
    return call.get("willContinue") is True or isinstance(call.get("partialArgs"), list)
