"""A tool loop in one call: typed functions are the tools.

Needs `pip install 'toolglot[gateway]'`. Put "openai/gpt-5.4" or any other `provider/model` in place
of "demo", with the key of the provider in the environment.
"""

import toolglot


def tide_table(harbour: str) -> dict[str, str]:
    """The tides of a harbour.

    Args:
        harbour: The name of the harbour.
    """
    return {"harbour": harbour, "low water": "11:40"}


said = toolglot.chat("demo", "Use tide_table for the harbour Lindis.", tools=[tide_table])
print(said.text)
print(f"{len(said.messages)} messages, {len(said.responses)} rounds")
