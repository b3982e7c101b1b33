"""Gemini Interactions: what AI Studio refuses in the form of a request.

Most refusals were not seen in Google's own words; then they are those of its shape (GI-002).
"""

import re
from collections.abc import Iterator
from typing import Any

from google.genai import interactions
from tests.upstreams.gemini_interactions import steps
from tests.upstreams.strict.refusal import Ask, Refusal, Rule
from tests.upstreams.strict.sdk_shapes import Misfit, misfits

_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$")
_BASE64 = re.compile(r"^[A-Za-z0-9+/_-]+={0,2}$")
_ANY = {"arguments", "parameters", "schema", "result", "response_format"}
"""Members whose own members are not the API's."""


def form(ask: Ask) -> Iterator[Refusal]:
    """Names and types, as google-genai declares them (GI-003, GI-006, GI-011)."""
    body = {key: value for key, value in ask.body.items() if key != "input"}
    if ("model" in body) == ("agent" in body):
        yield Refusal("GI-003", "Exactly one of model and agent must be given.")
    kind: Any = interactions.CreateAgentInteractionParam
    if "model" in body:
        kind = interactions.CreateModelInteractionParam
    for found in misfits(body, kind):
        if not _is_taken(found):
            yield _misfit(found)
    for index, step in enumerate(steps(ask.body)):
        for found in misfits(step, interactions.StepParam, ("input", index)):
            if not _is_taken(found):
                yield _misfit(found)


def _is_taken(found: Misfit) -> bool:
    if any(step in _ANY for step in found.path[:-1]):
        return True
    # All enumerations are open.
    return found.kind == "value" or (found.path[-1:] == ("result",) and found.kind == "type")


def _misfit(found: Misfit) -> Refusal:
    at = ".".join(map(str, found.path))
    if found.kind == "unknown":
        return Refusal("GI-011", f"Unknown parameter '{at}'.")
    return Refusal("GI-009", f"Invalid value at '{at}'.")


def pairing(ask: Ask) -> Iterator[Refusal]:
    """Every result has its call, every call its result (GI-008)."""
    given = steps(ask.body)
    called = [step.get("id") for step in given if step.get("type") == "function_call"]
    answered = [step.get("call_id") for step in given if step.get("type") == "function_result"]
    if not ask.body.get("previous_interaction_id"):
        for call_id in answered:
            if call_id not in called:
                yield Refusal("GI-008", f"No function call matches the call_id '{call_id}'.")
    for call_id in called:
        if call_id not in answered:
            yield Refusal("GI-008", f"The function call '{call_id}' has no result.")
    if not given and not ask.body.get("continuation_token"):
        yield Refusal("GI-002", "* GenerateContentRequest.contents: contents is not specified")


def state(ask: Ask) -> Iterator[Refusal]:
    """What cannot be had without being stored (GI-004)."""
    if ask.body.get("store") is False:
        for key in ("previous_interaction_id", "background"):
            if ask.body.get(key):
                yield Refusal("GI-004", f"{key} needs store to be true.")


def tools(ask: Ask) -> Iterator[Refusal]:
    """Names of functions, as for generateContent."""
    seen: set[str] = set()
    for index, tool in enumerate(ask.body.get("tools") or ()):
        if tool.get("type") != "function":
            continue
        name = tool.get("name") or ""
        if not _NAME.match(name):
            yield Refusal("GE-033", f"Invalid function name at 'tools[{index}].name'.")
        if name in seen:
            yield Refusal("GE-034", f"Duplicate function declaration found: {name}")
        seen.add(name)


def signatures(ask: Ask) -> Iterator[Refusal]:
    """State that is given back is base64 (ThoughtStep.signature)."""
    for step in steps(ask.body):
        signature = step.get("signature")
        if step.get("type") == "thought" and signature and not _BASE64.match(signature):
            yield Refusal("GI-010", "Corrupted thought signature.")


GOOGLE: tuple[Rule, ...] = (form, pairing, state, tools, signatures)

BY_PROVIDER: dict[str, tuple[Rule, ...]] = {"google": GOOGLE}
