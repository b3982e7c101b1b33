"""What is wrong with a fact whose value has the right type: words, numbers, names, patterns."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from toolglot.ir import Request
from toolglot.schema.subsets import SUBSETS
from toolglot.surface import IdentifierRule

_SCALE: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SCHEMAS: Final = frozenset({"", *SUBSETS})
_MEDIA: Final = frozenset(
    {
        "text",
        "refusal",
        "document.text",
        *(
            f"{kind}.{source}"
            for kind in ("image", "document", "audio")
            for source in ("inline", "remote", "file")
        ),
    }
)
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "outputs": frozenset({"text", "json", "schema"}),
    "tools.choices": frozenset(
        {"auto", "required", "none", "tool", "any", "allowed", "allowed.auto", "allowed.required"}
    ),
    "tools.kinds": frozenset({"function", "custom", "namespace"}),
    "schema.output": _SCHEMAS,
    "schema.strict": _SCHEMAS,
    "schema.tools": _SCHEMAS,
    "reasoning.controls": frozenset(
        {"switch", "adaptive", "effort", "budget", "summary", "show", "effort_needs_switch"}
    ),
    "reasoning.efforts": frozenset(_SCALE),
    "reasoning.switch": frozenset(
        {
            "",
            "chat_template_kwargs",
            "enable_thinking",
            "reasoning",
            "reasoning.enabled",
            "reasoning_effort",
            "thinking",
        }
    ),
    "limits.name": frozenset({"max_tokens", "max_completion_tokens"}),
}
"""The words that facts may have, where there are only some."""

_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "media.accepted": frozenset({"system", "user", "assistant", "result"}),
    "media.types": frozenset({"image", "document", "audio"}),
    "sampling.lengths": frozenset(Request.__struct_fields__),
    "sampling.metadata": frozenset({"pairs", "key", "value"}),
    "sampling.ranges": frozenset(Request.__struct_fields__),
    "sampling.renamed": frozenset(Request.__struct_fields__),
}
"""The names that facts may have values for."""

_LEAST: Final[Mapping[str, int]] = {
    "tools.most": 1,
    "limits.least": 1,
    "limits.most": 1,
    "limits.most_whole": 1,
    "tools.most_strict": 0,
    "schema.most_optional": 0,
    "schema.most_unions": 0,
    "cache.max_marks": 0,
    "sampling.most_stops": 0,
    "reasoning.least_budget": 0,
    "reasoning.most_budget": 0,
}
_ORDERED: Final = (
    ("limits.least", "limits.most"),
    ("limits.least", "limits.most_whole"),
    ("reasoning.least_budget", "reasoning.most_budget"),
)
"""Facts of which the first must not be more than the second."""


def value_problem(name: str, value: Any) -> str | None:
    """What is wrong with a value; None: nothing."""
    return next(_problems(name, value), None)


def pair_problems(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Facts that contradict each other."""
    for low, high in _ORDERED:
        least, most = facts.get(low), facts.get(high)
        if isinstance(least, int) and isinstance(most, int) and least > most:
            yield high, f"{most} is less than {low}, which is {least}"


def _problems(name: str, value: Any) -> Iterator[str]:
    if value is None:
        return
    if name in _WORDS:
        yield from _unknown((value,) if isinstance(value, str) else value, _WORDS[name])
    if name in _KEYS:
        yield from _unknown(value, _KEYS[name])
    if name in _LEAST and value < _LEAST[name]:
        yield f"{value} is less than {_LEAST[name]}"
    if name in _OTHERS:
        yield from _OTHERS[name](value)
    if isinstance(value, IdentifierRule):
        yield from _rule(value)


def _unknown(words: Iterable[str], known: frozenset[str]) -> Iterator[str]:
    for word in words:
        if word not in known:
            yield f"{word!r} is none of {', '.join(sorted(filter(None, known)))}"


def _pair(allowed: tuple[float, float]) -> Iterator[str]:
    if allowed[0] > allowed[1]:
        yield f"the least, {allowed[0]:g}, is more than the highest, {allowed[1]:g}"


def _pairs(ranges: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    for allowed in ranges.values():
        yield from _pair(allowed)


def _positive(numbers: Mapping[str, int]) -> Iterator[str]:
    for name, number in numbers.items():
        if number < 1:
            yield f"{name} is {number}, which is less than 1"


def _efforts(given: tuple[str, ...]) -> Iterator[str]:
    if [*given] != [each for each in _SCALE if each in given]:
        yield f"expected from least to most: {', '.join(each for each in _SCALE if each in given)}"


def _settings(given: Iterable[str]) -> Iterator[str]:
    """Names on the wire may be any, but one that is almost a name of ours is probably that."""
    known = Request.__struct_fields__
    for name in given:
        meant = get_close_matches(name, known, n=1, cutoff=0.85)
        if name not in known and meant:
            yield f"{name!r} is no setting; perhaps {meant[0]}?"


def _media(accepted: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for kinds in accepted.values():
        yield from _unknown(sorted(kinds), _MEDIA)


def _choices(given: frozenset[str]) -> Iterator[str]:
    if "auto" not in given:
        yield "`auto` is missing: there is no request without it"


def _path(template: str) -> Iterator[str]:
    for name in re.findall(r"\{(\w*)\}", template):
        if name != "model":
            yield f"{{{name}}} stands for nothing; only {{model}} is filled in"


def _chars(chars: str) -> Iterator[str]:
    if not chars or "[" in chars.replace("\\[", ""):
        yield f"{chars!r} is no list of characters; `[` is written as `\\[`"
        return
    try:
        re.compile(f"[{chars}]")
    except re.error as error:
        yield f"{chars!r} is no list of characters: {error}"


def _rule(rule: IdentifierRule) -> Iterator[str]:
    for chars in (rule.chars,) if rule.chars is not None else ():
        yield from _chars(chars)
    if rule.most is not None and rule.most < max(rule.least, 1):
        yield f"the longest is {rule.most} and the shortest {rule.least}"


_OTHERS: Final[Mapping[str, Callable[[Any], Iterator[str]]]] = {
    "sampling.temperature": _pair,
    "sampling.ranges": _pairs,
    "sampling.lengths": _positive,
    "sampling.metadata": _positive,
    "sampling.dropped": _settings,
    "sampling.user_chars": _chars,
    "reasoning.efforts": _efforts,
    "media.accepted": _media,
    "tools.choices": _choices,
    "form.path": _path,
    "form.stream_path": _path,
}
