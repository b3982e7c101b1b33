"""A dialect as one row: how its calls are read and written, and how results are given to it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from toolglot.dialects.reader import Form
from toolglot.dialects.writers import WantedCall, Writer

_ARGUMENTS: Final = '{"city": "Oslo"}'


@dataclass(frozen=True, kw_only=True)
class ResultTemplate:
    """What comes before and after the text of a result, with `{name}` for the tool."""

    open: str
    close: str = ""
    raw: bool = True
    """Whether the text is written as it is; otherwise in a JSON object with the tool's name."""
    mark: str = ""
    """What would end the text; by default what comes after it."""


TOOL_RESPONSE: Final = ResultTemplate(
    open="<tool_response>\n", close="\n</tool_response>", raw=False
)
"""Results as Hermes has them, which most models understand."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dialect:
    """How some models write calls. Rows are compared by identity, so that they are cheap keys."""

    name: str
    models: str
    forms: tuple[Form, ...]
    """How calls are read, the usual form first."""
    write: Writer | None = None
    """How calls are written; by default as the first form is usually written."""
    result: ResultTemplate = TOOL_RESPONSE
    """How results are given to the model."""
    example: str = ""
    """What a model writes to call `get_weather`; by default what `write` makes of that call."""
    reasoning: tuple[tuple[str, str], ...] = (("<think>", "</think>"),)
    interrupts: bool = True
    """Whether a call ends reasoning that was not closed."""
    calls_in_thought: bool = False
    """Whether calls count in reasoning that was closed, too."""
    drops: tuple[str, ...] = ()
    """Marks that frame answers and mean nothing to the reader."""
    begins: tuple[str, ...] = ()
    """Those of `drops` that no other dialect begins an answer with: where one stands there, the
    dialect is known before there is a call.
    """
    strays: tuple[str, ...] = ()
    """Closers that may be left over after a call."""
    auto: bool = True
    """Whether it is looked for when the dialect has to be found out."""
    needs_tools: bool = False
    """Whether it is then looked for only if the tools are declared."""

    def __post_init__(self) -> None:
        if not self.example:
            call = WantedCall("get_weather", {"city": "Oslo"}, _ARGUMENTS)
            object.__setattr__(self, "example", next(self.writer.write([call])))

    @cached_property
    def writer(self) -> Writer:
        """How calls are written."""
        return self.write or self.forms[0].writer()
