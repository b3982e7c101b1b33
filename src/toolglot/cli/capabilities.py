"""`toolglot capabilities`: how providers are asked, and the rules that are used for them."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import to_builtins

from toolglot.cli.common import Commands, add_command, add_protocol, hanging, print_table
from toolglot.profiles import Facts, Profile, UnknownProviderError, get_profile, profiles
from toolglot.providers import UNKNOWN, ProviderRule, load_book, protocols_for
from toolglot.registry import get_protocol
from toolglot.wire import jsontext

_COLUMNS: Final = ("provider", "protocols", "key from", "rules")
_INDENT: Final = 16


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "capabilities",
        run,
        "show how providers are asked, and the rules for what they accept",
        "toolglot capabilities",
        "toolglot capabilities deepseek",
        "toolglot capabilities openai --model gpt-5.4",
        "toolglot capabilities --json",
    )
    parser.add_argument(
        "provider", nargs="?", help="show one provider in detail; default: a table of all"
    )
    parser.add_argument(
        "--model", help="with a provider: only the rules that are used for this model of it"
    )
    add_protocol(
        parser,
        "--protocol",
        "with a provider: only the rules that are used in this protocol",
        required=False,
    )
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(args: argparse.Namespace) -> int:
    """Print all providers, or one."""
    if (args.model or args.protocol) and not args.provider:
        args.refuse("--model and --protocol need the name of a provider")
    known = (_chosen(args),) if args.provider else profiles()
    if args.json:
        value = [_plain(each, args.model, args.protocol) for each in known]
        print(jsontext.pretty(value[0] if args.provider else value).decode())
    elif args.provider:
        _print_one(known[0], args.model, args.protocol)
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
    print(hanging("protocols", "the first is used for clients of other protocols", 12))
    print(hanging("rules", "`toolglot capabilities PROVIDER --model MODEL` shows them", 12))


def _row(profile: Profile) -> Sequence[str]:
    book = load_book(profile.name)
    rules = len(book.all_rules())
    return (
        profile.name,
        ", ".join(get_protocol(name).API.short_name or name for name in _spoken(profile, None)),
        " or ".join(profile.auth.env) or "-",
        f"{rules} of unknown servers" if book.provider == UNKNOWN else str(rules),
    )


def _spoken(profile: Profile, model: str | None) -> tuple[str, ...]:
    """The protocols in which a provider, or one of its models, is asked, the best first."""
    if model is None:
        best = load_book(profile.name).speaks
        return (*best, *(each for each in profile.protocols if each not in best))
    return protocols_for(profile.name, model) or profile.protocols


def _rules(profile: Profile, model: str | None, protocol: str | None) -> Iterator[ProviderRule]:
    """The rules that translation uses for a provider, for a model of it, in a protocol."""
    spoken = (protocol,) if protocol else _spoken(profile, model)
    for rule in load_book(profile.name).all_rules():
        if rule.protocol is not None and rule.protocol not in spoken:
            continue
        if model is None or any(rule.holds_for(each, model) for each in spoken):
            yield rule


def _plain(profile: Profile, model: str | None, protocol: str | None) -> dict[str, Any]:
    return {
        **to_builtins(profile),
        "asked_in": _spoken(profile, model),
        "rules": [
            {key: value for key, value in to_builtins(rule).items() if value or key == "sure"}
            for rule in _rules(profile, model, protocol)
        ],
    }


def _rule(rule: ProviderRule) -> str:
    facts = [f"{key} = {_value(value)}" for key, value in rule.set.items()]
    facts += [f"{key} + {_value(value)}" for key, value in rule.add.items()]
    facts += [f"asked in {' or '.join(rule.speaks)}"] if rule.speaks else []
    where = [*([rule.protocol] if rule.protocol else []), *rule.models]
    where += [f"not {name}" for name in rule.unless]
    text = f"{rule.id}: {'; '.join(facts)}" + (f" ({', '.join(where)})" if where else "")
    return text + (f": {rule.words}" if rule.words else "")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    # With spaces, so that long lists can be wrapped.
    return jsontext.text(value).replace(',"', ', "')


def _print_one(profile: Profile, model: str | None, protocol: str | None) -> None:
    print(f"{profile.name}: {profile.title}")
    for head, text, facts in _details(profile, model):
        print()
        print(hanging(head, text, _INDENT))
        print(hanging("", f"read {facts.date}: {facts.source}", _INDENT))
    for rule in _rules(profile, model, protocol):
        print()
        print(hanging("rule", _rule(rule), _INDENT))
        read = f"read {rule.date}: {rule.source}" + ("" if rule.sure else " (not certain)")
        print(hanging("", read, _INDENT))
    for note in profile.notes:
        print()
        print(hanging("note", note, _INDENT))


def _details(profile: Profile, model: str | None) -> Iterator[tuple[str, str, Facts]]:
    spoken = _spoken(profile, model)
    for endpoint in sorted(
        (each for each in profile.endpoints if each.protocol in spoken),
        key=lambda each: spoken.index(each.protocol),
    ):
        address = endpoint.base_url + (endpoint.path or "")
        yield "endpoint", f"{endpoint.protocol} at {address}", endpoint
    yield "key", _key(profile), profile.auth


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
