"""Repairing the arguments of a call, so that they fit the schema of its tool.

Models write JSON in a fence, in single quotes, twice encoded, with a comma too many, as XML, or
break off. Whatever is read from such a text counts only if it fits the schema; else the text stays
as it was. Values change their type only where the schema demands it and nothing is guessed:
`"5"` becomes 5 for an integer, 5 becomes `"5"` for a string, one value becomes a list of one.
Unknown keys stay, missing ones are not made up.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, NamedTuple

from msgspec import Struct

from toolglot.ir import Json
from toolglot.schema.conform import Checker, SchemaError, checker, optional, path_of
from toolglot.wire import jsontext

_LONGEST_GUESSED: Final = 1024
"""Characters of a text that `json_repair` is given: its time grows with the square of their number,
on a string without an end for example. Longer ones are read by what takes linear time.
"""

_MOST_WRAPPED: Final = 8
"""How often arguments are taken out of a fence or a string."""

_ROUNDS: Final = 6
"""How often types are looked at again, since a value that was read shows new places."""

_FENCED: Final = re.compile(r"\s*```[\w-]*[ \t]*\n?(.*?)\n?\s*```\s*", re.DOTALL)
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:(")|\\?\Z)', re.DOTALL)
"""A string, to the end of the text if nothing ends it: else every quote in it is tried as one."""
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_STRUCTURE: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:(")|\\?\Z)|[{}\[\],]', re.DOTALL)
_HALF_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_CLOSERS: Final = {"{": "}", "[": "]"}
_DIGITS: Final = 4000
_TRUTH: Final = {"true": True, "True": True, "false": False, "False": False}
_NONE: Final = object()


class Repair(Struct, frozen=True):
    """Arguments that fit, what was done to them, and whether that may have lost something."""

    arguments: str
    how: tuple[str, ...]
    lossy: bool = False


def repair_arguments(text: str, schema: Json | None, *, guess: bool = True) -> Repair | None:
    """The arguments as the schema wants them; None if they cannot be brought there.

    Without `guess`, only what is sound JSON is repaired.
    """
    read = _read(text) if guess else _Reading(jsontext.exact(text))
    if read is None:
        return None
    value, how, lossy = read
    checking = _checker(schema)
    if checking is not None:
        value, coerced = coerce(value, checking)
        how = (*how, *coerced)
        if checking.problems(value):
            return None
    if not isinstance(value, dict):
        return None
    return Repair(jsontext.text(value), how, lossy)


def _checker(schema: Json | None) -> Checker | None:
    try:
        return checker(schema) if schema else None
    except SchemaError:
        return None


# --- reading -------------------------------------------------------------------------------------


class _Reading(NamedTuple):
    """The value that a text means, how it was found, and whether something may be lost."""

    value: Any
    how: tuple[str, ...] = ()
    lossy: bool = False

    def after(self, step: str) -> "_Reading":
        """The same with a step that came before."""
        return self._replace(how=(step, *self.how))


def _read(text: str, wrapped: int = 0) -> _Reading | None:
    stripped = text.strip()
    if stripped in ("", "null"):
        return _Reading({}, ("there are no arguments",))
    try:
        return _unquoted(jsontext.exact(stripped), wrapped)
    except ValueError:
        pass
    fenced = _FENCED.fullmatch(stripped) if wrapped < _MOST_WRAPPED else None
    if fenced and (inner := _read(fenced[1], wrapped + 1)) is not None:
        return inner.after("taken out of a fence")
    if (found := from_xml(stripped)) is not None:
        return _Reading(found, ("read as XML",))
    return _guessed(stripped)


def _unquoted(value: Any, wrapped: int) -> _Reading:
    """A value; the one inside, if it is a text that holds a whole object itself."""
    inside = isinstance(value, str) and value.lstrip()[:1] in ("{", "`", '"', "<")
    if inside and wrapped < _MOST_WRAPPED:
        inner = _read(value, wrapped + 1)
        if inner is not None and isinstance(inner.value, dict):
            return inner.after("encoded twice")
    return _Reading(value)


def _guessed(text: str) -> _Reading | None:
    """What a lenient reader makes of a text that is no JSON."""
    try:
        if len(text) > _LONGEST_GUESSED:
            value = _long_value(text)
        else:
            value = optional("json_repair").loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value:
        return None
    if breaks_off(text):
        return _Reading(value, ("it broke off and was completed",), lossy=True)
    lossy = _words(text) != _words(jsontext.text(value))
    return _Reading(value, ("broken JSON",), lossy)


def _long_value(text: str) -> Any:
    """The value of a text that is almost JSON, or broke off, or a `ValueError`."""
    from toolglot.dialects.literals import lenient  # noqa: PLC0415 - dialects load late

    whole, comma = _completed(text)
    for each in (text, whole):
        try:
            return lenient(each)
        except ValueError:
            continue
    return lenient(_completed(text[:comma])[0])


def _completed(text: str) -> tuple[str, int]:
    """A text that broke off, with the ends of what is open; where the last comma in it is."""
    ends: list[str] = []
    pos = comma = 0
    for match in _STRUCTURE.finditer(text):
        mark = match[0]
        if mark[0] == '"' and not match[1]:
            break  # A string without an end.
        pos = match.end()
        if mark == ",":
            comma = match.start()
        elif mark in _CLOSERS:
            ends.append(_CLOSERS[mark])
        elif mark in ends[-1:]:
            ends.pop()
    rest = text[pos:]
    if '"' in rest:
        rest = _HALF_ESCAPE.sub("", rest) + '"'
    return text[:pos] + rest + "".join(reversed(ends)), comma


def breaks_off(text: str) -> bool:
    """Whether a JSON text ends inside a string, a list or an object."""
    outside = _STRING.sub(lambda string: "" if string[1] else '"', text)
    opened = outside.count("{") + outside.count("[")
    closed = outside.count("}") + outside.count("]")
    return '"' in outside or opened > closed


def _words(text: str) -> str:
    """The letters and digits, which no repair of the punctuation changes."""
    return "".join(filter(str.isalnum, _ESCAPE.sub("", text))).lower()


# --- XML -----------------------------------------------------------------------------------------

_ELEMENT: Final = re.compile(
    r"\s*<([A-Za-z_][\w.-]*)>((?:<!\[CDATA\[.*?\]\]>|(?!<!\[CDATA\[).)*?)</\1>\s*", re.DOTALL
)
_CDATA: Final = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)


def from_xml(text: str) -> Json | None:
    """The arguments in a row of XML elements, perhaps with one around them; all values are text."""
    if text[:1] != "<":
        return None
    elements = _elements(text)
    if elements and len(elements) == 1:
        inner = _elements(elements[0][1].strip())
        elements = inner or elements
    if not elements or len({name for name, _ in elements}) < len(elements):
        return None
    return {name: _content(body) for name, body in elements}


def _elements(text: str) -> list[tuple[str, str]] | None:
    found: list[tuple[str, str]] = []
    place = 0
    while place < len(text):
        match = _ELEMENT.match(text, place)
        if match is None:
            return None
        found.append((match[1], match[2]))
        place = match.end()
    return found


def _content(body: str) -> str:
    pieces = _CDATA.split(body)
    return "".join(piece if index % 2 else _unescape(piece) for index, piece in enumerate(pieces))


_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))
"""The entities of XML; the ampersand comes last, so that nothing is read twice."""


def _unescape(text: str) -> str:
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


# --- types ---------------------------------------------------------------------------------------


def coerce(value: Any, checking: Checker) -> tuple[Any, tuple[str, ...]]:
    """A value with other types where the schema demands them, and what was changed.

    The value is changed in place: hand in one of your own.
    """
    changes: dict[str, None] = {}
    for _ in range(_ROUNDS):
        value, done = _coerce_once(value, checking)
        if not done:
            break
        changes |= done
    return value, tuple(changes)


def _coerce_once(value: Any, checking: Checker) -> tuple[Any, dict[str, None]]:
    changes: dict[str, None] = {}
    for wrong in checking.wrong_types(value):
        new, word = _as_type(_at(value, wrong.path), wrong.types)
        if new is not _NONE:
            value = _replaced(value, wrong.path, new)
            changes[f"{path_of(wrong.path) or 'the whole'} as {word}"] = None
    return value, changes


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        if isinstance(value, dict) and isinstance(step, int):
            step = str(step)  # noqa: PLW2901 - a key of digits is reported as a number
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return _NONE
    return value


def _replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    parent, step = _at(value, path[:-1]), path[-1]
    parent[str(step) if isinstance(parent, dict) else step] = new
    return value


def _as_type(value: Any, types: tuple[str, ...]) -> tuple[Any, str]:
    for word in types:
        new = _COERCIONS[word](value) if word in _COERCIONS else _NONE
        if new is not _NONE:
            return new, word
    return _NONE, ""


def _to_integer(value: Any) -> Any:
    if isinstance(value, str) and len(value) < _DIGITS and _INTEGER.fullmatch(value.strip()):
        return int(value)
    return _NONE


def _to_number(value: Any) -> Any:
    if isinstance(value, str) and len(value) < _DIGITS and _NUMBER.fullmatch(value.strip()):
        try:
            return jsontext.exact(value)
        except ValueError:
            return _NONE
    return _NONE


def _to_boolean(value: Any) -> Any:
    return _TRUTH.get(value.strip(), _NONE) if isinstance(value, str) else _NONE


def _to_string(value: Any) -> Any:
    return jsontext.text(value) if isinstance(value, (bool, int, float, Decimal)) else _NONE


def _to_null(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip() in ("null", "None") else _NONE


def _to_object(value: Any) -> Any:
    return _parsed_as(value, dict)


def _to_array(value: Any) -> Any:
    if value is _NONE or value is None or isinstance(value, (list, dict)):
        return _NONE
    parsed = _parsed_as(value, list)
    return [value] if parsed is _NONE else parsed


def _parsed_as(value: Any, kind: type[Any]) -> Any:
    """The value that a text holds as JSON, if it is of that kind."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return _NONE
    try:
        inner = jsontext.exact(value)
    except ValueError:
        return _NONE
    return inner if isinstance(inner, kind) else _NONE


_COERCIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "integer": _to_integer,
    "number": _to_number,
    "boolean": _to_boolean,
    "null": _to_null,
    "object": _to_object,
    "array": _to_array,
    "string": _to_string,
}
