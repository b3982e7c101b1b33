"""Blocks that no other protocol has, in words.

Read in the types of the `anthropic` package 2.8.0 (2026-11-16).
"""

from collections.abc import Mapping
from typing import Final

from toolglot.ir import Json
from toolglot.surface import Teller
from toolglot.wire.json_values import member
from toolglot.wire.told import as_json, joined, listed, named, strings, text_in, texts_at


def _call(value: Json) -> tuple[str, str]:
    name = named(value, "server_name", "name")
    return f"Call of {name}, which the provider ran", as_json(value.get("input"))


def _search(value: Json) -> tuple[str, str]:
    return "Results of a web search", joined(
        listed(value.get("content"), "title", "url"), *texts_at(value, "content.error_code")
    )


def _fetch(value: Json) -> tuple[str, str]:
    page = member(value, "content", "content")
    text = member(page, "source", "data") if member(page, "source", "type") == "text" else None
    return "A page that was fetched", joined(
        *texts_at(value, "content.url", "content.error_code"),
        *texts_at(page, "title"),
        text if isinstance(text, str) else "",
    )


def _execution(value: Json) -> tuple[str, str]:
    content = value.get("content")
    code = member(content, "return_code")
    return "Output of code that the provider ran", joined(
        *texts_at(content, "stdout", "stderr", "content", "error_code"),
        *strings(member(content, "lines")),
        f"exit code {code}" if isinstance(code, int) and code else "",
    )


def _found(value: Json) -> tuple[str, str]:
    content = value.get("content")
    names = listed(member(content, "tool_references"), "tool_name")
    return "Tools that were found", joined(names, *texts_at(content, "error_code"))


def _changed(value: Json) -> tuple[str, str]:
    tool = value.get("tool")
    name = ".".join(texts_at(tool, "server_name", "name", "definition.name")) or "a tool"
    can = "can be called from now on" if value.get("type") == "tool_addition" else "is gone now"
    return "A change of tools", f"{name} {can}"


def _fallback(value: Json) -> tuple[str, str]:
    models = " to ".join(texts_at(value, "from.model", "to.model"))
    return "A change of the model", f"from {models}" if models else ""


TOLD: Final[Mapping[str, Teller]] = {
    "advisor_tool_result": lambda value: ("Advice of another model", text_in(value)),
    "bash_code_execution_tool_result": _execution,
    "browser_state": lambda value: ("State of the browser", as_json(value.get("tabs"))),
    "code_execution_tool_result": _execution,
    "compaction": lambda value: ("Summary of the conversation before this", text_in(value)),
    "container_upload": lambda value: (
        "A file that was put into the provider's container",
        joined(*texts_at(value, "file_id")),
    ),
    "fallback": _fallback,
    "mcp_tool_listing": lambda value: (
        f"Tools of {named(value, 'mcp_server_name')}",
        listed(value.get("tools"), "name", "description"),
    ),
    "mcp_tool_result": lambda value: ("Result of a tool that the provider ran", text_in(value)),
    "mcp_tool_use": _call,
    "search_result": lambda value: (
        "A search result",
        joined(*texts_at(value, "title", "source"), text_in(value.get("content"))),
    ),
    "server_tool_use": _call,
    "text_editor_code_execution_tool_result": _execution,
    "tool_addition": _changed,
    "tool_removal": _changed,
    "tool_search_tool_result": _found,
    "web_fetch_tool_result": _fetch,
    "web_search_tool_result": _search,
}
"""What is told of each kind of block: what it is, and what is in it."""
