"""`toolglot dialects`: how models write tool calls inside text."""

import argparse

from toolglot.cli.common import Commands, add_command, hanging
from toolglot.dialects.table import DIALECTS

_INDENT = 24


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "list the formats in which models write tool calls inside text"
    add_command(commands, "dialects", run, summary, "toolglot dialects")


def run(_args: argparse.Namespace) -> int:
    """Print each dialect with the models that use it and one call."""
    for number, dialect in enumerate(DIALECTS.values()):
        print("\n" * bool(number) + hanging(dialect.name, dialect.models, _INDENT))
        for line in dialect.example.strip("\n").split("\n"):
            print(f"    {line}")
    return 0
