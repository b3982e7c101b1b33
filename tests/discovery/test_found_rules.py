"""What a server refuses becomes rules, which are read back and applied."""

import json
import tomllib

import pytest
from tests.discovery.scripted import HELLO, Faithful, ask, chat_call, chat_only, reply

from toolglot.discovery import found_rules, to_toml
from toolglot.exchange import Exchange
from toolglot.providers import check_overrides

NO = reply(400, {"error": {"message": "no"}})
BROKEN = reply(500, {"error": {"message": "oh"}})
CALL = chat_call("call_1")

REFUSALS = {
    "custom": {"tools.kinds": ["function"], "tools.own": []},
    "required": {"tools.choices": ["auto", "none", "tool"]},
    "named": {"tools.choices": ["auto", "none", "required"]},
    "strict": {"tools.strict_default": "any", "tools.explicit_strict": False},
    "schemas": {"schema.tools": "openapi"},
    "single": {"sampling.dropped": ["parallel_tool_calls"]},
    "output": {"outputs": ["json", "text"]},
    "long-id": {"calls.id_rule": {"chars": "a-zA-Z0-9", "least": 9, "most": 9}},
    "developer": {"system.developer_role": False},
    "limit": {"limits.name": "max_tokens"},
}


def faithful(*refuses):
    return ask(Faithful(protocols=("openai-chat",), refuses=refuses))


@pytest.mark.parametrize(("probe", "rules"), REFUSALS.items(), ids=REFUSALS)
def test_each_refusal_is_a_rule(probe, rules):
    assert found_rules(faithful(probe)) == rules


def test_a_server_that_accepts_all_has_none():
    assert found_rules(faithful()) == {}
    assert "rules" not in to_toml(faithful(), "it")


def test_nothing_is_known_of_what_is_no_server():
    assert found_rules(ask(lambda probe: reply(404, {}))) == {}


def test_a_choice_that_is_ignored_is_a_rule_as_well():
    rules = found_rules(ask(chat_only({"tools": CALL}, HELLO)))
    assert rules["tools.choices"] == ["auto", "none"]


def test_a_failure_is_a_rule_only_where_nothing_else_can_be_the_reason():
    answers = dict.fromkeys(("custom", "strict", "single"), BROKEN)
    assert found_rules(ask(chat_only(answers, CALL))) == {
        "tools.kinds": ["function"],
        "tools.own": [],
    }


def test_rules_are_facts():
    rules = found_rules(faithful(*REFUSALS))
    assert dict(check_overrides(rules)) == {}


def test_what_was_found_is_written_read_back_and_applied(tmp_path):
    """A server that refuses much, from its answers to what the gateway sends to it."""
    config = pytest.importorskip("toolglot.gateway.config")
    from toolglot.gateway.relay.providers import make_upstreams

    text = to_toml(faithful(*REFUSALS), "it")
    file = tmp_path / "toolglot.toml"
    file.write_text(text)
    upstream = make_upstreams(config.load_config(file, {}), {})["it"]
    asked = {
        "model": "tiny",
        "input": [{"role": "developer", "content": "Be short."}, {"role": "user", "content": "Hi"}],
        "max_output_tokens": 99,
        "parallel_tool_calls": False,
        "tool_choice": {"type": "function", "name": "look"},
        "tools": [
            {"type": "custom", "name": "patch"},
            {
                "type": "function",
                "name": "look",
                "strict": True,
                "parameters": {
                    "type": "object",
                    "properties": {"at": {"type": ["string", "null"]}},
                    "required": ["at"],
                    "additionalProperties": False,
                },
            },
        ],
    }
    protocol = upstream.protocol_for("openai-responses", "tiny")
    options = upstream.options("tiny", "tiny", strict=False)
    sent = Exchange("openai-responses", protocol, options).request(json.dumps(asked).encode())
    body = json.loads(sent.data)
    assert {tool["type"] for tool in body["tools"]} == {"function"}
    assert not any("strict" in tool["function"] for tool in body["tools"])
    assert body["tools"][1]["function"]["parameters"]["properties"]["at"]["type"] == "string"
    assert "parallel_tool_calls" not in body
    assert body.get("tool_choice", "auto") == "auto"
    assert {message["role"] for message in body["messages"]} == {"system", "user"}
    assert body["max_tokens"] == 99
    assert tomllib.loads(text)["providers"]["it"]["rules"]["limits.name"] == "max_tokens"
