"""Tool calls that a model wrote inside its text, whole or as it comes.

`parse_text` is `TextDecoder` fed once, so a text gives the same segments however it is cut. Text
that is no call comes back as it was written. Text that may still become a mark is held back, and
never longer than it takes to know.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from toolglot.dialects.deferred import (
    at_the_end,
    declared,
    followed,
    known_what_follows,
    unless_closed,
)
from toolglot.dialects.markers import SearchState, follows, marker_set, reasoning_pairs
from toolglot.dialects.reader import (
    ArgumentSegment,
    BrokenSegment,
    CallSegment,
    CallStartSegment,
    Form,
    NotACall,
    Reader,
    ReasoningSegment,
    Segment,
    Steps,
    TextSegment,
    Tools,
)
from toolglot.dialects.table import DIALECTS

if TYPE_CHECKING:
    from toolglot.dialects.dialect import Dialect

__all__ = [
    "ArgumentSegment",
    "BrokenSegment",
    "CallSegment",
    "CallStartSegment",
    "ParsedText",
    "ReasoningSegment",
    "Segment",
    "TextDecoder",
    "TextSegment",
    "parse_text",
]  # fmt: skip

_TRIES: Final = 8
"""How many blocks may begin inside text that turned out to be no block; bounds the work."""
_FENCES: Final = ("```", "~~~")


class ParsedText(msgspec.Struct, frozen=True):
    """A text taken apart: the dialect of its calls, if there are any, and all parts in order."""

    dialect: str | None
    segments: tuple[Segment, ...]

    @property
    def content(self) -> str:
        """All words for the user."""
        return "".join(each.text for each in self.segments if isinstance(each, TextSegment))

    @property
    def reasoning(self) -> str:
        """All words of the model to itself."""
        return "".join(each.text for each in self.segments if isinstance(each, ReasoningSegment))

    @property
    def calls(self) -> tuple[CallSegment, ...]:
        """All calls."""
        return tuple(each for each in self.segments if isinstance(each, CallSegment))


def parse_text(
    text: str, tools: Iterable[Any] | None = None, dialect: str = "auto", *, thinking: bool = False
) -> ParsedText:
    """Take a complete text apart; `thinking` if the prompt had opened the reasoning already."""
    decoder = TextDecoder(dialect, tools, thinking=thinking)
    segments = merged([*decoder.feed(text), *decoder.close()])
    return ParsedText(decoder.dialect, tuple(segments))


def merged(segments: Iterable[Segment]) -> list[Segment]:
    """Segments with neighbouring pieces of text joined."""
    done: list[Segment] = []
    words: list[str] = []
    kind: type[TextSegment | ReasoningSegment] = TextSegment
    for each in segments:
        if words and type(each) is not kind:
            done.append(kind("".join(words)))
            words = []
        if isinstance(each, (TextSegment, ReasoningSegment)):
            kind = type(each)
            words.append(each.text)
        else:
            done.append(each)
    if words:
        done.append(kind("".join(words)))
    return done


class _LineState:
    """What is known of the text so far: its line, its fences, and whether it has begun."""

    __slots__ = ("blank", "fence", "head", "last")

    def __init__(self) -> None:
        self.blank = True
        self.fence = ""
        self.head = ""
        """The first characters of the current line, without indentation."""
        self.last = ""

    def take(self, text: str) -> None:
        """More text for the user."""
        if not self.blank and len(self.head) >= len(_FENCES[0]) and "\n" not in text:
            self.last = text[-1:] or self.last
            return
        first, *rest = text.split("\n")
        self._line(first)
        for line in rest:
            self.head = ""
            self._line(line)
        self.last = text[-1:] or self.last
        self.blank = self.blank and not text.strip()

    def _line(self, text: str) -> None:
        if len(self.head) >= len(_FENCES[0]):
            return
        self.head = (self.head + text).lstrip()[: len(_FENCES[0])]
        if self.head in _FENCES:
            if not self.fence:
                self.fence = self.head
            elif self.fence == self.head:
                self.fence = ""


class TextDecoder:
    """Takes text as it comes and gives segments as soon as they are certain."""

    def __init__(
        self,
        dialect: str = "auto",
        tools: Iterable[Any] | None = None,
        *,
        thinking: bool = False,
        marked_only: bool = False,
        live: bool = False,
    ) -> None:
        """`thinking` if the text begins inside reasoning; `marked_only` if it is all reasoning, in
        which only calls between marks count; `live` if long arguments are to be streamed.
        """
        self._auto = dialect == "auto"
        self.dialect: str | None = None if self._auto else dialect
        """The dialect of the calls; none as long as it is not known."""
        self._rows = DIALECTS.auto if self._auto else (DIALECTS.find(dialect),)
        self._marked_only = marked_only
        self._reader = Reader(Tools(tools))
        self._reader.live = live
        self._framed = False
        """Whether the answer began as only the rows that are left begin theirs."""
        self._set_pairs()
        self._closers: tuple[str, ...] = tuple(self._pairs.values()) if thinking else ()
        """What ends the reasoning that is open."""
        self._interrupted = False
        """Whether a call ended reasoning that was not closed."""
        self._line = _LineState()
        self._search_from = 0
        self._calls = 0
        self._started_id = ""
        """The id of the last call that was streamed before it was complete."""
        self._gap = True
        """Whether nothing but space came since the last call."""
        self._no_block()
        self._update_markers()
        if not thinking and not marked_only:
            self._try_forms_without_opener()

    def _set_pairs(self) -> None:
        self._pairs = reasoning_pairs(self._rows, auto=self._auto, marked_only=self._marked_only)

    def _no_block(self) -> None:
        """No block is being read, and none was tried."""
        self._block: Iterator[None] | None = None
        self._candidates: list[tuple[Dialect, Form, str]] = []
        """The forms that are still to be tried at this place."""
        self._row = self._rows[0]
        self._form = self._row.forms[0]
        self._start = 0
        """Where the block begins."""
        self._next_place = 0
        """Where the next one may begin if it is none."""
        self._reach = 0
        """How far blocks were read that turned out to be none."""
        self._tries = 0

    def _try_forms_without_opener(self) -> None:
        self._candidates = [
            (row, form, "")
            for row in self._rows
            for form in row.forms
            if form.at == "begin" and self._state.eligible(row, form)
        ]
        if self._candidates:
            self._next_candidate()

    def feed(self, text: str) -> list[Segment]:
        """More text; what is certain now."""
        if self._block is None and not self._reader.buf and self._search(text, 0) is None:
            # By far the most text: words, and nothing that may become anything else.
            return self._as_segments(text) if text else []
        self._reader.append(text)
        return self._run()

    def close(self) -> list[Segment]:
        """The end of the text; all that is left."""
        self._reader.final = True
        done = self._run()
        self._emit(len(self._reader.buf))
        return [*done, *self._drain()]

    @property
    def in_progress(self) -> dict[str, str]:
        """The call that is being read: its name by its id, as soon as that is known."""
        pending = self._reader.pending
        return {} if pending is None else {pending.id: pending.name}

    # --- marks --------------------------------------------------------------------------------

    def _update_markers(self) -> None:
        """Choose what is looked for now."""
        self._state = SearchState(
            self._rows,
            self._auto,
            self._reader.tools.known,
            self._marked_only,
            self.dialect is not None or self._framed,
            self._line.blank,
            self._calls > 0,
            self._interrupted,
            self._closers,
        )
        self._markers = marker_set(self._state)
        self._search = self._markers.stops.search

    def _run(self) -> list[Segment]:
        done: list[Segment] = []
        while self._step():
            done += self._drain()
        done += self._drain()
        self._trim()
        return done

    def _step(self) -> bool:
        """One step; false when more text is needed."""
        if self._block is not None:
            return self._resume()
        reader = self._reader
        buf = reader.buf
        stops = self._markers.stops
        match = (stops.pattern.search if reader.final else stops.search)(buf, self._search_from)
        found = match.start() if match else len(buf)
        if match is None or (not reader.final and stops.may_grow(buf, match)):
            self._emit(found)
            self._search_from = found
            return False
        mark = match.group()
        del buf
        self._emit(found)
        self._on_marker(mark, found)
        return True

    def _on_marker(self, mark: str, found: int) -> None:
        """A mark was found: reasoning opens or closes, the mark is dropped, or a block begins."""
        if self._closers:
            if mark in self._closers:
                self._set_closers((), found + len(mark))
                return
        elif mark in self._pairs and (mark not in self._markers.forms or not self._calls):
            self._set_closers((self._pairs[mark],), found + len(mark))
            return
        elif mark in self._markers.drops and (mark not in self._markers.strays or self._gap):
            self._skip(found + len(mark))
            return
        elif mark in self._markers.begins:
            self._skip(found + len(mark))
            self._framed = True
            self._rows = self._markers.begins[mark]
            self._set_pairs()
            self._update_markers()
            return
        self._begin_block(found)

    def _set_closers(self, closers: tuple[str, ...], end: int) -> None:
        self._skip(end)
        self._closers = closers
        self._update_markers()

    def _begin_block(self, found: int) -> None:
        """Try all forms that may begin here, those with the longest opener first."""
        self._start = found
        self._next_place = found + 1
        self._candidates = [
            (row, form, opener)
            for opener, forms in self._markers.forms.items()
            if self._reader.buf.startswith(opener, found)
            for row, form in forms
            if self._counts(form)
        ]
        self._candidates.sort(key=lambda each: -len(each[2]))
        if found < self._reach:
            self._tries += 1
            if self._tries > _TRIES:
                self._search_from = self._reach
                return
        else:
            self._tries = 0
        self._next_candidate()

    def _counts(self, form: Form) -> bool:
        """Whether an opener counts at this position."""
        line = self._line
        if self._state.only_at_start(form) and (line.blank or self._closers):
            return True
        if "line" in (form.at, form.tail) and line.head:
            return False
        return form.special or (not line.fence and line.last != "`")

    def _skip(self, end: int) -> None:
        self._reader.emitted = self._search_from = end

    def _emit(self, end: int) -> None:
        """All up to here is text, or reasoning."""
        reader = self._reader
        if end <= reader.emitted:
            return
        text = reader.buf[reader.emitted : end]
        reader.emitted = end
        reader.out += self._as_segments(text)

    def _as_segments(self, text: str) -> list[Segment]:
        if self._closers:
            return [ReasoningSegment(text)]
        self._note_text(text)
        return [TextSegment(text)]

    def _note_text(self, text: str) -> None:
        blank = self._line.blank
        self._line.take(text)
        self._gap = self._gap and not text.strip()
        if blank and not self._line.blank:
            self._update_markers()

    def _drain(self) -> list[Segment]:
        done, self._reader.out = self._reader.out, []
        return done

    def _trim(self) -> None:
        """Forget text that has become segments."""
        reader = self._reader
        if self._block is None and reader.emitted:
            reader.buf = reader.buf[reader.emitted :]
            self._search_from -= reader.emitted
            self._reach -= reader.emitted
            reader.emitted = reader.pos = 0

    # --- blocks -------------------------------------------------------------------------------

    def _next_candidate(self) -> None:
        """Try the next form at this place, or give the place up."""
        reader = self._reader
        if not self._candidates:
            self._block = None
            self._search_from = max(self._next_place, reader.emitted)
            return
        self._row, self._form, opener = self._candidates.pop(0)
        reader.pos = self._start + len(opener)
        reader.accepted = reader.rejected = reader.seen = 0
        reader.forget()
        steps: Steps[None] = self._form.read(reader, opener)
        if not self._state.settled:
            steps = known_what_follows(steps, reader)
        if self._auto and not opener:
            steps = declared(steps, reader)
        elif self._form.follows:
            steps = followed(steps, reader, follows(self._form))
        if self._state.in_thought(self._row):
            steps = unless_closed(steps, reader, self._closers)
        elif self._state.only_at_end(self._form):
            steps = at_the_end(steps, reader, self._row.drops)
        self._block = steps

    def _resume(self) -> bool:
        reader = self._reader
        block = self._block
        assert block is not None  # noqa: S101 - for the type checker
        seen = len(reader.out)
        try:
            next(block)
        except StopIteration:
            if reader.begun:
                reader.broken()
            self._note_segments(seen)
            self._finish()
        except NotACall:
            if reader.begun:
                self._break_off(seen)
                return True
            self._reach = max(self._reach, reader.pos, reader.seen)
            self._note_segments(seen)
            if reader.accepted or reader.rejected:
                self._candidates = []
                self._next_place = reader.emitted
            self._next_candidate()
        else:
            self._note_segments(seen)
            return False
        return True

    def _break_off(self, seen: int) -> None:
        """A streamed call turned out to be none; reading goes on behind it."""
        reader = self._reader
        reader.broken()
        self._note_segments(seen)
        self._block = None
        self._candidates = []
        self._skip(reader.pos)

    def _note_segments(self, seen: int) -> None:
        """What the block gave so far."""
        for each in self._reader.out[seen:]:
            if isinstance(each, TextSegment):
                self._note_text(each.text)
            elif isinstance(each, CallStartSegment):
                self._on_call()
                self._started_id = each.id
            elif isinstance(each, CallSegment) and each.id != self._started_id:
                self._on_call()

    def _on_call(self) -> None:
        self._calls += 1
        self._gap = True
        self._interrupted = self._interrupted or bool(self._closers)
        self._closers = ()
        if self._auto and self.dialect is None:
            self.dialect = self._row.name
            self._rows = (self._row,)
            self._set_pairs()
        if self._calls == 1 or self._interrupted:
            self._line.blank = False
            self._update_markers()

    def _mentioned(self) -> bool:
        """Whether a block with nothing in it may be a word of the answer.

        It is none between tokens that nobody can mention, and where an answer goes on right behind
        it without having begun.
        """
        after = self._reader.buf[self._reader.pos : self._reader.pos + 1]
        return not (self._form.special or (self._line.blank and after and not after.isspace()))

    def _finish(self) -> None:
        """A block was read to its end."""
        reader = self._reader
        if reader.emitted == self._start and not self._state.settled and self._mentioned():
            self._next_candidate()
            return
        self._block = None
        self._candidates = []
        if reader.accepted == 0 and reader.emitted < reader.pos and reader.rejected:
            self._emit(reader.pos)
        self._skip(reader.pos)
