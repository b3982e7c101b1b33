"""All dialects by name: the rows of this package, and those that an application registers.

The order settles which dialect a text is in when several could have written it: registered rows
come first, the last one registered before the others.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import Final

from toolglot.dialects.dialect import Dialect
from toolglot.dialects.rows import bare, invokes, others, python, special_tokens, tagged, xml

_FAMILIES: Final = (tagged, xml, invokes, special_tokens, python, others, bare)
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_RESERVED: Final = frozenset({"auto", "native", "off", "emulated"})
"""What options accept in place of the name of a dialect."""


class DialectTable(Mapping[str, Dialect]):
    """The dialects by name. A change replaces the whole table, so that reading needs no lock."""

    def __init__(self, rows: Iterable[Dialect]) -> None:
        self._lock = Lock()
        self._set(rows)
        self._built_in = frozenset(self._rows)

    def _set(self, rows: Iterable[Dialect]) -> None:
        rows = tuple(rows)
        self._auto = tuple(row for row in rows if row.auto)
        self._rows = {row.name: row for row in rows}

    def __getitem__(self, name: str) -> Dialect:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def auto(self) -> tuple[Dialect, ...]:
        """The rows that are looked for when the dialect has to be found out."""
        return self._auto

    def find(self, name: str) -> Dialect:
        """The row of this name, or a `ValueError`."""
        row = self._rows.get(name)
        if row is None:
            raise ValueError(f"unknown dialect {name}")
        return row

    def register(self, row: Dialect) -> None:
        """Add a row under a name that no other row has."""
        if _NAME.fullmatch(row.name) is None or row.name in _RESERVED:
            raise ValueError(
                f"{row.name!r} cannot be the name of a dialect: use lower-case letters, digits and "
                f"`_.-`, and none of {', '.join(sorted(_RESERVED))}"
            )
        if not row.forms:
            raise ValueError(f"the dialect {row.name} has no forms to be read by")
        _ = row.writer
        with self._lock:
            if row.name in self._rows:
                raise ValueError(f"there is a dialect {row.name} already; unregister it first")
            self._set((row, *self._rows.values()))

    def unregister(self, name: str) -> None:
        """Remove a row that was registered."""
        with self._lock:
            if name in self._built_in or name not in self._rows:
                raise ValueError(f"no dialect {name} was registered")
            self._set(row for row in self._rows.values() if row.name != name)


DIALECTS: Final = DialectTable(row for family in _FAMILIES for row in family.ROWS)


def register_dialect(row: Dialect) -> None:
    """Add a dialect for this process: to reading, detection, writing and translation.

    Decoders that exist already do not know it. With `auto=False` only those who name it get it.
    """
    DIALECTS.register(row)


def unregister_dialect(name: str) -> None:
    """Take back `register_dialect`."""
    DIALECTS.unregister(name)
