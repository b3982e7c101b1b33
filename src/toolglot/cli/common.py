"""What several commands share: arguments, input, translation, output for people."""

import argparse
import codecs
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.profiles import UnknownProviderError, get_profile
from toolglot.providers import protocol_for
from toolglot.receipt import Receipt
from toolglot.registry import PROTOCOLS, protocol_name
from toolglot.streams import StreamTranslator
from toolglot.translate import asked_model, translate_request, translate_response
from toolglot.wire import jsontext
from toolglot.wire.message import read_body
from toolglot.wire.model_paths import IN_PATH, split_path

Commands = Any
"""What `add_subparsers` returns; argparse has no public name for it."""

DEMO: Final = "demo"
"""The model that is built in, and the provider that stands in where there is none."""

REQUEST, RESPONSE, ERROR, STREAM = KINDS = ("request", "response", "error", "stream")

_ONLY: Final = {
    "path": (REQUEST,),
    "status": (RESPONSE, ERROR),
    "request": (RESPONSE, ERROR, STREAM),
    "split": (STREAM,),
    "stream_tools": (STREAM,),
    "dialect": (RESPONSE, STREAM),
    "pretty": (REQUEST, RESPONSE, ERROR),
}
"""Options that make sense for some kinds of document only."""
_NO_MODEL: Final = "-"
"""Stands in the path of a request that names no model and needs none."""


def add_command(
    commands: Commands, name: str, run: Any, summary: str, *examples: str
) -> argparse.ArgumentParser:
    """A command with its help and examples of its use."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="\n  ".join((f"example{'s' if len(examples) > 1 else ''}:", *examples)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, refuse=parser.error)
    return parser


def add_file(parser: argparse.ArgumentParser) -> None:
    """Where the input comes from."""
    parser.add_argument("file", nargs="?", help="input file; standard input if left out")


def add_protocol(
    parser: argparse.ArgumentParser, option: str, words: str, *, required: bool = True, **more: Any
) -> None:
    """An option that names a protocol."""
    names = list(PROTOCOLS)
    parser.add_argument(
        option,
        required=required,
        type=_protocol,
        metavar="PROTOCOL",
        help=f"{words}: {', '.join(names[:-1])} or {names[-1]}",
        **more,
    )


def _protocol(name: str) -> str:
    """A protocol by its name, or by that of a provider that speaks it; for argparse."""
    found = protocol_name(name)
    if found not in PROTOCOLS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(PROTOCOLS)}")
    return found


def add_database(parser: argparse.ArgumentParser) -> None:
    """The file with keys and usage."""
    parser.add_argument(
        "--database",
        metavar="FILE",
        type=Path,
        help="file with keys and usage; toolglot.db in $TOOLGLOT_HOME or in your data folder",
    )


def add_document(parser: argparse.ArgumentParser) -> None:
    """The two protocols of a translation, what is translated and where it comes from."""
    add_file(parser)
    add_protocol(parser, "--from", "protocol of the input", dest="source")
    add_protocol(parser, "--to", "protocol of the output", required=False, dest="target")
    parser.add_argument(
        "--provider",
        help="apply the rules of this provider (`toolglot capabilities` lists them); of a request "
        "it also chooses the protocol, if --to is left out",
    )
    parser.add_argument("--model", help="ask the target for this model instead")
    parser.add_argument(
        "--what", choices=KINDS, default=REQUEST, help="what the input is; a request if left out"
    )
    parser.add_argument(
        "--path", help="URL path that the request came on, for protocols with the model in the path"
    )
    parser.add_argument(
        "--request", metavar="FILE", help="the client's request that the input answers"
    )
    parser.add_argument(
        "--status", type=int, help="HTTP status that the response or error came with"
    )


def check_options(args: argparse.Namespace) -> None:
    """Reject options that have no effect on this kind of document, rather than ignore them."""
    if args.provider:
        try:
            get_profile(args.provider)
        except UnknownProviderError as error:
            args.refuse(f"--provider: {error}; `toolglot capabilities` lists the known ones")
    if args.target is None and (args.what != REQUEST or not args.provider):
        args.refuse("give --to PROTOCOL" + (", or --provider" if args.what == REQUEST else ""))
    if args.model and not args.provider and args.what != REQUEST:
        args.refuse(f"--model has no effect with --what {args.what}, except beside --provider")
    for option, kinds in _ONLY.items():
        if args.what not in kinds and getattr(args, option, None):
            spelled = "--" + option.replace("_", "-")
            args.refuse(f"{spelled} has no effect with --what {args.what}")


def read_input(file: str | None) -> bytes:
    """The bytes of a file or of standard input, without a byte order mark."""
    data = Path(file).read_bytes() if file else sys.stdin.buffer.read()
    return data.removeprefix(codecs.BOM_UTF8)


def read_list(file: str, *names: str) -> list[Any]:
    """The list in a file of JSON, or the one that its object has under one of these names."""
    try:
        value = jsontext.decode(Path(file).read_bytes())
    except DecodeError as error:
        raise DecodeError(file, str(error)) from None
    if isinstance(value, dict):
        value = next((value[name] for name in names if name in value), None)
    if not isinstance(value, list):
        raise DecodeError(file, f"no list of {names[0]}")
    return value


# --- times ----------------------------------------------------------------------------------------

_SECONDS: Final = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def distance(text: str) -> float | date:
    """A date, or a number of seconds written like `30d`; for argparse."""
    if match := re.fullmatch(r"(\d{1,4})([mhdw])", text):
        return int(match[1]) * _SECONDS[match[2]]
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a date like 2030-01-31 nor a time like 30m, 12h, 7d or 4w"
        ) from None


def moment(far: float | date, now: float, direction: int) -> float:
    """The time of that date at midnight UTC, or that far from now: 1 later, -1 earlier."""
    if isinstance(far, date):
        return datetime(far.year, far.month, far.day, tzinfo=UTC).timestamp()
    return now + direction * far


def spelled(time: float) -> str:
    """A time for people, to the minute."""
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M}"


# --- translating ----------------------------------------------------------------------------------


def translate_document(
    args: argparse.Namespace, data: bytes, **options: Any
) -> tuple[Json, Receipt]:
    """The body of a translated request, response or error, and what that changed.

    What the protocol puts outside the body is printed to standard error.
    """
    options |= _provider_options(args)
    if args.what == REQUEST:
        if args.target is None:
            model = args.model or asked_model(data, args.source, args.path or "")
            args.target = protocol_for(args.provider, args.source, model)
            print(f"protocol {args.target}", file=sys.stderr)
        path = args.path or _path_with_model(args.source, data, options.get("model"))
        unnamed = not path and _outside_body(args.source, data) and _outside_body(args.target)
        if unnamed:
            path = _path_with_model(args.source, data, _NO_MODEL)
        request, receipt = translate_request(
            data, source=args.source, target=args.target, path=path, **options
        )
        if unnamed:
            return request.body, receipt
        body = in_body(request.body, request.path, args.target)
        if request.path not in ("", args.path, PROTOCOLS[args.target].SURFACE.path):
            print(f"path {request.path}", file=sys.stderr)
        return body, receipt
    response, receipt = translate_response(
        data,
        source=args.source,
        target=args.target,
        status=args.status or 200,
        request=asked(args),
        **options,
    )
    if args.what == ERROR:
        print(f"status {response.status}", file=sys.stderr)
    return response.body, receipt


def _outside_body(protocol: str, data: bytes = b"{}") -> bool:
    """Whether a protocol has the model in its path, and a request has none in its body either."""
    surface, body = PROTOCOLS[protocol].SURFACE, read_body(data)
    return IN_PATH in surface.path and not any(key in body for key in surface.model_keys)


def _path_with_model(protocol: str, data: bytes, model: str | None) -> str:
    """The path of a request whose model was named beside it; empty where it is not there."""
    if not model or not _outside_body(protocol, data):
        return ""
    return PROTOCOLS[protocol].SURFACE.path.replace("{model}", model)


def stream_translator(args: argparse.Namespace, **options: Any) -> StreamTranslator:
    """What translates the stream that was asked for."""
    options |= _provider_options(args)
    return StreamTranslator(args.source, args.target, request=asked(args), **options)


def _provider_options(args: argparse.Namespace) -> dict[str, Any]:
    names = ("provider", "model")
    return {name: value for name in names if (value := getattr(args, name))}


def asked(args: argparse.Namespace) -> bytes | None:
    """The client's request, if it was given."""
    return Path(args.request).read_bytes() if args.request else None


def in_body(body: Json, path: str, target: str) -> Json:
    """A body with the model, also where the protocol has the model in its path."""
    surface = PROTOCOLS[target].SURFACE
    if IN_PATH not in surface.path or not path or any(key in body for key in surface.model_keys):
        return body
    # One protocol has the words before the model as a part of its name.
    prefix = "models/" if f"/models/{IN_PATH}" in surface.path else ""
    return {surface.model_keys[0]: prefix + split_path(path, surface.path)[0], **body}


# --- text for people ------------------------------------------------------------------------------


def counted(receipt: Receipt) -> str:
    """How many notes of each severity, the most severe first."""
    counts = reversed(receipt.counts().items())
    return ", ".join(f"{count} {severity}" for severity, count in counts if count)


def plural(count: int, word: str, several: str = "") -> str:
    """A number of things: `1 note`, `2 notes`."""
    return f"{count} {word}" if count == 1 else f"{count} {several or word + 's'}"


def print_table(rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Rows in columns, the head first; columns with a head in `right` are aligned right."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if head in right else cell.ljust(width)
            for head, cell, width in zip(rows[0], row, widths, strict=True)
        )
        print("  ".join(cells).rstrip())


def hanging(head: str, text: str, indent: int) -> str:
    """A head and a text beside it, wrapped to the width of the terminal below itself."""
    return textwrap.fill(
        text,
        width=max(shutil.get_terminal_size().columns, indent + 20),
        initial_indent=head.ljust(indent) if len(head) < indent else head + " ",
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def print_groups(rows: Iterable[tuple[str, str, str]], indent: int) -> None:
    """Rows of (group, head, text), each group under its own line."""
    current = None
    for group, head, text in rows:
        if group != current:
            print(f"\n{group}")
            current = group
        print(hanging(f"  {head}", text, indent))
