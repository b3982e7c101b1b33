"""What Converse can say: its facts and the tables that both directions share."""

from typing import Final

from toolglot.ir import ErrorKind, StopKind
from toolglot.protocols.bedrock_converse._told import TOLD
from toolglot.surface import (
    CacheSupport,
    CallSupport,
    IdentifierRule,
    LimitSupport,
    MediaSupport,
    MessageSupport,
    ReasoningSupport,
    SamplingSupport,
    SchemaSupport,
    StreamSupport,
    Surface,
    SystemSupport,
    ToolSupport,
)
from toolglot.wire.event_stream import MEDIA_TYPE
from toolglot.wire.fields import Setting

NAME: Final = "bedrock-converse"

FORM: Final = NAME + ":form"
"""Key of `extras` under which a value remembers which of several wire forms it had."""

SETTINGS: Final[tuple[Setting, ...]] = (
    ("max_tokens", "maxTokens", "int"),
    ("temperature", "temperature", "number"),
    ("top_p", "topP", "number"),
    ("stop", "stopSequences", "texts"),
)
"""What stands in `inferenceConfig`."""

IMAGE: Final = {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
VIDEO: Final = {
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "mp4": "video/mp4",
    "webm": "video/webm",
    "flv": "video/x-flv",
    "mpeg": "video/mpeg",
    "mpg": "video/mpg",
    "wmv": "video/x-ms-wmv",
    "three_gp": "video/3gpp",
}
AUDIO: Final = {
    "mp3": "audio/mpeg",
    "opus": "audio/opus",
    "wav": "audio/wav",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "mp4": "audio/mp4",
    "ogg": "audio/ogg",
    "mkv": "audio/x-matroska",
    "mka": "audio/matroska",
    "x-aac": "audio/x-aac",
    "m4a": "audio/m4a",
    "mpeg": "audio/x-mpeg",
    "mpga": "audio/mpga",
    "pcm": "audio/pcm",
    "webm": "audio/webm",
}
DOCUMENT: Final = {
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
}
"""The words for formats, and the media types that they stand for."""

OTHER_TYPES: Final = {
    "image/jpg": "jpeg",
    "audio/mp3": "mp3",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/x-m4a": "m4a",
    "audio/x-flac": "flac",
    "text/x-markdown": "md",
}
"""Other media types of the same formats."""

_GIVEN: Final = frozenset(
    {
        "text",
        *(
            f"{kind}.{source}"
            for kind in ("image", "document", "audio")
            for source in ("inline", "file")
        ),
        "document.text",
    }
)

SURFACE: Final = Surface(
    name=NAME,
    path="/model/{model}/converse",
    model_keys=("modelId", "model"),
    model_at=(),
    models="/model/foundation-models",
    answer={"service_tier": "serviceTier.type"},
    answer_members={
        "id": "",
        "stop": "stopReason",
        "sequence": "additionalModelResponseFields.stop_sequence",
        "usage": "usage",
    },
    settings={
        **{field: f"inferenceConfig.{key}" for field, key, _ in SETTINGS},
        "stream": "stream",
        "system": "system",
        "tools": "toolConfig.tools",
        "tool_choice": "toolConfig.toolChoice",
        "top_k": "additionalModelRequestFields.top_k",
        "reasoning": "additionalModelRequestFields.thinking",
        "output": "outputConfig.textFormat",
        "output_name": "outputConfig.textFormat.structure.jsonSchema.name",
        "output_description": "outputConfig.textFormat.structure.jsonSchema.description",
        "metadata": "requestMetadata",
        "service_tier": "serviceTier.type",
    },
    told=TOLD,
    outputs=frozenset({"schema"}),
    minor=frozenset(
        {
            "additionalModelResponseFieldPaths",
            "bucketOwner",
            "cacheDetails",
            "context",
            "format",
            "latencyMs",
            "metrics",
            "modelId",
            "performanceConfig",
            "serviceTier",
            "serverToolUsage",
            "trace",
        }
    ),
    messages=MessageSupport(
        holds_calls=True,
        path="messages",
        bare_forms=frozenset(),
        answer_path="output.message",
        merges_turns=True,
        # "The text field in the ContentBlock object at messages.0.content.0 is blank."
        blank_text=False,
        # "A conversation must alternate between user and assistant roles."
        alternate=True,
        # "A conversation must start with a user message."
        user_first=True,
        # "final assistant content cannot end with trailing whitespace" of Claude.
        prefill="trimmed",
    ),
    # The role `system` in messages is of 2026, and few models take it.
    system=SystemSupport(slot="system", hoisted=True, later=False),
    calls=CallSupport(
        result="toolResult.content",
        made_up_prefix="tooluse_",
        id_prefix="tooluse_",
        stops=frozenset({"tool_use"}),
        # ToolUseId: [a-zA-Z0-9_.:-]+, 64 characters; Claude behind it takes neither dots nor
        # colons.
        id_rule=IdentifierRule(chars="a-zA-Z0-9_-", most=64),
        arguments="object",
    ),
    tools=ToolSupport(
        # ToolName: [a-zA-Z0-9_-]+, 64 characters.
        name_rule=IdentifierRule(chars="a-zA-Z0-9_-", most=64),
        member="toolSpec.",
        choices=frozenset({"auto", "required", "tool"}),
        needs_schema=True,
        # "The toolConfig field must be defined when using toolUse and toolResult content blocks."
        needed_by_history=True,
    ),
    schema=SchemaSupport(
        strict="sealed",
        output="sealed",
        object_root=True,
    ),
    media=MediaSupport(
        types={
            "image": frozenset(IMAGE.values()),
            "document": frozenset((*DOCUMENT.values(), *VIDEO.values())),
            "audio": frozenset((*AUDIO.values(), "audio/mp3", "audio/x-wav", "audio/x-m4a")),
        },
        accepted={
            "system": frozenset({"text"}),
            "user": _GIVEN,
            "result": _GIVEN - {"audio.inline", "audio.file"},
            "assistant": frozenset({"text"}),
        },
        paths={"name": "document.name"},
        citations=frozenset({"url", "quote"}),
    ),
    reasoning=ReasoningSupport(
        signed=True,
        controls=frozenset(
            {
                "switch",
                "adaptive",
                "effort",
                "budget",
                "effort_needs_switch",
                "show_needs_switch",
                "show",
            }
        ),
        # "Thinking may not be enabled when tool_choice forces tool use.", as at the maker's.
        bars_forced_tools="with_budget",
        bars_prefill=True,
        bars_sampling=True,
        budget_needs_thoughts=True,
        least_budget=1024,
        efforts=("low", "medium", "high", "xhigh", "max"),
        effort_path="outputConfig.effort",
    ),
    # InferenceConfiguration: maxTokens from 1, temperature and topP 0 to 1.
    limits=LimitSupport(least=1),
    sampling=SamplingSupport(
        temperature=(0, 1),
        ranges={"top_p": (0, 1)},
        most_stops=2500,
        blank_stops=False,
    ),
    stream=StreamSupport(
        media_type=MEDIA_TYPE,
        comments=False,
        one_open_part=True,
    ),
    cache=CacheSupport(
        marks=True,
        apart=True,
        # "A maximum of 4 blocks with cache_control may be provided."
        max_marks=4,
    ),
)

STOP: Final[dict[str, StopKind]] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "stop_sequence": "stop_sequence",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "model_context_window_exceeded": "context_window",
    "malformed_model_output": "malformed_call",
    "malformed_tool_use": "malformed_call",
}
STOP_FROM: Final[dict[StopKind, tuple[str, bool]]] = {
    **{kind: (word, True) for word, kind in STOP.items()},
    "refusal": ("content_filtered", False),
    "pause": ("end_turn", False),
    "other": ("end_turn", False),
}
"""Stop kind to wire word, and whether that word means the same."""

SERVICE_TIERS: Final = frozenset({"priority", "default", "flex", "reserved"})

ERROR: Final[dict[str, tuple[ErrorKind, int]]] = {
    "ValidationException": ("invalid_request", 400),
    "UnrecognizedClientException": ("authentication", 403),
    "InvalidSignatureException": ("authentication", 403),
    "ExpiredTokenException": ("authentication", 403),
    "MissingAuthenticationTokenException": ("authentication", 403),
    "IncompleteSignatureException": ("authentication", 403),
    "AccessDeniedException": ("permission", 403),
    "ResourceNotFoundException": ("not_found", 404),
    "ModelTimeoutException": ("timeout", 408),
    "ConflictException": ("conflict", 409),
    "ModelErrorException": ("server", 424),
    "ModelStreamErrorException": ("server", 424),
    "ThrottlingException": ("rate_limit", 429),
    "ModelNotReadyException": ("overloaded", 429),
    "ServiceQuotaExceededException": ("quota", 400),
    "InternalServerException": ("server", 500),
    "ServiceUnavailableException": ("overloaded", 503),
}
"""Types of errors. Those of authentication are the front end's, and in no service model."""

ERROR_FROM: Final[dict[ErrorKind, tuple[str, int]]] = {
    **{kind: (word, status) for word, (kind, status) in ERROR.items()},
    "authentication": ("UnrecognizedClientException", 403),
    "billing": ("AccessDeniedException", 403),
    "too_large": ("ValidationException", 400),
    "context_length": ("ValidationException", 400),
    "content_policy": ("ValidationException", 400),
}

STREAM_ERROR_FROM: Final[dict[ErrorKind, str]] = {
    **dict.fromkeys(ERROR_FROM, "validationException"),
    "server": "internalServerException",
    "timeout": "modelStreamErrorException",
    "rate_limit": "throttlingException",
    "quota": "throttlingException",
    "overloaded": "serviceUnavailableException",
}
"""The errors that a stream may end in (`ConverseStreamOutput`), by kind."""
