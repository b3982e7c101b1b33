"""The HTTP API around Gemini Interactions: keys, models, and how it is recognised.

Shapes and paths were read in the types of the `google-genai` package 3.1.0 (2026-11-16). Models are
listed, and tokens counted, as for `generateContent`; there is no count of an interaction.
"""

from typing import Any, Final

from toolglot.api import Api, ModelInfo, StoredAnswers
from toolglot.ir import Json
from toolglot.protocols.gemini_interactions._steps import THOUGHT, USER, are_steps


def _model(model: ModelInfo) -> Json:
    return {
        "name": f"models/{model.name}",
        "displayName": model.name,
        "inputTokenLimit": model.context_window,
        "outputTokenLimit": model.max_output,
        "supportedGenerationMethods": ["createInteraction"],
    }


def _is_response(value: Json) -> bool:
    if value.get("object") == "interaction":
        return True
    return isinstance(value.get("steps"), list) and isinstance(value.get("status"), str)


def _message(value: Any) -> Json:
    content = [{"type": "text", "text": value}] if isinstance(value, str) else value
    return {"type": USER, "content": content}


API: Final = Api(
    key_header="x-goog-api-key",
    key_prefix="",
    client_headers=frozenset({"api-revision"}),
    client_paths=r"/interactions(?:/|$)",
    model=_model,
    model_list=lambda models: {"models": [_model(model) for model in models]},
    aliases=("/v1/interactions",),
    state=StoredAnswers(
        previous="previous_interaction_id",
        output="steps",
        member="interaction",
        final_events=("interaction.completed",),
        # "Steps usually absent: the reader puts them together", as Google's own client does.
        whole_at_end=False,
        id_prefix="v1_",
        says_stored=False,
        call_id="id",
        results="_result",
        reasoning=(THOUGHT, "signature"),
        bare_reasoning=True,
        message=_message,
        is_item=lambda value: are_steps([value]),
        deleted=lambda _name: {},
    ),
    is_response=_is_response,
    is_event=lambda value: str(value.get("event_type")).startswith(("interaction.", "step.")),
    calls_at=("steps",),
    answer_keys=("steps", "step", "delta"),
    # Besides Google, gateways that speak all protocols.
    imitated=6,
    short_name="interactions",
    sdk="google-genai",
    sdk_adds="/v1beta",
    tool_style="openai",
    error_style="openai",
)
