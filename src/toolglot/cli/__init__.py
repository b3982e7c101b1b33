"""The command line: one module for each command.

Results alone go to standard output, everything said to a person to standard error. Exit codes: 0 done,
1 the input is invalid or cannot be translated, 2 the command was called wrongly.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from toolglot.cli import demo, explain, protocols, translate
from toolglot.errors import ToolglotError

_COMMANDS: Final = (translate, explain, protocols, demo)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = _parser().parse_args(argv)
    try:
        return int(args.run(args))
    except ToolglotError as error:
        print(f"toolglot: {error}", file=sys.stderr)
    except OSError as error:
        print(f"toolglot: {error.filename or 'input'}: {error.strerror}", file=sys.stderr)
    return 1


def help_texts() -> Iterator[tuple[str, str]]:
    """The help of every command, as the documentation shows it."""
    parser = _parser()
    commands = next(each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        command.formatter_class = partial(argparse.RawDescriptionHelpFormatter, width=100)
        yield f"toolglot {name}", command.format_help()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="toolglot",
        description="Translate LLM requests, responses and tool calls between protocols.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser
