"""Calls as the text that a model of some dialect would write for them.

A writer is one family of texts, filled in by the row of a dialect. What it writes is read again
before it is used (`rendering`), so a writer need not know what its dialect cannot express. Some
calls have several spellings: the usual one comes first, the others avoid marks of the dialect.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct

from toolglot.dialects import coerce
from toolglot.wire import jsontext

_MARKS: Final = re.compile("[<>`|✿]")
"""Characters that marks are made of and JSON has inside strings only."""
_BARE_KEY: Final = re.compile(r"[^\W\d]\w*")
_NUMBERED: Final = re.compile(r"functions\.(.*):\d+", re.DOTALL)
_TYPES: Final = (
    (bool, "boolean"), (int, "number"), (Decimal, "number"), (dict, "object"), (list, "array"),
    (str, "string"),
)  # fmt: skip


class Unwritable(Exception):  # noqa: N818 - no error: another dialect may do
    """The dialect has no text for a value."""


class WantedCall(Struct, frozen=True):
    """A call to be written."""

    name: str
    arguments: dict[str, Any]
    text: str
    """The arguments as the JSON text that was given."""
    id: str = ""
    index: int = 0
    schema: Mapping[str, Any] = {}

    def id_or_number(self) -> str:
        """The id, or the number of the call where it has none."""
        return self.id or str(self.index)


@dataclass(frozen=True, kw_only=True)
class Writer:
    """The text around all calls, around each, and between them."""

    open: str = ""
    """With `{name}` for the name of the first call."""
    begin: str = ""
    between: str = "\n"
    end: str = ""
    close: str = ""

    def write(self, calls: Sequence[WantedCall]) -> Iterator[str]:
        """Texts for these calls, the usual one first."""
        failures: list[Unwritable] = []
        opener = self.open.replace("{name}", calls[0].name)
        for careful in (False, True):
            try:
                bodies = [self.body(call, careful=careful) for call in calls]
            except Unwritable as failure:
                failures.append(failure)
            else:
                between = self.end + self.between + self.begin
                yield f"{opener}{self.begin}{between.join(bodies)}{self.end}{self.close}"
        if failures:
            raise failures[0]

    def body(self, call: WantedCall, *, careful: bool) -> str:
        """One call; if `careful`, without characters that may be taken for marks."""
        raise NotImplementedError


def literal(text: str) -> str:
    """A text escaped for use in a template."""
    return text.replace("{", "{{").replace("}", "}}")


def _json(call: WantedCall, *, careful: bool) -> str:
    """The arguments as they were given, or with every mark escaped."""
    return _escaped(jsontext.text(call.arguments)) if careful else call.text


def _escaped(text: str) -> str:
    return _MARKS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


@dataclass(frozen=True, kw_only=True)
class JsonWriter(Writer):
    """Each call is a JSON object."""

    name: str = "name"
    arguments: str = "arguments"
    id: str = ""
    """The member that holds the id, where there is one."""
    keyed: bool = False
    """The name is the only key, its value the arguments."""
    nested: bool = False
    """As an API sends it: the name one level down, the arguments in a string."""

    def body(self, call: WantedCall, *, careful: bool) -> str:
        """The object."""
        name, arguments = jsontext.text(call.name), _json(call, careful=careful)
        if self.keyed:
            return f"{{{name}: {arguments}}}"
        if self.nested:
            arguments = jsontext.text(arguments)
        members = f'"{self.name}": {name}, "{self.arguments}": {arguments}'
        if self.nested:
            members = f'"type": "function", "function": {{{members}}}'
        if self.id:
            members = f'"{self.id}": {jsontext.text(call.id_or_number())}, {members}'
        return f"{{{members}}}"


def json_array(opener: str = "", closer: str = "", *, keyed: bool = False) -> JsonWriter:
    """All calls in one JSON array."""
    return JsonWriter(open=f"{opener}[", between=", ", close=f"]{closer}", keyed=keyed)


@dataclass(frozen=True, kw_only=True)
class NamedWriter(Writer):
    """A name and a JSON object in a template: `{name}`, `{arguments}`, `{id}`, `{number}`."""

    template: str

    def body(self, call: WantedCall, *, careful: bool) -> str:
        """The template, filled in."""
        return self.template.format(
            name=call.name,
            arguments=_json(call, careful=careful),
            id=call.id_or_number(),
            number=_number(call),
        )


def _number(call: WantedCall) -> str:
    """An id made of name and number: the call's own, if it is such a one."""
    match = _NUMBERED.fullmatch(call.id)
    return call.id if match and match[1] == call.name else f"functions.{call.name}:{call.index}"


@dataclass(frozen=True, kw_only=True)
class TaggedWriter(Writer):
    """A name, and every parameter as raw text between tags."""

    head: str
    """With `{name}` and `{index}`."""
    parameter: str
    """With `{key}`, `{value}`, and `{type}` or `{string}` where values carry their type."""
    tail: str = ""
    plain: bool = True
    """Whether values without a schema are read as strings."""
    escaped: bool = False
    """Whether values are XML text, with entities."""
    whole: bool = True
    """Whether a JSON object may replace the parameters."""
    trimmed: bool = True
    """Whether one line break on either side of a value is not part of it."""

    def body(self, call: WantedCall, *, careful: bool) -> str:
        """Head, parameters and tail."""
        head = self.head.format(name=call.name, index=call.index + 1)
        inside = self._whole(call) if careful else "".join(self._parameters(call))
        return head + inside + self.tail.replace("{name}", call.name)

    def _whole(self, call: WantedCall) -> str:
        if not self.whole:
            raise Unwritable("a value would not be read as it is")
        return _json(call, careful=True)

    def _parameters(self, call: WantedCall) -> Iterator[str]:
        for key, value in call.arguments.items():
            yield self.parameter.format(
                key=key,
                value=self._value(key, value, call),
                string="true" if isinstance(value, str) else "false",
                type=next((word for kind, word in _TYPES if isinstance(value, kind)), "null"),
            )

    def _value(self, key: str, value: Any, call: WantedCall) -> str:
        carries_type = "{type}" in self.parameter or "{string}" in self.parameter
        text: str | None
        if carries_type and isinstance(value, str):
            text = value
        else:
            rule = coerce.parameter(call.schema, key)
            text = coerce.untyped(value, rule, call.schema, plain=self.plain and not carries_type)
        if text is None:
            raise Unwritable(f"{key} would be read as a value of another type")
        if self.escaped:
            text = html.escape(text, quote=False)
        at_edge = text[:1] in ("\n", "\r") or text[-1:] == "\n"
        padded = "\n{value}\n" in self.parameter
        return f"\n{text}\n" if self.trimmed and at_edge and not padded else text


@dataclass(frozen=True, kw_only=True)
class PythonWriter(Writer):
    """`name(key=literal, …)`."""

    between: str = ", "

    def body(self, call: WantedCall, *, careful: bool) -> str:
        """The call."""
        plain = {key: value for key, value in call.arguments.items() if _BARE_KEY.fullmatch(key)}
        odd = {key: value for key, value in call.arguments.items() if key not in plain}
        given = [f"{key}={_python(value, careful=careful)}" for key, value in plain.items()]
        if odd:
            given.append(f"**{_python(odd, careful=careful)}")
        return f"{call.name}({', '.join(given)})"


def _python(value: Any, *, careful: bool) -> str:
    if isinstance(value, dict):
        members = (
            f"{_python(key, careful=careful)}: {_python(each, careful=careful)}"
            for key, each in value.items()
        )
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_python(each, careful=careful) for each in value)}]"
    if isinstance(value, str):
        text = jsontext.text(value)
        return _escaped(text) if careful else text
    return str(value)


@dataclass(frozen=True, kw_only=True)
class GemmaWriter(Writer):
    """`call:name{key:value}` with a token of its own for quotes."""

    quote: str

    def body(self, call: WantedCall, *, careful: bool) -> str:  # noqa: ARG002
        """The call."""
        return f"call:{call.name}{self._value(call.arguments)}"

    def _value(self, value: Any) -> str:
        if isinstance(value, dict):
            members = (f"{self._key(key)}:{self._value(each)}" for key, each in value.items())
            return f"{{{','.join(members)}}}"
        if isinstance(value, list):
            return f"[{','.join(map(self._value, value))}]"
        if isinstance(value, str):
            return f"{self.quote}{value}{self.quote}"
        return jsontext.text(value)

    def _key(self, key: str) -> str:
        return key if _BARE_KEY.fullmatch(key) else f"{self.quote}{key}{self.quote}"


@dataclass(frozen=True, kw_only=True)
class TreeWriter(Writer):
    """A tree of elements, each tag behind a token that no text contains."""

    token: str

    def body(self, call: WantedCall, *, careful: bool) -> str:  # noqa: ARG002
        """The call and its parameters."""
        inside = "".join(
            self._element(key, value, coerce.parameter(call.schema, key), call.schema)
            for key, value in call.arguments.items()
        )
        return f'{self.token}<invoke name="{call.name}">{inside}{self.token}</invoke>'

    def _element(self, name: str, value: Any, rule: Any, root: Mapping[str, Any]) -> str:
        return f"{self.token}<{name}>{self._value(value, rule, root)}{self.token}</{name}>"

    def _value(self, value: Any, rule: Any, root: Mapping[str, Any]) -> str:
        text = coerce.untyped(value, rule, root)
        if text is not None:
            return text
        if not isinstance(value, (dict, list)):
            raise Unwritable("a value would be read as one of another type")
        pairs = value.items() if isinstance(value, dict) else (("item", each) for each in value)
        return "".join(self._element(key, each, None, root) for key, each in pairs)
