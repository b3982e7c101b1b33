"""Where OpenAI Responses keeps calls: items of the output."""

from typing import Final

from toolglot.wire.call_places import CallPlaces

CALLS: Final = CallPlaces(turn="output[]", mark="call_id", not_types=("_output",), tool_key="name")
