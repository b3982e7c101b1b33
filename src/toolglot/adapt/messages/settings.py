"""Settings of a request: what the target cannot express is removed, with a note."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from toolglot.adapt.messages.described_output import describe_output
from toolglot.context import Context
from toolglot.digest import digest
from toolglot.ir import Message, OutputFormat, Part, Request, Text, ToolChoice, ToolResult
from toolglot.surface import Surface, once_per_pair
from toolglot.wire import jsontext

_HANDLED: Final = frozenset(
    {"model", "messages", "system", "tools", "extras", "wire_form", "answer_form"}
)
_SETTINGS: Final = tuple(name for name in Request.__struct_fields__ if name not in _HANDLED)

_WITHOUT_EFFECT: Final = frozenset(
    {("parallel_tool_calls", True), ("n", 1), ("stream", False), ("store", False)}
)
"""Values that are the default wherever the setting does not exist."""

_CACHING: Final = frozenset({"cache_key", "cache_retention"})


def drop_settings(request: Request, ctx: Context) -> Request:
    """Remove the settings that the target does not have."""
    source, target = ctx.surfaces
    changes: dict[str, Any] = {}
    for field, value in _set_ones(request, _unknown(source, target)):
        refused = field in target.sampling.dropped
        if value is not None:
            changes[field] = None
            harmless = _has_no_effect(field, value)
            ctx.note(
                "cache-dropped" if field in _CACHING else "field-dropped",
                ctx.setting(field),
                f"the model accepts no {field}" if refused else f"{target.name} has no {field}",
                "info" if harmless or field == "include_usage" else None,
            )
    own = request.extras.get(target.name, {})
    refused_keys = [key for key in own if key in target.sampling.dropped]
    if refused_keys:
        for key in refused_keys:
            ctx.note("field-dropped", key, f"the model accepts no {key}")
        kept = {key: value for key, value in own.items() if key not in refused_keys}
        changes["extras"] = {**request.extras, target.name: kept}
    return replace(request, **changes) if changes else request


_Getter: TypeAlias = Callable[[Request], tuple[Any, ...]]


@once_per_pair
def _unknown(_source: Surface, target: Surface) -> tuple[tuple[str, ...], _Getter]:
    """The settings that a target does not have, and what gets them from a request."""
    dropped = target.sampling.dropped
    fields = tuple(each for each in _SETTINGS if each in dropped or each not in target.settings)
    # The model is never missing; with it, there are always several to get, and so a tuple.
    return fields, attrgetter(*fields, "model", "model")


def _set_ones(
    request: Request, fields: tuple[tuple[str, ...], _Getter]
) -> Iterable[tuple[str, Any]]:
    """Those that are set; mostly none, which one call tells: a tenth of what asking each costs."""
    names, get = fields
    values = get(request)
    return zip(names, values, strict=False) if values.count(None) < len(names) else ()


def _has_no_effect(field: str, value: object) -> bool:
    if isinstance(value, ToolChoice):
        return value.mode == "auto" and not value.names
    return isinstance(value, (bool, int)) and (field, value) in _WITHOUT_EFFECT


# --- what reasoning forbids -----------------------------------------------------------------------

_SAMPLING: Final = ("temperature", "top_p", "top_k")


def adapt_sampling(request: Request, ctx: Context) -> Request:
    """Remove sampling settings that the target does not allow while it reasons."""
    target, settings = ctx.surfaces[1], request.reasoning
    if not target.reasoning.bars_sampling or settings is None:
        return request
    if settings.enabled is False or (not settings.enabled and settings.effort in (None, "none")):
        return request
    changes: dict[str, Any] = {}
    for field in _SAMPLING:
        value = getattr(request, field)
        if value is not None:
            changes[field] = None
            words = f"{field} cannot be chosen while the model reasons"
            usual = field == "temperature" and value == 1
            ctx.note("field-dropped", ctx.setting(field), words, "info" if usual else "lossy")
    return replace(request, **changes) if changes else request


def bound_temperature(request: Request, ctx: Context) -> Request:
    """A temperature that the target accepts."""
    allowed, value = ctx.surfaces[1].sampling.temperature, request.temperature
    if allowed is None or value is None or allowed[0] <= value <= allowed[1]:
        return request
    nearest = min(max(value, allowed[0]), allowed[1])
    words = f"the temperature is {nearest:g}: the model accepts {allowed[0]:g} to {allowed[1]:g}"
    ctx.note("value-mapped", ctx.setting("temperature"), words)
    return replace(request, temperature=nearest)


def bound_settings(request: Request, ctx: Context) -> Request:
    """Numbers, stop sequences and names that the target accepts."""
    sampling = ctx.surfaces[1].sampling
    changes: dict[str, Any] = {}
    for field, (least, most) in sampling.ranges.items():
        value = getattr(request, field)
        if value is not None and not least <= value <= most:
            changes[field] = nearest = type(value)(min(max(value, least), most))
            words = f"{field} is {nearest:g}: the model accepts {least:g} to {most:g}"
            ctx.note("value-mapped", ctx.setting(field), words)
    for field, most in sampling.lengths.items():
        value = getattr(request, field)
        if value is not None and len(value) > most:
            # What it is for is to be the same each time, and different from others.
            changes[field] = digest(value.encode(), _DIGEST).hex()[:most]
            words = f"longer than {most} characters; a digest of it is sent"
            ctx.note("value-mapped", ctx.setting(field), words, "info")
    if sampling.metadata and request.metadata:
        metadata = _bounded(request.metadata, sampling.metadata, ctx)
        if metadata is not request.metadata:
            changes["metadata"] = metadata
    chars, user = sampling.user_chars, request.user
    if chars is not None and user is not None and re.fullmatch(f"[{chars}]+", user) is None:
        changes["user"] = digest(user.encode(), _DIGEST).hex()
        words = f"other characters than {chars} are not accepted; a digest of it is sent"
        ctx.note("value-mapped", ctx.setting("user"), words, "info")
    if sampling.exclusive and request.temperature is not None and request.top_p is not None:
        changes["top_p"] = None
        words = "the model accepts a temperature or top_p, not both"
        ctx.note("field-dropped", ctx.setting("top_p"), words)
    stop = _stops(request.stop, ctx) if request.stop is not None else None
    if stop != request.stop:
        changes["stop"] = stop
    return replace(request, **changes) if changes else request


def _bounded(
    metadata: Mapping[str, Any], most: Mapping[str, int], ctx: Context
) -> Mapping[str, Any]:
    """Metadata with no more pairs, and no longer texts, than the target accepts."""
    key_length, length = most.get("key"), most.get("value")
    kept: dict[str, Any] = {}
    lost: list[str] = []
    for key, value in metadata.items():
        text = value if isinstance(value, str) else jsontext.text(value)
        if len(kept) >= most.get("pairs", len(metadata)) or len(key) > (key_length or len(key)):
            lost.append(key[:_SHOWN])
            continue
        kept[key] = text[:length]
        if kept[key] != value:
            lost.append(
                f"the end of {key}" if len(text) > (length or len(text)) else f"{key} as text"
            )
    if not lost:
        return metadata
    ctx.note("value-mapped", ctx.setting("metadata"), f"more than is accepted: {', '.join(lost)}")
    return kept


_SHOWN: Final = 40
_DIGEST: Final = 32
"""Bytes of a digest that stands for a longer text."""


def _stops(stop: tuple[str, ...], ctx: Context) -> tuple[str, ...] | None:
    """The stop sequences that the target accepts; None for no others."""
    sampling, path = ctx.surfaces[1].sampling, ctx.setting("stop")
    if not stop:
        if sampling.most_stops is None:
            return stop
        ctx.note("field-minor", path, "a list without stop sequences is not accepted")
    if not sampling.blank_stops:
        kept = tuple(each for each in stop if each.strip())
        if len(kept) < len(stop):
            ctx.note("value-mapped", path, "blank stop sequences are not accepted; left out")
        stop = kept
    most = sampling.most_stops
    if most is not None and len(stop) > most:
        ctx.note("value-mapped", path, f"only the first {most} of {len(stop)} are accepted")
        stop = stop[:most]
    return stop or None


# --- structured output ----------------------------------------------------------------------------


def adapt_output(request: Request, ctx: Context) -> Request:
    """Request structured output in the form that the target supports."""
    output = request.output
    if output is None:
        return request
    _, target = ctx.surfaces
    path = ctx.setting("output")
    if output.kind == "text" and "text" not in target.outputs:
        ctx.note("field-dropped", path, "text is what there is without it", "info")
        return replace(request, output=None)
    choice, formed = request.tool_choice, output.kind != "text"
    forced = choice is not None and choice.mode in ("required", "tool")
    if forced and formed and not target.tools.forced_with_output:
        # The answer is a call in any case.
        ctx.note(
            "field-dropped", path, f"{output.kind} output is not accepted where a tool is forced"
        )
        return replace(request, output=None)
    if output.kind not in target.outputs:
        words = f"{target.name} does not support {output.kind} output; a text asks for it"
        return describe_output(request, ctx, words)
    beside = target.tools.outputs
    if request.tools and beside is not None and output.kind not in beside:
        words = f"{output.kind} output is not accepted beside tools; a text asks for it"
        return describe_output(request, ctx, words)
    return (
        replace(request, output=_named(output, target, ctx)) if output.kind == "schema" else request
    )


JSON_WORDS: Final = "Answer in JSON."


def require_json_word(request: Request, ctx: Context) -> Request:
    """The word that a target looks for in the messages before it writes JSON without a schema."""
    _, target = ctx.surfaces
    wanted = target.json_needs_word and request.output is not None and request.output.kind == "json"
    if not wanted or any("json" in text.lower() for text in _texts(request.messages)):
        return request
    words = f"JSON is written only if a message has the word; added: {JSON_WORDS}"
    ctx.note("default-added", ctx.setting("output"), words)
    asking: tuple[Part, ...] = (Text(text=JSON_WORDS),)
    first, *rest = request.messages or (Message(role="user", parts=()),)
    if first.role in ("system", "developer"):
        joined = replace(first, parts=first.parts + asking)
        return replace(request, messages=(joined, *rest))
    return replace(request, messages=(Message(role="system", parts=asking), *request.messages))


def _texts(messages: tuple[Message, ...]) -> Iterator[str]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text):
                yield part.text
            elif isinstance(part, ToolResult):
                yield from (inner.text for inner in part.parts if isinstance(inner, Text))


def _inside(ctx: Context, field: str) -> str:
    """Where the source says something of a schema."""
    named = ctx.source.settings.get(f"output_{field}") if ctx.source else None
    return named or f"{ctx.setting('output')}.{field}"


def _named(output: OutputFormat, target: Surface, ctx: Context) -> OutputFormat:
    if output.name is None and "output_name" in target.settings:
        ctx.note("default-added", ctx.setting("output"), "the schema is named `response`")
        output = replace(output, name="response")
    for field in ("name", "description", "strict"):
        if getattr(output, field) is not None and f"output_{field}" not in target.settings:
            code = "field-minor" if field == "name" else "field-dropped"
            ctx.note(
                code,
                _inside(ctx, field),
                f"{target.name} has no {field} for a schema",
                "info",
            )
            output = replace(output, **{field: None})
    return output
