"""Tool rules: what a user wants done to tools, as data.

None apply by default: tools are translated, not filtered. A rule can remove tools, give
them another name, map their parameters, and say what the model should use instead.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

_CHOICE: Final = re.compile(r"\{([\w.-]+(?:\|[\w.-]+)*)\}")
"""Names in a guidance of which the first that the request declares is meant."""
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")


class ToolRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules for the tools of one translation. Names are the client's; `*` matches anything."""

    filter: tuple[str, ...] = ()
    """Tools that are not sent to the target."""

    rename: Mapping[str, str] = {}
    """Tools that have another name at the target."""

    parameters: Mapping[str, Mapping[str, str]] = {}
    """By tool: parameters that have another name at the target."""

    guidance: Mapping[str, str] = {}
    """By filtered tool: what the model should do instead, put before the system prompt. In it,
    `{exec_command|shell}` is the first of these tools that the request declares; a sentence
    without one of them is left out."""

    clean: bool = False
    """Remove sentences that mention a filtered tool from system text."""

    repeat_warning: Annotated[int, Meta(ge=1)] | None = None
    """Warn the model when the same call was made this many times in a row."""

    repeat_limit: Annotated[int, Meta(ge=1)] | None = None
    """Reject the request when the same call was made this many times in a row."""

    def filters(self, name: str) -> bool:
        """Whether a tool is removed."""
        return any(fnmatchcase(name, pattern) for pattern in self.filter)

    def guidance_for(self, name: str, declared: Iterable[str]) -> str:
        """What to do in place of a filtered tool, with these tools; nothing if that is not said."""
        sentences = _SENTENCE.split(self.guidance.get(name, ""))
        names = {each: self.rename.get(each, each) for each in declared}
        named = (_name_tools(sentence, names) for sentence in sentences)
        return " ".join(sentence for sentence in named if sentence)


def _name_tools(sentence: str, names: Mapping[str, str]) -> str:
    chosen = {
        found[0]: next((names[name] for name in found[1].split("|") if name in names), "")
        for found in _CHOICE.finditer(sentence)
    }
    if not all(chosen.values()):
        return ""
    return _CHOICE.sub(lambda found: chosen[found[0]], sentence)


def combine_rules(rules: Iterable[ToolRules]) -> ToolRules | None:
    """Several rules as one: of two for the same thing the later counts."""
    given = list(rules)
    if not given:
        return None
    later: dict[str, Any] = {}
    for each in given:
        for key in ("rename", "parameters", "guidance"):
            later[key] = {**later.get(key, {}), **getattr(each, key)}
        later["filter"] = tuple(dict.fromkeys((*later.get("filter", ()), *each.filter)))
        later["clean"] = later.get("clean", False) or each.clean
        for key in ("repeat_warning", "repeat_limit"):
            value = getattr(each, key)
            later[key] = later.get(key) if value is None else value
    return ToolRules(**later)


PRESETS: Final[Mapping[str, ToolRules]] = {
    "codex-anthropic": ToolRules(
        filter=("apply_patch", "update_plan"),
        guidance={
            "apply_patch": "apply_patch is not available. Change files with "
            "{exec_command|shell_command|shell|local_shell|container.exec|edit_file}.",
            "update_plan": "update_plan is not available. Keep track of your plan in your answers.",
        },
        clean=True,
    ),
}
"""Rules by name, for clients and targets that others have found to need them."""
