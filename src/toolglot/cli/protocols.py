"""`toolglot protocols`: the protocols, and what each pair of them loses."""

import argparse
from typing import Final

from toolglot.cli.common import Commands, add_command, hanging, print_groups
from toolglot.matrix import pairs
from toolglot.registry import PROTOCOLS

_INDENT: Final = 20


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "list the protocols and what each pair loses"
    add_command(commands, "protocols", run, summary, "toolglot protocols")


def run(_args: argparse.Namespace) -> int:
    """Print the protocols, then for each what is lost in the others."""
    print("Protocols\n")
    for codec in PROTOCOLS.values():
        print(hanging(f"  {codec.NAME}", (codec.__doc__ or "").splitlines()[0], _INDENT))
    print("\nWhat is lost when a request is translated")
    print_groups(
        (
            (f"from {source} to", target, ", ".join(lost) or "nothing")
            for source, target, lost in pairs()
            if source != target
        ),
        _INDENT,
    )
    return 0
