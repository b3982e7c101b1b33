"""`toolglot render`: tools and calls as text, for a model without tools."""

import argparse
from typing import Any, Final

from toolglot.cli.common import Commands, add_command, read_list
from toolglot.dialects.rendering import render_calls, render_result, render_tools
from toolglot.dialects.table import DIALECTS

_EXAMPLES: Final = (
    "toolglot render --dialect hermes",
    "toolglot render --dialect qwen3_coder --tools tools.json",
    "toolglot render --dialect glm45 --tools tools.json --calls calls.json",
)
_TOOLS: Final = [
    {
        "name": "get_weather",
        "description": "The weather in a place now.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    }
]
_CALLS: Final = [
    {"id": "call_1", "name": "get_weather", "arguments": {"city": "Oslo", "days": 3}},
    {"id": "call_2", "name": "get_weather", "arguments": {"city": "Bergen"}},
]
_RESULT: Final = {"id": "call_1", "name": "get_weather", "content": "Rain, 7 °C"}


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "print tools and calls as text in a dialect; samples if no file is given"
    parser = add_command(commands, "render", run, summary, *_EXAMPLES)
    parser.add_argument(
        "--dialect",
        required=True,
        choices=list(DIALECTS),
        metavar="DIALECT",
        help="how the calls are written (`toolglot dialects` lists them)",
    )
    parser.add_argument(
        "--tools", metavar="FILE", help="a JSON list of tools, or a request that declares them"
    )
    parser.add_argument(
        "--calls",
        metavar="FILE",
        help='a JSON list of calls: {"name": …, "arguments": {…}}, or as APIs write them',
    )


def run(args: argparse.Namespace) -> int:
    """Print what was asked for, with an empty line between one and the next."""
    tools = read_list(args.tools, "tools") if args.tools else None
    calls = read_list(args.calls, "calls", "tool_calls") if args.calls else None
    print("\n\n".join(_rendered(args.dialect, tools, calls)))
    return 0


def _rendered(dialect: str, tools: list[Any] | None, calls: list[Any] | None) -> list[str]:
    if tools is None and calls is None:
        result = render_result(_RESULT, dialect)
        return [render_tools(_TOOLS, dialect), render_calls(_CALLS, dialect, _TOOLS), result]
    texts = [render_tools(tools, dialect)] if tools is not None else []
    return texts + ([render_calls(calls, dialect, tools)] if calls is not None else [])
