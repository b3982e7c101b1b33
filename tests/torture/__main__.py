"""`python -m tests.torture`: fail in every way on purpose, count what holds, and write it down.

Everything runs on loopback: a real gateway as a process, a provider that does as it is told, and
clients that look for what was lost, doubled or mixed. Exits with 1 if something did not hold.
"""

import argparse
import asyncio
import random
import sys
import time
from pathlib import Path

from tests.torture.lab import Row, Settings
from tests.torture.report import page, show_progress, show_row, summary
from tests.torture.trials import TRIALS, run_trial

_MINUTES = {"part": 1, "short": 10, "long": 60}


def main() -> int:
    """Run the experiments that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=_MINUTES, default="short", help="how much is tried")
    parser.add_argument("--seed", type=int, default=None, help="to try the same once more")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="trials whose name has one of these"
    )
    parser.add_argument("--minutes", type=float, help="stop trying more after this time")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the page there")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    minutes = options.minutes or _MINUTES[options.size]
    began = time.monotonic()
    print(f"seed {seed}, at most {minutes:g} minutes", flush=True)
    names = [name for name in TRIALS if any(only in name for only in options.only)]
    rows: list[Row] = []
    for place, name in enumerate(names):
        # What is left is shared by what is still to do, so that nothing is left out.
        left = began + 60 * minutes - time.monotonic()
        ends = time.monotonic() + max(5.0, 2 * left / (len(names) - place + 1))
        settings = Settings(seed, options.size, ends, show_progress)
        rows.append(asyncio.run(run_trial(name, settings)))
        show_row(rows[-1])
    print(summary(rows))
    if options.write:
        options.write.write_text(page(rows, options.size, seed), encoding="utf-8")
    return int(any(row.held < row.tried for row in rows))


if __name__ == "__main__":
    sys.exit(main())
