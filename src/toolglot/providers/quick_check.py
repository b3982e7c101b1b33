"""Whether a request in the provider's own protocol is accepted, seen from its outermost members.

Most requests are, and agents send long ones: they need not be decoded to know that.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from toolglot.errors import DecodeError
from toolglot.providers.facts import facts
from toolglot.surface import Surface
from toolglot.wire import jsontext

_Members: TypeAlias = Mapping[str, Any]
_Check: TypeAlias = Callable[[_Members, Surface], bool]


def is_accepted(body: bytes, source: Surface, target: Surface) -> bool:
    """Whether nothing in a request is restricted; False if only decoding can tell."""
    checks = _checks(_Pair(source, target))
    if None in checks:
        return False
    try:
        members = jsontext.members(body)
        return all(check is not None and check(members, target) for check in checks)
    except DecodeError:
        return False


class _Pair:
    """Two surfaces as a key of a cache: the same if they are the same objects."""

    __slots__ = ("source", "target")

    def __init__(self, source: Surface, target: Surface) -> None:
        self.source, self.target = source, target

    def __hash__(self) -> int:
        return hash((id(self.source), id(self.target)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Pair) and self.source is other.source and self.target is other.target
        )


@lru_cache(maxsize=512)
def _checks(pair: _Pair) -> frozenset[_Check | None]:
    """What is to be looked at for the facts in which the two differ; None: look closer."""
    return frozenset(
        _CHECKS.get(name)
        for name in facts()
        if _fact(pair.source, name) != _fact(pair.target, name)
    )


def _fact(surface: Surface, name: str) -> object:
    group, _, fact = name.rpartition(".")
    return getattr(getattr(surface, group) if group else surface, fact)


def _value(members: _Members, path: str) -> Any:
    """The value at a wire path; None if it is not there."""
    key, _, rest = path.partition(".")
    value = jsontext.read(members[key]) if key in members else None
    for inner in rest.split(".") if rest else ():
        value = value.get(inner) if isinstance(value, dict) else None
    return value


def _limit(members: _Members, target: Surface) -> bool:
    limits = target.limits
    spelled = [key for key in limits.spellings if key in members]
    if len(spelled) > 1 or (limits.name is not None and spelled not in ([], [limits.name])):
        return False
    value = _value(members, spelled[0] if spelled else target.settings["max_tokens"])
    return value is None or (
        isinstance(value, int)
        and (limits.least is None or value >= limits.least)
        and (limits.most is None or value <= limits.most)
    )


def _temperature(members: _Members, target: Surface) -> bool:
    value, allowed = _value(members, target.settings["temperature"]), target.sampling.temperature
    if value is None or allowed is None:
        return True
    return isinstance(value, (int, float)) and allowed[0] <= value <= allowed[1]


def _nothing_dropped(members: _Members, target: Surface) -> bool:
    paths = (target.settings.get(field, field) for field in target.sampling.dropped)
    return all(_value(members, path) is None for path in paths)


def _number_of_tools(members: _Members, target: Surface) -> bool:
    most = target.tools.most
    if most is None or "tools" not in members:
        return True
    return len(jsontext.elements(members["tools"])) <= most


def _effort(members: _Members, target: Surface) -> bool:
    if not target.reasoning.controls <= {"effort", "summary"}:
        return False
    value = _value(members, target.settings["reasoning"])
    effort = value.get("effort") if isinstance(value, dict) else value
    known = target.reasoning.efforts if "effort" in target.reasoning.controls else ()
    return effort is None or effort in known


def _no_tools(members: _Members, _target: Surface) -> bool:
    return "tools" not in members


def _no_dropped_members(members: _Members, target: Surface) -> bool:
    """Whether no member has a name that is not accepted there; the texts of long ones tell."""
    for path in target.body.dropped:
        first, last = path.partition("[")[0].partition(".")[0], path.rpartition(".")[2]
        if first in members and (first == path or _mentions(members[first], last)):
            return False
    return True


def _mentions(value: Any, key: str) -> bool:
    return f'"{key}"'.encode() in jsontext.encode(value)


_CHECKS: Final[Mapping[str, _Check]] = {
    "limits.least": _limit,
    "limits.most": _limit,
    "limits.name": _limit,
    "sampling.dropped": _nothing_dropped,
    "sampling.temperature": _temperature,
    "tools.most": _number_of_tools,
    "tools.effort": _no_tools,
    "reasoning.efforts": _effort,
    "body.dropped": _no_dropped_members,
}
"""How to see that a fact restricts nothing; for the others a request is decoded."""
