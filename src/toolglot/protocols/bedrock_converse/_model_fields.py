"""`additionalModelRequestFields`: what a model takes beyond the settings that all have, in the
words of its maker. So it depends on the model what is read and written here.

Reference (2026-11-16): "Extended thinking" in the user guide of Bedrock and the request schema in
that of Nova; where Nova 2 has its `reasoningConfig`, and gpt-oss its effort, was read in vercel/ai
(packages/amazon-bedrock, ed857f5 of 2026-08-22). Models of which nothing is known are asked as
Claude is; their rule books say what they do not take.
"""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from toolglot.ir import Json, ReasoningSettings
from toolglot.wire.fields import Fields

KEY: Final = "additionalModelRequestFields"


class _Family(NamedTuple):
    """How the models of one maker are asked."""

    top_k: tuple[str, ...]
    """The path of `top_k`."""
    decode: Callable[[Fields], Json]
    encode: Callable[[ReasoningSettings], Json]


def decode_fields(fields: Fields, model: str) -> tuple[int | None, Json]:
    """`top_k`, and what is said of reasoning; everything else stays where it is."""
    if type(fields.peek(KEY)) is not dict:
        return None, {}
    more = fields.maybe_fields(KEY)
    if more is None:
        return None, {}
    family = _family(model)
    found = family.decode(more)
    *outer, key = family.top_k
    place, parents = more, [more]
    for each in outer:
        if type(place.peek(each)) is not dict or not place.peek(each):
            key = ""
            break
        place = place.fields(each)
        parents.append(place)
    top_k = place.maybe_int(key) if key and type(place.peek(key)) is int else None
    for parent, child in zip(reversed(parents[:-1]), reversed(parents[1:]), strict=True):
        parent.absorb(child)
    fields.absorb(more)
    return top_k, found


def encode_fields(top_k: int | None, settings: ReasoningSettings | None, model: str) -> Json:
    """The reverse, without the effort, which has a place of its own where `has_effort` says so."""
    family = _family(model)
    wire: Json = family.encode(settings) if settings is not None else {}
    if top_k is not None:
        value: Any = top_k
        for key in reversed(family.top_k[1:]):
            value = {key: value}
        wire[family.top_k[0]] = value
    return wire


def has_effort(model: str) -> bool:
    """Whether the effort of a model is said in `outputConfig`."""
    return _family(model) is _CLAUDE


# --- Claude ---------------------------------------------------------------------------------------

_THINKING: Final[dict[str, Json]] = {
    "enabled": {"enabled": True},
    "adaptive": {"enabled": True, "adaptive": True},
    "disabled": {"enabled": False},
}


def _decode_thinking(more: Fields) -> Json:
    value = more.peek("thinking")
    word = value.get("type") if type(value) is dict else None
    if type(word) is not str or word not in _THINKING:
        return {}
    settings = _THINKING[word].copy()
    if word == "enabled" and type(value.get("budget_tokens")) is not int:
        return {}
    thinking = more.fields("thinking")
    if word == "enabled":
        settings["budget"] = thinking.maybe_int("budget_tokens")
    if word != "disabled" and thinking.peek("display") in ("summarized", "omitted"):
        settings["show"] = thinking.text("display") == "summarized"
    thinking.take("type")
    more.absorb(thinking)
    return settings


def _encode_thinking(settings: ReasoningSettings) -> Json:
    if settings.enabled is None:
        return {}
    if not settings.enabled:
        return {"thinking": {"type": "disabled"}}
    wire: Json = {"type": "adaptive"}
    if not settings.adaptive and settings.budget is not None:
        wire = {"type": "enabled", "budget_tokens": settings.budget}
    if settings.show is not None:
        wire["display"] = "summarized" if settings.show else "omitted"
    return {"thinking": wire}


# --- Nova -----------------------------------------------------------------------------------------

_EFFORTS: Final = frozenset({"low", "medium", "high"})


def _decode_nova(more: Fields) -> Json:
    value = more.peek("reasoningConfig")
    word = value.get("type") if type(value) is dict else None
    if word not in ("enabled", "disabled"):
        return {}
    config = more.fields("reasoningConfig")
    config.take("type")
    settings: Json = {"enabled": word == "enabled"}
    if config.peek("maxReasoningEffort") in _EFFORTS:
        settings["effort"] = config.text("maxReasoningEffort")
    more.absorb(config)
    return settings


def _encode_nova(settings: ReasoningSettings) -> Json:
    effort = settings.effort if settings.effort in _EFFORTS else None
    if settings.enabled is None and effort is None:
        return {}
    wire: Json = {"type": "disabled" if settings.enabled is False else "enabled"}
    if effort is not None:
        wire["maxReasoningEffort"] = effort
    return {"reasoningConfig": wire}


# --- gpt-oss --------------------------------------------------------------------------------------


def _decode_effort(more: Fields) -> Json:
    return {"effort": more.text("reasoning_effort")} if _is_effort(more) else {}


def _is_effort(more: Fields) -> bool:
    return more.peek("reasoning_effort") in _EFFORTS


def _encode_effort(settings: ReasoningSettings) -> Json:
    return {"reasoning_effort": settings.effort} if settings.effort in _EFFORTS else {}


_CLAUDE: Final = _Family(("top_k",), _decode_thinking, _encode_thinking)
_FAMILIES: Final = (
    (re.compile(r"\bnova\b"), _Family(("inferenceConfig", "topK"), _decode_nova, _encode_nova)),
    (re.compile(r"gpt-oss"), _Family(("top_k",), _decode_effort, _encode_effort)),
)


def _family(model: str) -> _Family:
    return next((each for words, each in _FAMILIES if words.search(model)), _CLAUDE)
