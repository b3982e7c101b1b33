"""What Gemini can say: its facts and the tables that both directions share."""

from base64 import b64encode
from typing import Final

from toolglot.ir import ErrorKind, StopKind
from toolglot.protocols.gemini._hosted_tools import HOSTED_TOOLS
from toolglot.protocols.gemini._told import TOLD
from toolglot.surface import (
    CallSupport,
    IdentifierRule,
    LimitSupport,
    MediaSupport,
    MessageSupport,
    ReasoningSupport,
    SchemaSupport,
    StreamSupport,
    Surface,
    SystemSupport,
    ToolSupport,
)
from toolglot.wire.fields import Setting

NAME: Final = "gemini"

VARIANTS: Final = NAME + ":form"
"""Key of `extras` under which a value remembers which of several wire forms it had."""

SETTINGS: Final[tuple[Setting, ...]] = (
    ("max_tokens", "maxOutputTokens", "int"),
    ("temperature", "temperature", "number"),
    ("top_p", "topP", "number"),
    ("top_k", "topK", "int"),
    ("stop", "stopSequences", "texts"),
    ("n", "candidateCount", "int"),
    ("seed", "seed", "int"),
    ("presence_penalty", "presencePenalty", "number"),
    ("frequency_penalty", "frequencyPenalty", "number"),
    ("logprobs", "responseLogprobs", "bool"),
    ("top_logprobs", "logprobs", "int"),
)
"""What stands in `generationConfig`."""

_MEDIA: Final = frozenset(
    {
        "text",
        *(
            f"{kind}.{source}"
            for kind in ("image", "document", "audio")
            for source in ("inline", "remote", "file")
        ),
        "document.text",
    }
)

UNSIGNED: Final = "skip_thought_signature_validator"
"""What says that a call has no signature, because it is not the model's own."""

STATE: Final = b"toolglot:"
STATE_MARK: Final = b64encode(STATE).decode()
"""What stands before the state of others, which must look like base64; how it looks then."""

SURFACE: Final = Surface(
    name=NAME,
    path="/v1beta/models/{model}:generateContent",
    model_collection=True,
    model_at=("modelVersion",),
    models="/v1beta/models",
    told=TOLD,
    answer={"created": "createTime"},
    answer_members={
        "id": "responseId",
        "choices": "candidates",
        "stop": "candidates[{}].finishReason",
        "usage": "usageMetadata",
        "logprobs": "candidates[{}].logprobsResult",
        "citations": "candidates[{}].groundingMetadata",
    },
    settings={
        **{field: f"generationConfig.{key}" for field, key, _ in SETTINGS},
        "stream": "stream",
        "system": "systemInstruction",
        "tools": "tools",
        "tool_choice": "toolConfig.functionCallingConfig",
        "reasoning": "generationConfig.thinkingConfig",
        "output": "generationConfig",
        "service_tier": "serviceTier",
        "store": "store",
    },
    minor=frozenset(
        {
            "avgLogprobs",
            "cacheTokensDetails",
            "candidatesTokensDetails",
            "code",
            "displayName",
            "finishMessage",
            "id",
            "index",
            "model",
            "modelStatus",
            "promptFeedback",
            "promptTokensDetails",
            "role",
            "safetyRatings",
            "serviceTier",
            "status",
            "thought",
            "thoughtSignature",
            "tokenCount",
            "toolUsePromptTokensDetails",
            "trafficType",
        }
    ),
    messages=MessageSupport(
        holds_calls=True,
        path="contents",
        content="parts",
        bare_forms=frozenset(),
        answer_path="candidates[{}].content",
        merges_turns=True,
        many_choices=True,
        # "Please ensure that function call turn comes immediately after a user turn".
        user_first=True,
    ),
    system=SystemSupport(
        slot="systemInstruction",
        content="parts",
        hoisted=True,
        later=False,
    ),
    calls=CallSupport(
        result="functionResponse.parts",
        result_text="functionResponse.response",
        results_in_order=True,
        signatures=True,
        arguments="object",
    ),
    tools=ToolSupport(
        # "Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores,
        # dots, colons and dashes, with a maximum length of 64" (128 say newer SDKs). Ids are free.
        name_rule=IdentifierRule(chars="a-zA-Z0-9_.:-", first="a-zA-Z_", most=64),
        # "Tool use with function calling is unsupported", say all but its latest models.
        hosted_alone="translated",
        choices=frozenset({"auto", "required", "none", "tool", "allowed"}),
        strict_default=None,
        hosted=HOSTED_TOOLS,
    ),
    schema=SchemaSupport(
        tools="subset",
        output="subset",
        object_root=True,
        openapi=True,
    ),
    media=MediaSupport(
        fields=frozenset({"name", "url_type"}),
        paths={"url_type": "fileData.mimeType", "name": "inlineData.displayName"},
        fetches_urls=False,
        # https://ai.google.dev/gemini-api/docs/image-understanding, document-processing, audio and
        # video-understanding (2026-11): no GIF, and of documents none of an office.
        types={
            "image": frozenset(
                {"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}
            ),
            "document": frozenset(
                {"application/pdf", "application/json", "application/rtf", "text/*", "video/*"}
            ),
        },
        accepted={
            "system": frozenset({"text"}),
            "user": _MEDIA,
            "result": frozenset({"text", "image.inline", "document.inline"}),
            "assistant": frozenset({"text", "image.inline", "audio.inline"}),
        },
    ),
    reasoning=ReasoningSupport(
        empty_states=frozenset({UNSIGNED}),
        foreign_prefix=STATE_MARK,
        controls=frozenset({"switch", "adaptive", "effort", "budget", "show"}),
        efforts=("minimal", "low", "medium", "high"),
        takes_unsigned=True,
    ),
    limits=LimitSupport(least=1),
    stream=StreamSupport(
        whole_calls=True,
        array=True,
        # A comment breaks the parsers of Google's own SDKs; a blank line does not.
        keep_alive=b"\r\n",
        # Google's own SDKs take a comment for JSON.
        comments=False,
    ),
)

STOP: Final[dict[str, StopKind]] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "IMAGE_OTHER": "content_filter",
    "MALFORMED_FUNCTION_CALL": "malformed_call",
    "UNEXPECTED_TOOL_CALL": "malformed_call",
    "MALFORMED_RESPONSE": "malformed_call",
}
STOP_NUMBERS: Final = {1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION", 5: "OTHER"}
"""The words by their numbers, which Google's REST clients ask for (`enum-encoding=int`). From 6 on,
the Gemini API and Vertex AI number them differently (google/ai/generativelanguage/v1beta and
google/cloud/aiplatform/v1beta1 in googleapis, read 2026-11-16)."""

STOP_FROM: Final[dict[StopKind, tuple[str, bool]]] = {
    "end": ("STOP", True),
    "tool_calls": ("STOP", True),
    "length": ("MAX_TOKENS", True),
    "content_filter": ("SAFETY", True),
    "malformed_call": ("MALFORMED_FUNCTION_CALL", True),
    "stop_sequence": ("STOP", False),
    "refusal": ("SAFETY", False),
    "pause": ("STOP", False),
    "context_window": ("MAX_TOKENS", False),
    "other": ("OTHER", False),
}
"""Stop kind to wire word, and whether that word means the same."""

SERVICE_TIER: Final = {
    "unspecified": "auto",
    "standard": "default",
    "flex": "flex",
    "priority": "priority",
}
SERVICE_TIER_FROM: Final = {unified: word for word, unified in SERVICE_TIER.items()}

ERROR: Final[dict[str, tuple[ErrorKind, int]]] = {
    "INVALID_ARGUMENT": ("invalid_request", 400),
    "OUT_OF_RANGE": ("invalid_request", 400),
    "FAILED_PRECONDITION": ("billing", 400),
    "UNAUTHENTICATED": ("authentication", 401),
    "PERMISSION_DENIED": ("permission", 403),
    "NOT_FOUND": ("not_found", 404),
    "ABORTED": ("conflict", 409),
    "ALREADY_EXISTS": ("conflict", 409),
    "RESOURCE_EXHAUSTED": ("rate_limit", 429),
    "INTERNAL": ("server", 500),
    "UNKNOWN": ("server", 500),
    "DATA_LOSS": ("server", 500),
    "UNIMPLEMENTED": ("server", 501),
    "UNAVAILABLE": ("overloaded", 503),
    "DEADLINE_EXCEEDED": ("timeout", 504),
}
"""Words of google.rpc.Code. FAILED_PRECONDITION is how it asks for billing to be enabled."""

ERROR_FROM: Final[dict[ErrorKind, tuple[str, int]]] = {
    **{kind: (word, status) for word, (kind, status) in reversed(ERROR.items())},
    "context_length": ("INVALID_ARGUMENT", 400),
    "content_policy": ("INVALID_ARGUMENT", 400),
    "too_large": ("INVALID_ARGUMENT", 400),
    "quota": ("RESOURCE_EXHAUSTED", 429),
}
