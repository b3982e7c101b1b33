"""The tools of coding agents that do the same, with the names of their arguments.

A session that moves from one agent to another has its calls renamed by this table, so that the
model finds tools in its history that it has. Read from the requests of Claude Code 2.1.197, Codex
0.166.0, opencode 1.18.33, Gemini CLI 0.50 and Qwen Code 0.15.10 (2026-11-16).
"""

from functools import cache
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, Request, ToolCall, ToolResult
from toolglot.wire import jsontext

_COLUMNS: Final = ("claude-code", "codex", "opencode", "gemini-cli", "qwen-code")

_ROWS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "Bash(command, description, timeout)",
        "exec_command(cmd, , )",
        "bash(command, , timeout)",
        "run_shell_command(command, description, )",
        "run_shell_command(command, description, timeout)",
    ),
    (
        "Read(file_path, offset, limit)",
        "",
        "read(filePath, offset, limit)",
        "read_file(file_path, , )",
        "read_file(file_path, offset, limit)",
    ),
    (
        "Write(file_path, content)",
        "",
        "write(filePath, content)",
        "write_file(file_path, content)",
        "write_file(file_path, content)",
    ),
    (
        "Edit(file_path, old_string, new_string, replace_all)",
        "",
        "edit(filePath, oldString, newString, replaceAll)",
        "replace(file_path, old_string, new_string, allow_multiple)",
        "edit(file_path, old_string, new_string, replace_all)",
    ),
    (
        "Glob(pattern, path)",
        "",
        "glob(pattern, path)",
        "glob(pattern, dir_path)",
        "glob(pattern, path)",
    ),
    (
        "Grep(pattern, path, glob)",
        "",
        "grep(pattern, path, include)",
        "grep_search(pattern, dir_path, include_pattern)",
        "grep_search(pattern, path, glob)",
    ),
)
"""One row for tools that do the same; an empty cell: the agent has none, and the name stays."""

_Renamed = dict[str, tuple[str, dict[str, str]]]


@cache
def _table(source: str, target: str) -> _Renamed:
    """New names of tools, and of their arguments, by the old ones."""
    if source not in _COLUMNS or target not in _COLUMNS:
        return {}
    one, other = _COLUMNS.index(source), _COLUMNS.index(target)
    renamed: _Renamed = {}
    for row in _ROWS:
        if row[one] and row[other]:
            (old, olds), (new, news) = _cell(row[one]), _cell(row[other])
            pairs = zip(olds, news, strict=True)
            renamed[old] = new, {a: b for a, b in pairs if a and b and a != b}
    return renamed


def _cell(text: str) -> tuple[str, list[str]]:
    name, _, arguments = text.rstrip(")").partition("(")
    return name, [each.strip() for each in arguments.split(",")]


def rename_tools(request: Request, source: str, target: str, ctx: Context) -> Request:
    """A conversation whose calls name the tools of another agent, where that has the same ones."""
    table = _table(source, target)
    if not table:
        return request
    messages = [_renamed(message, table, target, ctx) for message in request.messages]
    return replace(request, messages=tuple(messages))


def _renamed(message: Message, table: _Renamed, target: str, ctx: Context) -> Message:
    parts: list[Any] = []
    changed = False
    for part in message.parts:
        new = part
        if isinstance(part, ToolCall) and part.name in table and part.type == "function":
            name, arguments = table[part.name]
            words = f"{part.name} is {name} in {target}"
            ctx.note("value-respelled", ctx.where(part), words)
            new = replace(part, name=name, arguments=_arguments(part, arguments))
        elif isinstance(part, ToolResult) and part.name in table:
            new = replace(part, name=table[part.name][0])
        changed = changed or new is not part
        parts.append(new)
    return replace(message, parts=tuple(parts)) if changed else message


def _arguments(call: ToolCall, names: dict[str, str]) -> str:
    try:
        value = jsontext.exact(call.arguments)
    except ValueError:
        return call.arguments
    if not isinstance(value, dict) or names.keys().isdisjoint(value):
        return call.arguments
    return jsontext.text({names.get(key, key): each for key, each in value.items()})
