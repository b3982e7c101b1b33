"""Remembering what was made of a schema: agents send the same tools with every request."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext

_P = ParamSpec("_P")
_R = TypeVar("_R")

SIZE: Final = 1024


def by_text(function: Callable[Concatenate[Json, _P], _R]) -> Callable[Concatenate[Json, _P], _R]:
    """A pure function of a schema that remembers its results, by the text of the schema.

    What it returns is shared between calls, and made of a copy of the schema: nobody may change it.
    """

    def work_out(text: bytes, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return function(jsontext.peek(text), *args, **kwargs)

    remembered: Callable[..., _R] = lru_cache(maxsize=SIZE)(work_out)

    @wraps(function)
    def wrapper(schema: Json, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            text = jsontext.encode(schema)
            return remembered(text, *args, **kwargs)
        except DecodeError:
            # Nested too deeply to be written as text.
            return function(schema, *args, **kwargs)

    return wrapper
