"""A request as coding agents send it: 16 tools, 15 messages, thinking, parallel calls, 62 KB."""

import random
from typing import Any

_WORDS = """
anchor basin cable drift ember fathom gannet harbour island jetty kelp ledger marsh north outer
pilot quay ridge shoal tide upland vessel wharf yawl zenith beacon chart depth eddy fender
""".split()


def prose(seed: int, size: int) -> str:
    """Text of about a size, always the same for a seed."""
    rng = random.Random(seed)
    words: list[str] = []
    while sum(map(len, words)) + len(words) < size:
        words.append(rng.choice(_WORDS))
    return " ".join(words)


def tool(index: int) -> dict[str, Any]:
    """One tool definition with a schema of the usual kind."""
    properties: dict[str, Any] = {
        f"field_{n}": {
            "type": ("string", "integer", "boolean")[n % 3],
            "description": prose(index * 31 + n, 90),
        }
        for n in range(5)
    }
    properties["mode"] = {
        "type": "string",
        "enum": ["read", "write", "list"],
        "description": prose(index, 60),
    }
    properties["limit"] = {
        "type": "integer",
        "description": "How many (optional, defaults to 20)",
        "minimum": 1,
    }
    return {
        "name": f"tool_{index}",
        "description": prose(index + 1000, 900),
        "input_schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": properties,
            "required": ["field_0", "mode", "limit"],
            "additionalProperties": False,
        },
    }


def request() -> dict[str, Any]:
    """The whole request, in the protocol of the agent that sends it."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": prose(1, 1500)}]}
    ]
    for turn in range(7):
        calls = [
            {
                "type": "tool_use",
                "id": f"toolu_{turn:02d}{n}",
                "name": f"tool_{(turn + n) % 16}",
                "input": {"field_0": prose(turn * 7 + n, 120), "mode": "read", "limit": n},
            }
            for n in range(2)
        ]
        thinking = {
            "type": "thinking",
            "thinking": prose(turn + 50, 300),
            "signature": "EqQB" + "x" * 300,
        }
        messages.append(
            {
                "role": "assistant",
                "content": [thinking, {"type": "text", "text": prose(turn, 80)}, *calls],
            }
        )
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call["id"],
                "content": prose(turn * 13 + n, 1200),
            }
            for n, call in enumerate(calls)
        ]
        messages.append({"role": "user", "content": results})
    return {
        "model": "claude-opus-4-8",
        "max_tokens": 32000,
        "system": [
            {"type": "text", "text": prose(7, 5000), "cache_control": {"type": "ephemeral"}}
        ],
        "tools": [tool(index) for index in range(16)],
        "messages": messages,
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "high"},
        "metadata": {"user_id": "user_0001"},
        "stream": True,
    }
