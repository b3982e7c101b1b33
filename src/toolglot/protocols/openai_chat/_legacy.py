"""The form that Chat Completions had before tools: `functions`, `function_call`, role `function`.

Requests in it are decoded like any other, and encoded in the newer form. A client that sent one
gets its answer in the form that it knows: one call, without an id, in `function_call`. For servers
that know no other form, the option `legacy_functions` gives requests the old one.
Reference: the deprecated members in the `openai` package 3.49.0 (read 2026-11-15).
"""

from collections.abc import Iterator
from typing import Any, Final

from toolglot.context import Context
from toolglot.ir import Json, Request
from toolglot.wire.fields import Fields

LEGACY: Final = "legacy"
"""The `answer_form` of a request in this form."""

_OUTER: Final = frozenset({"type", "function", "id", "index"})
"""What stands around a function or a call only in the newer form."""


def is_legacy(fields: Fields) -> bool:
    """Whether a request that is being decoded declares or chooses functions, and no tools."""
    declared = fields.peek("functions") or fields.peek("function_call")
    return bool(declared) and not fields.peek("tools")


def was_legacy(request: Request | None) -> bool:
    """The same of a request that was decoded."""
    return request is not None and request.answer_form == LEGACY


_NO_SUCH: Final = "the form before tools has nothing for it"

# --- requests ------------------------------------------------------------------------------------


def encode_legacy(body: Json, ctx: Context) -> Json:
    """An encoded request in the form before tools: one call to a message, then its result."""
    legacy = {
        key: value
        for key, value in body.items()
        if key not in ("tools", "tool_choice", "parallel_tool_calls", "messages")
    }
    tools = body.get("tools") or ()
    functions = [_function(tool) for tool in tools if "function" in tool]
    for index, tool in enumerate(tools):
        if "function" not in tool:
            ctx.note("tool-dropped", f"tools[{index}]", f"{tool.get('type')} is no function")
        elif tool["function"].get("strict"):
            ctx.note("field-dropped", f"tools[{index}].function.strict", _NO_SUCH)
    if functions:
        legacy["functions"] = functions
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and "function" in choice:
        legacy["function_call"] = choice["function"]
    elif choice in ("auto", "none"):
        legacy["function_call"] = choice
    elif choice is not None:
        ctx.note("field-dropped", "tool_choice", _NO_SUCH)
    if body.get("parallel_tool_calls"):
        ctx.note("field-dropped", "parallel_tool_calls", _NO_SUCH)
    legacy["messages"] = list(_messages(body.get("messages") or []))
    return legacy


def _function(tool: Json) -> Json:
    outer = {key: value for key, value in tool.items() if key not in _OUTER}
    inner = {key: value for key, value in tool["function"].items() if key != "strict"}
    return inner | outer


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
                yield {"content": None, **said, "function_call": _function(call)}
                said = {"role": "assistant"}
                result = results.get(call["id"])
                if result is not None:
                    answered.add(call["id"])
                    rest = {key: each for key, each in result.items() if key != "tool_call_id"}
                    yield {**rest, "role": "function", "name": function["name"]}


# --- answers -------------------------------------------------------------------------------------


def legacy_choice(choice: Json, ctx: Context) -> Json:
    """An encoded choice in the form before tools; calls after the first are left out."""
    message = choice["message"]
    calls = [call for call in message.get("tool_calls") or () if "function" in call]
    if not calls:
        return choice
    message = {key: value for key, value in message.items() if key != "tool_calls"}
    message["function_call"] = legacy_call(calls[0], ctx)
    for call in calls[1:]:
        drop_call(call["function"]["name"], ctx)
    return choice | {"message": message, "finish_reason": legacy_stop(choice["finish_reason"])}


def legacy_call(call: Json, ctx: Context) -> Json:
    """An encoded call, which has no id in this form."""
    ctx.note("id-dropped", "function_call", f"the call {call['id']} of {call['function']['name']}")
    return _function(call)


def legacy_stop(word: str) -> str:
    """The reason why a model stopped that made a call."""
    return "function_call" if word == "tool_calls" else word


def drop_call(name: str, ctx: Context) -> None:
    """Note that a call is left out because this form has one only."""
    ctx.note("calls-over-limit", "function_call", f"a further call, of {name}, is left out")
