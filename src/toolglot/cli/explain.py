"""`toolglot explain`: what a translation would change, and why."""

import argparse

from toolglot.cli.common import Commands, add_command, add_pair, print_table, read_input
from toolglot.receipt import CATALOGUE
from toolglot.translate import translate_request, translate_response

_EXAMPLE = "toolglot explain --from openai-responses --to anthropic < request.json"


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "show what a translation would change and why, without translating"
    parser = add_command(commands, "explain", run, summary, _EXAMPLE)
    add_pair(parser)
    parser.add_argument("--what", choices=("request", "response", "error"), default="request")


def run(args: argparse.Namespace) -> int:
    """Print the receipt as a table."""
    data = read_input(args.file)
    translate = translate_request if args.what == "request" else translate_response
    _, receipt = translate(data, source=args.source, target=args.target)
    if not receipt:
        print(f"{args.source} to {args.target}: nothing would change")
        return 0
    rows = [
        (n.severity, n.code, n.path or "(all)", n.message, CATALOGUE[n.code].meaning)
        for n in receipt
    ]
    print_table(
        f"{args.source} to {args.target}", ("severity", "code", "where", "what", "meaning"), rows
    )
    return 0
