"""Tools that Anthropic defines itself: see `hosted_tools`.

Read from the types of the package `anthropic` 2.8.0.
"""

from typing import Final

from toolglot.hosted_tools import ClientTool, HostedTool, object_schema, text_schema
from toolglot.ir import Json

_DIRECT: Final[Json] = {
    "name": (),
    "allowed_callers": (["direct"],),
    "defer_loading": (False,),
    "strict": (False,),
}

HOSTED_TOOLS: Final[tuple[HostedTool, ...]] = (
    HostedTool(
        purpose="web_search",
        types=("web_search",),
        wire={"type": "web_search_20250305", "name": "web_search"},
        settings={
            "max_uses": "max_uses",
            "allowed_domains": "allowed_domains",
            "blocked_domains": "blocked_domains",
            "location": "user_location",
        },
        neutral=_DIRECT,
        choice="name",
    ),
    HostedTool(
        purpose="web_fetch",
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
    HostedTool(
        purpose="code_execution",
        types=("code_execution",),
        wire={"type": "code_execution_20250825", "name": "code_execution"},
        neutral=_DIRECT,
        choice="name",
    ),
    HostedTool(
        purpose="tool_search",
        types=("tool_search_tool_bm25", "tool_search_tool_regex"),
        wire={"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
        neutral=_DIRECT,
    ),
)
"""Those that the provider runs."""

_RANGE: Final[Json] = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "First and last line to show, counted from 1; -1 is the end.",
}


def _editing(*commands: str, **more: Json) -> Json:
    return object_schema(
        ("command",),
        command={"type": "string", "enum": list(commands)},
        path=text_schema("The file or directory."),
        file_text=text_schema("The whole content of a file to create."),
        old_str=text_schema("What to replace; it must be there exactly once."),
        new_str=text_schema("What to put in its place."),
        insert_line={"type": "integer", "description": "The line after which to insert."},
        insert_text=text_schema("What to insert."),
        view_range=_RANGE,
        **more,
    )


CLIENT_TOOLS: Final[tuple[ClientTool, ...]] = (
    ClientTool(
        types=("bash",),
        name="bash",
        description="Run a command in a persistent bash session.",
        parameters=object_schema(
            (),
            command=text_schema("The command to run."),
            restart={"type": "boolean", "description": "Start the session anew instead."},
        ),
    ),
    ClientTool(
        types=("text_editor",),
        name="str_replace_based_edit_tool",
        description="View, create and edit text files.",
        parameters=_editing("view", "create", "str_replace", "insert"),
    ),
    ClientTool(
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
            old_path=text_schema("The file to rename."),
            new_path=text_schema("Its new path."),
        ),
    ),
)
"""Those that the client runs."""
