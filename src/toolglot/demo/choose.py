"""Which tool fits a prompt: tools of agent clients by intent, others by words in common."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from toolglot.demo.hints import Hints, commands, paths, quoted, tokens, urls
from toolglot.ir import CustomTool, FunctionTool, Json, NamespaceTool, Tool, ToolChoice
from toolglot.schema.openapi import from_openapi

_FEW: Final = 5
"""Up to so many tools, a word in common is enough; among more it would be chance."""

_ENOUGH: Final = 6
_INTENT: Final = 8
_NAME: Final = 4
_FOUND: Final = 2
_SAID: Final = 3
_SENTENCE: Final = 200
_COMMON_WORDS: Final = (
    "a about all an and are as at be by can could current do does for from get give has have "
    "how i in into is it its me my of on or please tell that the then there this to tool use "
    "used using want was what when where which who will with would you your demo one two "
    "parallel twice truncate long error refuse"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())
_NO_TOOLS: Final = re.compile(
    r"text only|(?:do not|don't|without) (?:call|use|using|calling)[\w ]{0,12} tools?",
    re.IGNORECASE,
)


class ToolCandidate(Struct, frozen=True):
    """A tool that can be called, and the namespace that it stands in."""

    tool: FunctionTool | CustomTool
    namespace: str | None = None

    @property
    def key(self) -> str:
        """The name without its spelling: `run_shell_command` and `runShellCommand` are one."""
        return "".join(tokens(self.tool.name))

    @property
    def schema(self) -> Json:
        """The schema of its arguments."""
        held = self.tool.parameters if isinstance(self.tool, FunctionTool) else None
        return from_openapi(held) if held else {}


class _Intent(Struct, frozen=True):
    """What a user may want, the words for it, and the tools of clients that do it."""

    words: frozenset[str]
    tools: frozenset[str]
    given: Callable[[str], bool]
    """Whether the prompt has what such a tool needs."""

    weight: int = _INTENT


def _intent(
    words: str, tools: str, given: Callable[[str], bool] = bool, weight: int = _INTENT
) -> _Intent:
    return _Intent(frozenset(words.split()), frozenset(tools.split()), given, weight)


def _has_path(prompt: str) -> bool:
    return bool(paths(prompt))


def _has_edit(prompt: str) -> bool:
    return _has_path(prompt) and len(quoted(prompt)) > 1


def _lists(prompt: str) -> bool:
    return not {"file", "files", "directory", "folder", "here"}.isdisjoint(tokens(prompt))


_SHELLS: Final = (
    "bash shell exec execcommand runshellcommand localshell runcommand terminal execute"
)
_INTENTS: Final = (
    _intent("run execute command shell bash ls pwd whoami date", _SHELLS),
    _intent("list show see", _SHELLS, _lists),
    _intent("list show see", "listdirectory ls listdir list", _lists, _INTENT - 1),
    _intent("list find", "glob", _lists, _INTENT - 2),
    _intent("read show open cat view print display", "read readfile view cat openfile", _has_path),
    _intent("read show open cat view print display", _SHELLS, _has_path, _INTENT - 1),
    _intent("write create save", "write writefile createfile applypatch", _has_path),
    _intent("patch", "applypatch"),
    _intent("edit replace change", "edit replace strreplace", _has_edit),
    _intent("search grep find look", "grep grepsearch searchfilecontent", _has_path),
    _intent("grep", "grep grepsearch searchfilecontent"),
    _intent("web internet online", "websearch googlewebsearch"),
    _intent("fetch open read get visit page", "webfetch fetch", lambda prompt: bool(urls(prompt))),
)
_FINISHING: Final = frozenset({"structuredoutput", "finalresult"})
"""Tools by which clients want the answer itself."""

_KNOWN: Final = frozenset().union(*(intent.tools for intent in _INTENTS))


def callables(tools: tuple[Tool, ...], choice: ToolChoice | None) -> list[ToolCandidate]:
    """All tools that may be called."""
    if choice is not None and choice.mode == "none":
        return []
    found = list(_flat(tools, None))
    if choice is not None and choice.names:
        found = [each for each in found if _is_named(each, choice.names)]
    return found


def _flat(tools: tuple[Tool, ...], namespace: str | None) -> Iterator[ToolCandidate]:
    for tool in tools:
        if isinstance(tool, NamespaceTool):
            yield from _flat(tool.tools, tool.name)
        elif isinstance(tool, (FunctionTool, CustomTool)):
            yield ToolCandidate(tool, namespace)


def _is_named(each: ToolCandidate, names: tuple[str, ...]) -> bool:
    name, space = each.tool.name, each.namespace
    spellings = {name} if space is None else {name, space, f"{space}__{name}", f"{space}.{name}"}
    return not spellings.isdisjoint(names)


def ranked(tools: list[ToolCandidate], prompt: str, *, forced: bool = False) -> list[ToolCandidate]:
    """The tools that fit a prompt, the best first; all of them if one must be called."""
    usual = [each for each in tools if each.key not in _FINISHING] or tools
    if not forced and (not prompt or _NO_TOOLS.search(prompt)):
        return []
    enough = _ENOUGH if len(usual) > _FEW else 1
    scores = [(_score(each, prompt), -place, each) for place, each in enumerate(usual)]
    scores.sort(key=lambda score: score[:2], reverse=True)
    return [each for score, _, each in scores if forced or score >= enough]


def finishing(tools: list[ToolCandidate]) -> ToolCandidate | None:
    """The tool that takes the answer, if there is one."""
    return next((each for each in tools if each.key in _FINISHING), None)


def _score(each: ToolCandidate, prompt: str) -> int:
    said = set(tokens(prompt))
    if each.key in _KNOWN:
        fitting = [
            intent.weight
            for intent in _INTENTS
            if each.key in intent.tools and said & intent.words and intent.given(prompt)
        ]
        named = _INTENT + 1 if each.tool.name.lower() in _words_of(prompt) else 0
        runs = _INTENT if "`" in prompt and each.key in _SHELLS.split() and commands(prompt) else 0
        return max([0, runs, *fitting, named if len(each.tool.name) > len("write") else 0])
    return _overlap(each, prompt)


def _words_of(prompt: str) -> set[str]:
    return set(re.findall(r"[\w.-]+", prompt.lower()))


def _overlap(each: ToolCandidate, prompt: str) -> int:
    said = _stems(tokens(prompt))
    name = _stems(tokens(each.tool.name))
    sentence = (each.tool.description or "")[:_SENTENCE].split(". ")[0]
    about = _stems(tokens(sentence)) - name
    properties = _table(each.schema.get("properties"))
    members = _stems([word for key in properties for word in tokens(key)]) - name - about
    points = _NAME * len(said & name) + min(len(said & about), _SAID) + len(said & members)
    if name and name <= said:
        points += _FOUND
    hints = Hints(prompt)
    required = each.schema.get("required")
    for key in required if isinstance(required, list) else ():
        held = _table(properties.get(key))
        if held.get("type") == "string" and _is_telling(key) and hints.found(key):
            points += _FOUND
    return points


def _is_telling(name: str) -> bool:
    """Whether a parameter is of a kind that prompts have values for by more than chance."""
    return not {
        "city",
        "location",
        "place",
        "url",
        "email",
        "path",
        "file",
        "expression",
    }.isdisjoint(tokens(name))


def _stems(words: list[str]) -> set[str]:
    return {_stem(word) for word in words if word not in _COMMON and len(word) > 1}


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= len("low"):
            return word.removesuffix(ending)
    return word


def _table(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
