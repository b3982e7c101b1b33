"""Translate a request and read the receipt: what arrives, what changed, what is lost.

python examples/translate_request.py
"""

import json

import toolglot

REQUEST = {
    "model": "claude-sonnet-5",
    "max_tokens": 1024,
    "top_k": 40,
    "system": "You know the tides.",
    "messages": [{"role": "user", "content": "When is low water at Lindis?"}],
    "tools": [
        {
            "name": "tide_table",
            "description": "High and low water for a harbour.",
            "input_schema": {"type": "object", "properties": {"harbour": {"type": "string"}}},
        }
    ],
}

wire, receipt = toolglot.translate_request(REQUEST, source="anthropic", target="openai-responses")

print("POST", wire.path)
print(json.dumps(wire.body, indent=2))

print("\nWhat was changed:")
for note in receipt:
    print(" ", note)

# With `strict`, a translation that loses meaning is refused instead.
try:
    toolglot.translate_request(REQUEST, source="anthropic", target="openai-responses", strict=True)
except toolglot.UntranslatableError as error:
    print("\nRefused:", error)
