"""Whether a value conforms to a JSON Schema, and where it does not.

The checking itself is done by `jsonschema-rs`, which comes with the extra `validate` and is
imported when it is first needed. Nothing is ever fetched: a schema that refers to another document
cannot be read.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from toolglot.errors import MissingExtraError
from toolglot.ir import Json
from toolglot.wire import jsontext

EXTRA: Final = "validate"
_PACKAGES: Final = {"jsonschema_rs": "jsonschema-rs", "json_repair": "json-repair"}
_MOST: Final = 20
"""Problems of one value that are told."""

_LONGEST: Final = 200
"""Characters of a message; it may quote the value."""

_LONGEST_CACHED: Final = 2**16
"""Bytes of a schema that is kept compiled."""

Step = str | int


class SchemaError(ValueError):
    """A schema that cannot be checked against."""


class Problem(Struct, frozen=True):
    """One thing that is wrong with a value: where (nothing means the whole) and what."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class WrongType(Struct, frozen=True):
    """A place in a value, and the types that the schema allows there."""

    path: tuple[Step, ...]
    types: tuple[str, ...]


def optional(module: str) -> Any:
    """A module that comes with the extra, or an error that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(EXTRA, _PACKAGES[module]) from None


class Checker:
    """Checks values against one schema."""

    __slots__ = ("_validator",)

    def __init__(self, validator: Any) -> None:
        self._validator = validator

    def problems(self, value: Any) -> list[Problem]:
        """Everything that is wrong with a value, up to a number of things."""
        return [
            Problem(path_of(error.instance_path), _short(error.message))
            for error in islice(self._errors(value), _MOST)
        ]

    def wrong_types(self, value: Any) -> list[WrongType]:
        """The places where a value is of another type than the schema allows."""
        found: dict[tuple[Step, ...], dict[str, None]] = {}
        for path, types in _type_errors(self._errors(value)):
            found.setdefault(path, {}).update(dict.fromkeys(types))
        return [WrongType(path, tuple(types)) for path, types in found.items()]

    def _errors(self, value: Any) -> Iterable[Any]:
        try:
            return list(islice(self._validator.iter_errors(value), _MOST))
        except UnicodeEncodeError:
            # Lone surrogates are not Unicode; for a schema they are as good as any character.
            return list(islice(self._validator.iter_errors(_unicode(value)), _MOST))


def checker(schema: Json) -> Checker:
    """What checks values against a schema; a `SchemaError` if it is none that can be read."""
    try:
        text = jsontext.encode(schema)
        return _compiled(text) if len(text) <= _LONGEST_CACHED else _compiled.__wrapped__(text)
    except RecursionError:
        raise SchemaError("nested too deeply to be read") from None
    except ValueError as error:
        raise SchemaError(_short(str(error).splitlines()[0] if str(error) else "")) from None


@lru_cache(maxsize=256)
def _compiled(schema: bytes) -> Checker:
    library = optional("jsonschema_rs")
    return Checker(library.validator_for(jsontext.peek(schema), retriever=_retrieve))


def _retrieve(uri: str) -> None:
    raise ValueError(f"{uri} is not fetched")


def _type_errors(errors: Iterable[Any]) -> Iterator[tuple[tuple[Step, ...], list[str]]]:
    for error in errors:
        kind = error.kind
        if hasattr(kind, "types"):
            yield tuple(error.instance_path), kind.types
        for branch in getattr(kind, "context", ()):
            yield from _type_errors(branch)


def path_of(steps: Iterable[Step]) -> str:
    """A path in words: `days[2].name`."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{step}" if path else step
    return path


def _short(message: str) -> str:
    return message if len(message) <= _LONGEST else message[: _LONGEST - 1] + "…"


def _unicode(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_unicode(key): _unicode(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_unicode(child) for child in value]
    return value
