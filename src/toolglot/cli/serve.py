"""`toolglot serve`: the gateway."""

import argparse
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from toolglot.cli.clients import CLIENTS, KEY_VARIABLE, AgentClient
from toolglot.cli.common import DEMO, Commands, add_command
from toolglot.cli.env import usual_gateway
from toolglot.errors import MissingExtraError

if TYPE_CHECKING:
    from toolglot.gateway.config import Config
    from toolglot.gateway.http.server import Application

_LAST_PORT: Final = 65535
_EXAMPLES: Final = (
    "toolglot serve",
    "toolglot serve --config toolglot.toml --port 8100",
    "toolglot serve --host 0.0.0.0 --keys --workers 4",
)


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "run the gateway: every protocol in, every provider out"
    parser = add_command(commands, "serve", run, summary, *_EXAMPLES)
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="the configuration; toolglot.toml in this directory if it is there, else the "
        "providers whose keys are in the environment, else the built-in demo model",
    )
    parser.add_argument("--host", help="address to listen on; 127.0.0.1 if left out")
    parser.add_argument("--port", type=_port, help="port to listen on; 8100 if left out, 0 for any")
    parser.add_argument(
        "--port-file", metavar="FILE", help="write the port there once the gateway answers"
    )
    parser.add_argument(
        "--workers", type=_workers, metavar="N", help="processes that share the port"
    )
    parser.add_argument(
        "--keys", action="store_true", help="ask clients for keys of `toolglot keys create`"
    )
    parser.add_argument(
        "--open", action="store_true", help="listen beyond this machine without keys"
    )
    parser.add_argument("--database", metavar="FILE", help="file for keys, usage and state")
    parser.add_argument(
        "--record", metavar="DIR", help="write every exchange there, for `toolglot replay`"
    )
    parser.add_argument(
        "--inspect",
        action=argparse.BooleanOptionalAction,
        help="keep the latest exchanges in memory for the inspector at /toolglot/; if left out, "
        "only where no keys are asked for and nobody but this machine can ask",
    )
    parser.add_argument(
        "--log",
        choices=("debug", "info", "warning", "error"),
        help="lowest level to log; info if left out",
    )
    parser.add_argument(
        "--quiet",
        action="store_true",
        help="do not print how to connect clients, and do not try the addresses of providers",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to {_LAST_PORT}")
    return int(text)


def _workers(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Run until a signal comes."""
    try:
        from toolglot.gateway.app import App  # noqa: PLC0415
        from toolglot.gateway.config import left_out_targets, plain_secrets  # noqa: PLC0415
        from toolglot.gateway.http import server as gateway  # noqa: PLC0415 - an extra
        from toolglot.gateway.http.worker_processes import serve_many  # noqa: PLC0415
        from toolglot.gateway.telemetry.logs import set_up  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError("gateway", error.name or "httptools") from None
    path = _path(args)
    config, warnings = _without_loops(_configured(args, path), path)
    gateway.check_exposure(config)
    gateway.check_tls(config)
    set_up(config.server.log)
    for words in (*warnings, *left_out_targets(config)):
        gateway.say(f"warning: {words}")
    for place in plain_secrets(config):
        gateway.say(
            f"warning: {place} is written in {path} as plain text; use env:NAME or file:PATH"
        )
    server = config.server
    if server.workers > 1:
        # A port that is shared would be shared with another gateway, too.
        gateway.listen(server.host, server.port).close()
    sock = gateway.listen(server.host, server.port, shared=server.workers > 1)
    port = sock.getsockname()[1]

    def ready() -> None:
        if args.port_file:
            gateway.write_port(args.port_file, port)
        url = f"{'https' if server.tls else 'http'}://{server.host}:{port}"
        gateway.say(f"toolglot listens on {url}")
        if not args.quiet:
            gateway.say(welcome(url, config))
            gateway.in_background(_say_addresses(config, gateway.say))

    def app() -> "Application":
        return App(config, path)

    with sock:
        if server.workers > 1:
            serve_many(app, sock, ready, server.workers)
        else:
            gateway.serve(app, sock, ready)
    return 0


def _without_loops(config: "Config", path: Path | None) -> "tuple[Config, tuple[str, ...]]":
    from toolglot.gateway.config import check_loops, without_loops  # noqa: PLC0415 - an extra

    if path is None:
        return without_loops(config)
    check_loops(config)
    return config, ()


async def _say_addresses(config: "Config", say: Callable[[str], None]) -> None:
    """Say which addresses lead nowhere, while the gateway already answers."""
    from toolglot.gateway.checks.address_check import address_warnings  # noqa: PLC0415 - an extra

    async for words in address_warnings(config):
        say(f"warning: {words}")


def _path(args: argparse.Namespace) -> Path | None:
    from toolglot.gateway.config import FILE  # noqa: PLC0415 - an extra

    if args.config:
        return Path(args.config)
    return Path(FILE) if Path(FILE).is_file() else None


def _configured(args: argparse.Namespace, path: Path | None) -> "Config":
    from toolglot.gateway.config import load_config  # noqa: PLC0415 - an extra

    config = load_config(path)
    given = {
        name: value
        for name in ("host", "port", "workers", "database", "keys", "open", "record", "log")
        if (value := getattr(args, name)) is not None and value is not False
    }
    if args.inspect is not None:
        given["inspector"] = replace(config.server.inspector, enabled=args.inspect)
    return replace(config, server=replace(config.server, **given))


def welcome(url: str, config: "Config") -> str:
    """The providers, and how to connect clients: lines to paste."""
    providers = ", ".join(config.providers)
    who = f"providers: {providers}" if providers else _NO_PROVIDER
    command, key = _command(), "toolglot"
    if config.server.keys:
        who += f"\nclients need a key: export {KEY_VARIABLE}=$({command} keys create NAME)"
        key = f"${KEY_VARIABLE}"
    there = "" if url == usual_gateway() else f" --gateway {url}"
    model = f"{next(iter(config.providers))}/MODEL" if config.providers else DEMO
    lines = (
        *(
            (client.title, f"{command} run {client.name}{there} --model {model}")
            for client in _clients_here()
        ),
        ("curl", f"curl {url}/v1/chat/completions{_bearer(config)} -d '{_QUESTION}'"),
        ("OpenAI SDK", f"export OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY={key}"),
        ("Anthropic SDK", f"export ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY={key}"),
        ("Gemini SDK", f"export GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY={key}"),
        ("Ollama SDK", f"export OLLAMA_HOST={url}"),
        *_inspector(url, config),
    )
    return "\n".join((who, "", *(f"  {name:15}{line}" for name, line in lines), ""))


def _clients_here() -> list[AgentClient]:
    """The clients that are installed; if none is, the best known."""
    here = [client for client in CLIENTS.values() if shutil.which(client.command)]
    return here or list(CLIENTS.values())[:_SHOWN_CLIENTS]


def _inspector(url: str, config: "Config") -> Iterator[tuple[str, str]]:
    """Where to see what happens, if that is kept."""
    from toolglot.gateway.telemetry.captures import captures_for  # noqa: PLC0415 - an extra

    if captures_for(config.server) is not None:
        yield "inspector", f"{url}/toolglot/"


def _command() -> str:
    """How this program is called from another terminal, where it may not be on the path."""
    program = Path(sys.argv[0])
    if program.name != "toolglot" or shutil.which("toolglot") is not None:
        return "toolglot"
    return shlex.quote(str(program.absolute()))


def _bearer(config: "Config") -> str:
    return f' -H "Authorization: Bearer ${KEY_VARIABLE}"' if config.server.keys else ""


_SHOWN_CLIENTS: Final = 5

_QUESTION: Final = (
    '{"model":"demo","messages":[{"role":"user","content":"What is the weather in Rome?"}],'
    '"tools":[{"type":"function","function":{"name":"get_weather","parameters":'
    '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]}'
)
"""A first request, which is answered with a tool call."""

_NO_PROVIDER: Final = (
    "no provider has a key here (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...): the demo model answers"
)
