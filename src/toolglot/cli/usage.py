"""`toolglot usage`: requests and tokens by key, model, day or provider."""

import argparse
import csv
import io
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from toolglot.cli.common import (
    Commands,
    add_command,
    add_database,
    distance,
    moment,
    print_table,
)
from toolglot.wire import jsontext

if TYPE_CHECKING:
    from toolglot.gateway.access.ledger import UsageSummary

_BY: Final = ("key", "model", "day", "provider")
_COLUMNS: Final = {
    "requests": "requests",
    "errors": "errors",
    "input": "input",
    "cached": "cached",
    "output": "output",
    "reasoning": "reasoning",
    "first_ms": "first ms",
    "total_ms": "total ms",
    "overhead_ms": "own ms",
    "lossy": "lossy",
}
"""Fields of a sum and how a table calls them."""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "usage",
        run,
        "print how many requests and tokens went through the gateway",
        "toolglot usage",
        "toolglot usage --by model --since 7d",
        "toolglot usage --by day --since 2030-01-01 --until 2030-02-01 --csv > january.csv",
    )
    parser.add_argument(
        "--by", choices=_BY, default="key", help="what to group by; keys if left out"
    )
    parser.add_argument(
        "--since", type=distance, metavar="WHEN", help="a date (UTC), or how long ago: 12h, 7d"
    )
    parser.add_argument(
        "--until", type=distance, metavar="WHEN", help="the same for the end; now if left out"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="write CSV")
    form.add_argument("--json", action="store_true", help="write JSON")
    add_database(parser)


def run(args: argparse.Namespace) -> int:
    """Print the sums."""
    # These import asyncio, which costs start-up time.
    from toolglot.gateway.storage.database import database, default_path  # noqa: PLC0415
    from toolglot.gateway.storage.sqlite_ledger import read_usage  # noqa: PLC0415

    now = time.time()
    since = 0.0 if args.since is None else moment(args.since, now, -1)
    until = float("inf") if args.until is None else moment(args.until, now, -1)
    with database(args.database or default_path(), create=False) as db:
        sums = read_usage(db, args.by, since, until)
    if args.json:
        print(jsontext.pretty([_plain(each, args.by) for each in sums]).decode())
    elif args.csv:
        _print_csv(sums, args.by)
    elif sums:
        _print_table(sums, args.by)
    else:
        print("there were no requests in that time", file=sys.stderr)
    return 0


def _plain(each: "UsageSummary", by: str) -> dict[str, Any]:
    """A sum under the names that files have for its fields."""
    group, name, *rest = structs.astuple(each)
    named = {"name": name} if by == "key" else {}
    return {by: group, **named, **dict(zip(_COLUMNS, rest, strict=True))}


def _print_csv(sums: Sequence["UsageSummary"], by: str) -> None:
    text = io.StringIO()
    heads = (by, *(("name",) if by == "key" else ()), *_COLUMNS)
    writer = csv.DictWriter(text, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_plain(each, by) for each in sums)
    print(text.getvalue(), end="")


def _print_table(sums: Sequence["UsageSummary"], by: str) -> None:
    heads = (by, *_COLUMNS.values())
    rows = [
        (each.name or each.group or "none", *(_cell(getattr(each, field)) for field in _COLUMNS))
        for each in sums
    ]
    print_table([heads, *rows], heads[1:])


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"
