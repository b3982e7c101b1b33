"""The form that requests had before tools: `functions`, `function_call` and the role `function`.

It is read like any other request, and written only when asked for, for servers that know no more.
Reference: the deprecated members in the `openai` package 3.49.0 (read 2026-11-15).
"""

from collections.abc import Iterator
from typing import Any

from toolglot.ir import Json


def encode_legacy(body: Json) -> Json:
    """An encoded request in the form before tools: one call to a message, then its result."""
    legacy = {
        key: value
        for key, value in body.items()
        if key not in ("tools", "tool_choice", "parallel_tool_calls", "messages")
    }
    tools = body.get("tools") or ()
    functions = [_function(tool["function"]) for tool in tools if "function" in tool]
    if functions:
        legacy["functions"] = functions
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and "function" in choice:
        legacy["function_call"] = {"name": choice["function"]["name"]}
    elif choice in ("auto", "none"):
        legacy["function_call"] = choice
    legacy["messages"] = list(_messages(body.get("messages") or []))
    return legacy


def _function(tool: Json) -> Json:
    return {key: tool[key] for key in ("name", "description", "parameters") if key in tool}


def _messages(messages: list[Any]) -> Iterator[Json]:
    results = {m["tool_call_id"]: m for m in messages if m.get("role") == "tool"}
    answered: set[str] = set()
    for message in messages:
        calls = [call for call in message.get("tool_calls") or () if "function" in call]
        if message.get("role") == "tool":
            if message["tool_call_id"] not in answered:
                yield {"role": "user", "content": message.get("content")}
        elif not calls:
            yield message
        else:
            said = {key: value for key, value in message.items() if key != "tool_calls"}
            for call in calls:
                function = call["function"]
                yield {"content": None, **said, "function_call": _call(function)}
                said = {"role": "assistant"}
                result = results.get(call["id"])
                if result is not None:
                    answered.add(call["id"])
                    content = result.get("content")
                    yield {"role": "function", "name": function["name"], "content": content}


def _call(function: Json) -> Json:
    return {"name": function["name"], "arguments": function["arguments"]}
