"""Where Ollama keeps calls: in a list of the message. Its tools are those of another protocol."""

from typing import Final

from toolglot.wire.call_places import CallPlaces

CALLS: Final = CallPlaces(turn="message", calls="tool_calls[]", mark="function", alone=None)
