"""`toolglot env`: what to set so that a client talks to a gateway."""

import argparse
import os
import shlex
from collections.abc import Callable
from typing import Final

from toolglot.cli.clients import CLIENTS, KEY_VARIABLE, AgentClient, Launch, launch
from toolglot.cli.common import Commands, add_command, add_protocol

GATEWAY_VARIABLE: Final = "TOOLGLOT_GATEWAY"
"""The environment variable with the address where a gateway usually runs."""
_USUAL_GATEWAY: Final = "http://127.0.0.1:8100"
_NO_KEY: Final = "toolglot"
"""What clients send where the gateway wants no key; most do not start without one."""

_EXAMPLES: Final = (
    'eval "$(toolglot env claude --model gpt-5.5)"',
    "toolglot env codex --gateway http://127.0.0.1:8100 --shell fish | source",
)


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "print what to set so that a client talks to a gateway"
    parser = add_command(commands, "env", run, summary, *_EXAMPLES)
    add_client(parser)
    parser.add_argument(
        "--shell", choices=tuple(_SHELLS), default="posix", help="the shell that reads the output"
    )


def add_client(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """The client, and how it is set up."""
    parser.add_argument(
        "client", choices=tuple(CLIENTS), nargs="?" if optional else None, help="the client"
    )
    parser.add_argument(
        "--gateway",
        metavar="URL",
        help=f"address of the gateway; {GATEWAY_VARIABLE}, or this machine, if left out",
    )
    parser.add_argument("--model", help="model to ask for; the client's own if left out")
    add_protocol(
        parser, "--protocol", "protocol to speak, for clients that know several", required=False
    )
    parser.add_argument(
        "--key", help=f"key that the gateway asks for, or {KEY_VARIABLE}; any if it asks for none"
    )


def chosen(args: argparse.Namespace) -> tuple[AgentClient, str]:
    """The client and the protocol that were asked for."""
    client = CLIENTS[args.client]
    protocol = args.protocol or next(iter(client.setups))
    if protocol not in client.setups:
        args.refuse(f"{client.title} speaks {', '.join(client.setups)}, not {protocol}")
    return client, protocol


def key_of(args: argparse.Namespace) -> str:
    """The key that the gateway is to see."""
    return args.key or os.environ.get(KEY_VARIABLE) or _NO_KEY


def usual_gateway() -> str:
    """The address where a gateway runs, if one does."""
    return os.environ.get(GATEWAY_VARIABLE) or _USUAL_GATEWAY


def run(args: argparse.Namespace) -> int:
    """Print the lines."""
    client, protocol = chosen(args)
    if client.needs_model and not args.model:
        args.refuse(f"{client.title} needs a model: add --model")
    url, key = args.gateway or usual_gateway(), key_of(args)
    filled = launch(client, protocol, url=url, key=key, model=args.model, folder=None)
    if url.rstrip("/") not in f"{filled.environment}{filled.arguments}":
        args.refuse(f"{client.title} is set up by a file: use `toolglot run {client.name}`")
    if client.hint:
        print(f"# {client.hint}")
    for line in _SHELLS[args.shell](client.command, filled):
        print(line)
    return 0


# --- shells ---------------------------------------------------------------------------------------


def _posix(name: str, filled: Launch) -> list[str]:
    lines = [f"export {key}={shlex.quote(value)}" for key, value in filled.environment.items()]
    if filled.arguments:
        lines.append(f"alias {name}={shlex.quote(shlex.join((name, *filled.arguments)))}")
    return lines


def _fish(name: str, filled: Launch) -> list[str]:
    lines = [f"set -gx {key} {_in_fish(value)}" for key, value in filled.environment.items()]
    if filled.arguments:
        words = " ".join(_in_fish(each) for each in filled.arguments)
        lines.append(f"function {name}; command {name} {words} $argv; end")
    return lines


def _in_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _powershell(name: str, filled: Launch) -> list[str]:
    lines = [f"$env:{key} = {_in_powershell(value)}" for key, value in filled.environment.items()]
    if filled.arguments:
        words = " ".join(_in_powershell(each) for each in filled.arguments)
        program = f"(Get-Command {name} -CommandType Application)[0]"
        lines.append(f"function {name} {{ & {program} {words} @args }}")
    return lines


def _in_powershell(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_SHELLS: Final[dict[str, Callable[[str, Launch], list[str]]]] = {
    "posix": _posix,
    "fish": _fish,
    "powershell": _powershell,
}
