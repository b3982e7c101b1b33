"""Routing: which providers, and which of their models, a request goes to, in which order."""

import random
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final, Literal

from msgspec import Struct

from toolglot.attempts import Candidate
from toolglot.digest import digest
from toolglot.gateway.config import DEMO, Config, RouteConfig, key_issuer
from toolglot.gateway.relay.providers import Upstream
from toolglot.profiles import family_of

_PATTERN: Final = frozenset("*?[")


class Target(Struct, frozen=True):
    """A provider and the model to ask it for. Without a provider it is the built-in model."""

    upstream: Upstream | None
    model: str
    mend: Literal["on", "off"] | None = None
    """What the route says of mending; None: nothing."""

    @property
    def mends(self) -> bool:
        """Whether refused requests and mistakes in answers are mended."""
        if self.upstream is None:
            return False
        return self.upstream.mends if self.mend is None else self.mend == "on"

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.upstream.name if self.upstream else DEMO

    @property
    def passes_key(self) -> bool:
        """Whether the client's own key is sent there."""
        return self.upstream is not None and self.upstream.passes_key

    def candidate(self, now: float) -> Candidate:
        """What `attempts` needs to know of it."""
        return self.upstream.candidate(now) if self.upstream else Candidate()


class Router:
    """Finds the targets for a model."""

    def __init__(self, config: Config, upstreams: dict[str, Upstream]) -> None:
        self._routes = config.routes
        self.upstreams = upstreams
        self.wants_affinity = any(route.pick == "affinity" for route in config.routes)
        """Whether it matters to which conversation a request belongs."""

    def targets(self, model: str, affinity: bytes = b"") -> list[Target]:
        """The targets for a model, in the order to try them; none if no route matches."""
        name, slash, rest = model.partition("/")
        if slash and (name in self.upstreams or name == DEMO):
            return [self._target(f"{name}/*", rest)]
        for route in self._routes:
            if fnmatchcase(model, route.match):
                found = [self._target(to, model, route.mend) for to in route.targets]
                return _ordered(_one_for_the_key(found), route, affinity)
        return self._usual(model)

    def _target(self, to: str, model: str, mend: Literal["on", "off"] | None = None) -> Target:
        name, _, wanted = to.partition("/")
        model = model if wanted in ("", "*") else wanted
        return Target(self.upstreams.get(name), model, mend)

    def _usual(self, model: str) -> list[Target]:
        """Without a route: the vendor of the model, then all others, then the built-in model."""
        if self._routes:
            return []
        if not self.upstreams:
            return [Target(None, model)]
        family = family_of(model)
        vendor = family.vendor if family else ""
        upstreams = sorted(self.upstreams.values(), key=lambda each: each.rule_book != vendor)
        return [Target(upstreams[0], model)]

    @property
    def names(self) -> tuple[str, ...]:
        """Models that routes name."""
        plain = (each.match for each in self._routes if not _PATTERN.intersection(each.match))
        return tuple(dict.fromkeys(plain))


def _one_for_the_key(targets: list[Target]) -> list[Target]:
    """The targets without those that would get the client's own key of another provider: it is sent
    to the first that takes such a key, and to its other addresses.
    """
    first = next((each for each in targets if each.passes_key), None)
    if first is None:
        return targets
    issuer = _issuer(first)
    return [each for each in targets if not each.passes_key or _issuer(each) == issuer]


def _issuer(target: Target) -> str:
    return key_issuer(target.upstream.config) if target.upstream is not None else ""


def _ordered(targets: list[Target], route: RouteConfig, affinity: bytes) -> list[Target]:
    if route.pick == "weighted":
        return list(_drawn(targets))
    if route.pick == "least-busy":
        return sorted(targets, key=_load)
    if route.pick == "affinity":
        # Each target scores the conversation, so adding or removing others keeps the order.
        return sorted(targets, key=lambda each: digest(affinity + each.name.encode(), 8))
    return targets


def _load(target: Target) -> float:
    if target.upstream is None:
        return 0.0
    return target.upstream.health.busy / max(target.upstream.config.weight, 1e-9)


def _drawn(targets: Iterable[Target]) -> Iterator[Target]:
    left = list(targets)
    while left:
        weights = [each.upstream.config.weight if each.upstream else 1.0 for each in left]
        drawn = random.choices(range(len(left)), weights)[0]  # noqa: S311 - not for secrets
        yield left.pop(drawn)
