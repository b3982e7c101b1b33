"""Calls as a name, a separator and a JSON object: sections of special tokens, and lines."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from toolglot.dialects import literals
from toolglot.dialects.argument_reader import ObjectArguments
from toolglot.dialects.reader import (
    Form,
    NotACall,
    Reader,
    Steps,
    Stops,
    encoded,
    plausible,
)
from toolglot.dialects.writers import NamedWriter, Writer, literal

_MAX_NAME: Final = 256
_NUMBERED: Final = re.compile(r"(?:functions?\.)?(.*?)(?::(\d+))?", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class NamedForm(Form):
    """`BEGIN name SEPARATOR {…} END`, alone or many in a section."""

    begin: tuple[str, ...] = ()
    """How a call begins inside a section; without it the opener begins the call."""
    separators: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    """What comes between the name and an id."""
    end: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    numbered: bool = False
    """Whether the name is an id such as `functions.name:0`."""
    headed: bool = False
    """Whether the name may come after the separator, on a line before a fence."""
    empty: bool = False
    """Whether a name alone is a call."""
    object_ends_name: bool = False
    must_end: bool = False
    noisy: bool = False
    """Whether words may come between the start of a section and its first call."""
    nobody: str = ""
    """The name that means the user."""
    code: str = ""
    """The name of the tool that takes raw code."""
    many: bool = False
    """Whether several objects may follow one name."""

    def writer(self) -> Writer:
        first = (self.begin or self.openers)[0]
        separator, end = self.separators[0], self.end[0] if self.end else ""
        return NamedWriter(
            open=self.openers[0] if self.begin else "",
            template=f"{literal(first)}{{{'number' if self.numbered else 'name'}}}"
            f"{literal(separator)}{{arguments}}{literal(end)}",
            between="" if self.begin else "\n",
            close=self.close[0] if self.close else "",
        )

    @cached_property
    def _ends(self) -> Stops:
        """What ends the arguments of a call that lack their last brackets."""
        return Stops(*self.end, *self.close, *self.begin, "\x00never")

    def read(self, reader: Reader, opener: str) -> Steps[None]:
        """Read calls until none follows."""
        if self.begin and opener not in self.begin:
            yield from reader.spaces()
            if self.close and (yield from reader.literal(*self.close)):
                return
            if self.noisy:
                _, stop = yield from reader.until(Stops(*self.begin, *self.close), _MAX_NAME)
                if stop not in self.begin:
                    raise NotACall
            else:
                yield from reader.expect(*self.begin)
        while True:
            yield from self._call(reader)
            end = reader.pos
            yield from reader.spaces()
            if self.close and (yield from reader.literal(*self.close)):
                return
            if not self.begin or not (yield from reader.literal(*self.begin)):
                reader.pos = end
                return

    def _call(self, reader: Reader) -> Steps[None]:
        marks = [*self.separators, *self.ids, *self.end, *("{" if self.object_ends_name else "")]
        name, stop = yield from reader.until(Stops(*marks), _MAX_NAME)
        name, call_id = name.strip(), ""
        if stop in self.ids:
            call_id, stop = yield from reader.until(Stops(*self.separators), _MAX_NAME)
        if stop == "{" or (stop in self.end and stop not in self.separators):
            reader.pos -= len(stop)
        elif not stop and not self.empty:
            raise NotACall
        if self.headed:
            name = yield from self._below(reader, name)
        if self.nobody and name == self.nobody:
            return
        if self.code and name == self.code and (yield from reader.peek()) != "{":
            text, stop = yield from reader.until(Stops(*self.end, ">>>"))
            reader.pos -= len(stop)
            reader.offer(name, encoded({"code": text}))
            return
        if self.numbered:
            name, call_id = _numbered(name)
        if not plausible(name):
            raise NotACall
        yield from reader.spaces()
        yield from self._arguments(reader, name, call_id)

    def _below(self, reader: Reader, name: str) -> Steps[str]:
        """The name on the line below its kind, or the one already read if arguments follow it."""
        yield from reader.spaces()
        if (yield from reader.peek()) in ("{", "`", ""):
            return name
        name, stop = yield from reader.until(Stops("\n", "{", "`"), _MAX_NAME)
        reader.pos -= len(stop) if stop != "\n" else 0
        return name.strip()

    def _arguments(self, reader: Reader, name: str, call_id: str) -> Steps[None]:
        fence = yield from reader.literal("```json", "```")
        yield from reader.spaces()
        if (yield from reader.peek()) != "{":
            if not self.empty or fence:
                raise NotACall
            arguments = "{}"
        else:
            if not (self.numbered and name.isdigit()):
                reader.named(name, call_id)
            arguments = yield from self._object(reader)
        end = reader.pos
        if fence:
            yield from reader.spaces()
            yield from reader.literal("```")
        yield from reader.spaces()
        closed = bool(self.end) and (yield from reader.literal(*self.end))
        if not closed:
            here = reader.pos
            follows = bool(self.begin) and (yield from reader.literal(*self.begin, *self.close))
            reader.pos = here
            cut = not follows and (here < len(reader.buf) or arguments == "{}")
            if self.must_end and cut:
                raise NotACall
            reader.pos = end if not fence else reader.pos
        if self.numbered and name.isdigit():
            name = _fitting(reader, arguments) or name
        reader.offer(name, arguments, call_id)
        while self.many:
            end = reader.pos
            yield from reader.spaces()
            if not (yield from reader.literal(*self.separators)):
                reader.pos = end
                return
            yield from reader.spaces()
            reader.named(name)
            arguments = yield from self._object(reader)
            reader.offer(name, arguments)

    def _object(self, reader: Reader) -> Steps[str]:
        text = yield from reader.whole_value(self._ends, ObjectArguments(reader, reader.pos))
        text = text.rstrip().removesuffix("```") if text.rstrip().endswith("```") else text
        try:
            value = literals.lenient(text)
        except (ValueError, ArithmeticError):
            raise NotACall from None
        if not isinstance(value, dict):
            raise NotACall
        return text if literals.is_json(text) else encoded(value)


def _numbered(name: str) -> tuple[str, str]:
    """Name and id of `functions.name:0`."""
    match = _NUMBERED.fullmatch(name)
    if match is None or match[2] is None:
        return name.removeprefix("functions."), ""
    return match[1].strip(), name


def _fitting(reader: Reader, arguments: str) -> str:
    """The one declared tool that takes these arguments."""
    keys = set(literals.lenient(arguments))
    fits = []
    for name in reader.tools.names():
        schema = reader.tools.schema(name)
        properties = schema.get("properties") or {}
        if keys <= set(properties) and set(schema.get("required") or ()) <= keys:
            fits.append(name)
    return fits[0] if len(fits) == 1 else ""
