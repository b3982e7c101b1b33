"""Requests of Gemini."""

import pytest
from msgspec.structs import replace
from tests.protocols.gemini.helpers import HARNESS, codes, decode, encode, foreign, load, said
from tests.protocols.harness import ELSEWHERE, stem
from tests.protocols.harness import load as load_file
from tests.protocols.oracles import gemini_request as check_request

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import (
    FunctionTool,
    Image,
    Inline,
    Message,
    OutputFormat,
    Reasoning,
    ReasoningSettings,
    Remote,
    Request,
    Text,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from toolglot.protocols import gemini
from toolglot.protocols.gemini.surface import VARIANTS

# --- identity -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", HARNESS.requests, ids=stem)
def test_request_identity_with_the_model_in_the_path(path):
    body = load_file(path)
    request = decode(body)
    assert request.model == "gemini-3-pro"
    assert encode(request) == body


# --- the official types ---------------------------------------------------------------------------


def test_sdk_reads_a_foreign_request():
    request = Request(
        model="gemini-3.8-flash",
        system=Message(role="system", parts=(Text(text="Be brief."),)),
        messages=(
            Message(
                role="user",
                parts=(Text(text="go"), Image(source=Remote(url="https://x.y/a.webp?s=1"))),
            ),
            Message(
                role="assistant",
                parts=(
                    Reasoning(text="hm", summary=(), signature=None),
                    ToolCall(id="toolu_1", name="run", arguments='{"a": 1}'),
                ),
            ),
            Message(
                role="user",
                parts=(
                    ToolResult(
                        id="toolu_1",
                        parts=(
                            Text(text="one"),
                            Text(text="two"),
                            Image(source=Inline(media_type="image/png", data="aGk=")),
                        ),
                    ),
                    ToolResult(id="toolu_2", parts=(Text(text="boom"),), is_error=True),
                    ToolResult(id="toolu_3"),
                ),
            ),
        ),
        tools=(FunctionTool(name="run", parameters={"type": "object", "$defs": {}}),),
        tool_choice=ToolChoice(mode="auto", names=("run",)),
        reasoning=ReasoningSettings(enabled=True, budget=1000, effort="high"),
        output=OutputFormat(kind="schema", schema={"type": "object"}, name="r"),
        max_tokens=100,
        stream=True,
        service_tier="default",
    )
    ctx = foreign()
    wire = gemini.encode_request(request, ctx)
    assert wire.path == "/v1beta/models/gemini-3.8-flash:streamGenerateContent"
    assert wire.query == {"alt": "sse"}
    body = wire.body
    check_request(body)
    assert "model" not in body
    assert body["contents"][0]["parts"][1] == {
        "fileData": {"mimeType": "image/webp", "fileUri": "https://x.y/a.webp?s=1"}
    }
    assert [part["functionResponse"] for part in body["contents"][2]["parts"]] == [
        {
            "id": "toolu_1",
            "name": "run",
            "response": {"output": "one\ntwo"},
            "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
        },
        {"id": "toolu_2", "name": "unknown", "response": {"error": "boom"}},
        {"id": "toolu_3", "name": "unknown", "response": {"output": ""}},
    ]
    assert body["tools"] == [
        {
            "functionDeclarations": [
                {"name": "run", "parametersJsonSchema": {"type": "object", "$defs": {}}}
            ]
        }
    ]
    assert body["toolConfig"]["functionCallingConfig"] == {
        "mode": "VALIDATED",
        "allowedFunctionNames": ["run"],
    }
    assert body["generationConfig"] == {
        "maxOutputTokens": 100,
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
        "thinkingConfig": {"thinkingBudget": 1000, "includeThoughts": True},
    }
    assert body["serviceTier"] == "standard"
    assert codes(ctx) == ["default-added", "text-joined", "value-mapped", "default-added"]


# --- requests: model and spelling -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "model", "stream"),
    [
        ("/v1beta/models/gemini-3-pro:generateContent", "gemini-3-pro", False),
        ("/v1/models/mock-model:streamGenerateContent", "mock-model", True),
        ("/v1beta/models/llama3:8b:streamGenerateContent", "llama3:8b", True),
        ("/v1beta/models/team%2Fmodel%20x:generateContent", "team/model x", False),
        ("/v1beta/tunedModels/mine-1:generateContent", "tunedModels/mine-1", False),
        ("/v1/projects/p/locations/l/publishers/google/models/g:generateContent", "g", False),
    ],
)
def test_path(path, model, stream):
    request = decode({"contents": []}, path=path)
    assert (request.model, request.stream) == (model, stream)
    wire = gemini.encode_request(request, Context())
    assert decode({}, path=wire.path) == replace(request, extras={})
    assert wire.body == {"contents": []}
    assert wire.query == ({"alt": "sse"} if stream else {})


def test_model_in_the_body():
    for spelled in ("gemini-x", "models/gemini-x"):
        request = decode({"model": spelled}, path="")
        assert (request.model, request.stream) == ("gemini-x", None)
        assert encode(request) == {"model": spelled}
        assert encode(replace(request, model="other"))["model"] == spelled.replace(
            "gemini-x", "other"
        )


def test_missing_model():
    with pytest.raises(DecodeError, match=r"^model: expected string, but it is missing$"):
        decode({"contents": []}, path="")


def test_snake_case_is_read_everywhere_but_in_data():
    """Names that a user chose are no keys of ours, however they are spelled."""
    data = {"snake_key": {"inline_data": 1}}
    body = {
        "system_instruction": {"parts": [{"text": "s"}]},
        "contents": [
            {
                "parts": [
                    {
                        "inline_data": {"mime_type": "image/png", "data": "aGk="},
                        "media_resolution": 1,
                    }
                ]
            },
            {
                "role": "model",
                "parts": [
                    {"function_call": {"name": "f_x", "args": data}, "thought_signature": "YQ=="}
                ],
            },
            {
                "parts": [
                    {"function_response": {"name": "f_x", "response": data, "will_continue": True}}
                ]
            },
            {
                "parts": [
                    {"file_data": {"file_uri": "https://e.org/a", "mime_type": "audio/wav"}},
                    {"executable_code": {"code": "a_b"}},
                ]
            },
        ],
        "tools": [
            {"function_declarations": [{"name": "f_x", "parameters_json_schema": data}]},
            {"google_search": {}},
        ],
        "tool_config": {
            "function_calling_config": {"mode": "ANY", "allowed_function_names": ["f_x", "g_y"]}
        },
        "generation_config": {
            "max_output_tokens": 5,
            "stop_sequences": ["a_b"],
            "response_json_schema": data,
            "response_mime_type": "application/json",
            "thinking_config": {"include_thoughts": True, "thinking_level": "low"},
            "top_p": 0.5,
            "topP": 0.25,
        },
        "safety_settings": [{"some_key": 1}],
        "labels": {"a_b": "c_d"},
    }
    ctx = Context(source=gemini.SURFACE, target=ELSEWHERE)
    request = decode(body, ctx)
    assert [note.code for note in ctx.notes()].count("spelling-normalised") == 1
    assert encode(request) == body
    variants = {key: kept for key, kept in request.extras[VARIANTS].items() if key != "spelled"}
    written = encode(replace(request, extras={**request.extras, VARIANTS: variants}))
    assert written == {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [
            {
                "parts": [
                    {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "mediaResolution": 1}
                ]
            },
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "f_x", "args": data}, "thoughtSignature": "YQ=="}
                ],
            },
            {
                "parts": [
                    {"functionResponse": {"name": "f_x", "response": data, "willContinue": True}}
                ]
            },
            {
                "parts": [
                    {"fileData": {"fileUri": "https://e.org/a", "mimeType": "audio/wav"}},
                    {"executableCode": {"code": "a_b"}},
                ]
            },
        ],
        "tools": [
            {"functionDeclarations": [{"name": "f_x", "parametersJsonSchema": data}]},
            {"googleSearch": {}},
        ],
        "toolConfig": {
            "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f_x", "g_y"]}
        },
        "generationConfig": {
            "maxOutputTokens": 5,
            "stopSequences": ["a_b"],
            "responseJsonSchema": data,
            "responseMimeType": "application/json",
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"},
            "top_p": 0.5,
            "topP": 0.25,
        },
        "safetySettings": [{"some_key": 1}],
        "labels": {"a_b": "c_d"},
    }
    assert encode(decode(written)) == written


def test_notes_have_paths_as_the_client_spells_them():
    ctx = Context(source=gemini.SURFACE, target=ELSEWHERE)
    tools = [{"function_declarations": [{"name": "f", "some_member": 1}]}]
    decode({"generation_config": {"some_key": 1}, "contents": [], "tools": tools}, ctx)
    paths = {note.path for note in ctx.notes() if note.code == "field-unknown"}
    assert paths == {"generation_config.some_key", "tools[0].function_declarations[0].some_member"}


def test_single_values_are_read_as_arrays():
    ctx = Context()
    request = decode(
        {
            "contents": {"role": "user", "parts": {"text": "hi"}},
            "systemInstruction": "be nice",
            "tools": {"functionDeclarations": {"name": "f"}},
        },
        ctx,
    )
    assert codes(ctx) == ["spelling-normalised"] * 5
    assert encode(request) == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "be nice"}]},
        "tools": {"functionDeclarations": [{"name": "f"}]},
    }


def test_old_role_of_results():
    ctx = Context()
    body = {
        "contents": [
            {"role": "function", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}
        ]
    }
    assert encode(decode(body, ctx))["contents"][0]["role"] == "user"
    assert codes(ctx) == ["legacy-upgraded"]


# --- requests: settings ---------------------------------------------------------------------------


def config(**members):
    return decode({"generationConfig": members})


@pytest.mark.parametrize(
    ("thinking", "settings"),
    [
        ({"thinkingBudget": 0}, ReasoningSettings(enabled=False)),
        ({"thinkingBudget": -1}, ReasoningSettings(enabled=True, adaptive=True)),
        ({"thinkingBudget": 512}, ReasoningSettings(enabled=True, budget=512)),
        ({"includeThoughts": True}, ReasoningSettings(show=True)),
        ({"thinkingLevel": "MINIMAL"}, ReasoningSettings(effort="minimal")),
        (
            {"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"},
            ReasoningSettings(extras={VARIANTS: {"level": "THINKING_LEVEL_UNSPECIFIED"}}),
        ),
        ({}, None),
    ],
)
def test_thinking(thinking, settings):
    request = config(thinkingConfig=thinking)
    assert request.reasoning == settings
    assert encode(request) == {"generationConfig": {"thinkingConfig": thinking}}


@pytest.mark.parametrize(
    ("settings", "thinking"),
    [
        (ReasoningSettings(enabled=False), {"thinkingBudget": 0}),
        (ReasoningSettings(effort="none"), {"thinkingBudget": 0}),
        (ReasoningSettings(effort="low"), {"thinkingLevel": "LOW"}),
        (ReasoningSettings(enabled=True), {"thinkingBudget": -1, "includeThoughts": True}),
        (
            ReasoningSettings(enabled=True, show=False),
            {"thinkingBudget": -1, "includeThoughts": False},
        ),
        (
            ReasoningSettings(enabled=True, adaptive=True, effort="high"),
            {"thinkingLevel": "HIGH", "includeThoughts": True},
        ),
        (ReasoningSettings(adaptive=True), {"thinkingBudget": -1}),
    ],
)
def test_foreign_thinking(settings, thinking):
    body = encode(said(reasoning=settings), foreign())
    assert body["generationConfig"]["thinkingConfig"] == thinking


@pytest.mark.parametrize(
    ("members", "output"),
    [
        ({"responseMimeType": "application/json"}, OutputFormat(kind="json")),
        ({"responseMimeType": "text/plain"}, OutputFormat(kind="text")),
        ({"responseMimeType": "text/x.enum", "responseSchema": {}}, None),
        (
            {"responseMimeType": "application/json", "responseJsonSchema": {"type": "OBJECT"}},
            OutputFormat(kind="schema", schema={"type": "OBJECT"}),
        ),
    ],
)
def test_output(members, output):
    request = config(**members)
    assert request.output == output
    assert encode(request) == {"generationConfig": members}


@pytest.mark.parametrize(
    ("calling", "choice"),
    [
        ({"mode": "AUTO"}, ToolChoice(mode="auto")),
        ({"mode": "ANY"}, ToolChoice(mode="required")),
        ({"mode": "NONE"}, ToolChoice(mode="none")),
        ({"mode": "ANY", "allowedFunctionNames": ["a"]}, ToolChoice(mode="tool", names=("a",))),
        (
            {"mode": "ANY", "allowedFunctionNames": ["a", "b"]},
            ToolChoice(mode="required", names=("a", "b")),
        ),
        (
            {"mode": "VALIDATED", "allowedFunctionNames": ["a"]},
            ToolChoice(mode="auto", names=("a",)),
        ),
        ({"mode": "MODE_UNSPECIFIED"}, None),
        ({"allowedFunctionNames": ["a"]}, None),
        ({}, None),
    ],
)
def test_tool_choice(calling, choice):
    body = {"toolConfig": {"functionCallingConfig": calling}}
    request = decode(body)
    assert request.tool_choice == choice
    assert encode(request) == body


@pytest.mark.parametrize(
    "calling",
    [{"mode": "VALIDATED"}, {"mode": "any"}, {"mode": "AUTO", "allowedFunctionNames": []}],
)
def test_tool_choice_in_other_words(calling):
    body = {"toolConfig": {"functionCallingConfig": calling}}
    request = decode(body)
    assert request.tool_choice.mode in ("auto", "required")
    assert encode(request) == body


def test_settings_are_listed_on_the_surface():
    request = decode(load("request", "sampling"))
    for field in ("max_tokens", "top_k", "n", "seed", "logprobs", "top_logprobs", "stop", "store"):
        assert getattr(request, field) is not None
        assert field in gemini.SURFACE.settings
    assert request.service_tier == "flex"
    assert gemini.SURFACE.settings["top_k"] == "generationConfig.topK"
    assert "parallel_tool_calls" not in gemini.SURFACE.settings


def test_unknown_service_tier_is_noted():
    ctx = foreign()
    assert encode(said(service_tier="scale"), ctx) == {"contents": [{"role": "user"}]}
    assert codes(ctx) == ["field-dropped"]


# --- totality -------------------------------------------------------------------------------------


NASTY = [
    ({"contents": 5}, "contents"),
    ({"contents": [5]}, "contents[0]"),
    ({"contents": [{"role": "wizard"}]}, "contents[0].role"),
    ({"contents": [{"role": 5}]}, "contents[0].role"),
    ({"contents": [{"parts": "x"}]}, "contents[0].parts"),
    ({"contents": [{"parts": [7]}]}, "contents[0].parts[0]"),
    ({"contents": [{"parts": [{"text": 1}]}]}, "contents[0].parts[0].text"),
    (
        {"contents": [{"parts": [{"text": "a", "thoughtSignature": 1}]}]},
        "contents[0].parts[0].thoughtSignature",
    ),
    ({"contents": [{"parts": [{"functionCall": []}]}]}, "contents[0].parts[0].functionCall"),
    ({"contents": [{"parts": [{"functionCall": {}}]}]}, "contents[0].parts[0].functionCall.name"),
    (
        {"contents": [{"parts": [{"functionCall": {"name": 7, "args": {}}}]}]},
        "contents[0].parts[0].functionCall.name",
    ),
    (
        {"contents": [{"parts": [{"functionCall": {"name": "f", "id": 7}}]}]},
        "contents[0].parts[0].functionCall.id",
    ),
    (
        {"contents": [{"parts": [{"functionResponse": {"response": {}}}]}]},
        "contents[0].parts[0].functionResponse.name",
    ),
    (
        {"contents": [{"parts": [{"functionResponse": {"name": "f", "response": []}}]}]},
        "contents[0].parts[0].functionResponse.response",
    ),
    (
        {"contents": [{"parts": [{"functionResponse": {"name": "f", "parts": [1]}}]}]},
        "contents[0].parts[0].functionResponse.parts[0]",
    ),
    ({"contents": [{"parts": [{"inlineData": "x"}]}]}, "contents[0].parts[0].inlineData"),
    (
        {"contents": [{"parts": [{"inlineData": {"mimeType": 1, "data": "x"}}]}]},
        "contents[0].parts[0].inlineData.mimeType",
    ),
    (
        {"contents": [{"parts": [{"fileData": {"fileUri": {}}}]}]},
        "contents[0].parts[0].fileData.fileUri",
    ),
    ({"systemInstruction": 5}, "systemInstruction"),
    ({"systemInstruction": {"parts": [{"text": []}]}}, "systemInstruction.parts[0].text"),
    ({"tools": "x"}, "tools"),
    ({"tools": [1]}, "tools[0]"),
    ({"tools": [{"functionDeclarations": 1}]}, "tools[0].functionDeclarations"),
    ({"tools": [{"functionDeclarations": [{}]}]}, "tools[0].functionDeclarations[0].name"),
    (
        {"tools": [{"functionDeclarations": [{"name": "f", "parameters": 1}]}]},
        "tools[0].functionDeclarations[0].parameters",
    ),
    ({"toolConfig": []}, "toolConfig"),
    ({"toolConfig": {"functionCallingConfig": 1}}, "toolConfig.functionCallingConfig"),
    (
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [1]}}},
        "toolConfig.functionCallingConfig.allowedFunctionNames[0]",
    ),
    ({"generationConfig": 1}, "generationConfig"),
    ({"generationConfig": {"topK": "x"}}, "generationConfig.topK"),
    ({"generationConfig": {"stopSequences": [1]}}, "generationConfig.stopSequences[0]"),
    ({"generationConfig": {"responseMimeType": 1}}, "generationConfig.responseMimeType"),
    ({"generationConfig": {"responseSchema": True}}, "generationConfig.responseSchema"),
    (
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 1.5}}},
        "generationConfig.thinkingConfig.thinkingBudget",
    ),
    (
        {"generationConfig": {"thinkingConfig": {"includeThoughts": "yes"}}},
        "generationConfig.thinkingConfig.includeThoughts",
    ),
    ({"store": "yes"}, "store"),
]


@pytest.mark.parametrize(("body", "path"), NASTY, ids=[path for _, path in NASTY])
def test_wrong_requests_are_refused_with_a_path(body, path):
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.path == path


def test_odd_modes_and_tiers_stay():
    for body in (
        {"toolConfig": {"functionCallingConfig": {"mode": 5}}},
        {"serviceTier": {}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": 5}}},
    ):
        assert encode(decode(body)) == body


# --- streams --------------------------------------------------------------------------------------


def test_losses_have_paths():
    ctx = Context(source=gemini.SURFACE, target=ELSEWHERE)
    decode(load("request", "unknown-fields"), ctx)
    paths = {note.path for note in ctx.receipt()}
    assert {
        "futureField",
        "contents[0].tag",
        "contents[0].parts[0].weight",
        "contents[0].parts[3].vendor",
        "contents[0].parts[3].functionCall.priority",
        "generationConfig.wishes",
        "systemInstruction.revision",
        "generationConfig.thinkingConfig.depth",
        "tools[0].functionDeclarations[0].cost",
        "toolConfig.functionCallingConfig.hint",
    } <= paths
