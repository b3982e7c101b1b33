"""Input for tools that take free-form text."""

from typing import Final

from toolglot.demo.hints import Hints, commands, paths, quoted, short
from toolglot.ir import CustomTool
from toolglot.wire import jsontext

_PATCH: Final = "*** Begin Patch\n*** Add File: {path}\n{lines}\n*** End Patch\n"
_FILE: Final = "toolglot-demo.txt"
_WORDS: Final = "Hello from toolglot's demo model."


def freeform(tool: CustomTool, hints: Hints) -> str:
    """A text that a free-form tool understands."""
    about = f"{tool.name} {tool.description or ''} {tool.definition or ''}".lower()
    if "patch" in about:
        return _patch(hints)
    if "javascript" in about or tool.name == "exec":
        return _script(hints)
    if "sql" in about:
        return next(iter(quoted(hints.prompt)), "SELECT 1")
    return next(iter(quoted(hints.prompt)), short(hints.prompt) or "demo")


def _patch(hints: Hints) -> str:
    """A patch that adds the file that the prompt names."""
    path = next(iter(paths(hints.prompt)), _FILE)
    words = next((each for each in quoted(hints.prompt) if each != path), _WORDS)
    return _PATCH.format(path=path, lines="\n".join(f"+{line}" for line in words.splitlines()))


def _script(hints: Hints) -> str:
    """JavaScript that runs a command, as Codex has it where its tools are called by programs."""
    known = commands(hints.prompt) or ["ls", "pwd"]
    command = jsontext.text(known[hints.variant % len(known)])
    return f"const done = await tools.exec_command({{cmd: {command}}});\ntext(done.output);\n"
