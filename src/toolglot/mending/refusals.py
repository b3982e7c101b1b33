"""The table of refusals that are understood, and what is learned from each."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any, Final

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from toolglot.context import Options
from toolglot.errors import ToolglotError
from toolglot.ir import Json
from toolglot.mending.error_words import ErrorWords
from toolglot.mending.request_repairs import REPAIRS
from toolglot.providers.facts import facts, flatten, plain_fact, read_fact, with_facts
from toolglot.registry import PROTOCOLS
from toolglot.surface import Surface
from toolglot.wire.member_paths import find_member

_OPTIONS: Final = frozenset({"tools"})
"""The options of a translation that a row may set."""
_MATCHES: Final = 16
"""How many members one error may name."""
_SHOWN: Final = 300
"""Characters of a provider's words that notes and logs repeat."""


class RefusalTableError(ToolglotError, ValueError):
    """The table of refusals is not well formed; says the row and the key."""


class RefusalRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words by which providers refuse a request, and what is learned from them.

    In the values of `set`, `add` and `drop`, `{name}` is what a group of the pattern matched.
    """

    id: str
    pattern: str
    """A regular expression that is searched for in the words of an error, whatever their case."""

    param: str = ""
    """One that the parameter must match which the error names, if it names one."""

    statuses: tuple[int, ...] = ()
    """The statuses that it comes with; none: all that are looked at."""

    protocols: tuple[str, ...] = ()
    """The protocols that it holds for; none: all."""

    drop: tuple[str, ...] = ()
    """Members that are not accepted, as the provider names them."""

    set: Mapping[str, Any] = {}
    """Facts of the surface and their values."""

    add: Mapping[str, Any] = {}
    """What is added to facts that are sets."""

    options: Mapping[str, str] = {}
    """Options of the translation."""

    repairs: tuple[str, ...] = ()
    """Repairs of the history, by name."""

    remember: bool = True
    """Whether it says something of the next request. Repairs never do."""

    words: tuple[str, ...]
    """What providers said."""

    seen: tuple[str, ...]
    """Whose words these are."""

    source: str
    date: str


class Mending(Struct, frozen=True, kw_only=True):
    """What is to be changed after a refusal."""

    row: str
    words: str
    """What the provider said."""

    facts: Mapping[str, Any] = {}
    """Facts that are laid over the rule book, as a user could write them."""

    options: Mapping[str, str] = {}
    repairs: tuple[str, ...] = ()
    remember: bool = True

    def options_for(self, options: Options) -> Options:
        """The options with which the request is translated again."""
        return with_learned(options, self.facts, self.options)

    def __str__(self) -> str:
        """What is changed, in words."""
        given = {**self.facts, **self.options}
        parts = [f"{name} = {value!r}" for name, value in given.items()]
        return ", ".join([*parts, *(REPAIRS[each].does for each in self.repairs)])


def with_learned(
    options: Options, learned: Mapping[str, Any], chosen: Mapping[str, str]
) -> Options:
    """Options together with facts and options that were learned."""
    changes: dict[str, Any] = dict(chosen)
    if learned:
        changes["overrides"] = {**flatten(options.overrides), **learned}
    return replace(options, **changes)


# --- understanding --------------------------------------------------------------------------------


def understand(error: ErrorWords, surface: Surface, sent: Json) -> Mending | None:
    """What to change in a request after a refusal; None: it is not understood, or says nothing
    that is not known already.

    `surface` is what the provider was believed to accept, `sent` the body that it refused.
    """
    for row, pattern, param in _compiled():
        if row.statuses and error.status not in row.statuses:
            continue
        if row.protocols and surface.name not in row.protocols:
            continue
        if param is not None and error.param and not param.search(error.param):
            continue
        matches = list(islice(pattern.finditer(error.words), _MATCHES))
        learned = surface
        for match in matches:
            groups = {"named": error.param, **match.groupdict(default="")}
            # Words whose groups are no values of the fact mean something else.
            with suppress(ValueError):
                learned = _learn(row, groups, learned, sent)
        mending = _mending(row, error, surface, learned) if matches else None
        if mending is not None:
            return mending
    return None


def _learn(row: RefusalRow, groups: Mapping[str, str], surface: Surface, sent: Json) -> Surface:
    for name, value in row.set.items():
        surface = with_facts(surface, {name: _filled(value, groups)})
    for name, value in row.add.items():
        surface = with_facts(surface, {name: _filled(value, groups)}, _together)
    for each in row.drop:
        for path in _listed(str(_filled(each, groups))):
            surface = _without_member(surface, path, sent)
    return surface


def _mending(
    row: RefusalRow, error: ErrorWords, known: Surface, surface: Surface
) -> Mending | None:
    learned = {
        name: plain_fact(surface, name)
        for name in facts()
        if surface is not known and plain_fact(surface, name) != plain_fact(known, name)
    }
    if not (learned or row.options or row.repairs):
        return None
    return Mending(
        row=row.id,
        words=error.words[:_SHOWN],
        facts=learned,
        options=row.options,
        repairs=row.repairs,
        remember=row.remember and not row.repairs,
    )


def _together(old: Any, new: Any) -> Any:
    return (old or frozenset()) | new


# --- what groups stand for ------------------------------------------------------------------------

_GROUP: Final = re.compile(r"\{(\w+)(?:([:-])(\w+))?\}")
_WORD: Final = re.compile(r"[A-Za-z][\w.]{0,60}")
_SCALE: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def _filled(value: Any, groups: Mapping[str, str]) -> Any:
    """A value of a row with what was matched: `{name}` is text, `{name:int}` a number,
    `{name:below}` the one before it, `{one-other}` a difference, `{name:words}` a list of words,
    `{name:efforts}` one of efforts from least to most, `{name:quoted}` one of what is in backticks.
    """
    if isinstance(value, list):
        return [_filled(each, groups) for each in value]
    if isinstance(value, dict):
        return {key: _filled(each, groups) for key, each in value.items()}
    if not isinstance(value, str):
        return value
    whole = _GROUP.fullmatch(value)
    if whole is None:
        return _GROUP.sub(lambda match: groups[match[1]], value)
    name, sign, how = whole.groups()
    if sign == "-":
        return _positive(_number(groups[name]) - _number(groups[how]))
    return _CONVERTED[how](groups[name])


def _number(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


def _positive(number: int) -> int:
    if number < 1:
        raise ValueError(f"{number} leaves no room")
    return number


def _words(text: str) -> list[str]:
    return [each for each in _WORD.findall(text) if each not in ("and", "or")]


def _efforts(text: str) -> list[str]:
    found = {each.lower() for each in _WORD.findall(text)}
    known = [each for each in _SCALE if each in found]
    if not known:
        raise ValueError(f"no efforts: {text}")
    return known


_CONVERTED: Final[Mapping[str | None, Callable[[str], Any]]] = {
    None: str,
    "int": _number,
    "float": float,
    "below": lambda text: _positive(_number(text) - 1),
    "words": _words,
    "efforts": _efforts,
    "quoted": lambda text: re.findall(r"`([^`]{1,100})`", text),
}


def _listed(text: str) -> Iterator[str]:
    return (each.strip() for each in text.split(", ") if each.strip())


# --- members that are not accepted ----------------------------------------------------------------


def _without_member(surface: Surface, path: str, sent: Json) -> Surface:
    """The surface of a provider that does not accept a member: what that means depends on whether
    it is a setting that the interlingua knows.
    """
    found = find_member(sent, path)
    if found is None or found in _kept(surface):
        raise ValueError(f"{path} is not in the request, or cannot be left out")
    spellings = surface.limits.spellings
    if found in spellings:
        other = next(each for each in spellings if each != found)
        return with_facts(surface, {"limits.name": other})
    if found == surface.settings.get("reasoning"):
        return with_facts(surface, {"sampling.dropped": ["reasoning"]}, _together)
    if surface.settings.get(found) == found:
        return with_facts(surface, {"sampling.dropped": [found]}, _together)
    return with_facts(surface, {"body.dropped": [found]}, _together)


_ESSENTIAL: Final = ("model", "messages", "tools", "system")


def _kept(surface: Surface) -> frozenset[str]:
    """Members without which it would be another request."""
    held = (surface.settings.get(field, field) for field in _ESSENTIAL)
    return frozenset({*held, surface.messages.path, *surface.earlier_keys, *_ESSENTIAL})


# --- reading --------------------------------------------------------------------------------------


@cache
def rows() -> tuple[RefusalRow, ...]:
    """All rows, in the order in which they are tried."""
    from importlib.resources import files  # noqa: PLC0415 - only when something was refused

    place = files("toolglot.mending").joinpath("refusals.toml")
    return read_rows(place.read_text(encoding="utf-8"))


@cache
def _compiled() -> tuple[tuple[RefusalRow, re.Pattern[str], re.Pattern[str] | None], ...]:
    return tuple(
        (
            row,
            re.compile(row.pattern, re.IGNORECASE),
            re.compile(row.param, re.IGNORECASE) if row.param else None,
        )
        for row in rows()
    )


def read_rows(text: str) -> tuple[RefusalRow, ...]:
    """A table from its text."""
    import tomllib  # noqa: PLC0415

    made: dict[str, RefusalRow] = {}
    for raw in tomllib.loads(text)["refusals"]:
        where = f"refusal {raw.get('id', '(without id)')}"
        try:
            row = convert(raw, RefusalRow)
        except ValidationError as error:
            raise RefusalTableError(f"{where}: {error}") from None
        for key, problem in _problems(row, made):
            raise RefusalTableError(f"{where}: {key}: {problem}")
        made[row.id] = row
    return tuple(made.values())


def _problems(row: RefusalRow, made: Mapping[str, RefusalRow]) -> Iterator[tuple[str, str]]:
    if row.id in made:
        yield "id", "another row has it already"
    if not (row.set or row.add or row.drop or row.options or row.repairs):
        yield "set", "nothing is learned from it"
    yield from _fact_problems(row)
    for key, given, known in (
        ("options", row.options, _OPTIONS),
        ("repairs", row.repairs, REPAIRS),
        ("protocols", row.protocols, PROTOCOLS),
    ):
        for each in given:
            if each not in known:
                yield key, f"{each!r} is none of {', '.join(sorted(known))}"
    try:
        groups = {*re.compile(row.pattern).groupindex, "named"}
    except re.error as error:
        yield "pattern", str(error)
        return
    for value in (*row.set.values(), *row.add.values(), *row.drop):
        for match in _GROUP.finditer(str(value)):
            names = {match[1], match[3]} if match[2] == "-" else {match[1]}
            for name in sorted(names - groups):
                yield "pattern", f"it has no group {name}"


def _fact_problems(row: RefusalRow) -> Iterator[tuple[str, str]]:
    for name in (*row.set, *row.add):
        if name not in facts():
            yield name, "there is no such fact"
    for name, value in row.set.items():
        if not _GROUP.search(str(value)):
            try:
                read_fact(name, value)
            except ValueError as error:
                yield name, str(error)
