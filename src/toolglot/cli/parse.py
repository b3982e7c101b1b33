"""`toolglot parse`: the tool calls that a model wrote inside its text."""

import argparse
import random
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from toolglot.cli.common import Commands, add_command, add_file, read_input, read_list
from toolglot.cli.progress import Progress
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import ParsedText, TextDecoder, merged
from toolglot.errors import DecodeError
from toolglot.wire import jsontext

_EXAMPLES: Final = (
    "toolglot parse answer.txt",
    "toolglot parse --dialect qwen3_coder --tools tools.json answer.txt",
    "toolglot parse --jsonl answers.jsonl",
    "toolglot parse --split char answer.txt",
)
_LONGEST: Final = 9
"""The longest piece of a random split."""
_LINE: Final[dict[str, type]] = {"text": str, "tools": list, "dialect": str, "thinking": bool}
_WANTED: Final[dict[type, str]] = {str: "a string", list: "a list", bool: "true or false"}


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "split a model's text into content, reasoning and tool calls"
    parser = add_command(commands, "parse", run, summary, *_EXAMPLES)
    add_file(parser)
    parser.add_argument(
        "--dialect",
        choices=["auto", *DIALECTS],
        default="auto",
        metavar="DIALECT",
        help="the format of the calls; detected if left out (`toolglot dialects` lists them)",
    )
    parser.add_argument(
        "--tools",
        metavar="FILE",
        help="the declared tools, or a request that declares them: only these become calls",
    )
    parser.add_argument(
        "--thinking", action="store_true", help="the text begins inside the model's reasoning"
    )
    parser.add_argument(
        "--split", metavar="HOW", help="feed in pieces: char, a number of characters, random:SEED"
    )
    parser.add_argument(
        "--jsonl",
        action="store_true",
        help='each line of the input is a string or {"text": …}, with "tools", "dialect" and '
        '"thinking" of its own if they differ',
    )


class _Line(NamedTuple):
    """A text, and what is known of it."""

    text: str
    tools: list[Any] | None
    dialect: str
    thinking: bool


def run(args: argparse.Namespace) -> int:
    """Print what the text holds, as one line of JSON, or one for each line of the input."""
    tools = read_list(args.tools, "tools") if args.tools else None
    data = read_input(args.file).decode("utf-8", "replace")
    usual = _Line(data, tools, args.dialect, args.thinking)
    lines = _lines(data, usual) if args.jsonl else iter([usual])
    with Progress(data.count("\n") if args.jsonl else 0) as progress:
        for line in lines:
            print(jsontext.text(_as_json(_parsed(args, line))))
            progress.advance()
    return 0


def _lines(data: str, usual: _Line) -> Iterator[_Line]:
    """The texts of the lines, each with what its own line says of it."""
    for number, line in enumerate(data.split("\n"), 1):
        if line.strip():
            value = _decoded(line, f"line {number}")
            fields = value if isinstance(value, dict) else {"text": value}
            yield usual._replace(**dict(_known(fields, f"line {number}")))


def _decoded(line: str, place: str) -> Any:
    """The value of a line; in an error, its column counts from the start of the line."""
    try:
        return jsontext.decode(line)
    except DecodeError as error:
        raise DecodeError(place, str(error).replace(" in line 1, column", " in column")) from None


def _known(fields: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    """What a line says, and says rightly; other members are of no interest."""
    if not isinstance(fields.get("text"), str):
        raise DecodeError(place, "no text")
    for name, kind in _LINE.items():
        value = fields.get(name)
        if value is None:
            continue
        if not isinstance(value, kind) or (name == "dialect" and value not in ("auto", *DIALECTS)):
            wanted = "the name of a dialect, or auto" if name == "dialect" else _WANTED[kind]
            raise DecodeError(f"{place}.{name}", f"expected {wanted}")
        yield name, value


def _parsed(args: argparse.Namespace, line: _Line) -> ParsedText:
    decoder = TextDecoder(line.dialect, line.tools, thinking=line.thinking)
    segments = [each for piece in _split(args, line.text) for each in decoder.feed(piece)]
    segments += decoder.close()
    # Some calls are known to be such only at the end, and so is their dialect.
    return ParsedText(decoder.dialect, tuple(merged(segments)))


def _split(args: argparse.Namespace, text: str) -> Iterator[str]:
    how = args.split or str(len(text) or 1)
    kind, _, seed = how.partition(":")
    if kind == "random" and seed:
        sizes = random.Random(seed)  # noqa: S311 - no secret
        start = 0
        while start < len(text):
            end = start + sizes.randint(1, _LONGEST)
            yield text[start:end]
            start = end
        return
    size = 1 if how == "char" else int(how) if how.isdecimal() else 0
    if size < 1:
        args.refuse(f"--split {how}: expected char, a number or random:SEED")
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _as_json(parsed: ParsedText) -> dict[str, Any]:
    return {
        "dialect": parsed.dialect,
        "content": parsed.content,
        "reasoning": parsed.reasoning,
        "calls": [
            {"id": call.id, "name": call.name, "arguments": jsontext.exact(call.arguments)}
            for call in parsed.calls
        ],
    }
