"""Tools that providers define themselves, as protocols declare them in their `Surface`.

Some the provider runs, some the client. What a protocol does not declare has no counterpart
elsewhere and is left out with a note: computer and browser use, image generation, file search,
remote MCP servers, maps.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from toolglot.ir import Json


class HostedTool(Struct, frozen=True, kw_only=True):
    """A tool that the provider runs."""

    purpose: str
    """What it is for, in a word that all protocols share."""

    types: tuple[str, ...]
    """Its types; versions of one add a date to it."""

    wire: Json
    """How it is written, without settings."""

    wrapped: str = ""
    """The member that holds everything about it, if it is one."""

    settings: Mapping[str, str] = {}
    """Settings it has, by the name that all protocols share: paths in it."""

    neutral: Mapping[str, tuple[Any, ...]] = {}
    """Members that say nothing more than their absence, if they have one of these values."""

    choice: str = ""
    """The member by which a tool choice names it; `required`: it can only be the one tool there is;
    empty: it cannot be chosen."""

    models: str = ""
    """What the names of models contain that take it; empty: all do."""


class ClientTool(Struct, frozen=True, kw_only=True):
    """A tool that a provider defines and the client runs: elsewhere it is a function."""

    types: tuple[str, ...]
    name: str
    """The name of the function, unless the tool says its own."""

    description: str
    parameters: Json = {}
    only: Mapping[str, tuple[Any, ...]] = {}
    """Members and the values with which it is the client that runs it; None is absence."""

    call: str = ""
    """The type of its calls, where those have one of their own."""

    member: str = ""
    """Where such a call keeps its arguments."""

    fixed: Json = {}
    """What stands beside the arguments in that place."""

    id: str = ""
    """How ids of such calls begin."""

    needs: Mapping[str, type[Any]] = {}
    """Arguments without which it is no call."""

    before: tuple[str, ...] = ()
    """What comes before a text that should have been a list."""

    beside: Json = {}
    """What else such a call says."""

    output: str = ""
    """The type of its results."""

    result: str = "output"
    """Where such a result keeps what the tool said."""


# --- schemas -------------------------------------------------------------------------------------


def object_schema(required: tuple[str, ...], **properties: Json) -> Json:
    """The parameters of a tool."""
    return {"type": "object", "properties": properties, "required": list(required)}


def text_schema(description: str) -> Json:
    """A parameter that is text."""
    return {"type": "string", "description": description}
