"""Parts that no other protocol has, in words.

Read in `types.py` of the `google-genai` package 3.1.0 (2026-11-16).
"""

from collections.abc import Mapping
from typing import Final

from toolglot.ir import Json
from toolglot.surface import Teller
from toolglot.wire.json_values import member
from toolglot.wire.told import as_json, joined, named, texts_at


def _code(value: Json) -> tuple[str, str]:
    return "Code that the provider ran", joined(*texts_at(value, "executableCode.code"))


def _output(value: Json) -> tuple[str, str]:
    result = value.get("codeExecutionResult")
    outcome = member(result, "outcome")
    failed = outcome if outcome != "OUTCOME_OK" and isinstance(outcome, str) else ""
    return "Output of code that the provider ran", joined(*texts_at(result, "output"), failed)


def _call(value: Json) -> tuple[str, str]:
    call = value.get("toolCall")
    title = f"Call of {named(call, 'toolType')}, which the provider ran"
    return title, as_json(member(call, "args"))


def _response(value: Json) -> tuple[str, str]:
    response = value.get("toolResponse")
    title = f"Result of {named(response, 'toolType')}, which the provider ran"
    return title, as_json(member(response, "response"))


TOLD: Final[Mapping[str, Teller]] = {
    "codeExecutionResult": _output,
    "executableCode": _code,
    "toolCall": _call,
    "toolResponse": _response,
}
"""What is told of each kind of part: what it is, and what is in it."""
