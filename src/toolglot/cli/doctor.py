"""`toolglot doctor`: whether the gateway can work here, what is weak, and what to do about it."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, to_builtins

from toolglot.cli.common import PROTOCOL_WIDTH, Commands, add_command, hanging, plural
from toolglot.cli.shadowing import find_shadowing
from toolglot.errors import MissingExtraError, ToolglotError
from toolglot.ir import Json
from toolglot.wire import jsontext

if TYPE_CHECKING:
    from toolglot.gateway.access.virtual_keys import VirtualKey
    from toolglot.gateway.checks.provider_check import ProviderReport
    from toolglot.gateway.checks.security_check import SecurityFinding
    from toolglot.gateway.config import Config

_EXAMPLES: Final = (
    "toolglot doctor",
    "toolglot doctor --provider work --model gpt-5.4",
    "toolglot doctor --config toolglot.toml --json",
    "toolglot doctor --security",
    "toolglot doctor --report > report.md",
)
_INDENT: Final = 15
_REASONS: Final = PROTOCOL_WIDTH + 18
"""The column of the reason, behind protocol, form and verdict."""
_ANY: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked for, not listened on
"""Addresses that mean every one of a machine, and one at which it can be asked."""
_SHOWN: Final = 4
"""Models of a list that are named."""
_ADD: Final = (
    "No provider is set up. Put a key into the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, "
    "GEMINI_API_KEY, ...), or describe one in toolglot.toml: `toolglot discover URL --write "
    "toolglot.toml` does that for you. `toolglot local-model` serves a small model here."
)


class _Part(Struct, frozen=True):
    """One thing that was checked: its state, and what is wrong with it."""

    words: str
    problem: str = ""

    def __str__(self) -> str:
        return self.problem or self.words


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "check what is installed, the configuration, and every provider with a real tool call"
    parser = add_command(commands, "doctor", run, summary, *_EXAMPLES)
    parser.add_argument("--provider", metavar="NAME", help="check this one only; demo is built in")
    parser.add_argument("--model", help="model to ask; chosen from the provider's list if left out")
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="the configuration; the one that `toolglot serve` would use if left out",
    )
    parser.add_argument(
        "--security",
        action="store_true",
        help="say what is weak in the configuration, and in the gateway if it runs",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="write what works with which provider as Markdown for others, without any secret",
    )
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(args: argparse.Namespace) -> int:
    """Check everything; 1 if something does not work, or is weak."""
    if args.security:
        return _security(args)
    from toolglot.cli.installed import clients, packages  # noqa: PLC0415 - others need it not

    report: Json = {"versions": packages(), "clients": clients(), "settings": _settings()}
    _show(args, _installed(report))
    try:
        from toolglot.gateway.checks import provider_check  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError("gateway", error.name or "httptools") from None

    path, config, state = _configured(args.config)
    database = _database(config)
    keys = {
        name: list(provider_check.configured_keys(provider))
        for name, provider in (config.providers if config else {}).items()
    }
    report |= {
        "config": {"path": path and str(path), **to_builtins(state)},
        "keys": to_builtins(keys),
        "database": to_builtins(database),
        "providers": [],
    }
    _show(args, _surroundings(report, state, database))
    works = not (state.problem or database.problem)
    checked = []
    if config is not None:
        for found in _checked(args, config):
            works = works and found.works
            checked.append(found)
            report["providers"].append({**to_builtins(found), "works": found.works})
            _show(args, ("", *_provider(found)))
        if not config.providers:
            _show(args, ("", hanging("what next", _ADD, _INDENT)))
    report["works"] = works
    if args.report:
        _print_report(config, state, checked, report)
    elif args.json:
        print(jsontext.pretty(report).decode())
    else:
        print("\nEverything works." if works else "\nNot everything works.")
    return int(not works)


def _show(args: argparse.Namespace, lines: "Iterator[str] | tuple[str, ...]") -> None:
    if not (args.json or args.report):
        print("\n".join(lines), flush=True)


def _print_report(
    config: "Config | None", state: _Part, checked: "list[ProviderReport]", report: Json
) -> None:
    from toolglot.cli.doctor_report import report_lines  # noqa: PLC0415 - few ask for it

    if config is None:
        raise ToolglotError(state.problem)
    print("\n".join(report_lines(config, checked, report["versions"], report["clients"])))


def _settings() -> list[str]:
    """What other routers left on this machine."""
    return [str(each) for each in find_shadowing(os.environ, Path.home(), Path.cwd())]


def _security(args: argparse.Namespace) -> int:
    """What is weak; 1 if anything is."""
    try:
        from toolglot.gateway.checks import security_check as checks  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError("gateway", error.name or "httptools") from None
    path, config, state = _configured(args.config)
    if config is None:
        raise ToolglotError(state.problem)
    database = _database_path(config)
    setup = checks.Setup(
        config=config,
        path=path,
        database=database,
        keys=_valid_keys(database) if config.server.keys else (),
        user=checks.this_user(),
    )
    found = checks.find_weaknesses(setup)
    running = _probed(config)
    found += running or ()
    if args.json:
        report = {"running": running is not None, "findings": to_builtins(found)}
        print(jsontext.pretty(report).decode())
        return int(bool(found))
    print(state.words)
    for each in found:
        print(hanging(each.severity, f"{each.place}: {each.problem}.", _INDENT))
        print(hanging("", f"What to do: {each.advice}.", _INDENT))
    if running is None:
        print("No gateway answers at that address now, so only the configuration was looked at.")
    print(
        f"{plural(len(found), 'weakness', 'weaknesses')}." if found else "Nothing weak was found."
    )
    return int(bool(found))


def _probed(config: "Config") -> "list[SecurityFinding] | None":
    """What the gateway gives to a stranger, if it runs."""
    import asyncio  # noqa: PLC0415 - other commands do not pay for it

    from toolglot.gateway.checks.security_check import UNANSWERED, probe  # noqa: PLC0415

    server = config.server
    host = _ANY.get(server.host, server.host)
    host = f"[{host}]" if ":" in host else host
    scheme = "https" if server.tls else "http"
    try:
        return asyncio.run(probe(f"{scheme}://{host}:{server.port}"))
    except UNANSWERED:
        return None


def _valid_keys(path: Path) -> "tuple[VirtualKey, ...]":
    import time  # noqa: PLC0415

    from toolglot.gateway.storage.database import database  # noqa: PLC0415
    from toolglot.gateway.storage.sqlite_keys import list_keys  # noqa: PLC0415

    if not path.exists():
        return ()
    with database(path, create=False) as db:
        return tuple(key for key in list_keys(db) if key.is_valid(time.time()))


def _database_path(config: "Config") -> Path:
    from toolglot.gateway.storage.database import default_path  # noqa: PLC0415

    return Path(config.server.database) if config.server.database else default_path()


# --- checking -------------------------------------------------------------------------------------


def _configured(given: str | None) -> "tuple[Path | None, Config | None, _Part]":
    """The configuration, if it is valid, and a line about it."""
    from toolglot.gateway.config import (  # noqa: PLC0415
        FILE,
        ConfigError,
        check_loops,
        load_config,
    )
    from toolglot.gateway.http.server import check_exposure  # noqa: PLC0415

    path = Path(given) if given else Path(FILE)
    if not given and not path.is_file():
        return _from_environment()
    try:
        config = load_config(path)
        check_exposure(config)
        check_loops(config)
    except ConfigError as error:
        return path, None, _Part("", str(error))
    except OSError as error:
        return path, None, _Part("", f"{path}: {error.strerror}")
    counts = ", ".join(
        (plural(len(config.providers), "provider"), plural(len(config.routes), "route"))
    )
    return path, config, _Part(f"{path} is valid: {counts}")


def _from_environment() -> "tuple[None, Config | None, _Part]":
    """The same without a file."""
    from toolglot.gateway.config import FILE, ConfigError, load_config, without_loops  # noqa: PLC0415

    try:
        config, warnings = without_loops(load_config(None))
    except ConfigError as error:
        return None, None, _Part("", str(error))
    names = ", ".join(config.providers) or "none"
    words = f"no {FILE} here; keys in the environment are for: {names}"
    return None, config, _Part("; ".join((words, *warnings)))


def _database(config: "Config | None") -> _Part:
    """Where keys and usage are, and whether that can be opened."""
    from toolglot.gateway.storage.database import database  # noqa: PLC0415

    if config is None:
        return _Part("not checked, because the configuration is not valid")
    server = config.server
    if not (server.keys or server.database):
        return _Part("none; the gateway asks for no keys and records no usage")
    path = _database_path(config)
    if not path.exists():
        return _Part(f"{path} will be created when the gateway starts")
    try:
        with database(path, create=False) as db:
            (keys,) = db.execute("SELECT count(*) FROM keys WHERE revoked IS NULL").fetchone()
            (rows,) = db.execute("SELECT count(*) FROM ledger").fetchone()
    except ToolglotError as error:
        return _Part("", str(error))
    except OSError as error:
        return _Part("", f"{path}: {error.strerror}")
    return _Part(f"{path}: {plural(keys, 'key')}, {plural(rows, 'request')}")


def _checked(args: argparse.Namespace, config: "Config") -> "Iterator[ProviderReport]":
    """The providers, one after the other."""
    import asyncio  # noqa: PLC0415 - other commands do not pay for it

    from toolglot.gateway.checks.provider_check import check_provider  # noqa: PLC0415 - an extra
    from toolglot.gateway.config import DEMO  # noqa: PLC0415

    names = (args.provider,) if args.provider else tuple(config.providers) or (DEMO,)
    for name in names:
        if name != DEMO and name not in config.providers:
            known = ", ".join((*config.providers, DEMO))
            raise ToolglotError(f"no provider {name!r}; known: {known}")
        progress = _say if sys.stderr.isatty() else _nothing
        yield asyncio.run(check_provider(config, name, model=args.model, progress=progress))


def _say(what: str) -> None:
    print(f"  asking {what}", file=sys.stderr, flush=True)


def _nothing(_what: str) -> None:
    pass


# --- printing -------------------------------------------------------------------------------------


def _installed(report: Json) -> Iterator[str]:
    versions = (f"{name} {known or 'missing'}" for name, known in report["versions"].items())
    yield hanging("versions", ", ".join(versions), _INDENT)
    there = [f"{name} {known}" for name, known in report["clients"].items() if known]
    absent = [name for name, known in report["clients"].items() if not known]
    missing = f"not installed: {', '.join(absent)}" if absent else ""
    yield hanging("clients", "; ".join(filter(None, (", ".join(there), missing))), _INDENT)
    for number, words in enumerate(report["settings"]):
        yield hanging("" if number else "settings", words, _INDENT)


def _surroundings(report: Json, state: _Part, database: _Part) -> Iterator[str]:
    yield hanging("configuration", str(state), _INDENT)
    keys = [
        f"{name}: {key['source']} {key['problem'] or key['masked']}".rstrip()
        for name, seen in report["keys"].items()
        for key in seen
    ]
    yield hanging("keys", "; ".join(keys) or "none", _INDENT)
    yield hanging("database", str(database), _INDENT)


def _provider(found: "ProviderReport") -> Iterator[str]:
    """A provider: whether it is there, its models, and a line for each form of each protocol."""
    there = "reached" if found.reached else "cannot be used"
    head = f"{found.url}: {there}" if found.url else there
    yield hanging(found.name, f"{head}; {found.reason}" if found.reason else head, _INDENT)
    if found.models:
        yield hanging("", _listed(found.models), _INDENT)
    if found.model:
        yield hanging("", f"asked for {found.model}", _INDENT)
    for each in found.outcomes:
        form = "stream" if each.stream else "whole"
        verdict = "works" if each.works else "fails"
        words = each.reason or f"{plural(each.requests, 'request')} in {each.ms} ms"
        yield hanging(f"  {each.protocol:<{PROTOCOL_WIDTH}} {form:<7}{verdict}", words, _REASONS)


def _listed(models: tuple[str, ...]) -> str:
    more = f" and {len(models) - _SHOWN} more" if len(models) > _SHOWN else ""
    return f"models: {', '.join(models[:_SHOWN])}{more}"
