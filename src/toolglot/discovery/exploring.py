"""What can be found out about a protocol that is spoken: one question after the other.

A refusal is a finding only where the question differs in that one thing from another that was
answered; an answer that the limit cut short shows nothing about what was left out of it.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from toolglot.dialects.text import parse_text
from toolglot.discovery.asking import OTHER_LIMIT, Asker, Steps
from toolglot.discovery.facts import (
    NO_TOOLS,
    Notebook,
    note_answer,
    note_dialect,
    note_forced,
    note_stream,
    note_tools,
    said,
)
from toolglot.discovery.finding import Found
from toolglot.discovery.questions import LONG_ID, SMALL, WEATHER
from toolglot.discovery.reading import Reading, read_answer
from toolglot.discovery.values import Answer
from toolglot.registry import get_protocol
from toolglot.surface import Surface

Note = Callable[[Notebook, str, Answer, Reading], None]


def explore(asker: Asker, found: Found) -> Steps[None]:
    """Ask everything else, in the protocol that was found."""
    _note_first(asker, found)
    surface = get_protocol(found.protocol).SURFACE
    for each in _FURTHER:
        if each.fits(asker.book, surface):
            answer = yield from asker.ask(each.name, found.protocol, found.base_url)
            each.note(asker.book, each.name, answer, read_answer(answer.body))
            _note_error(asker.book, each.name, answer)
    yield from _explore_ids(asker, found)
    yield from _explore_limit(asker, found)
    yield from _explore_errors(asker, found)
    yield from _explore_key(asker, found)


def _note_first(asker: Asker, found: Found) -> None:
    """What the question with which the protocol was found has shown already."""
    book, answer = asker.book, found.answer
    if asker.model:
        book.forget("model")
        book.add("model", asker.model, "tools", answer, asker.model)
    if answer.refused:
        book.add("tools", answer.no, "tools", answer)
        _note_error(book, "tools", answer)
        return
    note_answer(book, "tools", answer, found.reading)
    note_tools(book, "tools", answer, found.reading)
    if found.reading.streamed:
        book.quirk("streams-always", "It streams although it was asked not to.")


def _note_error(book: Notebook, probe: str, answer: Answer) -> None:
    if answer.refused and answer.body:
        book.once("errors", read_answer(answer.body).error or "json", probe, answer)


# --- reading ------------------------------------------------------------------------------------


def _note_stream(book: Notebook, probe: str, answer: Answer, reading: Reading) -> None:
    if answer.ok and reading.response is not None:
        note_answer(book, probe, answer, reading)
        note_stream(book, probe, answer, reading)
    elif answer.refused:
        book.add("streaming", answer.no, probe, answer)
    elif answer.ok and not answer.body.strip():
        book.quirk("empty-streams", "A stream may be empty, without an error.")


def _note_several(book: Notebook, probe: str, answer: Answer, reading: Reading) -> None:
    arguments = [call.arguments for call in reading.calls]
    if answer.ok and len(set(arguments)) > 1:
        book.add(probe, "yes", probe, answer, " ".join(arguments))


def _note_forced(book: Notebook, probe: str, answer: Answer, reading: Reading) -> None:
    if answer.ok and reading.response is not None:
        note_forced(book, probe, answer, reading)
    elif answer.refused:
        book.add(probe, answer.no, probe, answer)


def _note_taken(book: Notebook, subject: str, answer: Answer, reading: Reading) -> None:
    if answer.ok and reading.response is not None:
        note_answer(book, subject, answer, reading)
        book.add(subject, "accepted", subject, answer, said(reading))
    elif answer.refused:
        book.add(subject, answer.no, subject, answer)


def _note_taught(book: Notebook, probe: str, answer: Answer, reading: Reading) -> None:
    if answer.ok:
        note_dialect(book, probe, answer, parse_text(reading.text, (WEATHER,)))


# --- what is asked ------------------------------------------------------------------------------


def _takes_tools(book: Notebook, _surface: Surface) -> bool:
    return book.get("tools") not in NO_TOOLS


def _calls(book: Notebook, _surface: Surface) -> bool:
    return book.get("tools") == "called"


def _takes_choice(book: Notebook, surface: Surface) -> bool:
    written = book.get("tools") == "in text"  # A call that was forced would be in the text as well.
    return _takes_tools(book, surface) and not written and "tool" in surface.tool_choices


def _takes_strict(book: Notebook, surface: Surface) -> bool:
    return _takes_tools(book, surface) and surface.strict_default is not None


def _wants_teaching(book: Notebook, _surface: Surface) -> bool:
    return book.get("tools") in (*NO_TOOLS, "not called")


def _refuses_tools(book: Notebook, surface: Surface) -> bool:
    return not _takes_tools(book, surface)


def _has_developers(_book: Notebook, surface: Surface) -> bool:
    return surface.developer_role


def _always(_book: Notebook, _surface: Surface) -> bool:
    return True


class _Further(Struct, frozen=True):
    """A question: to whom it is put, and who reads the answer."""

    name: str
    fits: Callable[[Notebook, Surface], bool]
    note: Note


_FURTHER: Final = (
    _Further("stream", _takes_tools, _note_stream),
    _Further("stream-hello", _refuses_tools, _note_stream),
    _Further("parallel", _calls, _note_several),
    _Further("required", _takes_choice, _note_forced),
    _Further("named", _takes_choice, _note_forced),
    _Further("strict", _takes_strict, _note_taken),
    _Further("schemas", _takes_tools, _note_taken),
    _Further("taught", _wants_teaching, _note_taught),
    _Further("system", _always, _note_taken),
    _Further("developer", _has_developers, _note_taken),
)


def _explore_ids(asker: Asker, found: Found) -> Steps[None]:
    """Whether an id of another provider is taken; if not, whether that is for the id."""
    if asker.book.get("tools") in NO_TOOLS:
        return
    answer = yield from asker.ask("long-id", found.protocol, found.base_url)
    _note_error(asker.book, "long-id", answer)
    if answer.ok and read_answer(answer.body).response is not None:
        asker.book.add("foreign-ids", "accepted", "long-id", answer, LONG_ID)
    elif answer.refused:
        shorter = yield from asker.ask("short-id", found.protocol, found.base_url)
        if shorter.ok:
            asker.book.add("foreign-ids", answer.no, "long-id", answer)
        elif shorter.refused:
            asker.book.quirk("results-refused", "A conversation with a tool result is refused.")


def _explore_limit(asker: Asker, found: Found) -> Steps[None]:
    """Whether the limit may have its other name, and is then kept to."""
    if found.protocol not in OTHER_LIMIT or asker.other_limit:
        return
    asker.other_limit = True
    answer = yield from asker.ask("limit", found.protocol, found.base_url)
    asker.other_limit = False
    usual, _ = OTHER_LIMIT[found.protocol]
    _note_error(asker.book, "limit", answer)
    if answer.refused and answer.no == "refused":
        asker.book.add("limit", usual, "limit", answer)
    reading = read_answer(answer.body) if answer.ok else Reading()
    usage = reading.response.usage if reading.response else None
    spent = (usage.output if usage else None) or 0
    if reading.cut:
        asker.book.add("limit", "both names", "limit", answer, f"stopped after {spent or 'some'}")
    elif spent > SMALL:
        words = f"{spent} tokens came, {SMALL} were allowed"
        asker.book.add("limit", usual, "limit", answer, words)


def _explore_errors(asker: Asker, found: Found) -> Steps[None]:
    """A request that is wrong on purpose, if there was no other error."""
    if asker.book.get("errors") is None:
        wrong = {"model": asker.model, get_protocol(found.protocol).SURFACE.messages: 7}
        answer = yield from asker.ask("error", found.protocol, found.base_url, wrong)
        _note_error(asker.book, "error", answer)


def _explore_key(asker: Asker, found: Found) -> Steps[None]:
    """Whether a key is needed, and how it is sent."""
    asker.book.forget("key")
    if not asker.key:
        asker.book.add("auth", "none", "tools", found.answer, "answered without a key")
        return
    asker.key = False
    answer = yield from asker.ask("hello", found.protocol, found.base_url)
    if answer.locked and asker.style:
        asker.book.add("auth", asker.style, "hello", answer)
    elif answer.ok:
        asker.book.add("auth", "none", "hello", answer, "answered without a key")
