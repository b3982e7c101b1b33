"""`toolglot lint-stream`: check a recorded stream against the rules of its protocol."""

import argparse
from typing import Final

from toolglot.cli.common import Commands, add_command, add_file, add_protocol, hanging, read_input
from toolglot.lint import lint_stream, rules_of

_EXAMPLES: Final = (
    "toolglot lint-stream --protocol anthropic recorded.txt",
    "curl -N ... | toolglot lint-stream --protocol openai-responses",
    "toolglot lint-stream --protocol gemini --rules",
)


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "check a recorded stream against the rules of its protocol"
    parser = add_command(commands, "lint-stream", run, summary, *_EXAMPLES)
    add_file(parser)
    add_protocol(parser, "--protocol", "protocol of the stream")
    parser.add_argument("--rules", action="store_true", help="list the rules instead")


def run(args: argparse.Namespace) -> int:
    """Print one line for each violation; exit with 1 if there is any."""
    if args.rules:
        for rule in rules_of(args.protocol):
            print(hanging(rule.code, rule.meaning, 20))
        return 0
    violations = lint_stream(read_input(args.file), args.protocol)
    for violation in violations:
        print(violation)
    if not violations:
        print("no rule broken")
    return int(bool(violations))
