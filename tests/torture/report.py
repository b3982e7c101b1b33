"""The table on the screen, and the page in the documentation."""

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from tests.torture.lab import Row
from tests.torture.trials import TRIALS

_shown = 0


def show_progress(name: str, done: int, total: int) -> None:
    """A bar for people, nothing for files."""
    global _shown  # noqa: PLW0603 - one screen
    percent = 100 * done // max(1, total)
    if sys.stderr.isatty() and percent != _shown:
        _shown = percent
        bar = "█" * (percent * 3 // 10)
        print(f"\r\x1b[K{name:<38} {bar:·<30} {done:,}/{total:,}", end="", file=sys.stderr)


def show_row(row: Row) -> None:
    """A line of the table, and what did not hold."""
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    figures = ", ".join(f"{name}: {value}" for name, value in row.figures.items())
    print(f"{row.name:<38} {row.held:>8,} of {row.tried:<8,} {row.seconds:>6.0f} s  {figures}")
    for failure in row.failures:
        print(f"  {failure}"[:400])
    sys.stdout.flush()


def summary(rows: Sequence[Row]) -> str:
    """The last line."""
    tried, held = sum(row.tried for row in rows), sum(row.held for row in rows)
    return f"{held:,} of {tried:,} hold"


def page(rows: Sequence[Row], size: str, seed: int) -> str:
    """`docs/reliability.md`."""
    command = {
        "part": f"python -m tests.torture --size part --seed {seed}",
        "short": f"make torture SEED={seed}",
        "long": f"make torture-long SEED={seed}",
    }[size]
    lines = [
        "# Reliability",
        "",
        _ABOUT,
        "",
        f"    {command}",
        "",
        (
            f"The last run: {datetime.now(UTC):%Y-%m-%d}, commit `{_commit()}`, seed {seed}, "
            f"Python {platform.python_version()}, {os.cpu_count()} cores, "
            f"{sum(row.seconds for row in rows) / 60:.0f} minutes. {summary(rows)}."
        ),
        "",
        "| what was done | held | of | seconds | |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.name} | {row.held:,} | {row.tried:,} | {row.seconds:.0f} "
        f"| {', '.join(f'{name}: {value}' for name, value in row.figures.items())} |"
        for row in rows
    ]
    wrong = [f"- {row.name}: {failure[:300]}" for row in rows for failure in row.failures[:5]]
    lines += ["", *(["What did not hold:", "", *wrong] if wrong else []), *([""] if wrong else [])]
    lines += ["## What each line means", ""]
    lines += [f"- `{name}`: {(trial.__doc__ or '').strip()}" for name, trial in TRIALS.items()]
    lines += ["", _RULES, ""]
    return "\n".join(lines)


_ABOUT = """\
The gateway is made to fail on purpose: a real process, started by `toolglot serve` and asked over loopback, with
providers that misbehave behind it and clients that misbehave in front of it. This page is written by the run itself;
anyone can repeat it with the same seed:"""

_RULES = """\
## What counts as held

Every text, argument, result and description in a conversation has a marker of its own. The provider looks for each of
them in the request, and the client in the answer, with readers that share no code with the gateway. A trial holds if
nothing was lost, doubled, out of order or shown to another client; if an answer that is not all there ends with an
error of the client's own protocol and never looks complete; and if the HTTP around it is sound. An answer may end well
after a cut only if everything had come before it.

`make torture` takes minutes, `make torture-long` at most an hour, with 100,000 faulty conversations, a cut at every
byte, 200,000 requests for memory and 10,000 open streams. The tests run a small part of some in every build
(`tests/torture/test_torture.py`). `--only NAME` of `python -m tests.torture` selects experiments by their names above."""


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"
