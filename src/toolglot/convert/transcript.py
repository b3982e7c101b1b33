"""A conversation that was written down: what every format reads to and writes from."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from toolglot.ir import Json, Message, Request, Value

_KEY: Final = "transcript"
"""The key of a message's `extras` for what a transcript says beside it."""

TURN_FACTS: Final = ("time", "id", "model", "usage", "summary", "context")
"""What may be known of one message: when it was written, its id, the model that wrote it, the
tokens (`input`, `output`, `cache_read`, `cache_write`, `reasoning`), whether it stands for earlier
messages that a client had compacted, and whether a client wrote it by itself to set the scene."""

FACTS: Final = ("id", "time", "title", "folder", "branch", "agent", "version")
"""What may be known of a whole conversation."""


NO_FACTS: Final[Mapping[str, str]] = {}
NO_METADATA: Final[Json] = {}


class RecordedConversation(Value, frozen=True, kw_only=True):
    """Messages, tools and model as in a request, and what a file says beside them."""

    request: Request
    facts: Mapping[str, str] = {}
    """By the names in `FACTS`."""
    metadata: Json = NO_METADATA
    """Further columns of a row, which only files without a fixed set of columns can have."""
    sides: tuple["RecordedConversation", ...] = ()
    """Conversations of sub-agents."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, without the system text that has a place of its own."""
        return self.request.messages

    def with_messages(self, messages: tuple[Message, ...]) -> "RecordedConversation":
        """The same conversation with other messages."""
        return replace(self, request=replace(self.request, messages=messages))


def turn_of(message: Message) -> Json:
    """What is known of a message, by the names in `TURN_FACTS`."""
    return message.extras.get(_KEY, {})


def with_turn(message: Message, **facts: Any) -> Message:
    """A message of which more is known; facts that are None or empty are left out."""
    known = {**turn_of(message), **{key: value for key, value in facts.items() if value}}
    return replace(message, extras={**message.extras, _KEY: known}) if known else message
