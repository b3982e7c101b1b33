"""The surface of a protocol as one model of one provider accepts it."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from toolglot.profiles import ModelFamily, family_of
from toolglot.providers.fact_values import pair_problems
from toolglot.providers.facts import flatten, read_fact, with_facts
from toolglot.providers.rule_books import ProviderRule, rules_for
from toolglot.registry import get_protocol
from toolglot.surface import Surface, with_reasoning
from toolglot.wire import jsontext


def surface_for(
    provider: str | None,
    protocol: str,
    model: str,
    overrides: Mapping[str, Any] | None = None,
) -> Surface:
    """What a model accepts: the surface of the protocol itself where nothing restricts it.

    What is known of its family comes first, then the rules of the provider, then what the user
    says. Equal rules give the same object, which the cache of tools depends on.
    """
    if not overrides:
        return _usual(provider, protocol, model)
    rules = rules_for(provider, protocol, model) if provider is not None else ()
    family = family_of(model) if provider is not None else None
    return _made(_Key(protocol, family, rules, overrides))


@lru_cache(maxsize=1024)
def _usual(provider: str | None, protocol: str, model: str) -> Surface:
    """The same where the user says nothing."""
    if provider is None:
        return get_protocol(protocol).SURFACE
    return _made(_Key(protocol, family_of(model), rules_for(provider, protocol, model), None))


def made_of(protocol: str, family: ModelFamily | None, rules: tuple[ProviderRule, ...]) -> Surface:
    """The surface that rules make, whoever they are of."""
    return _made(_Key(protocol, family, rules, None))


def check_overrides(overrides: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with facts that a user wrote, by their names."""
    given = flatten(overrides)
    for name, value in given.items():
        try:
            read_fact(name, value)
        except ValueError as error:
            yield name, str(error)
    yield from pair_problems(given)


_ASKED: Final[Mapping[str, str]] = {"always": "none"}
"""How reasoning is requested of families that leave no choice."""


class _Key:
    """What a surface is made of, as a key of a cache.

    Books are never unloaded, so the same rules are the same objects as long as the process runs.
    """

    __slots__ = ("family", "overrides", "protocol", "rules", "same")

    def __init__(
        self,
        protocol: str,
        family: ModelFamily | None,
        rules: tuple[ProviderRule, ...],
        overrides: Mapping[str, Any] | None,
    ) -> None:
        self.protocol, self.family, self.rules = protocol, family, rules
        self.overrides = overrides or {}
        text = jsontext.encode(dict(overrides)) if overrides else b""
        self.same = (protocol, id(family), tuple(map(id, rules)), text)

    def __hash__(self) -> int:
        return hash(self.same)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.same == other.same


@lru_cache(maxsize=512)
def _made(key: _Key) -> Surface:
    base = surface = get_protocol(key.protocol).SURFACE
    if key.family is not None and key.family.reasoning is not None:
        kind = _ASKED.get(key.family.reasoning, key.family.reasoning)
        surface = with_reasoning(surface, kind, key.family.efforts)
    for rule in key.rules:
        surface = with_facts(surface, rule.set)
        surface = with_facts(surface, rule.add, lambda old, new: (old or frozenset()) | new)
    surface = with_facts(surface, flatten(key.overrides))
    return base if surface == base else surface
