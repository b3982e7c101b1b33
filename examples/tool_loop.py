"""A tool loop against any provider: the same loop, whatever protocol it speaks.

The provider here is a function that answers from a script, so that the example runs anywhere. A
real one would send `messages` over HTTP and return the body of the answer.

    python examples/tool_loop.py
"""

import json
from typing import Any

import toolglot

TIDES = {"Lindis": "low water 11:40", "Mont": "low water 13:05"}


def tide_table(harbour: str) -> str:
    return TIDES[harbour]


def provider(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Ask for two tools first, then answer from their results."""
    results = [message["content"] for message in messages if message["role"] == "tool"]
    if results:
        message = {"role": "assistant", "content": "; ".join(results) + "."}
        return {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "tide_table", "arguments": json.dumps({"harbour": harbour})},
        }
        for number, harbour in enumerate(TIDES)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


messages: list[dict[str, Any]] = [{"role": "user", "content": "Where can we walk across first?"}]
while True:
    response = provider(messages)
    calls = toolglot.parse_tool_calls(response, "openai")
    if not calls:
        break
    outputs = []
    for call in calls:
        print(f"{call.name}({call.arguments})")
        outputs.append(toolglot.ToolOutput(call.id, tide_table(**call.input)))
    messages += toolglot.build_tool_result_messages(calls, outputs, "openai", response=response)

print(response["choices"][0]["message"]["content"])
