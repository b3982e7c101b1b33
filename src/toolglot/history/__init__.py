"""What is wrong with the history in a request, in words, and how to repair it.

Providers refuse a history in which a call has no result, a result no call, or reasoning no
signature; the session is then dead until someone edits it. `diagnose` says what they would refuse
and where, `repair_history` repairs it. Nothing is deleted without a note, and what is valid stays
as it was.
"""

from typing import Final

from toolglot.history.findings import Finding, Kind, decode_body, find
from toolglot.history.repairs import POLICIES, Policy, repair
from toolglot.ir import Json
from toolglot.receipt import CATALOGUE, Note, Receipt
from toolglot.translate import Body

__all__ = ["POLICIES", "Finding", "diagnose", "repair_history"]


def diagnose(
    body: Body, protocol: str, *, path: str = "", issuer: str | None = None
) -> list[Finding]:
    """What a provider of this protocol would refuse in the history of a request, or wonder at.

    `issuer` is who issues reasoning state there, if it is not simply the protocol.
    """
    return find(decode_body(body, protocol, path, issuer))


def repair_history(
    body: Body,
    protocol: str,
    *,
    policy: Policy = "placeholder",
    path: str = "",
    issuer: str | None = None,
) -> tuple[Json, Receipt]:
    """The request with a history that a provider accepts, and a note for every repair.

    A request in which nothing is wrong comes back as it is. A call of a tool that is not declared
    is noted and left alone, since providers accept it.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy: expected one of {', '.join(POLICIES)}, got {policy!r}")
    given = decode_body(body, protocol, path, issuer)
    findings = find(given)
    receipt = Receipt(tuple(_note(finding, policy) for finding in findings))
    kinds = {finding.kind for finding in findings}
    if kinds <= {"call-unknown"}:
        return given.body, receipt
    return repair(given, policy, kinds), receipt


_DONE: Final[dict[Kind, tuple[str, str]]] = {
    "result-orphan": ("result-unmatched", "it became text"),
    "result-duplicate": ("result-unmatched", "the last one counts"),
    "result-early": ("results-reordered", "it was moved behind its call"),
    "result-late": ("results-reordered", "it was moved directly behind its call"),
    "result-order": ("results-reordered", "they follow the order of their calls now"),
    "call-unanswered": ("call-unanswered", "a result that says so was added"),
    "call-duplicate": ("call-renamed", "it and its result got an id of their own"),
    "call-unknown": ("call-unknown", "it was left as it is"),
    "arguments-invalid": ("arguments-normalised", "they are one JSON object now"),
    "reasoning-foreign": ("reasoning-dropped", "it was removed"),
    "reasoning-sealed": ("reasoning-restored", "it was opened for its issuer"),
    "reasoning-unsigned": ("reasoning-dropped", "it was removed"),
    "message-empty": ("message-dropped", "it was removed"),
}
_BY_POLICY: Final[dict[tuple[Policy, Kind], str]] = {
    ("text", "call-unanswered"): "it became text",
    ("drop", "call-unanswered"): "it was removed",
    ("drop", "result-orphan"): "it was removed",
}


def _note(finding: Finding, policy: Policy) -> Note:
    code, usual = _DONE[finding.kind]
    done = _BY_POLICY.get((policy, finding.kind), usual)
    return Note(code, CATALOGUE[code].severity, finding.path, f"{finding.message}; {done}")
