"""`toolglot translate`: one document from one protocol to another."""

import argparse
import sys
from pathlib import Path

from msgspec import to_builtins

from toolglot.cli.common import Commands, add_command, add_pair, read_input
from toolglot.ir import Json
from toolglot.receipt import Receipt
from toolglot.registry import get_protocol
from toolglot.translate import translate_request, translate_response
from toolglot.wire import jsontext

_EXAMPLE = (
    "toolglot translate --from anthropic --to openai-chat --what request < in.json > out.json"
)


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "translate", run, "translate one document to another protocol", _EXAMPLE
    )
    add_pair(parser)
    parser.add_argument("--what", choices=("request", "response", "error"), default="request")
    parser.add_argument("--receipt", metavar="FILE", help="write the receipt there, as JSON")
    parser.add_argument(
        "--strict", action="store_true", help="refuse a translation that loses meaning"
    )
    parser.add_argument("--pretty", action="store_true", help="indent the result")
    parser.add_argument("--model", help="ask the target for this model instead")
    parser.add_argument(
        "--status", type=int, help="HTTP status that the response or error came with"
    )
    parser.add_argument(
        "--request", metavar="FILE", help="the client's request that a response answers"
    )


def run(args: argparse.Namespace) -> int:
    """Translate standard input to standard output."""
    data = read_input(args.file)
    body, receipt = _translate(args, data)
    written = jsontext.pretty(body) if args.pretty else jsontext.encode(body)
    if args.receipt:
        Path(args.receipt).write_bytes(jsontext.pretty(to_builtins(receipt.notes)) + b"\n")
    else:
        print(words(receipt), file=sys.stderr)
    sys.stdout.buffer.write(written + b"\n")
    return 0


def _translate(args: argparse.Namespace, data: bytes) -> tuple[Json, Receipt]:
    if args.what == "request":
        request, receipt = translate_request(
            data, source=args.source, target=args.target, strict=args.strict, model=args.model
        )
        return in_body(request.body, request.path, args.target), receipt
    response, receipt = translate_response(
        data,
        source=args.source,
        target=args.target,
        status=args.status or 200,
        request=Path(args.request).read_bytes() if args.request else None,
        strict=args.strict,
    )
    if args.what == "error":
        print(f"status {response.status}", file=sys.stderr)
    return response.body, receipt


def in_body(body: Json, path: str, target: str) -> Json:
    """A body that says everything, also where the protocol says the model in its path."""
    if "{model}" not in get_protocol(target).SURFACE.path or "model" in body or not path:
        return body
    return {"model": "models/" + path.partition("/models/")[2].rpartition(":")[0], **body}


def words(receipt: Receipt) -> str:
    """A receipt for a person."""
    if not receipt:
        return "nothing was changed"
    counts = ", ".join(
        f"{count} {severity}" for severity, count in receipt.counts().items() if count
    )
    return f"{counts}:\n" + "\n".join(f"  {note}" for note in receipt)
