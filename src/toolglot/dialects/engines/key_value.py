"""Calls as a name and pairs of key and value elements."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolglot.dialects import coerce, literals
from toolglot.dialects.argument_reader import MemberArguments
from toolglot.dialects.reader import (
    Form,
    NotACall,
    Reader,
    Steps,
    Stops,
    encoded,
    plausible,
)
from toolglot.dialects.writers import TaggedWriter, Writer

_MAX_NAME: Final = 256
_MAX_KEY: Final = 1024


@dataclass(frozen=True, kw_only=True)
class PairForm(Form):
    """`<tool_call>NAME<arg_key>K</arg_key><arg_value>V</arg_value></tool_call>`."""

    call: str = "tool_call"
    key: str = "arg_key"
    value: str = "arg_value"
    wrapper: str = ""
    separator: str = ""
    plain: bool = False

    def writer(self) -> Writer:
        key, value = self.key, self.value
        separator = f"<{self.separator}>" if self.separator else ""
        return TaggedWriter(
            open=f"<{self.wrapper}>" if self.wrapper else "",
            begin=f"<{self.call}>",
            head=f"{{name}}{separator}\n",
            parameter=f"<{key}>{{key}}</{key}>\n<{value}>{{value}}</{value}>\n",
            end=f"</{self.call}>",
            close=f"</{self.wrapper}>" if self.wrapper else "",
            plain=self.plain,
            trimmed=False,
        )

    def read(self, reader: Reader, opener: str) -> Steps[None]:
        """Read one call, or all calls of a wrapper."""
        suffix = yield from self._suffix(reader, opener)
        if not self.wrapper or not opener.startswith(f"<{self.wrapper}"):
            yield from self._call(reader, suffix)
            return
        yield from reader.spaces()
        yield from reader.expect(f"<{self.call}{suffix}>")
        while True:
            yield from self._call(reader, suffix)
            end = reader.pos
            yield from reader.spaces()
            if (yield from reader.literal(f"</{self.wrapper}{suffix}>")):
                return
            if not (yield from reader.literal(f"<{self.call}{suffix}>")):
                reader.pos = end
                return

    def _suffix(self, reader: Reader, opener: str) -> Steps[str]:
        """What one tokenizer puts behind the name of every tag."""
        if opener.endswith(">"):
            return ""
        text, stop = yield from reader.until(Stops(">"), 32)
        if not stop or (text and not text.startswith(":")):
            raise NotACall
        return text

    def _call(self, reader: Reader, suffix: str) -> Steps[None]:
        end = f"</{self.call}{suffix}>"
        key = f"<{self.key}{suffix}>"
        marks = [end, key, "{", *([f"<{self.separator}{suffix}>"] if self.separator else [])]
        yield from reader.spaces()
        start = reader.pos
        name, stop = yield from reader.until(Stops("\n", *marks), _MAX_NAME)
        name = name.strip().removesuffix("\\n")
        if not plausible(name):
            raise NotACall
        schema = reader.schema(name)
        if stop and stop != "\n":
            reader.pos -= len(stop)
        if self.separator:
            yield from reader.literal(f"<{self.separator}{suffix}>")
        yield from reader.spaces()
        if (yield from reader.peek()) == "{":
            arguments = yield from self._object(reader)
            yield from self._echo(reader, start, f"<{self.call}{suffix}>")
            yield from reader.spaces()
            if not (yield from reader.literal(end)) and reader.pos < len(reader.buf):
                raise NotACall
        else:
            reader.named(name)
            arguments = yield from self._pairs(reader, schema, suffix)
        reader.offer(name, encoded(arguments))

    def _echo(self, reader: Reader, start: int, begin: str) -> Steps[None]:
        """Skip a call that a model began again inside itself, word for word."""
        end, written = reader.pos, reader.buf[start : reader.pos]
        yield from reader.spaces()
        if (yield from reader.literal(begin)):
            yield from reader.spaces()
            if (yield from reader.peek(len(written))) == written:
                reader.pos += len(written)
                return
        reader.pos = end

    def _object(self, reader: Reader) -> Steps[dict[str, Any]]:
        text, _ = yield from reader.value(loose=True)
        try:
            value = literals.lenient(text)
        except (ValueError, ArithmeticError):
            raise NotACall from None
        if not isinstance(value, dict):
            raise NotACall
        return value

    def _pairs(
        self, reader: Reader, schema: Mapping[str, Any], suffix: str
    ) -> Steps[dict[str, Any]]:
        arguments: dict[str, Any] = {}
        streamed = MemberArguments(reader)
        end, key = f"</{self.call}{suffix}>", f"<{self.key}{suffix}>"
        begin = f"<{self.call}{suffix}>"
        key_end = Stops(f"</{self.key}{suffix}>", key, end)
        while True:
            yield from _blank(reader)
            if (yield from reader.literal(end)):
                return arguments
            here = reader.pos
            if arguments and (yield from reader.literal(begin)):
                reader.pos = here
                return arguments
            if not (yield from reader.literal(key)):
                if reader.final and reader.pos >= len(reader.buf) and arguments:
                    return arguments
                raise NotACall
            name, stop = yield from reader.until(key_end, _MAX_KEY)
            if not stop or stop in (key, end):
                raise NotACall
            yield from _blank(reader)
            yield from reader.literal(f"<{self.value}{suffix}>")
            here = reader.pos
            if (yield from reader.literal(key, end)):
                reader.pos = here
                continue
            name = name.strip()
            rule = coerce.parameter(schema, name)
            if coerce.kinds(rule, schema) == {"string"}:
                streamed.open(name, reader.pos, trims=False)
            raw = yield from self._value(reader, suffix, streamed)
            arguments[name] = coerce.typed(raw, rule, schema, plain=self.plain)
            streamed.add(name, arguments[name])

    def _value(self, reader: Reader, suffix: str, streamed: MemberArguments) -> Steps[str]:
        close, key = f"</{self.value}{suffix}>", f"<{self.key}{suffix}>"
        end, begin = f"</{self.call}{suffix}>", f"<{self.call}{suffix}>"
        start = reader.pos
        stops = Stops(close, key, end)
        while True:
            _, stop = yield from reader.until(stops, progress=streamed)
            at = reader.pos - len(stop)
            if not stop:
                raise NotACall
            if stop != close:
                reader.pos = at
                return reader.buf[start:at]
            after = reader.pos
            yield from reader.spaces()
            follows = yield from reader.literal(key, end, begin)
            # Too little text for another closer: this one was meant.
            if follows or len((yield from reader.peek(len(end)))) < len(end):
                reader.pos = after
                return reader.buf[start:at]
            reader.pos = after


def _blank(reader: Reader) -> Steps[None]:
    """Skip white space, and line breaks that were escaped once too often."""
    yield from reader.spaces()
    while (yield from reader.literal("\\n")):
        yield from reader.spaces()
