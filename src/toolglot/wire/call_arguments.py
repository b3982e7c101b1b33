"""The arguments of a call as an object: what is none is wrapped, so that nothing is lost."""

from typing import Any, Final, Literal, TypeAlias

from toolglot.errors import DecodeError
from toolglot.wire import jsontext

VALUE_KEY: Final = "$value"
"""Wraps arguments that are JSON but no object, for protocols that require one."""

INVALID_KEY: Final = "$invalid"
"""Wraps arguments that are not valid JSON."""

Trouble: TypeAlias = tuple[
    Literal["arguments-invalid", "arguments-wrapped", "arguments-normalised"], str
]
"""The code of the note, and its message."""


def read_arguments(text: str) -> tuple[dict[str, Any], tuple[Trouble, ...]]:
    """Arguments as an object, and what was wrong with them; see `arguments_text`."""
    trouble: tuple[Trouble, ...] = ()
    try:
        value = jsontext.decode(text) if text else {}
    except DecodeError as error:
        try:
            # The lenient reader rounds long decimals and takes the last of duplicate keys.
            value = jsontext.peek(text)
        except ValueError:
            return {INVALID_KEY: text}, (("arguments-invalid", "not JSON"),)
        trouble = (("arguments-normalised", f"{error}; the last counts"),)
    if isinstance(value, dict):
        return value, trouble
    if value is None:
        return {}, trouble
    return {VALUE_KEY: value}, (*trouble, ("arguments-wrapped", "not an object"))
