"""What leaves is accepted by the provider and model that it goes to."""

import json
from pathlib import Path

import pytest

from toolglot import translate_request, translate_response
from toolglot.context import Options
from toolglot.exchange import Exchange
from toolglot.gateway.config import Config, Provider
from toolglot.gateway.relay.providers import make_upstreams
from toolglot.streams import StreamTranslator

CLIENTS = Path(__file__).parents[1] / "fixtures" / "clients"
ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
ASK_ITEMS = {"model": "m", "input": "Hi"}
LOCAL = "http://127.0.0.1:9/v1"


def recorded(name):
    return json.loads((CLIENTS / f"{name}.request.json").read_text())["body"]


def upstream(**fields):
    config = Config(providers={"it": Provider(api_key="k", **fields)})
    return make_upstreams(config, {})["it"]


def sent(body, client, model, **fields):
    """The exchange, and what the gateway would send."""
    provider = upstream(**fields)
    protocol = provider.protocol_for(client, model)
    options = provider.options(model, body["model"], strict=False)
    exchange = Exchange(client, protocol, options)
    made = exchange.request(json.dumps(body).encode())
    return exchange, made.path, json.loads(made.data)


def same_protocol(protocol, body, provider, **options):
    """A request of a client of the provider's own protocol: the bytes, and the notes."""
    exchange = Exchange(protocol, protocol, Options(provider=provider, **options))
    data = json.dumps(body).encode()
    made = exchange.request(data)
    return made.data is data or made.data == data, json.loads(made.data), exchange.notes


# --- Claude Code at OpenAI ------------------------------------------------------------------------


def test_claude_code_goes_to_responses():
    asked = recorded("claude-code-thinking")
    _, path, body = sent(asked, "anthropic", "gpt-5.4", profile="openai")
    assert path == "/v1/responses"
    assert body["max_output_tokens"] == asked["max_tokens"]
    assert body["reasoning"]["effort"] == "high"
    assert len(body["tools"]) == len(asked["tools"])


def test_on_chat_the_limit_has_its_new_name_and_effort_leaves_for_tools():
    asked = recorded("claude-code-thinking")
    openai_chat = {"profile": "openai", "protocol": "openai-chat"}
    exchange, path, body = sent(asked, "anthropic", "gpt-5.4", **openai_chat)
    assert path == "/v1/chat/completions"
    assert body["max_completion_tokens"] == asked["max_tokens"]
    assert "max_tokens" not in body
    assert "reasoning_effort" not in body
    assert any("no effort beside functions" in note.message for note in exchange.notes)


def test_newer_models_need_the_effort_none_beside_tools():
    asked = recorded("claude-code-thinking")
    openai_chat = {"profile": "openai", "protocol": "openai-chat"}
    assert sent(asked, "anthropic", "gpt-5.6", **openai_chat)[2]["reasoning_effort"] == "none"
    del asked["thinking"]
    asked.pop("output_config", None)
    assert sent(asked, "anthropic", "gpt-5.6", **openai_chat)[2]["reasoning_effort"] == "none"
    del asked["tools"]
    assert "reasoning_effort" not in sent(asked, "anthropic", "gpt-5.6", **openai_chat)[2]


def test_other_servers_still_get_max_tokens():
    asked = recorded("claude-code-turn")
    unknown = {"protocol": "openai-chat", "base_url": LOCAL}
    assert "max_tokens" in sent(asked, "anthropic", "some-model", **unknown)[2]


# --- Codex everywhere -----------------------------------------------------------------------------

SERVERS = [
    *({"profile": name} for name in ("deepseek", "groq", "openrouter", "vllm", "llama.cpp")),
    {"profile": "lmstudio"},
    {"profile": "mistral"},
    {"protocol": "openai-chat", "base_url": LOCAL},
    {"protocol": "openai-responses", "base_url": LOCAL},
]
NAMES = [each.get("profile") or f"unknown {each['protocol']}" for each in SERVERS]
CODEX = ("codex-freeform", "codex-lite", "codex-namespace", "codex-turn")


@pytest.mark.parametrize("server", SERVERS, ids=NAMES)
@pytest.mark.parametrize("request_name", CODEX)
def test_codex_offers_functions_only(server, request_name):
    _, _, body = sent(recorded(request_name), "openai-responses", "some-model", **server)
    assert body["tools"]
    assert {tool["type"] for tool in body["tools"]} == {"function"}
    items = {item.get("type", "message") for item in body.get("input", ())}
    assert items <= {"message", "reasoning", "function_call", "function_call_output"}
    calls = [call for each in body.get("messages", ()) for call in each.get("tool_calls", ())]
    assert {call["type"] for call in calls} <= {"function"}
    assert "developer" not in {each["role"] for each in body.get("messages", ())} or (
        server.get("profile") in ("groq", "openrouter")
    )


@pytest.mark.parametrize("server", SERVERS, ids=NAMES)
def test_a_freeform_call_comes_back_as_one(server):
    asked = recorded("codex-freeform")
    exchange, _, _ = sent(asked, "openai-responses", "some-model", **server)
    custom = next(tool["name"] for tool in asked["tools"] if tool["type"] == "custom")
    answer = call_answer(exchange.provider, custom, '{"input":"*** Begin Patch"}')
    made = json.loads(exchange.response(json.dumps(answer).encode()).data)
    call = next(item for item in made["output"] if item["type"].endswith("_call"))
    assert call["type"] == "custom_tool_call"
    assert call["name"] == custom
    assert call["input"] == "*** Begin Patch"


def call_answer(protocol, name, arguments):
    """A response with one call of a function."""
    if protocol == "openai-responses":
        call = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": name,
            "arguments": arguments,
            "status": "completed",
        }
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "some-model",
            "output": [call],
            "usage": usage,
        }
    function = {"name": name, "arguments": arguments}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "some-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }


def test_a_freeform_call_comes_back_as_one_in_a_stream():
    asked = recorded("codex-freeform")
    vllm = {"profile": "vllm", "protocol": "openai-responses"}
    exchange, _, _ = sent(asked, "openai-responses", "some-model", **vllm)
    answer = call_answer("openai-responses", "apply_patch", '{"input":"*** Begin"}')
    item = answer["output"][0]
    begun = {**answer, "status": "in_progress", "output": []}
    delta = {"item_id": "fc_1", "output_index": 0}
    events = [
        {"type": "response.created", "response": begun},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "arguments": "", "status": "in_progress"},
        },
        {"type": "response.function_call_arguments.delta", "delta": '{"input":"*** ', **delta},
        {"type": "response.function_call_arguments.delta", "delta": 'Begin"}', **delta},
        {
            "type": "response.function_call_arguments.done",
            "arguments": item["arguments"],
            **delta,
        },
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": answer},
    ]
    stream = exchange.stream()
    assert isinstance(stream, StreamTranslator)
    text = b""
    for number, event in enumerate(events):
        data = json.dumps({**event, "sequence_number": number})
        text += stream.feed(f"event: {event['type']}\ndata: {data}\n\n".encode())
    text += stream.close()
    assert b"response.custom_tool_call_input.delta" in text
    assert b'"custom_tool_call"' in text
    assert b'"function_call"' not in text


def test_the_library_undoes_the_same():
    asked = recorded("codex-freeform")
    options = {"provider": "vllm"}
    both = {"source": "openai-responses", "target": "openai-responses"}
    wire, receipt = translate_request(asked, **both, **options)
    assert {tool["type"] for tool in wire.body["tools"]} == {"function"}
    assert "tool-wrapped" in {note.code for note in receipt}
    answer = call_answer("openai-responses", "apply_patch", '{"input":"x"}')
    made, _ = translate_response(answer, **both, request=asked, **options)
    assert made.body["output"][0]["type"] == "custom_tool_call"


def test_openai_itself_gets_codex_untouched():
    for name in CODEX:
        asked = {**recorded(name), "model": "gpt-5.4"}
        same, _, notes = same_protocol("openai-responses", asked, "openai")
        assert same, name
        assert notes == ()


# --- the same protocol ----------------------------------------------------------------------------


def test_bytes_pass_where_the_provider_accepts_them():
    body = {**ASK, "max_completion_tokens": 9, "temperature": 1}
    assert same_protocol("openai-chat", {**body, "model": "gpt-5"}, "openai")[0]


def test_the_name_of_the_limit_is_changed_in_the_same_protocol_too():
    same, body, notes = same_protocol(
        "openai-chat", {**ASK, "model": "gpt-5", "max_tokens": 9}, "openai"
    )
    assert not same
    assert body == {**ASK, "model": "gpt-5", "max_completion_tokens": 9}
    assert [note.code for note in notes] == ["spelling-normalised"]


def test_a_limit_of_one_is_raised():
    _, body, notes = same_protocol(
        "openai-responses", {**ASK_ITEMS, "max_output_tokens": 1}, "openai"
    )
    assert body["max_output_tokens"] == 16
    assert [(note.code, note.path) for note in notes] == [("value-mapped", "max_output_tokens")]
    wire, _ = translate_request(
        {**ASK, "max_tokens": 1},
        source="openai-chat",
        target="openai-responses",
        provider="openai",
    )
    assert wire.body["max_output_tokens"] == 16


def test_top_k_is_dropped_with_a_note():
    asked = {**ASK, "max_tokens": 50, "top_k": 5}
    exchange, _, body = sent(asked, "anthropic", "gpt-5.4", profile="openai")
    assert "top_k" not in body
    assert "top_k" in {note.path for note in exchange.notes if note.code == "field-dropped"}
    openai_chat = {"profile": "openai", "protocol": "openai-chat"}
    assert "top_k" not in sent(asked, "anthropic", "gpt-5.4", **openai_chat)[2]


def test_a_temperature_is_kept_within_its_range():
    _, body, notes = same_protocol(
        "anthropic",
        {**ASK, "model": "claude-haiku-4-5", "max_tokens": 9, "temperature": 1.5},
        "anthropic",
    )
    assert body["temperature"] == 1
    assert [note.code for note in notes] == ["value-mapped"]


def test_only_so_many_tools_are_declared_and_the_chosen_one_is():
    tools = [{"type": "function", "function": {"name": f"t{number}"}} for number in range(130)]
    choice = {"type": "function", "function": {"name": "t129"}}
    asked = {**ASK, "tools": tools, "tool_choice": choice}
    _, body, notes = same_protocol("openai-chat", asked, "groq")
    assert len(body["tools"]) == 128
    assert body["tools"][-1]["function"]["name"] == "t129"
    assert [(note.code, note.severity) for note in notes] == [("tool-dropped", "unsupported")]


def test_keys_that_only_the_protocol_has_are_dropped_too():
    asked = {**ASK_ITEMS, "truncation": "auto", "metadata": {"a": "b"}}
    _, body, notes = same_protocol("openai-responses", asked, "groq")
    assert body == {**ASK_ITEMS, "metadata": {"a": "b"}}
    assert [note.path for note in notes] == ["truncation"]


def test_developer_text_is_system_text_where_there_is_no_such_role():
    asked = {**ASK, "messages": [{"role": "developer", "content": "Be short."}, *ASK["messages"]]}
    _, body, notes = same_protocol("openai-chat", asked, "deepseek")
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert [note.code for note in notes] == ["role-changed"]
    assert same_protocol("openai-chat", asked, "openai")[0]


def test_an_effort_that_the_model_does_not_know_becomes_the_nearest():
    asked = {**ASK, "model": "gpt-5.1", "reasoning_effort": "minimal"}
    _, body, notes = same_protocol("openai-chat", asked, "openai")
    assert body["reasoning_effort"] == "none"
    assert [note.code for note in notes] == ["value-mapped"]


def test_models_without_reasoning_are_asked_for_none():
    asked = {**ASK_ITEMS, "model": "gpt-4o", "reasoning": {"effort": "low"}}
    _, body, _ = same_protocol("openai-responses", asked, "openai")
    assert "reasoning" not in body


def test_a_single_tool_is_not_required_where_that_is_rejected():
    tools = [{"type": "function", "function": {"name": name}} for name in ("one", "two")]
    asked = {**ASK, "tools": tools}
    asked["tool_choice"] = {"type": "function", "function": {"name": "two"}}
    _, body, notes = same_protocol("openai-chat", asked, "lmstudio")
    assert body["tool_choice"] == "required"
    assert [note.code for note in notes] == ["choice-mapped"]
    assert same_protocol("openai-chat", asked, "openai")[0]


def test_what_cannot_be_read_is_passed_on():
    exchange = Exchange("openai-chat", "openai-chat", Options(provider="deepseek"))
    odd = b'{"model": "m", "messages": 3}'
    assert exchange.request(odd).data == odd


def test_overrides_lift_a_rule():
    asked = recorded("codex-freeform")
    lifted = {"tools.kinds": ["function", "custom", "namespace"], "tools.own": "any"}
    fields = {"protocol": "openai-responses", "base_url": LOCAL}
    _, _, body = sent(asked, "openai-responses", asked["model"], **fields, rules=lifted)
    assert "custom" in {tool["type"] for tool in body["tools"]}


def test_without_a_provider_nothing_is_restricted():
    asked = {**ASK, "model": "gpt-5", "max_tokens": 1, "top_k": 3}
    wire, receipt = translate_request(asked, source="openai-chat", target="openai-chat")
    assert wire.body == asked
    assert not receipt


# --- models that reason in their own ways ---------------------------------------------------------

CLAUDE = {"model": "m", "max_tokens": 20000, "messages": [{"role": "user", "content": "Hi"}]}
BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 9000}}
ADAPTIVE = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}}
OFF = {"thinking": {"type": "disabled"}}


@pytest.mark.parametrize(
    ("model", "asked", "sent"),
    [
        ("claude-sonnet-4-5", BUDGET, BUDGET),
        ("claude-sonnet-4-5", ADAPTIVE, {"thinking": {"type": "enabled", "budget_tokens": 8192}}),
        ("claude-opus-4-5", {**BUDGET, "output_config": {"effort": "low"}}, None),
        ("claude-opus-4-6", BUDGET, None),
        ("claude-opus-4-6", ADAPTIVE, None),
        ("claude-opus-5", BUDGET, {**ADAPTIVE, "output_config": {"effort": "high"}}),
        ("claude-opus-5", OFF, None),
        ("claude-opus-5-5", OFF, {**ADAPTIVE, "output_config": {"effort": "low"}}),
        ("claude-opus-5-5", ADAPTIVE, None),
        ("claude-3-5-haiku-latest", ADAPTIVE, {}),
    ],
)
@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_claude_is_asked_to_think_as_the_model_takes_it(model, asked, sent, provider):
    """AN-037 to AN-043, AN-051, AN-052: in the client's own protocol, too."""
    body = {**CLAUDE, "model": model, **asked}
    same, made, notes = same_protocol("anthropic", body, provider)
    wanted = asked if sent is None else sent
    found = {key: made[key] for key in ("thinking", "output_config") if key in made}
    assert found == wanted
    assert same is (not notes) is (wanted == asked)


def test_sampling_leaves_where_a_model_reasons_and_stays_where_not():
    """OAI-052"""
    asked = {**ASK, "temperature": 0.5}
    for effort, kept in (("high", False), ("none", True)):
        body = {**asked, "model": "gpt-5.1", "reasoning_effort": effort}
        _, made, _ = same_protocol("openai-chat", body, "openai")
        assert ("temperature" in made) is kept
    assert same_protocol("openai-chat", {**asked, "model": "gpt-5.1"}, "openai")[0]


def test_an_effort_that_is_unknown_never_turns_reasoning_off():
    """GQ-010, MI-27: qwen3-32b knows only none, Mistral none and high."""
    body = {**ASK, "model": "qwen/qwen3-32b", "reasoning_effort": "high"}
    assert "reasoning_effort" not in same_protocol("openai-chat", body, "groq")[1]
    body = {**ASK, "model": "mistral-small-latest", "reasoning_effort": "low"}
    assert same_protocol("openai-chat", body, "mistral")[1]["reasoning_effort"] == "high"


# --- other forms ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stream", "operation"), [(True, "streamRawPredict"), (False, "rawPredict")]
)
def test_claude_on_vertex_has_its_model_in_the_path(stream, operation):
    """AP-015"""
    values = {"project": "p", "region": "r"}
    provider = upstream(profile="vertex", values=values)
    model = "claude-sonnet-4-5@20250929"
    for client, body in (("anthropic", CLAUDE), ("openai-chat", ASK)):
        protocol = provider.protocol_for(client, model)
        options = provider.options(model, "m", strict=False)
        exchange = Exchange(client, protocol, options)
        made = exchange.request(json.dumps({**body, "stream": stream}).encode())
        address = provider.url(protocol, made.path, model)
        assert address.endswith(f"/publishers/anthropic/models/{model}:{operation}")
        sent_body = json.loads(made.data)
        assert sent_body["anthropic_version"] == "vertex-2023-10-16"
        assert "model" not in sent_body
        assert sent_body["stream"] is stream


def test_each_model_of_a_cloud_is_asked_where_it_is_served():
    for profile, model, protocol in (
        ("vertex", "gemini-3-pro", "gemini"),
        ("vertex", "claude-opus-5", "anthropic"),
        ("vertex", "xai/grok-4.5", "openai-chat"),
        ("bedrock", "us.anthropic.claude-opus-5", "anthropic"),
        ("bedrock", "openai.gpt-oss-120b", "openai-chat"),
        ("azure", "gpt-5.4", "openai-responses"),
        ("azure", "DeepSeek-V4-Pro", "openai-chat"),
        ("openrouter", "openai/gpt-5.4", "openai-chat"),
        ("xai", "grok-4.5", "openai-responses"),
    ):
        assert upstream(profile=profile).protocol_for("ollama", model) == protocol, (profile, model)


# --- what else providers accept less of -----------------------------------------------------------

TOOL = {"type": "function", "function": {"name": "look"}}
LOOK = {"type": "function", "function": {"name": "look", "strict": True}}


def test_a_prefill_becomes_a_question_for_models_that_continue_none():
    asked = {
        **ASK,
        "max_tokens": 9,
        "messages": [*ASK["messages"], {"role": "assistant", "content": "{"}],
    }
    _, body, notes = same_protocol("anthropic", {**asked, "model": "claude-opus-4-6"}, "anthropic")
    assert [each["role"] for each in body["messages"]] == ["user", "assistant", "user"]
    assert [note.code for note in notes] == ["prefill-changed"]
    assert same_protocol("anthropic", {**asked, "model": "claude-sonnet-4-5"}, "anthropic")[0]


def test_a_prefill_is_marked_for_mistral():
    begun = {"role": "assistant", "content": "{"}
    asked = {**ASK, "messages": [*ASK["messages"], begun]}
    _, body, _ = same_protocol("openai-chat", asked, "mistral")
    assert body["messages"][-1] == {**begun, "prefix": True}


def test_temperature_and_top_p_exclude_each_other_for_newer_claude_models():
    asked = {**ASK, "max_tokens": 9, "temperature": 0.5, "top_p": 0.9}
    _, body, notes = same_protocol("anthropic", {**asked, "model": "claude-haiku-4-5"}, "anthropic")
    assert "top_p" not in body
    assert [note.path for note in notes] == ["top_p"]
    assert same_protocol("anthropic", {**asked, "model": "claude-3-7-sonnet"}, "anthropic")[0]


def test_a_long_whole_answer_is_shorter_at_fireworks():
    asked = {**ASK, "max_tokens": 9000}
    assert same_protocol("openai-chat", asked, "fireworks")[1]["max_tokens"] == 4096
    assert same_protocol("openai-chat", {**asked, "stream": True}, "fireworks")[0]


def test_an_image_is_named_for_a_model_that_reads_text_only():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    asked = {**ASK, "messages": [{"role": "user", "content": [image]}]}
    _, body, notes = same_protocol("openai-chat", asked, "deepseek", model="deepseek-v4-pro")
    assert body["messages"][0]["content"] == "[image (image/png) left out]"
    assert [note.code for note in notes] == ["part-dropped"]


def test_output_with_a_schema_is_not_asked_for_beside_tools_at_groq():
    asked = {**ASK, "tools": [LOOK], "response_format": {"type": "json_object"}}
    _, body, notes = same_protocol("openai-chat", asked, "groq")
    assert "response_format" not in body
    assert "JSON and nothing else" in body["messages"][0]["content"]
    assert [note.code for note in notes] == ["output-described"]


def test_strict_is_dropped_where_it_is_unknown():
    _, body, notes = same_protocol("openai-chat", {**ASK, "tools": [LOOK]}, "together")
    assert body["tools"] == [{"type": "function", "function": {"name": "look"}}]
    (note,) = notes
    assert (note.code, note.path) == ("field-dropped", "tools[0].function.strict")


def test_one_system_message_is_sent_where_one_is_accepted():
    system = [{"role": "system", "content": text} for text in ("Be short.", "Be kind.")]
    asked = {**ASK, "messages": [*system, *ASK["messages"], system[0]]}
    _, body, _ = same_protocol("openai-chat", asked, "minimax")
    assert [each["role"] for each in body["messages"]] == ["system", "user", "user"]
    assert body["messages"][0]["content"] == "Be short.\n\nBe kind."


def test_no_tool_is_forced_while_a_model_reasons_by_default():
    """Reasoning that nobody asked for is turned off; if it was asked for, no tool is forced."""
    asked = {**ASK, "tools": [TOOL], "tool_choice": "required"}
    _, body, notes = same_protocol("openai-chat", asked, "deepseek", model="deepseek-v4-pro")
    assert body["tool_choice"] == "required"
    assert body["thinking"] == {"type": "disabled"}
    assert [note.code for note in notes] == ["default-added"]
    asked["reasoning_effort"] = "high"
    _, body, notes = same_protocol("openai-chat", asked, "deepseek", model="deepseek-v4-pro")
    assert body["tool_choice"] == "auto"
    assert "thinking" not in body
    assert [note.code for note in notes] == ["choice-mapped"]
    _, body, notes = same_protocol("openai-chat", asked, "moonshot", model="kimi-k2.7-code")
    assert body["tool_choice"] == "auto"  # it has no switch


def test_a_function_that_takes_nothing_gets_a_schema_where_one_is_required():
    plain = {"type": "function", "function": {"name": "look"}}
    empty = {"type": "object", "properties": {}}
    for provider in ("mistral", "minimax", "moonshot"):
        _, body, notes = same_protocol("openai-chat", {**ASK, "tools": [plain, TOOL]}, provider)
        assert body["tools"][0]["function"]["parameters"] == empty, provider
        assert "schema-default" in [note.code for note in notes]
    same, _, notes = same_protocol("openai-chat", {**ASK, "tools": [plain]}, "together")
    assert (same, notes) == (True, ())


def test_all_functions_are_strict_or_none_at_cerebras():
    strict = {**TOOL, "function": {**TOOL["function"], "strict": True}}
    loose = {"type": "function", "function": {**TOOL["function"], "name": "other"}}
    _, body, notes = same_protocol("openai-chat", {**ASK, "tools": [strict, loose]}, "cerebras")
    assert [tool["function"].get("strict") for tool in body["tools"]] == [False, False]
    assert ("strict-dropped", "tools[0].strict") in [(note.code, note.path) for note in notes]
    _, body, _ = same_protocol("openai-chat", {**ASK, "tools": [strict, strict]}, "cerebras")
    assert [tool["function"]["strict"] for tool in body["tools"]] == [True, True]


def _called(arguments, **more):
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "3"}
    spoken = {"role": "assistant", "content": None, "tool_calls": [call], **more}
    return {**ASK, "messages": [*ASK["messages"], spoken, result]}


@pytest.mark.parametrize("provider", ["xai", "qwen", "minimax", "vllm", "sglang", "ollama"])
@pytest.mark.parametrize(
    ("given", "sent"), [("", "{}"), ("[1]", '{"$value":[1]}'), ('{"a', '{"$invalid":"{\\"a"}')]
)
def test_arguments_of_earlier_calls_are_objects_where_they_are_read(given, sent, provider):
    _, body, notes = same_protocol("openai-chat", _called(given), provider)
    (call,) = body["messages"][1]["tool_calls"]
    assert call["function"]["arguments"] == sent
    assert given == "" or any(note.code.startswith("arguments-") for note in notes)


@pytest.mark.parametrize("model", ["google/gemini-3-pro-preview", "google/gemini-3.1-flash"])
def test_calls_made_elsewhere_get_state_for_gemini_at_openrouter(model):
    stand_in = {
        "type": "reasoning.encrypted", "data": "skip_thought_signature_validator",
        "format": "google-gemini-v1", "index": 0, "id": "call_1",
    }  # fmt: skip
    _, body, notes = same_protocol("openai-chat", _called("{}"), "openrouter", model=model)
    assert body["messages"][1]["reasoning_details"] == [stand_in]
    assert [note.code for note in notes] == ["default-added"]
    asked = {
        "model": "m",
        "max_tokens": 100,
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "call_1", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1"}]},
        ],
    }  # fmt: skip
    wire, _ = translate_request(
        asked, source="anthropic", target="openai-chat", provider="openrouter", model=model
    )
    assert wire.body["messages"][1]["reasoning_details"] == [stand_in]


def test_state_that_came_back_is_kept_at_openrouter():
    own = [{"type": "reasoning.encrypted", "data": "s", "format": "google-gemini-v1", "index": 0}]
    body = {**_called("{}", reasoning_details=own), "model": "google/gemini-3-pro-preview"}
    same, sent_body, notes = same_protocol("openai-chat", body, "openrouter")
    assert (same, sent_body, notes) == (True, body, ())


def test_unsigned_calls_are_marked_for_gemini_in_its_own_protocol():
    call, signed = {"functionCall": {"name": "f", "args": {}}}, {"thoughtSignature": "c2ln"}
    result = {"functionResponse": {"name": "f", "response": {"output": "3"}}}

    def asked(part):
        turns = [("user", {"text": "Hi"}), ("model", part), ("user", result)]
        return {"contents": [{"role": role, "parts": [each]} for role, each in turns]}

    def sent_parts(part, model):
        exchange = Exchange("gemini", "gemini", Options(provider="google"))
        path = f"/v1beta/models/{model}:generateContent"
        made = exchange.request(json.dumps(asked(part)).encode(), path)
        return json.loads(made.data)["contents"][1]["parts"], [n.code for n in exchange.notes]

    marked = {**call, "thoughtSignature": "skip_thought_signature_validator"}
    assert sent_parts(call, "gemini-3-pro-preview") == ([marked], ["default-added"])
    assert sent_parts({**call, **signed}, "gemini-3-pro-preview") == ([{**call, **signed}], [])
    assert sent_parts(call, "gemini-2.5-flash") == ([call], [])


# --- Mistral: reasoning is a chunk of the content -------------------------------------------------

CHUNK = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}


def test_reasoning_goes_back_to_mistral_as_a_chunk_of_content():
    body = _called("{}", content="Yes.", reasoning_content="Hm.")
    _, made, _ = same_protocol("openai-chat", body, "mistral", model="mistral-medium-latest")
    assert made["messages"][1]["content"] == [CHUNK, {"type": "text", "text": "Yes."}]
    assert "reasoning_content" not in made["messages"][1]
    _, made, notes = same_protocol("openai-chat", body, "mistral", model="codestral-latest")
    assert made["messages"][1]["content"] == "Yes."
    assert "reasoning-dropped" in [note.code for note in notes]


def test_a_chunk_of_content_goes_to_others_in_their_member():
    body = {**_called("{}", content=[CHUNK]), "model": "deepseek-v4-pro"}
    _, made, notes = same_protocol("openai-chat", body, "deepseek")
    assert made["messages"][1]["reasoning_content"] == "Hm."
    assert "spelling-normalised" in [note.code for note in notes]


def _mistral_answers(*contents):
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    for content in contents:
        choice = {"index": 0, "delta": {"content": content}, "finish_reason": None}
        yield b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    yield b"data: " + json.dumps({**head, "choices": [end]}).encode() + b"\n\ndata: [DONE]\n\n"


@pytest.mark.parametrize("mend", ["on", "off"])
def test_an_answer_of_mistral_is_text_with_reasoning_beside_it(mend):
    """Clients of Chat Completions read content as a text."""
    options = Options(provider="mistral", mend=mend)
    content = [CHUNK, {"type": "text", "text": "Yes."}]
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = {
        "id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
    }  # fmt: skip
    exchange = Exchange("openai-chat", "openai-chat", options)
    exchange.request(json.dumps(ASK).encode())
    heard = json.loads(exchange.response(json.dumps(whole).encode()).data)["choices"][0]["message"]
    data = b"".join(_mistral_answers([CHUNK], "Yes."))
    exchange = Exchange("openai-chat", "openai-chat", options)
    exchange.request(json.dumps({**ASK, "stream": True}).encode())
    stream = exchange.stream()
    streamed = stream.feed(data) + stream.close()
    if mend == "off":
        assert (heard, streamed) == (message, data)
        return
    assert heard == {"role": "assistant", "reasoning_content": "Hm.", "content": "Yes."}
    deltas = [json.loads(line[6:])["choices"][0]["delta"]
              for line in streamed.splitlines() if line.startswith(b"data: {")]  # fmt: skip
    assert "".join(each.get("reasoning_content") or "" for each in deltas) == "Hm."
    assert "".join(each.get("content") or "" for each in deltas) == "Yes."


def test_a_mended_answer_names_the_model_that_was_asked_for():
    exchange = Exchange(
        "openai-chat", "openai-chat", Options(provider="mistral", model="mistral-medium-latest")
    )
    exchange.request(json.dumps(ASK).encode())
    message = {"role": "assistant", "content": [CHUNK]}
    whole = {
        "id": "a", "object": "chat.completion", "created": 1, "model": "mistral-medium-latest",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip
    assert json.loads(exchange.response(json.dumps(whole).encode()).data)["model"] == "m"


# --- others ---------------------------------------------------------------------------------------


def test_roles_alternate_at_perplexity():
    said = [("system", "Be short."), ("user", "One."), ("user", "Two."), ("assistant", "Yes.")]
    messages = [{"role": role, "content": text} for role, text in said]
    _, body, notes = same_protocol("openai-chat", {**ASK, "messages": messages}, "perplexity")
    assert [each["role"] for each in body["messages"]] == ["system", "user", "assistant", "user"]
    texts = [part["text"] for part in body["messages"][1]["content"]]
    assert texts == ["One.", "Two."]
    assert {"turns-merged", "prefill-changed"} <= {note.code for note in notes}
    same, _, _ = same_protocol("openai-chat", {**ASK, "messages": messages[:2]}, "perplexity")
    assert same


def test_a_seed_has_another_name_at_mistral():
    _, body, _ = same_protocol("openai-chat", {**ASK, "seed": 7}, "mistral")
    assert (body.get("seed"), body["random_seed"]) == (None, 7)
    same, _, notes = same_protocol("openai-chat", {**ASK, "random_seed": 7}, "mistral")
    assert (same, notes) == (True, ())
    _, body, _ = same_protocol("openai-chat", {**ASK, "random_seed": 7}, None)
    assert body == {**ASK, "random_seed": 7}
    wire, _ = translate_request(
        {**ASK, "random_seed": 7}, source="openai-chat", target="gemini", provider="google"
    )
    assert wire.body["generationConfig"]["seed"] == 7


def test_the_name_of_a_user_has_only_characters_that_are_accepted():
    asked = {**ASK, "max_tokens": 9, "metadata": {"user_id": "ada@example.org"}}
    _, body, notes = same_protocol("anthropic", asked, "deepseek")
    assert len(body["metadata"]["user_id"]) == 64
    assert [note.code for note in notes] == ["value-mapped"]
    asked["metadata"] = {"user_id": "ada_1"}
    same, _, _ = same_protocol("anthropic", asked, "deepseek")
    assert same


def test_the_limit_has_the_name_that_deepseek_heeds():
    _, body, _ = same_protocol("openai-chat", {**ASK, "max_completion_tokens": 9}, "deepseek")
    assert body == {**ASK, "max_tokens": 9}


def test_mistral_tokenizers_get_no_switch_in_a_template():
    asked = {**ASK, "max_tokens": 9, "thinking": {"type": "disabled"}}
    for model, kept in (("mistralai/Mistral-Small-24B", False), ("Qwen/Qwen3-32B", True)):
        wire, _ = translate_request(
            asked, source="anthropic", target="openai-chat", provider="vllm", model=model
        )
        assert ("chat_template_kwargs" in wire.body) is kept


def test_members_that_google_does_not_know_stay_here():
    asked = {**ASK, "model": "gemini-2.5-flash", "store": False, "seed": 3, "metadata": {"a": "b"},
             "reasoning": {"effort": "low"}, "tools": [TOOL],
             "response_format": {"type": "json_object"}}  # fmt: skip
    _, body, notes = same_protocol("openai-chat", asked, "google")
    assert body.keys() == {"model", "messages", "tools", "reasoning_effort"}
    assert len(notes) >= 4


@pytest.mark.parametrize("provider", ["llama.cpp", "lmstudio", "sglang"])
def test_leading_system_messages_are_one_for_templates(provider):
    lead = [{"role": "system", "content": text} for text in ("One.", "Two.")]
    _, body, _ = same_protocol("openai-chat", {**ASK, "messages": lead + ASK["messages"]}, provider)
    assert [each["role"] for each in body["messages"]] == ["system", "user"]


@pytest.mark.parametrize("provider", ["llama.cpp", "vllm", "ollama"])
def test_local_servers_keep_the_temperature_while_a_model_thinks(provider):
    asked = {
        **ASK, "max_tokens": 9000, "temperature": 0.2,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
    }  # fmt: skip
    _, body, _ = same_protocol("anthropic", asked, provider)
    assert body["temperature"] == 0.2


def test_a_search_stays_beside_functions_for_gemini_3_on_vertex():
    flat = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
    asked = {**ASK_ITEMS, "tools": [flat, {"type": "web_search"}]}

    def kinds(provider, model):
        wire, _ = translate_request(
            asked, source="openai-responses", target="gemini", provider=provider, model=model
        )
        return {key for tool in wire.body["tools"] for key in tool}

    assert kinds("vertex", "gemini-3-pro-preview") == {"functionDeclarations", "googleSearch"}
    assert kinds("vertex", "gemini-2.5-flash") == {"functionDeclarations"}
    assert kinds("google", "gemini-3-pro-preview") == {"functionDeclarations"}


def test_blank_texts_say_so_on_vertex():
    asked = {**ASK, "messages": [{"role": "user", "content": ""}, *ASK["messages"]]}
    wire, receipt = translate_request(
        asked, source="openai-chat", target="gemini", provider="vertex", model="gemini-3-pro"
    )
    assert "" not in [part["text"] for turn in wire.body["contents"] for part in turn["parts"]]
    assert "blank-text" in [note.code for note in receipt.notes]
