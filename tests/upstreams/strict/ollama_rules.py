"""Ollama `/api/chat`: what its server refuses, as its Go types read a request (OL-04 to OL-18)."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from tests.upstreams.strict.refusal import Ask, Json, Refusal, Rule

_DURATION = re.compile(r"^-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$|^0$")
_OPTIONS = {
    "num_ctx": int, "num_predict": int, "num_keep": int, "seed": int, "top_k": int,
    "temperature": float, "top_p": float, "min_p": float, "repeat_penalty": float,
    "presence_penalty": float, "frequency_penalty": float, "stop": list,
}  # fmt: skip
_GO = {str: "string", list: "array", dict: "object", bool: "bool", int: "number", float: "number"}


def _unmarshal(value: Any, field: str, kind: str) -> Refusal:
    words = (
        f"json: cannot unmarshal {_GO.get(type(value), 'null')} into Go struct field "
        f"{field} of type {kind}"
    )
    return Refusal("OL-10", words)


def _messages(ask: Ask) -> list[Json]:
    found = ask.body.get("messages")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def messages(ask: Ask) -> Iterator[Refusal]:
    """Content is text, arguments are objects, pictures are base64."""
    if not ask.body.get("model"):
        yield Refusal("OL-04", "model is required")
    for message in _messages(ask):
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            yield _unmarshal(content, "ChatRequest.messages.content", "string")
        for call in message.get("tool_calls") or ():
            arguments = (call.get("function") or {}).get("arguments")
            if arguments is not None and not isinstance(arguments, dict):
                words = (
                    "json: cannot unmarshal string into Go struct field "
                    "ToolCallFunction.arguments of type map[string]interface {}"
                )
                yield Refusal("OL-11", words)
        for image in message.get("images") or ():
            if not isinstance(image, str) or not _is_base64(image):
                yield Refusal("OL-12", "illegal base64 data at input byte 4")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        return text.endswith("…") or "[" in text  # cut in a recording
    return not text.startswith("data:")


def settings(ask: Ask) -> Iterator[Refusal]:
    """Thinking, formats, options, and how long to keep the model."""
    think = ask.body.get("think")
    if think is not None and think not in (True, False, "high", "medium", "low", "max"):
        words = (
            f'invalid think value: "{think}" (must be "high", "medium", "low", "max", true, or '
            "false)"
        )
        yield Refusal("OL-08", words)
    wanted = ask.body.get("format")
    if wanted not in (None, "", "json") and not isinstance(wanted, dict):
        words = f'invalid format: "{wanted}"; expected "json" or a valid JSON Schema object'
        yield Refusal("OL-14", words)
    keep = ask.body.get("keep_alive")
    if isinstance(keep, str) and not _DURATION.match(keep):
        yield Refusal("OL-15", f'time: missing unit in duration "{keep}"')
    for key, value in (ask.body.get("options") or {}).items():
        kind = _OPTIONS.get(key)
        if value is None or kind is None:
            continue
        fits = isinstance(value, (int, float) if kind in (int, float) else kind)
        if not fits or isinstance(value, bool):
            yield Refusal("OL-16", f'option "{key}" must be of type {_GO[kind]}')


def tools(ask: Ask) -> Iterator[Refusal]:
    """The parameters of tools fit into fixed types."""
    for tool in ask.body.get("tools") or ():
        if not isinstance(tool, dict):
            continue
        schema = (tool.get("function") or {}).get("parameters")
        if isinstance(schema, dict):
            yield from _schema(schema)


def _schema(schema: Json) -> Iterator[Refusal]:
    at = "ToolFunctionParameters"
    if not isinstance(schema.get("type", ""), str):
        yield Refusal(
            "OL-18", f"json: cannot unmarshal array into Go struct field {at}.type of type string"
        )
    if not isinstance(schema.get("required") or [], list):
        yield Refusal(
            "OL-18", f"json: cannot unmarshal into Go struct field {at}.required of type []string"
        )
    properties = schema.get("properties")
    if properties is not None and not isinstance(properties, dict):
        yield Refusal("OL-18", f"json: cannot unmarshal into Go struct field {at}.properties")
        return
    for each in (properties or {}).values():
        if not isinstance(each, dict):
            words = "json: cannot unmarshal bool into Go value of type api.ToolProperty"
            yield Refusal("OL-18", words)


_NO_TOOLS = re.compile(
    r"(?i)^(gemma[:-]|gemma2|llama2|codellama|phi:|phi3|tinyllama|moondream|llava)"
)
_THINKS = re.compile(
    r"(?i)^(qwen3|deepseek-(r1|v3\.1|v4)|gpt-oss|magistral|glm|kimi|minimax|nemotron)"
)


def models(ask: Ask) -> Iterator[Refusal]:
    """What the template of a model does not have."""
    if ask.body.get("tools") and _NO_TOOLS.match(ask.model):
        yield Refusal("OL-05", f"registry.ollama.ai/library/{ask.model} does not support tools")
    if ask.body.get("think") not in (None, False) and not _THINKS.match(ask.model):
        yield Refusal("OL-06", f'"{ask.model}" does not support thinking')


OLLAMA: tuple[Rule, ...] = (messages, settings, tools, models)

BY_PROVIDER: dict[str, tuple[Rule, ...]] = {"ollama": OLLAMA}
