"""`toolglot capabilities`: what providers support, with the source of each fact."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import to_builtins

from toolglot.cli.common import Commands, add_command, hanging, print_table
from toolglot.profiles import Facts, Profile, UnknownProviderError, get_profile, profiles
from toolglot.providers import ProviderRule, load_book
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
        "toolglot capabilities openai --model gpt-5.4",
        "toolglot capabilities --json",
    )
    parser.add_argument(
        "provider", nargs="?", help="show one provider in detail; default: a table of all"
    )
    parser.add_argument(
        "--model", help="with a provider: only the rules that hold for this model of it"
    )
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(args: argparse.Namespace) -> int:
    """Print all providers, or one."""
    known = (_chosen(args),) if args.provider else profiles()
    if args.json:
        value = [{**to_builtins(each), "rules": _plain_rules(each, args.model)} for each in known]
        print(jsontext.pretty(value[0] if args.provider else value).decode())
    elif args.provider:
        _print_one(known[0], args.model)
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


def _rules(profile: Profile, model: str | None) -> Iterator[ProviderRule]:
    """The rules of a provider that translation uses, or those of them that hold for a model."""
    for rule in load_book(profile.name).all_rules():
        protocols = (rule.protocol,) if rule.protocol else profile.protocols
        if model is None or any(rule.holds_for(each, model) for each in protocols):
            yield rule


def _plain_rules(profile: Profile, model: str | None) -> list[Any]:
    return [
        {key: value for key, value in to_builtins(rule).items() if value or key == "sure"}
        for rule in _rules(profile, model)
    ]


def _rule(rule: ProviderRule) -> str:
    facts = [f"{key} = {_value(value)}" for key, value in rule.set.items()]
    facts += [f"{key} + {_value(value)}" for key, value in rule.add.items()]
    facts += [f"asked in {' or '.join(rule.speaks)}"] if rule.speaks else []
    where = [*([rule.protocol] if rule.protocol else []), *rule.models]
    text = f"{rule.id}: {'; '.join(facts)}" + (f" ({', '.join(where)})" if where else "")
    return text + (f": {rule.words}" if rule.words else "")


def _value(value: Any) -> str:
    return jsontext.text(value) if not isinstance(value, str) else value


def _print_one(profile: Profile, model: str | None) -> None:
    print(f"{profile.name}: {profile.title}")
    for head, text, facts in _details(profile):
        print()
        print(hanging(head, text, _INDENT))
        print(hanging("", f"read {facts.date}: {facts.source}", _INDENT))
    for rule in _rules(profile, model):
        print()
        print(hanging("rule", _rule(rule), _INDENT))
        read = f"read {rule.date}: {rule.source}" + ("" if rule.sure else " (not certain)")
        print(hanging("", read, _INDENT))
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
