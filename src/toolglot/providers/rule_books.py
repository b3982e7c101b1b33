"""Rule books: one TOML file per provider, read when it is first asked for."""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Any, Final

from msgspec import Struct, ValidationError, convert

from toolglot.errors import ToolglotError
from toolglot.profiles import get_profile, model_names
from toolglot.providers.facts import facts, read_fact
from toolglot.registry import PROTOCOLS

UNKNOWN: Final = "_unknown"
"""The book of servers of which nothing is known: what nearly all of them accept."""


class RuleBookError(ToolglotError, ValueError):
    """A rule book is not well formed; says the file, the rule and the key."""


class ProviderRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One restriction of a provider, and where that was read."""

    id: str
    protocol: str | None = None
    """The protocol that it holds for; None: all that the provider speaks."""

    models: tuple[str, ...] = ()
    """Names of models, with wildcards; none: all."""

    unless: tuple[str, ...] = ()
    """Names of models, among those, that it does not hold for."""

    set: Mapping[str, Any] = {}
    """Facts of the surface and their values; later rules win."""

    add: Mapping[str, Any] = {}
    """What is added to facts that are sets."""

    speaks: tuple[str, ...] = ()
    """The protocols in which these models can be asked, the best first."""

    words: str = ""
    """What the provider answers or documents, in its own words."""

    source: str
    date: str
    sure: bool = True
    """Whether it was seen in an answer, a recording or the provider's own page or types; if not, it
    is the safe reading of one report or of what is documented."""

    def holds_for(self, protocol: str | None, model: str) -> bool:
        """Whether it says something of a model that is asked in a protocol."""
        if self.protocol not in (None, protocol):
            return False
        names = model_names(model)
        return (not self.models or _matches(names, self.models)) and not _matches(
            names, self.unless
        )


def _matches(names: Iterable[str], patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern.lower()) for name in names for pattern in patterns)


class RuleBook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that is known of what one provider accepts."""

    provider: str
    like: tuple[str, ...] = ()
    """Other books whose rules hold here too, before these."""

    speaks: tuple[str, ...] = ()
    """The protocols in which it is asked, the best for a client of another one first; none: those
    of its profile."""

    rules: tuple[ProviderRule, ...] = ()

    def all_rules(self) -> tuple[ProviderRule, ...]:
        """Its rules, behind those of the books that it is like."""
        shared = (rule for name in self.like for rule in load_book(name).all_rules())
        return (*shared, *self.rules)


# --- reading --------------------------------------------------------------------------------------


@cache
def book_names() -> tuple[str, ...]:
    """The providers that have a book."""
    return tuple(sorted(each.name.removesuffix(".toml") for each in _files()))


def _files() -> Iterator[Any]:
    from importlib.resources import files  # noqa: PLC0415 - only when rules are asked for

    place = files("toolglot.providers").joinpath("books")
    return (each for each in place.iterdir() if each.name.endswith(".toml"))


@cache
def load_book(provider: str) -> RuleBook:
    """The book of a provider, by any of its names; that of unknown servers if it has none."""
    name = provider if provider == UNKNOWN else get_profile(provider).name
    wanted = name if name in book_names() else UNKNOWN
    file = next(each for each in _files() if each.name == f"{wanted}.toml")
    return read_book(file.name, file.read_text(encoding="utf-8"))


def read_book(file: str, text: str) -> RuleBook:
    """A book from its text."""
    import tomllib  # noqa: PLC0415

    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleBookError(f"{file}: {error}") from None
    try:
        rules = tuple(_read_rule(file, each) for each in raw.pop("rules", []))
        book = convert({"provider": file.removesuffix(".toml"), **raw}, RuleBook)
    except ValidationError as error:
        raise RuleBookError(f"{file}: {error}") from None
    _check_protocols(file, "speaks", book.speaks)
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            raise RuleBookError(f"{file}: rule {rule.id}: id: another rule has it already")
        seen.add(rule.id)
    return RuleBook(provider=book.provider, like=book.like, speaks=book.speaks, rules=rules)


def _read_rule(file: str, raw: Mapping[str, Any]) -> ProviderRule:
    where = f"{file}: rule {raw.get('id', '(without id)')}"
    try:
        rule = convert(raw, ProviderRule)
    except ValidationError as error:
        raise RuleBookError(f"{where}: {error}") from None
    for key in ("source", "date"):
        if not getattr(rule, key):
            raise RuleBookError(f"{where}: {key}: a rule names where and when it was read")
    if not (rule.set or rule.add or rule.speaks):
        raise RuleBookError(f"{where}: it changes nothing; give set, add or speaks")
    _check_protocols(where, "speaks", rule.speaks)
    _check_protocols(where, "protocol", (rule.protocol,) if rule.protocol else ())
    _check_patterns(where, rule)
    for key, value in (*rule.set.items(), *rule.add.items()):
        try:
            read_fact(key, value)
        except ValueError as error:
            raise RuleBookError(f"{where}: {key}: {error}") from None
    for key in rule.add:
        if "frozenset" not in str(facts()[key]):
            raise RuleBookError(f"{where}: {key}: only sets can be added to")
    return rule


def _check_patterns(where: str, rule: ProviderRule) -> None:
    for key in ("models", "unless"):
        for pattern in getattr(rule, key):
            if not pattern.strip() or pattern.count("[") != pattern.count("]"):
                raise RuleBookError(f"{where}: {key}: {pattern!r} is no pattern of names")


def _check_protocols(where: str, key: str, names: tuple[str, ...]) -> None:
    for name in names:
        if name not in PROTOCOLS:
            raise RuleBookError(f"{where}: {key}: {name!r} is none of {', '.join(PROTOCOLS)}")


# --- asking ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def rules_for(provider: str, protocol: str | None, model: str) -> tuple[ProviderRule, ...]:
    """The rules that hold for a model of a provider, in the order in which they are applied."""
    book = load_book(provider)
    return tuple(rule for rule in book.all_rules() if rule.holds_for(protocol, model))


def protocols_for(provider: str, model: str) -> tuple[str, ...]:
    """The protocols in which a model is asked, the best first; none if no book says so."""
    spoken = load_book(provider).speaks
    for rule in rules_for(provider, None, model):
        spoken = rule.speaks or spoken
    return spoken


def protocol_for(provider: str, client: str, model: str) -> str:
    """The protocol to ask a model in for a client: its own if that is spoken, else the best."""
    spoken = protocols_for(provider, model) or get_profile(provider).protocols
    return client if client in spoken else spoken[0]
