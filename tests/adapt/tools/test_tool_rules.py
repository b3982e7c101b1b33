"""Tool rules applied to requests and undone in answers."""

import json

import pytest

import toolglot
from toolglot.calls import is_compatible, map_tool_call
from toolglot.exchange import encode_stream
from toolglot.rules import PRESETS, ToolRules, combine_rules

SYSTEM = """You edit files.

Use apply_patch for edits. Keep answers short!
```
  indented   code
```
- never call update_plan twice
- be kind"""


def codex(**more):
    """A request as Codex sends it."""
    names = [
        "apply_patch",
        "update_plan",
        "cat",
        "search_files",
        "grep",
        "ls",
        "edit_file",
        "my_tool",
    ]
    return {
        "model": "gpt-5.4",
        "instructions": SYSTEM,
        "input": [{"type": "message", "role": "user", "content": "go"}],
        "tools": [
            {
                "type": "function",
                "name": name,
                "parameters": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}},
                    "required": ["path"],
                },
                "strict": False,
            }
            for name in names
        ],
        **more,
    }


def sent(body, **options):
    wire, receipt = toolglot.translate_request(
        body, source="openai-responses", target="anthropic", **options
    )
    return wire.body, receipt


def test_without_rules_nothing_is_filtered_or_said():
    """D-12, S1-42: tools are translated, and the prompt is not touched."""
    body, receipt = sent(codex(), prompt_cache="off")
    assert len(body["tools"]) == 8
    assert body["system"] == SYSTEM
    assert "rule-applied" not in receipt.codes()


def test_the_preset_filters_guides_and_cleans():
    """S1-39, S1-40, S1-41, S1-43"""
    body, receipt = sent(codex(), rules="codex-anthropic")
    assert [tool["name"] for tool in body["tools"]] == [
        "cat",
        "search_files",
        "grep",
        "ls",
        "edit_file",
        "my_tool",
    ]
    guidance, prompt = (part["text"] for part in body["system"])
    assert "apply_patch is not available. Change files with edit_file." in guidance
    assert prompt == SYSTEM.replace("Use apply_patch for edits.", "").replace(
        "- never call update_plan twice", ""
    )
    assert receipt.codes()["rule-applied"] == 4


def test_guidance_makes_a_system_message_where_there_is_none():
    """S1-41"""
    request = codex()
    del request["instructions"]
    body, _ = sent(request, rules="codex-anthropic")
    assert "apply_patch is not available" in json.dumps(body["system"])


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (("exec_command", "shell"), "Change files with exec_command."),
        (("shell",), "Change files with run."),
        (("grep",), None),
    ],
)
def test_guidance_names_only_tools_that_are_declared(declared, said):
    """S1-41: under the name that they have at the target."""
    request = codex()
    request["tools"] = [
        {**request["tools"][0], "name": name} for name in ("apply_patch", *declared)
    ]
    rules = combine_rules([PRESETS["codex-anthropic"], ToolRules(rename={"shell": "run"})])
    body, _ = sent(request, rules=rules, prompt_cache="off")
    guidance = body["system"][0]["text"]
    expected = "apply_patch is not available."
    assert guidance == (f"{expected} {said}" if said else expected)


def test_no_guidance_without_a_filtered_tool():
    """S1-42"""
    request = codex()
    request["tools"] = request["tools"][2:]
    body, _ = sent(request, rules="codex-anthropic", prompt_cache="off")
    assert body["system"] == SYSTEM


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "function", "name": "apply_patch"}, {"type": "auto"}),
        ({"type": "function", "name": "grep"}, {"type": "tool", "name": "grep"}),
        ("required", {"type": "any"}),
    ],
)
def test_a_choice_of_a_filtered_tool_becomes_auto(choice, expected):
    """S1-44"""
    body, _ = sent(codex(tool_choice=choice), rules="codex-anthropic")
    assert body["tool_choice"] == expected


def test_no_choice_is_left_where_no_tool_is():
    """S1-44"""
    request = codex(tool_choice="auto")
    request["tools"] = request["tools"][:2]
    body, _ = sent(request, rules="codex-anthropic")
    assert "tool_choice" not in body
    assert "tools" not in body


def answer(name, arguments):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def test_a_call_of_a_filtered_tool_reaches_the_client():
    """S1-45, S1-46"""
    wire, _ = toolglot.translate_response(
        answer("apply_patch", {"path": "a"}),
        source="anthropic",
        target="openai-responses",
        request=codex(),
        rules="codex-anthropic",
    )
    (call,) = wire.body["output"]
    assert (call["type"], call["name"], call["call_id"]) == (
        "function_call",
        "apply_patch",
        "toolu_1",
    )


FREEFORM = {"type": "custom", "name": "apply_patch", "description": "Edits files."}
NAMESPACE = {
    "type": "namespace",
    "name": "files",
    "description": "Files.",
    "tools": [
        {"type": "function", "name": "cat", "parameters": {"type": "object", "properties": {}}}
    ],
}


@pytest.mark.parametrize(
    ("tool", "call", "expected"),
    [
        (
            FREEFORM,
            ("apply_patch", {"input": "*** Begin"}),
            {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"},
        ),
        (
            NAMESPACE,
            ("files__cat", {"path": "a"}),
            {"type": "function_call", "name": "cat", "namespace": "files"},
        ),
        (
            {"type": "local_shell"},
            ("local_shell", {"command": ["ls"]}),
            {"type": "local_shell_call"},
        ),
    ],
)
@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_call_of_a_filtered_tool_is_of_the_kind_that_the_client_declared(
    tool, call, expected, target, stream
):
    """S1-46: freeform calls come back as such, and so do those of namespaces and client tools."""
    request = codex(tools=[tool])
    rules = ToolRules(filter=("*",))
    wire, _ = toolglot.translate_request(
        request, source="openai-responses", target=target, rules=rules
    )
    assert "tools" not in wire.body
    name, arguments = call
    call = toolglot.ToolCall(id="call_1", name=name, arguments=json.dumps(arguments))
    stop = toolglot.ir.StopReason(kind="tool_calls")
    choice = toolglot.ir.Choice(parts=(call,), stop=stop)
    made = toolglot.Response(id="r1", model="m", choices=(choice,))
    exchange = toolglot.Exchange("openai-responses", target, toolglot.Options(rules=rules))
    exchange.request(json.dumps(request).encode())
    if stream:
        translator = exchange.stream()
        data = encode_stream(made, target, toolglot.Context())
        out = translator.feed(data) + translator.close()
        body = json.loads(out.decode().strip().rsplit("data: ", 1)[1])["response"]
    else:
        data = toolglot.encode_response(made, target=target).data()
        body = json.loads(exchange.response(data).data)
    (item,) = body["output"]
    assert {key: item[key] for key in expected} == expected


@pytest.mark.parametrize("protocol", list(toolglot.PROTOCOLS))
def test_rules_hold_where_a_request_stays_in_its_protocol(protocol):
    """S1-53: the name at the target in definitions and history, the client's own in answers."""
    rules = ToolRules(filter=("plan",), rename={"cat": "read"}, parameters={"cat": {"p": "path"}})
    schema = {"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]}
    tools = tuple(
        toolglot.FunctionTool(name=name, parameters=schema) for name in ("plan", "cat", "ls")
    )
    user = toolglot.Message(role="user", parts=(toolglot.Text(text="go"),))
    asked = toolglot.Request(model="m", messages=(user,), tools=tools, max_tokens=9)
    wire = toolglot.encode_request(asked, target=protocol)
    exchange = toolglot.Exchange(protocol, protocol, toolglot.Options(rules=rules))
    sent = exchange.request(wire.data(), wire.path)
    got = toolglot.decode_request(sent.data, source=protocol, path=sent.path)
    assert [tool.name for tool in got.tools] == ["read", "ls"]
    assert got.tools[0].parameters["required"] == ["path"]
    assert "rule-applied" in {note.code for note in exchange.notes}
    call = toolglot.ToolCall(id="call_1", name="read", arguments='{"path":"x"}')
    choice = toolglot.ir.Choice(parts=(call,), stop=toolglot.ir.StopReason(kind="tool_calls"))
    made = toolglot.Response(id="r1", model="m", choices=(choice,))
    answered = exchange.response(toolglot.encode_response(made, target=protocol).data())
    [back] = toolglot.decode_response(answered.data, source=protocol).choices[0].parts
    assert (back.name, back.arguments) == ("cat", '{"p":"x"}')


@pytest.mark.parametrize("protocol", list(toolglot.PROTOCOLS))
def test_rules_that_nothing_meets_leave_a_request_as_it_came(protocol):
    rules = ToolRules(filter=("plan",), rename={"cat": "read"}, repeat_warning=2)
    user = toolglot.Message(role="user", parts=(toolglot.Text(text="go"),))
    asked = toolglot.Request(model="m", messages=(user,), max_tokens=9)
    wire = toolglot.encode_request(asked, target=protocol)
    exchange = toolglot.Exchange(protocol, protocol, toolglot.Options(rules=rules))
    assert exchange.request(wire.data(), wire.path).data == wire.data()
    assert exchange.notes == ()


RENAMING = ToolRules(
    rename={"cat": "read_file", "search_files": "find_files"},
    parameters={"cat": {"path": "file_path"}},
)


def test_renaming_reaches_definitions_choice_and_history():
    """S1-47, S1-49"""
    history = [
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "cat",
            "arguments": '{"path":"x","n":1}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": "text"},
    ]
    request = codex(tool_choice={"type": "function", "name": "cat"})
    request["input"] += history
    body, _ = sent(request, rules=RENAMING)
    tool = next(tool for tool in body["tools"] if tool["name"] == "read_file")
    assert tool["input_schema"]["properties"] == {"file_path": {"type": "string"}}
    assert tool["input_schema"]["required"] == ["file_path"]
    assert "cat" not in {tool["name"] for tool in body["tools"]}
    assert body["tool_choice"] == {"type": "tool", "name": "read_file"}
    call = body["messages"][1]["content"][0]
    assert (call["name"], call["input"]) == ("read_file", {"file_path": "x", "n": 1})


def test_renamed_calls_come_back_under_their_own_name():
    """S1-48, S1-49"""
    wire, _ = toolglot.translate_response(
        answer("read_file", {"file_path": "x"}),
        source="anthropic",
        target="openai-responses",
        request=codex(),
        rules=RENAMING,
    )
    (call,) = wire.body["output"]
    assert (call["name"], json.loads(call["arguments"])) == ("cat", {"path": "x"})


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_renamed_calls_come_back_in_streams(size):
    """S1-49: the name at once, mapped parameters when they are whole."""
    events = [
        {
            "type": "message_start",
            "message": {"id": "m", "role": "assistant", "content": [], "model": "c", "usage": {}},
        },
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"file_pa'},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": 'th":"x"}'},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t2", "name": "find_files", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"path":"y"}'},
        },
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    data = b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)
    translator = toolglot.StreamTranslator(
        "anthropic", "openai-responses", request=codex(), rules=RENAMING
    )
    out = b"".join(translator.feed(data[i : i + size]) for i in range(0, len(data), size))
    out += translator.close()
    last = json.loads(out.decode().strip().rsplit("data: ", 1)[1])
    calls = [(item["name"], json.loads(item["arguments"])) for item in last["response"]["output"]]
    assert calls == [("cat", {"path": "x"}), ("search_files", {"path": "y"})]


def test_a_call_is_mapped_both_ways():
    """S1-52"""
    call = toolglot.ToolCall(id="1", name="cat", arguments='{"path": "x"}')
    there = map_tool_call(call, RENAMING)
    assert (there.name, there.input) == ("read_file", {"file_path": "x"})
    back = map_tool_call(there, RENAMING, back=True)
    assert (back.name, back.input) == ("cat", {"path": "x"})
    other = toolglot.ToolCall(id="2", name="grep", arguments="{}")
    assert map_tool_call(other, RENAMING, back=True) == other


def test_compatibility_says_whether_and_why():
    """S1-50"""
    function = {
        "type": "function",
        "name": "grep",
        "parameters": {"type": "object"},
        "strict": True,
    }
    assert is_compatible(function, "anthropic")[0]
    fits, reasons = is_compatible(function, "ollama")
    assert fits
    assert any("strict" in reason for reason in reasons)


def repeated(times):
    request = codex()
    for n in range(times):
        request["input"] += [
            {"type": "function_call", "call_id": f"c{n}", "name": "ls", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"c{n}", "output": "."},
        ]
    return request


def test_repeated_calls_are_noticed_only_when_asked_for():
    """S1-58"""
    assert "call-repeated" not in sent(repeated(9))[1].codes()
    rules = ToolRules(repeat_warning=3, repeat_limit=5)
    assert "call-repeated" not in sent(repeated(2), rules=rules)[1].codes()
    body, receipt = sent(repeated(3), rules=rules)
    assert "call-repeated" in receipt.codes()
    warning = body["messages"][-1]["content"][-1]["text"]
    assert warning.startswith("ls was called 3 times in a row with the same arguments")
    asked = repeated(3)
    asked["input"].append({"type": "message", "role": "user", "content": "Once more."})
    body, receipt = sent(asked, rules=rules, prompt_cache="off")
    assert "call-repeated" in receipt.codes()
    assert "3 times" not in json.dumps(body["messages"]), "the model is told only while it calls"
    with pytest.raises(toolglot.UntranslatableError, match="5 times in a row"):
        sent(repeated(5), rules=rules)


def test_an_unknown_preset_is_an_error_that_lists_them():
    with pytest.raises(ValueError, match="codex-anthropic"):
        sent(codex(), rules="nope")
