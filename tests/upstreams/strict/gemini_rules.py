"""Gemini generateContent: what AI Studio and Vertex refuse in the form of a request."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from google.genai import types
from tests.upstreams.strict import json_schemas
from tests.upstreams.strict.refusal import Ask, Json, Refusal, Rule
from tests.upstreams.strict.sdk_shapes import Misfit, misfits

SKIPS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""Signatures for calls that were made elsewhere (GE-028)."""
_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$")
_THREE = re.compile(r"(?i)gemini-([3-9]|flash-latest|pro-latest)")
_BEFORE_THREE = re.compile(r"(?i)gemini-(1|2)")


class _Generation(types.GenerationConfig):
    """What google-genai puts into `generationConfig` from its own configuration."""

    image_config: types.ImageConfig | None = None


_BODY: Mapping[str, Any] = {
    "model": str,
    "contents": list[types.Content],
    "systemInstruction": types.Content,
    "tools": list[types.Tool],
    "toolConfig": types.ToolConfig,
    "safetySettings": list[types.SafetySetting],
    "generationConfig": _Generation,
    "cachedContent": str,
    "labels": dict[str, str],
    "modelArmorConfig": dict[str, str],
    "store": bool,
    "serviceTier": str,
}
"""The members of a request, and the types that google-genai has for them."""


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(step.capitalize() for step in rest)


def get(value: Any, name: str) -> Any:
    """A member in either spelling: both are taken (GE-009)."""
    if not isinstance(value, dict):
        return None
    return value[name] if name in value else value.get(_snake(name))


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name)


def contents(ask: Ask) -> list[Json]:
    """The turns of a request."""
    found = ask.body.get("contents")
    found = [found] if isinstance(found, dict) else found
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def parts(content: Json) -> list[Json]:
    """The parts of a turn."""
    found = content.get("parts")
    found = [found] if isinstance(found, dict) else found
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _functions(ask: Ask) -> Iterator[tuple[str, Json]]:
    for index, tool in enumerate(_list(ask.body.get("tools"))):
        for number, function in enumerate(_list(get(tool, "functionDeclarations"))):
            yield f"tools[{index}].function_declarations[{number}]", function


def _list(value: Any) -> list[Json]:
    value = [value] if isinstance(value, dict) else value
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


# --- form -----------------------------------------------------------------------------------------

_ANY_SCHEMA = {
    "parameters", "parametersJsonSchema", "parameters_json_schema", "response",
    "responseJsonSchema", "response_json_schema", "responseSchema", "response_schema", "args",
}  # fmt: skip
_NOT_ON_AI_STUDIO = {
    "streamFunctionCallArguments", "partialArgs", "audioTimestamp", "routingConfig",
    "modelSelectionConfig", "labels", "retrieval", "enterpriseWebSearch", "parallelAiSearch",
    "exaAiSearch", "modelArmorConfig", "excludeDomains",
}  # fmt: skip
"""GE-062: what google-genai has for Vertex alone."""


def form(ask: Ask) -> Iterator[Refusal]:
    """Names and types, as google-genai declares them."""
    known = {**_BODY, **{_snake(name): kind for name, kind in _BODY.items()}}
    for key, value in ask.body.items():
        if key not in known:
            words = f'Invalid JSON payload received. Unknown name "{key}": Cannot find field.'
            yield Refusal("GE-006", words)
        elif value is not None:
            for found in misfits(_plain(key, value), known[key], (key,)):
                if not _is_taken(found):
                    yield _misfit(found)


def _plain(key: str, value: Any) -> Any:
    """One value for a list of one, as protobuf's JSON takes it."""
    return [value] if isinstance(value, dict) and key in ("contents", "tools") else value


def _is_taken(found: Misfit) -> bool:
    if any(step in _ANY_SCHEMA for step in found.path[1:]):
        return True
    last = found.path[-1] if found.path else ""
    if found.kind == "type" and isinstance(found.got, dict) and last in ("parts", "contents"):
        return True
    # Enums are taken as numbers and in lower case, numbers as text (GE-009, GE-078).
    return found.kind in ("value", "type") and not isinstance(found.got, (dict, list))


def _misfit(found: Misfit) -> Refusal:
    at = _written(found.path[:-1])
    name = found.path[-1]
    if found.kind == "unknown":
        where = f" at '{at}'" if at else ""
        words = f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.'
        return Refusal("GE-006", words)
    if isinstance(found.got, list):
        words = (
            f"Invalid JSON payload received. Unknown name \"{name}\" at '{at}': Proto field is not "
            "repeating, cannot start list."
        )
        return Refusal("GE-007", words)
    return Refusal("GE-008", f"Invalid value at '{_written(found.path)}'")


def _written(path: tuple[str | int, ...]) -> str:
    text = ""
    for step in path:
        text += (
            f"[{step}]" if isinstance(step, int) else f".{_snake(step)}" if text else _snake(step)
        )
    return text


def only_vertex(ask: Ask) -> Iterator[Refusal]:
    """What AI Studio does not know."""
    for key in _members(ask.body):
        if _camel(key) in _NOT_ON_AI_STUDIO:
            words = f'Invalid JSON payload received. Unknown name "{key}": Cannot find field.'
            yield Refusal("GE-062", words)


def _members(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in _ANY_SCHEMA:
                yield key
                yield from _members(each)
    elif isinstance(value, list):
        for each in value:
            yield from _members(each)


# --- turns ----------------------------------------------------------------------------------------


def turns(ask: Ask) -> Iterator[Refusal]:
    """Roles, parts, and what follows what."""
    said = contents(ask)
    if not said:
        yield Refusal("GE-011", "* GenerateContentRequest.contents: contents is not specified")
    for index, content in enumerate(said):
        if content.get("role") not in (None, "", "user", "model", "function"):
            yield Refusal("GE-012", "Please use a valid role: user, model.")
        if not parts(content):
            words = (
                f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be "
                "empty."
            )
            yield Refusal("GE-013", words)
        for number, part in enumerate(parts(content)):
            yield from _part(f"contents[{index}].parts[{number}]", part)
    yield from _order(said)


_DATA = {
    "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
    "codeExecutionResult", "toolCall", "toolResponse",
}  # fmt: skip


def _part(at: str, part: Json) -> Iterator[Refusal]:
    has = {_camel(key) for key, value in part.items() if value is not None} & _DATA
    if not has and not part.get("thought") and get(part, "thoughtSignature") is None:
        words = (
            f"* GenerateContentRequest.{at}.data: required oneof field 'data' must have one "
            "initialized field"
        )
        yield Refusal("GE-013", words)
    answer = get(part, "functionResponse")
    if isinstance(answer, dict):
        if not answer.get("name"):
            words = f"* GenerateContentRequest.{at}.function_response.name: Name cannot be empty."
            yield Refusal("GE-024", words)
        if not isinstance(answer.get("response", {}), dict):
            words = (
                f"Invalid value at '{at}.function_response.response' "
                "(type.googleapis.com/google.protobuf.Struct)"
            )
            yield Refusal("GE-024", words)
    signature = get(part, "thoughtSignature")
    if isinstance(signature, str) and signature not in SKIPS and not _is_base64(signature):
        yield Refusal("GE-030", f"Invalid value at '{at}.thought_signature' (TYPE_BYTES)")


def _is_base64(text: str) -> bool:
    text = text.replace("-", "+").replace("_", "/")
    try:
        base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return False
    return True


def _count(content: Json, key: str) -> int:
    return sum(get(part, key) is not None for part in parts(content))


def _order(said: list[Json]) -> Iterator[Refusal]:
    turns_ = _joined(said)
    for place, (role, joined) in enumerate(turns_):
        calls, answers = _count(joined, "functionCall"), _count(joined, "functionResponse")
        before = turns_[place - 1][1] if place else None
        if calls and role == "model" and before is None:
            words = (
                "Please ensure that function call turn comes immediately after a user turn or "
                "after a function response turn."
            )
            yield Refusal("GE-020", words)
        if answers and (before is None or not _count(before, "functionCall")):
            words = (
                "Please ensure that function response turn comes immediately after a function call "
                "turn."
            )
            yield Refusal("GE-021", words)
        if calls and role == "model" and place + 1 < len(turns_):
            after = _count(turns_[place + 1][1], "functionResponse")
            if after != calls:
                words = (
                    "Please ensure that the number of function response parts is equal to the "
                    "number of function call parts of the function call turn."
                )
                yield Refusal("GE-022", words)


def _joined(said: list[Json]) -> list[tuple[str, Json]]:
    """Turns of one role in a row are taken (GE-016), and are one turn here."""
    found: list[tuple[str, Json]] = []
    for content in said:
        role = "model" if content.get("role") == "model" else "user"
        if found and found[-1][0] == role:
            found[-1] = (role, {"parts": [*found[-1][1]["parts"], *parts(content)]})
        else:
            found.append((role, {"parts": parts(content)}))
    return found


def signatures(ask: Ask) -> Iterator[Refusal]:
    """Gemini 3: the first call of each step of the current turn has its signature (GE-026)."""
    if not _THREE.search(ask.model):
        return
    turns_ = _joined(contents(ask))
    start = max(
        (
            place
            for place, (role, joined) in enumerate(turns_)
            if role == "user"
            and any("text" in p for p in joined["parts"])
            and not _count(joined, "functionResponse")
        ),
        default=-1,
    )
    for place, (role, joined) in enumerate(turns_):
        if role != "model" or place <= start:
            continue
        calls = [part for part in joined["parts"] if get(part, "functionCall") is not None]
        if calls and not get(calls[0], "thoughtSignature"):
            name = (get(calls[0], "functionCall") or {}).get("name")
            words = (
                "Function call is missing a thought_signature in functionCall parts. This is "
                "required for tools to work correctly, and missing thought_signature may lead to "
                "degraded model performance. Additional data, function call "
                f"`default_api:{name}` , position {place + 1}. Please refer to "
                "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            )
            yield Refusal("GE-026", words)


# --- tools ----------------------------------------------------------------------------------------


def tools(ask: Ask) -> Iterator[Refusal]:
    """Names, schemas, and tools that do not go together."""
    seen: set[str] = set()
    for at, function in _functions(ask):
        name = function.get("name")
        if not isinstance(name, str) or not _NAME.match(name):
            words = (
                f"* GenerateContentRequest.{at}.name: Invalid function name. Must start with a "
                "letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), "
                "dots (.), colons (:), or dashes (-), with a maximum length of 128."
            )
            yield Refusal("GE-033", words)
        if name in seen:
            yield Refusal("GE-034", f"Duplicate function declaration found: {name}")
        seen.add(str(name))
        if function.get("parameters") and get(function, "parametersJsonSchema"):
            words = (
                f"* GenerateContentRequest.{at}: only one of parameters and parameters_json_schema"
            )
            yield Refusal("GE-037", words)
        if isinstance(function.get("parameters"), dict):
            found = json_schemas.gemini_parameters(function["parameters"], f"{at}.parameters")
            yield from (Refusal(rule, words) for rule, words in found)
    yield from _together(ask)
    yield from _choice(ask, seen)


def _own(ask: Ask) -> list[str]:
    return [
        _camel(key)
        for tool in _list(ask.body.get("tools"))
        for key, value in tool.items()
        if value is not None and _camel(key) not in ("functionDeclarations", "type", "name")
    ]


def _together(ask: Ask) -> Iterator[Refusal]:
    functions, own = list(_functions(ask)), _own(ask)
    config = ask.body.get("toolConfig") or ask.body.get("tool_config")
    if functions and own and _BEFORE_THREE.search(ask.model):
        words = (
            f"Built-in tools ({{{_snake(own[0])}}}) and Function Calling cannot be combined in the "
            "same request. Please choose one to continue."
        )
        yield Refusal("GE-052", words)
    elif functions and own and not get(config, "includeServerSideToolInvocations"):
        words = (
            "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools "
            "with Function calling."
        )
        yield Refusal("GE-055", words)
    generation = ask.body.get("generationConfig") or ask.body.get("generation_config")
    mime = get(generation, "responseMimeType")
    if functions and mime == "application/json" and _BEFORE_THREE.search(ask.model):
        words = "Function calling with a response mime type: 'application/json' is unsupported"
        yield Refusal("GE-050", words)


def _choice(ask: Ask, declared: set[str]) -> Iterator[Refusal]:
    config = ask.body.get("toolConfig") or ask.body.get("tool_config")
    calling = get(config, "functionCallingConfig")
    if not isinstance(calling, dict):
        return
    names = get(calling, "allowedFunctionNames") or []
    mode = str(calling.get("mode", "")).upper()
    if names and mode not in ("ANY", "VALIDATED"):
        words = "Function calling config: allowed_function_names is only valid with mode ANY"
        yield Refusal("GE-060", words)
    for name in names:
        if name not in declared:
            yield Refusal("GE-060", f"allowed_function_names: {name} is not declared")


# --- settings -------------------------------------------------------------------------------------

_BUDGETS = (
    (re.compile(r"(?i)gemini-2\.5-flash-lite"), (512, 24576), True),
    (re.compile(r"(?i)gemini-2\.5-flash"), (0, 24576), True),
    (re.compile(r"(?i)gemini-2\.5-pro"), (128, 32768), False),
)


def settings(ask: Ask) -> Iterator[Refusal]:
    """Thinking, penalties, schemas of answers, cached content."""
    generation = ask.body.get("generationConfig") or ask.body.get("generation_config") or {}
    thinking = get(generation, "thinkingConfig") or {}
    level, budget = get(thinking, "thinkingLevel"), get(thinking, "thinkingBudget")
    if level is not None and _BEFORE_THREE.search(ask.model):
        yield Refusal("GE-069", "Thinking level is not supported for this model.")
    if level is not None and budget is not None:
        words = "You can only set only one of thinking budget and thinking level."
        yield Refusal("GE-070", words)
    if isinstance(budget, int) and budget != -1:
        yield from _budget(ask.model, budget)
    schema = get(generation, "responseSchema")
    if (schema or get(generation, "responseJsonSchema")) and not get(
        generation, "responseMimeType"
    ):
        yield Refusal("GE-049", "response_schema is only supported with application/json")
    if isinstance(schema, dict):
        at = "generation_config.response_schema"
        for rule, words in json_schemas.gemini_parameters(schema, at):
            yield Refusal(rule, words)
    if ask.body.get("cachedContent") and any(
        ask.body.get(key) for key in ("systemInstruction", "tools", "toolConfig")
    ):
        words = (
            "CachedContent can not be used with GenerateContent request setting "
            "system_instruction, tools or tool_config."
        )
        yield Refusal("GE-095", words)
    stops = get(generation, "stopSequences") or []
    if len(stops) > 5:
        yield Refusal("GE-082", "stop_sequences: at most 5 are supported")


def _budget(model: str, budget: int) -> Iterator[Refusal]:
    for pattern, (least, most), can_stop in _BUDGETS:
        if not pattern.search(model):
            continue
        if budget == 0 and can_stop:
            return
        if budget == 0:
            words = "Budget 0 is invalid. This model only works in thinking mode."
            yield Refusal("GE-066", words)
        elif not least <= budget <= most:
            words = (
                f"The thinking budget {budget} is invalid. Please choose a value between {least} "
                f"and {most}."
            )
            yield Refusal("GE-066", words)
        return


def vertex_texts(ask: Ask) -> Iterator[Refusal]:
    """Vertex: a turn says something."""
    for content in contents(ask):
        texts = [part for part in parts(content) if "text" in part]
        if len(texts) == len(parts(content)) == 1 and texts[0]["text"] == "":
            words = (
                "Unable to submit request because it must have a text parameter. Add a text "
                "parameter and try again."
            )
            yield Refusal("GE-014", words)


GOOGLE: tuple[Rule, ...] = (form, only_vertex, turns, signatures, tools, settings)
VERTEX: tuple[Rule, ...] = (form, turns, signatures, vertex_texts)

BY_PROVIDER: dict[str, tuple[Rule, ...]] = {"google": GOOGLE, "vertex": VERTEX}
