"""The keys of toolglot.toml, with types and defaults, from the classes that read them."""

import inspect
import re
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from toolglot.gateway import config

MEGABYTE = 1024 * 1024
LARGE = 100_000

TABLES: dict[str, type] = {
    "The top of the file": config.Config,
    "`[server]`": config.Server,
    "`[server.limits]`": config.ServerLimits,
    "`[server.tls]`": config.Tls,
    "`[providers.NAME]`": config.Provider,
    "`[providers.NAME.timeouts]`": config.Timeouts,
    "`[providers.NAME.options]`": config.ProviderOptions,
    "`[[providers.NAME.tool_rules]]`": config.ToolRulesFor,
    "`[[routes]]`": config.RouteConfig,
}
_WORDS = {str: "text", bool: "true or false", int: "number", float: "number", Any: "any value"}


def sections() -> Iterator[tuple[str, str, list[tuple[str, str, str, str]]]]:
    """The title of each table, what it is for, and its rows: key, type, default, meaning."""
    for title, table in TABLES.items():
        about = " ".join((inspect.getdoc(table) or "").split())
        yield title, about, list(rows(table))


def rows(table: type) -> Iterator[tuple[str, str, str, str]]:
    """The keys of a table."""
    hints = get_type_hints(table, include_extras=True)
    for field in msgspec.structs.fields(table):
        kind = hints[field.name]
        inner = _table_of(kind)
        if inner is not None:
            place = next(title for title, each in TABLES.items() if each is inner)
            yield f"`{field.name}`", "table", "", f"see {place}"
            continue
        yield f"`{field.name}`", _type(kind), _default(field), _meaning(table, field.name)


def _table_of(kind: Any) -> type | None:
    """The table that a key holds, or holds several of."""
    known = set(TABLES.values())
    return next((each for each in (kind, *get_args(kind)) if each in known), None)


def _type(kind: Any) -> str:
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _type(inside[0])
    if origin in (Union, UnionType):
        return " or ".join(_type(each) for each in inside if each is not NoneType)
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inside)
    if origin is tuple:
        return f"list of {_type(inside[0])}"
    if origin is not None:
        return "table" + (f" of {_type(inside[1])}" if inside[1] is not Any else "")
    return _WORDS.get(kind, "text")


def _default(field: msgspec.structs.FieldInfo) -> str:
    value = field.default
    if value is msgspec.NODEFAULT:
        return "**required**" if field.default_factory is msgspec.NODEFAULT else ""
    if value is None or value in ((), {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int) and value >= MEGABYTE and value % MEGABYTE == 0:
        return f"{value // MEGABYTE} MB"
    if isinstance(value, (int, float)):
        return f"{value:g}" if value < LARGE else f"{value:,.0f}"
    return f"`{value}`"


def _meaning(table: type, name: str) -> str:
    for each in (base for base in table.__mro__ if base.__module__.startswith("toolglot")):
        source = inspect.getsource(each)
        found = re.search(rf'^    {name}: [^\n]+\n    """([\s\S]+?)"""', source, re.MULTILINE)
        if found:
            return " ".join(found[1].split()).replace("|", "\\|")
    return ""
