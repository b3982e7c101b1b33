"""Write your own check once, for requests of every protocol.

Whatever protocol a request comes in, it decodes to the same values. This check finds tools without
a description and calls that nobody answered.

    python examples/check_requests.py
"""

from collections.abc import Iterator
from typing import Any

import toolglot
from toolglot import ir

TOOL = {"name": "tide_table", "parameters": {"type": "object", "properties": {}}}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    (
        "openai-chat",
        {
            "model": "gpt-6.1",
            "tools": [{"type": "function", "function": TOOL}],
            "messages": [
                {"role": "user", "content": "Low water?"},
                {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "tide_table", "arguments": "{}"},
                        }
                    ],
                },
                {"role": "user", "content": "Well?"},
            ],
        },
    ),
    (
        "openai-responses",
        {
            "model": "gpt-6.1",
            "tools": [{"type": "function", **TOOL, "description": "High and low water."}],
            "input": [
                {"type": "function_call", "call_id": "c", "name": "tide_table", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "low water 11:40"},
            ],
        },
    ),
]


def check(request: ir.Request) -> Iterator[str]:
    for tool in request.tools:
        if isinstance(tool, ir.FunctionTool) and not tool.description:
            yield f"the tool {tool.name} has no description"
    parts = [part for message in request.messages for part in message.parts]
    answered = {part.id for part in parts if isinstance(part, ir.ToolResult)}
    for part in parts:
        if isinstance(part, ir.ToolCall) and part.id not in answered:
            yield f"the call {part.id} of {part.name} has no result"


for protocol, body in REQUESTS:
    findings = list(check(toolglot.decode_request(body, source=protocol)))
    print(f"{protocol}: {len(findings)} findings")
    for finding in findings:
        print(" ", finding)
