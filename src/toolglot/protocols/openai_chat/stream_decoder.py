"""Streams of OpenAI Chat Completions: bytes to events.

Reference: `ChatCompletionChunk` of the `openai` package 3.49.0 (read 2026-11-15).

    data: chunk …  data: chunk with finish_reason  data: chunk with usage, no choices  data: [DONE]

A chunk holds a delta for each choice: more reasoning, content or refusal, and pieces of calls, that
are numbered. Parts have no end of their own. Reasoning and text end where something else begins,
calls with the choice, since pieces of them may come in any order.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import Direct, Event, Failed, Finished, PartDelta, Started, UsageSeen
from toolglot.ir import (
    NO_EXTRAS,
    ApiError,
    Json,
    Reasoning,
    Refusal,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols.openai_chat._message import (
    REASONING,
    Details,
    decode_citation,
    detail_words,
    is_sealed,
    signature_of,
)
from toolglot.protocols.openai_chat._plain_chunk import plain_delta
from toolglot.protocols.openai_chat.parts import PIECES, piece_text
from toolglot.protocols.openai_chat.response import decode_response, decode_stop, decode_usage
from toolglot.protocols.openai_chat.surface import NAME, SERVICE_TIERS, SURFACE, with_variants
from toolglot.wire import jsontext
from toolglot.wire.error_kinds import is_error
from toolglot.wire.fields import Fields, WireDocument
from toolglot.wire.message import WireResponse
from toolglot.wire.sse import SseDecoder
from toolglot.wire.stream_base import BaseStreamDecoder, parse

_MOST_CHOICES: Final = 1024
_NO_STATUS: Final = 600
_MOST_ODD: Final = 8
"""Chunks of an unusual shape in a row after which none of the usual one is expected any more."""
_LEGACY: Final = -1
"""The slot of a call in the form before tools."""


class _Call:
    """A call under construction: held until its name is known, and its id if it has one."""

    __slots__ = ("count", "ended", "id", "kind", "name", "pieces", "signature", "started")

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.kind = "function"
        self.pieces: list[str] = []
        self.count = 0
        self.signature: str | None = None
        self.started = self.ended = False

    def is_closed(self) -> bool:
        """Whether nothing more can come: the arguments are an object, which says itself where it
        ends.
        """
        return self.kind != "custom" and "".join(self.pieces).startswith("{") and self.is_whole()

    def is_whole(self) -> bool:
        """Whether the arguments are JSON; there is no telling for free-form input."""
        if self.kind == "custom":
            return True
        try:
            jsontext.peek("".join(self.pieces))
        except ValueError:
            return False
        return True


class _Choice:
    """What is known of one choice."""

    __slots__ = ("annotations", "called", "calls", "details", "index", "slots", "stop", "worded")

    def __init__(self, index: int) -> None:
        self.index = index
        self.annotations: list[Any] = []
        """Those that came before the text that they are for."""
        self.calls: list[_Call] = []
        self.slots: dict[int, _Call] = {}
        self.details = Details()
        self.stop: StopReason | None = None
        self.called = self.worded = False


class StreamDecoder(BaseStreamDecoder):
    """Bytes to events."""

    repeats = True

    def __init__(self, ctx: Context) -> None:
        super().__init__(WireDocument(ctx, NAME, SURFACE.minor), SseDecoder())
        self._choices: dict[int, _Choice] = {}
        self._usage: Usage | None = None
        self._noted: set[str] = set()
        self._odd = 0
        """How many chunks in a row had another shape than the usual one."""

    @property
    def could_end(self) -> int:
        # Where they are counted at all, the tokens come last.
        return self._count if self._usage is not None and self._all_came else 0

    @property
    def _all_came(self) -> bool:
        return bool(self._choices) and all(choice.stop for choice in self._choices.values())

    def _at_end(self) -> Iterator[Event]:
        return self._done() if self._all_came else self._cut_off()

    def read(self, name: str, payload: bytes, value: Json | None = None) -> Iterable[Event]:
        """What one event of the stream means; `value` is its JSON if that was read already."""
        if self._over:
            return ()
        self._count += 1
        if value is None and name != "error" and self._odd < _MOST_ODD:
            delta = self._usual(payload)
            if delta is not None:
                return (delta,)
        if value is None and payload[:1] != b"{" and payload.strip() == b"[DONE]":
            return self._done()
        value = parse(payload, self._ctx, self._count, value)
        if value is None:
            return ()
        if value.get("error") or name == "error" or value.get("object") == "error":
            return self._error(value)
        delta = self._plain_delta(value)
        return self._other(value) if delta is None else (delta,)

    def direct(self, index: int) -> Direct | None:
        key = self._parts.key(index)
        call = key if isinstance(key, _Call) else None
        if call is None and key not in _TEXTS.values():
            return None

        def collect(text: str) -> None:
            self._count += 1
            if call is not None:
                call.pieces.append(text)

        return index, collect

    def _other(self, value: Json) -> Iterator[Event]:
        try:
            yield from self._chunk(value)
        except DecodeError as error:
            self._skip(str(error))

    def _plain_delta(self, value: Json) -> PartDelta | None:
        """By far the most chunks: more of an open text, reasoning or call of the only choice."""
        delta = _only_delta(value)
        if not delta:
            return None
        choice = value["choices"][0]
        if not choice.keys() <= _CHOICE:
            self._leave(choice, _CHOICE, ("choices", 0))
        ((key, more),) = delta.items() if len(delta) == 1 else _only_member(delta)
        place = _TEXTS.get(key)
        if place is not None:
            index = self._parts.index(place)
            plain = index is not None and type(more) is str and more
            return PartDelta(index, more) if plain else None  # type: ignore[arg-type]  # not None
        if key == "tool_calls" and type(more) is list and len(more) == 1:
            return self._plain_piece(more[0])
        return None

    def _usual(self, payload: bytes) -> PartDelta | None:
        """The same, of a chunk whose shape is the usual one."""
        delta = plain_delta(payload)
        if delta is None:
            self._odd += 1
            return None
        self._odd = 0
        pieces, text, words = delta.tool_calls, delta.content, delta.reasoning_content
        if pieces is None:
            if text:
                index = None if words or delta.reasoning else self._parts.index(_TEXTS["content"])
            else:
                text = words
                index = None if delta.reasoning else self._parts.index(_TEXTS["reasoning_content"])
            return PartDelta(index, text) if text and index is not None else None
        piece, choice = pieces[0], self._choices.get(0)
        if text or words or delta.reasoning or choice is None:
            return None
        return self._more(choice, piece.index, piece.function.arguments)

    def _more(self, choice: _Choice, place: int, piece: str) -> PartDelta | None:
        """More of the arguments of an open call."""
        call = choice.slots.get(place)
        if call is None or not call.started or call.ended or not piece:
            return None
        call.pieces.append(piece)
        return self._parts.delta(call, piece)

    def _plain_piece(self, entry: Any) -> PartDelta | None:
        if type(entry) is not dict or len(entry) != 2:  # noqa: PLR2004 - index and function
            return None
        function, place, choice = entry.get("function"), entry.get("index"), self._choices.get(0)
        if type(function) is not dict or len(function) != 1 or type(place) is not int:
            return None
        piece = function.get("arguments")
        if choice is None or type(piece) is not str:
            return None
        return self._more(choice, place, piece)

    def _leave(self, value: Json, known: frozenset[str], key: str | tuple[str, int] = "") -> None:
        """Name what is unknown of a chunk or a choice, each member once."""
        where = Fields({}, self._document, None, key)
        for name in value.keys() - known:
            path = where.path(name)
            if value[name] not in _NOTHING and path not in self._noted:
                self._noted.add(path)
                self._ctx.leave(where, SURFACE.minor, {name: value[name]})

    def _chunk(self, value: Json) -> Iterator[Event]:
        choices, usage = value.get("choices"), value.get("usage")
        if not self._begun and (choices or usage):
            # Some servers send a chunk about the prompt first, without id or model.
            yield self._begin(value)
        if not value.keys() <= _CHUNK:
            self._leave(value, _CHUNK)
        if isinstance(choices, list):
            for position, choice in enumerate(choices):
                if isinstance(choice, dict):
                    yield from self._choice(choice, position)
        if usage:
            yield from self._counted(usage)

    def _begin(self, value: Json) -> Started:
        self._begun = True
        call_id, model, created, tier = map(value.get, ("id", "model", "created", "service_tier"))
        if tier in SERVICE_TIERS:
            self._noted.add("service_tier")
        if type(call_id) is not str or not call_id:
            self._ctx.members["id"] = ""
            call_id = self._ctx.new_id("chatcmpl-")
        return Started(
            id=call_id,
            model=model if type(model) is str else "",
            created=created if type(created) in (int, float) else None,
            service_tier=tier if type(tier) is str and tier in SERVICE_TIERS else None,
        )

    def _counted(self, value: Any) -> Iterator[Event]:
        usage = decode_usage(Fields(value, self._document, None, "usage"))
        if usage is not None and usage != self._usage:
            self._usage = usage
            yield UsageSeen(usage)

    def _choice(self, value: Json, position: int) -> Iterator[Event]:
        index = value.get("index")
        if type(index) is not int or not 0 <= index < _MOST_CHOICES:
            index = position
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = _Choice(index)
        if not value.keys() <= _CHOICE:
            self._leave(value, _CHOICE, ("choices", index))
        delta = value.get("delta") or value.get("message")
        if "message" in value and value.get("delta"):
            path = f"choices[{index}].message"
            self._note_once("field-minor", path, "what the deltas say, once more")
        if isinstance(delta, dict):
            yield from self._delta(choice, delta)
        if value.get("logprobs"):
            self._note_once(
                "logprobs-dropped",
                f"choices[{index}].logprobs",
                "token probabilities are not streamed on",
            )
        word = value.get("finish_reason")
        if type(word) is str and word and choice.stop is None:
            yield from self._finish(choice, word)
        if isinstance(value.get("usage"), dict):
            yield from self._counted(value["usage"])

    def _delta(self, choice: _Choice, delta: Json) -> Iterator[Event]:
        for key, reader in _READERS.items():
            value = delta.get(key)
            if value:
                yield from reader(self, choice, value)
        if not delta.keys() <= _KNOWN:
            for key in delta.keys() - _KNOWN:
                if delta[key]:
                    path = f"choices[{choice.index}].delta.{key}"
                    self._note_once("event-skipped", path, "an unknown member of a delta")

    def _note_once(self, code: str, path: str, message: str) -> None:
        """Write a note once in a stream."""
        if path not in self._noted:
            self._noted.add(path)
            self._ctx.note(code, path, message)

    # --- reasoning, text, refusal

    def _reasoning_content(self, choice: _Choice, words: Any) -> Iterator[Event]:
        yield from self._reason(choice, words, REASONING[0])

    def _reasoning(self, choice: _Choice, words: Any) -> Iterator[Event]:
        if (choice.index, REASONING[0]) not in self._parts:
            yield from self._reason(choice, words, REASONING[1])

    def _reason(self, choice: _Choice, words: Any, field: str) -> Iterator[Event]:
        if type(words) is not str or not words:
            return
        key = (choice.index, field)
        if key not in self._parts:
            choice.worded = True
            yield from self._close(choice)
            variant = {PIECES: None} if field == PIECES else {"field": field}
            extras = NO_EXTRAS if field == REASONING[0] else with_variants(NO_EXTRAS, variant)
            yield self._parts.start(key, Reasoning(extras=extras), choice.index)
        yield self._parts.delta(key, words)

    def _reasoning_details(self, choice: _Choice, entries: Any) -> Iterator[Event]:
        for entry in entries if isinstance(entries, list) else ():
            if is_sealed(entry):
                yield from self._close(choice)
                yield from self._whole(choice, Reasoning(redacted=True, signature=entry["data"]))
                continue
            if not choice.worded or (choice.index, "") in self._parts:
                yield from self._reason(choice, detail_words(entry), "")
            choice.details.add(entry)

    def _whole(self, choice: _Choice, part: Reasoning) -> Iterator[Event]:
        yield self._parts.start((choice.index, "whole"), part, choice.index)
        yield self._parts.end((choice.index, "whole"))

    def _content(self, choice: _Choice, text: Any) -> Iterator[Event]:
        key = (choice.index, "content")
        index = self._parts.index(key)
        if type(text) is not str:
            yield from self._pieces(choice, text)
            return
        if index is None and text:
            yield from self._close(choice)
            start = self._parts.start(key, Text(text=""), choice.index)
            index = start.index
            yield start
            waiting, choice.annotations = choice.annotations, []
            yield from self._annotations(choice, waiting)
        if index is not None and text:
            yield PartDelta(index, text)

    def _pieces(self, choice: _Choice, pieces: Any) -> Iterator[Event]:
        """Content in parts, which Mistral sends while a model reasons."""
        if isinstance(pieces, dict):
            yield from self._content(choice, jsontext.text(pieces))
            return
        for piece in pieces if isinstance(pieces, list) else ():
            kind = piece.get("type") if isinstance(piece, dict) else None
            if isinstance(piece, dict) and not piece.keys() <= _PIECE:
                self._leave(piece, _PIECE, f"choices[{choice.index}].delta.content[0]")
            thought = piece.get("thinking") if kind == "thinking" else None
            if isinstance(thought, list):
                yield from self._reason(choice, "".join(map(piece_text, thought)), PIECES)
            elif text := piece_text(piece):
                yield from self._content(choice, text)
            elif kind != "text":
                path = f"choices[{choice.index}].delta.content"
                self._note_once("event-skipped", path, f"a part of type {kind} is not streamed on")

    def _refusal(self, choice: _Choice, text: Any) -> Iterator[Event]:
        key = (choice.index, "refusal")
        if type(text) is str:
            if key not in self._parts:
                yield from self._close(choice)
                yield self._parts.start(key, Refusal(text=""), choice.index)
            yield self._parts.delta(key, text)

    def _annotations(self, choice: _Choice, values: Any) -> Iterator[Event]:
        index = self._parts.index((choice.index, "content"))
        if index is None:
            # Some come before the text that cites.
            choice.annotations += values if isinstance(values, list) else ()
            return
        for value in values if isinstance(values, list) else ():
            path = f"choices[{choice.index}].delta"
            fields = Fields({}, self._document, None, path).element(value, "annotations", 0)
            if type(fields.peek("index")) is int:
                fields.take("index")
            citation = decode_citation(fields)
            yield PartDelta(index, "", "citation", citation=citation)

    def _close(self, choice: _Choice) -> Iterator[Event]:
        """End what is being said, and calls that are complete; more of others may still come."""
        for call in choice.calls:
            if call.started and not call.ended and call.is_closed():
                call.ended = True
                yield self._parts.end(call)
        for member in ("reasoning_content", "reasoning", PIECES, "", "content", "refusal"):
            if (choice.index, member) in self._parts:
                yield self._parts.end((choice.index, member))
        details = choice.details.take()
        if details:
            extras = with_variants(NO_EXTRAS, {"field": "", "details": details})
            yield from self._whole(choice, Reasoning(redacted=True, extras=extras))

    # --- calls

    def _tool_calls(self, choice: _Choice, entries: Any) -> Iterator[Event]:
        for position, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict):
                call = _slot(choice, entry, position)
                yield from self._call(choice, call, entry)

    def _function_call(self, choice: _Choice, entry: Any) -> Iterator[Event]:
        # llama-cpp-python sends every call in both forms.
        if isinstance(entry, dict) and (not choice.slots or _LEGACY in choice.slots):
            path = f"choices[{choice.index}].delta.function_call"
            self._note_once("legacy-upgraded", path, "read as a tool call")
            call = choice.slots.get(_LEGACY)
            if call is None:
                call = choice.slots[_LEGACY] = _Call()
                choice.calls.append(call)
            yield from self._call(choice, call, {"function": entry})

    def _call(self, choice: _Choice, call: _Call, entry: Json) -> Iterator[Event]:
        inner = next((entry[key] for key in ("custom", "function") if entry.get(key)), entry)
        if not isinstance(inner, dict):
            return
        if "custom" in entry or entry.get("type") == "custom":
            call.kind = "custom"
        call.id = call.id or _text(entry.get("id"))
        call.name = call.name or _text(inner.get("name"))
        call.count += 1
        path = f"choices[{choice.index}].delta.tool_calls"
        piece = self._piece(call, inner, path)
        if call.ended:
            if piece and piece.strip():
                self._note_once("event-skipped", path, "more of a call that was complete")
            return
        if piece:
            call.pieces.append(piece)
        signature = signature_of(entry.get("extra_content"))
        if call.started:
            if piece:
                yield self._parts.delta(call, piece)
            if signature and call.signature is None:
                call.signature = signature
                yield replace(self._parts.delta(call, signature), field="signature")
            return
        call.signature = call.signature or signature
        if call.name and (call.id or call.count > 1):
            yield from self._start(choice, call)

    def _piece(self, call: _Call, inner: Json, path: str) -> str | None:
        """More of the arguments, as text."""
        piece = inner.get("input" if call.kind == "custom" else "arguments")
        if piece is None or type(piece) is str:
            return piece
        self._note_once("arguments-normalised", path, "a value in place of its JSON text")
        return jsontext.text(piece)

    def _start(self, choice: _Choice, call: _Call) -> Iterator[Event]:
        yield from self._close(choice)
        call.started = choice.called = True
        made = not call.id
        if made:
            call.id = self._ctx.new_id("call_")
            words = f"a call without id is named {call.id}"
            self._ctx.note("id-made", f"choices[{choice.index}].delta.tool_calls", words)
        kind: Any = call.kind
        part = ToolCall(
            id=call.id,
            name=call.name,
            arguments="",
            type=kind,
            id_made=made,
            signature=call.signature,
        )
        yield self._parts.start(call, part, choice.index)
        held = "".join(call.pieces)
        if held:
            yield self._parts.delta(call, held)

    # --- the end

    def _finish(self, choice: _Choice, word: str | None) -> Iterator[Event]:
        for number, call in enumerate(choice.calls):
            if not call.started and (call.id or call.name or call.pieces):
                if not call.name:
                    call.name = f"tool_{number}"
                    path = f"choices[{choice.index}].delta.tool_calls"
                    self._ctx.note("name-made", path, f"it is called {call.name}")
                yield from self._start(choice, call)
        yield from self._close(choice)
        if choice.annotations:
            words = "there is no text that they cite for"
            path = f"choices[{choice.index}].delta.annotations"
            self._note_once("citation-dropped", path, words)
        if word == "function_call" and _LEGACY in choice.slots:
            word = "tool_calls"
        choice.stop = stop = decode_stop(word, called=choice.called) or StopReason(
            kind="tool_calls" if choice.called else "end"
        )
        cut = stop.kind not in ("end", "tool_calls")
        for call in choice.calls:
            if call.started and not call.ended:
                yield self._parts.end(call, incomplete=cut and not call.is_whole())
        choice.calls.clear()
        choice.slots.clear()

    def _done(self) -> Iterator[Event]:
        self._over = True
        if not self._begun or not all(map(_is_whole, self._choices.values())):
            yield from self._cut_off()
            return
        for choice in self._choices.values():
            if choice.stop is None:
                yield from self._finish(choice, None)
        yield from self._parts.end_all()
        stops = [StopReason(kind="other")] * (max(self._choices, default=0) + 1)
        for choice in self._choices.values():
            stops[choice.index] = choice.stop or stops[choice.index]
        yield Finished(tuple(stops))

    def _error(self, value: Json) -> Iterator[Event]:
        self._over = True
        yield from self._parts.end_all(incomplete=True)
        error = value.get("error")
        code = error.get("code") if isinstance(error, dict) else value.get("code")
        # Some servers have error numbers of their own there, which are no HTTP status.
        status = code if type(code) is int and is_error(code) and code < _NO_STATUS else 500
        failed = decode_response(WireResponse(body=value, status=status), self._ctx)
        assert isinstance(failed, ApiError)  # noqa: S101 - such a status decodes to nothing else
        yield Failed(failed)


_READERS: Final[dict[str, Callable[[StreamDecoder, _Choice, Any], Iterator[Event]]]] = {
    "reasoning_content": StreamDecoder._reasoning_content,
    "reasoning": StreamDecoder._reasoning,
    "reasoning_details": StreamDecoder._reasoning_details,
    "content": StreamDecoder._content,
    "refusal": StreamDecoder._refusal,
    "annotations": StreamDecoder._annotations,
    "tool_calls": StreamDecoder._tool_calls,
    "function_call": StreamDecoder._function_call,
}
_KNOWN: Final = frozenset({"role", *_READERS})
_TEXTS: Final = {key: (0, key) for key in ("content", *REASONING)}
"""Members of a delta that are more of a text, and the key of its part for the first choice."""
_PIECE: Final = frozenset({"type", "text", "thinking"})
_NOTHING: Final[tuple[Any, ...]] = (None, {}, [])
_CHUNK: Final = frozenset({"id", "object", "created", "model", "choices", "usage"})
_CHOICE: Final = frozenset({"index", "delta", "message", "finish_reason", "logprobs", "usage"})
"""What a chunk and a choice of it may hold that is read, or means nothing."""


def _slot(choice: _Choice, entry: Json, position: int) -> _Call:
    """The call that a piece belongs to: by index, else by id, else by its place in the list."""
    given, index = _text(entry.get("id")), entry.get("index")
    function = entry.get("function")
    named = isinstance(function, dict) and bool(function.get("name"))
    if type(index) is not int:
        known = next((call for call in choice.calls if given and call.id == given), None)
        if known is not None:
            return known
        index, fresh = position, bool(given) or named
    else:
        call = choice.slots.get(index)
        fresh = bool(given and named and call is not None and call.id and call.id != given)
    if fresh or index not in choice.slots:
        choice.slots[index] = call = _Call()
        choice.calls.append(call)
    return choice.slots[index]


def _only_delta(value: Json) -> Json | None:
    """The delta of a chunk that holds nothing else, for the first choice."""
    choices = value.get("choices")
    if type(choices) is not list or len(choices) != 1 or type(choice := choices[0]) is not dict:
        return None
    get = choice.get
    if get("finish_reason") or get("index") or get("logprobs") or "usage" in choice:
        return None
    delta = get("delta")
    return delta if type(delta) is dict and not value.get("usage") else None


def _only_member(delta: Json) -> Iterable[tuple[str, Any]]:
    """The one member of a delta that says something, beside the role and empty ones."""
    said = [(key, value) for key, value in delta.items() if value and key != "role"]
    return said if len(said) == 1 else (("", None),)


def _is_whole(choice: _Choice) -> bool:
    """Whether a choice can have ended here, though nothing said so."""
    return choice.stop is not None or all(call.is_whole() for call in choice.calls if call.pieces)


def _text(value: Any) -> str:
    return value if type(value) is str else ""
