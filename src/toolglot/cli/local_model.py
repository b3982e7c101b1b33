"""`toolglot local-model`: a small real model on this machine, to try everything offline."""

import argparse
import sys
from typing import TYPE_CHECKING, Final

from msgspec import to_builtins

from toolglot.cli.common import Commands, add_command
from toolglot.wire import jsontext

if TYPE_CHECKING:
    from toolglot.gateway.llama_server import RunningServer

_EXAMPLES: Final = (
    "toolglot local-model --prepare",
    "toolglot local-model --port 9100",
)


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "serve a small real model on this machine, as a provider for the gateway"
    parser = add_command(commands, "local-model", run, summary, *_EXAMPLES)
    parser.add_argument("--port", type=int, default=0, help="port to listen on; any if left out")
    parser.add_argument(
        "--prepare",
        action="store_true",
        help="download the weights (93 MB) into your cache folder, and serve nothing",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until a signal comes; the address goes to standard output as one line of JSON."""
    from toolglot.gateway import llama_server  # noqa: PLC0415 - other commands do not pay for it

    if args.prepare:
        print(llama_server.prepare())
        return 0
    weights = llama_server.find_weights()
    if weights is None:
        raise llama_server.LocalModelError(
            "there are no weights yet: `toolglot local-model --prepare` downloads them"
        )
    llama_server.serve(weights, args.port, _say)
    return 0


def _say(server: "RunningServer") -> None:
    print(jsontext.encode(to_builtins(server)).decode(), flush=True)
    table = f'protocol = "openai-chat"\nbase_url = "{server.base_url}"'
    print(f"[providers.local]\n{table}", file=sys.stderr, flush=True)
