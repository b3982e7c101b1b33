"""Where Gemini keeps calls: parts of the content of a candidate."""

from typing import Final

from toolglot.wire.call_places import CallPlaces

CALLS: Final = CallPlaces(
    turn="candidates[].content",
    calls="parts[]",
    mark="functionCall",
    tool_key="functionDeclarations",
)
