"""`toolglot keys`: the keys that clients send to the gateway."""

import argparse
import re
import sys
import time
from typing import TYPE_CHECKING, Final

from msgspec import to_builtins

from toolglot.cli.common import (
    Commands,
    add_command,
    add_database,
    distance,
    moment,
    print_table,
    spelled,
)
from toolglot.wire import jsontext

if TYPE_CHECKING:
    import sqlite3
    from contextlib import AbstractContextManager

    from toolglot.gateway.access.virtual_keys import Budget, VirtualKey

_COLUMNS: Final = ("id", "name", "state", "created", "models", "rpm", "tpm", "budget", "expires")
_NUMBERS: Final = ("rpm", "tpm", "budget")
_MULTIPLES: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


def add(commands: Commands) -> None:
    """Declare the command and its three parts."""
    parser = add_command(
        commands,
        "keys",
        None,
        "create, list and revoke the keys that clients send to the gateway",
        "toolglot keys create alice --models 'claude-*,gpt-*' --rpm 60 --budget 2M/day",
        "toolglot keys list",
        "toolglot keys revoke alice",
    )
    parts = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_create(parts)
    _add_list(parts)
    _add_revoke(parts)


def _add_create(parts: Commands) -> None:
    parser = add_command(
        parts,
        "create",
        create,
        "create a key and print it; it is not printed again",
        "toolglot keys create alice",
        "toolglot keys create ci --models 'gpt-*' --rpm 60 --tpm 200k --expires 30d",
        "toolglot keys create demo --budget 2M/day",
    )
    parser.add_argument("name", help="what to call it in lists and usage")
    parser.add_argument("--models", metavar="GLOBS", help="models it may ask for, with commas")
    parser.add_argument("--rpm", type=_number, metavar="N", help="requests in any minute")
    parser.add_argument("--tpm", type=_number, metavar="N", help="tokens in any minute")
    parser.add_argument(
        "--budget",
        type=_budget,
        metavar="TOKENS[/day|/month]",
        help="tokens in all, or in each day or month (UTC)",
    )
    parser.add_argument(
        "--expires", type=distance, metavar="WHEN", help="a date, or in how long: 12h, 30d"
    )
    parser.add_argument(
        "--inspect", action="store_true", help="let it see its latest exchanges in the inspector"
    )
    add_database(parser)


def _add_list(parts: Commands) -> None:
    parser = add_command(parts, "list", list_all, "list the keys", "toolglot keys list --json")
    parser.add_argument("--json", action="store_true", help="write JSON")
    add_database(parser)


def _add_revoke(parts: Commands) -> None:
    parser = add_command(
        parts, "revoke", revoke, "make a key invalid within a second", "toolglot keys revoke alice"
    )
    parser.add_argument("key", help="its id or name")
    add_database(parser)


# --- running --------------------------------------------------------------------------------------


def create(args: argparse.Namespace) -> int:
    """Create a key. The key alone goes to standard output."""
    from toolglot.gateway.storage.sqlite_keys import create_key  # noqa: PLC0415 - asyncio costs start-up time

    now = time.time()
    with _database(args, create=True) as db:
        token, key = create_key(
            db,
            args.name,
            now,
            models=tuple(glob.strip() for glob in args.models.split(",")) if args.models else (),
            rpm=args.rpm,
            tpm=args.tpm,
            budget=args.budget,
            expires=None if args.expires is None else moment(args.expires, now, 1),
            inspect=args.inspect,
        )
    print(token)
    print(f"key {key.id}, {key.name}: store it now, it is not printed again", file=sys.stderr)
    return 0


def list_all(args: argparse.Namespace) -> int:
    """Print all keys."""
    from toolglot.gateway.storage.sqlite_keys import list_keys  # noqa: PLC0415 - asyncio costs start-up time

    with _database(args) as db:
        keys = list_keys(db)
    if args.json:
        print(jsontext.pretty(to_builtins(keys)).decode())
    elif keys:
        print_table([_COLUMNS, *(_row(key, time.time()) for key in keys)], _NUMBERS)
    else:
        print("no keys yet: create one with `toolglot keys create NAME`", file=sys.stderr)
    return 0


def revoke(args: argparse.Namespace) -> int:
    """Make a key invalid."""
    from toolglot.gateway.storage.sqlite_keys import revoke_key  # noqa: PLC0415 - asyncio costs start-up time

    with _database(args) as db:
        key = revoke_key(db, args.key, time.time())
    print(f"key {key.id}, {key.name}: revoked {spelled(key.revoked or 0)}")
    return 0


def _database(
    args: argparse.Namespace, *, create: bool = False
) -> "AbstractContextManager[sqlite3.Connection]":
    from toolglot.gateway.storage.database import database, default_path  # noqa: PLC0415 - likewise

    return database(args.database or default_path(), create=create)


# --- words ----------------------------------------------------------------------------------------


def _number(text: str) -> int:
    """`200000` or `200k`."""
    match = re.fullmatch(r"(\d{1,12})([kmg]?)", text.lower())
    if not match or not int(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number like 60, 200k or 2M")
    return int(match[1]) * _MULTIPLES[match[2]]


def _budget(text: str) -> "Budget":
    from toolglot.gateway.access.virtual_keys import Budget  # noqa: PLC0415 - few commands need it

    tokens, _, per = text.partition("/")
    match per:
        case "day" | "month":
            return Budget(_number(tokens), per)
        case "" if tokens == text:
            return Budget(_number(tokens))
    raise argparse.ArgumentTypeError(f"{text!r} is not a budget like 500k, 2M/day or 50M/month")


def _row(key: "VirtualKey", now: float) -> tuple[str, ...]:
    state = "revoked" if key.revoked else "valid" if key.is_valid(now) else "expired"
    budget = key.budget
    return (
        key.id,
        key.name,
        state,
        spelled(key.created),
        ",".join(key.models) or "all",
        str(key.rpm or ""),
        str(key.tpm or ""),
        f"{budget.tokens}" + ("" if budget.per == "total" else f"/{budget.per}") if budget else "",
        spelled(key.expires) if key.expires else "",
    )
