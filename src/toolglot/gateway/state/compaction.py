"""Compaction for providers that do not have it: a summary in place of a conversation.

`POST /v1/responses/compact` returns an item of type `compaction` with opaque content, which the
client sends in place of the items that it replaces. Ours contains a summary that a model wrote, and
becomes a message again before the request goes to a provider.
"""

from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from typing import Any, Final

from msgspec import Raw

from toolglot.gateway.state.items import Item, normalize_item, read_items
from toolglot.ir import Json
from toolglot.wire import jsontext

_TAG: Final = "tgc1."
MARK: Final = _TAG.encode()
"""In every request that contains such an item."""

PROMPT: Final = (
    "Our conversation is about to be continued without its earlier messages. Write a summary that "
    "lets you go on as if you still had them: what was asked for and why, what was decided, found "
    "and changed (names, paths, numbers and exact words that matter), what failed, what is still "
    "to do, and what you were about to do next. Write only the summary; call no tools."
)
_HEAD: Final = "Summary of the conversation so far:\n\n"


def summary_request(members: dict[str, Any]) -> bytes:
    """The request that asks a model for the summary of a conversation."""
    request: Json = {"model": members.get("model"), "store": False}
    for key in ("instructions", "prompt_cache_key", "service_tier"):
        if key in members:
            request[key] = members[key]
    prompt = {"type": "message", "role": "user", "content": PROMPT}
    request["input"] = [*read_items(members.get("input")), prompt]
    return jsontext.encode(request)


def compacted_response(summary: Json, items: list[Item], new_id: Any, now: int) -> Json:
    """The response of the endpoint: the user's messages, and one item for all the rest."""
    texts = [
        part.get("text", "")
        for item in summary.get("output", ())
        if item.get("type") == "message"
        for part in item.get("content", ())
    ]
    sealed = _TAG + urlsafe_b64encode("".join(texts).encode("utf-8", "surrogatepass")).decode()
    compacted = {"type": "compaction", "id": new_id("cmp_"), "encrypted_content": sealed}
    users = [message for item in items if (message := _user_message(item, new_id)) is not None]
    return {
        "id": new_id("resp_"),
        "object": "response.compaction",
        "created_at": now,
        "output": [*users, compacted],
        "usage": summary.get("usage"),
    }


def expand_compactions(body: bytes) -> bytes:
    """A request with our compaction items replaced by messages."""
    members = jsontext.members(body)
    members["input"] = [_message(item) for item in read_items(members.get("input"))]
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


def _user_message(item: Item, new_id: Any) -> Json | None:
    value = jsontext.read(item)
    if not isinstance(value, dict) or value.get("role") != "user":
        return None
    return normalize_item(value, new_id)
