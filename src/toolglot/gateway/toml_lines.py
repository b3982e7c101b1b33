"""Line numbers of keys in a TOML file, for messages about a wrong configuration."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_HEADER: Final = re.compile(r"^\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_ENTRY: Final = re.compile(r"^\s*(?P<key>[\w.\"'-]+)\s*=")


def located(path: Path, text: str, key: str, what: str) -> str:
    """A message about a key, with its file and line."""
    line = _line_of(text, key)
    return f"{path}:{line}: {key}: {what}" if line else f"{path}: {key}: {what}"


def _line_of(text: str, key: str) -> int | None:
    """The line of a key, or of the innermost table or value around it."""
    lines = dict(_keys(text))
    while key:
        if key in lines:
            return lines[key]
        key = re.sub(r"(\.[^.\[\]]*|\[[^\]]*\]|^[^.\[]*)$", "", key)
    return None


def _keys(text: str) -> Iterator[tuple[str, int]]:
    table, counts = "", dict[str, int]()
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            table = header["name"].replace('"', "")
            if line.lstrip().startswith("[["):
                counts[table] = counts.get(table, -1) + 1
                table = f"{table}[{counts[table]}]"
            yield table, number
            continue
        entry = _ENTRY.match(line)
        if entry:
            name = entry["key"].strip("\"'")
            yield f"{table}.{name}" if table else name, number
