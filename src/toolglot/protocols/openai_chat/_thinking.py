"""How servers of Chat Completions are asked to reason: OpenAI by an effort, others by a switch.

Each has a member of its own for the switch. The fact `reasoning.switch` of a rule book says which
one a provider reads; where that is not known, it stays as the client spelled it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import astuple

from toolglot.context import Context
from toolglot.ir import Json, ReasoningSettings
from toolglot.protocols.openai_chat.surface import NAME
from toolglot.wire.fields import Fields

EFFORT: Final = "reasoning_effort"


class _Switch(Struct, frozen=True, kw_only=True):
    """One of the members, both ways."""

    read: Callable[[Any], Json]
    """What its value says, as members of `ReasoningSettings`; none if it cannot be read."""

    write: Callable[[ReasoningSettings, Context], Json]
    """The members of a request that say the same."""

    known: tuple[str, ...] = ()
    """What is read of its value, where that is an object."""


# --- reading --------------------------------------------------------------------------------------

_TYPES: Final[Mapping[str, Json]] = {
    "enabled": {"enabled": True},
    "disabled": {"enabled": False},
    "adaptive": {"enabled": True, "adaptive": True},
    "auto": {"adaptive": True},
}


def _read_thinking(value: Any) -> Json:
    kind = value.get("type") if isinstance(value, dict) else None
    said = _TYPES.get(kind) if isinstance(kind, str) else None
    if said is None:
        return {}
    budget = value.get("budget_tokens")
    return {**said, "budget": budget} if _is_count(budget) else dict(said)


def _read_enable_thinking(value: Any) -> Json:
    return {"enabled": value} if isinstance(value, bool) else {}


def _read_thinking_budget(value: Any) -> Json:
    return {"enabled": value > 0, "budget": value} if _is_count(value) else {}


def _read_template(value: Any) -> Json:
    said = [value.get(key) for key in _IN_TEMPLATES] if isinstance(value, dict) else []
    return next(({"enabled": each} for each in said if isinstance(each, bool)), {})


def _read_reasoning(value: Any) -> Json:
    if not isinstance(value, dict):
        return {}
    effort, budget, enabled, hidden = map(value.get, ("effort", "max_tokens", "enabled", "exclude"))
    said: Json = {}
    if isinstance(enabled, bool):
        said["enabled"] = enabled
    if effort == "none":
        said["enabled"] = False
    elif isinstance(effort, str):
        said["effort"] = effort
    if budget is not None and _is_count(budget):
        said = {"enabled": budget > 0, **said, "budget": budget}
    if isinstance(hidden, bool):
        said["show"] = not hidden
    return said


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# --- writing --------------------------------------------------------------------------------------


def _write_effort(settings: ReasoningSettings, _ctx: Context) -> Json:
    effort = "none" if settings.enabled is False else settings.effort
    return {EFFORT: effort} if effort is not None else {}


def _beside(settings: ReasoningSettings) -> Json:
    """An effort in its own member, where reasoning is not off."""
    said = settings.enabled is not False and settings.effort is not None
    return {EFFORT: settings.effort} if said else {}


def _write_thinking(settings: ReasoningSettings, ctx: Context) -> Json:
    if settings.enabled is None and settings.budget is None:
        return _beside(settings)
    adaptive = settings.budget is None and "adaptive" in ctx.surfaces[1].reasoning.controls
    on = "adaptive" if adaptive else "enabled"
    wire: Json = {"type": "disabled" if settings.enabled is False else on}
    if settings.budget is not None:
        wire["budget_tokens"] = settings.budget
    return {"thinking": wire} | _beside(settings)


def _write_enable_thinking(settings: ReasoningSettings, _ctx: Context) -> Json:
    wire: Json = {}
    if settings.enabled is not None or settings.budget is not None:
        wire["enable_thinking"] = settings.enabled is not False
    if settings.budget is not None:
        wire["thinking_budget"] = settings.budget
    return wire | _beside(settings)


_IN_TEMPLATES: Final = ("enable_thinking", "thinking")
"""What templates of models call it; one does not look at the other's."""


def _write_template(settings: ReasoningSettings, _ctx: Context) -> Json:
    if settings.enabled is None:
        return _beside(settings)
    kwargs = dict.fromkeys(_IN_TEMPLATES, settings.enabled)
    return {"chat_template_kwargs": kwargs} | _beside(settings)


def _write_enabled(settings: ReasoningSettings, _ctx: Context) -> Json:
    # Models that are asked by an effort need not know the switch.
    effort = _beside(settings)
    said = settings.enabled is not None and not effort
    return {"reasoning": {"enabled": settings.enabled}} if said else effort


def _write_reasoning(settings: ReasoningSettings, ctx: Context) -> Json:
    wire: Json = {}
    if settings.enabled is False:
        wire["enabled"] = False
    elif settings.budget is not None:
        wire["max_tokens"] = settings.budget
        if settings.effort is not None:
            words = "an effort excludes a budget; the budget is said"
            ctx.note("field-dropped", ctx.setting("reasoning"), words, "info")
    elif settings.effort is not None:
        wire["effort"] = settings.effort
    elif settings.enabled:
        wire["enabled"] = True
    if settings.show is not None:
        wire["exclude"] = not settings.show
    return {"reasoning": wire} if wire else {}


_SWITCHES: Final[Mapping[str, _Switch]] = {
    EFFORT: _Switch(read=lambda _value: {}, write=_write_effort),
    # https://api-docs.deepseek.com/guides/thinking_mode (2026-10), https://docs.z.ai,
    # https://platform.moonshot.ai, https://platform.minimax.io
    "thinking": _Switch(
        read=_read_thinking, write=_write_thinking, known=("type", "budget_tokens")
    ),
    # https://www.alibabacloud.com/help/en/model-studio/deep-thinking (2026-07)
    "enable_thinking": _Switch(read=_read_enable_thinking, write=_write_enable_thinking),
    "thinking_budget": _Switch(read=_read_thinking_budget, write=_write_enable_thinking),
    # vLLM and SGLang: `chat_completion/protocol.py` and `openai/protocol.py` (2026-08)
    "chat_template_kwargs": _Switch(
        read=_read_template, write=_write_template, known=_IN_TEMPLATES
    ),
    # https://openrouter.ai/docs/use-cases/reasoning-tokens (2026-11)
    "reasoning": _Switch(
        read=_read_reasoning,
        write=_write_reasoning,
        known=("enabled", "effort", "max_tokens", "exclude"),
    ),
    # Together's has only this in it (together-python 3.0.0).
    "reasoning.enabled": _Switch(read=lambda _value: {}, write=_write_enabled),
}


# --- both ways ------------------------------------------------------------------------------------


def decode_thinking(fields: Fields) -> tuple[ReasoningSettings | None, Json]:
    """How a request asks for reasoning, and how that was spelled."""
    effort = fields.maybe_text(EFFORT)
    said: Json = {}
    if effort is not None:
        said = {"enabled": False} if effort == "none" else {"effort": effort}
    members: Json = {}
    for key, switch in _SWITCHES.items():
        if fields.peek(key) is not None and _is_read(key, fields.document.ctx):
            read = switch.read(fields.peek(key))
            if read:
                members[key] = _take(fields, key, switch.known)
                said = read | said
    if not said:
        return None, {}
    settings, ctx = ReasoningSettings(**said), fields.document.ctx
    if members and effort is None:
        ctx.setting_paths = {**ctx.setting_paths, "reasoning": next(iter(members))}
    return settings, {"members": members, "effort": effort, "as": _values(settings)}


def _values(settings: ReasoningSettings) -> list[Any]:
    return list(astuple(settings)[:-1])  # without the extras


def _is_read(key: str, ctx: Context) -> bool:
    """Whether what a switch says is to be understood, because it may have to be said otherwise."""
    target = ctx.target
    if target is None or target.name != NAME or target.reasoning.switch:
        return True
    return target.known_keys is not None and key not in target.known_keys


def _take(fields: Fields, key: str, known: tuple[str, ...]) -> Any:
    if not known:
        return fields.take(key)
    inner = fields.fields(key)
    taken = {each: inner.take(each) for each in known if inner.peek(each) is not None}
    fields.absorb(inner)
    return taken


def encode_thinking(
    body: Json, settings: ReasoningSettings | None, spelled: Json, ctx: Context
) -> None:
    """The reverse; `spelled` is what `decode_thinking` gave beside the settings."""
    if settings is None:
        return
    if spelled and _is_accepted(settings, spelled, ctx):
        body |= spelled["members"]
        if spelled["effort"] is not None:
            body[EFFORT] = spelled["effort"]
        return
    switch = ctx.target.reasoning.switch if ctx.target else ""
    wire = _SWITCHES[switch or EFFORT].write(settings, ctx)
    for key in spelled.get("members", ()):
        if key not in wire:
            words = f"the provider is asked to reason in {', '.join(wire) or 'another way'}"
            ctx.note("spelling-normalised", key, words)
    body |= wire


def _is_accepted(settings: ReasoningSettings, spelled: Json, ctx: Context) -> bool:
    """Whether what was asked is still to be asked, and can be in the client's own words."""
    if _values(settings) != spelled["as"]:
        return False
    target, members = ctx.target, spelled["members"]
    if target is None or not target.reasoning.switch:
        known = target.known_keys if target else None
        return known is None or known.issuperset(members)
    own = _SWITCHES[target.reasoning.switch]
    effort = spelled["effort"]
    support = target.reasoning
    takes_effort = "effort" in support.controls and effort in support.efforts
    return all(_SWITCHES[key].write is own.write for key in members) and (
        effort is None or takes_effort
    )
