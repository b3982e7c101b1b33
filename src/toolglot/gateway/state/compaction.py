"""Compaction for providers that do not know it: a summary in place of what was said.

The Responses API gives a client that asks for it an item with opaque content, to be sent in place
of the items that it stands for. Ours holds the summary that a model wrote, and becomes a message
again before a provider sees it.
"""

from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from typing import Any, Final

from msgspec import Raw

from toolglot.gateway.state.items import Item, items_of, listed
from toolglot.ir import Json
from toolglot.wire import jsontext

_TAG: Final = "tgc1."
MARK: Final = _TAG.encode()
"""Found in every request that holds such an item."""

PROMPT: Final = (
    "Our conversation is about to be continued without its earlier messages. Write a summary that "
    "lets you go on as if you still had them: what was asked for and why, what was decided, found "
    "and changed (names, paths, numbers and exact words that matter), what failed, what is still "
    "to do, and what you were about to do next. Write only the summary; call no tools."
)
_HEAD: Final = "Summary of the conversation so far:\n\n"


def question(members: dict[str, Any]) -> bytes:
    """The request that asks a model for a summary."""
    asked: Json = {"model": members.get("model"), "store": False}
    for key in ("instructions", "prompt_cache_key", "service_tier"):
        if key in members:
            asked[key] = members[key]
    prompt = {"type": "message", "role": "user", "content": PROMPT}
    asked["input"] = [*items_of(members.get("input")), prompt]
    return jsontext.encode(asked)


def answer(summary: Json, items: list[Item], new_id: Any, now: int) -> Json:
    """A compacted response: what the user said, and one item for all the rest."""
    texts = [
        part.get("text", "")
        for item in summary.get("output", ())
        if item.get("type") == "message"
        for part in item.get("content", ())
    ]
    sealed = _TAG + urlsafe_b64encode("".join(texts).encode("utf-8", "surrogatepass")).decode()
    compacted = {"type": "compaction", "id": new_id("cmp_"), "encrypted_content": sealed}
    users = [shown for item in items if (shown := _of_user(item, new_id)) is not None]
    return {
        "id": new_id("resp_"),
        "object": "response.compaction",
        "created_at": now,
        "output": [*users, compacted],
        "usage": summary.get("usage"),
    }


def unfolded(body: bytes) -> bytes:
    """A request with our items as the messages that they stand for."""
    members = jsontext.members(body)
    members["input"] = [_message(item) for item in items_of(members.get("input"))]
    return jsontext.encode(members)


def _message(item: Item) -> Item:
    if isinstance(item, Raw) and MARK not in bytes(item):
        return item
    value = jsontext.read(item)
    sealed = value.get("encrypted_content") if isinstance(value, dict) else None
    if not isinstance(sealed, str) or not sealed.startswith(_TAG):
        return item
    try:
        data = b64decode(sealed.removeprefix(_TAG), altchars=b"-_", validate=True)
        text = data.decode("utf-8", "surrogatepass")
    except (Base64Error, UnicodeError):
        return item
    return {"type": "message", "role": "user", "content": _HEAD + text}


def _of_user(item: Item, new_id: Any) -> Json | None:
    value = jsontext.read(item)
    if not isinstance(value, dict) or value.get("role") != "user":
        return None
    return listed(value, new_id)
