"""What a server supports in the protocol that was found: one probe after the other.

A rejection is a finding only where the request differs in that one thing from another that was
answered; an answer that the limit cut short shows nothing about what was left out of it.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from toolglot.dialects.text import parse_text
from toolglot.discovery.detect_protocol import DetectedProtocol
from toolglot.discovery.parse_response import ParsedResponse, parse_response
from toolglot.discovery.probe import ProbeResponse
from toolglot.discovery.probe_findings import (
    NO_TOOLS,
    Findings,
    answer_text,
    note_answer,
    note_dialect,
    note_forced,
    note_stream,
    note_tools,
)
from toolglot.discovery.probe_requests import LONG_ID, SMALL, WEATHER
from toolglot.discovery.prober import Prober, Steps
from toolglot.registry import get_protocol
from toolglot.surface import Surface

Note = Callable[[Findings, ProbeResponse, ParsedResponse], None]


def explore(prober: Prober, found: DetectedProtocol) -> Steps[None]:
    """Send all further probes, in the protocol that was found."""
    _note_first(prober, found)
    surface = get_protocol(found.protocol).SURFACE
    for each in _FEATURES:
        if each.fits(prober.findings, surface):
            answer = yield from prober.ask(each.name, found.protocol, found.base_url)
            each.note(prober.findings, answer, parse_response(answer.body))
            _note_error(prober.findings, answer)
    yield from _explore_ids(prober, found)
    yield from _explore_limit(prober, found)
    yield from _explore_errors(prober, found)
    yield from _explore_key(prober, found)


def _note_first(prober: Prober, found: DetectedProtocol) -> None:
    """What the probe that found the protocol shows about its features."""
    findings, answer = prober.findings, found.answer
    if prober.model:
        findings.forget("model")
        findings.add("model", prober.model, answer, prober.model)
    if answer.refused:
        findings.add("tools", answer.no, answer)
        _note_error(findings, answer)
        return
    note_answer(findings, answer, found.reading)
    note_tools(findings, answer, found.reading)
    if found.reading.streamed:
        findings.quirk("streams-always", "It streams although it was asked not to.")


def _note_error(findings: Findings, answer: ProbeResponse) -> None:
    if answer.refused and answer.body:
        findings.once("errors", parse_response(answer.body).error or "json", answer)


# --- reading ------------------------------------------------------------------------------------


def _note_stream(findings: Findings, answer: ProbeResponse, reading: ParsedResponse) -> None:
    if answer.ok and reading.response is not None:
        note_answer(findings, answer, reading)
        note_stream(findings, answer, reading)
    elif answer.refused:
        findings.add("streaming", answer.no, answer)
    elif answer.ok and not answer.body.strip():
        findings.quirk("empty-streams", "A stream may be empty, without an error.")


def _note_several(findings: Findings, answer: ProbeResponse, reading: ParsedResponse) -> None:
    arguments = [call.arguments for call in reading.calls]
    if answer.ok and len(set(arguments)) > 1:
        findings.add(answer.probe, "yes", answer, " ".join(arguments))


def _note_forced(findings: Findings, answer: ProbeResponse, reading: ParsedResponse) -> None:
    if answer.ok and reading.response is not None:
        note_forced(findings, answer, reading)
    elif answer.refused:
        findings.add(answer.probe, answer.no, answer)


def _note_taken(findings: Findings, answer: ProbeResponse, reading: ParsedResponse) -> None:
    if answer.ok and reading.response is not None:
        note_answer(findings, answer, reading)
        findings.add(answer.probe, "accepted", answer, answer_text(reading))
    elif answer.refused:
        findings.add(answer.probe, answer.no, answer)


def _note_taught(findings: Findings, answer: ProbeResponse, reading: ParsedResponse) -> None:
    if answer.ok:
        note_dialect(findings, answer, parse_text(reading.text, (WEATHER,)))


# --- what is asked ------------------------------------------------------------------------------


def _takes_tools(findings: Findings, _surface: Surface) -> bool:
    return findings.get("tools") not in NO_TOOLS


def _calls(findings: Findings, _surface: Surface) -> bool:
    return findings.get("tools") == "called"


def _takes_choice(findings: Findings, surface: Surface) -> bool:
    # A call that was forced would be in the text as well.
    written = findings.get("tools") == "in text"
    return _takes_tools(findings, surface) and not written and "tool" in surface.tools.choices


def _takes_strict(findings: Findings, surface: Surface) -> bool:
    return _takes_tools(findings, surface) and surface.tools.strict_default is not None


def _has_freeform(findings: Findings, surface: Surface) -> bool:
    return _takes_tools(findings, surface) and "custom" in surface.tools.kinds


def _has_single(findings: Findings, surface: Surface) -> bool:
    return _takes_tools(findings, surface) and "parallel_tool_calls" in surface.settings


def _has_schemas(_findings: Findings, surface: Surface) -> bool:
    return "schema" in surface.outputs


def _wants_teaching(findings: Findings, _surface: Surface) -> bool:
    return findings.get("tools") in (*NO_TOOLS, "not called")


def _refuses_tools(findings: Findings, surface: Surface) -> bool:
    return not _takes_tools(findings, surface)


def _has_developers(_findings: Findings, surface: Surface) -> bool:
    return surface.system.developer_role


def _always(_findings: Findings, _surface: Surface) -> bool:
    return True


class _Feature(Struct, frozen=True):
    """A probe: when it is worth sending, and what reads the response."""

    name: str
    fits: Callable[[Findings, Surface], bool]
    note: Note


_FEATURES: Final = (
    _Feature("stream", _takes_tools, _note_stream),
    _Feature("stream-hello", _refuses_tools, _note_stream),
    _Feature("parallel", _calls, _note_several),
    _Feature("required", _takes_choice, _note_forced),
    _Feature("named", _takes_choice, _note_forced),
    _Feature("strict", _takes_strict, _note_taken),
    _Feature("schemas", _takes_tools, _note_taken),
    _Feature("custom", _has_freeform, _note_taken),
    _Feature("single", _has_single, _note_taken),
    _Feature("output", _has_schemas, _note_taken),
    _Feature("taught", _wants_teaching, _note_taught),
    _Feature("system", _always, _note_taken),
    _Feature("developer", _has_developers, _note_taken),
)


def _explore_ids(prober: Prober, found: DetectedProtocol) -> Steps[None]:
    """Whether an id of another provider is accepted; if not, whether the id was the reason."""
    if prober.findings.get("tools") in NO_TOOLS:
        return
    answer = yield from prober.ask("long-id", found.protocol, found.base_url)
    _note_error(prober.findings, answer)
    if answer.ok and parse_response(answer.body).response is not None:
        prober.findings.add("foreign-ids", "accepted", answer, LONG_ID)
    elif answer.refused:
        shorter = yield from prober.ask("short-id", found.protocol, found.base_url)
        if shorter.ok:
            prober.findings.add("foreign-ids", answer.no, answer)
        elif shorter.refused:
            prober.findings.quirk(
                "results-refused", "A conversation with a tool result is refused."
            )


def _explore_limit(prober: Prober, found: DetectedProtocol) -> Steps[None]:
    """Whether the token limit may have its other name, and is then obeyed."""
    names = get_protocol(found.protocol).API.limit_keys
    if names is None or prober.other_limit:
        return
    prober.other_limit = True
    answer = yield from prober.ask("limit", found.protocol, found.base_url)
    prober.other_limit = False
    usual, _ = names
    _note_error(prober.findings, answer)
    if answer.refused and answer.no == "refused":
        prober.findings.add("limit", usual, answer)
    reading = parse_response(answer.body) if answer.ok else ParsedResponse()
    usage = reading.response.usage if reading.response else None
    spent = (usage.output if usage else None) or 0
    if reading.cut:
        prober.findings.add("limit", "both names", answer, f"stopped after {spent or 'some'}")
    elif spent > SMALL:
        words = f"{spent} tokens came, {SMALL} were allowed"
        prober.findings.add("limit", usual, answer, words)


def _explore_errors(prober: Prober, found: DetectedProtocol) -> Steps[None]:
    """A request that is wrong on purpose, if there was no other error."""
    if prober.findings.get("errors") is None:
        wrong = {"model": prober.model, get_protocol(found.protocol).SURFACE.messages.path: 7}
        answer = yield from prober.ask("error", found.protocol, found.base_url, wrong)
        _note_error(prober.findings, answer)


def _explore_key(prober: Prober, found: DetectedProtocol) -> Steps[None]:
    """Whether a key is needed, and how it is sent."""
    prober.findings.forget("key")
    if not prober.key:
        prober.findings.add("auth", "none", found.answer, "answered without a key")
        return
    prober.key = False
    answer = yield from prober.ask("hello", found.protocol, found.base_url)
    if answer.locked and prober.style:
        prober.findings.add("auth", prober.style, answer)
    elif answer.ok:
        prober.findings.add("auth", "none", answer, "answered without a key")
