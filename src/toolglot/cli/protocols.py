"""`toolglot protocols`: the protocols, and what each pair of them loses."""

import argparse

from toolglot.cli.common import Commands, add_command, print_table
from toolglot.matrix import pairs
from toolglot.registry import PROTOCOLS


def add(commands: Commands) -> None:
    """Declare the command."""
    add_command(
        commands,
        "protocols",
        run,
        "list the protocols and what each pair loses",
        "toolglot protocols",
    )


def run(_args: argparse.Namespace) -> int:
    """Print both tables."""
    known = [
        (codec.NAME, codec.SURFACE.path, (codec.__doc__ or "").splitlines()[0])
        for codec in PROTOCOLS.values()
    ]
    print_table("Protocols", ("name", "path", "what"), known)
    rows = [
        (source, target, ", ".join(lost) or "nothing")
        for source, target, lost in pairs()
        if source != target
    ]
    print_table(
        "What a request loses on the way", ("from", "to", "what the target cannot say"), rows
    )
    return 0
