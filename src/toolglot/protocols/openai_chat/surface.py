"""What OpenAI Chat Completions can say: its facts and the tables that both directions share."""

from typing import Final

from toolglot.ir import ErrorKind, Extras, Json, StopKind
from toolglot.protocols.openai_chat._hosted_tools import HOSTED_TOOLS
from toolglot.surface import (
    CacheSupport,
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
from toolglot.wire.fields import Fields, Setting

NAME: Final = "openai-chat"

VARIANTS: Final = NAME + "/spelling"
"""Key of `extras` under which a value remembers which of several wire forms it had."""

SETTINGS: Final[tuple[Setting, ...]] = (
    ("temperature", "temperature", "number"),
    ("top_p", "top_p", "number"),
    ("top_k", "top_k", "int"),
    ("frequency_penalty", "frequency_penalty", "number"),
    ("presence_penalty", "presence_penalty", "number"),
    ("seed", "seed", "int"),
    ("stop", "stop", "texts"),
    ("n", "n", "int"),
    ("logprobs", "logprobs", "bool"),
    ("top_logprobs", "top_logprobs", "int"),
    ("logit_bias", "logit_bias", "object"),
    ("verbosity", "verbosity", "text"),
    ("metadata", "metadata", "object"),
    ("user", "user", "text"),
    ("safety_identifier", "safety_identifier", "text"),
    ("cache_key", "prompt_cache_key", "text"),
    ("cache_retention", "prompt_cache_retention", "text"),
    ("store", "store", "bool"),
    ("stream", "stream", "bool"),
    ("parallel_tool_calls", "parallel_tool_calls", "bool"),
)

FORMATS: Final = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"}
)
"""Formats in schemas: https://platform.openai.com/docs/guides/structured-outputs (2026-11-15)."""

SURFACE: Final = Surface(
    answer_form_marks=(b'"functions"', b'"function_call"'),
    newest_form_marks=(b'"tool_calls"',),
    name=NAME,
    path="/v1/chat/completions",
    answer={"created": "created", "service_tier": "service_tier"},
    answer_members={
        "id": "id",
        "stop": "choices[{}].finish_reason",
        "usage": "usage",
        "logprobs": "choices[{}].logprobs",
        "citations": "choices[{}].message.annotations",
    },
    headers=frozenset({"openai-beta"}),
    account_headers=frozenset({"openai-organization", "openai-project"}),
    settings={
        **{field: key for field, key, _ in SETTINGS},
        "max_tokens": "max_tokens",
        "include_usage": "stream_options.include_usage",
        "tools": "tools",
        "tool_choice": "tool_choice",
        "reasoning": "reasoning_effort",
        "output": "response_format",
        "output_name": "response_format.json_schema.name",
        "output_description": "response_format.json_schema.description",
        "output_strict": "response_format.json_schema.strict",
        "service_tier": "service_tier",
    },
    minor=frozenset(
        {
            # of OpenAI
            "object",
            "role",
            "type",
            "index",
            "system_fingerprint",
            "obfuscation",
            "include_obfuscation",
            "total_tokens",
            "audio_tokens",
            "image_tokens",
            "text_tokens",
            "accepted_prediction_tokens",
            "rejected_prediction_tokens",
            # of others; `function_call` is left over only where it repeats a tool call
            "function_call",
            "prompt_cache_hit_tokens",
            "prompt_cache_miss_tokens",
            "cached_tokens",
            "cache_write_tokens",
            "cost",
            "cost_details",
            "is_byok",
            "provider",
            "native_finish_reason",
            "prompt_filter_results",
            "content_filter_results",
            "timings",
            "x_groq",
            "stop_reason",
            "token_ids",
            "prompt_token_ids",
            "routed_experts",
            "metrics",
        }
    ),
    messages=MessageSupport(
        path="messages",
        names=True,
        refusal="refusal",
        answer_path="choices[{}].message",
        plain_types=frozenset({"text", "function"}),
        ordered=False,
        many_choices=True,
    ),
    system=SystemSupport(
        developer_role=True,
    ),
    calls=CallSupport(
        member="tool_calls",
        id_prefix="call_",
        stops=frozenset({"tool_calls", "function_call"}),
        # "messages[10].tool_calls[0].id: string too long"; older models and some servers stop at
        # 40.
        id_rule=IdentifierRule(most=64),
    ),
    tools=ToolSupport(
        member="function.",
        explicit_strict=True,
        # "Must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64."
        name_rule=IdentifierRule(chars="a-zA-Z0-9_-", most=64),
        kinds=frozenset({"function", "custom"}),
        # `any` is how Mistral and its clients say `required`.
        choices=frozenset({"auto", "required", "none", "tool", "allowed", "any"}),
        wants_true_required=True,
        hosted=HOSTED_TOOLS,
    ),
    schema=SchemaSupport(
        strict="closed",
        formats=FORMATS,
        object_root=True,
        # "In context=(), object schema missing properties", "array schema missing items".
        spelled_out=True,
    ),
    media=MediaSupport(
        # https://developers.openai.com/api/docs/guides/file-inputs (2026-11): "Chat Completions
        # accepts only PDF files"; `input_audio.format` is wav or mp3.
        types={
            "image": frozenset({"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"}),
            "document": frozenset({"application/pdf"}),
            "audio": frozenset(
                {f"audio/{form}" for form in ("wav", "mp3", "mpeg", "x-wav", "wave", "vnd.wave")}
            ),
        },
        fields=frozenset({"name", "detail"}),
        paths={"name": "file.filename", "detail": "image_url.detail"},
        accepted={
            "system": frozenset({"text"}),
            "user": frozenset(
                {
                    "text",
                    "image.inline",
                    "image.remote",
                    "audio.inline",
                    "document.inline",
                    "document.file",
                }
            ),
            "result": frozenset({"text"}),
            "assistant": frozenset({"text", "refusal"}),
        },
        citations=frozenset({"url"}),
    ),
    reasoning=ReasoningSupport(
        controls=frozenset({"effort"}),
        efforts=("none", "minimal", "low", "medium", "high", "xhigh", "max"),
        takes_unsigned=True,
        spellings=frozenset(
            {
                "chat_template_kwargs",
                "enable_thinking",
                "reasoning",
                "thinking",
                "thinking_budget",
            }
        ),
    ),
    limits=LimitSupport(
        least=1,
        spellings=("max_completion_tokens", "max_tokens"),
    ),
    stream=StreamSupport(
        keep_alive=b": keep-alive\n\n",
        usage_event=rb'(?=.*"choices"\s*:\s*\[\s*\])(?=.*"usage"\s*:\s*\{)',
    ),
    # OpenAI takes no marks. OpenRouter does for Claude: on content parts and on tools, not on calls
    # (https://openrouter.ai/docs/client-sdks/typescript, ChatContentText, 2026-11-16).
    cache=CacheSupport(parts=frozenset({"text", "image", "document", "audio", "tool_result"})),
)

STOP: Final[dict[str, StopKind]] = {
    "function_call": "tool_calls",
    "stop": "end",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}
STOP_FROM: Final[dict[StopKind, tuple[str, bool]]] = {
    **{kind: (word, True) for word, kind in STOP.items()},
    "stop_sequence": ("stop", False),
    "refusal": ("content_filter", False),
    "pause": ("stop", False),
    "context_window": ("length", False),
    "malformed_call": ("stop", False),
    "other": ("stop", False),
}
"""Stop kind to wire word, and whether that word means the same."""

SERVICE_TIERS: Final = frozenset({"auto", "default", "flex", "priority"})
"""The tiers that mean something elsewhere; other words stay among the extras."""

ERROR: Final[dict[str, tuple[ErrorKind, int]]] = {
    "invalid_request_error": ("invalid_request", 400),
    "BadRequestError": ("invalid_request", 400),
    "authentication_error": ("authentication", 401),
    "invalid_api_key": ("authentication", 401),
    "billing_not_active": ("billing", 402),
    "permission_error": ("permission", 403),
    "not_found_error": ("not_found", 404),
    "NotFoundError": ("not_found", 404),
    "model_not_found": ("not_found", 404),
    "conflict_error": ("conflict", 409),
    "request_too_large": ("too_large", 413),
    "context_length_exceeded": ("context_length", 400),
    "exceed_context_size_error": ("context_length", 400),
    "content_policy_violation": ("content_policy", 400),
    "content_filter": ("content_policy", 400),
    "rate_limit_exceeded": ("rate_limit", 429),
    "rate_limit_error": ("rate_limit", 429),
    "insufficient_quota": ("quota", 429),
    "server_error": ("server", 500),
    "internal_server_error": ("server", 500),
    "InternalServerError": ("server", 500),
    "server_is_overloaded": ("overloaded", 503),
    "unavailable_error": ("overloaded", 503),
    "timeout": ("timeout", 504),
}
"""The words of `code` and `type` that tell kinds apart, with the status they usually come with."""

ERROR_FROM: Final[dict[ErrorKind, tuple[str, str | None, int]]] = {
    "invalid_request": ("invalid_request_error", None, 400),
    "authentication": ("authentication_error", "invalid_api_key", 401),
    "billing": ("insufficient_quota", "billing_not_active", 402),
    "permission": ("permission_error", None, 403),
    "not_found": ("invalid_request_error", "model_not_found", 404),
    "conflict": ("conflict_error", None, 409),
    "too_large": ("invalid_request_error", "request_too_large", 413),
    "context_length": ("invalid_request_error", "context_length_exceeded", 400),
    "content_policy": ("invalid_request_error", "content_policy_violation", 400),
    "rate_limit": ("rate_limit_exceeded", "rate_limit_exceeded", 429),
    "quota": ("insufficient_quota", "insufficient_quota", 429),
    "overloaded": ("server_error", "server_is_overloaded", 503),
    "timeout": ("server_error", "timeout", 504),
    "server": ("server_error", None, 500),
}
"""Error kind to type, code and status."""

_PLAIN: Final[Json] = {}


def with_variants(extras: Extras, variants: Json) -> Extras:
    """Extras that also remember the wire form of the value."""
    return {**extras, VARIANTS: variants}


def variants_of(extras: Extras) -> Json:
    """What `with_variants` remembered."""
    return extras.get(VARIANTS, _PLAIN)


def decode_tier(fields: Fields) -> str | None:
    """The service tier of a request or response, if it is one that others know."""
    tier = fields.peek("service_tier")
    return fields.text("service_tier") if type(tier) is str and tier in SERVICE_TIERS else None
