"""What Ollama can say: its facts and the tables that both directions share."""

from typing import Final

from toolglot.ir import ErrorKind, StopKind
from toolglot.surface import (
    CallSupport,
    MediaSupport,
    MessageSupport,
    ReasoningSupport,
    SchemaSupport,
    StreamSupport,
    Surface,
    ToolSupport,
)
from toolglot.wire.fields import Setting

NAME: Final = "ollama"

SETTINGS: Final[tuple[Setting, ...]] = (
    ("stream", "stream", "bool"),
    ("logprobs", "logprobs", "bool"),
    ("top_logprobs", "top_logprobs", "int"),
)
OPTIONS: Final[tuple[Setting, ...]] = (
    ("temperature", "temperature", "number"),
    ("top_p", "top_p", "number"),
    ("top_k", "top_k", "int"),
    ("frequency_penalty", "frequency_penalty", "number"),
    ("presence_penalty", "presence_penalty", "number"),
    ("seed", "seed", "int"),
)
"""Settings under `options`. `num_predict` and `stop` are read apart, for their odd values."""

_HARDWARE: Final = frozenset(
    {
        "embedding_only",
        "f16_kv",
        "keep_alive",
        "logits_all",
        "low_vram",
        "main_gpu",
        "num_batch",
        "num_ctx",
        "num_gpu",
        "num_thread",
        "numa",
        "use_mlock",
        "use_mmap",
        "vocab_only",
    }
)
"""How a model is loaded, which is nobody's business where it is served."""

_MEASURED: Final = frozenset(
    {"total_duration", "load_duration", "prompt_eval_duration", "eval_duration"}
)

_EMPTY: Final = frozenset({"id", "tool_call_id", "thinking", "done_reason"})
"""What is left of these is empty: see `filled`."""

_MEDIA: Final = frozenset({"text", "image.inline"})

SURFACE: Final = Surface(
    name=NAME,
    path="/api/chat",
    models="/api/tags",
    answer={"created": "created_at"},
    answer_members={
        "id": "",
        "stop": "done_reason",
        "usage": "eval_count",
        "logprobs": "logprobs",
    },
    settings={
        **{field: key for field, key, _ in SETTINGS},
        **{field: f"options.{key}" for field, key, _ in OPTIONS},
        "max_tokens": "options.num_predict",
        "stop": "options.stop",
        "tools": "tools",
        "reasoning": "think",
        "output": "format",
    },
    minor=_HARDWARE | _MEASURED | _EMPTY | {"type", "index", "done"},
    messages=MessageSupport(
        path="messages",
        answer_path="message",
        ordered=False,
    ),
    calls=CallSupport(
        member="tool_calls",
        matched_by="name",
        results_in_order=True,
        arguments="object",
    ),
    tools=ToolSupport(
        member="function.",
        choices=frozenset(),
        strict_default=None,
    ),
    schema=SchemaSupport(
        # Its server reads every property as an object (api/types.go, ToolProperty).
        booleans=False,
        object_root=True,
    ),
    media=MediaSupport(
        member="images",
        fields=frozenset(),
        accepted={
            "system": frozenset({"text"}),
            "user": _MEDIA,
            "result": _MEDIA,
            # Servers may show pictures, but the official client cannot read them.
            "assistant": frozenset({"text"}),
        },
    ),
    reasoning=ReasoningSupport(
        controls=frozenset({"switch", "effort"}),
        efforts=("low", "medium", "high"),
        takes_unsigned=True,
    ),
    stream=StreamSupport(
        media_type="application/x-ndjson",
        whole_calls=True,
        by_default=True,
    ),
)

STOP: Final[dict[str, StopKind]] = {
    "stop": "end",
    "length": "length",
}
STOP_FROM: Final[dict[StopKind, tuple[str, bool]]] = {
    **{kind: (word, True) for word, kind in STOP.items()},
    "tool_calls": ("stop", True),
    "stop_sequence": ("stop", False),
    "content_filter": ("stop", False),
    "refusal": ("stop", False),
    "pause": ("stop", False),
    "context_window": ("length", False),
    "malformed_call": ("stop", False),
    "other": ("stop", False),
}
"""Stop kind to wire word, and whether that word means the same."""

ERROR_WORDS: Final[tuple[tuple[str, ErrorKind], ...]] = (
    ("exceeds the context length", "context_length"),
    ("exceeds maximum context length", "context_length"),
    ("usage limit", "quota"),
    ("server busy", "overloaded"),
    ("try pulling it first", "not_found"),
)
"""Words that tell the kind of an error better than its status does."""

ERROR_STATUS: Final[dict[ErrorKind, int]] = {
    "invalid_request": 400,
    "authentication": 401,
    "billing": 402,
    "permission": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "context_length": 400,
    "content_policy": 400,
    "rate_limit": 429,
    "quota": 429,
    "overloaded": 503,
    "timeout": 504,
    "server": 500,
}
