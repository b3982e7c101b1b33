"""Raw text as the value that a tool's schema asks for; never an error, at worst the text itself.

And back: the raw text that is read as a given value.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolglot.dialects import literals
from toolglot.wire import jsontext

_ALIASES: Final = {
    "str": "string", "text": "string", "varchar": "string", "char": "string", "enum": "string",
    "int": "integer", "int32": "integer", "int64": "integer", "long": "integer",
    "short": "integer", "unsigned": "integer", "uint": "integer", "uint32": "integer",
    "uint64": "integer", "float": "number", "float32": "number", "float64": "number",
    "double": "number", "bool": "boolean", "dict": "object", "arr": "array", "list": "array",
    "sequence": "array",
}  # fmt: skip
_ORDER: Final = ("null", "integer", "number", "boolean", "object", "array", "string")
_INTEGER: Final = re.compile(r"[-+]?\d{1,4000}")
_MAX_HOPS: Final = 16


def typed(raw: str, rule: Any, root: Mapping[str, Any], *, plain: bool = True) -> Any:
    """The value of a raw text under the schema of its parameter.

    Without a schema: the text if `plain`, else JSON where it is JSON.
    """
    allowed = kinds(rule, root)
    if not allowed:
        return raw if plain else _json_or_text(raw)
    for kind in _ORDER:
        if kind in allowed:
            found, value = _READERS[kind](raw)
            if found:
                return value
    return raw


def untyped(value: Any, rule: Any, root: Mapping[str, Any], *, plain: bool = True) -> str | None:
    """The raw text that `typed` reads as this value; none if there is none."""
    texts = (value, jsontext.text(value)) if isinstance(value, str) else (jsontext.text(value),)
    for text in texts:
        if literals.same(typed(text, rule, root, plain=plain), value):
            return text
    return None


def kinds(rule: Any, root: Mapping[str, Any]) -> set[str]:
    """The types that a schema allows; none if it says nothing of types."""
    return set(_kinds(rule, root, 0))


def parameter(schema: Mapping[str, Any], key: str) -> Any:
    """The rule for one parameter."""
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return properties[key]
    return None


def _kinds(rule: Any, root: Mapping[str, Any], hops: int) -> Iterator[str]:
    """All types that a rule allows."""
    if not isinstance(rule, Mapping) or hops > _MAX_HOPS:
        return
    kind = rule.get("type")
    for each in kind if isinstance(kind, list) else [kind]:
        if isinstance(each, str):
            yield _ALIASES.get(each.lower(), each.lower())
    if rule.get("nullable") is True:
        yield "null"
    reference = rule.get("$ref")
    if isinstance(reference, str):
        yield from _kinds(_follow(reference, root), root, hops + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        several = rule.get(word)
        for each in several if isinstance(several, list) else ():
            yield from _kinds(each, root, hops + 1)
    if kind is None and isinstance(rule.get("enum"), list):
        yield from {_kind_of(value) for value in rule["enum"]}


def _follow(reference: str, root: Mapping[str, Any]) -> Any:
    node: Any = root
    for step in reference.removeprefix("#").split("/"):
        if step:
            node = node.get(step) if isinstance(node, Mapping) else None
    return node


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return {int: "integer", float: "number", dict: "object", list: "array"}.get(
        type(value), "string"
    )


def _null(raw: str) -> tuple[bool, Any]:
    return raw.strip().lower() == "null", None


def _integer(raw: str) -> tuple[bool, Any]:
    if _INTEGER.fullmatch(raw.strip()):
        return True, int(raw)
    return False, None


def _number(raw: str) -> tuple[bool, Any]:
    try:
        return True, literals.number(raw.strip())
    except (ValueError, ArithmeticError):
        return False, None


def _boolean(raw: str) -> tuple[bool, Any]:
    word = raw.strip().lower()
    return word in ("true", "false"), word == "true"


def _object(raw: str) -> tuple[bool, Any]:
    return _container(raw, dict)


def _array(raw: str) -> tuple[bool, Any]:
    return _container(raw, list)


def _container(raw: str, kind: type) -> tuple[bool, Any]:
    text = raw.strip()
    if not text.startswith(("{", "[", "(")):
        return False, None
    try:
        value = literals.lenient(text)
    except (ValueError, ArithmeticError):
        value = _unescaped(text)
    return isinstance(value, kind), value


def _unescaped(text: str) -> Any:
    """The value of a text in which every quote was escaped once too often."""
    if '\\"' not in text:
        return None
    try:
        return literals.lenient(literals.lenient(f'"{text}"'))
    except (ValueError, ArithmeticError, TypeError):
        return None


def _string(raw: str) -> tuple[bool, Any]:
    return True, raw


def _json_or_text(raw: str) -> Any:
    try:
        return literals.lenient(raw.strip()) if raw.strip() else raw
    except (ValueError, ArithmeticError):
        return raw


_READERS: Final = {
    "null": _null, "integer": _integer, "number": _number, "boolean": _boolean,
    "object": _object, "array": _array, "string": _string,
}  # fmt: skip
