"""`toolglot inspect`: the page that shows what happened to tool calls."""

import argparse
import os
import sys
import webbrowser
from pathlib import Path
from typing import Final

from toolglot.cli.clients import KEY_VARIABLE
from toolglot.cli.common import Commands, add_command
from toolglot.cli.env import GATEWAY_VARIABLE, usual_gateway
from toolglot.cli.ping import fetch
from toolglot.cli.replay import recordings
from toolglot.errors import MissingExtraError

_EXAMPLES: Final = (
    "toolglot inspect",
    "toolglot inspect recordings",
    "toolglot inspect recordings --out report.html --redact",
)
_PAGE: Final = "/toolglot/"
_EXPORT: Final = "/toolglot/api/v1/export"


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "see what happened to tool calls: open the page of a gateway, or of recordings"
    parser = add_command(commands, "inspect", run, summary, *_EXAMPLES)
    parser.add_argument(
        "directory",
        metavar="DIR",
        nargs="?",
        help="a directory of recordings, for which no gateway is needed; the running gateway if "
        "left out",
    )
    parser.add_argument(
        "--gateway",
        metavar="URL",
        help=f"address of the gateway; {GATEWAY_VARIABLE}, or this machine, if left out",
    )
    parser.add_argument("--key", help=f"key with the right to inspect, or {KEY_VARIABLE}")
    parser.add_argument(
        "--out", metavar="FILE", help="write everything into one HTML file, with keys masked"
    )
    parser.add_argument(
        "--redact", action="store_true", help="leave what was said out of that file"
    )
    parser.add_argument(
        "--no-open", action="store_true", help="print the address and open no browser"
    )


def run(args: argparse.Namespace) -> int:
    """Open the page, or write it."""
    if args.redact and not args.out:
        args.refuse("--redact has no effect without --out")
    return _folder(args) if args.directory else _gateway(args)


def _gateway(args: argparse.Namespace) -> int:
    url = (args.gateway or usual_gateway()).rstrip("/")
    key = args.key or os.environ.get(KEY_VARIABLE, "")
    if args.out:
        query = "?redact=1" if args.redact else ""
        return _write(args.out, fetch(url, _EXPORT + query, key))
    fetch(url, _PAGE, key)
    _open(url + _PAGE, args)
    return 0


def _folder(args: argparse.Namespace) -> int:
    try:
        from toolglot.gateway.http import server as gateway  # noqa: PLC0415 - an extra
        from toolglot.gateway.inspector.export import export_page  # noqa: PLC0415 - likewise
        from toolglot.gateway.inspector.folder_app import FolderApp  # noqa: PLC0415 - likewise
        from toolglot.gateway.inspector.from_recordings import captures_from  # noqa: PLC0415
        from toolglot.gateway.inspector.grouping import conversations  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("gateway", error.name or "httptools") from None
    captures = captures_from(recordings(Path(args.directory)))
    if args.out:
        found, info = conversations(captures.of("")), FolderApp(captures, args.directory).info
        return _write(args.out, export_page(found, info, redact=args.redact))
    with gateway.listen("127.0.0.1", 0) as sock:
        url = f"http://127.0.0.1:{sock.getsockname()[1]}{_PAGE}"
        gateway.serve(lambda: FolderApp(captures, args.directory), sock, lambda: _open(url, args))
    return 0


def _write(out: str, page: bytes) -> int:
    Path(out).write_bytes(page)
    print(f"{out}: {len(page)} bytes", file=sys.stderr)
    return 0


def _open(url: str, args: argparse.Namespace) -> None:
    print(url, flush=True)
    if not args.no_open:
        webbrowser.open(url)
