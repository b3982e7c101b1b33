"""Tool rules: what a user wants done to tools on the way, as data.

None apply by default: tools are translated, not filtered. A rule can keep tools from a target, give
them another name there, map their parameters, and tell the model what to use instead.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct


class ToolRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules for the tools of one translation. Names are the client's; `*` stands for anything."""

    filter: tuple[str, ...] = ()
    """Tools that the target never sees."""

    rename: Mapping[str, str] = {}
    """Tools that the target knows under another name."""

    parameters: Mapping[str, Mapping[str, str]] = {}
    """By tool: parameters that the target knows under another name."""

    guidance: Mapping[str, str] = {}
    """By filtered tool: what to tell the model to do instead, put before the system prompt."""

    clean: bool = False
    """Take sentences that mention a filtered tool out of system text."""

    repeat_warning: int | None = None
    """Note it when the same call was made this many times in a row."""

    repeat_limit: int | None = None
    """Refuse the request when the same call was made this many times in a row."""

    def filters(self, name: str) -> bool:
        """Whether a tool is kept from the target."""
        return any(fnmatchcase(name, pattern) for pattern in self.filter)


PRESETS: Final[Mapping[str, ToolRules]] = {
    "codex-anthropic": ToolRules(
        filter=("apply_patch", "update_plan"),
        guidance={
            "apply_patch": "Change files with the shell tool; apply_patch is not available.",
            "update_plan": "Keep track of your plan in your answers; update_plan is not available.",
        },
        clean=True,
    ),
}
"""Rules by name, for clients and targets that others have found to need them."""
