"""Calls that a model wrote into its text, made calls like any other.

Only calls of declared tools count; everything else stays text, byte for byte. Reasoning that stands
in the text becomes reasoning.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from toolglot.adapt.calls.ids import call_ids
from toolglot.adapt.tools.emulated import dialect_of
from toolglot.adapt.tools.freeform import KEY, unwrap
from toolglot.context import Context
from toolglot.dialects import text as dialects
from toolglot.dialects.table import DIALECTS
from toolglot.events import (
    Event,
    Failed,
    Finished,
    Growing,
    PartDelta,
    PartEnded,
    PartStarted,
    unfold_part,
)
from toolglot.ir import (
    CallKind,
    CustomTool,
    FunctionTool,
    NamespaceTool,
    Reasoning,
    StopKind,
    StopReason,
    Text,
    Tool,
    ToolCall,
)
from toolglot.wire import jsontext

_ENDS: Final[frozenset[StopKind]] = frozenset({"end", "stop_sequence"})
"""Stops that are stops for calls, if there are any."""

_CUTS: Final[frozenset[StopKind]] = frozenset(
    {"length", "context_window", "content_filter", "refusal"}
)
_Words: TypeAlias = type[Text] | type[Reasoning]


# --- the tools ------------------------------------------------------------------------------------

_FREE: Final = {"type": "object", "properties": {KEY: {"type": "string"}}, "required": [KEY]}


class DeclaredTools:
    """The tools as the provider knows them: for the decoder, and what their calls are."""

    def __init__(self, ctx: Context) -> None:
        self.tools: list[FunctionTool] | None = None
        self._kinds: dict[str, tuple[CallKind, str | None]] = {}
        choice = ctx.request.tool_choice if ctx.request is not None else None
        if choice is not None and choice.mode == "none":
            self.tools = []
        elif ctx.declared is not None:
            self.tools = list(self._flat(ctx.declared))

    def _flat(self, tools: Iterable[Tool], namespace: str | None = None) -> Iterator[FunctionTool]:
        for tool in tools:
            if isinstance(tool, NamespaceTool):
                yield from self._flat(tool.tools, tool.name)
            elif isinstance(tool, FunctionTool):
                self._kinds[tool.name] = "function", namespace
                yield tool
            elif isinstance(tool, CustomTool):
                self._kinds[tool.name] = "custom", namespace
                yield FunctionTool(name=tool.name, parameters=_FREE)

    def call(self, name: str, arguments: str) -> ToolCall:
        """A call as the provider would have made it, but for its id."""
        kind, namespace = self._kinds.get(name, ("function", None))
        if kind == "custom":
            arguments = unwrap(arguments, name=name)
        return ToolCall(id="", name=name, arguments=arguments, type=kind, namespace=namespace)


# --- calls that come twice ------------------------------------------------------------------------

_Seen: TypeAlias = tuple[str, Any]


class ChoiceCalls:
    """The calls of one choice, by where they were found, to notice those that came twice."""

    __slots__ = ("broken", "native", "promoted", "texts", "thoughts")

    def __init__(self) -> None:
        self.native: list[_Seen] = []
        self.texts: list[_Seen] = []
        self.thoughts: list[_Seen] = []
        """Those that stood in reasoning, which the answer may repeat."""
        self.promoted = 0
        self.broken = 0
        """Calls that had begun for the client and are none."""

    def may_repeat(self, name: str, *, native: bool) -> bool:
        """Whether a call of this tool came before from elsewhere."""
        before = self.texts if native else self.native
        return any(seen[0] == name for seen in (*before, *self.thoughts))

    def repeats(self, call: ToolCall, own: list[_Seen]) -> str:
        """Where a call came before, if not from its own side; each counts once."""
        seen = call.name, _value(call)
        for where, before in (
            ("as a call", self.native),
            ("as text", self.texts),
            ("in reasoning", self.thoughts),
        ):
            if before is not own and seen in before:
                before.remove(seen)
                return where
        own.append(seen)
        return ""


def _value(call: ToolCall) -> Any:
    try:
        return jsontext.peek(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        return call.arguments


# --- the pass -------------------------------------------------------------------------------------


class _Open:
    """A part of words that is under way, and what it has become so far."""

    __slots__ = (
        "blank", "call", "choice", "decoder", "kind", "out", "part", "rest", "seen", "shown",
    )  # fmt: skip

    def __init__(self, part: Text | Reasoning, choice: int, decoder: dialects.TextDecoder) -> None:
        self.part: Text | Reasoning | None = part
        """What it started as; none once that was used."""
        self.kind: _Words = type(part)
        self.choice = choice
        self.decoder = decoder
        self.out: tuple[int, _Words] | None = None
        """The part that is open for the client."""
        self.call: tuple[int, ToolCall] | None = None
        """The call that is open for the client."""
        self.blank = ""
        """White space that leaves with the next word."""
        self.rest: list[dialects.Segment] = []
        """What came at the end, and means a call only if the answer was not cut there."""
        self.seen = 0
        """Characters that came; less those that left as what they are."""
        self.shown = False
        """Whether anything but this part's own words came of it."""


class FindTextCalls:
    """Makes calls of those in the texts of an answer.

    Words are passed on as soon as it is certain that they are words.
    """

    __slots__ = (
        "_choices", "_ctx", "_declared", "_dialect", "_late", "_native", "_next", "_open", "_out",
        "_prefix", "_taken",
    )  # fmt: skip

    def __init__(self, ctx: Context) -> None:
        source, target = ctx.surfaces
        self._dialect = dialect_of(ctx.options) or "auto"
        if self._dialect not in ("auto", *DIALECTS):
            raise ValueError(f"dialect: {self._dialect!r} is neither auto nor a known one")
        self._ctx = ctx
        ctx.is_renumbered = True
        self._prefix = target.calls.made_up_prefix if source is target else "call_"
        self._declared = DeclaredTools(ctx)
        self._taken = call_ids(ctx.request.messages if ctx.request is not None else ())
        self._open: dict[int, _Open] = {}
        self._native: dict[int, tuple[Growing, bool]] = {}
        """Calls of the provider's own, and whether they wait because they may come twice."""
        self._choices: dict[int, ChoiceCalls] = {}
        self._late: list[Event] = []
        self._out: dict[int, int] = {}
        self._next = 0

    def feed(self, event: Event) -> list[Event]:
        if self._late:
            return self._behind(event)
        if isinstance(event, PartDelta):
            return self._delta(event)
        if isinstance(event, PartStarted):
            return self._start(event)
        if isinstance(event, PartEnded):
            return self._end(event)
        if isinstance(event, Finished):
            stops = tuple(self._stop(choice, stop) for choice, stop in enumerate(event.stops))
            return [replace(event, stops=stops)]
        return [event]

    def _stop(self, choice: int, stop: StopReason) -> StopReason:
        calls = self._choices.get(choice)
        if calls is None or stop.kind not in _ENDS or not (calls.promoted or calls.broken):
            return stop
        return StopReason(kind="tool_calls" if calls.promoted else "malformed_call")

    # --- parts

    def _start(self, event: PartStarted) -> list[Event]:
        part = event.part
        # A part that has said nothing yet keeps its place before this one.
        waiting = [
            each
            for each in self._open.values()
            if each.part is not None
            and not (each.seen or each.shown)
            and each.choice == event.choice
        ]
        events = [started for each in waiting for started in self._begin(each, each.kind)]
        if isinstance(part, (Text, Reasoning)) and not getattr(part, "redacted", False):
            return [*events, *self._begin_words(event, part)]
        if isinstance(part, ToolCall) and part.kind == "function":
            self._taken.add(part.id)
            waits = self._calls_of(event.choice).may_repeat(part.name, native=True)
            if event.whole:
                if self._repeats(part, event.index, event.choice, waited=waits):
                    return events
            else:
                self._native[event.index] = Growing(event), waits
                if waits:
                    return events
        self._out[event.index] = self._next
        self._next += 1
        return [*events, replace(event, index=self._out[event.index])]

    def _begin_words(self, event: PartStarted, part: Text | Reasoning) -> list[Event]:
        decoder = dialects.TextDecoder(
            self._dialect,
            self._declared.tools,
            marked_only=isinstance(part, Reasoning),
            live=True,
        )
        if event.whole:
            begun: Any
            begun, *pieces = unfold_part(event.index, part)
            self._open[event.index] = _Open(begun.part, event.choice, decoder)
            return [each for piece in pieces for each in self.feed(piece)]
        text = part.text
        self._open[event.index] = words = _Open(replace(part, text=""), event.choice, decoder)
        return self._feed(words, event.index, text) if text else []

    def _delta(self, event: PartDelta) -> list[Event]:
        index = event.index
        words = self._open.get(index)
        if words is not None:
            if event.field == "text":
                return self._feed(words, index, event.text)
            return self._aside(words, event)
        native = self._native.get(index)
        if native is not None:
            native[0].add(event)
            if native[1]:
                return []
        number = self._out[index]
        return [event if number == index else replace(event, index=number)]

    def _end(self, event: PartEnded) -> list[Event]:
        words = self._open.get(event.index)
        if words is None:
            return self._end_other(event)
        words.rest = words.decoder.close()
        if event.incomplete or not any(
            isinstance(each, dialects.CallSegment) for each in words.rest
        ):
            return self._finish(words, event, cut=event.incomplete)
        self._late = [event]
        return []

    def _end_other(self, event: PartEnded) -> list[Event]:
        index = event.index
        native, waited = self._native.pop(index, (None, False))
        if native is not None and not event.incomplete:
            call: Any = native.finish()
            if self._repeats(call, index, native.choice, waited=waited):
                return []
        if native is not None and waited:
            number, self._next = self._next, self._next + 1
            return native.events(number, native.finish(), incomplete=event.incomplete)
        return [replace(event, index=self._out.pop(index))]

    def _repeats(self, call: ToolCall, index: int, choice: int, *, waited: bool) -> bool:
        """Whether a call of the provider's own was in the text before; one that was passed on
        already did not wait.
        """
        calls = self._calls_of(choice)
        where = calls.repeats(call, calls.native)
        if not (where and waited):
            return False
        self._note("call-duplicate", index, f"{call.name}, {where} before")
        return True

    def _behind(self, event: Event) -> list[Event]:
        """What ended in a call waits until it is known whether the answer was cut there."""
        ended: Any = self._late[0]
        choice = self._open[ended.index].choice
        if isinstance(event, Finished):
            cut = choice < len(event.stops) and event.stops[choice].kind in _CUTS
        elif isinstance(event, Failed) or (
            isinstance(event, PartStarted) and event.choice == choice
        ):
            cut = isinstance(event, Failed)
        else:
            self._late.append(event)
            return []
        late, self._late = self._late[1:], []
        events = self._finish(self._open[ended.index], ended, cut=cut)
        return [*events, *(each for waited in (*late, event) for each in self.feed(waited))]

    def _finish(self, words: _Open, event: PartEnded, *, cut: bool) -> list[Event]:
        del self._open[event.index]
        events: list[Event] = []
        for segment in words.rest:
            if cut and isinstance(segment, dialects.CallSegment):
                events += self._broken(words, event.index, segment)
            else:
                events += _SEGMENTS[type(segment)](self, words, event.index, segment)
        if not words.shown and (words.blank or words.part is not None):
            events += self._begin(words, words.kind)
        if words.out is not None:
            events.append(PartEnded(words.out[0], incomplete=event.incomplete))
        if words.seen and not words.shown:
            self._note("marks-dropped", event.index, f"{words.seen} characters")
        return events

    def _aside(self, words: _Open, event: PartDelta) -> list[Event]:
        """A citation, a signature or a summary, which belong to words."""
        events: list[Event] = []
        if words.shown and words.kind is Reasoning and event.field == "signature":
            note = "it belongs to words with a call in them"
            self._ctx.note("reasoning-dropped", self._ctx.came_at(event.index), note)
            return events
        if words.shown and event.citation is not None:
            self._note("citation-mapped", event.index, "its place in the text is not known")
            event = replace(event, citation=replace(event.citation, start=None, end=None))
        if words.out is None or words.out[1] is not words.kind:
            events = [*self._close(words), *self._begin(words, words.kind)]
        return [*events, replace(event, index=words.out[0])] if words.out else events

    # --- words

    def _feed(self, words: _Open, index: int, text: str) -> list[Event]:
        words.seen += len(text)
        events: list[Event] = []
        for segment in words.decoder.feed(text):
            events += _SEGMENTS[type(segment)](self, words, index, segment)
        return events

    def _text(self, words: _Open, _index: int, segment: dialects.TextSegment) -> list[Event]:
        words.seen -= len(segment.text)
        return self._say(words, words.kind, segment.text)

    def _reasoning(
        self, words: _Open, index: int, segment: dialects.ReasoningSegment
    ) -> list[Event]:
        words.seen -= len(segment.text)
        if not words.shown or words.out is None or words.out[1] is not Reasoning:
            self._note("reasoning-promoted", index)
        words.shown = True
        return self._say(words, Reasoning, segment.text)

    def _say(self, words: _Open, kind: _Words, text: str) -> list[Event]:
        events: list[Event] = []
        if words.out is not None and words.out[1] is not kind:
            events += self._close(words)
        if words.out is None:
            text = words.blank + text
            if not text.strip():
                words.blank = text
                return events
            events += self._begin(words, kind, text)
        elif text:
            events.append(PartDelta(words.out[0], text))
        return events

    def _begin(self, words: _Open, kind: _Words, text: str | None = None) -> list[Event]:
        part: Text | Reasoning = Reasoning() if kind is Reasoning else Text(text="")
        if words.part is not None and kind is words.kind:
            part, words.part = words.part, None
        text, words.blank = words.blank if text is None else text, ""
        number, self._next = self._next, self._next + 1
        words.out = number, kind
        started = PartStarted(number, part, words.choice)
        return [started, PartDelta(number, text)] if text else [started]

    def _close(self, words: _Open) -> list[Event]:
        words.blank = ""
        if words.out is None:
            return []
        (number, _), words.out = words.out, None
        return [PartEnded(number)]

    # --- calls

    def _call(self, words: _Open, index: int, call: dialects.CallSegment) -> list[Event]:
        words.seen -= len(call.raw)
        words.shown = True
        events = self._close(words)
        calls = self._calls_of(words.choice)
        made = self._declared.call(call.name, call.arguments)
        own = calls.thoughts if words.kind is Reasoning else calls.texts
        where = calls.repeats(made, own)
        if where and words.call is None:
            self._note("call-duplicate", index, f"{call.name}, {where} before")
            return events
        calls.promoted += 1
        self._note("call-promoted", index, f"{call.name}, in the dialect {words.decoder.dialect}")
        if words.call is not None:
            (number, _), words.call = words.call, None
            return [*events, PartEnded(number)]
        number, self._next = self._next, self._next + 1
        return [*events, *unfold_part(number, self._with_id(made, call), words.choice)]

    def _with_id(
        self, made: ToolCall, call: dialects.CallSegment | dialects.CallStartSegment
    ) -> ToolCall:
        new = call.id_made or call.id in self._taken
        made = replace(made, id=self._ctx.new_id(self._prefix) if new else call.id, id_made=new)
        self._taken.add(made.id)
        return made

    def _begun(self, words: _Open, _index: int, call: dialects.CallStartSegment) -> list[Event]:
        """A call with long arguments, which leaves as it comes if that is safe."""
        made = self._declared.call(call.name, "")
        if made.kind != "function" or self._calls_of(words.choice).may_repeat(
            call.name, native=False
        ):
            return []
        words.shown = True
        number, self._next = self._next, self._next + 1
        words.call = number, self._with_id(made, call)
        return [*self._close(words), PartStarted(number, words.call[1], words.choice)]

    def _piece(self, words: _Open, _index: int, piece: dialects.ArgumentSegment) -> list[Event]:
        return [PartDelta(words.call[0], piece.text)] if words.call is not None else []

    def _broken(
        self, words: _Open, index: int, call: dialects.CallSegment | dialects.BrokenSegment
    ) -> list[Event]:
        """What is no call after all: the text that it was, or the end of what has left of it."""
        if words.call is None:
            self._note("call-cut", index, f"{call.name}, left as text")
            return self._text(words, index, dialects.TextSegment(call.raw))
        self._note("call-cut", index, f"{call.name}, incomplete")
        words.seen -= len(call.raw)
        self._calls_of(words.choice).broken += 1
        (number, _), words.call = words.call, None
        return [PartEnded(number, incomplete=True)]

    def _calls_of(self, choice: int) -> ChoiceCalls:
        return self._choices.setdefault(choice, ChoiceCalls())

    def _note(self, code: str, index: int, message: str = "") -> None:
        self._ctx.note(code, self._ctx.came_at(index), message)


_SEGMENTS: Final[dict[type[Any], Callable[[FindTextCalls, _Open, int, Any], list[Event]]]] = {
    dialects.TextSegment: FindTextCalls._text,
    dialects.ReasoningSegment: FindTextCalls._reasoning,
    dialects.CallSegment: FindTextCalls._call,
    dialects.CallStartSegment: FindTextCalls._begun,
    dialects.ArgumentSegment: FindTextCalls._piece,
    dialects.BrokenSegment: FindTextCalls._broken,
}
