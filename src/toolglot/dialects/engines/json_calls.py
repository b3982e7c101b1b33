"""Calls that are JSON objects: between tags, after a token, in a fence, or bare."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from toolglot.dialects import literals
from toolglot.dialects.argument_reader import ObjectArguments
from toolglot.dialects.reader import (
    Form,
    NotACall,
    Reader,
    Steps,
    Stops,
    TextSegment,
    encoded,
)
from toolglot.dialects.writers import JsonWriter, Writer, json_array

_NAMES: Final = ("name", "function", "tool_name", "tool", "action", "function_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input", "action_input", "params")
_IDS: Final = ("id", "tool_call_id", "call_id")
_INNER: Final = ("function", "tool_call", "function_call")
_LISTS: Final = ("tool_calls", "content", "calls")
_FENCES: Final = ("```json", "```")
_CODE_END: Final = Stops("</code>")
_MAX_LEAD: Final = 256
_MAX_HEAD: Final = 512
_HEAD: Final = re.compile(
    r'\{\s*"name"\s*:\s*"([^"\\\n]{1,256})"\s*,\s*"(?:arguments|parameters)"\s*:\s*\{'
)


class FoundCall(NamedTuple):
    """A call as it is in the JSON."""

    name: str
    arguments: str
    id: str = ""
    raw: str = ""


class _Progress:
    """Watches an object come in: after the usual beginning, its arguments are streamed."""

    __slots__ = ("_arguments", "_reader", "_start")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._start: int | None = reader.pos
        self._arguments: ObjectArguments | None = None

    def __call__(self, end: int) -> None:
        """It came as far as this."""
        if self._start is not None:
            match = _HEAD.match(self._reader.buf, self._start, end)
            if match is not None:
                self._reader.named(match[1])
                self._arguments = ObjectArguments(self._reader, match.end() - 1)
            if match is not None or end - self._start > _MAX_HEAD:
                self._start = None
        if self._arguments is not None:
            self._arguments(end)


@dataclass(frozen=True, kw_only=True)
class JsonForm(Form):
    """One JSON value after an opener, or several, with or without a closer."""

    before: tuple[str, ...] = ()
    """Marks that may come between the opener and the value."""
    closers: tuple[str, ...] = ()
    between: str = ""
    """Characters that may separate values; empty if one value is all."""
    keyed: bool = False
    """Whether the one key of each object is the name."""
    starts: str = "{["
    keeps_opener: bool = False
    """Whether the opener is part of the value."""
    needs_arguments: bool = False
    must_close: bool = False
    lead: tuple[str, ...] = ()
    """Marks up to which words are dropped; the first of them is followed by a call."""
    empty: bool = True
    """Whether a block with nothing in it means nothing."""
    envelope: bool = False
    """Whether only what an API would send counts: calls in a list of `tool_calls` and the like."""

    def writer(self) -> Writer:
        opener = "" if self.keeps_opener else self.openers[0]
        closer = self.closers[0] if self.closers else ""
        if self.starts == "[" or (self.keeps_opener and self.openers[0] == "["):
            return json_array(opener, closer, keyed=self.keyed)
        return JsonWriter(begin=opener, end=closer, keyed=self.keyed)

    def read(self, reader: Reader, opener: str) -> Steps[None]:
        """Read values until none follows."""
        fenced = yield from self._begin(reader, opener)
        if self.empty and self.closers and (yield from reader.literal(*self.closers)):
            return
        calls: list[FoundCall] = []
        while True:
            if (yield from reader.peek()) not in tuple(self.starts):
                if calls:
                    break
                raise NotACall
            found = yield from self._value(reader)
            calls.extend(found)
            end = reader.pos
            yield from reader.spaces()
            if fenced and (yield from reader.literal(_FENCES[-1])):
                end = reader.pos
                yield from reader.spaces()
            if not self.between:
                break
            while (yield from reader.peek()) in tuple(self.between):
                reader.pos += 1
                yield from reader.spaces()
            if (yield from reader.peek()) not in tuple(self.starts):
                break
            if calls and not self.must_close:
                after, reader.pos = reader.pos, end
                _offer(reader, calls)
                calls = []
                reader.pos = after
        yield from self._close(reader, calls, end)

    def _begin(self, reader: Reader, opener: str) -> Steps[bool]:
        """Skip what comes before the value; whether it is in a fence."""
        if self.keeps_opener:
            reader.pos -= len(opener)
        if self.lead:
            yield from self._led(reader)
        skipped = self.before if self.keeps_opener else (*self.before, opener)
        while True:
            yield from reader.spaces()
            if not skipped or not (yield from reader.literal(*skipped)):
                break
        if self.keeps_opener or not (yield from reader.literal(*_FENCES)):
            return False
        yield from reader.spaces()
        return True

    def _led(self, reader: Reader) -> Steps[None]:
        _, stop = yield from reader.until(Stops(*self.lead), _MAX_LEAD)
        if stop != self.lead[0]:
            raise NotACall

    def _close(self, reader: Reader, calls: list[FoundCall], end: int) -> Steps[None]:
        if self.closers:
            closed = yield from reader.literal(*self.closers)
            if not closed and (yield from reader.literal("}")):
                yield from reader.spaces()
                closed = yield from reader.literal(*self.closers)
                end = reader.pos if reader.pos >= len(reader.buf) else end
            if not closed:
                if self.must_close and reader.pos < len(reader.buf):
                    raise NotACall
                reader.pos = end
        else:
            reader.pos = end
        if not calls and not reader.accepted and not reader.rejected:
            raise NotACall
        _offer(reader, calls)

    def _value(self, reader: Reader) -> Steps[list[FoundCall]]:
        plain = not (self.keyed or self.must_close or self.envelope)
        text, complete = yield from reader.value(progress=_Progress(reader) if plain else None)
        if not complete:
            text = yield from self._completed(reader, text)
        found = list(self._calls(text))
        if len(found) == 1 and self.closers:
            code = yield from _code(reader)
            if code is not None:
                arguments = literals.lenient(found[0].arguments)
                found = [found[0]._replace(arguments=encoded({**arguments, "code": code}))]
        return found

    def _completed(self, reader: Reader, text: str) -> Steps[str]:
        """A value whose last brackets are missing, if nothing else is."""
        if reader.pos < len(reader.buf):
            here = reader.pos
            if (yield from reader.literal(*(self.closers or ("\x00",)))):
                reader.pos = here
            elif reader.buf[here] in "}]":
                reader.pos += 1
            else:
                raise NotACall
        elif not text.rstrip().endswith(("}", "]", '"')):
            raise NotACall
        return text

    def _calls(self, text: str) -> Iterator[FoundCall]:
        try:
            value = literals.lenient(text)
        except (ValueError, ArithmeticError):
            if not text.startswith("["):
                raise NotACall from None
            yield from self._survivors(text)
            return
        yield from self._from_value(value, text)

    def _survivors(self, text: str) -> Iterator[FoundCall]:
        """The elements of a broken array that are not broken themselves."""
        count = 0
        for piece in literals.pieces(text):
            if not piece.startswith("{"):
                continue
            try:
                for call in self._calls(piece):
                    count += 1
                    yield call
            except NotACall:
                continue
        if not count:
            raise NotACall

    def _from_value(self, value: Any, text: str) -> Iterator[FoundCall]:
        if not isinstance(value, list):
            yield from self._from_item(value, text)
            return
        texts = literals.pieces(text) if literals.is_json(text) else []
        if len(texts) != len(value):
            texts = [""] * len(value)
        for item, raw in zip(value, texts, strict=True):
            yield from self._from_item(item, raw)

    def _from_item(self, value: Any, text: str) -> Iterator[FoundCall]:
        if not isinstance(value, dict):
            raise NotACall
        if self.keyed:
            yield from _keyed(value, text)
            return
        inside = None if "name" in value else _unwrapped(value)
        if inside is not None:
            for item in inside:
                yield self._one(item, "")
        elif self.envelope:
            raise NotACall
        else:
            yield self._one(value, text)

    def _one(self, value: dict[str, Any], text: str) -> FoundCall:
        name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
        if not name:
            raise NotACall
        key = next((key for key in _ARGUMENTS if key in value), None)
        if key is None and self.needs_arguments:
            raise NotACall
        call_id = next((value[each] for each in _IDS if isinstance(value.get(each), str)), "")
        return FoundCall(name, _arguments(value.get(key or ""), key, text), call_id, text)


def _unwrapped(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The calls in what looks like an answer of an API; none if it is something else."""
    for word in _LISTS:
        if isinstance(value.get(word), list):
            return [_function(item) for item in value[word] if _is_call(item)]
    inner = _function(value)
    return [inner] if inner is not value else None


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type", "function") in ("function", "tool_use")


def _function(item: dict[str, Any]) -> dict[str, Any]:
    """The object with the name, which some put one level down."""
    for word in _INNER:
        inner = item.get(word)
        if isinstance(inner, dict):
            return {"id": item.get("id"), **inner}
    return item


def _keyed(value: dict[str, Any], text: str) -> Iterator[FoundCall]:
    for name, arguments in value.items():
        yield FoundCall(name, _arguments(arguments, name, text))


def _arguments(value: Any, key: str | None, text: str) -> str:
    """The JSON text of arguments, as the model wrote it where that is JSON."""
    if value is None or value == "":
        return "{}"
    if isinstance(value, str):
        try:
            inner = literals.lenient(value)
        except (ValueError, ArithmeticError):
            raise NotACall from None
        if isinstance(inner, dict):
            return value if literals.is_json(value) else encoded(inner)
        raise NotACall
    if not isinstance(value, dict):
        raise NotACall
    return _verbatim(key, text) or encoded(value)


def _verbatim(key: str | None, text: str) -> str:
    if key is None or not literals.is_json(text):
        return ""
    for piece in literals.pieces(text):
        head, colon, raw = piece.partition(":")
        if colon and head.strip() == f'"{key}"' and raw.strip().startswith("{"):
            return raw.strip()
    return ""


def _offer(reader: Reader, calls: list[FoundCall]) -> None:
    """Offer the calls of one value; undeclared ones stay text beside the others."""
    if all(reader.tools.resolve(call.name) is None for call in calls):
        reader.rejected += len(calls)
        reader.give_back()
        return
    for call in calls:
        if reader.tools.resolve(call.name) is None:
            reader.rejected += 1
            reader.out.append(TextSegment(call.raw or encoded(call._asdict())))
        else:
            reader.offer(call.name, call.arguments, call.id)


def _code(reader: Reader) -> Steps[str | None]:
    """Code beside the object instead of in it."""
    here = reader.pos
    yield from reader.spaces()
    if not (yield from reader.literal("<code>")):
        reader.pos = here
        return None
    text, stop = yield from reader.until(_CODE_END)
    if not stop:
        raise NotACall
    return text.strip("\n")
