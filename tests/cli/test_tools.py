"""`toolglot tools`: the three commands, for every protocol and by names of providers."""

import json

import pytest

from toolglot.registry import PROTOCOLS

TOOL = {
    "type": "function",
    "function": {
        "name": "tide_table",
        "description": "The tides of a harbour.",
        "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
    },
}


def written(value):
    return json.dumps(value).encode()


def test_tools_are_written_for_another_provider(cli):
    done = cli("tools", "format", "--to", "anthropic", data=written([TOOL]))
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == [
        {
            "name": "tide_table",
            "description": "The tides of a harbour.",
            "input_schema": TOOL["function"]["parameters"],
        }
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tools_of_a_request_and_one_tool_alone(cli, protocol):
    whole = cli("tools", "format", "--to", protocol, data=written({"tools": [TOOL]}))
    alone = cli("tools", "format", "--to", protocol, data=written(TOOL))
    assert whole.out == alone.out
    assert b"tide_table" in whole.out


def test_tools_of_a_request_that_has_them_deeper(cli):
    spec = {"name": "tide_table", "inputSchema": {"json": {"type": "object"}}}
    asked = {"messages": [], "toolConfig": {"tools": [{"toolSpec": spec}]}}
    done = cli("tools", "format", "--to", "anthropic", data=written(asked))
    assert [tool["name"] for tool in json.loads(done.out)] == ["tide_table"]


def test_what_was_changed_goes_to_standard_error(cli):
    free = {"type": "custom", "custom": {"name": "patch", "description": "A patch."}}
    done = cli("tools", "format", "--to", "gemini", data=written({"tools": [TOOL, free]}))
    assert "tools[1]" in done.err


def test_what_is_no_list_of_tools_is_an_error(cli):
    done = cli("tools", "format", "--to", "gemini", data=b'["a"]')
    assert done.code == 1
    assert "expected a list of tools" in done.err


ANSWERS = {
    "openai": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "tide_table", "arguments": '{"at": "Faro"}'},
                        }
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ]
    },
    "anthropic": {
        "content": [
            {"type": "tool_use", "id": "call_1", "name": "tide_table", "input": {"at": "Faro"}}
        ],
        "stop_reason": "tool_use",
    },
    "ollama": {
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "tide_table", "arguments": {"at": "Faro"}}}],
        },
        "done": True,
    },
}


@pytest.mark.parametrize("provider", ANSWERS)
@pytest.mark.parametrize("named", [True, False])
def test_calls_are_read(cli, provider, named):
    option = ("--from", provider) if named else ()
    done = cli("tools", "parse", *option, data=written(ANSWERS[provider]))
    [call] = json.loads(done.out)
    assert list(call) == ["id", "name", "arguments"]
    assert call["id"]
    assert call["name"] == "tide_table"
    assert json.loads(call["arguments"]) == {"at": "Faro"}


def test_calls_that_a_model_wrote_as_text(cli):
    text = b'<tool_call>{"name": "tide_table", "arguments": {"at": "Faro"}}</tool_call>'
    assert json.loads(cli("tools", "parse", data=text).out)[0]["name"] == "tide_table"


def test_no_call_is_an_empty_list_and_no_answer_an_error(cli):
    assert cli("tools", "parse", data=b"Good morning.").out == b"[]\n"
    done = cli("tools", "parse", data=b"")
    assert (done.code, done.out) == (1, b"")
    assert "the input is empty" in done.err


RESULTS = {
    "openai": {"role": "tool", "tool_call_id": "c1", "content": "low 11:40"},
    "anthropic": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "low 11:40"}],
    },
    "ollama": {"role": "tool", "tool_name": "tide_table", "content": "low 11:40"},
    "openrouter": {"role": "tool", "tool_call_id": "c1", "content": "low 11:40"},
}


@pytest.mark.parametrize("provider", RESULTS)
def test_a_result_is_written(cli, provider):
    options = ("--to", provider, "--id", "c1", "--name", "tide_table")
    done = cli("tools", "result", *options, data=b"low 11:40\n")
    assert json.loads(done.out) == RESULTS[provider]


def test_a_failed_result_says_so(cli):
    options = ("--to", "anthropic", "--id", "c1", "--name", "tide_table", "--error")
    done = cli("tools", "result", *options, data=b"no such harbour")
    assert json.loads(done.out)["content"][0]["is_error"] is True
