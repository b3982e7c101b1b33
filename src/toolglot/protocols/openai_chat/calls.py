"""Where OpenAI Chat Completions keeps calls: in a list of their own beside the content."""

from typing import Final

from toolglot.wire.call_places import CallPlaces

CALLS: Final = CallPlaces(
    turn="choices[].message",
    calls="tool_calls[]",
    mark="function",
    alone=("id",),
    tool_key="function",
)
