"""An official SDK on another provider, in process: no gateway, no port.

Needs `pip install 'toolglot[gateway]' anthropic`. The model that is built in answers; put
"openai/gpt-5.4" in its place, with OPENAI_API_KEY set, and GPT does.
"""

import anthropic

import toolglot

TOOL = {
    "name": "tide_table",
    "description": "The tides of a harbour.",
    "input_schema": {
        "type": "object",
        "properties": {"harbour": {"type": "string"}},
        "required": ["harbour"],
    },
}

client = anthropic.Anthropic(api_key="unused", http_client=toolglot.client("demo"))
message = client.messages.create(
    model="claude-sonnet-5",
    max_tokens=1000,
    tools=[TOOL],
    messages=[{"role": "user", "content": "Use tide_table for the harbour Lindis."}],
)
for block in message.content:
    if block.type == "tool_use":
        print(f"{block.name}({block.input})")
