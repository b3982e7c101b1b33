"""What OpenAI Responses can say: its facts and the tables that both directions share."""

from typing import Final

from toolglot.ir import ErrorKind, Json, StopKind
from toolglot.protocols.openai_responses._hosted_tools import CLIENT_TOOLS, HOSTED_TOOLS
from toolglot.protocols.openai_responses._told import TOLD
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

NAME: Final = "openai-responses"

EASY_BARE: Final = f"{NAME} without type, bare"
"""The spelling of a message with a string as its content, and without its type."""

SETTINGS: Final[tuple[Setting, ...]] = (
    ("max_tokens", "max_output_tokens", "int"),
    ("temperature", "temperature", "number"),
    ("top_p", "top_p", "number"),
    ("top_logprobs", "top_logprobs", "int"),
    ("parallel_tool_calls", "parallel_tool_calls", "bool"),
    ("stream", "stream", "bool"),
    ("metadata", "metadata", "object"),
    ("user", "user", "text"),
    ("safety_identifier", "safety_identifier", "text"),
    ("cache_key", "prompt_cache_key", "text"),
    ("cache_retention", "prompt_cache_retention", "text"),
    ("store", "store", "bool"),
)
SERVICE_TIERS: Final = frozenset({"auto", "default", "flex", "priority"})
"""The tiers that are called the same everywhere."""

_MEDIA: Final = frozenset(
    {
        "text",
        "image.inline",
        "image.remote",
        "image.file",
        "document.inline",
        "document.remote",
        "document.file",
    }
)

FORMATS: Final = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"}
)
"""Formats in schemas: https://platform.openai.com/docs/guides/structured-outputs (2026-11-15)."""

SURFACE: Final = Surface(
    name=NAME,
    earlier_keys=frozenset({"previous_response_id", "conversation"}),
    template_keys=frozenset({"prompt"}),
    told=TOLD,
    path="/v1/responses",
    model_at=("model", "response.model"),
    headers=frozenset({"openai-beta"}),
    account_headers=frozenset({"openai-organization", "openai-project"}),
    answer={"created": "created_at", "service_tier": "service_tier"},
    answer_members={"stop": "status", "usage": "usage", "logprobs": "output"},
    settings={
        **{field: key for field, key, _ in SETTINGS},
        "system": "instructions",
        "tools": "tools",
        "tool_choice": "tool_choice",
        "reasoning": "reasoning",
        "output": "text.format",
        "output_name": "text.format.name",
        "output_description": "text.format.description",
        "output_strict": "text.format.strict",
        "verbosity": "text.verbosity",
        "logprobs": "include",
        "service_tier": "service_tier",
    },
    client_tools=CLIENT_TOOLS,
    minor=frozenset(
        {
            "type",
            "id",
            "status",
            "object",
            "function",
            "client_metadata",
            "created_by",
            "defer_loading",
            "phase",
            "stream_options",
            "prompt_cache_breakpoint",
            "prompt_cache_options",
        }
    ),
    messages=MessageSupport(
        path="input",
        answer_path="output",
        bare_forms=frozenset({NAME, EASY_BARE}),
        plain_types=frozenset(
            {
                "message",
                "reasoning",
                "function",
                "function_call",
                "function_call_output",
                "input_text",
                "output_text",
            }
        ),
    ),
    system=SystemSupport(
        slot="instructions",
        developer_role=True,
    ),
    calls=CallSupport(
        result="output",
        id_prefix="fc_",
        # `call_id`: 1 to 64 characters of any kind; `name`: the same length and ^[a-zA-Z0-9_-]+$.
        id_rule=IdentifierRule(most=64),
    ),
    tools=ToolSupport(
        explicit_strict=True,
        defers=True,
        name_rule=IdentifierRule(chars="a-zA-Z0-9_-", most=64),
        kinds=frozenset({"function", "custom", "namespace"}),
        choices=frozenset({"auto", "required", "none", "tool", "allowed"}),
        strict_default=True,
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
        # https://developers.openai.com/api/docs/guides/file-inputs (2026-11): PDF, text, code and
        # what offices write; a video is an "unsupported MIME type".
        types={
            "image": frozenset({"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"}),
            "document": frozenset({"application/*", "text/*"}),
        },
        fields=frozenset({"name", "detail"}),
        paths={"name": "filename"},
        accepted={
            "system": frozenset({"text"}),
            "user": _MEDIA,
            "result": _MEDIA,
            "assistant": frozenset({"text", "refusal"}),
        },
        citations=frozenset({"url"}),
    ),
    reasoning=ReasoningSupport(
        controls=frozenset({"effort", "summary"}),
        efforts=("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    ),
    limits=LimitSupport(least=1),
    stream=StreamSupport(
        # Codex 0.166.0 counts any event, known or not, and no comment.
        keep_alive=b'event: keepalive\ndata: {"type":"keepalive"}\n\n',
        # Codex makes room in a conversation only when told so by a response that failed.
        errors_inside=frozenset({"context_length"}),
        # Agno 2.0 knows one open call, and adds what comes to the last one (read 2026-11-16).
        one_open_part=True,
    ),
)

ECHO: Final[Json] = {
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "background": False,
    "completed_at": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": False,
    "text": {"format": {"type": "text"}},
    "top_logprobs": 0,
    "truncation": "disabled",
    "user": None,
}
"""What a response repeats of its request, with what it says where the request said nothing."""

RESPONSE_MINOR: Final = (
    SURFACE.minor | ECHO.keys() | {"prompt_cache_retention", "billing", "moderation"}
)

STOP: Final[dict[str, StopKind]] = {
    "completed": "end",
    "max_output_tokens": "length",
    "content_filter": "content_filter",
}
"""Status, or the reason for `incomplete`, to stop kind. A completed response may hold calls."""

PAUSED: Final = "end_turn: false"
"""How a response that asks to be asked again is told, beside its status."""

STATUSES: Final = frozenset(
    {"completed", "incomplete", "failed", "cancelled", "queued", "in_progress"}
)

STOP_FROM: Final[dict[StopKind, tuple[str, str | None, bool]]] = {
    "end": ("completed", None, True),
    "tool_calls": ("completed", None, True),
    "length": ("incomplete", "max_output_tokens", True),
    "content_filter": ("incomplete", "content_filter", True),
    "refusal": ("incomplete", "content_filter", False),
    "context_window": ("incomplete", "max_output_tokens", False),
    "stop_sequence": ("completed", None, False),
    "pause": ("completed", None, True),
    "malformed_call": ("completed", None, False),
    "other": ("completed", None, False),
}
"""Stop kind to status, the reason for `incomplete`, and whether that means the same."""

ERROR_CODE: Final[dict[str, ErrorKind]] = {
    "context_length_exceeded": "context_length",
    "rate_limit_exceeded": "rate_limit",
    "insufficient_quota": "quota",
    "billing_hard_limit_reached": "billing",
    "invalid_api_key": "authentication",
    "model_not_found": "not_found",
    "content_policy_violation": "content_policy",
    "image_content_policy_violation": "content_policy",
    "bio_policy": "content_policy",
    "invalid_prompt": "invalid_request",
    "server_is_overloaded": "overloaded",
    "slow_down": "overloaded",
    "server_error": "server",
}
ERROR_TYPE: Final[dict[str, ErrorKind]] = {
    "authentication_error": "authentication",
    "permission_error": "permission",
    "not_found_error": "not_found",
    "rate_limit_error": "rate_limit",
    "insufficient_quota": "quota",
    "usage_limit_reached": "quota",
    "exceed_context_size_error": "context_length",
    "service_unavailable_error": "overloaded",
}
"""Types that say more than the status; `invalid_request_error` and `server_error` do not."""

ERROR_FROM: Final[dict[ErrorKind, tuple[str, str | None, int]]] = {
    "invalid_request": ("invalid_request_error", None, 400),
    "authentication": ("authentication_error", "invalid_api_key", 401),
    "billing": ("insufficient_quota", "billing_hard_limit_reached", 402),
    "permission": ("permission_error", None, 403),
    "not_found": ("invalid_request_error", "model_not_found", 404),
    "conflict": ("invalid_request_error", None, 409),
    "too_large": ("invalid_request_error", None, 413),
    "context_length": ("invalid_request_error", "context_length_exceeded", 400),
    "content_policy": ("invalid_request_error", "content_policy_violation", 400),
    "rate_limit": ("rate_limit_error", "rate_limit_exceeded", 429),
    "quota": ("insufficient_quota", "insufficient_quota", 429),
    "overloaded": ("service_unavailable_error", "server_is_overloaded", 503),
    "timeout": ("server_error", None, 504),
    "server": ("server_error", None, 500),
}
"""Error kind to type, code and status."""

FAILED_CODE: Final[dict[ErrorKind, str]] = {
    "context_length": "context_length_exceeded",
    "rate_limit": "rate_limit_exceeded",
    "overloaded": "server_is_overloaded",
    "quota": "insufficient_quota",
    "billing": "insufficient_quota",
    "conflict": "server_error",
    "timeout": "server_error",
    "server": "server_error",
}
"""Error kind to the code of a failed response; the others are `invalid_prompt`, which is final."""
