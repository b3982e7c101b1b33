"""What Gemini Interactions can say: its facts and the tables that both directions share."""

from typing import Final

from toolglot.ir import ErrorKind, StopKind
from toolglot.protocols.gemini_interactions._hosted_tools import HOSTED_TOOLS
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

NAME: Final = "gemini-interactions"

VARIANTS: Final = NAME + ":form"
"""Key of `extras` under which a value remembers which of several wire forms it had."""

TURN: Final = f"{NAME} turn"
TURN_BARE: Final = f"{NAME} turn, bare"
"""The forms of a message with a role, from before there were steps: with contents, or a string."""

CONFIG: Final[tuple[Setting, ...]] = (
    ("max_tokens", "max_output_tokens", "int"),
    ("temperature", "temperature", "number"),
    ("top_p", "top_p", "number"),
    ("stop", "stop_sequences", "texts"),
    ("seed", "seed", "int"),
)
"""What stands in `generation_config`."""

SETTINGS: Final[tuple[Setting, ...]] = (("stream", "stream", "bool"), ("store", "store", "bool"))

_MEDIA: Final = frozenset(
    {
        "text",
        *(
            f"{kind}.{source}"
            for kind in ("image", "document", "audio")
            for source in ("inline", "remote", "file")
        ),
    }
)

_ECHO: Final = frozenset(
    {
        "agent",
        "agent_config",
        "environment",
        "generation_config",
        "input",
        "labels",
        "previous_interaction_id",
        "response_format",
        "response_mime_type",
        "response_modalities",
        "safety_settings",
        "system_instruction",
        "tools",
        "webhook_config",
    }
)
"""What an answer repeats of its request."""

SURFACE: Final = Surface(
    name=NAME,
    earlier_keys=frozenset({"previous_interaction_id"}),
    path="/v1beta/interactions",
    model_keys=("model", "agent"),
    model_at=("model", "interaction.model"),
    models="/v1beta/models",
    headers=frozenset({"api-revision"}),
    answer={"created": "created", "service_tier": "service_tier"},
    answer_members={"stop": "status", "usage": "usage"},
    settings={
        **{field: f"generation_config.{key}" for field, key, _ in CONFIG},
        **{field: key for field, key, _ in SETTINGS},
        "system": "system_instruction",
        "tools": "tools",
        "tool_choice": "generation_config.tool_choice",
        "reasoning": "generation_config.thinking_level",
        "output": "response_format",
        "metadata": "labels",
        "service_tier": "service_tier",
    },
    minor=frozenset({"type", "id", "object", "updated", "signature", "code", "status", "role"}),
    messages=MessageSupport(
        path="input",
        answer_path="steps",
        bare_forms=frozenset({TURN_BARE}),
        plain_types=frozenset(
            {
                "user_input",
                "model_output",
                "thought",
                "function",
                "function_call",
                "function_result",
                "text",
            }
        ),
    ),
    system=SystemSupport(
        slot="system_instruction",
        hoisted=True,
        later=False,
    ),
    calls=CallSupport(
        result="result",
        results_in_order=True,
        arguments="object",
    ),
    tools=ToolSupport(
        # As functions of `generateContent`: "Must start with a letter or an underscore. Must be
        # a-z, A-Z, 0-9, or contain underscores, dots, colons and dashes".
        name_rule=IdentifierRule(chars="a-zA-Z0-9_.:-", first="a-zA-Z_", most=64),
        choices=frozenset({"auto", "required", "none", "tool", "allowed"}),
        strict_default=None,
        hosted=HOSTED_TOOLS,
    ),
    schema=SchemaSupport(
        tools="subset",
        output="subset",
        object_root=True,
    ),
    media=MediaSupport(
        # The enumerations in the types of google-genai 3.1.0 (ImageContent, DocumentContent), which
        # are open; a text is given as text.
        types={
            "image": frozenset(
                {
                    "image/png",
                    "image/jpeg",
                    "image/webp",
                    "image/heic",
                    "image/heif",
                    "image/gif",
                    "image/bmp",
                    "image/tiff",
                }
            ),
            "document": frozenset({"application/*", "text/csv", "video/*"}),
        },
        fields=frozenset({"detail"}),
        paths={"detail": "resolution"},
        accepted={
            "system": frozenset({"text"}),
            "user": _MEDIA,
            "result": _MEDIA,
            "assistant": frozenset({"text", "image.inline", "audio.inline"}),
        },
        citations=frozenset({"url"}),
    ),
    reasoning=ReasoningSupport(
        controls=frozenset({"effort", "show"}),
        efforts=("minimal", "low", "medium", "high"),
        returns_words=False,
    ),
    limits=LimitSupport(least=1),
    stream=StreamSupport(
        keep_alive=b": keep-alive\n\n",
        # google/adk-python#6832: pieces of calls that interleave were added to the last one.
        one_open_part=True,
    ),
)

RESPONSE_MINOR: Final = (
    SURFACE.minor
    | _ECHO
    | {
        "environment_id",
        "grounding_tool_count",
        "initial_input_tokens",
        *(
            f"{each}_tokens_by_modality"
            for each in ("input", "output", "cached", "tool_use", "thought")
        ),
    }
)

STOP: Final[dict[str, StopKind]] = {
    "completed": "end",
    "requires_action": "tool_calls",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "pause",
}
"""Status to stop kind. An answer with calls may be `completed`, too."""

STOP_FROM: Final[dict[StopKind, tuple[str, bool]]] = {
    "end": ("completed", True),
    "tool_calls": ("requires_action", True),
    "length": ("incomplete", True),
    "stop_sequence": ("completed", False),
    "context_window": ("incomplete", False),
    "content_filter": ("completed", False),
    "refusal": ("completed", False),
    # Only Google can go on: that takes a token of its own.
    "pause": ("incomplete", False),
    "malformed_call": ("incomplete", False),
    "other": ("incomplete", False),
}
"""Stop kind to status, and whether that means the same."""

FAILED: Final = "failed"

SERVICE_TIER: Final = {"standard": "default", "flex": "flex", "priority": "priority"}
SERVICE_TIER_FROM: Final = {unified: word for word, unified in SERVICE_TIER.items()}

ERROR: Final[dict[str, ErrorKind]] = {
    "invalid_request": "invalid_request",
    "invalid_argument": "invalid_request",
    "out_of_range": "invalid_request",
    "failed_precondition": "billing",
    "billing": "billing",
    "authentication": "authentication",
    "unauthenticated": "authentication",
    "permission_denied": "permission",
    "not_found": "not_found",
    "aborted": "conflict",
    "already_exists": "conflict",
    "conflict": "conflict",
    "request_too_large": "too_large",
    "context_length_exceeded": "context_length",
    "content_blocked": "content_policy",
    "rate_limit_exceeded": "rate_limit",
    "resource_exhausted": "rate_limit",
    "quota_exceeded": "quota",
    "internal": "server",
    "unknown": "server",
    "data_loss": "server",
    "unimplemented": "server",
    "unavailable": "overloaded",
    "gateway_timeout": "timeout",
    "deadline_exceeded": "timeout",
}
"""Words for errors. Google publishes no list; seen are `invalid_request` (June 2026),
`content_blocked` (LiveBench/LiveBench#476, July 2026) and, in its documentation of streams,
`gateway_timeout`. The others are those of google.rpc.Code, which the front end says in capitals,
and our own."""

ERROR_FROM: Final[dict[ErrorKind, tuple[str, int]]] = {
    "invalid_request": ("invalid_request", 400),
    "authentication": ("authentication", 401),
    "billing": ("billing", 400),
    "permission": ("permission_denied", 403),
    "not_found": ("not_found", 404),
    "conflict": ("conflict", 409),
    "too_large": ("request_too_large", 413),
    "context_length": ("context_length_exceeded", 400),
    "content_policy": ("content_blocked", 400),
    "rate_limit": ("rate_limit_exceeded", 429),
    "quota": ("quota_exceeded", 429),
    "overloaded": ("unavailable", 503),
    "timeout": ("gateway_timeout", 504),
    "server": ("internal", 500),
}
"""Error kind to word and status."""
