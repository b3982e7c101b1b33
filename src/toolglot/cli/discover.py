"""`toolglot discover`: find out what an unknown server supports."""

import argparse
import os
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Final

from msgspec import to_builtins

from toolglot.cli.common import Commands, add_command, hanging
from toolglot.discovery import (
    DiscoveryResult,
    Probe,
    ProbeFinding,
    ProbeResponse,
    add_provider,
    name_for,
    read_sample,
    to_toml,
)
from toolglot.discovery.probe_findings import SUBJECTS
from toolglot.errors import MissingExtraError, ToolglotError
from toolglot.wire import jsontext

_EXAMPLES: Final = (
    "toolglot discover http://localhost:8080",
    "toolglot discover https://llm.example.com/v1 --key env:WORK_KEY --model small",
    "toolglot discover http://localhost:8080 --name mine --write toolglot.toml",
    "toolglot discover --sample answer.json",
)
_INDENT: Final = 30
_FORMS: Final = ("env", "file")


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "find out which protocols a server speaks and how it calls tools"
    parser = add_command(commands, "discover", run, summary, *_EXAMPLES)
    parser.add_argument("url", nargs="?", help="URL of the server, with or without a path")
    parser.add_argument(
        "--key", metavar="FORM", help="where to read the key: env:NAME or file:PATH"
    )
    parser.add_argument("--model", help="model to use; default: one that the server lists")
    parser.add_argument(
        "--sample",
        metavar="FILE",
        help="read a recorded response (a body, a stream or plain text) and send nothing; - reads "
        "standard input",
    )
    parser.add_argument(
        "--write", metavar="FILE", help="add the provider to this configuration file"
    )
    parser.add_argument("--name", help="name of the provider in that file; default: from the URL")
    parser.add_argument(
        "--replace", action="store_true", help="replace an existing provider of that name"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=20.0,
        metavar="SECONDS",
        help="how long to wait for each response; default: 20",
    )
    parser.add_argument(
        "--proxy", action="store_true", help="use the proxies set in the environment"
    )
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(args: argparse.Namespace) -> int:
    """Probe a server or read a sample, and print what was found."""
    if (args.url is None) == (args.sample is None):
        args.refuse("give the URL of a server, or --sample FILE")
    if args.sample and (args.write or args.key or args.model):
        args.refuse("--write, --key and --model cannot be combined with --sample")
    result = _from_sample(args.sample) if args.sample else _from_server(args)
    problem = _problem(result, args)
    if args.write and not problem:
        _write(args, result)
    if args.json:
        print(jsontext.pretty(to_builtins(result)).decode())
    elif result.findings:
        _print_result(result)
    if problem:
        print(f"toolglot: {problem}", file=sys.stderr)
    return 1 if problem else 0


def _from_sample(file: str) -> DiscoveryResult:
    return read_sample(sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes())


def _from_server(args: argparse.Namespace) -> DiscoveryResult:
    import asyncio  # noqa: PLC0415 - other commands do not pay for it

    try:
        from toolglot.gateway.checks.discovery_client import probe_server  # noqa: PLC0415 - it needs an extra
    except ImportError:
        raise MissingExtraError("gateway", "httptools") from None
    asking = probe_server(
        args.url,
        key=_secret(args),
        model=args.model,
        timeout=args.timeout,
        environment_proxies=args.proxy,
        progress=_show if sys.stderr.isatty() else None,
    )
    return asyncio.run(asking)


def _secret(args: argparse.Namespace) -> str | None:
    """The key that `--key` points to."""
    if args.key is None:
        return None
    form, _, name = args.key.partition(":")
    if form not in _FORMS or not name:
        args.refuse("--key takes env:NAME or file:PATH; other users can see the command line")
    if form == "file":
        return Path(name).expanduser().read_text(encoding="utf-8").strip()
    if not os.environ.get(name):
        raise ToolglotError(f"the environment variable {name} is not set")
    return os.environ[name].strip()


def _show(probe: Probe, answer: ProbeResponse) -> None:
    how = answer.failure or f"{answer.status} in {answer.ms} ms"
    print(f"  {probe.name:<13} {probe.method} {probe.url}: {how}", file=sys.stderr)


# --- showing --------------------------------------------------------------------------------------


def _print_result(result: DiscoveryResult) -> None:
    width = max(shutil.get_terminal_size().columns - _INDENT, 20)
    for head, text in _summary(result):
        pieces = textwrap.wrap(text, width)
        print("\n".join(f"{first:<{_INDENT}}{piece}" for first, piece in _headed(head, pieces)))
    print()
    for subject, words in SUBJECTS:
        for each in result.findings:
            if each.subject == subject:
                print(f"{words.ljust(_INDENT)}{each.value}")
                print(" " * _INDENT + _cut(_basis(each), width))
    for quirk in result.tooling.quirks:
        print(hanging("quirk", quirk, _INDENT))
    known = {each.subject for each in result.findings}
    unknown = [words for subject, words in SUBJECTS if subject not in (*known, *_RARE)]
    if unknown:
        print(hanging("unknown", ", ".join(unknown), _INDENT))


def _headed(head: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    return zip_longest((head,), lines, fillvalue="")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


_RARE: Final = ("path", "key", "dialect")
"""Subjects that usually have no finding, so that they are not listed as unknown."""


def _basis(finding: ProbeFinding) -> str:
    evidence = finding.evidence
    return f"[{evidence.probe} {evidence.status}] {evidence.excerpt}"


def _summary(result: DiscoveryResult) -> Iterator[tuple[str, str]]:
    tooling = result.tooling
    yield "format of calls", tooling.format
    if tooling.example:
        yield "example", tooling.example
    yield "parser", tooling.parser or "none"
    yield "schema style", tooling.schema_style
    if result.sdk:
        yield "client library", f"{result.sdk.name}, base URL {result.sdk.base_url}"


# --- what to do -----------------------------------------------------------------------------------


def _problem(result: DiscoveryResult, args: argparse.Namespace) -> str:
    """Why nothing was found, and what to do about it; empty if something was found."""
    if result.protocol or (args.sample and result.findings):
        return ""
    if args.sample:
        return f"{args.sample}: no protocol and no tool call was recognised in it"
    if result.locked and args.key:
        return f"{args.url}: the key in {args.key} was not accepted ({_sent_as()})"
    if result.locked:
        return f"{args.url}: the server requires a key; give --key env:NAME or --key file:PATH"
    if result.get("model") is not None:
        return f"{args.url}: the server does not have this model; choose one with --model"
    tried = "; ".join(
        f"{each.method} {each.url}: {each.failure or each.status}" for each in result.asked
    )
    return f"{args.url}: no LLM server was recognised. Tried {tried}"


def _sent_as() -> str:
    return "sent as Authorization, x-api-key, x-goog-api-key and api-key"


def _write(args: argparse.Namespace, result: DiscoveryResult) -> None:
    path = Path(args.write)
    name = args.name or name_for(args.url)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        merged = add_provider(text, name, to_toml(result, name, key=args.key), replace=args.replace)
    except ToolglotError as error:
        raise ToolglotError(f"{path}: {error}") from None
    _write_atomically(path, merged)
    print(f"{path}: added provider {name}; its models are {name}/MODEL", file=sys.stderr)


def _write_atomically(path: Path, text: str) -> None:
    """Write a file so that readers see either the old text or the new one."""
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="", dir=target.parent, prefix=target.name, delete=False
    ) as file:
        file.write(text)
    try:
        Path(file.name).chmod(mode)
        Path(file.name).replace(target)
    except OSError:
        Path(file.name).unlink(missing_ok=True)
        raise
