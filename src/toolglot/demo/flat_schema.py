"""Which values a schema without references allows."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from toolglot.demo.hints import tokens
from toolglot.ir import Json
from toolglot.schema.keywords import inferred

MOST: Final = 2000
"""Characters or items that are made because a schema demands so many."""

_TYPES: Final = ("string", "object", "integer", "boolean", "null", "array", "number")
FORMATS: Final[Mapping[str, str]] = {
    "date-time": "2026-01-01T09:00:00Z",
    "date": "2026-01-01",
    "time": "09:00:00Z",
    "duration": "PT1H",
    "email": "someone@example.com",
    "idn-email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "iri": "https://example.com/",
    "uri-reference": "/demo",
    "json-pointer": "/demo",
    "regex": ".*",
    "uuid": "00000000-0000-4000-8000-000000000001",
    "byte": "ZGVtbw==",
}
SAMPLES: Final = (
    *("demo", "Demo", "DEMO", "demo-1", "demo_1", "demo.txt", "/demo", "1", "12", "123", "1234"),
    *("12345", "1.0", "1.0.0", "v1.0.0", "a", "A", "ab", "AB", "ABC", "abc", "A1", "a1", "AB-123"),
    *("DE", "EUR", "en", "en-US", "#a0b1c2", "a0b1c2", "0123456789abcdef", "+15551234567"),
    *("09:00", "2026", "2026-01", "*", "* * * * *", "demo/demo", "@demo", "#demo", ""),
    *FORMATS.values(),
)
"""Texts of the shapes that patterns commonly ask for."""


_SHAPES: Final = {
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "email": re.compile(r"[^@\s]+@[^@\s]+"),
    "uri": re.compile(r"\w+:.+"),
    "url": re.compile(r"\w+:.+"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT.+"),
}
"""What a word of the prompt must look like to be of a format."""


def types_of(node: Json) -> list[str]:
    """The types that a schema allows, null last; a text where it does not say."""
    said = node.get("type")
    listed = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    known = [kind for kind in listed or inferred(node) if kind in _TYPES]
    known.sort(key=lambda kind: kind == "null")
    return known or list(_TYPES)


def given(node: Json) -> list[Any] | None:
    """The values that a schema lists."""
    if "const" in node:
        return [node["const"]]
    listed = node.get("enum")
    return listed if isinstance(listed, list) and listed else None


def offers(node: Json) -> list[Any]:
    """What a schema says is usual."""
    examples = node.get("examples")
    return [
        *([node["default"]] if "default" in node else []),
        *(examples if isinstance(examples, list) else []),
    ]


def reluctance(branch: Any, refs: tuple[str, ...]) -> int:
    """Later for a branch that leads into itself, and for null."""
    if not isinstance(branch, dict):
        return 0
    return 2 if branch.get("$ref") in refs else int(branch.get("type") == "null")


def pattern_of(node: Json) -> re.Pattern[str] | None:
    """The pattern of a text, as far as Python can read it."""
    try:
        return re.compile(node["pattern"]) if isinstance(node.get("pattern"), str) else None
    except re.error:
        return None  # JavaScript's patterns know more than ours


def sized(text: str, node: Json) -> str:
    """A text made as long or as short as is allowed."""
    least = min(count_of(node, "minLength", 0), MOST)
    if len(text) < least:
        text = (text or "x") * (least // max(len(text), 1) + 1)
        text = text[:least]
    return text[: count_of(node, "maxLength", len(text))]


def count_of(node: Json, key: str, otherwise: int) -> int:
    """A number of things that a schema demands."""
    value = node.get(key)
    return int(value) if is_number(value) and value >= 0 else otherwise


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def limit(node: Json, word: str, both: Any) -> int | float | None:
    """The lower (`inimum`) or upper (`aximum`) limit, exclusive or not."""
    found = [
        node[key]
        for key in (f"m{word}", f"exclusiveM{word}")
        if is_number(node.get(key)) and abs(node[key]) < math.inf
    ]
    return both(found) if found else None


def is_within(number: float, node: Json) -> bool:
    """Whether a number keeps to the limits."""
    return all(
        not is_number(node.get(key)) or holds(number, node[key]) for key, holds in _LIMITS.items()
    )


_LIMITS: Final[Mapping[str, Any]] = {
    "minimum": lambda number, limit: number >= limit,
    "maximum": lambda number, limit: number <= limit,
    "exclusiveMinimum": lambda number, limit: number > limit,
    "exclusiveMaximum": lambda number, limit: number < limit,
}


def properties_of(node: Json) -> Json:
    """The members that an object may have by name."""
    held = node.get("properties")
    return held if isinstance(held, dict) else {}


def required_of(node: Json) -> list[str]:
    """The members that an object must have."""
    held = node.get("required")
    return [name for name in held if isinstance(name, str)] if isinstance(held, list) else []


def member(node: Json, name: str) -> Any:
    """The schema of a member, named or not."""
    properties = properties_of(node)
    if name in properties:
        return properties[name]
    patterns = node.get("patternProperties")
    for pattern, held in patterns.items() if isinstance(patterns, dict) else ():
        known = pattern_of({"pattern": pattern})
        if known is not None and known.search(name):
            return held
    return node.get("additionalProperties", True)


def is_command(name: str, items: Any) -> bool:
    """Whether a list is a command and its arguments."""
    texts = isinstance(items, dict) and items.get("type") == "string" and "enum" not in items
    return texts and not {"command", "cmd", "argv"}.isdisjoint(tokens(name))


def has_shape(text: str, form: str) -> bool:
    """Whether a word of the prompt looks like a format."""
    shape = _SHAPES.get(form)
    return shape is None or shape.fullmatch(text) is not None
