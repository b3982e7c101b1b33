"""What Anthropic Messages can say: its facts and the tables that both directions share."""

from typing import Final

from toolglot.ir import ErrorKind, StopKind
from toolglot.protocols.anthropic._hosted_tools import CLIENT_TOOLS, HOSTED_TOOLS
from toolglot.protocols.anthropic._told import TOLD
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
from toolglot.wire.fields import Setting

NAME: Final = "anthropic"

SETTINGS: Final[tuple[Setting, ...]] = (
    ("max_tokens", "max_tokens", "int"),
    ("temperature", "temperature", "number"),
    ("top_p", "top_p", "number"),
    ("top_k", "top_k", "int"),
    ("stop", "stop_sequences", "texts"),
    ("stream", "stream", "bool"),
)

_MEDIA: Final = frozenset(
    {
        "text",
        "image.inline",
        "image.remote",
        "image.file",
        "document.inline",
        "document.remote",
        "document.file",
        "document.text",
    }
)

SURFACE: Final = Surface(
    implied={"caller": {"type": "direct"}},
    name=NAME,
    path="/v1/messages",
    model_at=("model", "message.model"),
    headers=frozenset({"anthropic-version", "anthropic-beta"}),
    query=frozenset({"beta"}),
    answer_members={
        "id": "id",
        "stop": "stop_reason",
        "sequence": "stop_sequence",
        "usage": "usage",
    },
    settings={
        **{field: key for field, key, _ in SETTINGS},
        "system": "system",
        "tools": "tools",
        "tool_choice": "tool_choice",
        "parallel_tool_calls": "tool_choice.disable_parallel_tool_use",
        "reasoning": "thinking",
        "output": "output_config.format",
        "user": "metadata.user_id",
        "service_tier": "service_tier",
    },
    outputs=frozenset({"schema"}),
    requires_max_tokens=True,
    client_tools=CLIENT_TOOLS,
    found_tools={"tool_reference": "tool_name"},
    told=TOLD,
    minor=frozenset(
        {
            "cache_control",
            "cache_creation",
            "caller",
            "container",
            "context",
            "defer_loading",
            "diagnostics",
            "display",
            "eager_input_streaming",
            "inference_geo",
            "request_id",
            "server_tool_use",
            "service_tier",
            "type",
            "user_profile_id",
            "workspace_id",
        }
    ),
    messages=MessageSupport(
        holds_calls=True,
        path="messages",
        merges_turns=True,
        # Observed: Claude Code 2.1.197 gives text, call, text, thinking, call back with the calls
        # last.
        calls_last=True,
        # What is said after a call parts it from its result, a recorded answer of the API shows.
        text_before_calls=True,
        # "text content blocks must be non-empty", "must contain non-whitespace text".
        blank_text=False,
        # "final assistant content cannot end with trailing whitespace".
        prefill="trimmed",
        plain_types=frozenset({"text", "tool_use", "tool_result"}),
    ),
    system=SystemSupport(
        # Observed: Claude Code 2.1.197 has a hash of the first prompt in it.
        attributions=("x-anthropic-billing-header:",),
        slot="system",
        hoisted=True,
    ),
    calls=CallSupport(
        made_up_prefix="toolu_",
        id_prefix="toolu_",
        stops=frozenset({"tool_use"}),
        # The API wants ids to match ^[a-zA-Z0-9_-]+$ and names ^[a-zA-Z0-9_-]{1,128}$.
        id_rule=IdentifierRule(chars="a-zA-Z0-9_-"),
        arguments="object",
    ),
    tools=ToolSupport(
        name_rule=IdentifierRule(chars="a-zA-Z0-9_-", most=128),
        # "Too many strict tools (21)", "too many optional parameters (25)".
        most_strict=20,
        examples=True,
        defers=True,
        lists_all_required=True,
        hosted=HOSTED_TOOLS,
    ),
    schema=SchemaSupport(
        strict="sealed",
        # "too many optional parameters (25)"; a schema that has 24 of them alone is refused, too.
        most_optional=23,
        # "too many parameters with union types (17 parameters with type arrays or anyOf)".
        most_unions=16,
        output="sealed",
        object_root=True,
        # "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'".
        member_rule=IdentifierRule(chars="a-zA-Z0-9_.-", most=64),
    ),
    media=MediaSupport(
        # Base64ImageSourceParam and Base64PDFSourceParam of anthropic-sdk-python 2.8.0.
        types={
            "image": frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"}),
            "document": frozenset({"application/pdf"}),
        },
        # "all content must be type `text` if `is_error` is true".
        in_failures=False,
        paths={"name": "title"},
        accepted={
            "system": frozenset({"text"}),
            "user": _MEDIA,
            "result": _MEDIA,
            "assistant": frozenset({"text"}),
        },
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
        # "Thinking may not be enabled when tool_choice forces tool use." Adaptive thinking may.
        bars_forced_tools="with_budget",
        bars_prefill=True,
        # "Thinking isn't compatible with temperature or top_k modifications"; top_p from 0.95 on.
        bars_sampling=True,
        # "When `thinking` is enabled, a final `assistant` message must start with a thinking block
        # (preceeding the lastmost set of `tool_use` and `tool_result` blocks)", says the API.
        budget_needs_thoughts=True,
        least_budget=1024,
        efforts=("low", "medium", "high", "xhigh", "max"),
        effort_path="output_config.effort",
    ),
    # 0 fills the cache and gives an empty answer (anthropic-sdk-python 2.8.0, `max_tokens`).
    limits=LimitSupport(least=1, zero_counts=True),
    # "each stop sequence must contain non-whitespace".
    sampling=SamplingSupport(blank_stops=False),
    stream=StreamSupport(
        # A ping does not reset the watchdog of Claude Code 2.1.197; a delta without a reason does.
        keep_alive=(
            b"event: message_delta\n"
            b'data: {"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":null},'
            b'"usage":{"output_tokens":0}}\n\n'
        ),
        # Claude Code 2.1.197 takes closed blocks for an answer; opencode 1.18.33 asks again when
        # the provider is overloaded, and not after an `api_error`.
        cut_leaves_part_open=True,
        retried_error="overloaded",
        one_open_part=True,
    ),
    cache=CacheSupport(
        marks=True,
        max_marks=4,
        whole="cache_control",
    ),
)

STOP: Final[dict[str, StopKind]] = {
    "end_turn": "end",
    "stop_sequence": "stop_sequence",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "refusal",
    "sensitive": "content_filter",
    "pause_turn": "pause",
    "model_context_window_exceeded": "context_window",
}
STOP_FROM: Final[dict[StopKind, tuple[str, bool]]] = {
    **{kind: (word, True) for word, kind in STOP.items()},
    "content_filter": ("refusal", False),
    "malformed_call": ("end_turn", False),
    "other": ("end_turn", False),
}
"""Stop kind to wire word, and whether that word means the same."""

SERVICE_TIER: Final = {"auto": "auto", "standard_only": "default"}
SERVICE_TIER_FROM: Final = {unified: word for word, unified in SERVICE_TIER.items()}

ERROR: Final[dict[str, tuple[ErrorKind, int]]] = {
    "invalid_request_error": ("invalid_request", 400),
    "authentication_error": ("authentication", 401),
    "billing_error": ("billing", 402),
    "permission_error": ("permission", 403),
    "not_found_error": ("not_found", 404),
    "conflict_error": ("conflict", 409),
    "request_too_large": ("too_large", 413),
    "rate_limit_error": ("rate_limit", 429),
    "api_error": ("server", 500),
    "timeout_error": ("timeout", 504),
    "overloaded_error": ("overloaded", 529),
}
ERROR_FROM: Final[dict[ErrorKind, tuple[str, int]]] = {
    **{kind: (word, status) for word, (kind, status) in ERROR.items()},
    "context_length": ("invalid_request_error", 400),
    "content_policy": ("invalid_request_error", 400),
    "quota": ("rate_limit_error", 429),
}
