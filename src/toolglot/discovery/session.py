"""The order in which an unknown provider is probed.

Nothing is sent from here: `Discovery.run` yields probes and is sent their responses. The order is
always the same, no probe is sent twice, and what a response does not show stays unknown.
"""

from typing import Final

from toolglot.discovery.detect_protocol import (
    DetectedProtocol,
    ModelList,
    find_models,
    find_protocols,
)
from toolglot.discovery.feature_probes import explore
from toolglot.discovery.prober import Learn, Prober, Steps
from toolglot.discovery.result import DiscoveryResult, Spoken, make_result
from toolglot.discovery.urls import normal_url

MAX_PROBES: Final = 27
"""Requests in all; what is left when they are used up stays unknown."""


class Discovery:
    """Finds out what a server can do.

        steps = Discovery("http://localhost:8080").run()
        probe = next(steps)
        while True:
            probe = steps.send(answer_to(probe))  # StopIteration.value is the result

    `key` says whether probes may carry a key; the sender has the key itself. `learn` reads what
    refusals say.
    """

    def __init__(
        self,
        base_url: str,
        *,
        model: str | None = None,
        key: bool = False,
        limit: int = MAX_PROBES,
        learn: Learn | None = None,
    ) -> None:
        self.base_url = normal_url(base_url)
        self._prober = Prober(model=model or "", key=key, limit=limit, learn=learn)

    def run(self) -> Steps[DiscoveryResult]:
        """Ask everything."""
        models = yield from find_models(self._prober, self.base_url)
        found = _ranked((yield from find_protocols(self._prober, self.base_url)), models)
        if found:
            yield from explore(self._prober, found[0])
        spoken = (Spoken(protocol=each.protocol, base_url=each.base_url) for each in found)
        return make_result(
            self._prober.findings,
            base_url=self.base_url,
            spoken=tuple(spoken),
            models=models.names,
            asked=tuple(self._prober.asked),
            rules=self._prober.learned.get(found[0].protocol, {}) if found else {},
        )


def _ranked(found: list[DetectedProtocol], models: ModelList) -> list[DetectedProtocol]:
    """The protocols that are spoken: those with calls first; then the list of models decides."""
    return sorted(
        found, key=lambda each: (not each.reading.calls, each.protocol != models.protocol)
    )
