"""Calls as `call:name{key:value}` with a token of its own for quotes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolglot.dialects import coerce, literals
from toolglot.dialects.reader import Form, NotACall, Reader, Steps, Stops, encoded, plausible
from toolglot.dialects.writers import GemmaWriter, Writer

_KEY: Final = re.compile(r"\s*([^\s:{}\[\],\"']+)\s*:")
_BARE: Final = re.compile(r"[^,{}\[\]]*")
_MAX_NAME: Final = 256


@dataclass(frozen=True, kw_only=True)
class GemmaForm(Form):
    """One call between tokens; a quote token on both sides of each string."""

    closers: tuple[str, ...]
    quote: str

    def writer(self) -> Writer:
        return GemmaWriter(begin=self.openers[0], end=self.closers[0], quote=self.quote, between="")

    def read(self, reader: Reader, opener: str) -> Steps[None]:  # noqa: ARG002
        """Read one call."""
        yield from reader.spaces()
        yield from reader.literal("call:")
        name, stop = yield from reader.until(Stops("{", *self.closers), _MAX_NAME)
        name = name.strip()
        if stop != "{" or not plausible(name):
            raise NotACall
        body = yield from self._body(reader)
        schema = reader.schema(name)
        try:
            arguments = _Values(body, self.quote, schema).members()
        except ValueError:
            raise NotACall from None
        reader.offer(name, encoded(arguments))

    def _body(self, reader: Reader) -> Steps[str]:
        """The text behind the brace up to the closer, which does not count inside quotes."""
        start = reader.pos
        quoted = False
        outside, inside = Stops(self.quote, *self.closers, *self.openers), Stops(self.quote)
        while True:
            _, stop = yield from reader.until(inside if quoted else outside)
            if not stop:
                return (yield from self._unquoted(reader, start))
            if stop in self.openers:
                reader.pos -= len(stop)
                return reader.buf[start : reader.pos]
            if stop != self.quote:
                return reader.buf[start : reader.pos - len(stop)]
            quoted = not quoted

    def _unquoted(self, reader: Reader, start: int) -> Steps[str]:
        """The body where quotes do not pair: up to the first closer, or to the end."""
        reader.pos = start
        text, stop = yield from reader.until(Stops(*self.closers))
        if not stop and (text.count(self.quote) % 2 or not text.rstrip().endswith("}")):
            raise NotACall
        return text if stop else text.rstrip()


class _Values:
    """The values of one call."""

    __slots__ = ("_depth", "pos", "quote", "schema", "text")

    def __init__(self, text: str, quote: str, schema: Mapping[str, Any]) -> None:
        self.text = text
        self.quote = quote
        self.schema = schema
        self.pos = 0
        self._depth = 0

    def members(self) -> dict[str, Any]:
        """Members up to the closing brace, which is the last character."""
        sole = self._sole()
        if sole is not None:
            return sole
        value = self._object(self.schema)
        if self._next():
            raise ValueError("text after the call")
        return value

    def _sole(self) -> dict[str, Any] | None:
        """The one string of a tool that takes no other, written without quotes and braces."""
        properties = self.schema.get("properties")
        match = _KEY.match(self.text)
        if not isinstance(properties, Mapping) or len(properties) != 1 or match is None:
            return None
        if self.quote in self.text or self.text.rstrip().endswith("}"):
            return None
        rule = coerce.parameter(self.schema, match[1])
        if coerce.kinds(rule, self.schema) != {"string"}:
            return None
        return {match[1]: self.text[match.end() :]}

    def _next(self) -> str:
        while self.text[self.pos : self.pos + 1].isspace():
            self.pos += 1
        return self.text[self.pos : self.pos + 1]

    def _object(self, rule: Any) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while (char := self._next()) not in ("}", ""):
            if char == ",":
                self.pos += 1
                continue
            key = self._key()
            below = coerce.parameter(rule, key) if isinstance(rule, Mapping) else None
            members[key] = self._value(below)
        if not char:
            raise ValueError("open object")
        self.pos += 1
        return members

    def _key(self) -> str:
        for quote in (self.quote, '"', "'"):
            if self.text.startswith(quote, self.pos):
                key = self._string(quote)
                if self._next() != ":":
                    raise ValueError("no colon")
                self.pos += 1
                return key
        match = _KEY.match(self.text, self.pos)
        if match is None:
            raise ValueError("no key")
        self.pos = match.end()
        return match[1]

    def _string(self, quote: str) -> str:
        start = self.pos + len(quote)
        end = self.text.find(quote, start)
        if end < 0:
            end = self.text.rfind("}")
            if quote != self.quote or end < start:
                raise ValueError("open string")
            self.pos = end
            return self.text[start:end]
        self.pos = end + len(quote)
        return self.text[start:end]

    def _value(self, rule: Any) -> Any:
        char = self._next()
        if self.text.startswith(self.quote, self.pos):
            return self._string(self.quote)
        if char in ("{", "["):
            self._depth += 1
            if self._depth > literals.MAX_DEPTH:
                raise ValueError("nested too deeply")
            self.pos += 1
            value = self._object(rule) if char == "{" else self._array(rule)
            self._depth -= 1
            return value
        if char in ('"', "'"):
            literal = literals.Literal(self.text, self.pos)
            value = literal.value()
            self.pos = literal.pos
            if self.text.startswith(self.quote, self.pos):
                self.pos += len(self.quote)
            return value
        match = _BARE.match(self.text, self.pos)
        raw = match.group() if match else ""
        self.pos += len(raw)
        return coerce.typed(raw.strip(), rule, self.schema, plain=False)

    def _array(self, rule: Any) -> list[Any]:
        items: list[Any] = []
        below = rule.get("items") if isinstance(rule, Mapping) else None
        while (char := self._next()) not in ("]", ""):
            if char == ",":
                self.pos += 1
                continue
            items.append(self._value(below))
        if not char:
            raise ValueError("open array")
        self.pos += 1
        return items
