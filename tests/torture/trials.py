"""All experiments, by name."""

import time
from collections.abc import Awaitable, Callable

from tests.torture import body_trials, load_trials, machine_trials, provider_trials
from tests.torture.lab import Row, Settings

TRIALS: dict[str, Callable[[Settings], Awaitable[Row]]] = {
    "campaign": provider_trials.campaign,
    "cuts": provider_trials.cuts,
    "no-answers": provider_trials.no_answers,
    "bad-bodies": body_trials.bad_bodies,
    "stalls": provider_trials.stalls,
    "ended": provider_trials.ended,
    "leaving": provider_trials.leaving,
    "dead-workers": machine_trials.dead_workers,
    "dead-servers": machine_trials.dead_servers,
    "reloads": machine_trials.reloads,
    "full-disk": machine_trials.full_disk,
    "no-descriptors": machine_trials.no_descriptors,
    "memory": load_trials.memory,
    "open-streams": load_trials.open_streams,
}


async def run_trial(name: str, settings: Settings) -> Row:
    """One experiment, with the time that it took."""
    began = time.monotonic()
    row = await TRIALS[name](settings)
    row.seconds = time.monotonic() - began
    return row
