"""Calls and results of tools that the client runs, to and from functions."""

import pytest

from toolglot.adapt.tools.client_tools import ClientCalls, by_client, call_item
from toolglot.hosted_tools import ClientTool
from toolglot.ir import Opaque, Text, ToolCall, ToolResult

SHELL = ClientTool(
    types=("shell",),
    name="shell",
    description="Run it.",
    only={"environment": (None, "local")},
    call="shell_call",
    member="action",
    fixed={"type": "exec"},
    id="sh_",
    needs={"command": list},
    before=("sh", "-c"),
    beside={"by": "client"},
    output="shell_output",
)


def opaque(kind, **value):
    return Opaque(protocol="p", type=kind, value={"type": kind, **value})


@pytest.mark.parametrize(
    ("value", "runs"),
    [
        ({}, True),
        ({"environment": "local"}, True),
        ({"environment": {"type": "local"}}, True),
        ({"environment": {"type": "container"}}, False),
    ],
)
def test_who_runs_a_tool(value, runs):
    assert by_client(SHELL, value) is runs


def test_a_call_of_a_function_becomes_an_item():
    call = ToolCall(id="1", name="shell", arguments='{"command":["ls"]}')
    assert call_item(call, SHELL, "p") == opaque(
        "shell_call",
        id="sh_1",
        call_id="1",
        action={"type": "exec", "command": ["ls"]},
        status="completed",
        by="client",
    )


@pytest.mark.parametrize("arguments", ["", "{", "[]", "{}", '{"command":1}'])
def test_a_call_without_what_it_needs_stays_a_call_of_a_function(arguments):
    call = ToolCall(id="1", name="shell", arguments=arguments)
    assert call_item(call, SHELL, "p") is call


def test_a_text_is_run_by_what_comes_before():
    item = call_item(ToolCall(id="1", name="shell", arguments='{"command":"ls"}'), SHELL, "p")
    assert item.value["action"]["command"] == ["sh", "-c", "ls"]


def test_an_item_and_its_result_become_those_of_a_function():
    calls = ClientCalls()
    item = opaque("shell_call", id="sh_1", call_id="1", action={"type": "exec", "command": ["ls"]})
    made = ToolCall(id="1", name="run", arguments='{"command":["ls"]}')
    assert calls.call(item, SHELL, "run") == made
    result = opaque("shell_output", call_id="1", output="a.txt", status="failed")
    text = (Text(text="a.txt"),)
    assert calls.result(result, SHELL) == ToolResult(id="1", parts=text, is_error=True)
    by_item = opaque("shell_output", id="sh_1", output=["a"])
    assert calls.result(by_item, SHELL) == ToolResult(id="1", parts=(Text(text='["a"]'),))


@pytest.mark.parametrize(
    "item",
    [
        opaque("shell_call", action={}),
        opaque("shell_call", id="1"),
        opaque("shell_call", id="1", action=3),
        opaque("shell_call", id="1", action={}, environment="container"),
    ],
)
def test_an_item_that_the_client_did_not_run_is_no_call(item):
    assert ClientCalls().call(item, SHELL, "shell") is None


def test_a_result_without_a_call_is_none():
    assert ClientCalls().result(opaque("shell_output", call_id="1"), SHELL) is None
