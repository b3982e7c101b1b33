"""`toolglot parse`: text in, calls out, the same however it is cut."""

import json

import pytest

TEXT = 'Ok <tool_call>{"name": "f", "arguments": {"n": 12345678901234567890}}</tool_call> bye'
FOUND = {
    "dialect": "hermes",
    "content": "Ok  bye",
    "reasoning": "",
    "calls": [{"id": "call_0", "name": "f", "arguments": {"n": 12345678901234567890}}],
}


@pytest.mark.parametrize(
    "split", [(), ("--split", "char"), ("--split", "3"), ("--split", "random:7")]
)
def test_calls_of_a_text_s3_04(cli, split):
    """S3-04: the format is found out, and cutting the text changes nothing."""
    done = cli("parse", *split, data=TEXT.encode())
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == FOUND


@pytest.mark.parametrize("split", [(), ("--split", "char")])
def test_the_dialect_of_a_call_that_is_known_at_the_end(cli, split):
    done = cli("parse", *split, data=b'{"name": "f", "arguments": {}}')
    assert json.loads(done.out)["dialect"] == "json_bare"
    assert json.loads(done.out)["calls"][0]["name"] == "f"


def test_declared_tools_and_a_named_dialect(cli, tmp_path):
    tools = tmp_path / "tools.json"
    file = tmp_path / "answer.txt"
    file.write_text("<function=g><parameter=n>1</parameter></function>", encoding="utf-8")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    for value in ([{"name": "g", "input_schema": schema}], {"tools": [{"name": "x"}]}):
        tools.write_text(json.dumps(value), encoding="utf-8")
        done = cli("parse", "--dialect", "qwen3_coder", "--tools", str(tools), str(file))
        calls = json.loads(done.out)["calls"]
        assert [call["arguments"] for call in calls] == (
            [{"n": 1}] if value != calls and isinstance(value, list) else []
        )


def test_lines(cli):
    lines = [
        json.dumps({"text": TEXT}),
        "",
        json.dumps("plain"),
        json.dumps({"text": TEXT, "tools": [{"name": "x"}]}),
    ]
    done = cli("parse", "--jsonl", data="\n".join(lines).encode())
    first, second, third = map(json.loads, done.out.splitlines())
    assert first == FOUND
    assert (second["dialect"], second["content"], second["calls"]) == (None, "plain", [])
    assert (third["content"], third["calls"]) == (TEXT, [])


def test_lines_that_know_more(cli):
    """What a line says of its text counts for that line alone."""
    lines = [
        {"text": f"hm</think>{TEXT}", "thinking": True, "dialect": "hermes"},
        {"text": TEXT, "dialect": "mistral"},
        {"text": TEXT, "tools": [], "dialect": None, "other": 1},
        {"text": TEXT},
    ]
    done = cli("parse", "--jsonl", data="\n".join(map(json.dumps, lines)).encode())
    first, second, third, fourth = map(json.loads, done.out.splitlines())
    assert (first["reasoning"], first["content"], len(first["calls"])) == ("hm", "Ok  bye", 1)
    assert (second["dialect"], second["content"], second["calls"]) == ("mistral", TEXT, [])
    assert (third["content"], third["calls"]) == (TEXT, [])
    assert fourth == FOUND


@pytest.mark.parametrize(
    "more", [{"dialect": "klingon"}, {"dialect": 1}, {"thinking": "yes"}, {"tools": {}}]
)
def test_lines_that_say_something_wrong(cli, more):
    done = cli("parse", "--jsonl", data=json.dumps({"text": TEXT, **more}).encode())
    assert done.code == 1
    (name,) = more
    assert f"line 1.{name}: expected" in done.err


def test_reasoning_that_the_prompt_opened(cli):
    done = cli("parse", "--thinking", "--dialect", "hermes", data=b"hm</think>yes")
    assert json.loads(done.out)["reasoning"] == "hm"


@pytest.mark.parametrize(
    "argv", [("--split", "0"), ("--split", "random"), ("--dialect", "klingon")]
)
def test_wrong_use(cli, argv):
    assert cli("parse", *argv, data=b"x").code == 2


@pytest.mark.parametrize("line", ["{", "[]", '{"text": 1}'])
def test_lines_that_hold_no_text(cli, line):
    done = cli("parse", "--jsonl", data=line.encode())
    assert done.code == 1
    assert done.err.startswith("toolglot: ")


def test_a_bad_line_is_named_by_its_number(cli):
    done = cli("parse", "--jsonl", data=b'{"text": "a"}\n\n{"text": }\n')
    assert "line 3: not JSON: Expecting value in column 10" in done.err


def test_file_without_tools(cli, tmp_path):
    file = tmp_path / "tools.json"
    file.write_text("{}", encoding="utf-8")
    assert cli("parse", "--tools", str(file), data=b"x").code == 1
