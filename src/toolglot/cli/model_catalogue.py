"""A catalogue of models for a client that warns about models it does not know.

The client's own catalogue is asked for, so that the entry has whatever this version of it requires;
one entry of it is copied for the new model.
"""

import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from toolglot.errors import DecodeError
from toolglot.wire import jsontext

_SECONDS: Final = 10.0


class ModelCatalogue(Struct, frozen=True):
    """Where a client's catalogue is, and what to change in the copy of an entry."""

    command: tuple[str, ...]
    """Arguments by which the client prints its catalogue as JSON."""
    file: str
    """Where the new one goes in the temporary folder."""
    list_key: str
    name_key: str
    like: tuple[str, ...]
    """Entries to copy, the best first."""
    changes: Mapping[str, Any]
    """Members of the copy; `$model` stands for the model."""


def catalogue_with(
    catalogue: ModelCatalogue, program: str, model: str, known: Mapping[str, Any]
) -> bytes | None:
    """The client's catalogue and one model more, about which this is known.

    None if the client knows the model itself, or prints nothing that can be read.
    """
    own = _printed((program, *catalogue.command))
    entries = own.get(catalogue.list_key) if own else None
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        return None
    named = {each.get(catalogue.name_key): each for each in entries}
    pattern = next((named[name] for name in catalogue.like if name in named), None)
    if model in named or pattern is None:
        return None
    changes = {
        key: model if value == "$model" else value for key, value in catalogue.changes.items()
    }
    entry = {**pattern, **changes, **known, catalogue.name_key: model}
    return jsontext.encode({**own, catalogue.list_key: [entry, *entries]})


def _printed(command: Sequence[str]) -> dict[str, Any]:
    try:
        done = subprocess.run(  # noqa: S603 - a program of the user, as the user would call it
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
        value = jsontext.decode(done.stdout)
    except (OSError, subprocess.SubprocessError, DecodeError):
        return {}
    return value if isinstance(value, dict) else {}
