"""Calls as a tree of elements, each tag behind a token that no text contains."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolglot.dialects import coerce
from toolglot.dialects.reader import Form, NotACall, Reader, Steps, Stops, encoded
from toolglot.dialects.writers import TreeWriter, Writer

_INVOKE: Final = re.compile(r"<invoke\s+name=[\"']?([^\"'>]+)[\"']?\s*>")
_MAX_HEAD: Final = 1024
_TAG: Final = re.compile(r"\s*<(/?)([^\s<>/]+)\s*>")
_ITEM: Final = "item"
_MAX_DEPTH: Final = 64


class _Node:
    __slots__ = ("children", "name", "text")

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = ""
        self.children: list[_Node] = []


@dataclass(frozen=True, kw_only=True)
class NamespacedForm(Form):
    """`NS<tool_call>NS<invoke name="…">NS<key>valueNS</key>NS</invoke>NS</tool_call>`."""

    token: str

    def writer(self) -> Writer:
        return TreeWriter(
            open=self.openers[0], between="", close=f"{self.token}</tool_call>", token=self.token
        )

    def read(self, reader: Reader, opener: str) -> Steps[None]:  # noqa: ARG002
        """Read a block tag by tag."""
        stops = Stops(self.token)
        yield from reader.spaces()
        while True:
            end = reader.pos
            yield from reader.expect(self.token)
            yield from reader.spaces()
            if (yield from reader.literal("</tool_call>")):
                return
            head, stop = yield from reader.until(stops)
            match = _INVOKE.match(head, 0, _MAX_HEAD)
            if match is None or not stop:
                reader.pos = end
                raise NotACall
            reader.pos -= len(stop)
            name = match[1].strip()
            root = yield from self._tree(reader, stops)
            schema = reader.schema(name)
            members = {
                each.name: _value(each, coerce.parameter(schema, each.name), schema)
                for each in root.children
            }
            reader.offer(name, encoded(members))
            end = reader.pos
            yield from reader.spaces()
            if not (yield from reader.peek()):
                reader.pos = end
                return

    def _tree(self, reader: Reader, stops: Stops) -> Steps[_Node]:
        """The elements of one call, up to its closer."""
        root = _Node("invoke")
        stack = [root]
        while stack:
            yield from reader.expect(self.token)
            tag, stop = yield from reader.until(Stops(">"), 512)
            match = _TAG.fullmatch(tag + stop)
            if match is None:
                raise NotACall
            if match[1]:
                if stack.pop().name != match[2]:
                    raise NotACall
                if stack:
                    yield from reader.spaces()
                continue
            node = _Node(match[2])
            stack[-1].children.append(node)
            stack.append(node)
            if len(stack) > _MAX_DEPTH:
                raise NotACall
            node.text, stop = yield from reader.until(stops)
            if not stop:
                raise NotACall
            reader.pos -= len(stop)
        return root


def _value(node: _Node, rule: Any, root: Mapping[str, Any]) -> Any:
    """The value of an element under its schema."""
    if not node.children:
        kinds = coerce.kinds(rule, root)
        if not node.text.strip() and kinds and "string" not in kinds:
            return [] if "array" in kinds else {} if "object" in kinds else node.text
        return coerce.typed(node.text, rule, root)
    inside = rule if isinstance(rule, Mapping) else {}
    if all(each.name == _ITEM for each in node.children):
        items = _member(inside, "items")
        return [_value(each, items, root) for each in node.children]
    return {each.name: _value(each, _property(inside, each.name), root) for each in node.children}


def _member(rule: Mapping[str, Any], key: str) -> Any:
    """What a rule, or one of its alternatives, says under a key."""
    if key in rule:
        return rule[key]
    for word in ("anyOf", "oneOf", "allOf"):
        for each in rule.get(word) or ():
            if isinstance(each, Mapping) and key in each:
                return each[key]
    return None


def _property(rule: Mapping[str, Any], name: str) -> Any:
    for each in (rule, *(x for word in ("anyOf", "oneOf", "allOf") for x in rule.get(word) or ())):
        if isinstance(each, Mapping):
            found = coerce.parameter(each, name)
            if found is not None:
                return found
    return None
