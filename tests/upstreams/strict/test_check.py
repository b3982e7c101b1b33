"""The strict upstreams: what they take, and what they refuse in whose words."""

import copy
import json
import re

import pytest
from tests.upstreams.strict import books
from tests.upstreams.strict.check import Ask, check, error_body, rules_of
from tests.upstreams.strict.sdk_shapes import VERSIONS, misfits
from tests.upstreams.strict.upstreams import BY_PROTOCOL, OTHERS

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
CHAT = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is it raining in Oslo?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "call00001",
                    "type": "function",
                    "function": {"name": "rain", "arguments": '{"city": "Oslo"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call00001", "content": "No."},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "rain", "description": "Looks.", "parameters": SCHEMA},
        }
    ],
}
RESPONSES = {
    "input": [
        {"role": "user", "content": "Is it raining in Oslo?"},
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "rain",
            "arguments": '{"city": "Oslo"}',
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "No."},
    ],
    "tools": [{"type": "function", "name": "rain", "parameters": SCHEMA, "strict": False}],
}
MESSAGES = {
    "max_tokens": 500,
    "messages": [
        {"role": "user", "content": "Is it raining in Oslo?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "toolu_1", "name": "rain", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "No."}],
        },
    ],
    "tools": [{"name": "rain", "description": "Looks.", "input_schema": SCHEMA}],
}
GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "Is it raining in Oslo?"}]},
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"name": "rain", "args": {"city": "Oslo"}},
                    "thoughtSignature": "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
                }
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "rain", "response": {"output": "No."}}}],
        },
    ],
    "tools": [{"functionDeclarations": [{"name": "rain", "parametersJsonSchema": SCHEMA}]}],
}
OLLAMA = {
    "messages": [
        {"role": "user", "content": "Is it raining in Oslo?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "rain", "arguments": {"city": "Oslo"}}}],
        },
        {"role": "tool", "tool_name": "rain", "content": "No."},
    ],
    "tools": CHAT["tools"],
}
CONVERSE = {
    "messages": [
        {"role": "user", "content": [{"text": "Is it raining in Oslo?"}]},
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": "t1", "name": "rain", "input": {"city": "Oslo"}}}
            ],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "No."}]}}],
        },
    ],
    "toolConfig": {"tools": [{"toolSpec": {"name": "rain", "inputSchema": {"json": SCHEMA}}}]},
}
INTERACTIONS = {
    "input": [
        {"type": "user_input", "content": [{"type": "text", "text": "Is it raining in Oslo?"}]},
        {"type": "function_call", "id": "call_1", "name": "rain", "arguments": {"city": "Oslo"}},
        {"type": "function_result", "call_id": "call_1", "name": "rain", "result": "No."},
    ],
    "tools": [{"type": "function", "name": "rain", "parameters": SCHEMA}],
}
BODIES = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": MESSAGES,
    "gemini": GEMINI,
    "gemini-interactions": INTERACTIONS,
    "ollama": OLLAMA,
    "bedrock-converse": CONVERSE,
}
IN_BODY = ("openai-chat", "openai-responses", "anthropic", "gemini-interactions", "ollama")


def body_of(upstream):
    body = copy.deepcopy(BODIES[upstream.protocol])
    if upstream.protocol in IN_BODY:
        body["model"] = upstream.model
    if upstream.provider == "deepseek":
        body["messages"][2]["reasoning_content"] = "Look."
    if upstream.provider == "openrouter":
        body["messages"][2]["reasoning_details"] = [{"type": "reasoning.text", "text": "Look."}]
    if upstream.model.startswith("gpt-5.6"):
        body["reasoning_effort"] = "none"
    return body


def put(body, path, value):
    """A copy in which something else stands at a place."""
    made = copy.deepcopy(body)
    inner = made
    *steps, last = path
    for step in steps:
        inner = inner[step]
    if value is ...:
        del inner[last]
    elif isinstance(inner, list) and last == len(inner):
        inner.append(value)
    else:
        inner[last] = value
    return made


@pytest.mark.parametrize("upstream", [*BY_PROTOCOL.values(), *OTHERS], ids=str)
def test_a_right_request_is_taken(upstream):
    body = body_of(upstream)
    assert check(upstream.provider, upstream.protocol, upstream.model, body) == []


def test_plain_questions_are_taken_by_every_provider_with_a_book():
    asked = {"messages": [{"role": "user", "content": "Hello?"}]}
    for name in books.names():
        if name in ("openai", "anthropic", "google", "deepseek", "mistral"):
            continue  # they take only their own models, above
        for protocol in ("openai-chat", "openai-responses"):
            said = asked if protocol == "openai-chat" else {"input": "Hello?"}
            assert check(name, protocol, "some-model", {"model": "some-model", **said}) == [], name


# --- each rule of form ----------------------------------------------------------------------------

STRICT_TOOL = put(CHAT, ("tools", 0, "function", "strict"), True)
LONG = "x" * 65
PNG = "data:image/png;base64,iVBORw0KGgo="
WEB = [{"type": "image_url", "image_url": {"url": "https://pictures.example/a.png"}}]
TWO_CALLS = [
    *MESSAGES["messages"][1]["content"],
    {"type": "tool_use", "id": "toolu_2", "name": "rain", "input": {}},
]
MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}


def params(at):
    return ("tools", 0, "function", "parameters", *at)


REFUSED = [
    # rule, provider, protocol, model, path, value
    ("OAI-002", "openai", "openai-chat", "gpt-nonsense", ("model",), "gpt-nonsense"),
    ("OAI-004", "openai", "openai-chat", "gpt-5.1-codex", ("n",), 1),
    ("OAI-010", "openai", "openai-chat", "gpt-5.1", ("max_tokens",), 100),
    ("OAI-034", "openai", "openai-chat", "gpt-4o", ("reasoning_effort",), "none"),
    ("OAI-040", "openai", "openai-chat", "gpt-5.4", ("reasoning_effort",), "high"),
    ("OAI-041", "openai", "openai-chat", "gpt-5.6", ("n",), 1),
    ("OAI-050", "openai", "openai-chat", "o3", ("temperature",), 0.2),
    ("OAI-054", "openai", "openai-chat", "gpt-4o", ("temperature",), 3),
    ("OAI-055", "openai", "openai-chat", "gpt-5", ("presence_penalty",), 0.5),
    ("OAI-057", "openai", "openai-chat", "gpt-4o", ("stop",), list("abcde")),
    ("OAI-059", "openai", "openai-chat", "gpt-4o", ("top_k",), 3),
    ("OAI-059", "openai", "openai-chat", "gpt-4o", ("messages", 2, "reasoning_content"), "x"),
    ("OAI-062", "openai", "openai-chat", "gpt-4o", ("stream_options",), {"include_usage": True}),
    ("OAI-069", "openai", "openai-chat", "gpt-4o", ("metadata",), {"k": "x" * 600}),
    ("OAI-080", "openai", "openai-chat", "gpt-4o", ("tools",), CHAT["tools"] * 129),
    ("OAI-082", "openai", "openai-chat", "gpt-4o", ("tools",), []),
    ("OAI-083", "openai", "openai-chat", "gpt-4o", ("tools", 0, "function", "name"), "a.b"),
    ("OAI-083", "openai", "openai-chat", "gpt-4o", ("tools", 0, "function", "name"), LONG),
    ("OAI-085", "openai", "openai-chat", "gpt-4o", params(("anyOf",)), []),
    ("OAI-085", "openai", "openai-chat", "gpt-4o", params(("type",)), "string"),
    ("OAI-086", "openai", "openai-chat", "gpt-4o", params(("properties",)), ...),
    ("OAI-087", "openai", "openai-chat", "gpt-4o", params(("properties", "x")), {"type": "array"}),
    ("OAI-088", "openai", "openai-chat", "gpt-4o", params(("properties", "x")), "string"),
    ("OAI-101", "openai", "openai-chat", "gpt-4o", ("tools",), ...),
    ("OAI-102", "openai", "openai-chat", "o3", ("parallel_tool_calls",), False),
    ("OAI-110", "openai", "openai-chat", "gpt-4o", ("messages", 3), ...),
    ("OAI-111", "openai", "openai-chat", "gpt-4o", ("messages", 2), ...),
    ("OAI-112", "openai", "openai-chat", "gpt-4o", ("messages", 1, "content"), None),
    ("OAI-114", "openai", "openai-chat", "gpt-4o", ("messages", 1, "content"), [{"text": "x"}]),
    ("OAI-116", "openai", "openai-chat", "gpt-4o", ("messages", 3, "content"), WEB),
    ("OAI-119", "openai", "openai-chat", "gpt-4o", ("messages", 2, "tool_calls", 0, "id"), LONG),
    ("OAI-127", "openai", "openai-chat", "gpt-4o", ("response_format",), {"type": "json_object"}),
    ("OAI-142", "openai", "openai-chat", "gpt-4o", ("tools", 0, "type"), "web_search"),
    ("OAI-003", "openai", "openai-responses", "gpt-nonsense", ("model",), "gpt-nonsense"),
    ("OAI-006", "openai", "openai-responses", "gpt-5.5", ("messages",), []),
    ("OAI-012", "openai", "openai-responses", "gpt-5.5", ("max_output_tokens",), 10),
    ("OAI-033", "openai", "openai-responses", "gpt-4o", ("reasoning",), {"effort": "low"}),
    ("OAI-051", "openai", "openai-responses", "o3", ("temperature",), 1),
    ("OAI-059", "openai", "openai-responses", "gpt-5.5", ("stop",), ["x"]),
    ("OAI-059", "openai", "openai-responses", "gpt-5.5", ("input", 1, "status_"), "x"),
    ("OAI-085", "openai", "openai-responses", "gpt-5.5", ("tools", 0, "parameters", "oneOf"), []),
    ("OAI-130", "openai", "openai-responses", "gpt-5.5", ("input", 2), ...),
    ("OAI-131", "openai", "openai-responses", "gpt-5.5", ("input", 1), ...),
    ("OAI-138", "openai", "openai-responses", "gpt-5.5", ("input", 1, "id"), "call_1"),
    ("OAI-140", "openai", "openai-responses", "gpt-5.5", ("input", 1, "call_id"), LONG),
    (
        "OAI-132", "openai", "openai-responses", "gpt-5.5", ("input", 3),
        {"type": "reasoning", "id": "rs_1", "summary": []},
    ),
    (
        "OAI-136", "openai", "openai-responses", "gpt-5.5", ("input", 0),
        {"type": "reasoning", "summary": [], "encrypted_content": "made up"},
    ),
    (
        "OAI-142", "openai", "openai-responses", "gpt-5.5", ("input", 0, "content"),
        [{"type": "text", "text": "x"}],
    ),
    (
        "OAI-141", "openai", "openai-responses", "gpt-5.5", ("input", 0),
        {"role": "assistant", "content": [{"type": "input_text", "text": "x"}]},
    ),
    ("OAI-097", "openai", "openai-responses", "gpt-5.5", ("tools", 0), CHAT["tools"][0]),
    ("AN-009", "anthropic", "anthropic", "claude-sonnet-4-5", ("reasoning",), {}),
    ("AN-014", "anthropic", "anthropic", "claude-nonsense", ("model",), "claude-nonsense"),
    ("AN-016", "anthropic", "anthropic", "claude-sonnet-4-5", ("max_tokens",), ...),
    ("AN-024", "anthropic", "anthropic", "claude-sonnet-4-5", ("temperature",), 1.5),
    ("AN-027", "anthropic", "anthropic", "claude-opus-4-8", ("temperature",), 1),
    ("AN-031", "anthropic", "anthropic", "claude-sonnet-4-5", ("stop_sequences",), ["\n"]),
    ("AN-038", "anthropic", "anthropic", "claude-haiku-4-5", ("thinking",), {"type": "adaptive"}),
    (
        "AN-040", "anthropic", "anthropic", "claude-opus-4-8", ("thinking",),
        {"type": "enabled", "budget_tokens": 2000},
    ),
    (
        "AN-046", "anthropic", "anthropic", "claude-sonnet-4-5", ("thinking",),
        {"type": "enabled", "budget_tokens": 100},
    ),
    (
        "AN-061", "anthropic", "anthropic", "claude-sonnet-4-5", ("thinking",),
        {"type": "enabled", "budget_tokens": 2000},
    ),
    (
        "AN-062", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 1, "content", 0),
        {"type": "thinking", "thinking": "x", "signature": ""},
    ),
    (
        "AN-065", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 1, "content", 2),
        {"type": "thinking", "thinking": "x", "signature": "c2ln"},
    ),
    ("AN-052", "anthropic", "anthropic", "claude-haiku-4-5", ("output_config",), {"effort": "low"}),
    (
        "AN-058", "anthropic", "anthropic", "claude-sonnet-5", ("messages", 3),
        {"role": "assistant", "content": "It"},
    ),
    ("AN-073", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 0, "content"), ""),
    (
        "AN-074", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 1, "content", 0),
        {"type": "text", "text": ""},
    ),
    (
        "AN-075", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 1, "content", 0),
        {"type": "text", "text": "\n"},
    ),
    (
        "AN-078", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 3),
        {"role": "assistant", "content": "It "},
    ),
    (
        "AN-082", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 0),
        {"role": "system", "content": "x"},
    ),
    ("AN-087", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 2), ...),
    (
        "AN-087", "anthropic", "anthropic", "claude-sonnet-4-5",
        ("messages", 1, "content"), TWO_CALLS,
    ),
    (
        "AN-087", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 1, "content"),
        MESSAGES["messages"][1]["content"][::-1],
    ),
    ("AN-089", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 1), ...),
    (
        "AN-092", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 2, "content"),
        MESSAGES["messages"][2]["content"] * 2,
    ),
    (
        "AN-093", "anthropic", "anthropic", "claude-sonnet-4-5",
        ("messages", 1, "content", 1, "id"), "functions.rain:0",
    ),
    ("AN-100", "anthropic", "anthropic", "claude-sonnet-4-5", ("tools", 0, "name"), "a b"),
    ("AN-101", "anthropic", "anthropic", "claude-sonnet-4-5", ("tools",), MESSAGES["tools"] * 2),
    (
        "AN-102", "anthropic", "anthropic", "claude-sonnet-4-5",
        ("tools", 0, "input_schema", "type"), ...,
    ),
    (
        "AN-103", "anthropic", "anthropic", "claude-sonnet-4-5",
        ("tools", 0, "input_schema", "anyOf"), [],
    ),
    (
        "AN-105", "anthropic", "anthropic", "claude-sonnet-4-5",
        ("tools", 0, "input_schema", "properties"), {"a b": {}},
    ),
    ("AN-119", "anthropic", "anthropic", "claude-sonnet-4-5", ("tools",), ...),
    (
        "AN-130", "anthropic", "anthropic", "claude-sonnet-4-5", ("messages", 0, "content"),
        [MARKED] * 5,
    ),
    ("GE-005", "google", "gemini", "gemini-nonsense", ("store",), False),
    ("GE-006", "google", "gemini", "gemini-3-pro-preview", ("stream",), True),
    ("GE-006", "google", "gemini", "gemini-3-pro-preview", ("contents", 0, "parts", 0, "typ"), 1),
    ("GE-011", "google", "gemini", "gemini-3-pro-preview", ("contents",), []),
    ("GE-012", "google", "gemini", "gemini-3-pro-preview", ("contents", 0, "role"), "assistant"),
    ("GE-013", "google", "gemini", "gemini-3-pro-preview", ("contents", 0, "parts"), []),
    ("GE-020", "google", "gemini", "gemini-3-pro-preview", ("contents", 0), ...),
    ("GE-021", "google", "gemini", "gemini-3-pro-preview", ("contents", 1), ...),
    (
        "GE-022", "google", "gemini", "gemini-3-pro-preview", ("contents", 2, "parts"),
        [{"text": "x"}],
    ),
    (
        "GE-024", "google", "gemini", "gemini-3-pro-preview",
        ("contents", 2, "parts", 0, "functionResponse", "name"), "",
    ),
    (
        "GE-026", "google", "gemini", "gemini-3-pro-preview",
        ("contents", 1, "parts", 0, "thoughtSignature"), ...,
    ),
    (
        "GE-030", "google", "gemini", "gemini-3-pro-preview",
        ("contents", 1, "parts", 0, "thoughtSignature"), "not base64!",
    ),
    (
        "GE-033", "google", "gemini", "gemini-3-pro-preview",
        ("tools", 0, "functionDeclarations", 0, "name"), "1 name",
    ),
    (
        "GE-034", "google", "gemini", "gemini-3-pro-preview", ("tools", 0, "functionDeclarations"),
        GEMINI["tools"][0]["functionDeclarations"] * 2,
    ),
    (
        "GE-038", "google", "gemini", "gemini-3-pro-preview", ("tools", 0, "functionDeclarations"),
        [{"name": "rain", "parameters": SCHEMA}],
    ),
    ("GE-052", "google", "gemini", "gemini-2.5-flash", ("tools", 1), {"googleSearch": {}}),
    ("GE-055", "google", "gemini", "gemini-3-pro-preview", ("tools", 1), {"googleSearch": {}}),
    (
        "GE-050", "google", "gemini", "gemini-2.5-flash", ("generationConfig",),
        {"responseMimeType": "application/json"},
    ),
    (
        "GE-069", "google", "gemini", "gemini-2.5-flash", ("generationConfig",),
        {"thinkingConfig": {"thinkingLevel": "low"}},
    ),
    (
        "GE-066", "google", "gemini", "gemini-2.5-pro", ("generationConfig",),
        {"thinkingConfig": {"thinkingBudget": 0}},
    ),
    ("OL-06", "ollama", "ollama", "llama3.2", ("think",), True),
    ("OL-08", "ollama", "ollama", "qwen3:8b", ("think",), "minimal"),
    ("OL-10", "ollama", "ollama", "qwen3:8b", ("messages", 0, "content"), [{"type": "text"}]),
    (
        "OL-11", "ollama", "ollama", "qwen3:8b",
        ("messages", 1, "tool_calls", 0, "function", "arguments"), "{}",
    ),
    ("OL-12", "ollama", "ollama", "qwen3:8b", ("messages", 0, "images"), [PNG]),
    ("OL-14", "ollama", "ollama", "qwen3:8b", ("format",), "yaml"),
    ("OL-15", "ollama", "ollama", "qwen3:8b", ("keep_alive",), "300"),
    ("OL-16", "ollama", "ollama", "qwen3:8b", ("options",), {"temperature": "hot"}),
    ("OL-18", "ollama", "ollama", "qwen3:8b", params(("properties", "x")), True),
    ("DS-03", "deepseek", "openai-chat", "deepseek-v9", ("n",), 1),
    ("DS-05", "deepseek", "openai-chat", "deepseek-v4-pro", ("n",), 1),
    ("DS-14", "deepseek", "openai-chat", "deepseek-v4-pro", ("tool_choice",), "required"),
    ("DS-15", "deepseek", "openai-chat", "deepseek-v4-pro", ("messages", 1, "content"), WEB),
    ("DS-17", "deepseek", "openai-chat", "deepseek-v4-pro", ("messages", 0, "role"), "developer"),
    ("DS-18", "deepseek", "openai-chat", "deepseek-v4-pro", ("messages", 3), ...),
    ("DS-19", "deepseek", "openai-chat", "deepseek-v4-pro", ("messages", 2), ...),
    ("DS-23", "deepseek", "openai-chat", "deepseek-v4-pro", ("tools", 0), {"type": "custom"}),
    (
        "DS-25", "deepseek", "openai-chat", "deepseek-v4-pro", ("response_format",),
        {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}},
    ),
    ("DS-31", "deepseek", "openai-responses", "deepseek-v4-flash", ("input", 2), ...),
    (
        "GQ-003", "groq", "openai-chat", "openai/gpt-oss-120b",
        ("messages", 2, "reasoning_content"), "x",
    ),
    ("GQ-004", "groq", "openai-chat", "llama-3.3-70b", ("messages", 2, "reasoning"), "x"),
    ("GQ-008", "groq", "openai-chat", "llama-3.3-70b", ("logprobs",), True),
    ("MI-03", "mistral", "openai-chat", "mistral-small-latest", ("seed",), 1),
    ("MI-05", "mistral", "openai-chat", "mistral-small-latest", ("messages", 2, "refusal"), "x"),
    (
        "MI-07", "mistral", "openai-chat", "mistral-small-latest",
        ("messages", 0, "role"), "developer",
    ),
    (
        "MI-08", "mistral", "openai-chat", "mistral-small-latest",
        ("messages", 3, "tool_call_id"), "x",
    ),
    ("MI-11", "mistral", "openai-chat", "mistral-small-latest", ("messages", 3), ...),
    (
        "MI-15", "mistral", "openai-chat", "mistral-small-latest", ("messages", 4),
        {"role": "assistant", "content": "No."},
    ),
    ("VL-04", "vllm", "openai-chat", "qwen3", ("tools",), []),
    ("VL-05", "vllm", "openai-chat", "qwen3", ("tools", 0, "type"), "custom"),
    ("VL-07", "vllm", "openai-chat", "qwen3", ("tool_choice",), "any"),
    ("VL-15", "vllm", "openai-chat", "qwen3", ("temperature",), 2.5),
    ("VL-37", "vllm", "openai-responses", "qwen3", ("input", 0), {"type": "web_search_call"}),
    ("LC-09", "llama.cpp", "openai-chat", "qwen3", ("tools", 0, "type"), "custom"),
    ("LC-10", "llama.cpp", "openai-chat", "qwen3", ("tool_choice",), "any"),
    ("OL-21", "ollama", "openai-chat", "qwen3", ("messages", 1, "content"), None),
    ("OL-23", "ollama", "openai-chat", "qwen3", ("messages", 1, "content"), WEB),
    ("OL-33", "ollama", "openai-responses", "qwen3", ("input", 0), {"type": "custom_tool_call"}),
    ("XAI-016", "xai", "openai-chat", "grok-4.5", ("messages", 1, "content"), []),
    ("XAI-027", "xai", "openai-responses", "grok-4.5", ("input", 0), {"type": "additional_tools"}),
    (
        "OR-007", "openrouter", "openai-chat", "x/y",
        ("reasoning",), {"effort": "low", "max_tokens": 9},
    ),
    ("OR-010", "openrouter", "openai-chat", "google/gemini-3-pro-preview", ("n",), 1),
    ("OR-028", "openrouter", "openai-responses", "x/y", ("tools", 0, "type"), "custom"),
]  # fmt: skip
NEEDED = {"OAI-101": {"tool_choice": "required"}, "AN-119": {"tool_choice": {"type": "any"}}}


@pytest.mark.parametrize(
    "case",
    REFUSED,
    ids=[f"{each[0]}-{each[1]}-{index}" for index, each in enumerate(REFUSED)],
)
def test_a_wrong_request_is_refused(case):
    rule, provider, protocol, model, path, value = case
    body = put({**BODIES[protocol], **NEEDED.get(rule, {})}, path, value)
    if protocol in IN_BODY and "model" not in body:
        body["model"] = model
    found = check(provider, protocol, model, body)
    assert rule in [each.rule for each in found], found
    assert all(each.words for each in found)
    assert json.dumps(error_body(Ask(provider, protocol, model, body), found[0]))


def test_strict_schemas():
    """OpenAI's strict functions, and Anthropic's."""
    wrong = put(STRICT_TOOL, params(("required",)), []) | {"model": "gpt-4o"}
    assert {"OAI-090"} == {each.rule for each in check("openai", "openai-chat", "gpt-4o", wrong)}
    loose = put(STRICT_TOOL, params(("additionalProperties",)), ...) | {"model": "gpt-4o"}
    assert {"OAI-089"} == {each.rule for each in check("openai", "openai-chat", "gpt-4o", loose)}
    uri = {"type": "string", "format": "uri"}
    strange = put(STRICT_TOOL, params(("properties", "city")), uri) | {"model": "gpt-4o"}
    assert {"OAI-091"} == {each.rule for each in check("openai", "openai-chat", "gpt-4o", strange)}
    model = "claude-sonnet-4-5"
    strict = put(MESSAGES, ("tools", 0, "strict"), True) | {"model": model}
    assert check("anthropic", "anthropic", model, strict) == []
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/Node"}},
        "additionalProperties": False,
    }
    circular = {**node, "$defs": {"Node": node}}
    found = check(
        "anthropic", "anthropic", model, put(strict, ("tools", 0, "input_schema"), circular)
    )
    assert "AN-107" in {each.rule for each in found}


# --- the books ------------------------------------------------------------------------------------

VIOLATING = {
    "limits.least": lambda least, body: body | {"max_output_tokens": least - 1},
    "limits.name": lambda name, body: body | {_OTHER_NAME[name]: 100},
    "sampling.temperature": lambda allowed, body: body | {"temperature": allowed[1] + 1},
    "tools.most": lambda most, body: body | {"tools": body["tools"] * (most + 1)},
    "tools.kinds": lambda kinds, body: body | {"tools": [{"type": _not_in(kinds)}]},
    "tools.own": lambda own, body: body | {"tools": [{"type": "something_of_nobody"}]},
    "tools.effort": lambda rule, body: body | {"reasoning_effort": "high"},
    "reasoning.efforts": lambda efforts, body: body | {"reasoning_effort": "ultra"},
    "reasoning.controls": lambda controls, body: body | {"reasoning_effort": "low"},
    "reasoning.switch": lambda own, body: body | {_other_switch(own): True},
    "system.developer_role": lambda _, body: body | _DEVELOPER,
    "tools.needs_schema": lambda _, body: body | {"tools": [_BARE]},
    "tools.same_strict": lambda _, body: body | {"tools": [_BARE, _STRICT]},
    "calls.object_arguments": lambda _, body: body | {"messages": [_CALLED]},
    "messages.items": lambda _, body: body | {"input": [{"type": "something_of_nobody"}]},
    "tools.choices": lambda taken, body: (
        body | {"tool_choice": "any" if "allowed" in taken else {"type": "allowed_tools"}}
    ),
    "sampling.metadata": lambda most, body: body | {"metadata": {"k": "v" * (most["value"] + 1)}},
    "schema.output_object": lambda _, body: (
        body
        | {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "array"}}}}
    ),
}
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_BARE = {"type": "function", "function": {"name": "f"}}
_STRICT = {"type": "function", "function": {"name": "g", "strict": True}}
_CALLED = {
    "role": "assistant",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "[]"}}],
}
_DEVELOPER = {"messages": [{"role": "developer", "content": "x"}]}


def _other_switch(own):
    return "thinking" if own == "enable_thinking" else "enable_thinking"


def _not_in(kinds):
    return next(each for each in ("namespace", "custom") if each not in kinds)


def _cases():
    for name in books.names():
        for rule in books.rules(name):
            protocol = rule.get("protocol") or "openai-chat"
            if protocol not in ("openai-chat", "openai-responses"):
                continue
            if rule["id"] in books.ONLY_IGNORED:
                continue
            for fact, value in rule.get("set", {}).items():
                if fact == "reasoning.controls" and "effort" in value:
                    continue  # an effort is what a request of these protocols can say wrongly
                if fact in VIOLATING:
                    yield pytest.param(
                        name, rule, protocol, fact, value, id=f"{name}-{rule['id']}-{fact}"
                    )


@pytest.mark.parametrize(("name", "rule", "protocol", "fact", "value"), list(_cases()))
def test_every_rule_of_a_book_refuses(name, rule, protocol, fact, value):
    pattern = (rule.get("models") or ["some-model"])[0].replace("*", "")
    model = re.sub(r"\[(.).*?\]", r"\1", pattern)
    if books.facts(name, protocol, model)[fact].rule is not rule:
        pytest.skip("a later rule of the book says otherwise of this model")
    body = VIOLATING[fact](value, {"model": model, **BODIES[protocol]})
    if protocol == "openai-responses" and "reasoning_effort" in body:
        body["reasoning"] = {"effort": body.pop("reasoning_effort")}
    ask = Ask(name, protocol, model, body)
    found = [each for each in books.refusals(ask) if each.rule == rule["id"]]
    assert found
    assert found[0].words


def test_books_are_read_as_the_product_reads_them():
    """The same rules hold for the same models, seen from both sides."""
    from toolglot.providers import rules_for

    for name in books.names():
        for model in ("gpt-5.1", "claude-opus-4-8", "gemini-3-pro-preview", "vendor/qwen3-32b"):
            for protocol in BODIES:
                ours = [r["id"] for r in books.rules(name) if books.holds(r, protocol, model)]
                theirs = [rule.id for rule in rules_for(name, protocol, model)]
                assert [each for each in ours if each in theirs] == theirs, (name, model, protocol)


# --- parts ----------------------------------------------------------------------------------------


def test_the_sdks_are_named():
    assert set(VERSIONS) == {"anthropic", "openai", "google-genai", "ollama"}


def test_misfits_have_paths():
    from openai.types.chat.completion_create_params import CompletionCreateParams

    asked = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text"}]}], "x": 1}
    found = {(each.kind, each.path) for each in misfits(asked, CompletionCreateParams)}
    assert found == {
        ("unknown", ("x",)),
        ("missing", ("messages", 0, "content", 0, "text")),
    }


def test_errors_have_the_shape_of_their_provider():
    wrong = put(CHAT, ("messages", 3), ...)

    def said(provider, protocol, model, body):
        found = check(provider, protocol, model, body)
        return error_body(Ask(provider, protocol, model, body), found[0])

    assert set(said("openai", "openai-chat", "gpt-4o", wrong | {"model": "gpt-4o"})["error"]) == {
        "message", "type", "param", "code",
    }  # fmt: skip
    assert said("mistral", "openai-chat", "mistral-small-latest", wrong)["object"] == "error"
    assert isinstance(said("ollama", "ollama", "qwen3", {"think": 3})["error"], str)
    assert said("anthropic", "anthropic", "x", {})["type"] == "error"
    assert said("google", "gemini", "x", {})["error"]["status"] == "NOT_FOUND"
    assert set(said("xai", "openai-chat", "g", put(CHAT, ("messages", 1, "content"), []))) == {
        "code", "error",
    }  # fmt: skip


def test_a_provider_without_rules_of_form_gets_the_usual_ones():
    assert rules_of("nobody", "openai-chat") == rules_of("somebody", "openai-chat")
    wrong = put(CHAT, ("messages", 3), ...)
    assert check("nobody", "openai-chat", "m", wrong)
