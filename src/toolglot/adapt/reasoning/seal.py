"""Sealing the provider's reasoning state into an answer for a client of another protocol."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final

from msgspec.structs import replace

from toolglot.adapt.reasoning.kept_state import keep_state
from toolglot.adapt.reasoning.sealed_state import Place, SealedState, pack, words_of
from toolglot.context import Context
from toolglot.events import Direct, Event, Finished, Growing, PartDelta, PartEnded, PartStarted
from toolglot.ir import Part, Reasoning, Response, Text, ToolCall
from toolglot.surface import Surface
from toolglot.wire import jsontext


class _Open:
    """An open part: what came of it so far, and its number for the client once that has it."""

    __slots__ = ("field", "growing", "index", "piece", "texts")

    def __init__(self, event: PartStarted) -> None:
        self.growing = Growing(event)
        self.texts = None if type(event.part) is Reasoning else self.growing.texts
        """Where more text goes that the client gets as it comes; None: it is reasoning."""
        self.index = -1
        self.field = ""
        """What of reasoning is delivered: its text or its summary."""
        self.piece = 0


class SealState:
    """Puts the provider's state where the client's protocol keeps its own.

    The numbers of parts are consecutive behind this pass, whatever was left out before it.
    """

    __slots__ = ("_ctx", "_in_pieces", "_issuer", "_layouts", "_next", "_open", "_target")

    def __init__(self, ctx: Context) -> None:
        source, self._target = ctx.surfaces
        self._ctx = ctx
        self._issuer = ctx.options.issuer or source.name
        self._in_pieces = (
            self._target.calls.arguments == "object" and not self._target.stream.whole_calls
        )
        self._layouts: dict[int, Layout] = {}
        self._open: dict[int, _Open] = {}
        self._next = 0

    @staticmethod
    def changes(response: Response, ctx: Context) -> bool:
        """Whether a whole answer has state to seal; answers without reasoning have none."""
        _, target = ctx.surfaces
        return any(
            any(_may_have_state(part, target) for part in choice.parts)
            or not _preserves([*map(type, choice.parts)], target)
            for choice in response.choices
        )

    def feed(self, event: Event) -> Sequence[Event]:
        if type(event) is PartDelta:
            part = self._open[event.index]
            if part.texts is None or event.field != "text":
                return self._delta(part, event)
            # By far the most events.
            part.texts.append(event.text)
            return (event,) if part.index == event.index else (PartDelta(part.index, event.text),)
        handle = _HANDLERS.get(type(event))
        return handle(self, event) if handle else (event,)

    def direct(self, index: int) -> Direct | None:
        """Text goes by once the client has the part, but is collected; summaries may need gaps."""
        part = self._open[index]
        if part.texts is None and (part.field != "text" or part.piece):
            return None
        return part.index, part.growing.texts.append

    def _delta(self, part: _Open, event: PartDelta) -> Sequence[Event]:
        """More of reasoning, or something else than text."""
        part.growing.add(event)
        if event.field == "signature":
            # It is the provider's; what the client gets in its place comes when the part ends.
            return ()
        if part.texts is None:
            return self._words(part, event)
        return (replace(event, index=part.index),)

    def _words(self, part: _Open, event: PartDelta) -> Sequence[Event]:
        """More of reasoning: of its text or its summary, whichever came first."""
        text = event.text
        if not text or part.field not in ("", event.field):
            return ()
        if not part.field:
            # Reasoning starts for the client with its first word: without any, it is only state.
            part.field, part.piece = event.field, event.piece
            return (self._start(part, Reasoning()), PartDelta(part.index, text))
        if event.piece != part.piece:
            part.piece = event.piece
            text = "\n\n" + text
        return (PartDelta(part.index, text),)

    def _start(self, part: _Open, start: Part) -> PartStarted:
        part.index = self._next
        self._next += 1
        return PartStarted(part.index, start, part.growing.choice)

    def _part_started(self, event: PartStarted) -> Sequence[Event]:
        if event.whole:
            return self._whole_part(event)
        self._open[event.index] = opened = _Open(event)
        part = event.part
        if isinstance(part, Reasoning):
            return self._reasoning_started(opened, part)
        if isinstance(part, (Text, ToolCall)) and part.signature is not None:
            part = replace(part, signature=None)
        return (self._start(opened, part),)

    def _whole_part(self, event: PartStarted) -> Sequence[Event]:
        sealed = self._sealed(event.part, event.index, event.choice)
        number, self._next = self._next, self._next + 1
        if sealed is event.part and number == event.index:
            return (event,)
        return (PartStarted(number, sealed, event.choice, whole=True),)

    def _sealed(self, part: Part, index: int, choice: int) -> Part:
        """A complete part as the client gets it."""
        layout = self._layouts.get(choice)
        if layout is None:
            layout = self._layouts[choice] = Layout(self._issuer, self._target)
        if isinstance(part, Reasoning):
            self._ctx.note("reasoning-carried", self._ctx.part_at(index))
        return layout.add(part, index)

    def _reasoning_started(self, opened: _Open, part: Reasoning) -> Sequence[Event]:
        """Reasoning that starts with words of its own."""
        events: list[Event] = []
        for piece, text in enumerate(part.summary):
            events += self._words(opened, PartDelta(0, text, "summary", piece))
        return (*events, *self._words(opened, PartDelta(0, part.text)))

    def _part_ended(self, event: PartEnded) -> Sequence[Event]:
        opened = self._open.pop(event.index)
        if event.incomplete:
            # State of a part that broke off would not be accepted back.
            return (PartEnded(opened.index, incomplete=True),) if opened.index >= 0 else ()
        growing = opened.growing
        part = growing.finish()
        if type(part) is ToolCall and self._in_pieces and part.kind == "function":
            self._check(part, event.index)
        sealed = self._sealed(part, event.index, growing.choice)
        if opened.index < 0:
            return (self._start(opened, sealed), PartEnded(opened.index))
        signature = getattr(sealed, "signature", None)
        if signature is not None:
            return (PartDelta(opened.index, signature, "signature"), PartEnded(opened.index))
        return (PartEnded(opened.index),)

    def _check(self, call: ToolCall, index: int) -> None:
        """Note arguments that went to the client as they came and are no JSON."""
        if call.arguments and not _is_json(call.arguments):
            words = f"the arguments of {call.name} are no JSON"
            self._ctx.note("arguments-invalid", self._ctx.part_at(index), words)

    def _finished(self, event: Finished) -> Sequence[Event]:
        events: list[Event] = []
        for choice, layout in sorted(self._layouts.items()):
            if self._ctx.kept_state is not None:
                keep_state(layout.parts, self._ctx)
            trailing = layout.trailing()
            if trailing is not None:
                path = self._ctx.answer_at("", choice)
                self._ctx.note("reasoning-carried", path, "the layout of the message is sealed")
                whole = self._ctx.whole is not None
                events.append(PartStarted(self._next, trailing, choice, whole))
                events += () if whole else (PartEnded(self._next),)
                self._next += 1
        return (*events, event)


_HANDLERS: Final[dict[type[Any], Callable[[SealState, Any], Sequence[Event]]]] = {
    PartStarted: SealState._part_started,
    PartEnded: SealState._part_ended,
    Finished: SealState._finished,
}


# --- layouts --------------------------------------------------------------------------------------


class Layout:
    """How a message is laid out, collected part by part, and the sealed state that says so.

    Where calls can carry state, clients keep it there and may drop other reasoning, so each call
    carries the layout since the call before. Elsewhere one sealed part behind everything has the
    layout, if the client's protocol would not preserve it.
    """

    def __init__(self, issuer: str, target: Surface) -> None:
        self._issuer = issuer
        self._target = target
        self._parts: list[tuple[int, Part, Place]] = []
        self._sealed = 0
        """How many of them have their layout in a call."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """All complete parts, in the order of the message."""
        return tuple(part for _, part, _ in self._in_order())

    def add(self, part: Part, index: int) -> Part:
        """Add a complete part, the `index`th of its message; gives the part for the client."""
        self._parts.append((index, part, _place(part, self._target)))
        if type(part) is Reasoning:
            return seal_part(part, self._issuer, self._target)
        if type(part) is ToolCall:
            signature = self._segment() if self._target.calls.signatures else None
            return part if part.signature == signature else replace(part, signature=signature)
        if type(part) is Text and part.signature is not None:
            return replace(part, signature=None)
        return part

    def _segment(self) -> str | None:
        """The layout since the last call, if the client's protocol would lose it."""
        places = tuple([place for _, _, place in self._parts[self._sealed :]])
        self._sealed = len(self._parts)
        if not any(map(_has_state, places)):
            return None
        return pack(SealedState(self._issuer, layout=places))

    def trailing(self) -> Reasoning | None:
        """The sealed part behind everything, if there must be one."""
        if self._target.calls.signatures:
            return None
        parts = self._in_order()
        places = tuple([place for _, _, place in parts])
        kinds = [type(part) for _, part, _ in parts]
        if _preserves(kinds, self._target) and not any(map(_has_state, places)):
            return None
        return Reasoning(signature=pack(SealedState(self._issuer, layout=places)), redacted=True)

    def _in_order(self) -> list[tuple[int, Part, Place]]:
        return sorted(self._parts, key=_first)


_first = itemgetter(0)


def seal_part(part: Reasoning, issuer: str, target: Surface) -> Reasoning:
    """Reasoning with its words readable and the rest sealed."""
    words = words_of(part)
    # A message of an ordered protocol returns every reasoning part by itself, with its words.
    # Where there is a summary too, a stream may have delivered that instead.
    plain = target.messages.ordered and part.text == words and not part.summary
    kept = replace(part, text="") if plain else part
    signature = pack(SealedState(issuer, reasoning=kept))
    return Reasoning(text=words, signature=signature, redacted=not words)


def _has_state(place: Place) -> bool:
    return place.arguments is not None or place.signature is not None or place.reasoning is not None


def _place(part: Part, target: Surface) -> Place:
    if type(part) is Text:
        return Place(text=len(part.text), signature=part.signature)
    if type(part) is ToolCall:
        as_object = target.calls.arguments == "object" and part.kind == "function"
        arguments = part.arguments if as_object and not _is_canonical(part.arguments) else None
        return Place(call=part.id, arguments=arguments, signature=part.signature)
    return Place(
        reasoning=part if target.calls.signatures and isinstance(part, Reasoning) else None
    )


def _may_have_state(part: Part, target: Surface) -> bool:
    if type(part) is Text:
        return part.signature is not None
    if type(part) is ToolCall:
        return part.signature is not None or _has_state(_place(part, target))
    return type(part) is Reasoning


def _is_canonical(arguments: str) -> bool:
    """Whether reading and writing gives the same text again."""
    try:
        return jsontext.text(jsontext.peek(arguments)) == arguments
    except ValueError:
        return False


def _is_json(text: str) -> bool:
    try:
        jsontext.peek(text)
    except ValueError:
        return False
    return True


def _preserves(kinds: list[type[Part]], target: Surface) -> bool:
    """Whether a client returns parts of these kinds in an order from which the layout follows."""
    if not target.messages.ordered:
        return _is_flat_order(kinds)
    return not target.messages.calls_last or not _reasons_after_calls(kinds)


def _is_flat_order(kinds: list[type[Part]]) -> bool:
    """Reasoning, at most one text, calls: the order that such protocols preserve."""
    ranks = [0 if kind is Reasoning else 1 if kind is Text else 2 for kind in kinds]
    return ranks == sorted(ranks) and ranks.count(1) <= 1 and ranks.count(0) <= 1


def _reasons_after_calls(kinds: list[type[Part]]) -> bool:
    return ToolCall in kinds and Reasoning in kinds[kinds.index(ToolCall) :]
