"""`toolglot doctor-history`: findings in words, and a repaired request."""

import json

import pytest

from toolglot import diagnose

USED = {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {}}
BODY = {
    "model": "m",
    "max_tokens": 9,
    "messages": [
        {"role": "user", "content": "Time?"},
        {"role": "assistant", "content": [USED]},
        {"role": "user", "content": "Well?"},
    ],
}
SICK = json.dumps(BODY).encode()
WELL = json.dumps({**BODY, "messages": BODY["messages"][:1]}).encode()
COMMAND = ("doctor-history", "--protocol", "anthropic")


def test_a_healthy_history_is_0(cli):
    """X-10"""
    assert cli(*COMMAND, data=WELL) == (0, b"", "nothing is wrong\n")


def test_findings_are_1_and_words(cli):
    """X-10"""
    said = "messages[1].content[0]: the call of clock (toolu_1) has no result\n"
    assert cli(*COMMAND, data=SICK) == (1, b"", said)


def test_fix_writes_the_repaired_request(cli, tmp_path):
    """X-10"""
    receipt = tmp_path / "receipt.json"
    done = cli(*COMMAND, "--fix", "--receipt", str(receipt), data=SICK)
    assert done.code == 0
    assert "has no result; a result that says so was added" in done.err
    assert diagnose(done.out, "anthropic") == []
    [note] = json.loads(receipt.read_bytes())
    assert (note["code"], note["path"]) == ("call-unanswered", "messages[1].content[0]")


def test_fix_of_a_healthy_history(cli):
    done = cli(*COMMAND, "--fix", data=WELL)
    assert (done.code, done.err) == (0, "nothing was wrong\n")
    assert json.loads(done.out) == json.loads(WELL)


def test_a_policy_can_be_chosen(cli, tmp_path):
    file = tmp_path / "request.json"
    file.write_bytes(SICK)
    done = cli(*COMMAND, "--fix", "--policy", "drop", str(file))
    assert b"tool_use" not in done.out


@pytest.mark.parametrize("option", [("--policy", "drop"), ("--receipt", "x.json")])
def test_options_of_a_repair_need_one(cli, option):
    done = cli(*COMMAND, *option, data=SICK)
    assert done.code == 2
    assert "--fix" in done.err


def test_what_is_no_request_is_said(cli):
    done = cli(*COMMAND, data=b"[]")
    assert (done.code, done.out) == (1, b"")
    assert done.err == "toolglot: expected object, got array\n"


def test_the_help_has_an_example(cli):
    done = cli("doctor-history", "--help")
    assert b"toolglot doctor-history --protocol" in done.out
