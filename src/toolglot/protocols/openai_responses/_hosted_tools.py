"""Tools that OpenAI defines itself: see `hosted_tools`.

Read from the types of the package `openai` 3.49.0.
"""

from typing import Final

from toolglot.hosted_tools import ClientTool, HostedTool, object_schema, text_schema
from toolglot.ir import Json

HOSTED_TOOLS: Final[tuple[HostedTool, ...]] = (
    HostedTool(
        purpose="web_search",
        types=("web_search", "web_search_preview"),
        wire={"type": "web_search"},
        settings={
            "allowed_domains": "filters.allowed_domains",
            "location": "user_location",
            "context_size": "search_context_size",
        },
        neutral={"external_web_access": (True,), "search_content_types": (["text"],)},
        choice="required",
    ),
    HostedTool(
        purpose="code_execution",
        types=("code_interpreter",),
        wire={"type": "code_interpreter", "container": {"type": "auto"}},
        neutral={"container": ({"type": "auto"},), "allowed_callers": (["direct"],)},
        choice="type",
    ),
    HostedTool(
        purpose="tool_search",
        types=("tool_search",),
        wire={"type": "tool_search"},
        neutral={"execution": ("server",)},
    ),
)
"""Those that the provider runs."""

_TEXTS: Final[Json] = {"type": "array", "items": {"type": "string"}}
_MILLISECONDS: Final[Json] = {
    "type": "integer",
    "description": "How long it may take, in milliseconds.",
}

CLIENT_TOOLS: Final[tuple[ClientTool, ...]] = (
    ClientTool(
        types=("local_shell",),
        name="local_shell",
        description="Run a command on the user's machine.",
        parameters=object_schema(
            ("command",),
            command={**_TEXTS, "description": "The program and its arguments."},
            working_directory=text_schema("Where to run it."),
            timeout_ms=_MILLISECONDS,
            env={"type": "object", "additionalProperties": {"type": "string"}},
            user=text_schema("As whom to run it."),
        ),
        call="local_shell_call",
        member="action",
        fixed={"type": "exec", "env": {}},
        id="lsh_",
        needs={"command": list},
        before=("bash", "-lc"),
        output="local_shell_call_output",
    ),
    ClientTool(
        types=("shell",),
        name="shell",
        description="Run shell commands on the user's machine.",
        parameters=object_schema(
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
    ClientTool(
        types=("apply_patch",),
        name="apply_patch",
        description="Create, update or delete one file by a V4A diff.",
        parameters=object_schema(
            ("type", "path"),
            type={"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
            path=text_schema("The file."),
            diff=text_schema("The diff; left out to delete."),
        ),
        call="apply_patch_call",
        member="operation",
        id="apc_",
        needs={"type": str, "path": str},
        output="apply_patch_call_output",
    ),
    ClientTool(
        types=("tool_search",),
        name="tool_search",
        description="Search for tools that are not declared yet.",
        parameters=object_schema(("query",), query=text_schema("What the tools should do.")),
        only={"execution": ("client",)},
        call="tool_search_call",
        member="arguments",
        id="tsc_",
        beside={"execution": "client"},
        output="tool_search_output",
        result="tools",
    ),
)
"""Those that the client runs."""
