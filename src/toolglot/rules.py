"""Tool rules: what a user wants done to tools, as data.

None apply by default: tools are translated, not filtered. A rule can remove tools, give
them another name, map their parameters, and say what the model should use instead.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct


class ToolRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules for the tools of one translation. Names are the client's; `*` matches anything."""

    filter: tuple[str, ...] = ()
    """Tools that are not sent to the target."""

    rename: Mapping[str, str] = {}
    """Tools that have another name at the target."""

    parameters: Mapping[str, Mapping[str, str]] = {}
    """By tool: parameters that have another name at the target."""

    guidance: Mapping[str, str] = {}
    """By filtered tool: what the model should do instead, put before the system prompt."""

    clean: bool = False
    """Remove sentences that mention a filtered tool from system text."""

    repeat_warning: int | None = None
    """Add a note when the same call was made this many times in a row."""

    repeat_limit: int | None = None
    """Reject the request when the same call was made this many times in a row."""

    def filters(self, name: str) -> bool:
        """Whether a tool is removed."""
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
