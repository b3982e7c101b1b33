"""Reading JSON values of any shape, and naming them in a sentence."""

from collections.abc import Iterable
from typing import Any, Final, TypeGuard

from toolglot.ir import Json
from toolglot.wire import jsontext

_LONG: Final = 60


def member(value: Any, *keys: str) -> Any:
    """A member of a member; None where there is none."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def members(value: Any, key: str) -> list[Json]:
    """The objects of an array."""
    found = member(value, key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def object_of(value: Json, key: str) -> Json:
    """A member that is an object, or an empty one."""
    inner: Any = value.get(key)
    return inner if type(inner) is dict else {}


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value can be an index or a number of tokens."""
    return type(value) is int and value >= 0


def is_text(value: Any) -> TypeGuard[str]:
    """Whether a value is a string that is not empty."""
    return isinstance(value, str) and value != ""


def text_of(value: Any) -> str:
    """A string, or an empty one."""
    return value if isinstance(value, str) else ""


def is_json(text: str) -> bool:
    """Whether a text is JSON; no text at all counts as an empty object."""
    try:
        jsontext.peek(text or "{}")
    except ValueError:
        return False
    return True


def show(value: Any) -> str:
    """A value in a sentence."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return repr(value if len(value) <= _LONG else value[:_LONG] + "…")
    if isinstance(value, (bool, float)):
        return str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**18 else "a large number"
    return "an object" if isinstance(value, dict) else "an array"


def joined(words: Iterable[str]) -> str:
    """Words in a sentence: a, b and c."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
