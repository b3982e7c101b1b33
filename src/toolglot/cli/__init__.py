"""The command line: one module for each command.

Results alone go to standard output, everything said to a person to standard error, both in UTF-8.
Exit codes: 0 done, 1 the input is invalid, cannot be translated or breaks a rule, 2 the command was
called wrongly.
"""

import argparse
import io
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from toolglot import __version__
from toolglot.cli import (
    capabilities,
    demo,
    dialects,
    diff_sse,
    doctor_history,
    explain,
    lint_stream,
    parse,
    protocols,
    render,
    serve,
    translate,
)
from toolglot.errors import ToolglotError

_COMMANDS: Final = (
    serve,
    translate,
    explain,
    lint_stream,
    diff_sse,
    doctor_history,
    parse,
    render,
    dialects,
    protocols,
    capabilities,
    demo,
)
_INTERRUPTED: Final = 130
"""What shells say of a program that the user stopped."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _speak_utf8()
    args = _parser().parse_args(argv)
    try:
        code = int(args.run(args))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python must not try to flush it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    except ToolglotError as error:
        print(f"toolglot: {error}", file=sys.stderr)
    except OSError as error:
        print(f"toolglot: {error.filename or 'input'}: {error.strerror}", file=sys.stderr)
    else:
        return code
    return 1


def help_texts() -> Iterator[tuple[str, str]]:
    """The help of every command, as the documentation shows it."""
    parser = _parser()
    commands = next(
        each for each in parser._actions if isinstance(each, argparse._SubParsersAction)
    )
    for name, command in commands.choices.items():
        command.formatter_class = partial(argparse.RawDescriptionHelpFormatter, width=100)
        yield f"toolglot {name}", command.format_help()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="toolglot",
        description="Translate LLM requests, responses and tool calls between protocols.",
        epilog="`toolglot COMMAND --help` explains a command and shows examples.",
    )
    parser.add_argument("--version", action="version", version=f"toolglot {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser


def _speak_utf8() -> None:
    """Write UTF-8 whatever the locale; what is not Unicode is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
