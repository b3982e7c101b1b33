"""Reasoning state on its way through a client of another protocol.

Providers sign or encrypt what their models thought and want it back unchanged, but the client in
between speaks another protocol. So the state travels sealed in the reasoning field of that
protocol: a tag, who issued it, and the part as it was. When the client sends its history back,
`unseal` opens it for its issuer and for nobody else; any other target gets a note instead.

Sealed state also holds what the client's protocol has no room for and the issuer wants back as it
was: the order of texts, reasoning and calls, the text of arguments that an object would not give
back byte for byte, and signatures on calls and texts. Nothing is hidden in ids, and no server state
is needed.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, Part, Reasoning, Request, Text, ToolCall
from toolglot.wire import jsontext

TAG: Final = "tg1."


class Place(Struct, frozen=True, omit_defaults=True):
    """Where a part stood: a text by its length, a call by its id, reasoning by being next or by
    itself.
    """

    text: int | None = None
    reasoning: Reasoning | None = None
    call: str | None = None
    name: str | None = None
    """The tool of a call, where its id may not come back."""
    arguments: str | None = None
    signature: str | None = None


class SealedState(Struct, frozen=True, omit_defaults=True):
    """What is sealed: who issued it, the reasoning, and how the message was laid out."""

    issuer: str
    reasoning: Reasoning | None = None
    layout: tuple[Place, ...] = ()


def pack(state: SealedState) -> str:
    """Sealed state as text that any field takes."""
    return TAG + urlsafe_b64encode(jsontext.encode(to_builtins(state))).decode()


def unpack(text: str | None) -> SealedState | None:
    """The sealed state in a text, if there is some and it is intact."""
    if text is None or not text.startswith(TAG):
        return None
    try:
        return convert(jsontext.peek(urlsafe_b64decode(text[len(TAG) :])), SealedState)
    except (ValueError, ValidationError):
        return None


def words_of(part: Reasoning) -> str:
    """What can be read of reasoning."""
    return part.text or "\n\n".join(part.summary)


# --- back to the provider -------------------------------------------------------------------------


def unseal(request: Request, ctx: Context) -> Request:
    """Give state back to its issuer, and keep it from everyone else."""
    places = [index for index, each in enumerate(request.messages) if _has_state(each)]
    if not places:
        return request
    unsealer = _Unsealer(ctx)
    opened = list(request.messages)
    for index in places:
        opened[index] = unsealer.message(index, opened[index])
    laid_out = _laid_out(opened, unsealer.layouts) if unsealer.layouts else opened
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


class _Unsealer:
    """Opens the sealed state of a history, and collects the layouts in it."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._source, self._target = ctx.surfaces
        self._issuer = ctx.options.issuer or self._target.name
        self._native = ctx.in_protocol
        self._index = 0
        self._message = Message(role="user", parts=())
        self._displayed = False
        self._plain: list[int] = []
        self.layouts: dict[int, tuple[Place, ...]] = {}

    def message(self, index: int, message: Message) -> Message:
        """The message without sealed and foreign state."""
        self._index, self._displayed, self._plain = index, False, []
        self._message = message
        opened = [self._part(part, place) for place, part in enumerate(message.parts)]
        if self._displayed:
            # SealedStates without words had their words shown beside them, as plain reasoning.
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
            sealed = unpack(part.signature)
            if sealed is None and self._native:
                return part
            if part.signature in self._source.reasoning.empty_states:
                self._ctx.note("field-minor", self._at(place), "it has no state")
            elif not self._open(_for_call(part, sealed)):
                self._drop(place, sealed)
            return replace(part, signature=None)
        return part

    def _reasoning(self, part: Reasoning, place: int) -> Reasoning | None:
        sealed = unpack(part.signature)
        if sealed is None and (self._native or self._is_welcome(part)):
            return part
        if part.signature is None and not part.redacted:
            self._plain.append(place)
            return None
        if sealed is None or not self._open(sealed):
            self._drop(place, sealed)
            return None
        words = words_of(part)
        self._displayed = self._displayed or not words
        kept = sealed.reasoning
        if kept is None:
            return None
        self._ctx.note("reasoning-restored", self._at(place))
        return kept if kept.text or kept.redacted or kept.summary else replace(kept, text=words)

    def _is_welcome(self, part: Reasoning) -> bool:
        """Whether the target takes reasoning as plain words."""
        return (
            self._target.reasoning.takes_unsigned and part.signature is None and not part.redacted
        )

    def _open(self, sealed: SealedState | None) -> bool:
        """Whether the state is for this target; its layout is then kept."""
        if sealed is None or sealed.issuer != self._issuer:
            return False
        if sealed.layout:
            self.layouts[self._index] = self.layouts.get(self._index, ()) + sealed.layout
        return True

    def _drop(self, place: int, sealed: SealedState | None) -> None:
        who = sealed.issuer if sealed else "another provider"
        self._ctx.note("reasoning-dropped", self._at(place), f"it is bound to {who}")

    def _at(self, place: int) -> str:
        return self._ctx.at_part(self._index, self._message, place)


def _for_call(part: Part, sealed: SealedState | None) -> SealedState | None:
    """The layout on a call ends with that call, also if the client kept no ids."""
    if sealed is None or not sealed.layout or not isinstance(part, ToolCall) or not part.id_made:
        return sealed
    *before, itself = sealed.layout
    return replace(sealed, layout=(*before, replace(itself, call=part.id)))


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
    """The parts in their places; None if none of the calls is there any more."""
    wanted = [place for place in layout if place.call is not None]
    calls = _called(parts, wanted)
    if wanted and not calls:
        return None
    made = [part for part in parts if isinstance(part, ToolCall)]
    if len(made) > len(wanted) and len(calls) == len(wanted):
        return _arrange_some(parts, layout)
    texts = [part for part in parts if isinstance(part, Text)]
    if sum(place.text or 0 for place in layout) > sum(len(part.text) for part in texts):
        # The client dropped or shortened the text: what is left of it stands before the calls.
        layout = _with_texts_before_calls(layout, texts)
    return [*_placed(parts, layout, calls), *(part for part in made if part not in calls.values())]


def _with_texts_before_calls(layout: tuple[Place, ...], texts: list[Text]) -> tuple[Place, ...]:
    kept = [place for place in layout if place.text is None]
    first = next((at for at, place in enumerate(kept) if place.call is not None), len(kept))
    return (*kept[:first], *(Place(text=len(part.text)) for part in texts), *kept[first:])


def _placed(
    parts: list[Part], layout: tuple[Place, ...], calls: dict[str, ToolCall]
) -> Iterator[Part]:
    """Text, reasoning and calls as the layout says, then what it has no place for."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    reasoning = [part for part in parts if isinstance(part, Reasoning)]
    for place in layout:
        if place.text is not None:
            yield Text(text=text[: place.text], signature=place.signature)
            text = text[place.text :]
        elif place.call is not None:
            if place.call in calls:
                yield _as_it_was(calls[place.call], place)
        elif place.reasoning is not None:
            yield place.reasoning
        elif reasoning:
            yield reasoning.pop(0)
    if not any(place.reasoning is not None for place in layout):
        yield from reasoning
    else:
        yield from _behind_calls(parts, layout)
    if text:
        yield Text(text=text)


def _behind_calls(parts: list[Part], layout: tuple[Place, ...]) -> list[Reasoning]:
    """What came after the last call, which a layout that ends with that call does not have."""
    if not layout or layout[-1].call is None:
        return []
    last = max(index for index, part in enumerate(parts) if isinstance(part, ToolCall))
    known = [place.reasoning for place in layout]
    behind = (part for part in parts[last + 1 :] if isinstance(part, Reasoning))
    return [part for part in behind if part not in known]


def _arrange_some(parts: list[Part], layout: tuple[Place, ...]) -> list[Part] | None:
    """The same, where each call has the layout since the call before it, and some have none."""
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


def _called(parts: list[Part], wanted: list[Place]) -> dict[str, ToolCall]:
    """The calls by the ids that the layout has for them: those with that id, else with that name
    and those arguments, else by order, if the client returned as many calls.
    """
    calls = [part for part in parts if isinstance(part, ToolCall)]
    known = {call.id: call for call in calls}
    ids = [place.call or "" for place in wanted]
    if known.keys() >= set(ids):
        return {each: known[each] for each in ids}
    if all(place.name is None for place in wanted):
        same = len(calls) == len(wanted)
        return dict(zip(ids, calls, strict=True)) if same else {}
    found: dict[str, ToolCall] = {}
    for place in wanted:
        call = next((call for call in calls if _is_of(call, place)), None)
        if call is not None and place.call is not None:
            found[place.call] = call
            calls.remove(call)
    return found


def _is_of(call: ToolCall, place: Place) -> bool:
    if call.id == place.call:
        return True
    return call.name == place.name and _means_the_same(call.arguments, place.arguments or "")


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
