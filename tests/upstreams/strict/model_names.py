"""Names of models: a provider refuses those that it does not have."""

import re
from collections.abc import Iterator, Mapping

from tests.upstreams.strict.refusal import Ask, Refusal

_DATE = r"(-20\d\d-?\d\d-?\d\d|-\d{4})?"
_OPENAI = (
    r"(ft:)?(gpt-3\.5-turbo(-16k|-instruct)?|gpt-4(\.\d)?(o|-turbo|-vision-preview)?|gpt-[5-9](\.\d)?"
    r"|o[134]|chatgpt-4o|codex|gpt-audio|gpt-realtime|computer-use-preview)"
    r"(-(mini|nano|pro|turbo|preview|audio|search|latest|chat|codex|max|deep|research|api|sol|terra"
    r"|luna|astra|spark|cyber|rosalind|realtime|transcribe))*" + _DATE + r"(-preview)?(:.*)?"
)
_CLAUDE = (
    r"claude-(3(-5|-7)?-(opus|sonnet|haiku)|(opus|sonnet|haiku|fable|mythos)-\d(-\d{1,2})?)"
    r"(-latest|-\d{8})?(\[1m\])?"
)
_GEMINI = (
    r"(gemini|gemma)-(\d(\.\d)?-)?(pro|flash|\d+b-it)?(-lite|-image|-preview|-exp|-latest|-thinking|-tts|"
    r"-customtools|-generation|-live|-native-audio|-\d+b-it|-it|-\d{3}|-\d\d-\d\d(-\d{4})?|-\d{1,2}-20\d\d)*"
)
_NAMES: Mapping[str, re.Pattern[str]] = {
    "openai": re.compile(_OPENAI),
    "anthropic": re.compile(_CLAUDE),
    "google": re.compile(_GEMINI),
    "deepseek": re.compile(r"deepseek-(chat|reasoner|v4-(pro|flash)(-vision-exp)?|flash|coder)"),
    "mistral": re.compile(
        r"(open-)?(mistral|ministral|codestral|devstral|magistral|pixtral|voxtral|mixtral)"
        r"(-(?!does)[a-z0-9.]+)*"
    ),
}
"""How names of models are built, of providers that have only their own."""
_SAYS: Mapping[str, tuple[str, int, str]] = {
    "openai-chat": (
        "OAI-002", 404, "The model `{model}` does not exist or you do not have access to it.",
    ),
    "openai-responses": ("OAI-003", 400, "The requested model '{model}' does not exist."),
    "anthropic": ("AN-014", 404, "model: {model}"),
    "gemini-interactions": ("GE-005", 404, "models/{model} is not found for API version v1beta"),
    "gemini": (
        "GE-005", 404,
        ("models/{model} is not found for API version v1beta, or is not supported for "
        "generateContent. Call ModelService.ListModels to see the list of available models and "
        "their supported methods."),
    ),
}  # fmt: skip
_OWN_WORDS: Mapping[str, tuple[str, int, str]] = {
    "deepseek": (
        "DS-03", 400,
        ("The supported API model names are deepseek-v4-pro or deepseek-v4-flash, but you passed "
        "{model}."),
    ),
    "mistral": ("MI-02", 400, "Invalid model: {model}"),
}  # fmt: skip


def known(ask: Ask) -> Iterator[Refusal]:
    """The model is one that the provider has."""
    pattern = _NAMES.get(ask.provider)
    named = ask.model or not ask.body.get("prompt")  # a stored prompt may name the model
    if pattern is None or not named or pattern.fullmatch(ask.model.lower()):
        return
    rule, status, words = _OWN_WORDS.get(ask.provider) or _SAYS[ask.protocol]
    kind = "not_found_error" if ask.protocol == "anthropic" else "invalid_request_error"
    code = "model_not_found" if ask.protocol.startswith("openai") else None
    yield Refusal(rule, words.format(model=ask.model), status=status, code=code, kind=kind)
