"""`toolglot demo`: one example through every pair of protocols."""

import argparse
from typing import Final

from toolglot.cli.common import PROTOCOL_WIDTH, Commands, add_command, print_groups
from toolglot.ir import Json
from toolglot.registry import PROTOCOLS
from toolglot.translate import translate_request

EXAMPLE: Final[Json] = {
    "model": "claude-sonnet-5",
    "max_tokens": 2048,
    "system": "You plan day trips. Look things up before you answer.",
    "tools": [
        {
            "name": "tide_table",
            "description": "High and low water for a harbour on a day.",
            "input_schema": {
                "type": "object",
                "properties": {
                    "harbour": {"type": "string"},
                    "day": {
                        "type": "string",
                        "description": "ISO date (optional, defaults to today)",
                    },
                },
                "required": ["harbour", "day"],
            },
        }
    ],
    "messages": [
        {"role": "user", "content": "Can we walk to the island on Sunday?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see when the causeway is dry."},
                {
                    "type": "tool_use",
                    "id": "toolu_tide",
                    "name": "tide_table",
                    "input": {"harbour": "Lindis"},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_tide",
                    "content": "low water 11:40, 0.6 m",
                }
            ],
        },
    ],
}


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "translate a bundled example through every pair of protocols"
    add_command(commands, "demo", run, summary, "toolglot demo")


def run(_args: argparse.Namespace) -> int:
    """Translate the example to every protocol, and from each of those to every other."""
    rows = []
    for source in PROTOCOLS:
        first, _ = translate_request(EXAMPLE, source="anthropic", target=source)
        for target in PROTOCOLS:
            wire, receipt = translate_request(
                first.body, source=source, target=target, path=first.path
            )
            changes = ", ".join(f"{count}x {code}" for code, count in receipt.codes().items())
            head = f"{target:<{PROTOCOL_WIDTH}} {len(wire.data()):>4} bytes"
            rows.append((f"from {source} to", head, changes or "nothing changed"))
    print("One tool loop through every pair of protocols, with the notes of its receipt")
    print_groups(rows, PROTOCOL_WIDTH + 16)
    return 0
