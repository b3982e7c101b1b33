"""Calls as nested elements named after their parameters."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolglot.dialects import coerce, literals
from toolglot.dialects.reader import Form, NotACall, Reader, Steps, Stops, encoded, plausible
from toolglot.dialects.writers import NamedWriter, TaggedWriter, Writer, literal

_TAG: Final = re.compile(r"\s*<([A-Za-z_][\w.\-]*)\s*(/?)>")
_ATTRIBUTE: Final = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_AFTER: Final = re.compile(r"\s*(?:<|$)")
_NAMES: Final = ("name", "tool_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
_CDATA: Final = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_MAX_NAME: Final = 256
_SHELLS: Final = ("bash", "shell", "sh", "execute_command", "run_command", "terminal")


@dataclass(frozen=True, kw_only=True)
class ElementForm(Form):
    """`<tool>…</tool>`: attributes, nested elements, JSON, or a plain command."""

    closers: tuple[str, ...]
    inner: str = ""
    """The element of one call, where the opener is a wrapper of several."""
    attributes: bool = False
    """Whether attributes follow the opener."""
    command: bool = False
    """Whether plain text is a command for the shell."""
    escaped: bool = False
    """Whether values are XML text, with entities."""
    input: str = ""
    """The element behind the closer that holds the arguments of the name inside."""

    def writer(self) -> Writer:
        return NamedWriter(
            template=f"{literal(self.openers[0])}<id>{{id}}</id><name>{{name}}</name>"
            f"<arguments>{{arguments}}</arguments>{literal(self.closers[0])}"
        )

    def read(self, reader: Reader, opener: str) -> Steps[None]:
        """Read one call, or all calls of a wrapper."""
        if self.inner:
            yield from self._wrapped(reader)
            return
        given: dict[str, str] = {}
        if self.attributes and not opener.endswith(">"):
            head, stop = yield from reader.until(Stops(">"), 4096)
            if not stop or not head[:1].isspace():
                raise NotACall
            given = {key: html.unescape(a or b) for key, a, b in _ATTRIBUTE.findall(head)}
            if head.endswith("/"):
                self._attributes(reader, given)
                return
        yield from self._one(reader, Stops(*self.closers), given)

    def _wrapped(self, reader: Reader) -> Steps[None]:
        yield from reader.spaces()
        yield from reader.expect(f"<{self.inner}>")
        while True:
            yield from self._one(reader, Stops(f"</{self.inner}>"), {})
            end = reader.pos
            yield from reader.spaces()
            if (yield from reader.literal(*self.closers)):
                return
            if not (yield from reader.literal(f"<{self.inner}>")):
                reader.pos = end
                return

    def _one(self, reader: Reader, end: Stops, given: dict[str, str]) -> Steps[None]:
        body, stop = yield from reader.until(end)
        if not stop:
            raise NotACall
        if self.input:
            yield from self._input(reader, body.strip())
            return
        name, call_id, arguments = self._content(reader, body, given)
        if not plausible(name):
            raise NotACall
        reader.offer(name, arguments, call_id)

    def _attributes(self, reader: Reader, given: dict[str, str]) -> None:
        name = given.pop("name", "")
        if not plausible(name):
            raise NotACall
        reader.offer(name, encoded(_typed(given, reader.schema(name))))

    def _content(self, reader: Reader, body: str, given: dict[str, str]) -> tuple[str, str, str]:
        """Name, id and arguments."""
        text = body.strip()
        if text.startswith("{") and not given.get("name"):
            return _object(text)
        children = _children(text)
        if children is None:
            if given.get("name"):
                return given["name"], "", _json_text(text)
            return self._plain(reader, text)
        fields = dict(children)
        name = given.get("name") or next((fields.pop(k) for k in _NAMES if k in fields), "").strip()
        call_id = fields.pop("id", "").strip() if "id" not in _declared(reader, name) else ""
        given = {key: value for key, value in given.items() if key != "name"}
        for key in _ARGUMENTS:
            if key in fields and key not in _declared(reader, name):
                inside = fields[key].strip()
                nested = _children(inside)
                if nested is None:
                    return name, call_id, _json_text(inside)
                fields = dict(nested)
                break
        values = {key: self._clean(value) for key, value in fields.items()}
        return name, call_id, encoded(_typed({**given, **values}, reader.schema(name)))

    def _clean(self, value: str) -> str:
        value = value.removeprefix("\n").removesuffix("\n")
        match = _CDATA.fullmatch(value.strip()) if self.escaped else None
        if match is not None:
            return match[1]
        return html.unescape(value) if self.escaped else value

    def _plain(self, reader: Reader, text: str) -> tuple[str, str, str]:
        """A command for the shell, or a name with an object."""
        name, _, rest = text.partition("\n") if "\n" in text else text.partition(" ")
        if rest.strip().startswith("{") and reader.tools.resolve(name.strip()):
            return name.strip(), "", _json_text(rest.strip())
        if reader.tools.known and text in reader.tools:
            return text, "", "{}"
        if not self.command or not text or "<" in text:
            raise NotACall
        tools = reader.tools
        if not tools.known:
            return "bash", "", encoded({"command": html.unescape(text)})
        shells = [each for each in _SHELLS if each in tools] or tools.names()
        key = tools.sole_string(shells[0]) if len(shells) == 1 else None
        if key is None:
            raise NotACall
        return shells[0], "", encoded({key: html.unescape(text)})

    def _input(self, reader: Reader, name: str) -> Steps[None]:
        """The arguments in an element of their own behind the name."""
        if not plausible(name):
            raise NotACall
        yield from reader.spaces()
        yield from reader.expect(f"<{self.input}>")
        text, _ = yield from reader.until(Stops(f"</{self.input}>"))
        text = text.strip()
        key = reader.tools.sole_string(reader.tools.resolve(name) or "")
        if text.startswith("{"):
            reader.offer(name, _json_text(text))
        elif key is not None or not _declared(reader, name):
            reader.offer(name, encoded({key or "input": text}))
        else:
            raise NotACall


@dataclass(frozen=True, kw_only=True)
class NameTagForm(Form):
    """`<read_file><path>…</path></read_file>`: declared names are tags."""

    openers: tuple[str, ...] = ("<",)
    at: str = "line"
    bare: bool = True
    follows: str = r"[A-Za-z_][\w.:-]{0,255}(?:>|\Z)|\Z"

    def writer(self) -> Writer:
        return TaggedWriter(
            head="<{name}>\n", parameter="<{key}>{value}</{key}>\n", tail="</{name}>", whole=False
        )

    def read(self, reader: Reader, opener: str) -> Steps[None]:  # noqa: ARG002
        """Read one call of a declared tool."""
        name, stop = yield from reader.until(Stops(">"), _MAX_NAME)
        if not stop or name not in reader.tools:
            raise NotACall
        start = reader.pos
        yield from reader.spaces()
        if (yield from reader.peek()) != "<":
            raise NotACall
        reader.pos = start
        body, stop = yield from reader.until(Stops(f"</{name}>"))
        if not stop:
            raise NotACall
        children = _children(body.strip())
        if children is None and body.strip():
            raise NotACall
        values = {key: value.removeprefix("\n").removesuffix("\n") for key, value in children or ()}
        reader.offer(name, encoded(_typed(values, reader.schema(name))))


def _declared(reader: Reader, name: str) -> Mapping[str, Any]:
    properties = reader.schema(name).get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _children(text: str) -> list[tuple[str, str]] | None:
    """The elements that a text is made of; none if there is anything else in it."""
    text = text.rstrip()
    found: list[tuple[str, str]] = []
    pos = 0
    while pos < len(text):
        match = _TAG.match(text, pos)
        if match is None:
            return None
        name, closed = match.groups()
        if closed:
            found.append((name, ""))
            pos = match.end()
            continue
        closer = f"</{name}>"
        end = text.find(closer, match.end())
        if end < 0:
            return None
        while not _AFTER.match(text, end + len(closer)):
            end = text.find(closer, end + 1)
            if end < 0:
                return None
        found.append((name, text[match.end() : end]))
        pos = end + len(closer)
    return found or None


def _typed(values: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: coerce.typed(raw, coerce.parameter(schema, key), schema) for key, raw in values.items()
    }


def _object(text: str) -> tuple[str, str, str]:
    value = _lenient(text)
    name = value.get("name")
    arguments: Any = next((value[key] for key in _ARGUMENTS if key in value), {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise NotACall
    return name, "", encoded(arguments)


def _json_text(text: str) -> str:
    if not text:
        return "{}"
    value = _lenient(text)
    return text if literals.is_json(text) else encoded(value)


def _lenient(text: str) -> dict[str, Any]:
    try:
        value = literals.lenient(text)
    except (ValueError, ArithmeticError):
        raise NotACall from None
    if not isinstance(value, dict):
        raise NotACall
    return value
