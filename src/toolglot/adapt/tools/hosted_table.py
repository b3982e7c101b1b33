"""Tools that providers define themselves: which do the same, and which the client runs.

Data only, by protocol; read from the types of the official SDKs (anthropic 2, openai 3,
google-genai 3). What is not listed here has no counterpart elsewhere and is left out with a note:
computer and browser use, image generation, file search, remote MCP servers, maps, and a tool
search that the server does.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from toolglot.ir import Json

# --- run by the provider -------------------------------------------------------------------------


class Native(Struct, frozen=True, kw_only=True):
    """One protocol's tool for a purpose."""

    capability: str
    types: tuple[str, ...]
    """Its types; versions of one add a date to it."""

    wire: Json
    """How it is written, without settings."""

    wrapped: str = ""
    """The member that holds everything about it, if it is one."""

    settings: Mapping[str, str] = {}
    """Settings it has, by the name that all protocols share: paths in it."""

    neutral: Mapping[str, tuple[Any, ...]] = {}
    """Members that say nothing more than their absence, if they have one of these values."""

    choice: str = ""
    """The member by which a tool choice names it; `required`: it can only be the one tool there is;
    empty: it cannot be chosen."""

    models: str = ""
    """What the names of models contain that take it; empty: all do."""


_DIRECT: Final[Json] = {
    "name": (),
    "allowed_callers": (["direct"],),
    "defer_loading": (False,),
    "strict": (False,),
}
_LOCATION: Final = "user_location"

NATIVE: Final[Mapping[str, tuple[Native, ...]]] = {
    "anthropic": (
        Native(
            capability="web_search",
            types=("web_search",),
            wire={"type": "web_search_20250305", "name": "web_search"},
            settings={
                "max_uses": "max_uses",
                "allowed_domains": "allowed_domains",
                "blocked_domains": "blocked_domains",
                "location": _LOCATION,
            },
            neutral=_DIRECT,
            choice="name",
        ),
        Native(
            capability="web_fetch",
            types=("web_fetch",),
            wire={"type": "web_fetch_20250910", "name": "web_fetch"},
            settings={
                "max_uses": "max_uses",
                "allowed_domains": "allowed_domains",
                "blocked_domains": "blocked_domains",
            },
            neutral=_DIRECT,
            choice="name",
        ),
        Native(
            capability="code_execution",
            types=("code_execution",),
            wire={"type": "code_execution_20250825", "name": "code_execution"},
            neutral=_DIRECT,
            choice="name",
        ),
    ),
    "openai-responses": (
        Native(
            capability="web_search",
            types=("web_search", "web_search_preview"),
            wire={"type": "web_search"},
            settings={
                "allowed_domains": "filters.allowed_domains",
                "location": _LOCATION,
                "context_size": "search_context_size",
            },
            neutral={"external_web_access": (True,), "search_content_types": (["text"],)},
            choice="required",
        ),
        Native(
            capability="code_execution",
            types=("code_interpreter",),
            wire={"type": "code_interpreter", "container": {"type": "auto"}},
            neutral={"container": ({"type": "auto"},), "allowed_callers": (["direct"],)},
            choice="type",
        ),
    ),
    "openai-chat": (
        Native(
            capability="web_search",
            types=("web_search_options",),
            wire={},
            wrapped="web_search_options",
            settings={
                "location": f"{_LOCATION}.approximate",
                "context_size": "search_context_size",
            },
            # Other models refuse the whole request.
            models="search",
        ),
    ),
    "gemini": (
        Native(
            capability="web_search",
            types=("googleSearch", "google_search", "googleSearchRetrieval"),
            wire={},
            wrapped="googleSearch",
        ),
        Native(
            capability="web_fetch",
            types=("urlContext", "url_context"),
            wire={},
            wrapped="urlContext",
        ),
        Native(
            capability="code_execution",
            types=("codeExecution", "code_execution"),
            wire={},
            wrapped="codeExecution",
        ),
    ),
}
"""Tools that a provider runs, by protocol."""

FOUND: Final[Mapping[tuple[str, str], str]] = {("anthropic", "tool_reference"): "tool_name"}
"""Parts that name a tool which a search has found, by protocol and type: where its name stands."""

# --- run by the client ---------------------------------------------------------------------------


class Run(Struct, frozen=True, kw_only=True):
    """A tool that a provider defines and the client runs: elsewhere it is a function."""

    types: tuple[str, ...]
    name: str
    """The name of the function, unless the tool says its own."""

    description: str
    parameters: Json = {}
    only: Mapping[str, tuple[Any, ...]] = {}
    """Members and the values with which it is the client that runs it; None is absence."""

    call: str = ""
    """The type of its calls, where those have one of their own."""

    member: str = ""
    """Where such a call keeps its arguments."""

    fixed: Json = {}
    """What stands beside the arguments in that place."""

    id: str = ""
    """How ids of such calls begin."""

    needs: Mapping[str, type[Any]] = {}
    """Arguments without which it is no call."""

    before: tuple[str, ...] = ()
    """What comes before a text that should have been a list."""

    beside: Json = {}
    """What else such a call says."""

    output: str = ""
    """The type of its results."""

    result: str = "output"
    """Where such a result keeps what the tool said."""


def _object(required: tuple[str, ...], **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(required)}


def _text(words: str) -> Json:
    return {"type": "string", "description": words}


_TEXTS: Final[Json] = {"type": "array", "items": {"type": "string"}}
_MILLISECONDS: Final[Json] = {
    "type": "integer",
    "description": "How long it may take, in milliseconds.",
}
_RANGE: Final[Json] = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "First and last line to show, counted from 1; -1 is the end.",
}


def _editing(*commands: str, **more: Json) -> Json:
    return _object(
        ("command",),
        command={"type": "string", "enum": list(commands)},
        path=_text("The file or directory."),
        file_text=_text("The whole content of a file to create."),
        old_str=_text("What to replace; it must be there exactly once."),
        new_str=_text("What to put in its place."),
        insert_line={"type": "integer", "description": "The line after which to insert."},
        insert_text=_text("What to insert."),
        view_range=_RANGE,
        **more,
    )


RUN: Final[Mapping[str, tuple[Run, ...]]] = {
    "anthropic": (
        Run(
            types=("bash",),
            name="bash",
            description="Run a command in a persistent bash session.",
            parameters=_object(
                (),
                command=_text("The command to run."),
                restart={"type": "boolean", "description": "Start the session anew instead."},
            ),
        ),
        Run(
            types=("text_editor",),
            name="str_replace_based_edit_tool",
            description="View, create and edit text files.",
            parameters=_editing("view", "create", "str_replace", "insert"),
        ),
        Run(
            types=("memory",),
            name="memory",
            description="Keep notes in files under /memories and read them again.",
            parameters=_editing(
                "view",
                "create",
                "str_replace",
                "insert",
                "delete",
                "rename",
                old_path=_text("The file to rename."),
                new_path=_text("Its new path."),
            ),
        ),
    ),
    "openai-responses": (
        Run(
            types=("local_shell",),
            name="local_shell",
            description="Run a command on the user's machine.",
            parameters=_object(
                ("command",),
                command={**_TEXTS, "description": "The program and its arguments."},
                working_directory=_text("Where to run it."),
                timeout_ms=_MILLISECONDS,
                env={"type": "object", "additionalProperties": {"type": "string"}},
                user=_text("As whom to run it."),
            ),
            call="local_shell_call",
            member="action",
            fixed={"type": "exec", "env": {}},
            id="lsh_",
            needs={"command": list},
            before=("bash", "-lc"),
            output="local_shell_call_output",
        ),
        Run(
            types=("shell",),
            name="shell",
            description="Run shell commands on the user's machine.",
            parameters=_object(
                ("commands",),
                commands={**_TEXTS, "description": "The commands, each run by itself."},
                timeout_ms=_MILLISECONDS,
                max_output_length={"type": "integer"},
            ),
            only={"environment": (None, "local")},
            call="shell_call",
            member="action",
            id="sh_",
            needs={"commands": list},
            output="shell_call_output",
        ),
        Run(
            types=("apply_patch",),
            name="apply_patch",
            description="Create, update or delete one file by a V4A diff.",
            parameters=_object(
                ("type", "path"),
                type={"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
                path=_text("The file."),
                diff=_text("The diff; left out to delete."),
            ),
            call="apply_patch_call",
            member="operation",
            id="apc_",
            needs={"type": str, "path": str},
            output="apply_patch_call_output",
        ),
        Run(
            types=("tool_search",),
            name="tool_search",
            description="Search for tools that are not declared yet.",
            parameters=_object(("query",), query=_text("What the tools should do.")),
            only={"execution": ("client",)},
            call="tool_search_call",
            member="arguments",
            id="tsc_",
            beside={"execution": "client"},
            output="tool_search_output",
            result="tools",
        ),
    ),
}
"""Tools that a client runs, by protocol."""
