"""Tool rules in the configuration of the gateway, by provider, client, protocol and model."""

import asyncio
import tomllib

import msgspec
import pytest
from tests.gateway.running import gateway, provider, to, upstream
from tests.gateway.scripts import Script, calls, says

from toolglot import ir
from toolglot.gateway.config import ToolRulesFor

CODEX = "codex_cli_rs/0.166.0 (Linux; x86_64)"
FILE = """
[[tool_rules]]
client = "codex"
preset = "codex-anthropic"
rename = { cat = "read_file" }

[[tool_rules]]
client = "codex"
model = "big-*"
parameters = { cat = { path = "file_path" } }
guidance = { update_plan = "Plan with {exec_command|shell}." }

[[tool_rules]]
protocol = "openai-chat"
filter = ["exec_*"]
"""


def rules():
    return msgspec.convert(tomllib.loads(FILE)["tool_rules"], tuple[ToolRulesFor, ...])


def tool(name):
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {"type": "function", "name": name, "parameters": schema, "strict": False}


TOOLS = [
    {"type": "custom", "name": "apply_patch", "description": "Edits."},
    *map(tool, ("update_plan", "cat", "exec_command")),
]


def asked(script, name, agent, body, path="/v1/responses"):
    async def run():
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider(name, url, tool_rules=rules())}, [to("them/*")]) as session,
        ):
            headers = {"User-Agent": agent}
            async with session.post(path, json=body, headers=headers) as reply:
                assert reply.status == 200
                return await reply.json()

    return asyncio.run(run())


@pytest.mark.parametrize("model", ["small", "big-1"])
@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses"])
def test_all_four_triggers_for_one_client(name, model):
    """S1-53, S1-39, S1-41, S1-46: native names, parameters, equivalents and blocking."""
    script = Script(name, calls("read_file", '{"file_path":"a"}'))
    body = asked(script, name, CODEX, {"model": model, "input": "go", "tools": TOOLS})
    (seen,) = script.seen
    assert [each.name for each in seen.tools] == ["read_file", "exec_command"]
    mapped = model == "big-1"
    properties = {*seen.tools[0].parameters["properties"]}
    assert properties == ({"file_path"} if mapped else {"path"})
    lead = [m for m in seen.messages if m.role in ("system", "developer")]
    system = seen.system.parts if seen.system is not None else lead[0].parts
    words = system[0].text
    assert "Change files with exec_command." in words
    assert ("Plan with exec_command." in words) == mapped
    (call,) = (item for item in body["output"] if item["type"] == "function_call")
    assert call["name"] == "cat"
    expected = '{"path":"a"' if mapped else '{"file_path":"a"'
    assert call["arguments"].startswith(expected)


def test_other_clients_and_protocols_have_other_rules():
    """S1-53, S1-40"""
    script = Script("anthropic", says("Yes."))
    asked(script, "anthropic", "python/3", {"model": "big-1", "input": "go", "tools": TOOLS})
    assert [each.name for each in script.seen[0].tools] == [
        "apply_patch",
        "update_plan",
        "cat",
        "exec_command",
    ]
    script = Script("anthropic", says("Yes."))
    tools = [{"type": "function", "function": {"name": n}} for n in ("exec_command", "cat")]
    message = {"role": "user", "content": "go"}
    body = {"model": "big-1", "messages": [message], "tools": tools}
    asked(script, "anthropic", "python/3", body, "/v1/chat/completions")
    assert [each.name for each in script.seen[0].tools] == ["cat"]


@pytest.mark.parametrize("name", ["anthropic", "openai-chat"])
def test_a_filtered_freeform_tool_comes_back_as_it_was_declared(name):
    """S1-46"""
    script = Script(name, calls("apply_patch", '{"input":"*** Begin"}'))
    body = asked(script, name, CODEX, {"model": "m", "input": "go", "tools": TOOLS})
    (call,) = (item for item in body["output"] if item["type"].endswith("_call"))
    assert (call["type"], call["input"]) == ("custom_tool_call", "*** Begin")
    assert not any(isinstance(each, ir.CustomTool) for each in script.seen[0].tools)
