"""A result as a provider of `toolglot.toml`, put into the file without touching the rest of it."""

import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from toolglot.base_urls import exact_spelling
from toolglot.discovery.found_rules import found_rules, to_rule_lines
from toolglot.discovery.probe import AUTHS
from toolglot.discovery.probe_findings import NO_TOOLS
from toolglot.discovery.result import DiscoveryResult
from toolglot.errors import ToolglotError
from toolglot.registry import get_protocol
from toolglot.wire import jsontext

_BARE: Final = re.compile(r"^[A-Za-z0-9_-]+$")
_HEADER: Final = re.compile(r"^\s*\[")
_MODELS: Final = 40
"""More models than this are not written down: the provider lists them itself."""


class ConfigTextError(ToolglotError, ValueError):
    """A provider cannot be added to this file."""


def to_toml(result: DiscoveryResult, name: str, *, key: str | None = None) -> str:
    """The table for a provider; `key` is where its key is (`env:NAME`), not the key itself."""
    lines = [f"[providers.{_key(name)}]", *_facts(result)]
    if key is not None and result.provider.auth != "none":
        lines += _key_lines(result, key)
    lines += _tool_lines(result)
    models = result.provider.models
    if 0 < len(models) <= _MODELS:
        lines.append(f"models = {_array(models)}")
    if rules := found_rules(result):
        lines += ["", f"[providers.{_key(name)}.rules]", *to_rule_lines(rules, jsontext.text)]
    return "\n".join(lines) + "\n"


def _facts(result: DiscoveryResult) -> Iterator[str]:
    tooling = result.tooling
    for each in result.provider.protocols[1:]:
        yield f"# It also speaks {each.protocol} at {each.base_url}."
    for quirk in tooling.quirks:
        yield f"# {quirk}"
    yield f"protocol = {_text(result.protocol)}"
    yield f"base_url = {_text(exact_spelling(result.provider.base_url, result.protocol))}"


def _key_lines(result: DiscoveryResult, key: str) -> Iterator[str]:
    """The key, with a remark if it is not sent as the protocol usually does."""
    yield f"api_key = {_text(key)}"
    auth = AUTHS.get(result.provider.auth)
    if auth is not None and auth.header != get_protocol(result.protocol).API.key_header:
        yield f"# The key is taken as {auth.header}: {auth.prefix}KEY"


def _tool_lines(result: DiscoveryResult) -> Iterator[str]:
    tools, dialect = result.get("tools"), result.get("dialect")
    if tools == "called":
        yield 'tools = "native"'
    elif tools == "in text":
        yield 'tools = "native"'
        yield f"dialect = {_text(dialect or 'auto')}"
    elif dialect:
        yield f"tools = {_text(f'emulated:{dialect}')}"
    elif tools in NO_TOOLS:
        yield 'tools = "emulated"'


def _key(name: str) -> str:
    return name if _BARE.match(name) else _text(name)


def _text(text: str) -> str:
    return jsontext.text(text).replace("\x7f", "\\u007f")


def _array(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


# --- the file -------------------------------------------------------------------------------------


def add_provider(text: str, name: str, table: str, *, replace: bool = False) -> str:
    """The text of a configuration with a provider added, all else as it was.

    One of that name is refused unless it is to be replaced; then its table alone is exchanged.
    """
    try:
        providers: Any = tomllib.loads(text).get("providers", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigTextError(str(error)) from None
    if not isinstance(providers, dict) or name not in providers:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return text + gap + table
    if not replace:
        raise ConfigTextError(f"there is a provider {name!r} already; give --replace or --name")
    return _replaced(text, name, table)


def _replaced(text: str, name: str, table: str) -> str:
    lines = text.splitlines(keepends=True)
    spans = [span for span in _tables(lines) if _is_of(lines[span[0]], name)]
    if not spans:
        raise ConfigTextError(f"provider {name!r} has no table of its own; change it by hand")
    for start, end in reversed(spans[1:]):
        del lines[start:end]
    start, end = spans[0]
    lines[start:end] = [table]
    return "".join(lines)


def _tables(lines: list[str]) -> Iterator[tuple[int, int]]:
    """From the header of each table to behind its last entry: what stands between belongs to the
    next one.
    """
    starts = [number for number, line in _outside_strings(lines) if _HEADER.match(line)]
    for start, following in pairwise([*starts, len(lines)]):
        end = following
        while end > start + 1 and lines[end - 1].lstrip()[:1] in ("", "#"):
            end -= 1
        yield start, end


def _outside_strings(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines that do not begin within a value of several lines."""
    for number, line in enumerate(lines):
        if _parses("".join(lines[:number])):
            yield number, line


def _parses(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _is_of(header: str, name: str) -> bool:
    """Whether a header is that of a provider, or of a table inside it."""
    try:
        value = tomllib.loads(header)
    except tomllib.TOMLDecodeError:
        return False
    providers = value.get("providers")
    return isinstance(providers, dict) and name in providers
