"""`toolglot translate`: one document from one protocol to another."""

import argparse
import random
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final, cast

from msgspec import to_builtins

from toolglot.cli.common import (
    STREAM,
    Commands,
    add_command,
    add_document,
    check_options,
    counted,
    read_input,
    stream_translator,
    translate_document,
)
from toolglot.cli.input_kind import check_input, check_stream, explain_failure
from toolglot.dialects.table import DIALECTS
from toolglot.errors import DecodeError
from toolglot.receipt import Receipt
from toolglot.wire import jsontext

_EXAMPLES: Final = (
    "toolglot translate --from anthropic --to openai-chat request.json > out.json",
    "toolglot translate --from anthropic --provider openai --model gpt-5.4 request.json",
    "toolglot translate --from anthropic --to ollama --tools emulated:qwen3_coder request.json",
    "toolglot translate --from openai-chat --to anthropic --what response < answer.json",
    "toolglot translate --from openai-chat --to anthropic --what error --status 429 < error.json",
    "toolglot translate --from ollama --to anthropic --what response --dialect auto answer.json",
    "curl -N ... | toolglot translate --from openai-chat --to anthropic --what stream",
)
_PIECE: Final = 64 * 1024
_LONGEST: Final = 64
"""Bytes of the longest piece that a random cut gives."""

Split = Callable[[bytes], Iterator[bytes]]


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "translate one document or stream to another protocol"
    parser = add_command(commands, "translate", run, summary, *_EXAMPLES)
    add_document(parser)
    parser.add_argument(
        "--receipt",
        metavar="FILE",
        help="write what was changed there, as a JSON list of {code, severity, path, message}, "
        "instead of to standard error",
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail if the translation would lose meaning"
    )
    parser.add_argument("--pretty", action="store_true", help="indent the result")
    parser.add_argument(
        "--tools",
        type=tools_option,
        metavar="HOW",
        help="declare tools to the provider (native), or describe them in the prompt of a model "
        "without tools: emulated, or emulated:DIALECT (`toolglot dialects` lists them)",
    )
    parser.add_argument(
        "--split",
        type=split_by,
        metavar="HOW",
        help="cut a stream into pieces before it is read, to test that this changes nothing: "
        "char, a number of bytes, or random:SEED",
    )
    parser.add_argument(
        "--stream-tools",
        choices=("live", "buffered"),
        help="stream the arguments of calls as they come, or each call whole",
    )
    parser.add_argument(
        "--dialect",
        choices=["auto", *DIALECTS],
        metavar="DIALECT",
        help="parse tool calls that the model wrote into its text: in this dialect, or auto for "
        "any (`toolglot dialects` lists them); with --request, only calls of its tools",
    )


def run(args: argparse.Namespace) -> int:
    """Translate the input to standard output."""
    check_options(args)
    if args.what == STREAM:
        return _stream(args)
    names = ("tools", "dialect")
    options = {name: value for name in names if (value := getattr(args, name))}
    data = read_input(args.file)
    check_input(data, args.what, args.source)
    try:
        body, receipt = translate_document(args, data, strict=args.strict, **options)
    except DecodeError as error:
        hint = explain_failure(data, args.what, args.source)
        raise DecodeError(error.path, error.message + hint) from None
    written = jsontext.pretty(body) if args.pretty else jsontext.encode(body)
    _report(receipt, args.receipt)
    sys.stdout.buffer.write(written + b"\n")
    return 0


def _stream(args: argparse.Namespace) -> int:
    """Translate a stream as it comes; in strict mode not before all of it was seen."""
    names = ("stream_tools", "tools", "dialect")
    options = {name: value for name in names if (value := getattr(args, name))}
    translator = stream_translator(args, strict=args.strict, **options)
    output, held = sys.stdout.buffer, list[bytes]()
    write = held.append if args.strict else output.write
    for number, piece in enumerate(_pieces(args)):
        if not number:
            check_stream(piece)
        write(translator.feed(piece))
        output.flush()
    write(translator.close())
    _report(translator.receipt, args.receipt)
    output.write(b"".join(held))
    return 0


def _pieces(args: argparse.Namespace) -> Iterator[bytes]:
    if args.split is not None:
        yield from args.split(read_input(args.file))
    elif args.file:
        with Path(args.file).open("rb") as file:
            yield from _as_they_come(file)
    else:
        yield from _as_they_come(cast("BufferedReader", sys.stdin.buffer))


def _as_they_come(file: BufferedReader) -> Iterator[bytes]:
    while piece := file.read1(_PIECE):
        yield piece


def split_by(how: str) -> Split:
    """The function that cuts as `char`, `7` or `random:42` says."""
    name, _, seed = how.partition(":")
    if how == "char":
        return _characters
    if how.isdecimal() and int(how) > 0:
        return lambda data: _sized(data, lambda: int(how))
    if name == "random" and seed:
        return lambda data: _random(data, seed)
    raise argparse.ArgumentTypeError(f"expected char, a number or random:SEED, got {how!r}")


def tools_option(how: str) -> str:
    """The same, if it is a value of the option `tools`."""
    kind, _, dialect = how.partition(":")
    if how in ("native", "emulated") or (kind == "emulated" and dialect in DIALECTS):
        return how
    raise argparse.ArgumentTypeError(f"expected native, emulated or emulated:DIALECT, got {how!r}")


def _characters(data: bytes) -> Iterator[bytes]:
    for character in data.decode("utf-8", "surrogateescape"):
        yield character.encode("utf-8", "surrogateescape")


def _random(data: bytes, seed: str) -> Iterator[bytes]:
    dice = random.Random(seed)  # noqa: S311 - not for secrets
    return _sized(data, lambda: dice.randint(1, _LONGEST))


def _sized(data: bytes, size: Callable[[], int]) -> Iterator[bytes]:
    place = 0
    while place < len(data):
        end = place + size()
        yield data[place:end]
        place = end


def _report(receipt: Receipt, file: str | None) -> None:
    if file:
        Path(file).write_bytes(jsontext.pretty(to_builtins(receipt.notes)) + b"\n")
    else:
        print(words(receipt), file=sys.stderr)


def words(receipt: Receipt) -> str:
    """A receipt as text."""
    if not receipt:
        return "nothing was changed"
    return f"{counted(receipt)}:\n" + "\n".join(f"  {note}" for note in receipt)
