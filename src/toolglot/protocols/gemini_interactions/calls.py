"""Where Gemini Interactions keeps calls: steps of the answer."""

from typing import Final

from toolglot.wire.call_places import CallPlaces

CALLS: Final = CallPlaces(turn="steps[]", mark="type", value="function_call", alone=None)
