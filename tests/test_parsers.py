"""Parsers by provider, and the middleware around a provider."""

import json
import re
from threading import Thread

import pytest

import toolglot
from toolglot import ToolCall, ToolOutput, get_parser, register_parser, unregister_dialect
from toolglot import parsers as module
from toolglot.calls import ToolingMiddleware
from toolglot.dialects.table import DIALECTS
from toolglot.errors import DecodeError
from toolglot.parsers import InvalidCallError, detect, parse_tool_calls
from toolglot.profiles import PROVIDERS, UnknownProviderError

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
TOOL = {"name": "calc", "description": "Calculates", "input_schema": SCHEMA}
FUNCTION = {"name": "calc", "arguments": '{"x":5}'}

ANSWERS = {
    "anthropic": {
        "content": [{"type": "tool_use", "id": "c1", "name": "calc", "input": {"x": 5}}],
        "stop_reason": "tool_use",
    },
    "openai-chat": {
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
                },
                "finish_reason": "tool_calls",
            }
        ]
    },
    "openai-responses": {
        "id": "resp_1",
        "status": "completed",
        "output": [{"type": "function_call", "id": "fc_1", "call_id": "c1", **FUNCTION}],
    },
    "gemini-interactions": {
        "object": "interaction",
        "status": "requires_action",
        "steps": [{"type": "function_call", "id": "c1", "name": "calc", "arguments": {"x": 5}}],
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [{"functionCall": {"id": "c1", "name": "calc", "args": {"x": 5}}}],
                },
                "finishReason": "STOP",
            }
        ]
    },
    "ollama": {
        "model": "m",
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "function": {"name": "calc", "arguments": {"x": 5}}}],
        },
        "done": True,
    },
    "bedrock-converse": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "c1", "name": "calc", "input": {"x": 5}}}],
            }
        },
        "stopReason": "tool_use",
    },
}
"""The same call in every protocol."""


class Shouted:
    """A parser of somebody else's: `CALL name {json}` lines."""

    def parse(self, response):
        found = re.findall(r"^CALL (\w+) (.+)$", response, re.MULTILINE)
        return [
            ToolCall(id=f"s{number}", name=name, arguments=text, raw_input=f"CALL {name} {text}")
            for number, (name, text) in enumerate(found)
        ]

    def format(self):
        return "custom"

    def provider_id(self):
        return "shouter"


@pytest.fixture(autouse=True)
def _nothing_registered(monkeypatch):
    monkeypatch.setattr(module, "_registered", {})
    before = set(DIALECTS)
    yield
    for name in set(DIALECTS) - before:
        unregister_dialect(name)


# --- one type for all providers -------------------------------------------------------------------


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_every_provider_gives_the_same_call(provider):
    """S3-01, S3-02: whoever answered, the call is one value of one type."""
    [call] = get_parser(provider).parse(ANSWERS[PROVIDERS[provider]])
    assert type(call) is ToolCall
    assert (call.name, call.input, call.type) == ("calc", {"x": 5}, "function")
    assert call.id == "c1"


@pytest.mark.parametrize("provider", ["anthropic", "openai", "google", "responses", "ollama"])
def test_one_parse_gives_every_form(provider):
    """S3-03"""
    [call] = get_parser(provider).parse(ANSWERS[PROVIDERS[provider]])
    assert call.to_anthropic() == ANSWERS["anthropic"]["content"][0]
    assert call.to_openai() == {"id": "c1", "type": "function", "function": FUNCTION}
    assert call.to_generic() == {"tool_call_id": "c1", "tool_name": "calc", "parameters": {"x": 5}}


@pytest.mark.parametrize("kind", [dict, str, bytes])
def test_an_answer_may_be_text_bytes_or_an_object(kind):
    """S3-10"""
    body = ANSWERS["anthropic"]
    given = body if kind is dict else json.dumps(body)
    given = given.encode() if kind is bytes else given
    [call] = get_parser("anthropic").parse(given)
    assert call.input == {"x": 5}


def test_no_calls_is_an_empty_list():
    assert get_parser("anthropic").parse({"content": [{"type": "text", "text": "hello"}]}) == []


def test_the_canonical_call():
    """S3-07: `raw_input` is left out where there is none."""
    [call] = get_parser("openai").parse(ANSWERS["openai-chat"])
    assert call.to_canonical() == {
        "id": "c1",
        "name": "calc",
        "arguments": {"x": 5},
        "type": "function",
    }


def test_the_canonical_result():
    """S3-08: text stays as it is, a value is written as JSON once."""
    assert ToolOutput("c1", "five").to_canonical() == {
        "call_id": "c1",
        "content": "five",
        "is_error": False,
    }
    failed = ToolOutput("c1", {"why": "no"}, is_error=True).to_canonical()
    assert failed == {"call_id": "c1", "content": '{"why":"no"}', "is_error": True}


def test_raw_input_is_the_text_of_one_call():
    """S3-09: a call that cannot be read keeps its own text, and the others are not harmed."""
    texts = ['{"x":1}', '{"x":', '{"y": oops}']
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "calc", "arguments": text}}
        for n, text in enumerate(texts)
    ]
    parsed = get_parser("openai").parse({"role": "assistant", "tool_calls": calls})
    assert [call.raw_input for call in parsed] == ["", '{"x":', '{"y": oops}']
    assert parsed[0].input == {"x": 1}
    assert parsed[1].invalid.startswith("failed to parse tool arguments: ")
    assert parsed[1].to_canonical()["raw_input"] == '{"x":'


# --- the registry ---------------------------------------------------------------------------------


def test_parsers_say_who_and_how():
    """S3-10"""
    for provider in PROVIDERS:
        parser = get_parser(provider)
        assert parser.provider_id() == provider
        assert parser.format() == "json"
    assert Shouted().format() in ("json", "xml", "custom")


@pytest.mark.parametrize(
    "provider",
    [
        "anthropic",
        "openai",
        "xai",
        "deepseek",
        "google",
        "ollama",
        "openrouter",
        "responses",
        "mistral",
        "groq",
        "zai",
    ],
)
def test_the_registry_knows(provider):
    """S3-11"""
    assert get_parser(provider).provider_id() == provider


def test_an_unknown_provider_has_no_parser():
    """S3-12"""
    with pytest.raises(UnknownProviderError) as raised:
        get_parser("nope")
    assert str(raised.value) == "no parser for provider nope"
    assert isinstance(raised.value, toolglot.ToolglotError)
    assert toolglot.UnknownProviderError is UnknownProviderError


def test_parsers_are_added_and_replaced():
    """S3-05, S3-13"""
    mine, other = Shouted(), Shouted()
    register_parser("shouter", mine)
    assert get_parser("shouter") is mine
    register_parser("shouter", other)
    assert get_parser("shouter") is other
    assert get_parser("openai").provider_id() == "openai"
    register_parser("openai", mine)
    assert get_parser("openai") is mine


def test_a_registered_parser_counts_everywhere():
    """S3-05: wherever a provider is named, and for texts that nobody else can read."""
    text = 'Well.\nCALL calc {"x":5}'
    with pytest.raises(toolglot.UnknownProtocolError):
        parse_tool_calls(text, "shouter")
    assert detect(text) is None
    register_parser("shouter", Shouted())
    [call] = parse_tool_calls(text, "shouter")
    assert (call.name, call.input) == ("calc", {"x": 5})
    assert detect(text) == "shouter"
    assert detect(text, [TOOL]) == "shouter"
    assert detect(text, ["other"]) is None
    tooling = ToolingMiddleware("shouter")
    request = {"model": "m", "tools": [TOOL]}
    assert tooling.process_request(request) is request, "it is not known what tools it wants"
    assert tooling.process_response(text).get_tool_calls("anthropic") == [call.to_anthropic()]
    with pytest.raises(DecodeError, match=r"tool_calls\[0\].arguments: not JSON"):
        parse_tool_calls("CALL calc {x", "shouter", strict=True)


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_registered_parser_is_a_dialect_of_translation(cut):
    """S3-05: in bodies and in streams, with the text around the calls; only if it is named."""
    register_parser("shouter", Shouted())
    text = 'Well.\nCALL calc {"x":5}\nDone.'
    answer = {"model": "m", "message": {"role": "assistant", "content": text}, "done": True}
    wire, receipt = toolglot.translate_response(
        answer, source="ollama", target="anthropic", dialect="shouter"
    )
    words, call, more = wire.body["content"]
    assert (words["text"], more["text"]) == ("Well.\n", "\nDone.")
    assert (call["type"], call["name"], call["input"]) == ("tool_use", "calc", {"x": 5})
    assert wire.body["stop_reason"] == "tool_use"
    assert "call-promoted" in receipt.codes()
    plain, _ = toolglot.translate_response(answer, source="ollama", target="anthropic")
    assert [block["type"] for block in plain.body["content"]] == ["text"]
    translator = toolglot.StreamTranslator("ollama", "anthropic", dialect="shouter")
    data = json.dumps(answer).encode() + b"\n"
    pieces = [data[start : start + cut] for start in range(0, len(data), cut)]
    streamed = b"".join([*map(translator.feed, pieces), translator.close()])
    assert b'"name":"calc"' in streamed
    assert b'"stop_reason":"tool_use"' in streamed


def test_a_parser_only_reads():
    register_parser("shouter", Shouted())
    with pytest.raises(toolglot.InexpressibleError, match="only reads"):
        toolglot.render_calls([{"name": "calc", "arguments": {}}], "shouter")
    register_parser("shouter", Shouted())
    assert toolglot.parse_text("no call", dialect="shouter").content == "no call"


def test_a_parser_that_refuses_a_text_says_nothing_of_others():
    class Strict(Shouted):
        def parse(self, response):
            raise DecodeError("", "not mine")

    register_parser("strict", Strict())
    register_parser("shouter", Shouted())
    assert detect("CALL calc {}") == "shouter"


@pytest.mark.parametrize("name", ANSWERS)
def test_a_protocol_has_a_parser_under_its_own_name(name):
    [call] = get_parser(name).parse(ANSWERS[name])
    assert call.input == {"x": 5}
    assert get_parser(name).format() == "json"
    assert get_parser(name).parse({"role": "assistant", "content": "no call"}) == []


def test_registering_from_many_threads_loses_nothing():
    """S3-13"""
    parsers = {f"shouter-{number}": Shouted() for number in range(50)}
    threads = [Thread(target=register_parser, args=item) for item in parsers.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(get_parser(name) is parser for name, parser in parsers.items())


# --- bare calls -----------------------------------------------------------------------------------


def test_the_example_of_anthropic():
    """S3-47"""
    response = '{"content": [{"type": "tool_use", "id": "123", "name": "calc", "input": {"x": 5}}]}'
    calls = get_parser("anthropic").parse(response)
    assert len(calls) == 1
    assert calls[0].name == "calc"
    assert calls[0].input["x"] == 5


@pytest.mark.parametrize(
    "arguments", ['{"x":5}', '{"x":5.0}', '{"x":12345678901234567890}', '{"b":[null],"a":"ä"}']
)
def test_the_round_trip_is_equality(arguments):
    """S3-14, S3-15, S3-48: a call written in one form and read again is the call it was."""
    call = ToolCall(id="1", name="test", arguments=arguments)
    assert get_parser("anthropic").parse(call.to_anthropic()) == [call]
    assert get_parser("openai").parse(call.to_openai()) == [call]
    assert get_parser("anthropic").parse(json.dumps(call.to_anthropic())) == [call]


def test_the_generic_form_is_of_no_provider():
    """S3-16"""
    call = ToolCall(id="1", name="test", arguments='{"x":5}')
    assert call.to_generic() == {"tool_call_id": "1", "tool_name": "test", "parameters": {"x": 5}}


@pytest.mark.parametrize(
    ("provider", "bare"),
    [
        ("google", {"functionCall": {"id": "c1", "name": "calc", "args": {"x": 5}}}),
        ("responses", {"type": "function_call", "call_id": "c1", **FUNCTION}),
        ("ollama", {"id": "c1", "function": {"name": "calc", "arguments": {"x": 5}}}),
        ("openai", {"id": "c1", "type": "function", "function": FUNCTION}),
    ],
)
def test_a_bare_call_is_read_in_every_protocol(provider, bare):
    [call] = get_parser(provider).parse(bare)
    assert (call.id, call.name, call.input) == ("c1", "calc", {"x": 5})


# --- calls in the text ----------------------------------------------------------------------------


def test_calls_in_the_text_are_found_in_the_dialects_of_a_provider():
    """S3-04, D-18: what a model wrote into its text is recovered where the answer has no call."""
    register_parser("xai_function_call", Shouted())
    text = 'Let me see.\nCALL calc {"x":5}'
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
    [call] = get_parser("xai").parse(body)
    assert (call.name, call.input, call.raw_input) == ("calc", {"x": 5}, 'CALL calc {"x":5}')
    [bare] = get_parser("xai").parse(text)
    assert bare == call
    assert get_parser("openai").parse(body) == []


def test_calls_of_the_api_come_first():
    """D-18: text is looked at only where there is nothing else."""
    register_parser("xai_function_call", Shouted())
    message = {
        "role": "assistant",
        "content": 'CALL calc {"x":9}',
        "tool_calls": [{"id": "c1", "type": "function", "function": FUNCTION}],
    }
    [call] = get_parser("xai").parse(message)
    assert call.input == {"x": 5}


def test_text_without_a_call_is_no_answer():
    register_parser("xai_function_call", Shouted())
    for provider in ("xai", "openai"):
        with pytest.raises(DecodeError, match="not JSON, and no call was found"):
            get_parser(provider).parse("hello")
    empty = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}}]}
    assert get_parser("xai").parse(empty) == []


def test_an_error_is_not_taken_for_an_answer():
    with pytest.raises(DecodeError, match="overloaded"):
        get_parser("anthropic").parse(
            {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}
        )


# --- the middleware -------------------------------------------------------------------------------


def test_a_request_is_written_for_the_provider():
    """S3-39: tools of whatever provider become those of this one; nothing else changes."""
    request = {"model": "m", "messages": [{"role": "user", "content": "5?"}], "tools": [TOOL]}
    before = json.dumps(request)
    sent = ToolingMiddleware("openai").process_request(request)
    assert sent["tools"] == [
        {
            "type": "function",
            "function": {"name": "calc", "description": "Calculates", "parameters": SCHEMA},
        }
    ]
    assert {**sent, "tools": None} == {**request, "tools": None}
    assert json.dumps(request) == before
    back = ToolingMiddleware("anthropic").process_request(sent)
    assert back["tools"] == [TOOL]
    deeper = ToolingMiddleware("bedrock-converse").process_request(sent)
    assert "tools" not in deeper
    assert [tool["toolSpec"]["name"] for tool in deeper["toolConfig"]["tools"]] == ["calc"]
    assert ToolingMiddleware("bedrock-converse").process_request(deeper) == deeper
    plain = {"model": "m", "messages": []}
    assert ToolingMiddleware("openai").process_request(plain) is plain


def test_a_response_is_parsed_validated_and_transformed():
    """S3-40: in that order."""
    steps = []

    class Noted(Shouted):
        def parse(self, response):
            steps.append("parse")
            return super().parse(response)

    def validate(calls):
        steps.append("validate")
        return [ToolCall(id="v", name=call.name, arguments='{"x":6}') for call in calls]

    tooling = ToolingMiddleware("openai", parser=Noted(), validate=validate)
    answer = tooling.process_response('CALL calc {"x":5}', "anthropic")
    assert steps == ["parse", "validate"]
    assert answer.formatted == [{"type": "tool_use", "id": "v", "name": "calc", "input": {"x": 6}}]


def test_what_is_kept_is_what_was_validated():
    """S3-41: ids that validation made are in every form, and the same."""
    body = {"role": "assistant", "tool_calls": [{"function": FUNCTION}, {"function": FUNCTION}]}
    answer = ToolingMiddleware("openai").process_response(body)
    ids = [call.id for call in answer.tool_calls]
    assert all(ids)
    assert len(set(ids)) == 2
    assert [call["id"] for call in answer.get_tool_calls("anthropic")] == ids
    assert [call["id"] for call in answer.get_tool_calls("openai")] == ids
    assert [call["id"] for call in answer.canonical()] == ids


def test_a_call_without_a_name_is_refused():
    """S3-40"""
    body = {"content": [{"type": "tool_use", "id": "c1", "name": "", "input": {}}]}
    with pytest.raises(InvalidCallError, match=r"^tool call missing name$"):
        ToolingMiddleware("anthropic").process_response(body)


@pytest.mark.parametrize("asked", ["openai", "", "canonical", "gemini", "Anthropic"])
def test_anything_but_anthropic_is_openai(asked):
    """S3-42"""
    answer = ToolingMiddleware("google").process_response(ANSWERS["gemini"], asked)
    openai = [{"id": "c1", "type": "function", "function": FUNCTION}]
    assert answer.formatted == answer.get_tool_calls(asked) == openai
    assert answer.get_tool_calls("anthropic") == ANSWERS["anthropic"]["content"]


def test_the_usage_example_end_to_end():
    """S3-45, S3-46: request with tools, provider, and the calls in every form."""

    def provider(request):
        assert request["tools"][0]["input_schema"] == SCHEMA
        name = request["tools"][0]["name"]
        return {"content": [{"type": "tool_use", "id": "toolu_1", "name": name, "input": {"x": 5}}]}

    tooling = ToolingMiddleware("anthropic")
    request = {
        "model": "claude-sonnet-5",
        "messages": [{"role": "user", "content": "What is five?"}],
        "tools": [{"type": "function", "function": {"name": "calc", "parameters": SCHEMA}}],
    }
    answer = tooling.process_response(provider(tooling.process_request(request)))
    assert answer.get_tool_calls("anthropic") == [
        {"type": "tool_use", "id": "toolu_1", "name": "calc", "input": {"x": 5}}
    ]
    assert answer.get_tool_calls("openai") == [
        {"id": "toolu_1", "type": "function", "function": FUNCTION}
    ]
    assert answer.canonical() == [
        {"id": "toolu_1", "name": "calc", "arguments": {"x": 5}, "type": "function"}
    ]
    assert [call.name for call in answer.tool_calls] == ["calc"]


def test_the_parts_of_the_roadmap_are_public():
    """S3-45: each piece can be used by itself."""
    for name in ("ToolCall", "ToolOutput", "get_parser", "register_parser", "format_tools"):
        assert name in toolglot.__all__
    for name in ("get_capabilities", "get_profile", "ToolingMiddleware", "parse_tool_calls"):
        assert name in toolglot.__all__


# --- finding out ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_of_a_protocol_is_told_by_its_structure_s3_20(name):
    """S3-20, S3-19: also where the arguments speak of another protocol."""
    body = json.dumps(ANSWERS[name], indent=1)
    assert detect(body) == name
    for other in ("tool_use", "functionCall", '\\"tool_calls\\": [', "<tool_call>"):
        assert detect(body.replace("calc", f"calc {other}")) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            'Hm.\n<x.ai:tool_call>{"name": "calc", "arguments": {}}</x.ai:tool_call>',
            "xai_tool_call",
        ),
        ("<tool>ls -la</tool>", "generic_tool_xml"),
        ('<tool_call>{"name": "calc", "arguments": {}}</tool_call> [TOOL_CALLS]calc{}', "hermes"),
        ('[TOOL_CALLS]calc{} <tool_call>{"name": "calc"}</tool_call>', "mistral"),
        ("<tool_call>\n<function=calc>\n</function>\n</tool_call>", "qwen3_coder"),
        ("<tool_call>calc\n<arg_key>x</arg_key>\n<arg_value>5</arg_value></tool_call>", "glm45"),
        ('{"tool_calls": [{"function": {"name": "calc", "arguments": "{}"}}]}', "openai_json"),
        ('{"choices": [{"message": {"content": "\\"tool_calls\\": ["}}]}', None),
        ("The tag <tool_call> begins a call.", None),
        ("", None),
        ("{", None),
    ],
)
def test_the_first_call_tells_the_dialect_s3_17(text, name):
    """S3-17, S3-18, S3-19: by what is there, earliest first; a tie is settled by what follows."""
    assert detect(text) == name
    assert detect(text + " " * 5000) == name


def test_only_declared_tools_tell_a_dialect():
    text = '<tool_call>{"name": "calc", "arguments": {}}</tool_call>'
    assert detect(text, [TOOL]) == "hermes"
    assert detect(text, ["other"]) is None


def test_a_stream_is_known_without_its_beginning():
    block = {"type": "tool_use", "id": "toolu_1", "name": "calc", "input": {}}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    assert detect(f"data: {json.dumps(start)}\n\n") == "anthropic"
