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

from toolglot.cli import ping
from toolglot.cli.clients import AgentClient, launch, written
from toolglot.cli.common import Commands, add_command
from toolglot.cli.env import add_client, chosen, key_of, usual_gateway
from toolglot.cli.serving import own_gateway

_NOT_FOUND: Final = 127
"""The exit code of shells where there is no such program."""
_BY_SIGNAL: Final = 128
"""Shells add the number of the signal that ended a program."""
_PASSED_ON: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")

_EXAMPLES: Final = (
    "toolglot run claude --model gpt-5.5",
    "toolglot run codex --model claude-sonnet-5 -- exec 'Explain this repository.'",
    "toolglot run opencode --protocol anthropic --model gemini-3-pro --gateway http://gateway:8100",
)


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "run a client through a gateway, which is started for it if there is none"
    parser = add_command(commands, "run", run, summary, *_EXAMPLES)
    add_client(parser)
    parser.add_argument(
        "--config", metavar="FILE", help="configuration of the gateway that is started"
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
    client, protocol = chosen(args)
    program = shutil.which(client.name)
    if program is None:
        _say(f"{client.title} is not installed: {client.install}")
        return _NOT_FOUND
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="toolglot-")))
        url, key = stack.enter_context(_gateway(args, folder)), key_of(args)
        model = args.model or _model_for(client, url, key)
        if not args.no_check and _is_unusable(url, key, model):
            return 1
        filled = launch(client, protocol, url=url, key=key, model=model, folder=str(folder))
        for name, file in filled.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(written(file, Path.home()))
        command = (program, *filled.arguments, *args.arguments)
        return run_to_end(command, {**os.environ, **filled.environment})


@contextmanager
def _gateway(args: argparse.Namespace, folder: Path) -> Iterator[str]:
    """The gateway that was named, or one that runs, or else one that is started here."""
    if args.gateway:
        yield args.gateway
    elif not args.config and ping.is_running(usual_gateway()):
        _say(f"using the gateway at {usual_gateway()}")
        yield usual_gateway()
    else:
        with own_gateway(folder, *(("--config", args.config) if args.config else ())) as url:
            yield url


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


def _is_unusable(url: str, key: str, model: str | None) -> bool:
    """Whether the gateway or its provider rejects this client; the reason is printed."""
    known = ping.models(url, key)
    if model is None:
        return False
    found = ping.first_error(url, key, model)
    if found is None:
        return False
    words, lasting = found
    names = f" (the gateway knows {', '.join(known[:5])})" if lasting and known else ""
    _say(f"a first request to {model} fails: {words}{names}")
    return lasting


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
