"""Where Anthropic Messages keeps calls: blocks among the content of the response."""

from typing import Final

from toolglot.wire.call_places import CallPlaces

CALLS: Final = CallPlaces(
    turn="content[]", mark="type", value="tool_use", content="content", tool_key="input_schema"
)
