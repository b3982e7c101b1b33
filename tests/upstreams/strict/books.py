"""The facts of the rule books, looked for in requests as they are on the wire.

The books are read here as data. What is looked at is the JSON of the request and nothing that the
product makes of it, so that a pass which enforces a fact wrongly is noticed.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from tests.upstreams.strict.refusal import Ask, Json, Refusal

import toolglot

BOOKS = Path(toolglot.__file__).parent / "providers" / "books"


@dataclass(frozen=True)
class Fact:
    """What holds, and the rule that says so."""

    value: Any
    rule: Mapping[str, Any]


def names() -> list[str]:
    """The providers that have a book."""
    return sorted(path.name.removesuffix(".toml") for path in BOOKS.glob("*.toml"))


@cache
def rules(name: str) -> tuple[Mapping[str, Any], ...]:
    """The rules of a book, behind those of the books that it is like."""
    book = tomllib.loads((BOOKS / f"{name}.toml").read_text(encoding="utf-8"))
    before = (rule for other in book.get("like", ()) for rule in rules(other))
    return (*before, *book.get("rules", ()))


def holds(rule: Mapping[str, Any], protocol: str, model: str) -> bool:
    """Whether a rule says something of a model in a protocol."""
    short = model.lower().rpartition("/")[2]
    called = {model.lower(), short, re.sub(r"^(?:[a-z-]+\.)+(?=[a-z])", "", short)}

    def among(patterns: list[str]) -> bool:
        return any(fnmatchcase(name, each.lower()) for name in called for each in patterns)

    return (
        rule.get("protocol") in (None, protocol)
        and (not rule.get("models") or among(rule["models"]))
        and not among(rule.get("unless") or [])
    )


def facts(name: str, protocol: str, model: str) -> dict[str, Fact]:
    """What the book says of a model, the later rule over the earlier."""
    found: dict[str, Fact] = {}
    for rule in rules(name):
        if not holds(rule, protocol, model):
            continue
        for key, value in rule.get("set", {}).items():
            found[key] = Fact(value, rule)
        for key, value in rule.get("add", {}).items():
            before = found[key].value if key in found else []
            found[key] = Fact([*before, *value], rule)
    return found


ONLY_IGNORED = frozenset(
    {"OL-28", "OL-38", "OL-tools", "LC-11", "DS-12", "DS-28", "VL-33", "ZA-10"}
)
"""Rules of what a provider does not heed: it takes the request all the same."""


def refusals(ask: Ask) -> Iterator[Refusal]:
    """What the book of the provider says against a request."""
    if not (BOOKS / f"{ask.provider}.toml").exists():
        return
    for key, fact in facts(ask.provider, ask.protocol, ask.model).items():
        check = CHECKS.get(key)
        if check is None or fact.value == "any" or fact.rule["id"] in ONLY_IGNORED:
            continue
        for said in check(ask, fact.value):
            if key == "reasoning.efforts" and _is_offered(fact.rule, _effort(ask)):
                continue
            yield Refusal(fact.rule["id"], fact.rule.get("words") or said, param=said)


def _is_offered(rule: Mapping[str, Any], said: tuple[str, Any] | None) -> bool:
    """Whether the provider names a value that the book has no word for, such as `default`."""
    offered = rule.get("words", "").partition("one of")[2]
    return said is not None and str(said[1]) in offered.split()


# --- places of a request --------------------------------------------------------------------------

_OPTIONS = {
    "temperature": (
        "temperature",
        "generationConfig.temperature",
        "options.temperature",
        "inferenceConfig.temperature",
    ),
    "top_p": ("top_p", "generationConfig.topP", "options.top_p", "inferenceConfig.topP"),
    "top_k": ("top_k", "generationConfig.topK", "options.top_k"),
    "stop": ("stop", "stop_sequences", "generationConfig.stopSequences", "options.stop"),
    "seed": ("seed", "generationConfig.seed", "options.seed"),
    "frequency_penalty": ("frequency_penalty", "generationConfig.frequencyPenalty"),
    "presence_penalty": ("presence_penalty", "generationConfig.presencePenalty"),
    "cache_key": ("prompt_cache_key",),
    "cache_retention": ("prompt_cache_retention",),
    "safety_identifier": ("safety_identifier",),
    "user": ("user", "metadata.user_id"),
    "verbosity": ("verbosity", "text.verbosity"),
}
"""Where a setting stands, whichever protocol it is; a protocol has at most one of them."""


def _at(body: Json, path: str) -> Any:
    value: Any = body
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _setting(ask: Ask, name: str) -> Any:
    found = (_at(ask.body, path) for path in _OPTIONS.get(name, (name,)))
    return next((value for value in found if value is not None), None)


_LIMITS = {
    "anthropic": ("max_tokens",),
    "openai-chat": ("max_tokens", "max_completion_tokens"),
    "openai-responses": ("max_output_tokens",),
    "gemini": ("generationConfig.maxOutputTokens",),
    "ollama": ("options.num_predict",),
    "bedrock-converse": ("inferenceConfig.maxTokens",),
}


def _limits(ask: Ask) -> Iterator[tuple[str, Any]]:
    for path in _LIMITS[ask.protocol]:
        if (value := _at(ask.body, path)) is not None:
            yield path, value


def tools(ask: Ask) -> list[Json]:
    """Declared tools; for Gemini the functions and each tool of its own."""
    if ask.protocol == "bedrock-converse":
        given = (ask.body.get("toolConfig") or {}).get("tools") or ()
        return [tool["toolSpec"] for tool in given if "toolSpec" in tool]
    listed = [each for each in ask.body.get("tools") or () if isinstance(each, dict)]
    if ask.protocol != "gemini":
        return listed
    return [
        function
        for tool in listed
        for key, value in tool.items()
        for function in (value if isinstance(value, list) else [{"type": key}])
    ]


_FUNCTION_KINDS = {"function", "custom", "namespace"}


def _effort(ask: Ask) -> tuple[str, Any] | None:
    for path in (
        "reasoning_effort", "reasoning.effort", "output_config.effort",
        "generationConfig.thinkingConfig.thinkingLevel",
    ):  # fmt: skip
        value = _at(ask.body, path)
        if value is not None and not str(value).endswith("_UNSPECIFIED"):  # That says nothing.
            return path, value
    return None


# --- checks ---------------------------------------------------------------------------------------

Check = Callable[[Ask, Any], Iterator[str]]
"""The places where a request is against a fact."""


def _limit_name(ask: Ask, name: str) -> Iterator[str]:
    yield from (path for path, _ in _limits(ask) if path.rpartition(".")[2] != name)


def _limit_least(ask: Ask, least: int) -> Iterator[str]:
    yield from (path for path, value in _limits(ask) if isinstance(value, int) and value < least)


def _limit_most(ask: Ask, most: int) -> Iterator[str]:
    yield from (path for path, value in _limits(ask) if isinstance(value, int) and value > most)


def _temperature(ask: Ask, allowed: list[float]) -> Iterator[str]:
    value = _setting(ask, "temperature")
    if isinstance(value, (int, float)) and not allowed[0] <= value <= allowed[1]:
        yield "temperature"


def _lengths(ask: Ask, longest: Mapping[str, int]) -> Iterator[str]:
    for name, most in longest.items():
        value = _setting(ask, name)
        if isinstance(value, str) and len(value) > most:
            yield name


def _dropped(ask: Ask, settings: list[str]) -> Iterator[str]:
    for name in settings:
        value = _setting(ask, name)
        # What is not to be stored need not be, wherever there is no store.
        if value not in (None, [], {}) and not (name == "store" and value is False):
            yield name


def _most_tools(ask: Ask, most: int) -> Iterator[str]:
    if len(tools(ask)) > most:
        yield "tools"


def _kinds(ask: Ask, kinds: list[str]) -> Iterator[str]:
    for index, tool in enumerate(tools(ask)):
        if tool.get("type") in _FUNCTION_KINDS - set(kinds):
            yield f"tools[{index}].type"


def _own(ask: Ask, own: list[str]) -> Iterator[str]:
    for index, tool in enumerate(tools(ask)):
        kind = tool.get("type")
        if not isinstance(kind, str) or kind in _FUNCTION_KINDS or "input_schema" in tool:
            continue
        if not any(fnmatchcase(kind, each) for each in own):
            yield f"tools[{index}].type"


def _tool_effort(ask: Ask, rule: str) -> Iterator[str]:
    said = _effort(ask)
    functions = any(tool.get("type") == "function" for tool in tools(ask))
    effort = said[1] if said else None
    if functions and (
        (rule == "drop" and effort not in (None, "none")) or (rule == "none" and effort != "none")
    ):
        yield "reasoning_effort"


def _efforts(ask: Ask, efforts: list[str]) -> Iterator[str]:
    said = _effort(ask)
    if said and isinstance(said[1], str) and said[1].lower() not in efforts:
        yield said[0]


def _controls(ask: Ask, controls: list[str]) -> Iterator[str]:
    said = _effort(ask)
    if said and "effort" not in controls:
        yield said[0]


_SWITCHES = {
    "thinking": ("thinking",),
    "enable_thinking": ("enable_thinking", "thinking_budget"),
    "chat_template_kwargs": ("chat_template_kwargs",),
    "reasoning": ("reasoning",),
    "reasoning.enabled": ("reasoning",),
    "reasoning_effort": (),
}
"""Members of Chat Completions by which reasoning is turned on and off, by the fact that says so."""


def _switch(ask: Ask, own: str) -> Iterator[str]:
    """Another server's switch: it would be refused, or not be heeded."""
    for members in _SWITCHES.values():
        yield from (each for each in members if each in ask.body and each not in _SWITCHES[own])


def _same_strict(ask: Ask, wanted: bool) -> Iterator[str]:
    said = {bool(_function(tool).get("strict")) for tool in tools(ask)}
    if wanted and len(said) > 1:
        yield "tools"


def _needs_schema(ask: Ask, wanted: bool) -> Iterator[str]:
    for index, tool in enumerate(tools(ask)):
        if wanted and tool.get("type") == "function" and not _function(tool).get("parameters"):
            yield f"tools[{index}].function.parameters"


def _function(tool: Json) -> Json:
    inner = tool.get("function")
    return inner if isinstance(inner, dict) else tool


def _object_arguments(ask: Ask, wanted: bool) -> Iterator[str]:
    for index, message in enumerate(ask.body.get("messages") or ()):
        for call in message.get("tool_calls") or ():
            text = (call.get("function") or {}).get("arguments")
            try:
                read = json.loads(text) if isinstance(text, str) else text
            except ValueError:
                read = None
            if wanted and not isinstance(read, dict):
                yield f"messages[{index}].tool_calls"


def _developer(ask: Ask, taken: bool) -> Iterator[str]:
    said = ask.body.get("messages") if ask.protocol == "openai-chat" else ask.body.get("input")
    for index, each in enumerate(said if isinstance(said, list) else ()):
        if not taken and isinstance(each, dict) and each.get("role") == "developer":
            yield f"messages[{index}].role"


_USUAL_ITEMS = {None, "message", "function_call", "function_call_output", "reasoning"}


def _items(ask: Ask, taken: list[str]) -> Iterator[str]:
    said = ask.body.get("input")
    for index, each in enumerate(said if isinstance(said, list) else ()):
        kind = each.get("type") if isinstance(each, dict) else None
        if kind not in _USUAL_ITEMS and not any(fnmatchcase(kind, one) for one in taken):
            yield f"input[{index}]"


def _chosen(ask: Ask) -> str | None:
    choice = ask.body.get("tool_choice")
    if isinstance(choice, dict):
        kind = choice.get("type")
        return {
            "function": "tool",
            "custom": "tool",
            "allowed_tools": "allowed",
            "any": "required",
        }.get(kind, kind)
    return choice


def _choices(ask: Ask, taken: list[str]) -> Iterator[str]:
    chosen = _chosen(ask)
    allowed = {*taken, *(each.partition(".")[0] for each in taken)}
    if chosen in {"auto", "required", "none", "tool", "allowed", "any"} - allowed:
        yield "tool_choice"


def _metadata(ask: Ask, most: Mapping[str, int]) -> Iterator[str]:
    given = ask.body.get("metadata")
    for key, value in given.items() if isinstance(given, dict) else ():
        if len(key) > most["key"] or not isinstance(value, str) or len(value) > most["value"]:
            yield f"metadata.{key}"
    if isinstance(given, dict) and len(given) > most["pairs"]:
        yield "metadata"


def _hosted_alone(ask: Ask, when: str) -> Iterator[str]:
    tools = [each for each in ask.body.get("tools") or () if isinstance(each, dict)]
    kinds = {key for each in tools for key, held in each.items() if held != []}
    if when == "always" and "functionDeclarations" in kinds and len(kinds) > 1:
        yield "tools"


def _output_object(ask: Ask, wanted: bool) -> Iterator[str]:
    said = ask.body.get("response_format") or {}
    schema = (said.get("json_schema") or {}).get("schema")
    formed = (ask.body.get("text") or {}).get("format") or {}
    for each in (schema, formed.get("schema")):
        if wanted and isinstance(each, dict) and each.get("type") != "object":
            yield "response_format"


def _ids(ask: Ask, rule: Json) -> Iterator[str]:
    import re

    chars = f"[{rule['chars']}]" if rule.get("chars") else "."
    pattern = re.compile(f"^{chars}{{{rule.get('least', 1)},{rule.get('most', '')}}}$")
    for index, message in enumerate(ask.body.get("messages") or ()):
        given = [call.get("id") for call in message.get("tool_calls") or ()]
        given += [message["tool_call_id"]] if message.get("tool_call_id") else []
        if any(isinstance(each, str) and not pattern.match(each) for each in given):
            yield f"messages[{index}]"


def _marks(ask: Ask, most: int) -> Iterator[str]:
    if json.dumps(ask.body).count('"cache_control": {') > most:
        yield "cache_control"


def _members(ask: Ask, paths: list[str]) -> Iterator[str]:
    yield from (path for path in paths if _is_at(ask.body, path.split(".")))


def _is_at(value: Any, steps: list[str]) -> bool:
    """Whether something stands at a path, whose `[]` means every element of a list."""
    if not steps:
        return True
    step, rest = steps[0], steps[1:]
    key, is_list = step.removesuffix("[]"), step.endswith("[]")
    if not isinstance(value, dict) or value.get(key) is None:
        return False
    inner = value[key]
    if is_list:
        return isinstance(inner, list) and any(_is_at(each, rest) for each in inner)
    return _is_at(inner, rest)


CHECKS: Mapping[str, Check] = {
    "body.dropped": _members,
    "limits.name": _limit_name,
    "limits.least": _limit_least,
    "limits.most": _limit_most,
    "sampling.temperature": _temperature,
    "sampling.dropped": _dropped,
    "sampling.lengths": _lengths,
    "sampling.metadata": _metadata,
    "schema.output_object": _output_object,
    "tools.hosted_alone": _hosted_alone,
    "tools.most": _most_tools,
    "tools.kinds": _kinds,
    "tools.own": _own,
    "tools.effort": _tool_effort,
    "tools.needs_schema": _needs_schema,
    "tools.same_strict": _same_strict,
    "tools.choices": _choices,
    "reasoning.efforts": _efforts,
    "reasoning.controls": _controls,
    "reasoning.switch": _switch,
    "system.developer_role": _developer,
    "messages.items": _items,
    "calls.id_rule": _ids,
    "calls.object_arguments": _object_arguments,
    "cache.max_marks": _marks,
}
"""By the name of a fact. Facts without a check are those of form, which the rules of each protocol
look at, and those that say what a provider does, not what it refuses."""
