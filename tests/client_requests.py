"""Requests as agent clients send them: the shape of each, with words of our own.

Observed with Claude Code 2.1.197, Codex CLI 0.166, Gemini CLI 0.61, opencode 1.18 and Qwen Code
0.15 in November 2026.
"""

from typing import Any

Json = dict[str, Any]

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""One pixel of a PNG."""

_EPHEMERAL = {"type": "ephemeral"}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def _schema(*required: str, **properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


# --- Claude Code ----------------------------------------------------------------------------------

SHELL: Json = {
    "name": "Bash",
    "description": "Runs a command.",
    "input_schema": {
        "$schema": _DRAFT,
        **_schema(
            "command",
            command={"type": "string"},
            timeout={"type": "number", "exclusiveMinimum": 0, "maximum": 9007199254740991},
        ),
    },
}
READ: Json = {
    "name": "Read",
    "description": "Reads a file.",
    "input_schema": {"$schema": _DRAFT, **_schema("file_path", file_path={"type": "string"})},
}


def claude_code(*history: Json, conversation: str = "a1b", **more: Any) -> Json:
    """A turn of Claude Code; its first line of system text differs by conversation."""
    attribution = f"x-anthropic-billing-header: cc_version=2.1.197.{conversation}; cc_entry=cli;"
    asked = [
        {"type": "text", "text": "<reminder>Tools are there.</reminder>"},
        {"type": "text", "text": "List the herons."},
    ]
    return {
        "model": "claude-opus-4-8",
        "messages": [
            {"role": "user", "content": asked},
            {"role": "system", "content": "These agents can be asked: explorer."},
            *history,
        ],
        "system": [
            {"type": "text", "text": attribution},
            {"type": "text", "text": "You are an agent.", "cache_control": _EPHEMERAL},
            {"type": "text", "text": "\nBe brief.", "cache_control": _EPHEMERAL},
        ],
        "tools": [SHELL, READ],
        "metadata": {"user_id": '{"device_id":"00","session_id":"11"}'},
        "max_tokens": 64000,
        "thinking": {"type": "adaptive"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "high"},
        "stream": True,
        **more,
    }


def tool_use(id_: str, name: str = "Bash", **given: Any) -> Json:
    """A call in the history of an Anthropic client."""
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def tool_result(id_: str, content: Any, **more: Any) -> Json:
    """The result of one."""
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


ODD_ID = "call_a|fc:1/é"

REORDERED = (
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "First."},
            {"type": "text", "text": "Second."},
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            tool_use(ODD_ID, command="one"),
            tool_use("toolu_2", command="two"),
            tool_use("toolu_3", "Read", file_path="heron.png"),
        ],
    },
    {
        "role": "user",
        "content": [
            tool_result(
                "toolu_3",
                [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                    }
                ],
            ),
            tool_result("toolu_2", "Exit code 3", is_error=True),
            tool_result(ODD_ID, "ONE", is_error=False, cache_control=_EPHEMERAL),
        ],
    },
)
"""A turn that Claude Code has put in order, with results in the order in which they came."""


def claude_web_search() -> Json:
    """What Claude Code asks to search the web."""
    return {
        **claude_code(thinking={"type": "disabled"}),
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Search for herons."}]}],
        "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}],
        "tool_choice": {"type": "tool", "name": "web_search"},
    }


def claude_title() -> Json:
    """What Claude Code asks for the title of a conversation."""
    schema = _schema("title", title={"type": "string"})
    return {
        **claude_code(thinking={"type": "disabled"}),
        "messages": [{"role": "user", "content": [{"type": "text", "text": "<session>Herons."}]}],
        "tools": [],
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": schema}},
    }


def claude_tool_search() -> Json:
    """A turn after Claude Code has searched for a tool."""
    search = {"name": "ToolSearch", "description": "Finds tools.", "input_schema": _schema()}
    found = [{"type": "tool_reference", "tool_name": "Read"}]
    return {
        **claude_code(
            {"role": "assistant", "content": [tool_use("toolu_1", "ToolSearch", query="read")]},
            {
                "role": "user",
                "content": [
                    tool_result("toolu_1", found),
                    {"type": "text", "text": "Tool loaded."},
                ],
            },
        ),
        "tools": [search, {**READ, "defer_loading": True}],
    }


# --- Codex ----------------------------------------------------------------------------------------


def function(name: str, **more: Any) -> Json:
    """A function that Codex declares."""
    parameters = _schema("text", text={"type": "string"})
    return {
        "type": "function",
        "name": name,
        "description": f"Does {name}.",
        "strict": False,
        "parameters": parameters,
        **more,
    }


def namespace(name: str, *tools: Json) -> Json:
    """A namespace of tools."""
    return {"type": "namespace", "name": name, "description": f"All of {name}.", "tools": [*tools]}


PATCH: Json = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Changes files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: LINE+"},
}
SEARCH: Json = {
    "type": "tool_search",
    "execution": "client",
    "description": "Finds tools.",
    "parameters": _schema("query", query={"type": "string"}),
}


def said(role: str, text: str, **more: Any) -> Json:
    """A message of Codex."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {
        "type": "message",
        "id": f"msg_{role}",
        "role": role,
        "content": [{"type": kind, "text": text}],
        **more,
    }


def codex(*history: Json, **more: Any) -> Json:
    """A turn of Codex."""
    return {
        "model": "gateway-model",
        "stream": True,
        "input": [
            said("developer", "You are an agent."),
            said("developer", "The sandbox is off."),
            said("user", "<cwd>/pond</cwd>"),
            said("user", "List the herons."),
            *history,
        ],
        "tools": [function("exec_command"), namespace("mcp__pond", function("count")), PATCH],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "thread-1",
        "client_metadata": {"thread_id": "thread-1", "x-codex-window-id": "w:0"},
        **more,
    }


CODEX_HISTORY = (
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Count them."}],
        "content": None,
        "encrypted_content": None,
    },
    said("assistant", "Counting.", status="completed", phase="commentary"),
    {
        "type": "function_call",
        "id": "fc_1",
        "status": "completed",
        "name": "count",
        "namespace": "mcp__pond",
        "arguments": '{"text": "herons"}',
        "call_id": "call_1",
    },
    {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "status": "completed",
        "call_id": "call_2",
        "name": "apply_patch",
        "input": "*** Begin Patch\n*** End Patch\n",
    },
    {
        "type": "function_call_output",
        "id": "fco_1",
        "call_id": "call_1",
        "output": [
            {"type": "input_text", "text": "Wall time: 1 s"},
            {
                "type": "input_image",
                "image_url": f"data:image/png;base64,{PIXEL}",
                "detail": "high",
            },
        ],
    },
    {"type": "custom_tool_call_output", "id": "ctco_1", "call_id": "call_2", "output": "Done."},
)


def codex_lite(*history: Json) -> Json:
    """A turn of Codex for models whose tools come as an item."""
    secret = _schema("text", text={"type": "string", "encrypted": True})
    tools = [
        namespace("functions", {**PATCH, "name": "exec"}, function("wait")),
        namespace("collaboration", function("send_message", parameters=secret)),
    ]
    declared = {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": tools}
    body = codex(*history, parallel_tool_calls=False)
    del body["tools"]
    return {**body, "input": [declared, *body["input"]]}


def codex_tool_search() -> Json:
    """A turn after Codex has searched for tools."""
    call = {"type": "tool_search_call", "id": "tsc_1", "call_id": "call_1", "execution": "client"}
    found = namespace("mcp__pond", function("count", defer_loading=True))
    return codex(
        {**call, "status": "completed", "arguments": {"query": "count"}},
        {
            "type": "tool_search_output",
            "call_id": "call_1",
            "execution": "client",
            "status": "completed",
            "tools": [found],
        },
        tools=[SEARCH],
    )


# --- Gemini CLI -----------------------------------------------------------------------------------

GEMINI_PATH = "/v1beta/models/gemini-3.1-pro-preview:streamGenerateContent"


def gemini_cli(*history: Json, **more: Any) -> Json:
    """A turn of Gemini CLI; two turns of the user in a row occur."""
    names = ("read_file", "mcp_pond_count.all-x")
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "<cwd>/pond</cwd>"}]},
            {"role": "user", "parts": [{"text": "List the herons."}]},
            *history,
        ],
        "systemInstruction": {"role": "user", "parts": [{"text": "You are an agent."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": name, "description": "Looks.", "parametersJsonSchema": schema}
                    for name in names
                ]
            }
        ],
        "generationConfig": {
            "temperature": 1,
            "topP": 0.95,
            "topK": 64,
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"},
        },
        **more,
    }


GEMINI_HISTORY = (
    {
        "role": "model",
        "parts": [
            {
                "functionCall": {"id": "f1", "name": "read_file", "args": {"path": "heron.png"}},
                "thoughtSignature": "skip_thought_signature_validator",
            },
            {"functionCall": {"id": "f2", "name": "mcp_pond_count.all-x", "args": {"path": "."}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "id": "f1",
                    "name": "read_file",
                    "response": {"output": "One picture."},
                }
            },
            {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
            {
                "functionResponse": {
                    "id": "f2",
                    "name": "mcp_pond_count.all-x",
                    "response": {"error": "No pond."},
                }
            },
        ],
    },
)
