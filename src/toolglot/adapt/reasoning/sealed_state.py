"""Reasoning state on its way through a client of another protocol.

Providers sign or encrypt what their models thought and want it back unchanged, but the client in
between speaks another protocol. So the state travels in the reasoning field of that protocol,
sealed in a carrier: a tag, who issued it, and the part as it was. When the client sends its history
back, the carrier is opened for its issuer and for nobody else; any other target gets a note
instead.

A carrier also holds what the client's protocol has no room for and the issuer wants back as it was:
the order of texts, reasoning and calls, the text of arguments that an object would not give back
byte for byte, and signatures on calls and texts. Nothing is hidden in ids, and no server state is
needed.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from toolglot.adapt.messages.turns import flat_parts
from toolglot.context import Context
from toolglot.ir import Choice, Message, Part, Reasoning, Request, Response, Text, ToolCall
from toolglot.surface import Surface
from toolglot.wire import jsontext

TAG: Final = "tg1."


class Place(Struct, frozen=True, omit_defaults=True):
    """Where a part stood: a text by its length, a call by its id, reasoning by being next or by
    itself.
    """

    text: int | None = None
    reasoning: Reasoning | None = None
    call: str | None = None
    arguments: str | None = None
    signature: str | None = None


class Carrier(Struct, frozen=True, omit_defaults=True):
    """What is sealed: who issued it, the reasoning, and how the message was laid out."""

    issuer: str
    reasoning: Reasoning | None = None
    layout: tuple[Place, ...] = ()


def pack(carrier: Carrier) -> str:
    """A carrier as text that any field takes."""
    return TAG + urlsafe_b64encode(jsontext.encode(to_builtins(carrier))).decode()


def unpack(text: str | None) -> Carrier | None:
    """The carrier in a text, if there is one and it is whole."""
    if text is None or not text.startswith(TAG):
        return None
    try:
        return convert(jsontext.peek(urlsafe_b64decode(text[len(TAG) :])), Carrier)
    except (ValueError, ValidationError):
        return None


# --- to the client
# -----------------------------------------------------------------------------------


def seal(response: Response, ctx: Context) -> Response:
    """Put the provider's state where the client's protocol keeps its own."""
    source, target = ctx.surfaces
    issuer = ctx.options.issuer or source.name
    choices = tuple(_seal_choice(choice, issuer, target, ctx) for choice in response.choices)
    return replace(response, choices=choices)


def _seal_choice(choice: Choice, issuer: str, target: Surface, ctx: Context) -> Choice:
    layout = Layout(issuer, target)
    parts: list[Part] = []
    for index, part in enumerate(choice.parts):
        parts.append(layout.add(part, index))
        if isinstance(part, Reasoning):
            ctx.note("reasoning-carried", f"{target.content}[{index}]")
    trailing = layout.trailing()
    if trailing is not None:
        ctx.note("reasoning-carried", target.content, "the layout of the message is sealed")
        parts.append(trailing)
    flat = tuple(parts) if target.ordered else flat_parts(tuple(parts), ctx, target.content)
    return replace(choice, parts=flat)


class Layout:
    """How a message is laid out, noted part by part, and the carriers that tell of it.

    Where calls can carry state, clients keep it there and may throw other reasoning away, so each
    call tells what stood between it and the call before. Elsewhere one carrier behind everything
    tells it, if the protocol itself would not.
    """

    def __init__(self, issuer: str, target: Surface) -> None:
        self._issuer = issuer
        self._target = target
        self._noted: list[tuple[int, Part, Place]] = []
        self._all: list[tuple[int, Part]] = []

    @property
    def parts(self) -> tuple[Part, ...]:
        """All complete parts, in the order of the message."""
        return tuple(part for _, part in sorted(self._all, key=lambda each: each[0]))

    def add(self, part: Part, index: int) -> Part:
        """Note a complete part, the `index`th of its message; the part as the client gets it."""
        self._noted.append((index, part, _place(part, self._target)))
        self._all.append((index, part))
        if isinstance(part, Reasoning):
            return seal_part(part, self._issuer, self._target)
        if isinstance(part, ToolCall) and self._target.call_signatures:
            return replace(part, signature=self._segment())
        if isinstance(part, (Text, ToolCall)) and part.signature is not None:
            return replace(part, signature=None)
        return part

    def _segment(self) -> str | None:
        """What came since the last call, if it needs telling."""
        places = tuple(place for _, _, place in self._noted)
        self._noted.clear()
        return pack(Carrier(self._issuer, layout=places)) if any(map(_tells, places)) else None

    def trailing(self) -> Reasoning | None:
        """The carrier behind everything, if there must be one."""
        if self._target.call_signatures:
            return None
        noted = sorted(self._noted, key=lambda each: each[0])
        places = tuple(place for _, _, place in noted)
        if self._in_order(tuple(part for _, part, _ in noted)) and not any(map(_tells, places)):
            return None
        return Reasoning(signature=pack(Carrier(self._issuer, layout=places)), redacted=True)

    def _in_order(self, parts: tuple[Part, ...]) -> bool:
        """Whether the client gives the parts back in an order that tells what belongs together."""
        if not self._target.ordered:
            return _in_flat_order(parts)
        return not self._target.calls_last or not _reasons_after_calls(parts)


def seal_part(part: Reasoning, issuer: str, target: Surface) -> Reasoning:
    """Reasoning that shows its words and carries the rest."""
    words = words_of(part)
    # One message of an ordered protocol gives every reasoning part back by itself, with its words.
    # Where there is a summary too, a stream may have shown that instead.
    plain = target.ordered and part.text == words and not part.summary
    kept = replace(part, text="") if plain else part
    signature = pack(Carrier(issuer, reasoning=kept))
    return Reasoning(text=words, signature=signature, redacted=not words)


def words_of(part: Reasoning) -> str:
    """What can be read of reasoning."""
    return part.text or "\n\n".join(part.summary)


def _tells(place: Place) -> bool:
    return place.arguments is not None or place.signature is not None or place.reasoning is not None


def _place(part: Part, target: Surface) -> Place:
    if isinstance(part, Text):
        return Place(text=len(part.text), signature=part.signature)
    if isinstance(part, ToolCall):
        as_object = target.arguments == "object" and part.kind == "function"
        arguments = part.arguments if as_object and not _is_canonical(part.arguments) else None
        return Place(call=part.id, arguments=arguments, signature=part.signature)
    return Place(reasoning=part if target.call_signatures and isinstance(part, Reasoning) else None)


def _is_canonical(arguments: str) -> bool:
    """Whether reading and writing gives the same text again."""
    try:
        return jsontext.text(jsontext.peek(arguments)) == arguments
    except ValueError:
        return False


def _in_flat_order(parts: tuple[Part, ...]) -> bool:
    """Reasoning, at most one text, calls: an order that needs no telling."""
    ranks = [0 if isinstance(p, Reasoning) else 1 if isinstance(p, Text) else 2 for p in parts]
    return ranks == sorted(ranks) and ranks.count(1) <= 1 and ranks.count(0) <= 1


def _reasons_after_calls(parts: tuple[Part, ...]) -> bool:
    kinds = [type(part) for part in parts]
    return ToolCall in kinds and Reasoning in kinds[kinds.index(ToolCall) :]


# --- back to the provider
# --------------------------------------------------------------------------


def unseal(request: Request, ctx: Context) -> Request:
    """Give state back to its issuer, and keep it from everyone else."""
    places = [index for index, each in enumerate(request.messages) if _has_state(each)]
    if not places:
        return request
    opening = _Opening(ctx)
    opened = list(request.messages)
    for index in places:
        opened[index] = opening.message(index, opened[index])
    laid_out = _laid_out(opened, opening.layouts) if opening.layouts else opened
    return replace(request, messages=tuple(laid_out))


def _has_state(message: Message) -> bool:
    if message.role != "assistant":
        return False
    for part in message.parts:
        kind = type(part)
        if kind is Reasoning or (kind in _SIGNED and getattr(part, "signature", None) is not None):
            return True
    return False


_SIGNED: Final = frozenset({Text, ToolCall})


class _Opening:
    """Opens the carriers of a history, and remembers the layouts that they told of."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._source, self._target = ctx.surfaces
        self._issuer = ctx.options.issuer or self._target.name
        self._native = ctx.source is ctx.target
        self._index = 0
        self._displayed = False
        self._plain: list[int] = []
        self.layouts: dict[int, tuple[Place, ...]] = {}

    def message(self, index: int, message: Message) -> Message:
        """The message without carriers and foreign state."""
        self._index, self._displayed, self._plain = index, False, []
        opened = [self._part(part, place) for place, part in enumerate(message.parts)]
        if self._displayed:
            # Carriers without words had their words shown beside them, as plain reasoning.
            pairs = zip(opened, message.parts, strict=True)
            opened = [new for new, old in pairs if not (new is old and isinstance(old, Reasoning))]
            self._plain = []
        for place in self._plain:
            self._drop(place, None)
        return replace(message, parts=tuple(part for part in opened if part is not None))

    def _part(self, part: Part, place: int) -> Part | None:
        if isinstance(part, Reasoning):
            return self._reasoning(part, place)
        if isinstance(part, (ToolCall, Text)) and part.signature is not None:
            carrier = unpack(part.signature)
            if carrier is None and self._native:
                return part
            if part.signature in self._source.no_state:
                self._ctx.note("field-minor", self._ctx.at(self._index, place), "it has no state")
            elif not self._open(_told_by(part, carrier)):
                self._drop(place, carrier)
            return replace(part, signature=None)
        return part

    def _reasoning(self, part: Reasoning, place: int) -> Reasoning | None:
        carrier = unpack(part.signature)
        if carrier is None and (self._native or self._is_welcome(part)):
            return part
        if part.signature is None and not part.redacted:
            self._plain.append(place)
            return None
        if carrier is None or not self._open(carrier):
            self._drop(place, carrier)
            return None
        words = words_of(part)
        self._displayed = self._displayed or not words
        kept = carrier.reasoning
        if kept is None:
            return None
        self._ctx.note("reasoning-restored", self._ctx.at(self._index, place))
        return kept if kept.text or kept.redacted or kept.summary else replace(kept, text=words)

    def _is_welcome(self, part: Reasoning) -> bool:
        """Whether the target takes reasoning as plain words."""
        return self._target.reasoning_unsigned and part.signature is None and not part.redacted

    def _open(self, carrier: Carrier | None) -> bool:
        """Whether the carrier is for this target; its layout is then remembered."""
        if carrier is None or carrier.issuer != self._issuer:
            return False
        if carrier.layout:
            self.layouts[self._index] = self.layouts.get(self._index, ()) + carrier.layout
        return True

    def _drop(self, place: int, carrier: Carrier | None) -> None:
        who = carrier.issuer if carrier else "another provider"
        path = self._ctx.at(self._index, place)
        self._ctx.note("reasoning-dropped", path, f"it is bound to {who}")


def _told_by(part: Part, carrier: Carrier | None) -> Carrier | None:
    """A carrier on a call tells of that call last, also if the client kept no ids."""
    if carrier is None or not carrier.layout or not isinstance(part, ToolCall) or not part.id_made:
        return carrier
    *before, itself = carrier.layout
    return replace(carrier, layout=(*before, replace(itself, call=part.id)))


def _laid_out(messages: list[Message], layouts: dict[int, tuple[Place, ...]]) -> Iterator[Message]:
    """Turns whose layout is known, as they were; everything else as it is."""
    first = 0
    while first < len(messages):
        last = first + 1
        while last < len(messages) and messages[first].role == "assistant" == messages[last].role:
            last += 1
        run = messages[first:last]
        layout = tuple(place for index in range(first, last) for place in layouts.get(index, ()))
        parts = [part for message in run for part in message.parts]
        arranged = _arrange(parts, layout) if layout else None
        if arranged is not None:
            yield Message(role="assistant", parts=tuple(arranged))
        else:
            yield from run
        first = last


def _arrange(parts: list[Part], layout: tuple[Place, ...]) -> list[Part] | None:
    """The parts in their places; None if the client changed what they were."""
    calls = _called(parts, [place.call for place in layout if place.call is not None])
    text = "".join(part.text for part in parts if isinstance(part, Text))
    if calls is None or sum(place.text or 0 for place in layout) > len(text):
        return None
    if len(calls) > sum(place.call is not None for place in layout):
        return _arrange_some(parts, layout)
    reasoning = [part for part in parts if isinstance(part, Reasoning)]
    arranged: list[Part] = []
    for place in layout:
        if place.text is not None:
            arranged.append(Text(text=text[: place.text], signature=place.signature))
            text = text[place.text :]
        elif place.call is not None:
            arranged.append(_as_it_was(calls.pop(place.call), place))
        elif place.reasoning is not None:
            arranged.append(place.reasoning)
        elif reasoning:
            arranged.append(reasoning.pop(0))
    if not any(place.reasoning is not None for place in layout):
        arranged.extend(reasoning)
    if text:
        arranged.append(Text(text=text))
    return [*arranged, *calls.values()]


def _arrange_some(parts: list[Part], layout: tuple[Place, ...]) -> list[Part] | None:
    """The same, where calls tell of themselves and what came before them, and some have nothing to
    tell.
    """
    arranged: list[Part] = []
    run: list[Part] = []
    for part in parts:
        run.append(part)
        if isinstance(part, ToolCall):
            places = _before(layout, part.id)
            placed = _arrange(run, places) if places else run
            if placed is None:
                return None
            arranged += placed
            run = []
    return arranged + run


def _before(layout: tuple[Place, ...], call: str) -> tuple[Place, ...]:
    """The places from behind the call before to this call; none if it is not there."""
    ends = [index for index, place in enumerate(layout) if place.call is not None]
    end = next((index for index in ends if layout[index].call == call), -1)
    start = max((index for index in ends if index < end), default=-1)
    return layout[start + 1 : end + 1]


def _called(parts: list[Part], wanted: list[str]) -> dict[str, ToolCall] | None:
    """The calls by the ids that the layout has for them; by order, if the client kept no ids."""
    calls = [part for part in parts if isinstance(part, ToolCall)]
    known = {call.id: call for call in calls}
    if known.keys() >= set(wanted):
        return known
    if len(calls) != len(wanted) or not all(call.id_made for call in calls):
        return None
    return dict(zip(wanted, calls, strict=True))


def _as_it_was(call: ToolCall, place: Place) -> ToolCall:
    arguments = place.arguments
    if arguments is not None and not _means_the_same(call.arguments, arguments):
        arguments = None
    return replace(
        call,
        arguments=call.arguments if arguments is None else arguments,
        signature=place.signature,
    )


def _means_the_same(one: str, other: str) -> bool:
    """Whether two texts are the same JSON, or both are none."""
    try:
        return bool(jsontext.peek(one) == jsontext.peek(other))
    except ValueError:
        return one == other
