"""Parts of an answer as the client's protocol can express them."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from toolglot.adapt.answers.model_name import requested_model
from toolglot.adapt.calls.arguments import HeldArguments, made_id, normalise, takes_text
from toolglot.adapt.messages.content import accepts, cited, describe, loses_quote, shows
from toolglot.context import Context
from toolglot.events import (
    Direct,
    Event,
    Finished,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
)
from toolglot.ir import (
    Audio,
    Choice,
    Document,
    Image,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Response,
    StopKind,
    StopReason,
    Text,
    ToolCall,
)
from toolglot.surface import Surface

_HIDES_CALLS: Final = frozenset({"end", "stop_sequence", "pause", "malformed_call", "other"})
"""Stop reasons after which clients do not look for calls."""

_NAMELESS: Final = "tool_0"
"""The name of a call that has none: clients reject an empty one."""


class AdaptParts:
    """Adapts every part, and says which model answered and why each choice ended.

    A part that the client's protocol cannot express is left out; the others keep their numbers,
    which the pass behind this one makes consecutive.
    """

    __slots__ = ("_calls", "_choices", "_ctx", "_held", "_left_out", "_target")

    def __init__(self, ctx: Context) -> None:
        _, self._target = ctx.surfaces
        self._ctx = ctx
        self._choices: tuple[Choice, ...] | None = None
        self._calls: dict[int, bool] = {}
        """The choices that have parts, and whether calls are among them."""
        self._left_out: set[int] = set()
        self._held: dict[int, HeldArguments] = {}

    @staticmethod
    def changes(response: Response, ctx: Context) -> bool:
        """Whether there may be anything to adapt in a whole answer; most have nothing."""
        _, target = ctx.surfaces
        if len(response.choices) != 1 and not (response.choices and target.messages.many_choices):
            return True
        return any(
            choice.stop is None
            or (choice.stop.kind in _HIDES_CALLS and ToolCall in map(type, choice.parts))
            or (choice.logprobs is not None and "logprobs" not in target.settings)
            or not all(map(_is_plain, choice.parts))
            for choice in response.choices
        )

    def feed(self, event: Event) -> Sequence[Event]:
        if type(event) is PartDelta:
            if event.index in self._held and event.field == "text":
                return self._arguments(event)
            if event.index in self._left_out or event.citation is not None:
                return self._aside(event)
            return (event,)
        adapt = _ADAPT.get(type(event))
        return adapt(self, event) if adapt else (event,)

    def direct(self, index: int) -> Direct | None:
        """Arguments that may be no object, and what the client does not get, have to go through."""
        return None if index in self._held or index in self._left_out else (index, None)

    # --- parts

    def _part_started(self, event: PartStarted) -> Sequence[Event]:
        part = self._adapted(event)
        if part is None:
            if not event.whole:
                self._left_out.add(event.index)
            return ()
        if type(part) is not ToolCall:
            self._calls.setdefault(event.choice, False)
        else:
            self._calls[event.choice] = True
            if event.whole:
                if part.arguments[:1] != "{":
                    part = normalise(part, self._ctx.part_at(event.index), self._ctx)
            elif not part.arguments and not takes_text(part, self._target):
                self._held[event.index] = HeldArguments(part)
        return (event if part is event.part else replace(event, part=part),)

    def _adapted(self, event: PartStarted) -> Part | None:
        if event.choice and not self._target.messages.many_choices:
            if self._choices is None:
                path = self._ctx.part_at(event.index)
                self._ctx.note("choices-dropped", path, "there is one answer here")
            return None
        return adapt_part(event.part, event.index, self._target, self._ctx)

    def _arguments(self, event: PartDelta) -> Sequence[Event]:
        """The beginning of arguments: an object is passed on as it comes, anything else whole."""
        if not self._held[event.index].add(event.text):
            return ()
        return (PartDelta(event.index, self._held.pop(event.index).finish().arguments),)

    def _aside(self, event: PartDelta) -> Sequence[Event]:
        if event.index in self._left_out:
            return ()
        if event.citation is None:
            return (event,)
        path = self._ctx.cited_at(event.index)
        if not shows(self._target, event.citation):
            self._ctx.note("citation-dropped", path)
            return ()
        if loses_quote(self._target, event.citation):
            self._ctx.note("citation-mapped", path, "the quoted words are left out")
        return (event,)

    def _part_ended(self, event: PartEnded) -> Sequence[Event]:
        if event.index in self._left_out:
            self._left_out.remove(event.index)
            return ()
        if event.index not in self._held:
            return (event,)
        call = self._held.pop(event.index).finish()
        if not event.incomplete:
            call = normalise(call, self._ctx.part_at(event.index), self._ctx)
        return (PartDelta(event.index, call.arguments), event) if call.arguments else (event,)

    # --- the response

    def _started(self, event: Started) -> Sequence[Event]:
        model = requested_model(self._ctx) or event.model
        if event.choices is not None:
            self._choices = tuple(map(self._choice, self._kept(event.choices)))
        else:
            note_head(event, self._ctx)
        return (replace(event, model=model, choices=self._choices),)

    def _kept(self, choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
        if len(choices) > 1 and not self._target.messages.many_choices:
            words = f"{self._target.name} has one answer; {len(choices) - 1} left out"
            self._ctx.note("choices-dropped", self._ctx.answer_at("choices"), words)
            return choices[:1]
        return choices or (Choice(parts=()),)

    def _choice(self, choice: Choice) -> Choice:
        if choice.logprobs is None or "logprobs" in self._target.settings:
            return choice
        self._ctx.note("logprobs-dropped", self._ctx.answer_at("logprobs", choice.index))
        return replace(choice, logprobs=None)

    def _finished(self, event: Finished) -> Sequence[Event]:
        if self._ctx.whole is None:
            note_sequences(event.stops, self._ctx)
        count = max(len(self._choices or ()), 0 if event.unstated else len(event.stops))
        unstated = {*event.unstated, *range(len(event.stops), count)}
        stops = tuple(
            [
                self._default_stop(choice)
                if choice in unstated
                else self._stop(choice, event.stops[choice])
                for choice in range(count)
            ]
        )
        return (event if stops == event.stops else replace(event, stops=stops, unstated=()),)

    def _stop(self, choice: int, stop: StopReason) -> StopReason:
        """A client that has calls is told to answer them, whatever else the provider says."""
        if stop.kind not in _HIDES_CALLS or not self._calls.get(choice):
            return stop
        if stop.kind != "end":
            where = self._ctx.answer_at("stop", choice)
            self._ctx.note("stop-mapped", where, f"{stop.raw or stop.kind}, and there are calls")
        return replace(stop, kind="tool_calls")

    def _default_stop(self, choice: int) -> StopReason:
        """Why a choice that does not say ended: for its calls, at its end, or before it began."""
        called = self._calls.get(choice)
        kind: StopKind = "tool_calls" if called else "length" if called is None else "end"
        where = self._ctx.answer_at("stop", choice)
        self._ctx.note("default-added", where, f"no reason was given: {kind}")
        return StopReason(kind=kind)

    def _opaque(self, event: OpaqueEvent) -> Sequence[Event]:
        words = f"{self._target.name} has no such event"
        self._ctx.note("event-skipped", event.type, words, "info")
        return ()


_ADAPT: Final[dict[type[Any], Callable[[AdaptParts, Any], Sequence[Event]]]] = {
    Started: AdaptParts._started,
    PartStarted: AdaptParts._part_started,
    PartEnded: AdaptParts._part_ended,
    Finished: AdaptParts._finished,
    OpaqueEvent: AdaptParts._opaque,
}


def note_head(answer: Response | Started, ctx: Context) -> None:
    """Note what the client's protocol has no member for, of what an answer says of itself."""
    source, target = ctx.surfaces
    for field, path in source.answer.items():
        if field not in target.answer and getattr(answer, field) is not None:
            ctx.note("field-minor", path)
    if answer.model and not target.model_at and source.model_at:
        words = f"answers of {target.name} name no model"
        ctx.note("field-dropped", source.model_at[0], words, "info")
    if isinstance(answer, Response):
        note_sequences([choice.stop for choice in answer.choices], ctx)


def note_sequences(stops: Sequence[StopReason | None], ctx: Context) -> None:
    """Note stop sequences that the client's protocol has no member for."""
    source, target = ctx.surfaces
    if "sequence" not in source.answer_members or "sequence" in target.answer_members:
        return
    for choice, stop in enumerate(stops):
        if stop is not None and stop.sequence is not None:
            words = f"{target.name} does not say which sequence stopped it"
            ctx.note("field-dropped", ctx.answer_at("sequence", choice), words, "info")


def _is_plain(part: Part) -> bool:
    """Whether every protocol can express a part as it is."""
    if type(part) is ToolCall:
        plain = bool(part.name) and not part.id_made and part.namespace is None
        return plain and part.arguments[:1] == "{"
    return type(part) is Reasoning or (type(part) is Text and not part.citations)


def adapt_part(part: Part, index: int, target: Surface, ctx: Context) -> Part | None:
    """A part as the client's protocol can express it; None, with a note, if it cannot."""
    if type(part) is Reasoning or (type(part) is Text and not part.citations):
        return part
    if isinstance(part, ToolCall):
        if not part.name:
            path = f"{ctx.part_at(index)}.name"
            ctx.note("default-added", path, f"a call without a name is {_NAMELESS}")
            part = replace(part, name=_NAMELESS)
        if part.namespace is not None and "namespace" not in target.tools.kinds:
            path = f"{ctx.part_at(index)}.namespace"
            ctx.note("field-dropped", path, f"{target.name} has no namespaces", "info")
            part = replace(part, namespace=None)
        return replace(part, id=made_id(part, target)) if part.id_made else part
    if isinstance(part, Text):
        return cited(part, target, ctx.cited_at(index), ctx)
    if isinstance(part, (Image, Document, Audio)) and not accepts(target, "assistant", part):
        ctx.note("part-dropped", ctx.part_at(index), f"{target.name} has no place for it")
        return Text(text=f"[{describe(part)} left out]")
    if isinstance(part, Refusal) and "refusal" not in target.media.accepted["assistant"]:
        ctx.note("part-replaced", ctx.part_at(index), "a refusal became plain text")
        return Text(text=part.text)
    if isinstance(part, Opaque) and part.protocol != target.name:
        ctx.note("part-dropped", ctx.part_at(index), f"{target.name} has no {part.type}")
        return None
    return part
