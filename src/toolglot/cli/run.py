"""`toolglot run`: a client, and the gateway it needs."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final

from msgspec import Struct

from toolglot.cli import ping
from toolglot.cli.clients import CLIENTS, AgentClient, launch, written
from toolglot.cli.common import DEMO, Commands, add_command, plural, print_table
from toolglot.cli.env import add_client, chosen, key_of, usual_gateway
from toolglot.cli.model_catalogue import catalogue_with
from toolglot.cli.serving import own_gateway

_NOT_FOUND: Final = 127
"""The exit code of shells where there is no such program."""
_BY_SIGNAL: Final = 128
"""Shells add the number of the signal that ended a program."""
_PASSED_ON: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")

_EXAMPLES: Final = (
    "toolglot run claude --model gpt-5.5",
    "toolglot run codex --model claude-sonnet-5 -- exec 'Explain this repository.'",
    "toolglot run claude --model gemini-3-pro-preview --record exchanges --show",
    "toolglot run --list",
    "toolglot run opencode --protocol anthropic --model gemini-3-pro --gateway http://gateway:8100",
)


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "run a client through a gateway, which is started for it if there is none"
    parser = add_command(commands, "run", run, summary, *_EXAMPLES)
    add_client(parser, optional=True)
    parser.add_argument(
        "--list", action="store_true", help="list the clients, and which are installed here"
    )
    parser.add_argument(
        "--config", metavar="FILE", help="configuration of the gateway that is started"
    )
    parser.add_argument(
        "--record",
        metavar="DIR",
        help="write every exchange there, for `toolglot replay`; starts a gateway of its own",
    )
    parser.add_argument(
        "--log", metavar="FILE", help="write the log of the gateway there; starts one of its own"
    )
    parser.add_argument(
        "--show",
        action="store_true",
        help="print what was changed in every request when the client has ended",
    )
    parser.add_argument(
        "--no-check",
        action="store_true",
        help="do not send a small request to the model before the client starts",
    )
    parser.usage = "toolglot run CLIENT [OPTION ...] [-- ARGUMENT ...]"
    _split_arguments(parser)


def _split_arguments(parser: argparse.ArgumentParser) -> None:
    """Leave what follows `--` alone: it is the client's."""
    parse = parser.parse_known_args

    def split(args: Sequence[str], namespace: Any) -> tuple[argparse.Namespace, list[str]]:
        end = args.index("--") if "--" in args else len(args)
        known, unknown = parse(args[:end], namespace)
        if unknown:
            parser.error(f"{' '.join(unknown)}: put arguments of the client after --")
        known.arguments = list(args[end + 1 :])
        return known, unknown

    parser.parse_known_args = split  # type: ignore[method-assign, assignment]


def run(args: argparse.Namespace) -> int:
    """Run the client and return its exit code."""
    if args.list:
        return _list_clients()
    if args.client is None:
        args.refuse(f"name a client: {', '.join(CLIENTS)}")
    client, protocol = chosen(args)
    program = shutil.which(client.command)
    if program is None:
        _say(f"{client.title} is not installed: {client.install}")
        return _NOT_FOUND
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="toolglot-")))
        gateway, key = stack.enter_context(_gateway(args, folder)), key_of(args)
        model = args.model or _model_for(client, gateway.url, key)
        if not args.no_check and _is_unusable(client, gateway, key, model):
            return 1
        filled = launch(
            client,
            protocol,
            url=gateway.url,
            key=key,
            model=model,
            folder=str(folder),
            catalogue=model and _catalogue(client, program, model, folder, gateway.url, key=key),
        )
        for name, file in filled.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(written(file, Path.home()))
        command = (program, *filled.arguments, *args.arguments)
        code = run_to_end(command, {**os.environ, **filled.environment})
        if args.show:
            _show_receipts(gateway.url, key)
        return code


def _catalogue(
    client: AgentClient, program: str, model: str, folder: Path, url: str, *, key: str
) -> str | None:
    """The file that tells the client about a model that it does not know, if it can be told."""
    if client.catalogue is None:
        return None
    content = catalogue_with(client.catalogue, program, model, ping.model_facts(url, key, model))
    if content is None:
        return None
    file = folder / client.catalogue.file
    file.write_bytes(content)
    return str(file)


def _list_clients() -> int:
    rows = [("name", "client", "protocols", "here")]
    for client in CLIENTS.values():
        here = shutil.which(client.command) or f"no: {client.install}"
        rows.append((client.name, client.title, ", ".join(client.setups), here))
    print_table(rows)
    return 0


class Gateway(Struct, frozen=True):
    """The gateway that a client uses."""

    url: str
    is_own: bool = False
    """Whether it was started for this client."""


@contextmanager
def _gateway(args: argparse.Namespace, folder: Path) -> Iterator[Gateway]:
    """The gateway that was named, or one that runs, or else one that is started here."""
    named = {"--config": args.config, "--record": args.record}
    options = [word for name, value in named.items() if value for word in (name, value)]
    if args.gateway:
        if options or args.log:
            args.refuse("--config, --record and --log are for a gateway that is started here")
        yield Gateway(args.gateway)
    elif not options and not args.log and ping.is_running(usual_gateway()):
        _say(f"using the gateway at {usual_gateway()}")
        yield Gateway(usual_gateway())
    else:
        log = Path(args.log) if args.log else None
        with own_gateway(folder, *options, log=log) as url:
            yield Gateway(url, is_own=True)


def _say(sentence: str) -> None:
    print(f"toolglot: {sentence}", file=sys.stderr)


def _model_for(client: AgentClient, url: str, key: str) -> str | None:
    """A model for a client that has none of its own: the first that the gateway lists."""
    if not client.needs_model:
        return None
    known = ping.models(url, key)
    if not known:
        raise ping.UnreachableError(
            f"{client.title} needs a model, and the gateway lists none: add --model"
        )
    _say(f"no --model given, so {client.title} asks for {known[0]}")
    return known[0]


def _is_unusable(client: AgentClient, gateway: Gateway, key: str, model: str | None) -> bool:
    """Whether the gateway or its provider rejects this client; the reason is printed.

    Without a model, one that the client would ask for is tried. It may not exist, which is no
    error then; that the key is rejected is one.
    """
    known = ping.models(gateway.url, key)
    found = ping.check_model(gateway.url, key, model or client.usual_model)
    if not found.error:
        _say_demo(found.provider, gateway, model)
        return False
    if model is None and not found.rejected:
        return False
    listed = [name for name in known if not name.startswith(f"{DEMO}/")]
    names = f" (the gateway knows {', '.join(listed[:5])})" if found.lasting and listed else ""
    _say(f"a first request to {model or client.usual_model} fails: {found.error}{names}")
    if not found.lasting:
        _say(f"starting {client.title} all the same; it asks again by itself")
    return found.lasting


def _say_demo(provider: str, gateway: Gateway, model: str | None) -> None:
    """Say that no real model answers, unless that was asked for."""
    if provider != DEMO or (model or "").startswith(DEMO):
        return
    if gateway.is_own:
        what = "no provider has a key here, so the built-in demo model answers; set OPENAI_API_KEY"
        _say(f"{what}, ANTHROPIC_API_KEY, GEMINI_API_KEY or give --config for a real one")
    else:
        what = f"the gateway at {gateway.url} has no key of a provider, so its demo model answers"
        _say(f"{what}; stop it and run this again to use the keys of this shell")


def _show_receipts(url: str, key: str) -> None:
    """Print what was changed, request by request."""
    for number, receipt in enumerate(ping.receipts(url, key), 1):
        head = f"{number}. {receipt['client']} {receipt['model']} → {receipt['provider']}"
        _say(f"{head} ({receipt['protocol']}), {plural(len(receipt['notes']), 'note')}")
        for note in receipt["notes"]:
            where = f" at {note['path']}" if note.get("path") else ""
            print(
                f"    {note['severity']}: {note['code']}{where}: {note['message']}", file=sys.stderr
            )


# --- the client's process -------------------------------------------------------------------------


def run_to_end(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run a program to its end, forward the signals meant for it, and return its exit code."""
    process: subprocess.Popen[bytes] | None = None

    def forward(number: int, _frame: FrameType | None) -> None:
        # Keys typed at a terminal reach the client by themselves.
        if process is not None and not (number == signal.SIGINT and sys.stdin.isatty()):
            process.send_signal(number)

    with _handling(forward):
        process = subprocess.Popen(command, env=environment)  # noqa: S603 - what the user asked for
        code = process.wait()
    return _BY_SIGNAL - code if code < 0 else code


@contextmanager
def _handling(handler: Any) -> Iterator[None]:
    numbers = [getattr(signal, name) for name in _PASSED_ON if hasattr(signal, name)]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
