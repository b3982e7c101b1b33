"""Findings: what each response shows about a server, with the evidence for it."""

import re
from typing import Final

from msgspec import Struct

from toolglot import ir
from toolglot.dialects.text import ParsedText, parse_text
from toolglot.discovery.parse_response import ParsedResponse, error_text
from toolglot.discovery.probe import ProbeResponse
from toolglot.discovery.probe_requests import ADD, WEATHER

_TOOLS: Final = (WEATHER, ADD)
_SPACE: Final = re.compile(r"\s+")
_EXCERPT: Final = 120
"""Characters of an answer that a finding may quote."""
_LONGEST: Final = 4000
"""Characters of an answer that are looked at to quote from it."""

NO_TOOLS: Final = ("refused", "fails")
"""How a server that takes no tools answers to one."""

SUBJECTS: Final = (
    ("protocol", "protocol"),
    ("path", "answers only with a key"),
    ("key", "key"),
    ("auth", "how a key is sent"),
    ("models", "list of models"),
    ("model", "model that was asked"),
    ("tools", "tools"),
    ("dialect", "dialect of calls in the text"),
    ("parallel", "several calls at once"),
    ("streaming", "streams"),
    ("stream", "calls in streams"),
    ("required", "tool choice: required"),
    ("named", "tool choice: by name"),
    ("strict", "strict tools"),
    ("schemas", "rich schemas"),
    ("custom", "freeform tools"),
    ("single", "one call at a time"),
    ("output", "structured output"),
    ("reasoning", "reasoning"),
    ("ids", "ids that it makes"),
    ("foreign-ids", "long ids of others"),
    ("system", "system text"),
    ("developer", "developer role"),
    ("limit", "limit of tokens"),
    ("usage", "usage"),
    ("stream-usage", "usage in streams"),
    ("errors", "shape of errors"),
)
"""Everything that can be found out, in the order in which it is shown, and in words."""


class Evidence(Struct, frozen=True, kw_only=True):
    """What a finding rests on."""

    probe: str
    status: int
    excerpt: str


class ProbeFinding(Struct, frozen=True, kw_only=True):
    """One thing that was found out. What was not found out has no finding."""

    subject: str
    value: str
    evidence: Evidence


class Findings:
    """Findings as they are made; the first one on a subject counts."""

    def __init__(self) -> None:
        self.findings: list[ProbeFinding] = []
        self.quirks: dict[str, str] = {}
        self.example = ""

    def get(self, subject: str) -> str | None:
        """What is known on a subject; None is unknown."""
        return next((each.value for each in self.findings if each.subject == subject), None)

    def add(self, subject: str, value: str, answer: ProbeResponse, quote: str = "") -> None:
        """Add a finding."""
        evidence = Evidence(
            probe=answer.probe,
            status=answer.status,
            excerpt=excerpt(quote) if quote else quoted(answer),
        )
        self.findings.append(ProbeFinding(subject=subject, value=value, evidence=evidence))

    def once(self, subject: str, value: str, answer: ProbeResponse, quote: str = "") -> None:
        """Add a finding unless there is one on this subject."""
        if self.get(subject) is None:
            self.add(subject, value, answer, quote)

    def forget(self, subject: str) -> None:
        """Drop what later responses have overtaken."""
        self.findings = [each for each in self.findings if each.subject != subject]

    def quirk(self, word: str, text: str) -> None:
        """Add a peculiarity: a word for programs, a sentence for people."""
        self.quirks.setdefault(word, text)

    def sorted(self) -> tuple[ProbeFinding, ...]:
        """All findings in the order of `SUBJECTS`."""
        order = [subject for subject, _ in SUBJECTS]
        return tuple(sorted(self.findings, key=lambda each: order.index(each.subject)))


def quoted(answer: ProbeResponse) -> str:
    """The part of a response that shows most."""
    if answer.failure:
        return excerpt(answer.failure)
    body = answer.body[:_LONGEST]
    return excerpt(body.decode("utf-8", "replace") if answer.ok else error_text(body))


def excerpt(text: str) -> str:
    """A text on one line, cut to what evidence may quote."""
    line = "".join(each if each.isprintable() else " " for each in _SPACE.sub(" ", text)).strip()
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"


# --- what readings show ---------------------------------------------------------------------------


def note_answer(findings: Findings, answer: ProbeResponse, reading: ParsedResponse) -> None:
    """What any answer of a model shows."""
    if reading.response is None:
        return
    subject = "stream-usage" if reading.streamed else "usage"
    used = reading.stream_usage if reading.streamed else reading.response.usage is not None
    words = _usage_words(reading.response)
    findings.once(subject, "yes" if used else "no", answer, words)
    if reading.reasoning:
        findings.once("reasoning", reading.reasoning, answer, f"field {reading.reasoning}")
    elif parse_text(reading.text, _TOOLS).reasoning:
        findings.once("reasoning", "tags", answer, reading.text)
        findings.quirk("think-tags", "Reasoning is in the text, between tags.")


def answer_text(reading: ParsedResponse) -> str:
    """The calls of an answer, or else its text."""
    return " ".join(f"{call.name} {call.arguments}" for call in reading.calls) or reading.text


def _usage_words(response: ir.Response) -> str:
    usage = response.usage
    return f"{usage.prompt} tokens in, {usage.output} out" if usage else "no usage in it"


def note_tools(findings: Findings, answer: ProbeResponse, reading: ParsedResponse) -> None:
    """What an answer to a question shows for which a tool was offered that fits it."""
    note_calls(findings, answer, reading, parse_text(reading.text, _TOOLS))
    if findings.get("tools") is None and not reading.cut:
        findings.add("tools", "not called", answer, reading.text)


def note_calls(
    findings: Findings, answer: ProbeResponse, reading: ParsedResponse, parsed: ParsedText
) -> None:
    """The calls in an answer, or else those in its text."""
    if reading.calls:
        call = reading.calls[0]
        findings.once("tools", "called", answer, answer_text(reading))
        findings.once("ids", id_words(call), answer, "" if call.id_made else call.id)
        findings.example = findings.example or reading.example or f"{call.name} {call.arguments}"
        return
    if note_dialect(findings, answer, parsed):
        findings.once("tools", "in text", answer, parsed.calls[0].raw)


def note_dialect(findings: Findings, answer: ProbeResponse, parsed: ParsedText) -> bool:
    """A call that a model wrote as text, if there is one."""
    if not parsed.calls or parsed.dialect is None:
        return False
    findings.once("dialect", parsed.dialect, answer, parsed.calls[0].raw)
    findings.example = findings.example or parsed.calls[0].raw
    return True


def note_stream(findings: Findings, answer: ProbeResponse, reading: ParsedResponse) -> None:
    """How a stream of an answer with a call came."""
    if not reading.streamed:
        findings.add("stream", "no stream", answer)
        return
    findings.add("streaming", "yes", answer)
    if not reading.calls:
        return
    pieces = reading.deltas > len(reading.calls)
    words = f"{len(reading.calls)} calls, arguments in {reading.deltas} pieces"
    findings.add("stream", "deltas" if pieces else "whole", answer, words)
    if reading.names > len(reading.calls):
        findings.quirk("repeated-names", "A streamed call has its name in more than one piece.")


def note_forced(findings: Findings, answer: ProbeResponse, reading: ParsedResponse) -> None:
    """Whether a tool choice was obeyed that the model would not have made by itself."""
    names = {call.name for call in reading.calls}
    if names == {WEATHER.name}:
        findings.add(answer.probe, "obeyed", answer, answer_text(reading))
    elif names or not reading.cut:
        findings.add(answer.probe, "ignored", answer, answer_text(reading))
        findings.quirk(
            f"{answer.probe}-choice-ignored", f"A tool choice ({answer.probe}) is treated as auto."
        )


_BARE: Final = re.compile(r"^[a-zA-Z0-9]+$")


def id_words(call: ir.ToolCall) -> str:
    """The shape of an id in words."""
    if call.id_made or not call.id:
        return "none"
    prefix = re.match(r"^[a-zA-Z]+(?:[-_][a-zA-Z]+)*[-_]", call.id)
    rest = call.id[prefix.end() :] if prefix else call.id
    kind = "letters and digits" if _BARE.match(rest) else "characters"
    return (
        f"{prefix.group() if prefix else ''}{' and ' if prefix else ''}{len(rest)} {kind}".strip()
    )
