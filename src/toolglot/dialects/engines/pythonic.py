"""Calls in Python syntax, read by a small parser of literals. Nothing is ever evaluated."""

import re
from dataclasses import dataclass
from typing import Any, Final

from toolglot.dialects.literals import Literal
from toolglot.dialects.reader import Form, NotACall, Reader, Steps, Stops, encoded
from toolglot.dialects.writers import PythonWriter, Writer

_NAME: Final = re.compile(r"[^\W\d][\w\-]*(?:\.[^\W\d][\w\-]*)*")
_FENCE: Final = re.compile(r"```\w*")
_MAX_CALLS: Final = 1000


@dataclass(frozen=True, kw_only=True)
class PythonForm(Form):
    """A list of calls, or one or several on lines of their own, up to a closer."""

    closers: tuple[str, ...] = ()
    """Without them the opener is the bracket of the list itself."""
    fenced: bool = False
    prints: bool = False
    """Whether `print(default_api.name(…))` means `name(…)`."""
    suffix: str = ""
    """What the name of a call ends with and is not part of it."""

    def writer(self) -> Writer:
        if not self.closers:
            return PythonWriter(open="[", close="]")
        return PythonWriter(open=f"{self.openers[0]}[", close=f"]{self.closers[0]}")

    def read(self, reader: Reader, opener: str) -> Steps[None]:
        """Read all calls of a block."""
        if not self.closers:
            reader.pos -= len(opener)
            text, complete = yield from reader.value(loose=True)
            if not complete:
                raise NotACall
            self._offer(reader, text)
            return
        yield from reader.spaces()
        while opener and (yield from reader.literal(opener)):
            yield from reader.spaces()
        if (yield from reader.literal(*self.closers)):
            return
        first = yield from reader.peek()
        if not first or not (first in "[`(" or first.isalpha() or first == "_"):
            raise NotACall
        start = reader.pos
        if first == "[":
            scanned = yield from self._list(reader)
            if scanned:
                self._offer(reader, scanned)
                return
        reader.pos = start
        text, stop = yield from reader.until(Stops(*self.closers))
        if not stop and not reader.final:
            raise NotACall
        self._offer(reader, text)

    def _list(self, reader: Reader) -> Steps[str]:
        """A list in brackets and the closer behind it; empty if something else follows."""
        start = reader.pos
        try:
            text, complete = yield from reader.value(loose=True)
        except NotACall:
            reader.pos = start
            return ""
        yield from reader.spaces()
        closed = yield from reader.literal(*self.closers)
        if complete and (closed or reader.pos >= len(reader.buf)):
            return text
        return ""

    def _offer(self, reader: Reader, text: str) -> None:
        if self.fenced:
            text = _FENCE.sub("\n", text)
        try:
            calls = _Calls(text, prints=self.prints, suffix=self.suffix).read()
        except (ValueError, ArithmeticError):
            raise NotACall from None
        if not calls:
            raise NotACall
        if all(reader.tools.resolve(name) is None for name, _ in calls):
            reader.rejected += len(calls)
            reader.give_back()
            return
        for name, arguments in calls:
            reader.offer(name, encoded(arguments))


class _Calls(Literal):
    """A parser of `name(key=literal, …)`."""

    __slots__ = ("_prints", "_suffix")

    def __init__(self, text: str, *, prints: bool, suffix: str) -> None:
        super().__init__(text)
        self._prints = prints
        self._suffix = suffix

    def read(self) -> list[tuple[str, dict[str, Any]]]:
        """All calls of the text, and nothing else in it."""
        calls: list[tuple[str, dict[str, Any]]] = []
        brackets = 0
        while char := self.spaces():
            if char in ",;":
                self.pos += 1
            elif char == "[" and not brackets:
                brackets += 1
                self.pos += 1
            elif char == "]" and brackets:
                brackets -= 1
                self.pos += 1
            elif char == "{":
                calls.append(self._object_call())
            else:
                calls.append(self._call())
            if len(calls) > _MAX_CALLS:
                raise ValueError("too many calls")
        return calls

    def _object_call(self) -> tuple[str, dict[str, Any]]:
        value = self.value()
        if not isinstance(value, dict):
            raise ValueError("no call")  # noqa: TRY004 - text, not a type
        name, arguments = value.get("name"), value.get("arguments", value.get("parameters"))
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise ValueError("no call")  # noqa: TRY004 - text, not a type
        return name, arguments

    def _call(self) -> tuple[str, dict[str, Any]]:
        match = _NAME.match(self.text, self.pos)
        if match is None:
            raise ValueError("no name")
        name = match.group()
        self.pos = match.end()
        if self.spaces() != "(":
            raise ValueError("no parenthesis")
        self.pos += 1
        if self._prints and name == "print":
            self.spaces()
            inner = self._call()
            self._close()
            return inner
        if self._prints:
            name = name.removeprefix("default_api.")
        if self._suffix:
            if not name.endswith(self._suffix):
                raise ValueError("no call")
            name = name.removesuffix(self._suffix)
        arguments: dict[str, Any] = {}
        while self.spaces() not in (")", ""):
            self._argument(arguments)
        self._close()
        return name, arguments

    def _argument(self, arguments: dict[str, Any]) -> None:
        if self.text.startswith("**", self.pos):
            self.pos += 2
            more = self.value()
            if not isinstance(more, dict):
                raise ValueError("no mapping")
            arguments.update(more)
        else:
            key = self.key()
            if self.spaces() != "=":
                raise ValueError("no keyword")
            self.pos += 1
            arguments[key] = self.value()
        self._comma(")")

    def _close(self) -> None:
        if self.spaces() != ")":
            raise ValueError("open parenthesis")
        self.pos += 1
