"""Items that no other protocol has, in words.

Read in the types of the `openai` package 3.49.0 (2026-11-16).
"""

from collections.abc import Mapping
from typing import Final

from toolglot.ir import Json
from toolglot.surface import Teller
from toolglot.wire.json_values import member
from toolglot.wire.told import as_json, joined, listed, named, strings, text_in, texts_at


def _search(value: Json) -> tuple[str, str]:
    return "A web search that the provider made", joined(
        *strings(member(value, "action", "queries")),
        *texts_at(value, "action.query", "action.url", "action.pattern"),
        listed(member(value, "action", "sources"), "title", "url"),
    )


def _files(value: Json) -> tuple[str, str]:
    return "A search in files that the provider made", joined(
        *strings(value.get("queries")),
        listed(value.get("results"), "filename", "text"),
    )


def _interpreter(value: Json) -> tuple[str, str]:
    return "Code that the provider ran, and its output", joined(
        *texts_at(value, "code"), listed(value.get("outputs"), "logs", "url")
    )


def _mcp_call(value: Json) -> tuple[str, str]:
    return f"Call of {named(value, 'server_label', 'name')}, which the provider ran", joined(
        as_json(value.get("arguments")), as_json(value.get("output")), as_json(value.get("error"))
    )


def _message(value: Json) -> tuple[str, str]:
    author, recipient = (named(value, key) for key in ("author", "recipient"))
    return f"Message from {author} to {recipient}", text_in(value.get("content"))


def _agent_call(value: Json) -> tuple[str, str]:
    title = f"Call of another agent: {named(value, 'action')}"
    return title, joined(as_json(value.get("arguments")), text_in(value.get("output")))


def _approval(value: Json) -> tuple[str, str]:
    answer = "approved" if value.get("approve") is True else "not approved"
    return "Answer to a request for approval", joined(answer, *texts_at(value, "reason"))


TOLD: Final[Mapping[str, Teller]] = {
    "agent_message": _message,
    "code_interpreter_call": _interpreter,
    "computer_call": lambda value: (
        "What was done on the screen",
        as_json(value.get("actions") or value.get("action")),
    ),
    "file_search_call": _files,
    "image_generation_call": lambda value: (
        "A picture that the provider made, which is left out here",
        joined(*texts_at(value, "revised_prompt")) or "no description",
    ),
    "mcp_approval_request": lambda value: (
        f"Request for approval of {named(value, 'server_label', 'name')}",
        as_json(value.get("arguments")),
    ),
    "mcp_approval_response": _approval,
    "mcp_call": _mcp_call,
    "mcp_list_tools": lambda value: (
        f"Tools of {named(value, 'server_label')}",
        listed(value.get("tools"), "name", "description"),
    ),
    "multi_agent_call": _agent_call,
    "multi_agent_call_output": _agent_call,
    "program": lambda value: (
        "A program that the provider ran",
        joined(*texts_at(value, "code")),
    ),
    "program_output": lambda value: (
        "Output of a program that the provider ran",
        as_json(value.get("result")),
    ),
    "tool_search_call": lambda value: ("A search for tools", as_json(value.get("arguments"))),
    "web_search_call": _search,
}
"""What is told of each kind of item: what it is, and what is in it."""
