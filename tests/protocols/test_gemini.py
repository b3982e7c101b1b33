"""The `gemini` protocol: identity, the official types, tables, totality and streams."""

import base64
import copy
import json
from pathlib import Path

import msgspec
import pytest
from google.genai import types as sdk
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import TypeAdapter

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import (
    Failed,
    Finished,
    Grammar,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    fold,
    unfold,
)
from toolglot.ir import (
    ApiError,
    Audio,
    Choice,
    Citation,
    CustomTool,
    Document,
    FileRef,
    FunctionTool,
    Image,
    Inline,
    Message,
    Opaque,
    OutputFormat,
    PlainText,
    ProviderTool,
    Reasoning,
    ReasoningSettings,
    Refusal,
    Remote,
    Request,
    Response,
    StopReason,
    Text,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
)
from toolglot.protocols import gemini
from toolglot.protocols.gemini._framing import ArrayDecoder
from toolglot.protocols.gemini._partial_arguments import PartialCall
from toolglot.protocols.gemini._variants import is_base64
from toolglot.protocols.gemini.surface import VARIANTS
from toolglot.surface import Surface
from toolglot.wire.message import WireRequest, WireResponse

FIXTURES = Path(__file__).parents[1] / "fixtures" / "gemini"
REQUESTS = sorted(FIXTURES.glob("*.request.json"))
RESPONSES = sorted(FIXTURES.glob("*.response.json"))
ERRORS = sorted(FIXTURES.glob("*.error.json"))
STREAMS = sorted(FIXTURES.glob("*.stream.txt"))
ELSEWHERE = Surface(name="elsewhere", path="/", settings={}, messages="messages", media={})
PATH = "/v1beta/models/gemini-3-pro:generateContent"


def name(path):
    return path.name.split(".")[0]


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def foreign():
    return Context(source=ELSEWHERE, target=gemini.SURFACE)


def decode(body, ctx=None, path=PATH):
    return gemini.decode_request(WireRequest(body=body, path=path), ctx or Context())


def encode(request, ctx=None):
    return gemini.encode_request(request, ctx or Context()).body


def answer(body, status=200, headers=None, ctx=None):
    wire = WireResponse(body=body, status=status, headers=headers or {})
    return gemini.decode_response(wire, ctx or Context(seed=b"x"))


def said(*parts, role="user", **more):
    return Request(model="m", messages=(Message(role=role, parts=parts),), **more)


def codes(ctx):
    return [note.code for note in ctx.receipt()]


def events_of(data, ctx=None, cuts=None):
    """All events of a stream, checked against the grammar."""
    decoder, grammar, events = gemini.StreamDecoder(ctx or Context(seed=b"x")), Grammar(), []
    for piece in cuts if cuts is not None else [data]:
        events.extend(decoder.feed(piece))
    events.extend(decoder.close())
    for event in events:
        grammar.check(event)
    assert grammar.complete
    return events


def bytes_of(events, ctx=None):
    encoder = gemini.StreamEncoder(ctx or Context())
    return b"".join(map(encoder.encode, events)) + encoder.close()


def chunks_of(data):
    assert data.endswith(b"\r\n\r\n")
    # The SDK ends lines wherever Python does, which is in more places than SSE.
    assert all(line.startswith("data: {") for line in data.decode().splitlines() if line)
    pieces = data.split(b"\r\n\r\n")[:-1]
    assert all(piece.startswith(b"data: {") and b"\n" not in piece for piece in pieces)
    return [json.loads(piece[6:]) for piece in pieces]


def bare(value):
    """A response without extras, for comparisons that leave them out."""
    built = json.loads(msgspec.json.encode(value))

    def walk(node):
        if isinstance(node, dict):
            return {key: walk(child) for key, child in node.items() if key != "extras"}
        return [walk(child) for child in node] if isinstance(node, list) else node

    return walk(built)


# --- identity ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", REQUESTS, ids=name)
def test_request_identity(path):
    body = load(path)
    before = copy.deepcopy(body)
    ctx = Context()
    assert encode(decode(body, ctx, path="")) == before
    assert body == before, "the input was changed"
    assert codes(ctx) == []


@pytest.mark.parametrize("path", REQUESTS, ids=name)
def test_request_identity_with_the_model_in_the_path(path):
    body = load(path)
    request = decode(body)
    assert request.model == "gemini-3-pro"
    assert encode(request) == body


@pytest.mark.parametrize("path", RESPONSES, ids=name)
def test_response_identity(path):
    body = load(path)
    wire = gemini.encode_response(answer(copy.deepcopy(body)), Context())
    assert wire.body == body
    assert wire.status == 200


@pytest.mark.parametrize("path", ERRORS, ids=name)
def test_error_identity(path):
    error = load(path)
    decoded = answer(error["body"], error["status"], error["headers"])
    assert isinstance(decoded, ApiError)
    wire = gemini.encode_response(decoded, Context())
    assert (wire.status, wire.body) == (error["status"], error["body"])
    assert error["headers"].items() <= wire.headers.items()


@pytest.mark.parametrize("path", REQUESTS, ids=name)
def test_twice_is_once(path):
    request = decode(load(path), path="")
    assert decode(encode(request), path="") == request


@pytest.mark.parametrize("fixture", ["agent-turn", "results", "unknown-fields", "provider-tools"])
def test_golden_request(fixture, golden):
    body = load(FIXTURES / f"{fixture}.request.json")
    golden(f"gemini/{fixture}.request.json", msgspec.to_builtins(decode(body, path="")))


@pytest.mark.parametrize("fixture", ["thinking-and-calls", "grounded", "blocked-prompt"])
def test_golden_response(fixture, golden):
    body = load(FIXTURES / f"{fixture}.response.json")
    golden(f"gemini/{fixture}.response.json", msgspec.to_builtins(answer(body)))


@pytest.mark.parametrize("fixture", ["thinking-and-calls", "odd-bytes"])
def test_golden_stream(fixture, golden):
    events = events_of((FIXTURES / f"{fixture}.stream.txt").read_bytes())
    golden(f"gemini/{fixture}.stream.json", msgspec.to_builtins(events))


# --- the official types --------------------------------------------------------------------------

SDK_REQUEST = {
    "contents": list[sdk.Content],
    "systemInstruction": sdk.Content,
    "tools": list[sdk.Tool],
    "toolConfig": sdk.ToolConfig,
    "generationConfig": sdk.GenerationConfig,
    "safetySettings": list[sdk.SafetySetting],
}


def check_request(body):
    for key, kind in SDK_REQUEST.items():
        if body.get(key) is not None:
            TypeAdapter(kind).validate_python(body[key])


@pytest.mark.parametrize(
    "path", [p for p in REQUESTS if name(p) not in ("unknown-fields", "signatures")], ids=name
)
def test_sdk_reads_requests(path):
    check_request(encode(decode(load(path), path="")))


@pytest.mark.parametrize("path", [p for p in RESPONSES if name(p) != "odd"], ids=name)
def test_sdk_reads_responses(path):
    body = gemini.encode_response(answer(load(path)), Context()).body
    for candidate in body.get("candidates", ()):
        candidate.pop(
            "citationMetadata", None
        )  # the wire's own key inside it differs from the SDK's
    sdk.GenerateContentResponse.model_validate(body)


@pytest.mark.parametrize(
    "path", [p for p in STREAMS if name(p) not in ("odd-bytes", "two-candidates")], ids=name
)
def test_sdk_reads_streams(path):
    for chunk in chunks_of(bytes_of(events_of(path.read_bytes()))):
        if "error" not in chunk:
            sdk.GenerateContentResponse.model_validate(chunk)


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


# --- requests: model and spelling ----------------------------------------------------------------


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
    ctx = Context()
    request = decode(body, ctx)
    # Once for the tools, once for all else.
    assert codes(ctx) == ["spelling-normalised"] * 2
    written = encode(request)
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
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
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


# --- requests: settings --------------------------------------------------------------------------


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
    request = decode(load(FIXTURES / "sampling.request.json"))
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


# --- requests: calls and results -----------------------------------------------------------------


def test_an_id_that_a_client_made_up_for_a_result_finds_its_call():
    """case-19: some clients name results although the calls have no ids."""
    calls = [{"functionCall": {"name": name, "args": {}}} for name in ("f", "g", "f")]
    results = [
        {"functionResponse": {"id": f"{name}-{place}", "name": name, "response": {"output": text}}}
        for place, (name, text) in enumerate((("f", "one"), ("g", "two"), ("f", "three")))
    ]
    body = {"contents": [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]}
    request = decode(body)
    parts = [part for message in request.messages for part in message.parts]
    assert [part.id for part in parts] == ["call_0", "call_1", "call_2"] * 2
    assert encode(request)["contents"] == body["contents"]


def test_a_client_gets_ids_also_for_calls_that_had_none():
    """S0-04: or it makes up others for the results."""
    call = ToolCall(id="call_7", name="f", arguments="{}", id_made=True)
    choice = Choice(parts=(call,), stop=StopReason(kind="tool_calls"))
    response = Response(id="r", model="m", choices=(choice,))
    own = gemini.SURFACE
    for source, told in ((replace(own, name="another"), "call_7"), (own, None)):
        wire = gemini.encode_response(response, Context(source=source, target=own))
        (part,) = wire.body["candidates"][0]["content"]["parts"]
        assert part["functionCall"].get("id") == told


def test_ids_are_made_by_position():
    """case-19: no ids on the wire; equal ones between turns, results matched by order in a name."""
    request = decode(load(FIXTURES / "calls-without-ids.request.json"))
    parts = [part for message in request.messages for part in message.parts]
    calls = [part for part in parts if isinstance(part, ToolCall)]
    results = [part for part in parts if isinstance(part, ToolResult)]
    assert [(call.id, call.name, call.id_made) for call in calls] == [
        ("call_0", "get_weather", True),
        ("call_1", "get_time", True),
        ("call_2", "get_weather", True),
        ("call_3", "get_time", True),
    ]
    assert [(result.id, result.parts[0].text) for result in results] == [
        ("call_0", "18 °C, drizzle"),
        ("call_2", "27 °C, clear"),
        ("call_1", "14:05"),
        ("call_3", "14:05"),
        ("result_4", "?"),
    ]
    earlier = decode(
        {"contents": load(FIXTURES / "calls-without-ids.request.json")["contents"][:2]}
    )
    assert earlier.messages == request.messages[:2]


def test_given_ids_are_kept_and_never_made_twice():
    call = {"name": "f", "args": {}}
    body = {
        "contents": [
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"id": "call_1", **call}},
                    {"functionCall": call},
                    {"functionCall": {"id": "call_1", **call}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "call_1",
                            "name": "f",
                            "response": {"output": "a"},
                        }
                    },
                    {"functionResponse": {"name": "f", "response": {"output": "b"}}},
                ],
            },
        ]
    }
    request = decode(body)
    assert [part.id for part in request.messages[0].parts] == ["call_1", "call_2", "call_1"]
    assert [part.id for part in request.messages[1].parts] == ["call_1", "call_2"]
    assert encode(request) == body


@pytest.mark.parametrize(
    ("response", "text", "is_error"),
    [
        ({"output": "fine"}, "fine", None),
        ({"error": "broken"}, "broken", True),
        ({"result": "fine"}, "fine", None),
        ({"content": "fine"}, "fine", None),
        ({"name": "f", "content": "fine"}, "fine", None),
        ({"name": "g", "content": "fine"}, '{"name":"g","content":"fine"}', None),
        ({"error": {"code": 7}}, '{"error":{"code":7}}', True),
        ({"output": 5}, '{"output":5}', None),
        ({"n": 12345678901234567890, "x": 1.0}, '{"n":12345678901234567890,"x":1.0}', None),
        ({}, "{}", None),
    ],
)
def test_results(response, text, is_error):
    """X-05, case-31: what a tool said, readable elsewhere and exact on the way back."""
    body = {
        "contents": [
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]}
        ]
    }
    request = decode(body)
    result = request.messages[0].parts[0]
    assert (result.parts, result.is_error, result.name) == ((Text(text=text),), is_error, "f")
    assert encode(request) == body


def test_an_edited_result_wins():
    body = {"contents": [{"parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]}]}
    message = decode(body).messages[0]
    edited = replace(message.parts[0], parts=(Text(text="shortened …"),))
    wire = encode(said(edited))
    assert wire["contents"][0]["parts"][0]["functionResponse"]["response"] == {
        "output": "shortened …"
    }


def test_signature_stands_beside_the_call():
    """case-33: never inside functionCall, and on the very part that it came on."""
    request = decode(load(FIXTURES / "agent-turn.request.json"))
    call = request.messages[1].parts[2]
    assert call.signature == base64.b64encode(b"sig of the first call").decode()
    wire = encode(said(replace(call, extras={})))["contents"][0]["parts"][0]
    assert wire.keys() == {"functionCall", "thoughtSignature"}
    assert "thoughtSignature" not in wire["functionCall"]


def test_signatures():
    """X-18: state on thoughts, texts, calls and parts of their own is kept."""
    parts = decode(load(FIXTURES / "signatures.request.json")).messages[1].parts
    assert [type(part) for part in parts] == [
        Reasoning,
        Reasoning,
        Text,
        Text,
        Reasoning,
        ToolCall,
        ToolCall,
    ]
    assert [getattr(part, "redacted", False) for part in parts[:5]] == [
        False,
        True,
        False,
        False,
        True,
    ]
    assert all(part.signature for part in parts)
    assert parts[5].signature == "skip_thought_signature_validator"
    assert parts[6].signature == "not base64: at all"


@pytest.mark.parametrize(
    "signature", ["tg1.eyJhIjoxfQ==", "plain words", "é", "\ud800", "a", "YR==", "/-+_"]
)
def test_foreign_state_looks_like_base64_to_clients(signature):
    """X-18: google-genai decodes signatures, so what is no base64 is wrapped and unwrapped."""
    parts = (
        Reasoning(text="hm", signature=signature),
        Reasoning(signature=signature, redacted=True),
        Text(text="t", signature=signature),
        ToolCall(id="c", name="f", arguments="{}", signature=signature),
    )
    response = Response(id="r", model="m", choices=(Choice(parts=parts),))
    body = gemini.encode_response(response, foreign()).body
    sdk.GenerateContentResponse.model_validate(body)
    content = body["candidates"][0]["content"]
    assert decode({"contents": [content]}).messages[0].parts == parts
    for chunk in chunks_of(bytes_of(unfold(response), foreign())):
        sdk.GenerateContentResponse.model_validate(chunk)
    # The SDK writes the other alphabet, without changing the bytes.
    for part in content["parts"]:
        raw = base64.b64decode(part["thoughtSignature"])
        part["thoughtSignature"] = base64.urlsafe_b64encode(raw).decode()
    assert decode({"contents": [content]}).messages[0].parts == parts


def test_restored_state_goes_back_as_it_was():
    call = ToolCall(id="c", name="f", arguments="{}", signature="sig-of-a-proxy")
    assert (
        encode(said(call), foreign())["contents"][0]["parts"][0]["thoughtSignature"]
        == "sig-of-a-proxy"
    )


def test_a_broken_wrapping_is_left_alone():
    broken = base64.b64encode(b"toolglot:\xff").decode()
    body = {"contents": [{"parts": [{"text": "", "thoughtSignature": broken}]}]}
    request = decode(body)
    assert request.messages[0].parts[0].signature == broken
    assert encode(request) == body


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("", True),
        ("YQ", True),
        ("YQ==", True),
        ("YWI=", True),
        ("YWJj", True),
        ("-_-_", True),
        ("+/+/", True),
        ("Y", False),
        ("YQ=", True),
        ("YR==", False),
        ("YWJ=", False),
        ("YWJj====", False),
        ("-/-/", False),
        ("a b", False),
    ],
)
def test_base64_as_the_sdk_sees_it(text, valid):
    assert is_base64(text) is valid
    try:
        sdk.Part.model_validate({"text": "", "thoughtSignature": text})
    except ValueError:
        assert not valid
    else:
        assert valid


def test_calls_of_other_models_are_marked_for_gemini_3():
    """case-33: the documented word stands in for a signature that cannot be there."""
    calls = (ToolCall(id="a", name="f", arguments="{}"), ToolCall(id="b", name="f", arguments="{}"))
    request = said(Text(text="t"), *calls, role="assistant")

    def signatures(model, ctx):
        parts = encode(replace(request, model=model), ctx)["contents"][0]["parts"]
        return [part.get("thoughtSignature") for part in parts]

    ctx = foreign()
    assert signatures("gemini-3-pro", ctx) == [None, "skip_thought_signature_validator", None]
    assert codes(ctx) == ["default-added"]
    assert signatures("gemini-2.5-pro", foreign()) == [None, None, None]
    assert signatures("gemini-3-pro", Context()) == [None, None, None]
    signed = said(calls[0], replace(calls[1], signature="YQ=="), role="assistant")
    body = encode(replace(signed, model="gemini-3-pro"), foreign())
    assert "thoughtSignature" not in body["contents"][0]["parts"][0]


def test_arguments_that_are_no_object():
    ctx = foreign()
    parts = (
        ToolCall(id="a", name="f", arguments="[1]"),
        ToolCall(id="b", name="f", arguments="{oops"),
        ToolCall(id="c", name="f", arguments=""),
    )
    wires = encode(said(*parts), ctx)["contents"][0]["parts"]
    assert [wire["functionCall"]["args"] for wire in wires] == [
        {"$value": [1]},
        {"$invalid": "{oops"},
        {},
    ]
    assert codes(ctx) == ["arguments-wrapped", "arguments-invalid"]


# --- requests: media -----------------------------------------------------------------------------


def test_media():
    parts = decode(load(FIXTURES / "media.request.json")).messages[0].parts
    assert [type(part) for part in parts] == [
        Text,
        Image,
        Image,
        Audio,
        Document,
        Document,
        Image,
        Audio,
        Document,
        Image,
        Document,
        Opaque,
    ]
    assert parts[4].name == "lease.pdf"
    assert parts[6].source == Remote(
        url="https://example.org/pictures/heron.jpg", media_type="image/jpeg"
    )
    assert isinstance(parts[8].source, FileRef)
    assert parts[10].source == Remote(url="https://www.youtube.com/watch?v=abc123def45")


@pytest.mark.parametrize(
    ("part", "wire"),
    [
        (
            Image(source=Inline(media_type="", data="aGk=")),
            {"inlineData": {"mimeType": "image/jpeg", "data": "aGk="}},
        ),
        (
            Image(source=Remote(url="https://e.org/x")),
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://e.org/x"}},
        ),
        (
            Audio(source=Remote(url="https://e.org/x.WAV")),
            {"fileData": {"mimeType": "audio/wav", "fileUri": "https://e.org/x.WAV"}},
        ),
        (
            Document(source=Remote(url="https://e.org/x")),
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://e.org/x"}},
        ),
        (
            Document(source=PlainText(text="hi"), name="n.txt"),
            {"inlineData": {"mimeType": "text/plain", "data": "aGk=", "displayName": "n.txt"}},
        ),
        (Refusal(text="no"), {"text": "no"}),
        (Reasoning(summary=("a", "b")), {"text": "a\n\nb", "thought": True}),
    ],
)
def test_foreign_parts(part, wire):
    assert encode(said(part), foreign())["contents"][0]["parts"] == [wire]


@pytest.mark.parametrize(
    ("wire", "usual"), [("-_8=", "+/8="), ("+/8=", "+/8="), ("aGk=", "aGk="), ("-/8=", "-/8=")]
)
def test_base64_in_the_alphabet_for_urls(wire, usual):
    """Google's Python SDK writes it; other protocols do not take it."""
    body = {"parts": [{"inlineData": {"mimeType": "image/png", "data": wire}}], "role": "user"}
    request = decode({"contents": [body]})
    (part,) = request.messages[0].parts
    assert part.source == Inline(media_type="image/png", data=usual)
    assert encode(request)["contents"] == [body]


def test_what_cannot_be_said_is_noted_not_raised():
    ctx = foreign()
    request = said(
        Image(source=FileRef(id="file-1", issuer="elsewhere")),
        Opaque(protocol="elsewhere", type="x", value={}),
        ToolResult(id="a", parts=(Refusal(text="no"),), name="f"),
        Text(text="t", citations=(Citation(url="https://e.org"),)),
        tools=(
            CustomTool(name="c"),
            ProviderTool(protocol="elsewhere", type="y", value={"y": 1}),
            FunctionTool(name="f"),
            ProviderTool(protocol="gemini", type="urlContext", value={"urlContext": {}}),
        ),
    )
    body = encode(request, ctx)
    assert body["contents"][0]["parts"] == [
        {"functionResponse": {"id": "a", "name": "f", "response": {"output": ""}}},
        {"text": "t"},
    ]
    assert body["tools"] == [{"functionDeclarations": [{"name": "f"}]}, {"urlContext": {}}]
    assert codes(ctx) == [
        "part-dropped",
        "part-dropped",
        "part-dropped",
        "citation-dropped",
        "tool-dropped",
        "tool-dropped",
    ]
    ctx = foreign()
    assert encode(said(Text(text="be good"), role="system"), ctx)["contents"][0]["role"] == "user"
    assert codes(ctx) == ["role-changed"]


def test_extras_of_others_are_not_written():
    part = Text(text="t", extras={"elsewhere": {"x": 1}})
    assert encode(said(part, extras={"elsewhere": {"y": 2}})) == {
        "contents": [{"role": "user", "parts": [{"text": "t"}]}]
    }


# --- responses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("STOP", "end"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("BLOCKLIST", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("SPII", "content_filter"),
        ("IMAGE_SAFETY", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "malformed_call"),
        ("UNEXPECTED_TOOL_CALL", "malformed_call"),
        ("MALFORMED_RESPONSE", "malformed_call"),
        ("LANGUAGE", "other"),
        ("TOO_MANY_TOOL_CALLS", "other"),
        ("NEVER_SEEN", "other"),
    ],
)
def test_stop_reasons(word, kind):
    body = {
        "candidates": [{"content": {"role": "model"}, "finishReason": word, "index": 0}],
        "responseId": "r",
    }
    response = answer(body)
    assert response.choices[0].stop == StopReason(kind=kind, raw=word)
    assert gemini.encode_response(response, Context()).body == body


@pytest.mark.parametrize(
    ("kind", "word", "noted"),
    [
        ("end", "STOP", False),
        ("tool_calls", "STOP", False),
        ("length", "MAX_TOKENS", False),
        ("content_filter", "SAFETY", False),
        ("malformed_call", "MALFORMED_FUNCTION_CALL", False),
        ("stop_sequence", "STOP", True),
        ("refusal", "SAFETY", True),
        ("pause", "STOP", True),
        ("context_window", "MAX_TOKENS", True),
        ("other", "OTHER", True),
    ],
)
def test_foreign_stop_reasons(kind, word, noted):
    """case-44: by table, with a note where the words do not mean the same."""
    ctx = foreign()
    response = Response(
        id="r", model="m", choices=(Choice(parts=(), stop=StopReason(kind=kind, raw="x")),)
    )
    assert gemini.encode_response(response, ctx).body["candidates"][0]["finishReason"] == word
    assert codes(ctx) == (["stop-mapped"] if noted else [])


def test_an_answer_with_calls_stops_for_calls():
    response = answer(load(FIXTURES / "thinking-and-calls.response.json"))
    assert response.choices[0].stop == StopReason(kind="tool_calls", raw="STOP")
    assert response.usage.prompt == 310


def test_blocked_prompt():
    response = answer(load(FIXTURES / "blocked-prompt.response.json"))
    (choice,) = response.choices
    assert (choice.parts, choice.stop) == (
        (),
        StopReason(kind="content_filter", raw="PROHIBITED_CONTENT"),
    )


def test_no_parts_is_an_answer_cut_short():
    """case-21: thinking that uses up the limit leaves an empty answer, not none."""
    (choice,) = answer(load(FIXTURES / "thoughts-ate-the-limit.response.json")).choices
    assert (choice.parts, choice.stop.kind) == ((), "length")


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (
            {
                "promptTokenCount": 10,
                "cachedContentTokenCount": 4,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 7,
                "totalTokenCount": 22,
            },
            {"input": 6, "cache_read": 4, "output": 12, "reasoning": 7},
        ),
        ({"promptTokenCount": 10, "totalTokenCount": 10}, {"input": 10}),
        ({"thoughtsTokenCount": 3}, {"output": 3, "reasoning": 3}),
        (
            {"promptTokenCount": 10, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 0},
            {"input": 15, "output": 0},
        ),
        ({"promptTokenCount": 1, "cachedContentTokenCount": 2}, {"input": 0, "cache_read": 2}),
        ({"totalTokenCount": 9}, {}),
    ],
)
def test_usage(raw, usage):
    """X-13: fresh input, cache reads, output and reasoning apart; unknown stays unknown."""
    body = {
        "candidates": [{"index": 0, "content": {"role": "model"}}],
        "usageMetadata": raw,
        "responseId": "r",
    }
    response = answer(body)
    counts = {
        key: value
        for key in ("input", "cache_read", "output", "reasoning")
        if (value := getattr(response.usage, key)) is not None
    }
    assert counts == usage
    assert gemini.encode_response(response, Context()).body == body


def test_foreign_usage():
    usage = Usage(input=6, cache_read=4, cache_write=2, output=12, reasoning=7)
    body = gemini.encode_response(
        Response(id="r", model="m", choices=(), usage=usage), foreign()
    ).body
    assert body["usageMetadata"] == {
        "promptTokenCount": 12,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
        "totalTokenCount": 24,
    }
    empty = gemini.encode_response(
        Response(id="r", model="", choices=(), usage=Usage()), foreign()
    ).body
    assert empty == {"usageMetadata": {}, "responseId": "r"}


@pytest.mark.parametrize(
    ("created", "text"),
    [
        (1763200000, "2025-11-15T09:46:40Z"),
        (0.5, "1970-01-01T00:00:00.500000Z"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        (1e300, "1970-01-01T00:00:00Z"),
    ],
)
def test_created(created, text):
    body = gemini.encode_response(
        Response(id="r", model="m", choices=(), created=created), foreign()
    ).body
    assert body["createTime"] == text
    sdk.GenerateContentResponse.model_validate(body)


def test_foreign_logprobs_are_noted():
    ctx = foreign()
    gemini.encode_response(
        Response(id="r", model="m", choices=(Choice(parts=(), logprobs={}),)), ctx
    )
    assert codes(ctx) == ["logprobs-dropped"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"candidates": None},
        {"candidates": [{}]},
        {"usageMetadata": None},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}]},
    ],
)
def test_sparse_responses_are_read(body):
    response = answer(body)
    assert isinstance(response, Response)
    assert response.id
    assert gemini.encode_response(response, Context()).body == body


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fixture", "kind", "retry"),
    [
        ("invalid-argument", "invalid_request", None),
        ("bad-key", "authentication", None),
        ("rate-limit", "rate_limit", "12"),
        ("daily-quota", "quota", None),
        ("too-long", "context_length", None),
        ("overloaded", "overloaded", "30"),
        ("no-billing", "billing", None),
        ("proxy", "server", None),
        ("odd-code", "server", None),
    ],
)
def test_errors(fixture, kind, retry):
    """X-16: kinds by the word, the details and the message; the wait from where it is said."""
    error = load(FIXTURES / f"{fixture}.error.json")
    decoded = answer(error["body"], error["status"], error["headers"])
    assert (decoded.kind, decoded.retry_after) == (kind, retry)
    assert decoded.message


@pytest.mark.parametrize(
    ("word", "status", "kind"),
    [
        ("RESOURCE_EXHAUSTED", 429, "rate_limit"),
        ("UNAVAILABLE", 503, "overloaded"),
        ("DEADLINE_EXCEEDED", 504, "timeout"),
        ("UNAUTHENTICATED", 401, "authentication"),
        ("PERMISSION_DENIED", 403, "permission"),
        ("NOT_FOUND", 404, "not_found"),
        ("INTERNAL", 500, "server"),
        ("INVALID_ARGUMENT", 400, "invalid_request"),
        ("FAILED_PRECONDITION", 400, "billing"),
        ("ABORTED", 409, "conflict"),
    ],
)
def test_error_words(word, status, kind):
    body = {"error": {"code": status, "message": "m", "status": word}}
    assert answer(body, status).kind == kind
    assert answer(body).status == status, "the code counts where the status does not"
    wire = gemini.encode_response(ApiError(kind=kind, message="m"), foreign())
    assert (wire.status, wire.body) == (status, body)


@pytest.mark.parametrize("kind", ["too_large", "content_policy", "quota", "context_length"])
def test_error_kinds_without_a_word(kind):
    ctx = foreign()
    wire = gemini.encode_response(
        ApiError(kind=kind, message="prompt is too long: 9 > 8", status=413), ctx
    )
    assert wire.body["error"]["code"] == wire.status == (429 if kind == "quota" else 400)
    assert codes(ctx) == ["status-changed"]
    if kind == "context_length":
        assert answer(wire.body, wire.status).kind == "context_length"
        assert wire.body["error"]["message"].startswith(
            "The input token count exceeds the maximum number"
        )


def test_foreign_wait_is_told_in_the_details():
    wire = gemini.encode_response(
        ApiError(kind="rate_limit", message="m", retry_after="7"), foreign()
    )
    assert wire.headers["retry-after"] == "7"
    assert answer(wire.body, wire.status).retry_after == "7"


def test_refined_errors():
    def kind(word, message, status=400):
        return answer({"error": {"code": status, "message": message, "status": word}}, status).kind

    assert (
        kind("INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.")
        == "too_large"
    )
    assert (
        kind("FAILED_PRECONDITION", "User location is not supported for the API use.")
        == "permission"
    )


# --- totality ------------------------------------------------------------------------------------

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
        {"contents": [{"parts": [{"functionCall": {"name": "f", "args": "x"}}]}]},
        "contents[0].parts[0].functionCall.args",
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
def test_wrong_requests_name_the_place(body, path):
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.path == path


@pytest.mark.parametrize(
    "body",
    [
        {"candidates": 5},
        {"candidates": [5]},
        {"candidates": [{"content": 5}]},
        {"candidates": [{"finishReason": 5}]},
        {"usageMetadata": []},
        {"usageMetadata": {"promptTokenCount": "x"}},
        {"responseId": 5},
        {"error": {"message": 5}},
    ],
)
def test_wrong_responses_are_refused(body):
    with pytest.raises(DecodeError):
        answer(body)


def test_odd_modes_and_tiers_stay():
    for body in (
        {"toolConfig": {"functionCallingConfig": {"mode": 5}}},
        {"serviceTier": {}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": 5}}},
    ):
        assert encode(decode(body)) == body


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "parts", "role", "name", "id", "a_b", "x"]), inner, max_size=3
        )
    ),
    max_leaves=5,
)


def places(node, path=()):
    """Every place in a JSON value."""
    yield path
    children = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, child in children:
        yield from places(child, (*path, key))


def mutated(data, value):
    value = copy.deepcopy(value)
    path = data.draw(st.sampled_from([place for place in places(value) if place]))
    node = value
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = data.draw(JSON)
    return value


@given(st.data())
def test_mutated_requests(data):
    body = mutated(data, load(data.draw(st.sampled_from(REQUESTS))))
    before = copy.deepcopy(body)
    ctx = Context()
    try:
        request = decode(body, ctx)
    except DecodeError:
        return
    written = encode(request)
    assert body == before
    if "spelling-normalised" not in codes(ctx) and "legacy-upgraded" not in codes(ctx):
        assert written == body
    assert encode(decode(written)) == written


@given(st.data())
def test_mutated_responses(data):
    file = data.draw(st.sampled_from(RESPONSES + ERRORS))
    fixture = load(file)
    status, body = (fixture["status"], fixture["body"]) if file in ERRORS else (200, fixture)
    body = mutated(data, body)
    try:
        decoded = answer(body, status)
    except DecodeError:
        return
    gemini.encode_response(decoded, Context())
    gemini.encode_response(decoded, foreign())


@given(st.data())
def test_mutated_streams(data):
    file = data.draw(st.sampled_from(STREAMS))
    chunks = chunks_of(bytes_of(events_of(file.read_bytes())))
    chunks = [mutated(data, chunk) for chunk in chunks]
    bytes_of(
        events_of(b"".join(b"data: %s\r\n\r\n" % json.dumps(chunk).encode() for chunk in chunks))
    )


# --- streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", STREAMS, ids=name)
def test_stream_cut_anywhere(path):
    """X-06: whole, byte by byte and with any line end."""
    data = path.read_bytes()
    whole = events_of(data)
    assert events_of(data, cuts=[data[i : i + 1] for i in range(len(data))]) == whole
    assert events_of(data, cuts=[data[i : i + 7] for i in range(0, len(data), 7)]) == whole


@given(st.data())
def test_stream_cut_at_random(data):
    content = data.draw(st.sampled_from(STREAMS)).read_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=8)))
    pieces = [content[a:b] for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    assert events_of(content, cuts=pieces) == events_of(content)


BOTH = [path for path in RESPONSES if (FIXTURES / f"{name(path)}.stream.txt").exists()]


@pytest.mark.parametrize("path", BOTH, ids=name)
def test_stream_equals_body(path):
    streamed = fold(events_of((FIXTURES / f"{name(path)}.stream.txt").read_bytes()))
    assert bare(streamed) == bare(answer(load(path)))


@pytest.mark.parametrize("path", STREAMS, ids=name)
def test_stream_round_trip(path):
    events = events_of(path.read_bytes())
    again = events_of(bytes_of(events))
    if isinstance(events[-1], Failed):
        assert isinstance(again[-1], Failed)
        assert again[-1].error.kind == events[-1].error.kind
    elif name(path) != "partial-arguments-cut":
        assert bare(fold(again)) == bare(fold(events))


@pytest.mark.parametrize(
    "path", [p for p in RESPONSES if name(p) not in ("odd", "nothing")], ids=name
)
def test_unfolded_responses_stream(path):
    response = answer(load(path))
    streamed = fold(events_of(bytes_of(unfold(response))))
    expected = bare(response)
    expected["choices"] = [{"stop": {"kind": "other"}, **choice} for choice in expected["choices"]]
    assert bare(streamed)["choices"] == expected["choices"]


def test_text_is_one_chunk_a_delta():
    events = [
        Started(id="r", model="gemini-x"),
        PartStarted(0, Reasoning()),
        PartDelta(0, "hm", "summary", 0),
        PartDelta(0, "ha", "summary", 1),
        PartDelta(0, "tg1.", "signature"),
        PartDelta(0, "c2Vh", "signature"),
        PartEnded(0),
        PartStarted(1, Text(text="")),
        PartDelta(1, "Žiža\u2028\x85\u2029\x0c \n"),
        PartDelta(1, "", "citation", citation=Citation(url="https://e.org")),
        PartEnded(1),
        PartStarted(2, ToolCall(id="c1", name="f", arguments="")),
        PartStarted(3, ToolCall(id="c2", name="g", arguments="")),
        PartDelta(3, '{"b":'),
        PartDelta(2, '{"a":1}'),
        PartDelta(3, "2}"),
        PartEnded(3),
        PartEnded(2),
        PartStarted(4, Opaque(protocol="elsewhere", type="x", value={})),
        PartEnded(4),
        PartStarted(5, Refusal(text="")),
        PartDelta(5, "no"),
        PartEnded(5),
        OpaqueEvent("elsewhere", "x", {}),
        UsageSeen(Usage(input=3, output=4)),
        Finished((StopReason(kind="tool_calls"),)),
    ]
    ctx = foreign()
    data = bytes_of(events, ctx)
    chunks = chunks_of(data)
    for chunk in chunks:
        sdk.GenerateContentResponse.model_validate(chunk)
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    wrapped = base64.b64encode(b"toolglot:tg1.c2Vh").decode()
    assert parts == [
        {"text": "hm", "thought": True},
        {"text": "\n\nha", "thought": True},
        {"text": "", "thought": True, "thoughtSignature": wrapped},
        {"text": "Žiža\u2028\x85\u2029\x0c \n"},
        {"functionCall": {"id": "c2", "name": "g", "args": {"b": 2}}},
        {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}},
        {"text": "no"},
        {"text": ""},
    ]
    assert all(
        chunk["responseId"] == "r" and chunk["modelVersion"] == "gemini-x" for chunk in chunks
    )
    assert chunks[-1]["usageMetadata"] == {
        "promptTokenCount": 3,
        "candidatesTokenCount": 4,
        "totalTokenCount": 7,
    }
    assert [chunk["candidates"][0].get("finishReason") for chunk in chunks] == [None] * 7 + ["STOP"]
    assert codes(ctx) == ["citation-dropped", "part-dropped"]


def test_a_cut_call_is_never_shown_as_whole():
    """X-07: a call that a length limit cut off is not sent, and the stop reason says why."""
    events = [
        Started(id="r", model="m"),
        PartStarted(0, ToolCall(id="c", name="f", arguments="")),
        PartDelta(0, '{"a":'),
        PartEnded(0, incomplete=True),
        Finished((StopReason(kind="length"),)),
    ]
    ctx = foreign()
    (chunk,) = chunks_of(bytes_of(events, ctx))
    assert chunk["candidates"][0]["finishReason"] == "MAX_TOKENS"
    assert codes(ctx) == ["part-dropped"]
    events = events_of((FIXTURES / "partial-arguments-cut.stream.txt").read_bytes())
    assert PartEnded(0, incomplete=True) in events
    assert events[-1].stops[0].kind == "length"


def test_whitespace_survives():
    """X-12: deltas of nothing but white space are kept."""
    events = events_of((FIXTURES / "odd-bytes.stream.txt").read_bytes())
    assert events[1:3] == [PartStarted(0, Text(text="")), PartDelta(0, " \n")]


def test_odd_stream_lives_on():
    ctx = Context()
    response = fold(events_of((FIXTURES / "odd-bytes.stream.txt").read_bytes(), ctx))
    parts = response.choices[0].parts
    assert [type(part) for part in parts] == [Text, ToolCall, Opaque, Text]
    assert parts[0].text == " \nstill here"
    assert (parts[1].name, parts[1].arguments, parts[1].id_made) == ("", '{"k":"v"}', True)
    assert response.usage.output == 8
    assert [note.code for note in ctx.receipt()].count("event-skipped") == 3


def test_error_in_a_stream():
    events = events_of((FIXTURES / "error-midway.stream.txt").read_bytes())
    assert events[-2] == PartEnded(0, incomplete=True)
    assert (events[-1].error.kind, events[-1].error.status) == ("overloaded", 503)
    (failed,) = events_of((FIXTURES / "error-at-once.stream.txt").read_bytes())
    assert (failed.error.kind, failed.error.retry_after) == ("rate_limit", "3")
    (unread,) = events_of(b'data: {"error":{"message":5}}\n\ndata: {"candidates":[]}\n\n')
    assert unread.error.kind == "server"


def test_failed_streams_tell_the_sdk():
    (chunk,) = chunks_of(bytes_of([Failed(ApiError(kind="overloaded", message="busy"))], foreign()))
    assert chunk == {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}


@pytest.mark.parametrize(
    "data",
    [b"", b"\r\n\r\n", b"data: {}\n\n", b"[", b"[]", b'data: {"candidates":[{"index":0}]}\n\n'],
)
def test_no_finish_reason_is_a_cut(data):
    assert isinstance(events_of(data)[-1], Failed)


def test_one_unfinished_candidate_is_a_cut():
    open_one = b'{"index":1,"content":{"parts":[{"text":"a"}]}}'
    data = b'data: {"candidates":[{"index":0,"finishReason":"STOP"},%s]}\n\n' % open_one
    assert isinstance(events_of(data)[-1], Failed)


def test_cut_stream():
    events = events_of((FIXTURES / "cut.stream.txt").read_bytes())
    assert events[-2:] == [PartEnded(0, incomplete=True), events[-1]]
    assert events[-1].error.status == 502
    assert events[0].usage.input == 4


def test_text_after_the_finish_reason():
    data = b"".join(
        b'data: {"candidates":[{"content":{"parts":[{"text":"%s"}]},"finishReason":"STOP"}]}\n\n'
        % text
        for text in (b"one", b"two")
    )
    assert [part.text for part in fold(events_of(data)).choices[0].parts] == ["one", "two"]


def test_array_stream():
    response = fold(events_of((FIXTURES / "array.stream.txt").read_bytes()))
    text, call = response.choices[0].parts
    assert text.text == 'Braces } and "quotes" { and \\ in text: naïve ☃ ]'
    assert json.loads(call.arguments) == {"s": '}\\"{', "n": [{}]}
    assert response.choices[0].stop.kind == "tool_calls"


def test_array_decoder_is_linear_and_bounded(monkeypatch):
    decoder = ArrayDecoder()
    piece = b'{"a":"' + b"x" * 1000
    assert decoder.feed(b"[" + piece) == []
    for _ in range(2000):
        assert decoder.feed(b"\\" * 2 + b"}" * 500) == []
    (whole,) = decoder.feed(b'"}]')
    assert len(whole) == len(piece) + 2000 * 502 + 2
    monkeypatch.setattr("toolglot.protocols.gemini._framing.MAX_LINE", 10)
    with pytest.raises(DecodeError):
        ArrayDecoder().feed(b"[{           ")


def test_partial_arguments():
    response = fold(events_of((FIXTURES / "partial-arguments.stream.txt").read_bytes()))
    first, second = response.choices[0].parts
    assert json.loads(first.arguments) == {
        "to": [{"name": "Ana Kovač"}],
        "urgent": True,
        "max size": 5,
        "cc": None,
    }
    assert first.signature == base64.b64encode(b"pa").decode()
    assert (second.name, second.arguments) == ("send", "{}")


def test_partial_arguments_never_crash():
    call = PartialCall(ToolCall(id="c", name="f", arguments=""), {"a": 1})
    call.add("x")
    call.add([None, {}, {"jsonPath": 5}, {"jsonPath": "$"}, {"jsonPath": "$", "stringValue": "s"}])
    call.add(
        [{"jsonPath": "$.a.b", "numberValue": 2}, {"jsonPath": "$.l[999999999]", "boolValue": True}]
    )
    call.add([{"jsonPath": "$.l.x", "boolValue": True}, {"jsonPath": "$[3]", "boolValue": False}])
    assert call.arguments() == {"a": {"b": 2}, "l": [], "3": False}


def test_an_abandoned_partial_call():
    data = b"".join(
        b'data: {"candidates":[{"content":{"parts":[%s]}}]}\n\n' % part
        for part in (
            b'{"functionCall":{"name":"a","willContinue":true}}',
            b'{"functionCall":{"name":"b","willContinue":true,"args":{"x":1}}}',
            b'{"text":"t"}',
        )
    )
    events = events_of(data + b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n')
    assert [event for event in events if isinstance(event, PartEnded)] == [
        PartEnded(0, incomplete=True),
        PartEnded(1, incomplete=True),
        PartEnded(2),
    ]


def test_signatures_without_an_open_part():
    """case-33: state that arrives on an empty part is a part of its own."""
    sign = base64.b64encode(b"s").decode().encode()
    parts = (
        b'{"thought":true,"text":"","thoughtSignature":"%s"}' % sign,
        b'{"text":"","thoughtSignature":"%s"}' % sign,
        b'{"text":"a","thought":true}',
        b'{"text":"b","thoughtSignature":"%s"}' % sign,
        b'{"text":"c"}',
    )
    data = b"".join(
        b'data: {"candidates":[{"content":{"parts":[%s]}}]}\n\n' % part for part in parts
    )
    response = fold(
        events_of(data + b'data: {"candidates":[{"finishReason":"STOP"}]}\n\ndata: [DONE]\n\n')
    )
    assert response.choices[0].parts == (
        Reasoning(signature=sign.decode(), redacted=True),
        Text(text="", signature=sign.decode()),
        Reasoning(text="a"),
        Text(text="b", signature=sign.decode()),
        Text(text="c"),
    )
    events = [
        Started(id="r", model="m"),
        *(event for event in unfold(response) if not isinstance(event, Started)),
    ]
    assert bare(fold(events_of(bytes_of(events)))) == bare(fold(events))


def test_parts_without_what_they_need_stay_whole():
    body = {
        "contents": [
            {
                "parts": [
                    {"fileData": {"mimeType": "image/png"}},
                    {
                        "functionResponse": {
                            "name": "f",
                            "parts": [{"text": "t"}, {"fileData": {"fileUri": "gs://a/b"}}],
                        }
                    },
                ]
            }
        ]
    }
    parts = decode(body).messages[0].parts
    assert isinstance(parts[0], Opaque)
    assert [type(part) for part in parts[1].parts] == [Opaque, Document]
    assert encode(decode(body)) == body


def test_metadata_of_candidates_comes_once():
    ratings = (
        b'"safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"NEGLIGIBLE"}]'
    )
    data = b'data: {"candidates":[{"content":{"parts":[{"text":"a"}]},%s}]}\n\n' % ratings * 3
    ctx = Context(source=gemini.SURFACE, target=ELSEWHERE)
    events = events_of(
        data + b'data: {"candidates":[{"finishReason":"STOP"}],"newMember":1}\n\n', ctx
    )
    assert sum(isinstance(event, OpaqueEvent) for event in events) == 1
    assert events[-1].extras == {"gemini": {"newMember": 1}}
    assert codes(ctx) == ["field-minor", "field-unknown"]


def test_same_input_same_output():
    """X-22: no clock and no chance in what is written."""
    body = load(FIXTURES / "agent-turn.request.json")
    assert json.dumps(encode(decode(body, path=""))) == json.dumps(encode(decode(body, path="")))
    data = (FIXTURES / "call-without-id.stream.txt").read_bytes()
    assert events_of(data) == events_of(data)


def test_losses_have_paths():
    ctx = Context(source=gemini.SURFACE, target=ELSEWHERE)
    decode(load(FIXTURES / "unknown-fields.request.json"), ctx)
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
