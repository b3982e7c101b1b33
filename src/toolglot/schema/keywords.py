"""What the words of a schema say, as far as they can be understood."""

from collections.abc import Callable, Iterable
from operator import ge, gt, le, lt
from typing import Any, Final, TypeGuard

from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.schema.subsets import is_of, kind, types_of
from toolglot.wire import jsontext

NUMBERS: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
_COUNTS: Final = frozenset(
    {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
)
_TYPED_BY: Final = (
    ("object", frozenset({"properties", "required", "additionalProperties", "patternProperties"})),
    ("object", frozenset({"minProperties", "maxProperties", "propertyNames"})),
    (
        "array",
        frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}),
    ),
    ("string", frozenset({"pattern", "minLength", "maxLength", "format"})),
    ("number", NUMBERS),
)


def is_filled(value: Any) -> TypeGuard[list[Any]]:
    """Whether a value is a list with something in it."""
    return type(value) is list and bool(value)


def table(value: Any) -> Json:
    """A value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def texts(value: Any) -> list[str]:
    """The texts in a value that should be a list of them, each once."""
    if type(value) is not list:
        return []
    return list(dict.fromkeys(each for each in value if type(each) is str))


def inferred(schema: Json) -> tuple[str, ...]:
    """The type that a schema without one must mean, by its other words."""
    return next(((name,) for name, words in _TYPED_BY if not words.isdisjoint(schema)), ())


def is_open(schema: Json) -> bool:
    """Whether members that are not named may be there, by a pattern of their names."""
    return bool(table(schema.get("patternProperties")))


def is_null(schema: Any) -> bool:
    """Whether a schema allows null and nothing else."""
    if type(schema) is not dict:
        return False
    return (
        schema.get("type") == "null"
        or schema.get("enum") == [None]
        or schema.get("const", 0) is None
    )


def is_limit(key: str, value: Any) -> bool:
    """Whether a value can be the one of a limit."""
    if key == "pattern":
        return type(value) is str
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return key not in _COUNTS or isinstance(value, int)


def bound(kept: Json, flat: Json, key: str, types: tuple[str, ...]) -> bool:
    """A bound that is not reached, as one that is; whether that is exact, as for whole numbers."""
    value = flat[key]
    if not is_limit(key, value):
        return False
    exact = types == ("integer",) and isinstance(value, int)
    lower = key == "exclusiveMinimum"
    word = "minimum" if lower else "maximum"
    if exact:
        value += 1 if lower else -1
    other = flat.get(word)
    if is_limit(word, other):
        value = max(value, other) if lower else min(value, other)
    kept[word] = value
    return exact


_VALUE_WORDS: Final = frozenset({"const", "enum", "type", "title"})


def listed_values(branches: Iterable[Any]) -> list[Any] | None:
    """The values of a union whose branches only list values."""
    found: list[Any] = []
    for branch in branches:
        if type(branch) is not dict or not _VALUE_WORDS.issuperset(branch):
            return None
        values = [branch["const"]] if "const" in branch else branch.get("enum")
        if values is None and branch.get("type") == "null":
            values = [None]
        if not is_filled(values):
            return None
        found += conforming(values, types_of(branch))
    return found


def identity(value: Any) -> tuple[str, Any]:
    """What tells a JSON value from others: 1, 1.0, true and "1" are four."""
    name = kind(value)
    if name not in ("object", "array"):
        return name, value
    try:
        return name, jsontext.text(dict(sorted(value.items())) if name == "object" else value)
    except DecodeError:  # nested too deeply to be written
        return name, id(value)


def same_value(value: Any) -> tuple[str, Any]:
    """The same for values as JSON Schema compares them: 1 and 1.0 are one."""
    name, text = identity(value)
    return "number" if name == "integer" else name, text


def conforming(values: list[Any], types: tuple[str, ...]) -> list[Any]:
    """The values that are of the types; all of them, brought there if they can be, if none is."""
    found: dict[tuple[str, Any], Any] = {}
    for value in values:
        found.setdefault(identity(value), value)
    unique = list(found.values())
    if not types:
        return unique
    wanted = frozenset(types)
    known = [value for value in unique if is_of(value, wanted)]
    if known:
        return known
    return [_coerced(value, types) for value in unique]


def _coerced(value: Any, types: tuple[str, ...]) -> Any:
    if "string" in types:
        return value if type(value) is str else jsontext.text(value)
    if type(value) is str:
        try:
            read = jsontext.peek(value)
        except ValueError:
            return value
        if is_of(read, frozenset(types)):
            return read
    return value


def labels_of(values: list[Any]) -> dict[str, Any]:
    """A text for each value: its own if it is one, else its JSON."""
    labels = {jsontext.text(value): value for value in values if type(value) is not str}
    for value in values:
        if type(value) is str:
            label = value
            while label in labels:
                label = jsontext.text(label)
            labels[label] = value
    return labels


def type_of(values: list[Any]) -> Json:
    """The type or types of listed values, as a schema says them."""
    kinds = list(dict.fromkeys(map(kind, values)))
    if set(kinds) == {"integer", "number"}:
        kinds = ["number"]
    return {"type": kinds[0] if len(kinds) == 1 else kinds}


_CHECKS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "minimum": ge,
    "maximum": le,
    "exclusiveMinimum": gt,
    "exclusiveMaximum": lt,
    "minLength": lambda value, limit: len(value) >= limit,
    "maxLength": lambda value, limit: len(value) <= limit,
}
"""Limits that can be checked here; lengths are counted in characters, as JSON Schema does."""


def satisfying(values: list[Any], schema: Json) -> list[Any]:
    """The listed values that are within the limits beside them; all of them, if none is."""
    limits = [(key, schema[key]) for key in _CHECKS if is_limit(key, schema.get(key))]
    if not limits:
        return values
    return [value for value in values if all(_is_within(value, *each) for each in limits)] or values


def _is_within(value: Any, key: str, limit: Any) -> bool:
    wanted = (str,) if key in _COUNTS else (int, float)
    if isinstance(value, bool) or not isinstance(value, wanted):
        return True
    return _CHECKS[key](value, limit)
