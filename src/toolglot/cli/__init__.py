"""The command line: one module for each command.

Only results go to standard output; messages go to standard error; both are UTF-8.
Exit codes: 0 done, 1 the input is invalid, cannot be translated or breaks a rule, 2 the command was
called wrongly.
"""

import argparse
import io
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Final

from toolglot import __version__
from toolglot.cli.parser import Parser
from toolglot.errors import ToolglotError

_COMMANDS: Final = (
    "serve",
    "run",
    "env",
    "doctor",
    "translate",
    "convert",
    "explain",
    "lint-stream",
    "diff-sse",
    "replay",
    "inspect",
    "doctor-history",
    "parse",
    "render",
    "tools",
    "dialects",
    "protocols",
    "capabilities",
    "discover",
    "keys",
    "usage",
    "local-model",
    "demo",
    "completion",
)
_MODULES: Final = {
    "convert": "convert_command",
    "inspect": "inspect_exchanges",
    "translate": "translate_document",
}
"""Modules that are not called as their commands are."""
_INTERRUPTED: Final = 130
"""The exit code of shells for a program that the user stopped."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _speak_utf8()
    given = sys.argv[1:] if argv is None else argv
    args = parser_for(*given[:1]).parse_args(given)
    try:
        code = int(args.run(args))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output is gone. Python must not try to flush it at exit.
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
    """The help of every command, for the documentation."""
    yield from _help_texts(parser_for())


def _help_texts(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for commands in parser._actions:
        if not isinstance(commands, argparse._SubParsersAction):
            continue
        for command in commands.choices.values():
            command.formatter_class = partial(argparse.RawDescriptionHelpFormatter, width=100)
            yield command.prog, command.format_help()
            yield from _help_texts(command)


def parser_for(asked: str = "") -> argparse.ArgumentParser:
    """The parser for one command, if that is asked for: the others need not be loaded."""
    parser = Parser(
        prog="toolglot",
        description="Translate LLM requests, responses and tool calls between protocols.",
        epilog="`toolglot COMMAND --help` explains a command, with examples.",
    )
    parser.set_defaults(run=partial(_help, parser))
    parser.add_argument("--version", action="version", version=f"toolglot {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for command in (asked,) if asked in _COMMANDS else _COMMANDS:
        module = _MODULES.get(command, command.replace("-", "_"))
        import_module(f"toolglot.cli.{module}").add(commands)
    return parser


def _help(parser: argparse.ArgumentParser, _args: argparse.Namespace) -> int:
    parser.print_help()
    return 0


def _speak_utf8() -> None:
    """Write UTF-8 whatever the locale; what is not Unicode is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
