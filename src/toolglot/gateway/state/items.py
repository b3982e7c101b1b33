"""Items of the Responses API: messages, tool calls, results and reasoning, in input and output.

An item that need not be read remains JSON text, so most of a long conversation is
copied and not parsed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Raw

from toolglot.adapt.reasoning.sealed_state import unpack
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext

Item = Any
"""An item as an object, or as its JSON text (`Raw`)."""

_PREFIX: Final[Mapping[str, str]] = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "function_call_output": "fco_",
    "custom_tool_call": "ctc_",
    "custom_tool_call_output": "ctco_",
    "compaction": "cmp_",
}
_ANY_PREFIX: Final = "item_"
_TEXT: Final[Mapping[str, str]] = {"assistant": "output_text"}
_ANY_TEXT: Final = "input_text"
_REASONING: Final = "reasoning"
REFERENCE: Final = "item_reference"
_REFERENCE_MARK: Final = f'"{REFERENCE}"'.encode()
_BARE_REFERENCE: Final = re.compile(
    rb'\{\s*"id"\s*:\s*"[^"]*"\s*(?:\}|,\s*"type"\s*:\s*null)', re.ASCII
)
"""A reference without its type, which may be left out."""
_LIST: Final = ord("[")

MAX_PAGE: Final = 100
_DEFAULT_PAGE: Final = 20


def read_items(given: Any) -> list[Item]:
    """The items of an `input` or `output`: a list, one text, or nothing."""
    if isinstance(given, Raw) and memoryview(given)[0] == _LIST:
        return jsontext.elements(given)
    value = jsontext.read(given)
    if isinstance(value, str):
        return [{"type": "message", "role": "user", "content": value}]
    if value is not None and not isinstance(value, list):
        raise DecodeError("input", "expected string or array")
    return value or []


def normalize_item(item: Item, new_id: Callable[[str], str]) -> Json:
    """An item as the API lists it: with a type, an id, and content in parts."""
    value = jsontext.read(item)
    if not isinstance(value, dict):
        raise DecodeError("input", "expected items to be objects")
    kind = value.get("type") or "message"
    prefix = _PREFIX.get(kind, _ANY_PREFIX)
    content = value.get("content")
    listed: Json = {"id": new_id(prefix), **value, "type": kind}
    if not listed["id"]:
        listed["id"] = new_id(prefix)
    if kind == "message" and isinstance(content, str):
        word = _TEXT.get(str(value.get("role")), _ANY_TEXT)
        more: Json = {"annotations": []} if word in _TEXT.values() else {}
        listed["content"] = [{"type": word, "text": content, **more}]
    if kind == "message":
        listed.setdefault("status", "completed")
    return listed


def may_have_references(body: bytes) -> bool:
    """Whether a request may name items by their ids alone; most do not, and need not be read."""
    return _REFERENCE_MARK in body or _BARE_REFERENCE.search(body) is not None


def referenced_id(item: Item) -> str | None:
    """The id of the item that this one stands for; None for an item that is there itself."""
    if isinstance(item, Raw):
        data = bytes(item)
        if _REFERENCE_MARK not in data and _BARE_REFERENCE.match(data) is None:
            return None
    value = jsontext.read(item)
    if not isinstance(value, dict) or "role" in value:
        return None
    wanted = value.get("id") if (value.get("type") or REFERENCE) == REFERENCE else None
    return wanted if isinstance(wanted, str) else None


def id_of(item: Item) -> str | None:
    """The id of an item, if it has one."""
    if isinstance(item, Raw):
        try:
            item = jsontext.members(item)
        except DecodeError:
            return None
    found = jsontext.read(item.get("id")) if isinstance(item, dict) else None
    return found if isinstance(found, str) and found else None


def paginate(items: Sequence[Json], query: Mapping[str, str]) -> Json:
    """The page of items that `after`, `limit` and `order` ask for; the newest first by default."""
    limit = query.get("limit", str(_DEFAULT_PAGE))
    if not limit.isdigit() or not 1 <= int(limit) <= MAX_PAGE:
        raise DecodeError("limit", f"expected a number from 1 to {MAX_PAGE}")
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise DecodeError("order", "expected asc or desc")
    ordered = list(items) if order == "asc" else list(reversed(items))
    after = query.get("after")
    if after is not None:
        places = [place for place, item in enumerate(ordered) if item["id"] == after]
        if not places:
            raise DecodeError("after", f"no item has the id {after!r}")
        ordered = ordered[places[0] + 1 :]
    data = ordered[: int(limit)]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": len(ordered) > len(data),
    }


def is_foreign_reasoning(item: Item, *, own: bool) -> bool:
    """Whether a provider of the same protocol would reject an item: reasoning that another provider
    issued, or that only its issuer has stored. Reasoning that we sealed ourselves is not foreign.
    """
    if isinstance(item, Raw) and b'"reasoning"' not in bytes(item):
        return False
    value = jsontext.read(item)
    if not isinstance(value, dict) or value.get("type") != _REASONING:
        return False
    state = value.get("encrypted_content")
    if not isinstance(state, str):
        return True
    return not own and unpack(state) is None
