"""What several commands share: protocol arguments, reading input, tables."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from toolglot.errors import ToolglotError
from toolglot.registry import PROTOCOLS

Commands = Any
"""What `add_subparsers` returns; argparse has no public name for it."""


def add_command(
    commands: Commands, name: str, run: Any, summary: str, example: str
) -> argparse.ArgumentParser:
    """A command with its help and an example of its use."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_pair(parser: argparse.ArgumentParser) -> None:
    """The two protocols of a translation, what is translated and where it comes from."""
    names = list(PROTOCOLS)
    parser.add_argument(
        "--from", dest="source", required=True, choices=names, help="protocol of the input"
    )
    parser.add_argument(
        "--to", dest="target", required=True, choices=names, help="protocol of the output"
    )
    parser.add_argument("file", nargs="?", help="input file; standard input if left out")


def read_input(file: str | None) -> bytes:
    """The bytes of a file or of standard input."""
    return Path(file).read_bytes() if file else sys.stdin.buffer.read()


class MissingExtraError(ToolglotError):
    """A command needs an optional dependency."""


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table that wraps its cells to the width of the terminal."""
    try:
        from rich.console import Console  # noqa: PLC0415 - optional, and slow to import
        from rich.table import Table  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(
            "tables need the `cli` extra: pip install 'toolglot[cli]'"
        ) from None
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    Console().print(table)
