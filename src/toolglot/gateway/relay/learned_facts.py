"""What refusals taught about providers, kept for a while in the memory of this process."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from time import monotonic
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.context import Options
from toolglot.mending import Mending, with_learned

MOST: Final = 256
"""How many models of providers are kept in mind."""
KEPT: Final = 6 * 3600.0
"""Seconds: providers change, and a fact that is no longer true must not stay."""


class Learned(Struct, frozen=True, kw_only=True):
    """What is known of one model of a provider, asked in one protocol."""

    facts: Mapping[str, Any] = {}
    options: Mapping[str, str] = {}
    until: float = 0.0

    def options_for(self, options: Options) -> Options:
        """The options with which a request is translated."""
        return with_learned(options, self.facts, self.options)

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value!r}" for name, value in self.items())

    def items(self) -> Iterator[tuple[str, Any]]:
        """All that is known, by name."""
        yield from self.facts.items()
        yield from self.options.items()


NOTHING: Final = Learned()


class LearnedFacts:
    """Facts by provider, protocol and model; those that were used least lately go first."""

    __slots__ = ("_clock", "_kept", "_known", "_most")

    def __init__(
        self, *, most: int = MOST, kept: float = KEPT, clock: Callable[[], float] = monotonic
    ) -> None:
        self._known: OrderedDict[tuple[str, str, str], Learned] = OrderedDict()
        self._most, self._kept, self._clock = most, kept, clock

    def __len__(self) -> int:
        return len(self._known)

    def get(self, provider: str, protocol: str, model: str) -> Learned:
        """What is known of a model."""
        if not self._known:
            return NOTHING
        key = provider, protocol, model
        known = self._known.get(key)
        if known is None:
            return NOTHING
        if known.until <= self._clock():
            del self._known[key]
            return NOTHING
        self._known.move_to_end(key)
        return known

    def add(self, provider: str, protocol: str, model: str, mending: Mending) -> None:
        """Keep what a refusal taught, together with what is known already."""
        known = self.get(provider, protocol, model)
        key = provider, protocol, model
        self._known[key] = replace(
            known,
            facts={**known.facts, **mending.facts},
            options={**known.options, **mending.options},
            until=self._clock() + self._kept,
        )
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)

    def keep(self, providers: Collection[str]) -> None:
        """Forget all providers but these: the configuration of the others has changed."""
        for key in [each for each in self._known if each[0] not in providers]:
            del self._known[key]


def rule_hint(provider: str, mending: Mending) -> str:
    """How a user would write down what was learned, in toolglot.toml."""
    facts = "; ".join(f'"{name}" = {_toml(value)}' for name, value in mending.facts.items())
    options = "; ".join(f"{name} = {_toml(value)}" for name, value in mending.options.items())
    hints = [f"[providers.{provider}.rules] {facts}"] if facts else []
    hints += [f"[providers.{provider}] {options}"] if options else []
    return " and ".join(hints)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        given = {key: each for key, each in value.items() if each is not None}
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in given.items()) + " }"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
