"""Tools that providers define themselves, for others."""

import json
from typing import Any

import pytest

from toolglot import StreamTranslator, translate_request, translate_response

SCHEMA = {"type": "object", "properties": {}}
REQUESTS: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]},
    "openai-chat": {"model": "m", "messages": [{"role": "user", "content": "x"}]},
    "openai-responses": {"model": "m", "input": "x"},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "x"}]}]},
}


def sent(source: str, target: str, *tools: Any, **more: Any) -> tuple[Any, Any]:
    """The body that the target gets, and the receipt."""
    model = more.pop("model", None)
    body = {**REQUESTS[source], "tools": list(tools), **more}
    path = "/v1beta/models/m:generateContent"
    wire, receipt = translate_request(body, source=source, target=target, path=path, model=model)
    return wire.body, receipt


# --- run by the provider -------------------------------------------------------------------------

LOCATION = {"type": "approximate", "city": "Oslo", "country": "NO"}


@pytest.mark.parametrize(
    ("source", "tool", "target", "expected"),
    [
        (
            "openai-responses",
            {
                "type": "web_search",
                "external_web_access": True,
                "filters": {"allowed_domains": ["a.example"]},
                "user_location": LOCATION,
            },
            "anthropic",
            {
                "type": "web_search_20250305",
                "name": "web_search",
                "allowed_domains": ["a.example"],
                "user_location": LOCATION,
            },
        ),
        (
            "anthropic",
            {
                "type": "web_search_20260318",
                "name": "web_search",
                "allowed_domains": ["a.example"],
                "user_location": LOCATION,
            },
            "openai-responses",
            {
                "type": "web_search",
                "filters": {"allowed_domains": ["a.example"]},
                "user_location": LOCATION,
            },
        ),
        (
            "openai-responses",
            {"type": "web_search_preview"},
            "gemini",
            {"googleSearch": {}},
        ),
        (
            "gemini",
            {"googleSearch": {}},
            "anthropic",
            {"type": "web_search_20250305", "name": "web_search"},
        ),
        (
            "gemini",
            {"codeExecution": {}},
            "openai-responses",
            {"type": "code_interpreter", "container": {"type": "auto"}},
        ),
        (
            "openai-responses",
            {"type": "code_interpreter", "container": {"type": "auto"}},
            "anthropic",
            {"type": "code_execution_20250825", "name": "code_execution"},
        ),
        (
            "anthropic",
            {"type": "code_execution_20260521", "name": "code_execution"},
            "gemini",
            {"codeExecution": {}},
        ),
        (
            "anthropic",
            {"type": "web_fetch_20250910", "name": "web_fetch"},
            "gemini",
            {"urlContext": {}},
        ),
        (
            "gemini",
            {"urlContext": {}},
            "anthropic",
            {"type": "web_fetch_20250910", "name": "web_fetch"},
        ),
    ],
)
def test_what_is_equivalent_is_mapped(source: str, tool: Any, target: str, expected: Any) -> None:
    """S1-10, D-12: the target's own tool for the same purpose, with what carries over."""
    body, receipt = sent(source, target, tool)
    assert body["tools"] == [expected]
    (note,) = (note for note in receipt if note.code == "tool-mapped")
    assert (note.path.partition(".")[0], note.severity) == ("tools[0]", "info")


@pytest.mark.parametrize(
    ("source", "tool", "target", "lost"),
    [
        (
            "anthropic",
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
            "openai-responses",
            "max_uses",
        ),
        (
            "openai-responses",
            {"type": "web_search", "external_web_access": False},
            "anthropic",
            "external_web_access",
        ),
        (
            "openai-responses",
            {"type": "web_search", "search_context_size": "low"},
            "gemini",
            "context_size",
        ),
        (
            "openai-responses",
            {"type": "code_interpreter", "container": "cntr_1"},
            "anthropic",
            "container",
        ),
    ],
)
def test_a_setting_that_is_lost_is_named(source: str, tool: Any, target: str, lost: str) -> None:
    """D-12, S1-10: nothing is lost without a word."""
    body, receipt = sent(source, target, tool)
    assert len(body["tools"]) == 1
    (note,) = (note for note in receipt if note.code == "tool-mapped")
    assert note.severity == "lossy"
    assert lost in note.message


def test_a_search_of_chat_is_a_setting() -> None:
    """S1-10: to models that search, and from there."""
    options = {
        "search_context_size": "high",
        "user_location": {"type": "approximate", "approximate": {"city": "Oslo"}},
    }
    body, receipt = sent("openai-chat", "openai-responses", web_search_options=options)
    assert body["tools"] == [
        {
            "type": "web_search",
            "user_location": {"type": "approximate", "city": "Oslo"},
            "search_context_size": "high",
        }
    ]
    assert not receipt.losses
    back, receipt = sent(
        "openai-responses", "openai-chat", *body["tools"], model="gpt-5-search-api"
    )
    assert back["web_search_options"] == options
    assert "tools" not in back
    other, receipt = sent("openai-responses", "openai-chat", *body["tools"], model="gpt-5.5")
    assert "web_search_options" not in other
    assert receipt.codes()["tool-dropped"] == 1


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "image_generation"},
        {"type": "file_search", "vector_store_ids": ["v"]},
        {"type": "computer_use_preview", "display_width": 1, "display_height": 1},
        {"type": "mcp", "server_label": "x", "server_url": "https://mcp.example"},
        {"type": "programmatic_tool_calling"},
        {"type": "shell", "environment": {"type": "container_auto"}},
        {"type": "unheard_of"},
    ],
    ids=lambda tool: tool["type"],
)
@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini", "ollama"])
def test_what_nobody_else_has_is_left_out_with_a_note(tool: Any, target: str) -> None:
    """case-27, S1-10: the request works without it."""
    function = {"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}
    body, receipt = sent("openai-responses", target, tool, function)
    assert len(body["tools"]) == 1
    (note,) = (note for note in receipt if note.code == "tool-dropped")
    assert note.path == "tools[0]"
    assert tool["type"] in note.message


def test_the_own_protocol_gets_everything_untouched() -> None:
    """case-27: byte for byte."""
    raw = b'{"model":"m","input":"x","tools":[{"type":"unheard_of","x":1.0},{"type":"mcp"}]}'
    wire, receipt = translate_request(raw, source="openai-responses", target="openai-responses")
    assert wire.body == json.loads(raw)
    assert not receipt


def test_items_that_nobody_else_has_do_not_kill_a_request() -> None:
    """case-27: words stay readable, arguments may be an object or a text."""
    search = {"type": "tool_search_call", "execution": "client", "status": "completed"}
    items = [
        {"role": "user", "content": "x"},
        {"type": "agent_message", "content": [{"type": "output_text", "text": "I am another."}]},
        {**search, "call_id": "c1", "arguments": {"query": "files"}},
        {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": []},
        {**search, "call_id": "c2", "arguments": '{"query":"files"}'},
        {"type": "tool_search_output", "call_id": "c2", "execution": "client", "tools": []},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    ]
    body = {"model": "m", "input": items}
    wire, _ = translate_request(body, source="openai-responses", target="anthropic")
    blocks = [b for m in wire.body["messages"] for b in m["content"] if isinstance(b, dict)]
    assert any("> I am another." in block.get("text", "") for block in blocks)
    calls = [block for block in blocks if block["type"] == "tool_use"]
    assert [call["input"] for call in calls] == [{"query": "files"}] * 2
    assert [b["content"] for b in blocks if b["type"] == "tool_result"] == [
        "No tools were found."
    ] * 2


def test_gemini_gets_its_own_tools_only_without_functions() -> None:
    """S1-10: it would refuse the whole request."""
    function = {"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}
    body, receipt = sent("openai-responses", "gemini", {"type": "web_search"}, function)
    (entry,) = body["tools"]
    assert [each["name"] for each in entry["functionDeclarations"]] == ["look"]
    assert receipt.codes()["tool-dropped"] == 1


# --- tool choice ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "expected"),
    [("openai-responses", "required"), ("gemini", None), ("openai-chat", None), ("ollama", None)],
)
def test_a_forced_search_adapts(target: str, expected: Any) -> None:
    """S1-10: a client that forces its one search tool gets the nearest that there is."""
    tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}
    choice = {"type": "tool", "name": "web_search"}
    body, receipt = sent("anthropic", target, tool, tool_choice=choice)
    assert body.get("tool_choice") == expected
    assert "toolConfig" not in body
    assert receipt.losses


def test_a_choice_follows_its_tool() -> None:
    """S1-10: by name and by type."""
    function = {"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}
    search, code = (
        {"type": "web_search"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
    )
    body, _ = sent(
        "openai-responses", "anthropic", search, function, tool_choice={"type": "web_search"}
    )
    assert body["tool_choice"] == {"type": "tool", "name": "web_search"}
    own = {"type": "code_execution_20250825", "name": "code_execution"}
    look = {"name": "look", "input_schema": SCHEMA}
    choice = {"type": "tool", "name": "code_execution"}
    body, _ = sent("anthropic", "openai-responses", own, look, tool_choice=choice)
    assert body["tool_choice"] == {"type": "code_interpreter"}
    assert body["tools"][0] == code
    body, receipt = sent(
        "openai-responses",
        "anthropic",
        {"type": "image_generation"},
        function,
        tool_choice={"type": "image_generation"},
    )
    assert "tool_choice" not in body
    assert "choice-mapped" in receipt.codes()


def test_no_choice_is_left_where_no_tool_is() -> None:
    """S1-10."""
    body, _ = sent(
        "openai-responses", "openai-chat", {"type": "image_generation"}, tool_choice="required"
    )
    assert "tools" not in body
    assert "tool_choice" not in body


# --- run by the client ---------------------------------------------------------------------------

CALLS = [
    (
        {"type": "local_shell"},
        "local_shell",
        {"command": ["ls", "-l"], "timeout_ms": 9},
        {
            "type": "local_shell_call",
            "action": {"type": "exec", "env": {}, "command": ["ls", "-l"], "timeout_ms": 9},
        },
    ),
    (
        {"type": "shell", "environment": {"type": "local"}},
        "shell",
        {"commands": ["ls"]},
        {"type": "shell_call", "action": {"commands": ["ls"]}},
    ),
    (
        {"type": "apply_patch"},
        "apply_patch",
        {"type": "update_file", "path": "a", "diff": "@@"},
        {
            "type": "apply_patch_call",
            "operation": {"type": "update_file", "path": "a", "diff": "@@"},
        },
    ),
    (
        {"type": "tool_search", "execution": "client"},
        "tool_search",
        {"query": "files"},
        {"type": "tool_search_call", "execution": "client", "arguments": {"query": "files"}},
    ),
]


def answer(name: str, arguments: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


@pytest.mark.parametrize(("tool", "name", "arguments", "item"), CALLS, ids=lambda v: str(v)[:20])
def test_a_tool_that_the_client_runs_is_a_function_elsewhere(
    tool: Any, name: str, arguments: Any, item: Any
) -> None:
    """S1-56, D-12: and its calls come back as the client's own items."""
    body = {**REQUESTS["openai-responses"], "tools": [tool]}
    wire, receipt = translate_request(body, source="openai-responses", target="anthropic")
    (function,) = wire.body["tools"]
    assert function["name"] == name
    assert set(function["input_schema"]["required"]) <= set(function["input_schema"]["properties"])
    assert not receipt.losses
    shown, receipt = translate_response(
        answer(name, arguments), source="anthropic", target="openai-responses", request=body
    )
    (got,) = shown.body["output"]
    assert got == {**item, "id": got["id"], "call_id": "toolu_1", "status": "completed"}
    assert got["id"]
    assert not receipt.losses


@pytest.mark.parametrize(("tool", "name", "arguments", "item"), CALLS, ids=lambda v: str(v)[:20])
def test_in_a_stream_such_a_call_comes_whole(
    tool: Any, name: str, arguments: Any, item: Any
) -> None:
    """S1-56: announced and done, as an item of its own type."""
    body = {**REQUESTS["openai-responses"], "tools": [tool]}
    text = json.dumps(arguments)
    deltas = [
        {"id": "call_1", "type": "function", "function": {"name": name, "arguments": ""}},
        {"function": {"arguments": text[:5]}},
        {"function": {"arguments": text[5:]}},
    ]
    chunks: list[dict[str, Any]] = [
        {"delta": {"tool_calls": [{"index": 0, **delta}]}, "finish_reason": None}
        for delta in deltas
    ]
    chunks.append({"delta": {}, "finish_reason": "tool_calls"})
    translator = StreamTranslator("openai-chat", "openai-responses", request=body)
    got = b""
    for chunk in chunks:
        value = {"id": "c", "model": "m", "choices": [{"index": 0, **chunk}]}
        got += translator.feed(f"data: {json.dumps(value)}\n\n".encode())
    got += translator.feed(b"data: [DONE]\n\n") + translator.close()
    lines = [json.loads(s[6:]) for s in got.decode().splitlines() if s.startswith("data: ")]
    (done,) = (line["item"] for line in lines if line["type"] == "response.output_item.done")
    assert done == {**item, "id": done["id"], "call_id": "call_1", "status": "completed"}
    assert lines[-1]["response"]["output"] == [done]
    assert not [line for line in lines if "function_call" in line["type"]]


@pytest.mark.parametrize(("tool", "name", "arguments", "item"), CALLS, ids=lambda v: str(v)[:20])
def test_a_history_of_such_calls_is_one_of_functions(
    tool: Any, name: str, arguments: Any, item: Any
) -> None:
    """S1-56: what comes back from the client is what the model wrote."""
    call = {**item, "id": "i1", "call_id": "c1", "status": "completed"}
    output = {"type": f"{item['type'].removesuffix('_call')}_output", "tools": []}
    if name != "tool_search":
        output = {"type": f"{item['type']}_output", "output": "done"}
    output |= {"id": "i1"} if name == "local_shell" else {"call_id": "c1"}
    items = [{"role": "user", "content": "x"}, call, output]
    body = {"model": "m", "input": items, "tools": [tool]}
    wire, receipt = translate_request(body, source="openai-responses", target="anthropic")
    (use,), (result,) = (message["content"] for message in wire.body["messages"][1:])
    assert (use["id"], use["name"], use["input"]) == ("c1", name, arguments)
    assert result["tool_use_id"] == "c1"
    assert not receipt.losses


def test_a_text_in_place_of_a_command_line_is_run_by_a_shell() -> None:
    """S1-56: models do that."""
    body = {**REQUESTS["openai-responses"], "tools": [{"type": "local_shell"}]}
    shown, _ = translate_response(
        answer("local_shell", {"command": "ls | wc"}),
        source="anthropic",
        target="openai-responses",
        request=body,
    )
    assert shown.body["output"][0]["action"]["command"] == ["bash", "-lc", "ls | wc"]
    shown, _ = translate_response(
        answer("local_shell", {"cmd": 7}),
        source="anthropic",
        target="openai-responses",
        request=body,
    )
    assert shown.body["output"][0]["type"] == "function_call"


def test_a_name_that_is_taken_gives_way() -> None:
    """S1-56: a function that is called as the tool is."""
    function = {"type": "function", "name": "shell", "parameters": SCHEMA, "strict": False}
    body = {**REQUESTS["openai-responses"], "tools": [{"type": "shell"}, function]}
    wire, _ = translate_request(body, source="openai-responses", target="anthropic")
    assert [tool["name"] for tool in wire.body["tools"]] == ["shell_2", "shell"]
    for name, kind in (("shell_2", "shell_call"), ("shell", "function_call")):
        shown, _ = translate_response(
            answer(name, {"commands": ["ls"]}),
            source="anthropic",
            target="openai-responses",
            request=body,
        )
        assert shown.body["output"][0]["type"] == kind


@pytest.mark.parametrize(
    ("tool", "parameter"),
    [
        ({"type": "bash_20250124", "name": "bash"}, "command"),
        ({"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}, "old_str"),
        ({"type": "text_editor_20250124", "name": "str_replace_editor"}, "old_str"),
        ({"type": "memory_20250818", "name": "memory"}, "new_path"),
    ],
)
@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_tools_that_an_anthropic_client_runs(tool: Any, parameter: str, target: str) -> None:
    """D-12: their calls are plain calls by name, so nothing else changes."""
    body, receipt = sent("anthropic", target, tool)
    (function,) = body["tools"]
    function = function.get("function", function)
    assert function["name"] == tool["name"]
    assert parameter in function["parameters"]["properties"]
    assert receipt.codes()["tool-wrapped"] == 1
    assert not receipt.losses


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini", "ollama"])
def test_functions_pass_whatever_they_do(target: str) -> None:
    """S1-56: `shell`, `view_image` and MCP functions are functions like any other."""
    names = ["shell", "view_image", "list_mcp_resources", "read_mcp_resource", "update_plan"]
    tools = [{"type": "function", "name": n, "parameters": SCHEMA, "strict": False} for n in names]
    body, receipt = sent("openai-responses", target, *tools)
    text = json.dumps(body["tools"])
    assert all(f'"name": "{name}"' in text for name in names)
    assert "tool-dropped" not in receipt.codes()


def test_tools_that_a_search_has_found_can_be_called() -> None:
    """case-27, X-20: they are declared, and their calls come back with their namespace."""
    found = {
        "type": "namespace",
        "name": "mcp__fs",
        "description": "Files.",
        "tools": [{"type": "function", "name": "read", "parameters": SCHEMA}],
    }
    search = {"type": "tool_search_call", "call_id": "c1", "execution": "client"}
    items = [
        {"role": "user", "content": "x"},
        {**search, "arguments": {"query": "files"}, "status": "completed"},
        {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": [found]},
    ]
    tool = {"type": "tool_search", "execution": "client", "parameters": SCHEMA}
    body = {"model": "m", "input": items, "tools": [tool]}
    wire, _ = translate_request(body, source="openai-responses", target="anthropic")
    assert [each["name"] for each in wire.body["tools"]] == ["tool_search", "mcp__fs__read"]
    (result,) = wire.body["messages"][-1]["content"]
    assert "mcp__fs__read" in result["content"]
    shown, _ = translate_response(
        answer("mcp__fs__read", {}), source="anthropic", target="openai-responses", request=body
    )
    (item,) = shown.body["output"]
    assert (item["namespace"], item["name"]) == ("mcp__fs", "read")
