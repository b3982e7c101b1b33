"""`toolglot capabilities`: what providers support, with the source of each fact."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import to_builtins

from toolglot.cli.common import Commands, add_command, hanging, print_table
from toolglot.profiles import Facts, Profile, UnknownProviderError, get_profile, profiles
from toolglot.registry import get_protocol
from toolglot.wire import jsontext

_YES: Final = {True: "yes", False: "no", None: "?"}
_COLUMNS: Final = (
    "provider",
    "protocols",
    "calls",
    "many",
    "strict",
    "stream",
    "tools",
    "reasoning",
)
_INDENT: Final = 16


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "capabilities",
        run,
        "show what providers support, with the source of each fact",
        "toolglot capabilities",
        "toolglot capabilities deepseek",
        "toolglot capabilities --json",
    )
    parser.add_argument(
        "provider", nargs="?", help="show one provider in detail; default: a table of all"
    )
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(args: argparse.Namespace) -> int:
    """Print all providers, or one."""
    known = (_chosen(args),) if args.provider else profiles()
    if args.json:
        value = [to_builtins(profile) for profile in known]
        print(jsontext.pretty(value[0] if args.provider else value).decode())
    elif args.provider:
        _print_one(known[0])
    else:
        _print_all(known)
    return 0


def _chosen(args: argparse.Namespace) -> Profile:
    try:
        return get_profile(args.provider)
    except UnknownProviderError as error:
        args.refuse(f"{error}; known: {', '.join(profile.name for profile in profiles())}")
        raise


def _print_all(known: Iterable[Profile]) -> None:
    print_table([_COLUMNS, *(_row(profile) for profile in known)])
    print()
    print(hanging("?", "unknown, which does not mean no", 8))
    print(hanging("many", "several calls in one answer", 8))
    print(hanging("tools", "most tools in one request", 8))


def _row(profile: Profile) -> Sequence[str]:
    tools = profile.tools
    return (
        profile.name,
        ", ".join(get_protocol(name).API.short_name or name for name in profile.protocols),
        tools.format,
        _YES[tools.parallel],
        _YES[tools.strict],
        tools.streaming or "?",
        str(tools.max_tools or "?"),
        profile.reasoning.field if profile.reasoning else "?",
    )


def _print_one(profile: Profile) -> None:
    print(f"{profile.name}: {profile.title}")
    for head, text, facts in _details(profile):
        print()
        print(hanging(head, text, _INDENT))
        print(hanging("", f"read {facts.date}: {facts.source}", _INDENT))
    for note in profile.notes:
        print()
        print(hanging("note", note, _INDENT))


def _details(profile: Profile) -> Iterator[tuple[str, str, Facts]]:
    for endpoint in profile.endpoints:
        address = endpoint.base_url + (endpoint.path or "")
        yield "endpoint", f"{endpoint.protocol} at {address}", endpoint
    yield "key", _key(profile), profile.auth
    yield "tools", _facts(profile.tools), profile.tools
    if profile.reasoning:
        yield "reasoning", _facts(profile.reasoning), profile.reasoning
    for quirk in profile.quirks:
        yield "quirk", f"{quirk.word}: {quirk.text}", quirk


def _key(profile: Profile) -> str:
    auth = profile.auth
    parts = [f"header {auth.header}: {auth.prefix}KEY"]
    if auth.env:
        parts.append(f"from {' or '.join(auth.env)}")
    if not auth.required:
        parts.append("only if the server asks for one")
    parts += [f"with {name}: {value}" for name, value in auth.headers.items()]
    if auth.optional_headers:
        parts.append(f"optional: {', '.join(auth.optional_headers)}")
    return ", ".join(parts)


def _facts(facts: Facts) -> str:
    """The known facts of a group, without their source."""
    known: dict[str, Any] = to_builtins(facts)
    return ", ".join(
        f"{name} {_format(value)}"
        for name, value in known.items()
        if name not in ("source", "date")
    )


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return _YES[value]
    return " ".join(value) if isinstance(value, list | tuple) else str(value)
