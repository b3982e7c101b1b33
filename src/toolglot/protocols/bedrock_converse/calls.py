"""Where Converse keeps calls: blocks among the content of the message."""

from typing import Final

from toolglot.wire.call_places import CallPlaces

CALLS: Final = CallPlaces(
    turn="output.message",
    calls="content[]",
    mark="toolUse",
    tool_key="toolSpec",
)
