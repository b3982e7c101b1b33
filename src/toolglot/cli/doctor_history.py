"""`toolglot doctor-history`: check the history in a request, and repair it."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import to_builtins

from toolglot.cli.common import Commands, add_command, add_file, add_protocol, read_input
from toolglot.history import POLICIES, diagnose, repair_history
from toolglot.wire import jsontext

_EXAMPLES: Final = (
    "toolglot doctor-history --protocol anthropic refused.json",
    "toolglot doctor-history --protocol openai-chat --fix refused.json > repaired.json",
)


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "find what a provider rejects in the history of a request, and repair it"
    parser = add_command(commands, "doctor-history", run, summary, *_EXAMPLES)
    add_file(parser)
    add_protocol(parser, "--protocol", "protocol of the request")
    parser.add_argument(
        "--path", help="URL path that the request came on, for protocols with the model in the path"
    )
    parser.add_argument(
        "--issuer", help="who issues reasoning state there; the protocol itself if left out"
    )
    parser.add_argument("--fix", action="store_true", help="write the repaired request")
    parser.add_argument(
        "--policy",
        choices=POLICIES,
        help="what to do with calls without results and results without calls: a placeholder "
        "answers the call and the result becomes text (the default), both become text, or both "
        "are left out",
    )
    parser.add_argument(
        "--receipt",
        metavar="FILE",
        help="write what was repaired there, as a JSON list of {code, severity, path, message}",
    )


def run(args: argparse.Namespace) -> int:
    """Print what is wrong; 1 if anything is and was not repaired."""
    if not args.fix and (args.receipt or args.policy):
        args.refuse("--receipt and --policy have no effect without --fix")
    data = read_input(args.file)
    where = {"path": args.path or "", "issuer": args.issuer}
    if not args.fix:
        findings = diagnose(data, args.protocol, **where)
        _say(findings, "nothing is wrong")
        return int(bool(findings))
    body, receipt = repair_history(data, args.protocol, policy=args.policy or POLICIES[0], **where)
    _say(receipt, "nothing was wrong")
    if args.receipt:
        Path(args.receipt).write_bytes(jsontext.pretty(to_builtins(receipt.notes)) + b"\n")
    sys.stdout.buffer.write(jsontext.encode(body) + b"\n")
    return 0


def _say(things: Iterable[object], otherwise: str) -> None:
    print("\n".join(map(str, things)) or otherwise, file=sys.stderr)
