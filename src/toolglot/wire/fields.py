"""Typed reading of JSON objects that keeps whatever was not read.

A `Fields` removes the members of one object one by one. Whatever is left at the end becomes the
`extras` of the value that was read, and is reported to the context, so that a decoder cannot lose a
field by forgetting it. A member that is `null` counts as absent and remains in the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache, partial
from itertools import compress
from operator import attrgetter, is_not
from typing import Any, Final, NoReturn

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import NO_EXTRAS, Extras, Json

_NAMES: Final = {
    str: "string",
    bool: "boolean",
    int: "int",
    float: "number",
    Decimal: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_NUMBERS: Final = frozenset({int, float, Decimal})


class WireDocument:
    """What all fields of one document share: the context, the protocol and its unimportant keys.

    `normalise` gives the keys of an object their documented names, where a protocol accepts others.
    """

    __slots__ = ("ctx", "minor", "name", "normalise")

    def __init__(
        self,
        ctx: Context,
        name: str,
        minor: frozenset[str] = frozenset(),
        normalise: "Callable[[Json, Fields], Json] | None" = None,
    ) -> None:
        self.ctx = ctx
        self.name = name
        self.minor = minor
        self.normalise = normalise


class Fields:
    """The members of one JSON object, each to be taken once."""

    __slots__ = ("_absorbed", "_key", "_left", "_parent", "document")

    def __init__(
        self,
        value: Any,
        document: WireDocument,
        parent: "Fields | None" = None,
        key: str | tuple[str, int] = "",
    ) -> None:
        self.document = document
        self._parent = parent
        self._key = key
        if type(value) is not dict:
            if not isinstance(value, Mapping):
                raise DecodeError(self.path(), f"expected object, got {kind_of(value)}")
            value = dict(value)
        if document.normalise is not None:
            value = document.normalise(value, self)
        self._left: Json = value.copy()
        self._absorbed: Json | None = None

    # --- where we are

    def path(self, key: str = "") -> str:
        """The path of this object, or of one of its members."""
        steps: list[str] = [key] if key else []
        here: Fields | None = self
        while here is not None:
            step = here._key
            if step:
                steps.append(step if isinstance(step, str) else f"{step[0]}[{step[1]}]")
            here = here._parent
        return ".".join(reversed(steps))

    def fail(self, key: str, message: str) -> NoReturn:
        """Reject the input because of one member."""
        raise DecodeError(self.path(key), message)

    def note(self, code: str, key: str = "", message: str = "") -> None:
        """Add a note of what reading this object changed."""
        self.document.ctx.note(code, self.path(key), message)

    # --- asking without taking

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def peek(self, key: str) -> Any:
        """The value of a member, which is not removed."""
        return self._left.get(key)

    def require(self, kind: type[Any], *keys: str) -> None:
        """Reject the object unless one of these members is there and of a kind: the one by which
        it is what it is taken for.
        """
        if not any(type(self._left.get(key)) is kind for key in keys):
            self._mismatch(keys[0], _NAMES[kind], self._left.get(keys[0]))

    # --- taking

    def take(self, key: str) -> Any:
        """Any value; None if absent or null."""
        value = self._left.get(key)
        if value is not None:
            del self._left[key]
        return value

    def text(self, key: str) -> str:
        """A string that must be there."""
        value = self._left.get(key)
        if type(value) is not str:
            self._mismatch(key, "string", value)
        del self._left[key]
        return value

    def maybe_text(self, key: str) -> str | None:
        """A string, if there is one."""
        value = self._left.get(key)
        if value is None:
            return None
        if type(value) is not str:
            self._mismatch(key, "string", value)
        del self._left[key]
        return value

    def maybe_bool(self, key: str) -> bool | None:
        """A boolean, if there is one."""
        value = self._left.get(key)
        if value is None:
            return None
        if type(value) is not bool:
            self._mismatch(key, "boolean", value)
        del self._left[key]
        return value

    def maybe_int(self, key: str) -> int | None:
        """An integer, if there is one; `8.0` is one."""
        value = self._left.get(key)
        if value is None:
            return None
        if type(value) is not int:
            if type(value) is not float or not value.is_integer():
                self._mismatch(key, "int", value)
            value = int(value)
        del self._left[key]
        return value

    def maybe_number(self, key: str) -> float | None:
        """A number, if there is one: an integer as such, and a long decimal exactly."""
        value = self._left.get(key)
        if value is None:
            return None
        if type(value) not in _NUMBERS:
            self._mismatch(key, "number", value)
        del self._left[key]
        number: float = value
        return number

    def maybe_object(self, key: str) -> Json | None:
        """An object as it is, if there is one."""
        value = self._left.get(key)
        if value is None:
            return None
        if type(value) is not dict:
            self._mismatch(key, "object", value)
        del self._left[key]
        return value

    def maybe_list(self, key: str) -> list[Any] | None:
        """An array as it is, if there is one. An empty one also remains in the rest."""
        value = self._left.get(key)
        if value is None:
            return None
        if type(value) is not list:
            self._mismatch(key, "array", value)
        if value:
            del self._left[key]
        return value

    def maybe_texts(self, key: str) -> tuple[str, ...] | None:
        """An array of strings, if there is one."""
        values = self.maybe_list(key)
        if values is None:
            return None
        for index, value in enumerate(values):
            if type(value) is not str:
                self.fail(f"{key}[{index}]", f"expected string, got {kind_of(value)}")
        return tuple(values)

    def fields(self, key: str) -> "Fields":
        """An object that must be there, to be read in turn."""
        value = self._left.get(key)
        if value is None:
            self._mismatch(key, "object", value)
        del self._left[key]
        return Fields(value, self.document, self, key)

    def maybe_fields(self, key: str) -> "Fields | None":
        """An object, if there is one, to be read in turn. An empty one also remains in the rest."""
        value = self._left.get(key)
        if value is None:
            return None
        if value != {}:
            del self._left[key]
        return Fields(value, self.document, self, key)

    def each(self, key: str) -> Sequence["Fields"]:
        """The objects of an array, if there is one, to be read in turn."""
        values = self.maybe_list(key)
        if not values:
            return ()
        return [Fields(value, self.document, self, (key, i)) for i, value in enumerate(values)]

    def element(self, value: Any, key: str, index: int) -> "Fields":
        """One object of an array that was taken as a list."""
        return Fields(value, self.document, self, (key, index))

    def constant(self, key: str, value: Any) -> None:
        """Remove a member if it has the value that it always has in the protocol."""
        if key in self._left and self._left[key] == value:
            del self._left[key]

    def whole(self) -> Json:
        """Everything that is left, as one object."""
        return self._left.copy()

    def absorb(self, child: "Fields") -> None:
        """Let what is left of a member object be part of this object's rest."""
        left = child._left
        if left:
            child.document.ctx.leave(child, child.document.minor, left)
        if child._absorbed:
            left = left | child._absorbed
        if left:
            if self._absorbed is None:
                self._absorbed = {}
            self._absorbed[str(child._key)] = left

    # --- the rest

    def rest(self) -> Extras:
        """What was not read, as the extras of the value just read."""
        left, document = self._left, self.document
        if left:
            document.ctx.leave(self, document.minor, left)
            return {document.name: left | self._absorbed if self._absorbed else left}
        return {document.name: self._absorbed} if self._absorbed else NO_EXTRAS

    def _mismatch(self, key: str, wanted: str, value: Any) -> NoReturn:
        if value is None and key not in self._left:
            raise DecodeError(self.path(key), f"expected {wanted}, but it is missing")
        raise DecodeError(self.path(key), f"expected {wanted}, got {kind_of(value)}")


def kind_of(value: Any) -> str:
    """The JSON name of a value's type."""
    return _NAMES.get(type(value), type(value).__name__)


def merge(wire: Json, extras: Extras, name: str) -> Json:
    """Add a protocol's own extras to what was encoded, which wins; members of members too."""
    own = extras.get(name)
    if own:
        _merge(wire, own)
    return wire


def _merge(wire: Json, own: Json) -> None:
    for key, value in own.items():
        if key not in wire:
            wire[key] = value
        elif isinstance(value, dict) and isinstance(there := wire[key], dict):
            wire[key] = there = there.copy()
            _merge(there, value)


# --- settings: scalar members that protocols share under different keys -----------------------

Setting = tuple[str, str, str]
"""Interlingua field, wire key, and which `maybe_…` reads it."""


def read_settings(fields: Fields, table: tuple[Setting, ...]) -> Json:
    """The settings that a table names and the wire holds."""
    found: Json = {}
    left = fields._left
    for field, key, kind in table:
        if left.get(key) is not None:
            found[field] = _READERS[kind](fields, key)
    return found


def write_settings(wire: Json, value: Any, table: tuple[Setting, ...]) -> None:
    """The reverse of `read_settings`."""
    # Most are not set: asking for all at once takes a fifth of the steps.
    settings = _getter(table)(value)
    given = compress(zip(table, settings, strict=True), map(_is_given, settings))
    for (_, key, kind), setting in given:
        wire[key] = list(setting) if kind == "texts" else setting


_is_given: Final = partial(is_not, None)


@cache
def _getter(table: tuple[Setting, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What gets the settings of a table, which has two at least."""
    return attrgetter(*(field for field, _, _ in table))


_READERS: Final = {
    "text": Fields.maybe_text,
    "bool": Fields.maybe_bool,
    "int": Fields.maybe_int,
    "number": Fields.maybe_number,
    "object": Fields.maybe_object,
    "texts": Fields.maybe_texts,
}
