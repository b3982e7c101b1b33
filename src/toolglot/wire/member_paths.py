"""Members of a body by their paths: `messages[].name` is the name of every message.

Providers name what they refuse by paths of many spellings: `messages[3].name`, `messages.3.name`,
`body.messages.3.assistant.name` with a word for the kind of message. `find_member` follows such a
path in the body that was refused, and says which member it is.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from toolglot.ir import Json

_STEP: Final = re.compile(r"\[\]|\[(\d{1,6})\]|[^.\[\]'\"`$\s/]{1,80}")
EACH: Final = "[]"


def find_member(body: Json, path: str) -> str | None:
    """The path of a member that a provider names, with `[]` for the number of an element; None:
    the body has none such.

    Steps that lead nowhere are passed over, except for the last one: servers put the names of
    their own types between those of members.
    """
    steps = [match[1] or match[0] for match in _STEP.finditer(path)]
    found, value = "", body  # type: str, Any
    for position, step in enumerate(steps):
        if isinstance(value, list) and (step == EACH or step.isdigit()):
            index = 0 if step == EACH else int(step)
            if index >= len(value):
                return None
            found, value = found + EACH, value[index]
            continue
        key = _key(value, step)
        if key is not None:
            found, value = f"{found}.{key}" if found else key, value[key]
        elif position == len(steps) - 1:
            return None
    return found or None


def _key(value: Any, step: str) -> str | None:
    """The key that a step means; some servers write another case than the client did."""
    if not isinstance(value, dict):
        return None
    if step in value:
        return step
    plain = _plain(step)
    return next((key for key in value if _plain(key) == plain), None)


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def without_members(body: Json, paths: frozenset[str], dropped: Callable[[str, Any], None]) -> Json:
    """A body without some members: the same object if it has none of them. `dropped` is called
    with the path and the value of each.

    An object that has nothing left goes as well.
    """
    for path in sorted(paths):
        steps = [match[0] for match in _STEP.finditer(path)]
        if steps:
            body = _without(body, steps, "", dropped)
    return body


def _without(value: Any, steps: list[str], at: str, dropped: Callable[[str, Any], None]) -> Any:
    step, rest = steps[0], steps[1:]
    if step == EACH:
        if not isinstance(value, list) or not rest:
            return value
        made = [_without(each, rest, f"{at}[{i}]", dropped) for i, each in enumerate(value)]
        return value if all(new is old for new, old in zip(made, value, strict=True)) else made
    if not isinstance(value, dict) or step not in value:
        return value
    here = f"{at}.{step}" if at else step
    if not rest:
        dropped(here, value[step])
        return {key: each for key, each in value.items() if key != step}
    inner = _without(value[step], rest, here, dropped)
    if inner is value[step]:
        return value
    if not inner:
        return {key: each for key, each in value.items() if key != step}
    return {**value, step: inner}
