"""What a format is: how it is recognised, read and written, and what it has a place for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolglot.context import Context
from toolglot.convert.transcript import RecordedConversation
from toolglot.ir import Json
from toolglot.surface import Surface

Rows: TypeAlias = Sequence[Json]


@dataclass(frozen=True, kw_only=True, eq=False)
class Format:
    """A format of transcripts or training data. The functions are those of its module."""

    name: str
    summary: str
    reference: str
    """Where it is described, and when that was read."""
    surface: Surface
    """What its messages can say: passes adapt a conversation to it."""
    read: Callable[[Rows, Context], RecordedConversation]
    """Rows to a conversation; a `DecodeError` if they are none."""
    write: Callable[[RecordedConversation, Context], list[Json]]
    """The reverse, for a conversation that was adapted."""
    recognise: Callable[[Json], str]
    """Why a row, the first one with meaning in a file, is of this format; empty if it is not."""
    unit: Literal["row", "file"] = "row"
    """Whether a row or a whole file is one conversation."""
    suffix: str = ".jsonl"
    """How files of it end: `.json` for one object."""
    ids: bool = True
    """Calls have ids."""
    paired: bool = False
    """Whoever reads it refuses a call without a result."""
    seals: bool = False
    """It has a place for the reasoning state of whatever provider."""
    holds: frozenset[str] = frozenset({"system", "tools"})
    """What it has a place for beside messages: `system`, `tools`, `model`, `metadata`, `sides`."""
    facts: frozenset[str] = frozenset()
    """What it says of a conversation: names in `FACTS`."""
    turn_facts: frozenset[str] = frozenset()
    """What it says of a message: names in `TURN_FACTS`."""
    writable: bool = True
    """It can be written; otherwise only its own program makes it."""
    checked: bool = False
    """It is plain text, so that what was written is read again to see that it says the same."""
    client: str = ""
    """The agent whose tools its calls name, for `tool_names`."""
    aliases: tuple[str, ...] = field(default=())
