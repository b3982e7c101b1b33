"""The HTTP API around OpenAI Responses: models, counts, and how it is recognised.

Counting was read in the types of the `openai` package 3.49.0; what a list of models needs was found
by leaving out fields until Codex 0.166.0 complained (2026-11-15).
"""

from typing import Final

from toolglot.api import Api, CountEndpoint, ModelInfo, StoredAnswers
from toolglot.ir import Json


def _model(model: ModelInfo) -> Json:
    """One model as Codex wants it: what is left out makes it use plain function tools."""
    efforts = model.efforts or ("low", "medium", "high")
    return {
        "slug": model.name,
        "display_name": model.name,
        "description": model.name,
        "default_reasoning_level": "medium" if "medium" in efforts else efforts[0],
        "supported_reasoning_levels": [
            {"effort": effort, "description": f"{effort} effort"} for effort in efforts
        ],
        "shell_type": "unified_exec",
        "visibility": "list",
        "supported_in_api": True,
        "priority": 1,
        "base_instructions": "",
        "support_verbosity": False,
        "supports_parallel_tool_calls": True,
        "truncation_policy": {"mode": "tokens", "limit": 10_000},
        "experimental_supported_tools": [],
        "input_modalities": ["text", "image"],
        "context_window": model.context_window,
    }


API: Final = Api(
    # Codex says its version where it asks for models; other clients ask as those of Chat do.
    client_query=frozenset({"client_version"}),
    client_paths="/responses",
    model=_model,
    model_list=lambda models: {"models": [_model(model) for model in models]},
    count=CountEndpoint(
        path="/v1/responses/input_tokens",
        answer="input_tokens",
        constants={"object": "response.input_tokens"},
        keys=frozenset(
            (
                "model", "input", "instructions", "tools", "tool_choice", "reasoning", "text",
                "parallel_tool_calls", "truncation", "previous_response_id", "conversation",
            )
        ),
    ),
    state=StoredAnswers(
        previous="previous_response_id",
        conversation="conversation",
        output="output",
        member="response",
        final_events=("response.completed", "response.incomplete"),
        id_prefix="resp_",
        references=True,
        call_id="call_id",
        results="_output",
        reasoning=("reasoning", "encrypted_content"),
        message=lambda text: {"type": "message", "role": "user", "content": text},
        sockets=True,
        deleted=lambda name: {"id": name, "object": "response", "deleted": True},
    ),
    is_response=lambda value: isinstance(value.get("output"), list),
    is_event=lambda value: str(value.get("type")).startswith("response."),
    fragments={"call_id": lambda value: {"output": [value]}},
    calls_at=("output",),
    answer_keys=("output", "item"),
    imitated=4,
    short_name="responses",
    sdk="openai",
    tool_style="openai",
    error_style="openai",
)  # fmt: skip
