"""Items of the Responses API, and of others that store answers: messages, tool calls, results and
reasoning, in input and output.

An item that need not be read remains JSON text, so most of a long conversation is
copied and not parsed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Raw

from toolglot.adapt.reasoning.sealed_state import unpack
from toolglot.api import StoredAnswers
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
_REASONING: Final = ("reasoning", "encrypted_content")
REFERENCE: Final = "item_reference"
_REFERENCE_MARK: Final = f'"{REFERENCE}"'.encode()
_BARE_REFERENCE: Final = re.compile(
    rb'\{\s*"id"\s*:\s*"[^"]*"\s*(?:\}|,\s*"type"\s*:\s*null)', re.ASCII
)
"""A reference without its type, which may be left out."""
_LIST: Final = ord("[")

MAX_PAGE: Final = 100
_DEFAULT_PAGE: Final = 20


def read_items(given: Any, state: StoredAnswers | None = None) -> list[Item]:
    """The items of an `input` or `output`: a list, one text, or nothing; with `state`, also what
    else its protocol has in their place.
    """
    if isinstance(given, Raw) and memoryview(given)[0] == _LIST:
        items = jsontext.elements(given)
        bare = state is not None and items and not _is_item(items[0], state)
        return [state.message(items)] if state is not None and bare else items
    value = jsontext.read(given)
    if state is not None and isinstance(value, dict) and not state.is_item(value):
        return [state.message([value])]
    if isinstance(value, str):
        return [state.message(value) if state is not None else _user_message(value)]
    if value is not None and not isinstance(value, list):
        raise DecodeError("input", "expected string or array")
    return value or []


def _is_item(item: Item, state: StoredAnswers) -> bool:
    value = jsontext.read(item)
    return not isinstance(value, dict) or state.is_item(value)


def _user_message(text: str) -> Json:
    return {"type": "message", "role": "user", "content": text}


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


def unanswered_result(
    new: Sequence[Item], earlier: Sequence[Item], state: StoredAnswers | None = None
) -> str | None:
    """The call that a new result is for, if there is no such call; None if all have theirs.

    A compaction may hold any call.
    """
    ending, key = (_RESULT, _CALL_ID) if state is None else (state.results, state.call_id)
    wanted = [found for item in new if (found := _call_id(item, ending)) is not None]
    if not wanted:
        return None
    kinds = {_kind_of(item) for item in earlier}
    if "compaction" in kinds:
        return None
    made = {_call_id(item, _CALL, key) for item in (*earlier, *new)}
    return next((call_id for call_id in wanted if call_id not in made), None)


_CALL: Final = "_call"
_RESULT: Final = "_output"
_CALL_ID: Final = "call_id"


def _kind_of(item: Item) -> str:
    value = jsontext.members(item) if isinstance(item, Raw) else item
    return str(jsontext.read(value.get("type"))) if isinstance(value, dict) else ""


def _call_id(item: Item, ending: str, key: str = _CALL_ID) -> str | None:
    if isinstance(item, Raw) and f'"{key}"'.encode() not in bytes(item):
        return None
    value = jsontext.read(item)
    if not isinstance(value, dict) or not str(value.get("type")).endswith(ending):
        return None
    found = value.get(key)
    return found if isinstance(found, str) else None


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


def is_foreign_reasoning(item: Item, *, own: bool, state: StoredAnswers | None = None) -> bool:
    """Whether a provider of the same protocol would reject an item: reasoning that another provider
    issued, or that only its issuer has stored. Reasoning that we sealed ourselves is not foreign.
    """
    kind, key = _REASONING if state is None else state.reasoning
    if isinstance(item, Raw) and f'"{kind}"'.encode() not in bytes(item):
        return False
    value = jsontext.read(item)
    if not isinstance(value, dict) or value.get("type") != kind:
        return False
    found = value.get(key)
    if not isinstance(found, str):
        return not (own and state is not None and state.bare_reasoning)
    return not own and unpack(found) is None
