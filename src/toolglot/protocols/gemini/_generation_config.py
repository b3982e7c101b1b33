"""`generationConfig` of Gemini, both ways: sampling, structured output, thinking."""

from typing import Final

from toolglot.context import Context
from toolglot.ir import Json, OutputFormat, ReasoningSettings, Request
from toolglot.protocols.gemini._variants import takes_openapi, variants_of, with_variants
from toolglot.protocols.gemini.surface import NAME, SETTINGS, SURFACE
from toolglot.wire.fields import Fields, merge, read_settings, write_settings

_JSON: Final = "application/json"
_TEXT: Final = "text/plain"
_SCHEMA: Final = "responseJsonSchema"


def decode_config(fields: Fields) -> Json:
    """The settings of a request that stand in `generationConfig`."""
    config = fields.maybe_fields("generationConfig")
    if config is None:
        return {}
    settings = read_settings(config, SETTINGS)
    settings["output"] = _decode_output(config)
    settings["reasoning"] = _decode_thinking(config)
    fields.absorb(config)
    return settings


def encode_config(request: Request, ctx: Context) -> Json:
    """The reverse; empty if there is nothing to say."""
    config: Json = {}
    write_settings(config, request, SETTINGS)
    if request.output is not None:
        _encode_output(config, request.output, ctx)
    if request.reasoning is not None:
        thinking = _encode_thinking(request.reasoning, ctx)
        if thinking:
            config["thinkingConfig"] = thinking
    return config


# --- structured output ----------------------------------------------------------------------------


def _decode_output(config: Fields) -> OutputFormat | None:
    word = config.peek("responseMimeType")
    if type(word) is str and word not in (_JSON, _TEXT):
        # A media type such as that of an enumeration, which nobody else knows.
        return None
    word = config.maybe_text("responseMimeType")
    if word == _TEXT:
        return OutputFormat(kind="text")
    variants: Json = {} if word else {"without": ("responseMimeType",)}
    schema = config.maybe_object(_SCHEMA)
    if schema is None:
        schema = config.maybe_object("responseSchema")
        variants |= {} if schema is None else {"schema": "responseSchema"}
    if schema is not None:
        return OutputFormat(kind="schema", schema=schema, extras=with_variants({}, variants))
    return OutputFormat(kind="json") if word else None


def _encode_output(config: Json, output: OutputFormat, ctx: Context) -> None:
    variants = variants_of(output)
    if "responseMimeType" not in variants.get("without", ()):
        config["responseMimeType"] = _TEXT if output.kind == "text" else _JSON
    if output.kind == "schema":
        key = "responseSchema" if takes_openapi(ctx) else _SCHEMA
        config[variants.get("schema", key)] = output.schema


# --- thinking -------------------------------------------------------------------------------------


_UNSPECIFIED: Final = "THINKING_LEVEL_UNSPECIFIED"
"""Says nothing, and yet some clients say it."""


def _decode_thinking(config: Fields) -> ReasoningSettings | None:
    thinking = config.maybe_fields("thinkingConfig")
    if thinking is None:
        return None
    settings: Json = {}
    show, budget = thinking.maybe_bool("includeThoughts"), thinking.maybe_int("thinkingBudget")
    if show is not None:
        settings["show"] = show
    if budget is not None:
        settings |= _decode_budget(budget)
    level = thinking.peek("thinkingLevel")
    if type(level) is str and level.lower() in SURFACE.reasoning.efforts:
        thinking.take("thinkingLevel")
        settings["effort"] = level.lower()
        if not level.isupper():
            settings["extras"] = with_variants({}, {"level": level})
    elif level == _UNSPECIFIED:
        thinking.take("thinkingLevel")
        settings["extras"] = with_variants({}, {"level": level})
    config.absorb(thinking)
    return ReasoningSettings(**settings) if settings else None


def _decode_budget(budget: int) -> Json:
    if budget == 0:
        return {"enabled": False}
    if budget == -1:
        return {"enabled": True, "adaptive": True}
    return {"enabled": True, "budget": budget}


def _encode_thinking(settings: ReasoningSettings, ctx: Context) -> Json:
    wire: Json = {}
    foreign = ctx.foreign(NAME)
    effort = settings.effort if settings.effort in SURFACE.reasoning.efforts else None
    budget = _budget(settings, effort, foreign=foreign)
    if budget is not None:
        wire["thinkingBudget"] = budget
    level = variants_of(settings).get("level", "")
    if level == _UNSPECIFIED and not foreign:
        wire["thinkingLevel"] = level
    elif effort is not None:
        if budget is not None and foreign:
            path = ctx.setting("reasoning")
            ctx.note(
                "value-mapped", path, f"the budget counts; effort {effort} cannot be said beside it"
            )
        else:
            wire["thinkingLevel"] = level if level.lower() == effort else effort.upper()
    show = settings.show
    if show is None and foreign and settings.enabled:
        ctx.note(
            "default-added", ctx.setting("reasoning"), "thoughts are shown, as the source expects"
        )
        show = True
    if show is not None:
        wire["includeThoughts"] = show
    return merge(wire, settings.extras, NAME)


def _budget(settings: ReasoningSettings, effort: str | None, *, foreign: bool) -> int | None:
    """A budget as the wire counts it: 0 is off, -1 is up to the model."""
    if settings.enabled is False or settings.effort == "none":
        return 0
    if settings.budget is not None:
        return settings.budget
    if settings.adaptive:
        return None if foreign and effort is not None else -1
    return -1 if settings.enabled and effort is None else None
