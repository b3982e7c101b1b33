"""`toolglot tools`: definitions, calls and results of tools, for scripts that send requests."""

import argparse
import sys
from typing import Final

from toolglot.calls import declared_tools, format_tool_result, format_tools
from toolglot.cli.common import Commands, add_command, add_file, add_protocol, read_input
from toolglot.cli.translate_document import words
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.parsers import detect, parse_tool_calls
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext

_EXAMPLES: Final = (
    "toolglot tools format --to anthropic tools.json",
    "toolglot tools parse --from openai answer.json",
    "echo 'low water 11:40' | toolglot tools result --to anthropic --id toolu_1 --name tide_table",
)


def add(commands: Commands) -> None:
    """Declare the command and its three parts."""
    summary = "write tools for a provider, read the calls of its answer, write their results"
    parser = add_command(commands, "tools", None, summary, *_EXAMPLES)
    parts = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_format(parts)
    _add_parse(parts)
    _add_result(parts)


def _add_format(parts: Commands) -> None:
    parser = add_command(
        parts,
        "format",
        format_,
        "write tool definitions of any provider as another one takes them",
        "toolglot tools format --to gemini tools.json",
        "toolglot tools format --to groq < request.json",
    )
    add_file(parser)
    add_protocol(parser, "--to", "protocol or provider that takes them", dest="target")


def _add_parse(parts: Commands) -> None:
    parser = add_command(
        parts,
        "parse",
        parse,
        "list the tool calls of an answer as {id, name, arguments}, whoever wrote it",
        "toolglot tools parse answer.json",
        "toolglot tools parse --from ollama --strict < answer.json",
    )
    add_file(parser)
    add_protocol(
        parser,
        "--from",
        "protocol or provider of the answer; detected if left out",
        required=False,
        dest="source",
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail if the arguments of a call are no JSON object"
    )


def _add_result(parts: Commands) -> None:
    parser = add_command(
        parts,
        "result",
        result,
        "write what a tool answered as the message that a provider takes",
        "date | toolglot tools result --to openai --id call_1 --name clock",
        "toolglot tools result --to anthropic --id toolu_1 --name clock --error stderr.txt",
    )
    add_file(parser)
    add_protocol(parser, "--to", "protocol or provider that takes it", dest="target")
    parser.add_argument("--id", required=True, help="the id of the call")
    parser.add_argument("--name", required=True, help="the name of the tool")
    parser.add_argument("--error", action="store_true", help="the tool failed")


def format_(args: argparse.Namespace) -> int:
    """Print the definitions; what was changed in them goes to standard error."""
    formatted = format_tools(_definitions(read_input(args.file)), args.target)
    if formatted.receipt:
        print(words(formatted.receipt), file=sys.stderr)
    return _print(list(formatted))


def parse(args: argparse.Namespace) -> int:
    """Print the calls, with their arguments as the text that the model wrote."""
    data = read_input(args.file)
    if not data.strip():
        raise DecodeError("", "the input is empty; expected an answer")
    source = args.source or detect(data.decode("utf-8", "replace"))
    if source is None:
        return _print([])
    calls = parse_tool_calls(data, source, strict=args.strict)
    return _print([{"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls])


def result(args: argparse.Namespace) -> int:
    """Print the message."""
    text = read_input(args.file).decode("utf-8", "replace").removesuffix("\n")
    message = format_tool_result(args.id, args.name, text, args.target, args.error)
    return _print(message)


def _definitions(data: bytes) -> list[Json]:
    """A list of definitions, or that of a request."""
    value = jsontext.decode(data)
    if isinstance(value, dict):
        value = value["tools"] if "tools" in value else declared_tools(value) or [value]
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        known = ", ".join(PROTOCOLS)
        raise DecodeError("", f"expected a list of tools, or a request, of one of {known}")
    return value


def _print(value: object) -> int:
    print(jsontext.text(value))
    return 0
