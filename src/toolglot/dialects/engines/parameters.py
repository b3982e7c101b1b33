"""Calls written as elements: one for the function, one for each parameter, values as raw text.

Nothing in a value is escaped, so no XML parser could read it: a closer ends a value only where what
follows it is markup too.
"""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolglot.dialects import coerce, literals
from toolglot.dialects.argument_reader import MemberArguments
from toolglot.dialects.reader import Form, NotACall, Reader, Steps, Stops, encoded
from toolglot.dialects.writers import TaggedWriter, Writer, literal

_CLOSER: Final = 12
"""Characters that a closer has at least."""
_MAX_HEAD: Final = 512
_ATTRIBUTE: Final = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>/]+))")
_WRAPPED: Final = ("arguments", "input", "properties", "parameters")
_MAX_KEY: Final = 64
_KEY: Final = re.compile(r"\s*[\"']?([\w.:-]+)[\"']?[^<>\n]*>")
_CDATA: Final = "<![CDATA["
_CDATA_END: Final = Stops("]]>")


@dataclass(frozen=True, kw_only=True)
class ParameterForm(Form):
    """Calls between tags whose names are given here; openers are wrappers or the calls' own."""

    call: tuple[str, ...]
    """How a call begins, up to its name."""
    call_end: tuple[str, ...]
    parameter: tuple[str, ...]
    parameter_end: tuple[str, ...]
    closers: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    """Marks that may come before a call inside the wrapper."""
    after: tuple[str, ...] = ()
    head_end: str = ">"
    plain: bool = True
    """Whether values without a schema stay strings."""
    escaped: bool = False
    noise: tuple[str, ...] = ()
    """Marks that slip into tags and mean nothing there."""
    implicit: bool = True
    """Whether the next parameter may end a value that was not closed."""

    def writer(self) -> Writer:
        call, parameter, opener = self.call[0], self.parameter[0], self.openers[0]
        wrapper = "" if opener.startswith(call) else opener
        return TaggedWriter(
            open=f"{wrapper}\n" if wrapper else "",
            head=f'{literal(call)} name="{{name}}"{literal(self.head_end)}\n',
            parameter=f'{literal(parameter)} name="{{key}}"{literal(self.head_end)}{{value}}'
            f"{literal(self.parameter_end[0])}\n",
            tail=self.call_end[0],
            close=f"\n{self.closers[0]}" if wrapper and self.closers else "",
            plain=self.plain,
            escaped=self.escaped,
        )

    def read(self, reader: Reader, opener: str) -> Steps[None]:
        """Read calls until the wrapper closes or none follows."""
        mark = next((each for each in self.call if opener.startswith(each)), None)
        if mark is None:
            yield from reader.spaces()
            yield from self._skip(reader, self.before)
            if self.closers and (yield from reader.literal(*self.closers)):
                return
            mark = yield from reader.expect(*self.call)
        else:
            reader.pos -= len(opener) - len(mark)
        while True:
            yield from self._call(reader)
            end = reader.pos
            yield from reader.spaces()
            yield from self._skip(reader, (*self.after, *self.call_end))
            if self.closers and (yield from reader.literal(*self.closers)):
                return
            yield from self._skip(reader, self.before)
            if not (yield from reader.literal(*self.call)):
                reader.pos = end
                return

    def _skip(self, reader: Reader, marks: tuple[str, ...]) -> Steps[None]:
        while marks and (yield from reader.literal(*marks)):
            yield from reader.spaces()

    def _head(self, reader: Reader) -> Steps[tuple[str, dict[str, str], bool]]:
        """Name and attributes of a tag, and whether it closes itself."""
        text, stop = yield from reader.until(Stops(self.head_end, *self.noise), _MAX_HEAD)
        while stop in self.noise:
            more, stop = yield from reader.until(Stops(self.head_end, *self.noise), _MAX_HEAD)
            text += more
        if not stop or "\n" in text.strip():
            raise NotACall
        closed = text.endswith("/") and not text.startswith("=")
        attributes = {
            match[1]: next(each for each in match.groups()[1:] if each is not None)
            for match in _ATTRIBUTE.finditer(text)
        }
        if text.startswith("="):
            name = text[1:].strip()
        else:
            name = next(
                (attributes[key] for key in ("name", "tool", "key") if key in attributes), ""
            )
        return html.unescape(name) if "&" in name else name.strip(), attributes, closed

    def _call(self, reader: Reader) -> Steps[None]:
        name, _, closed = yield from self._head(reader)
        if not name:
            raise NotACall
        if reader.tools.resolve(name) is None or reader.tools.known:
            name = name.strip("\"'")
        schema = reader.schema(name)
        reader.named(name)
        streamed = MemberArguments(reader)
        arguments: dict[str, Any] = {}
        body = ""
        while not closed:
            yield from reader.spaces()
            if (yield from reader.literal(*self.parameter)):
                key, value = yield from self._parameter(reader, schema, streamed)
                arguments[key] = value
                streamed.add(key, value)
            elif (yield from reader.literal(*self.call_end)):
                break
            elif not arguments and not body and (yield from reader.peek()) == "{":
                body, _ = yield from reader.value(loose=True)
            else:
                yield from self._open_end(reader, arguments, body)
                break
        reader.offer(name, _whole(arguments, body, schema))

    def _open_end(self, reader: Reader, arguments: dict[str, Any], body: str) -> Steps[None]:
        """A call that is not closed: fine before the next one or the end, if anything is in it."""
        here = reader.pos
        marks = (*self.call, *self.closers, *self.after, *self.before)
        follows = yield from reader.literal(*marks)
        reader.pos = here
        if not follows and not (reader.final and here >= len(reader.buf)):
            raise NotACall
        if not follows and not arguments and not body:
            raise NotACall

    def _parameter(
        self, reader: Reader, schema: Mapping[str, Any], streamed: MemberArguments
    ) -> Steps[tuple[str, Any]]:
        key, attributes, closed = yield from self._head(reader)
        if not key:
            raise NotACall
        if coerce.parameter(schema, key.strip("\"'")) is not None:
            key = key.strip("\"'")
        if closed:
            return key, typed("", schema, key, attributes, plain=self.plain)
        if (yield from reader.literal(_CDATA)):
            raw, stop = yield from reader.until(_CDATA_END)
            yield from reader.spaces()
            if not stop or not (yield from reader.literal(*self.parameter_end)):
                raise NotACall
            return key, typed(raw, schema, key, attributes, plain=self.plain)
        streamed.uncertain |= key in _WRAPPED and coerce.parameter(schema, key) is None
        if not self.escaped and is_text(schema, key, attributes, plain=self.plain):
            streamed.open(key, reader.pos, trims=True)
        raw = yield from self._raw(reader, streamed, schema)
        if self.escaped:
            raw = html.unescape(raw)
        return key, typed(_trimmed(raw), schema, key, attributes, plain=self.plain)

    def _raw(
        self, reader: Reader, streamed: MemberArguments, schema: Mapping[str, Any]
    ) -> Steps[str]:
        """A value up to the closer that really ends it."""
        start = reader.pos
        stops = Stops(*self.parameter_end, *self.call_end, *self.closers, *self._next())
        while True:
            _, stop = yield from reader.until(stops, progress=streamed)
            end = reader.pos - len(stop)
            if not stop:
                raise NotACall
            if stop in self._next():
                ends = yield from self._declared_next(reader, end, schema)
            else:
                ends = yield from self._ends(reader, stop, end)
            if ends:
                return reader.buf[start:end]
            reader.pos = end + len(stop)

    def _next(self) -> tuple[str, ...]:
        if not self.implicit:
            return ()
        return tuple(f"{each}{sep}" for each in self.parameter for sep in ("=", " name="))

    def _declared_next(self, reader: Reader, end: int, schema: Mapping[str, Any]) -> Steps[bool]:
        """Whether the next parameter ends a value: on a line of its own, or if it is declared."""
        ahead = yield from reader.peek(_MAX_KEY)
        reader.pos = end
        if reader.buf[end - 1 : end] in ("\n", ">") or end == 0:
            return True
        match = _KEY.match(ahead)
        return match is not None and coerce.parameter(schema, match[1]) is not None

    def _ends(self, reader: Reader, stop: str, end: int) -> Steps[bool]:
        """Whether a mark inside a value is its end; the reader is then behind the value."""
        after = reader.pos
        if stop in self.parameter_end:
            yield from reader.spaces()
            follows = yield from reader.literal(
                *self.parameter, *self.call_end, *self.closers, *self.call, *self.after
            )
            # Too little text for another closer: this one was meant.
            done = bool(follows) or len((yield from reader.peek(_CLOSER))) < _CLOSER
            reader.pos = after
            return done
        yield from reader.spaces()
        follows = yield from reader.literal(*(self.closers or self.call), *self.call, *self.after)
        done = bool(follows) or reader.pos >= len(reader.buf)
        reader.pos = end
        return done


def typed(
    raw: str, schema: Mapping[str, Any], key: str, attributes: Mapping[str, str], *, plain: bool
) -> Any:
    """A value by what its own tag says of it, else by the schema."""
    rule = coerce.parameter(schema, key)
    flag = attributes.get("string", "").lower()
    kind = attributes.get("type", "").lower()
    if flag == "true" or kind == "string":
        kinds = coerce.kinds(rule, schema)
        return raw if not kinds or "string" in kinds else coerce.typed(raw, rule, schema)
    return coerce.typed(raw, rule, schema, plain=plain and not flag and not kind)


def is_text(
    schema: Mapping[str, Any], key: str, attributes: Mapping[str, str], *, plain: bool
) -> bool:
    """Whether `typed` gives the text itself, whatever that is."""
    kinds = coerce.kinds(coerce.parameter(schema, key), schema)
    flag = attributes.get("string", "").lower()
    kind = attributes.get("type", "").lower()
    if flag == "true" or kind == "string":
        return not kinds or "string" in kinds
    return kinds == {"string"} or (not kinds and plain and not flag and not kind)


def _trimmed(raw: str) -> str:
    """Without the one line break that models put after the opener and before the closer."""
    if not raw.startswith(("\n", "\r\n")):
        return raw
    raw = raw.removeprefix("\r").removeprefix("\n")
    return raw.removesuffix("\r\n") if raw.endswith("\r\n") else raw.removesuffix("\n")


def _whole(arguments: dict[str, Any], body: str, schema: Mapping[str, Any]) -> str:
    """The JSON text of the arguments; one parameter that holds them all is unwrapped."""
    if body:
        try:
            value = literals.lenient(body)
        except (ValueError, ArithmeticError):
            raise NotACall from None
        if not isinstance(value, dict):
            raise NotACall
        return body if literals.is_json(body) else encoded(value)
    if len(arguments) == 1:
        key, value = next(iter(arguments.items()))
        if key in _WRAPPED and coerce.parameter(schema, key) is None:
            inner = coerce.typed(value, {"type": "object"}, {}) if isinstance(value, str) else value
            known = schema.get("properties") or (inner if key == "arguments" else {})
            if isinstance(inner, dict) and inner.keys() <= known.keys():
                return encoded(inner)
    return encoded(arguments)
