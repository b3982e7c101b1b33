"""The order in which an unknown provider is asked.

Nothing is sent from here: `Discovery.run` yields probes and is sent their answers. The order is
always the same, no question is put twice, and what an answer does not show stays unknown.
"""

from typing import Final

from toolglot.discovery.asking import Asker, Steps
from toolglot.discovery.exploring import explore
from toolglot.discovery.finding import Found, Models, find_models, find_protocols
from toolglot.discovery.result import make_result
from toolglot.discovery.urls import normal_url
from toolglot.discovery.values import DiscoveryResult, Spoken

MAX_PROBES: Final = 24
"""Requests in all; what is left when they are used up stays unknown."""


class Discovery:
    """Finds out what a server can do.

        steps = Discovery("http://localhost:8080").run()
        probe = next(steps)
        while True:
            probe = steps.send(answer_to(probe))  # StopIteration.value is the result

    `key` says whether probes may carry a key; the key itself is the sender's business.
    """

    def __init__(
        self, base_url: str, *, model: str | None = None, key: bool = False, limit: int = MAX_PROBES
    ) -> None:
        self.base_url = normal_url(base_url)
        self._asker = Asker(model=model or "", key=key, limit=limit)

    def run(self) -> Steps[DiscoveryResult]:
        """Ask everything."""
        models = yield from find_models(self._asker, self.base_url)
        found = _ranked((yield from find_protocols(self._asker, self.base_url)), models)
        if found:
            yield from explore(self._asker, found[0])
        spoken = (Spoken(protocol=each.protocol, base_url=each.base_url) for each in found)
        return make_result(
            self._asker.book,
            base_url=self.base_url,
            spoken=tuple(spoken),
            models=models.names,
            asked=tuple(self._asker.asked),
        )


def _ranked(found: list[Found], models: Models) -> list[Found]:
    """The protocols that are spoken: those with calls first; then the list of models decides."""
    return sorted(
        found, key=lambda each: (not each.reading.calls, each.protocol != models.protocol)
    )
