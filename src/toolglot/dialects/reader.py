"""What every engine reads with: text that may still be coming, calls offered, text given back.

An engine is a generator that reads one block of model text from its opener on. It yields whenever
it needs more text and goes on where it stopped when more has come, so text that arrives whole and
text that arrives by the character take the same path, and nothing is read twice. An engine that
finds no call raises `NotACall`; what it had not yet turned into calls is then text again.
"""

import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec

from toolglot.dialects.literals import JsonScanner
from toolglot.dialects.writers import Writer
from toolglot.errors import DecodeError
from toolglot.wire import jsontext

T = TypeVar("T")
Progress = Callable[[int], None]
"""Is called with how far a value was read."""
Steps = Generator[None, None, T]
"""A piece of reading: yields to ask for more text, returns what it read."""

MAX_BLOCK: Final = 1 << 22
"""The longest block, in characters, that is kept back in the hope of a call."""
STREAM_FROM: Final = 128
"""How long arguments must be to be streamed; short ones are delivered when they are certain."""
_MAX_NAME: Final = 256
_BOUNDARY: Final = re.compile(r"[.:/]")
_NO_NAME: Final = frozenset(" \t\r\n<>{}()[]\"'`,;|=&")
_NO_CALL: Final = frozenset("\r\n<>{}`")


class NotACall(Exception):  # noqa: N818 - no error: the text is no call
    """What was read is no call."""


class TextSegment(msgspec.Struct, frozen=True, tag="text"):
    """Words for the user."""

    text: str


class ReasoningSegment(msgspec.Struct, frozen=True, tag="reasoning"):
    """Words that the model wrote to itself."""

    text: str


class CallSegment(msgspec.Struct, frozen=True, tag="call"):
    """A tool call: arguments as JSON text, and the text that the model wrote for it."""

    id: str
    name: str
    arguments: str
    raw: str = ""
    id_made: bool = False
    """Whether the model gave no id of its own."""


class CallStartSegment(msgspec.Struct, frozen=True, tag="begun"):
    """A call whose arguments are long and still coming: the pieces follow, and then the call."""

    id: str
    name: str
    id_made: bool = False


class ArgumentSegment(msgspec.Struct, frozen=True, tag="piece"):
    """More of the arguments of the call that has begun."""

    text: str


class BrokenSegment(msgspec.Struct, frozen=True, tag="broken"):
    """The end of a call that had begun and is none after all, with the text that it was."""

    name: str
    raw: str


Segment = (
    TextSegment
    | ReasoningSegment
    | CallSegment
    | CallStartSegment
    | ArgumentSegment
    | BrokenSegment
)
"""The last three come only from those who ask for them."""


class Tools:
    """The declared tools by name; `known` is false if no list of tools was given."""

    __slots__ = ("_schemas", "_tails", "known")

    def __init__(self, tools: Iterable[Any] | None) -> None:
        self.known = tools is not None
        self._schemas: dict[str, Mapping[str, Any]] = {}
        self._tails: dict[str, str | None] = {}
        for tool in tools or ():
            name, schema = _declared(tool)
            if name:
                self._schemas[name] = schema
        for name in self._schemas:
            tail = _BOUNDARY.split(name)[-1]
            self._tails[tail] = None if tail in self._tails else name

    def __contains__(self, name: str) -> bool:
        return name in self._schemas

    def resolve(self, name: str) -> str | None:
        """The declared name that is meant; any plausible name if nothing was declared."""
        if not self.known:
            half = name[: len(name) // 2]
            if half and name == f"{half}.{half}":
                return half
            return name if 0 < len(name) <= _MAX_NAME and _NO_CALL.isdisjoint(name) else None
        if name in self._schemas:
            return name
        return self._nearest(name)

    def _nearest(self, name: str) -> str | None:
        """The one declared tool that differs from a name by its namespace only."""
        tails = {name[match.end() :] for match in _BOUNDARY.finditer(name[:_MAX_NAME])}
        found = {tail for tail in tails if tail in self._schemas}
        if not found and _BOUNDARY.search(name) is None:
            found = {whole for whole in (self._tails.get(name),) if whole is not None}
        return found.pop() if len(found) == 1 else None

    def any_begins(self, text: str) -> bool:
        """Whether the name of a declared tool begins so."""
        return any(name.startswith(text) for name in self._schemas)

    def names(self) -> list[str]:
        """All declared names."""
        return list(self._schemas)

    def schema(self, name: str) -> Mapping[str, Any]:
        """The schema of a tool's arguments; empty if unknown."""
        return self._schemas.get(name, {})

    def sole_string(self, name: str) -> str | None:
        """The one parameter that plain text can only mean."""
        schema = self.schema(name)
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return None
        required = schema.get("required")
        wanted = [key for key in required if key in properties] if required else list(properties)
        if len(wanted) != 1:
            return None
        rule = properties[wanted[0]]
        kind = rule.get("type", "string") if isinstance(rule, Mapping) else "string"
        return str(wanted[0]) if kind == "string" else None


def _declared(tool: Any) -> tuple[str, Mapping[str, Any]]:
    """Name and schema of a tool in any of the shapes that clients write."""
    if isinstance(tool, str):
        return tool, {}
    if not isinstance(tool, Mapping):
        schema = getattr(tool, "parameters", None)
        return str(getattr(tool, "name", "")), _valid_schema(schema)
    inner = tool.get("function")
    if isinstance(inner, Mapping):
        tool = inner
    schema = tool.get("parameters") or tool.get("input_schema") or tool.get("inputSchema")
    name = tool.get("name")
    return name if isinstance(name, str) else "", _valid_schema(schema)


def _valid_schema(schema: Any) -> Mapping[str, Any]:
    """A schema whose properties and required names are what they should be, or are left out."""
    if not isinstance(schema, Mapping):
        return {}
    kinds = {"properties": Mapping, "required": list}
    return {
        key: value for key, value in schema.items() if isinstance(value, kinds.get(key, object))
    }


def plausible(name: str) -> bool:
    """Whether a text can be the name of a tool."""
    return 0 < len(name) <= _MAX_NAME and _NO_NAME.isdisjoint(name)


class Reader:
    """Text from the start of a block on, and what has become of it."""

    __slots__ = (
        "accepted",
        "begun",
        "buf",
        "emitted",
        "final",
        "limit",
        "live",
        "out",
        "pending",
        "pos",
        "rejected",
        "seen",
        "streamed",
        "strict",
        "tools",
        "used",
    )  # fmt: skip

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.buf = ""
        self.pos = 0
        self.emitted = 0
        """Up to here all has become a segment."""
        self.final = False
        self.out: list[Segment] = []
        self.accepted = 0
        """Calls made of the block so far."""
        self.rejected = 0
        """Calls of the block to tools that were not declared."""
        self.used: set[str] = set()
        self.limit = MAX_BLOCK
        self.seen = 0
        """How far text was looked at, calls or not."""
        self.strict = False
        """Whether a first call to an undeclared tool makes the block plain text."""
        self.live = False
        """Whether long arguments are streamed."""
        self.pending: CallStartSegment | None = None
        """The call that is being read, from its name on."""
        self.begun = False
        """Whether it is being streamed."""
        self.streamed: list[str] = []
        """What is certain of its arguments."""

    def append(self, text: str) -> None:
        """More text. In place while nothing else holds the buffer, so that growing is linear."""
        buf, self.buf = self.buf, ""
        buf += text
        self.buf = buf

    # --- reading ------------------------------------------------------------------------------

    def more(self) -> Steps[bool]:
        """Wait for more text; false if none will come."""
        if self.final:
            return False
        if len(self.buf) - self.emitted > self.limit:
            self.seen = self.emitted + self.limit
            raise NotACall
        yield
        return True

    def peek(self, count: int = 1) -> Steps[str]:
        """The next characters, fewer at the end."""
        while len(self.buf) - self.pos < count and (yield from self.more()):
            pass
        return self.buf[self.pos : self.pos + count]

    def spaces(self) -> Steps[None]:
        """Skip white space."""
        while True:
            buf, pos, end = self.buf, self.pos, len(self.buf)
            while pos < end and buf[pos].isspace():
                pos += 1
            self.pos = pos
            del buf
            if pos < end or not (yield from self.more()):
                return

    def literal(self, *choices: str) -> Steps[str]:
        """The longest of these that comes next, consumed; empty if none does."""
        while True:
            here = self.buf[self.pos : self.pos + max(map(len, choices))]
            open_ = any(len(each) > len(here) and each.startswith(here) for each in choices)
            if not open_ or not (yield from self.more()):
                break
        found = max((each for each in choices if here.startswith(each)), key=len, default="")
        self.pos += len(found)
        return found

    def expect(self, *choices: str) -> Steps[str]:
        """Like `literal`, or no call."""
        found = yield from self.literal(*choices)
        if not found:
            raise NotACall
        return found

    def until(
        self, stops: "Stops", limit: int = 0, progress: "Progress | None" = None
    ) -> Steps[tuple[str, str]]:
        """The text up to the first of the stops, and that stop, both consumed.

        Without a stop all of the rest, with an empty stop. More than `limit` is no call.
        `progress` is called with how far there is certainly no stop.
        """
        start = scan = self.pos
        top = start + limit + stops.longest if limit else sys.maxsize
        while True:
            match = stops.pattern.search(self.buf, scan, top)
            if match is not None and not (stops.undecided(self.buf, match) and not self.final):
                break
            last = min(len(self.buf), top)
            scan = max(scan, match.start() if match else last - stops.longest + 1)
            if limit and scan - start > limit:
                raise NotACall
            match = None
            if progress is not None:
                progress(scan)
            if not (yield from self.more()):
                match = stops.pattern.search(self.buf, scan, top)
                break
        if match is None:
            self.pos = self.seen = len(self.buf)
            return self.buf[start:], ""
        if limit and match.start() - start > limit:
            raise NotACall
        if progress is not None:
            progress(match.start())
        self.pos = match.end()
        return self.buf[start : match.start()], match.group()

    def value(
        self, *, loose: bool = False, progress: "Progress | None" = None
    ) -> Steps[tuple[str, bool]]:
        """The text of the JSON object or array that comes next, and whether it is complete.

        Incomplete is one that ends before its last brackets do, at the end of all text or where
        something begins that no JSON holds. Cut inside a string, it is no call.
        """
        if (yield from self.peek()) not in ("{", "["):
            raise NotACall
        start = self.pos
        scan = JsonScanner(start, loose=loose)
        while True:
            done = scan.advance(self.buf)
            if progress is not None:
                progress(scan.pos)
            if done or not (yield from self.more()):
                break
        self.seen = max(self.seen, scan.pos if done else len(self.buf))
        if scan.in_string:
            raise NotACall
        self.pos = scan.pos
        return self.buf[start : self.pos], scan.complete

    # --- what becomes of it -------------------------------------------------------------------

    def offer(self, name: str, arguments: str, call_id: str = "") -> bool:
        """Make a call of what was read since the last one, or text if its tool was not declared."""
        if self.pos - self.emitted > self.limit:
            raise NotACall
        raw = self.buf[self.emitted : self.pos]
        resolved = self.tools.resolve(name)
        if self.begun:
            call_id = self._end(resolved, arguments)
        if resolved is None:
            if self.strict and not self.accepted:
                raise NotACall
            self.rejected += 1
            self.give_back()
            return False
        self.accepted += 1
        made = self._free_id(call_id)
        id_made = made != call_id or (
            self.begun and self.pending is not None and self.pending.id_made
        )
        self.used.add(made)
        self.forget()
        self.out.append(CallSegment(made, resolved, arguments, raw, id_made=id_made))
        self.emitted = self.pos
        return True

    def _free_id(self, given: str) -> str:
        number = len(self.used)
        made = given if given and given not in self.used else f"call_{number}"
        while made in self.used:
            number += 1
            made = f"call_{number}"
        return made

    # --- calls that are still coming ----------------------------------------------------------

    def named(self, name: str, call_id: str = "") -> None:
        """The name of a call is known, and its arguments come next."""
        self.forget()
        resolved = self.tools.resolve(name)
        if resolved is not None:
            made = self._free_id(call_id)
            self.pending = CallStartSegment(made, resolved, made != call_id)

    def stream(self, text: str) -> None:
        """More of the arguments is certain; from some length on, it is streamed at once."""
        if self.pending is None or not self.live or not text:
            return
        self.streamed.append(text)
        if self.begun:
            self.out.append(ArgumentSegment(text))
        elif sum(map(len, self.streamed)) >= STREAM_FROM:
            self.begun = True
            self.streamed = ["".join(self.streamed)]
            self.out += (self.pending, ArgumentSegment(self.streamed[0]))

    def _end(self, name: str | None, arguments: str) -> str:
        """The id of the streamed call, if the complete call is what was streamed."""
        sent = "".join(self.streamed)
        if self.pending is None or name != self.pending.name:
            raise NotACall
        if arguments.startswith(sent):
            rest = arguments[len(sent) :]
            self.out += (ArgumentSegment(rest),) if rest else ()
        elif not _same(sent, arguments):
            raise NotACall
        return self.pending.id

    def broken(self) -> None:
        """The streamed call turned out to be none."""
        end = max(self.pos, self.seen)
        if self.pending is not None:
            self.out.append(BrokenSegment(self.pending.name, self.buf[self.emitted : end]))
            self.used.add(self.pending.id)
        self.emitted = self.pos = end
        self.forget()

    def forget(self) -> None:
        """There is no call that is being read."""
        self.pending, self.begun, self.streamed = None, False, []

    def give_back(self) -> None:
        """What was read since the last call is text."""
        if self.emitted < self.pos:
            self.out.append(TextSegment(self.buf[self.emitted : self.pos]))
            self.emitted = self.pos

    def schema(self, name: str) -> Mapping[str, Any]:
        """The schema of the tool that a name means."""
        return self.tools.schema(self.tools.resolve(name) or "")


def _same(one: str, other: str) -> bool:
    try:
        return bool(jsontext.peek(one) == jsontext.peek(other))
    except ValueError:
        return False


class Stops:
    """A set of literal marks, searched for in one pass."""

    __slots__ = ("firsts", "longest", "marks", "pattern")

    def __init__(self, *marks: str, follows: Mapping[str, str] | None = None) -> None:
        """`follows` has patterns of what must come after some of the marks."""
        self.marks = tuple(sorted(set(marks), key=len, reverse=True))
        self.longest = len(self.marks[0])
        self.firsts = frozenset(mark[0] for mark in self.marks)
        after = follows or {}
        self.pattern = re.compile(
            "|".join(re.escape(mark) + after.get(mark, "") for mark in self.marks)
        )

    def undecided(self, buf: str, match: re.Match[str]) -> bool:
        """Whether a longer mark than the one found may still begin at the same place."""
        rest = buf[match.start() : match.start() + self.longest]
        return any(len(mark) > len(rest) and mark.startswith(rest) for mark in self.marks)

    def held(self, buf: str, start: int) -> int:
        """Where the last characters begin that may become a mark; the length if none may."""
        size = len(buf)
        for pos in range(max(start, size - self.longest + 1), size):
            if buf[pos] in self.firsts and any(m.startswith(buf[pos:]) for m in self.marks):
                return pos
        return size


def cut_pattern(marks: Iterable[str], follows: Mapping[str, str] | None = None) -> str:
    """A pattern for marks, letter by letter, that the end of the text may cut short."""
    return _cut_pattern("", list(filter(None, marks)), follows or {})


def _cut_pattern(head: str, rests: Iterable[str], follows: Mapping[str, str]) -> str:
    branches: dict[str, list[str]] = {}
    for rest in rests:
        branches.setdefault(rest[0], []).append(rest[1:])
    alternatives: list[str] = []
    for first, tails in branches.items():
        pattern, mark = re.escape(first), head + first
        longer = list(filter(None, tails))
        ends = [follows.get(mark, "")] if "" in tails else []
        if longer:
            ends = [_cut_pattern(mark, longer, follows), r"\Z", *ends]
            pattern += f"(?:{'|'.join(ends)})"
        else:
            pattern += ends[0]
        alternatives.append(pattern)
    return "|".join(alternatives)


def encoded(arguments: Any) -> str:
    """The JSON text of arguments; arguments that cannot be written are no call."""
    try:
        return jsontext.text(arguments)
    except DecodeError:
        raise NotACall from None


@dataclass(frozen=True, kw_only=True)
class Form:
    """One way of writing a block of calls: where it begins, and how it is read from there."""

    openers: tuple[str, ...]
    at: str = "any"
    """Where the opener counts: `any`where, at the start of a `line`, at the `start` of the answer,
    `loose`: anywhere, but at the start if the dialect is not known; or `begin`: without opener.
    """
    special: bool = False
    """Whether the opener is a token of its own, which a model cannot write by mentioning it."""
    bare: bool = False
    """Whether the opener is so common that only a declared name makes it a call."""

    tail: str = ""
    """Where else it counts among declared tools if the answer ends with it: on `line`s of its own,
    or `any`where.
    """
    follows: str = ""
    """A pattern for what comes right after the opener, which also fits if the text is cut in it."""
    frames: bool = False
    """Whether it only frames words, which is no sign of a dialect."""

    def read(self, reader: Reader, opener: str) -> Steps[None]:
        """Read a block after its opener, offering calls to the reader."""
        raise NotImplementedError

    def writer(self) -> Writer:
        """How calls of this form are usually written, for rows without `write`."""
        raise TypeError(f"a row whose first form is a {type(self).__name__} needs `write`")
