"""Chat Completions: what OpenAI refuses in the form of a request.

Ids are those of the providers' rules; the words are theirs.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from openai.types.chat.completion_create_params import CompletionCreateParams
from tests.upstreams.strict import json_schemas
from tests.upstreams.strict.refusal import Ask, Json, Refusal, Rule
from tests.upstreams.strict.sdk_shapes import Misfit, Path, misfits

_NAME = re.compile(r"^[a-zA-Z0-9_-]+$")
_IMAGES = ("png", "jpeg", "jpg", "gif", "webp")


def messages_of(ask: Ask) -> list[Json]:
    """The messages of a request."""
    found = ask.body.get("messages")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def tools_of(ask: Ask) -> list[Json]:
    """Its tools."""
    found = ask.body.get("tools")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def calls_of(message: Json) -> list[Json]:
    """The calls of a message."""
    found = message.get("tool_calls")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def parts_of(message: Json) -> list[Json]:
    """The parts of a message."""
    found = message.get("content")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def written(path: Path) -> str:
    """A path as OpenAI writes it: `messages[1].content[0].type`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def listed(values: tuple[Any, ...]) -> str:
    """Values as OpenAI lists them."""
    quoted = [f"'{each}'" for each in values]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def type_name(value: Any) -> str:
    """What OpenAI calls a value of the wrong type."""
    if value is None:
        return "null"
    names = {str: "a string", bool: "a boolean", int: "an integer", float: "a decimal"}
    return names.get(type(value), "an array" if isinstance(value, list) else "an object")


# --- the form of OpenAI ---------------------------------------------------------------------------

_TAKEN_BESIDE = {
    ("messages", "*", "annotations"),
    ("messages", "*", "name"),
    ("messages", "*", "refusal"),
    ("messages", "*", "tool_calls", "*", "index"),
}
"""What its SDK does not declare and it takes all the same, seen in recordings (OAI-120)."""


def _is_taken(ask: Ask, found: Misfit) -> bool:
    if ask.provider == "azure" and found.path == ("model",):
        return True  # the deployment is in the path
    path = tuple("*" if isinstance(step, int) else step for step in found.path)
    if found.kind == "unknown":
        return path in _TAKEN_BESIDE or path[:2] == ("tools", "*")
    nothing = found.kind == "type" and found.got is None and len(path) == 1
    return nothing and path[0] not in ("max_tokens", "reasoning_effort", "parallel_tool_calls")


def form(ask: Ask) -> Iterator[Refusal]:
    """Members, types and values, as openai-python declares them."""
    for found in misfits(ask.body, CompletionCreateParams):
        if not _is_taken(ask, found):
            yield openai_misfit(found, is_chat=True)


def openai_misfit(found: Misfit, *, is_chat: bool = False) -> Refusal:
    """What OpenAI says of something that its types do not allow."""
    param = written(found.path)
    if found.kind == "unknown":
        if is_chat and len(found.path) == 1:
            return Refusal("OAI-059", f"Unrecognized request argument supplied: {param}")
        words = f"Unknown parameter: '{param}'."
        return Refusal("OAI-059", words, param=param, code="unknown_parameter")
    if found.kind == "missing":
        words = f"Missing required parameter: '{param}'."
        rule = "OAI-097" if param.startswith("tools") else "OAI-114"
        return Refusal(rule, words, param=param, code="missing_required_parameter")
    if found.kind == "value":
        words = f"Invalid value: '{found.got}'. Supported values are: {listed(found.allowed)}."
        return Refusal("OAI-142", words, param=param, code="invalid_value")
    wanted = next((each for each in found.allowed if each != "null"), "something else")
    words = (
        f"Invalid type for '{param}': expected {wanted}, but got {type_name(found.got)} instead."
    )
    return Refusal("OAI-112", words, param=param, code="invalid_type")


def content(ask: Ask) -> Iterator[Refusal]:
    """Null content, empty lists of parts, and parts in messages that do not take them."""
    if not messages_of(ask):
        words = "Invalid 'messages': empty array. Expected an array with minimum length 1."
        yield Refusal("OAI-057", words, param="messages", code="empty_array")
    for index, message in enumerate(messages_of(ask)):
        at = f"messages.[{index}].content"
        if message.get("content") is None and not (
            message.get("role") == "assistant"
            and (calls_of(message) or message.get("refusal") or message.get("function_call"))
        ):
            words = "Invalid value for 'content': expected a string, got null."
            yield Refusal("OAI-112", words, param=at)
        if any(part.get("type") == "input_audio" for part in parts_of(message)) and (
            "audio" not in ask.model
        ):
            words = (
                f"Invalid 'messages[{index}]'. Content blocks are expected to be either text or "
                "image_url type."
            )
            yield Refusal("OAI-115", words, param=f"messages[{index}]", code="invalid_value")
        if message.get("content") == []:
            words = f"Invalid 'messages[{index}].content': empty array."
            yield Refusal("OAI-114", words, param=at, code="empty_array")
        yield from _tool_parts(index, message)


def _tool_parts(index: int, message: Json) -> Iterator[Refusal]:
    if message.get("role") != "tool":
        return
    for part in parts_of(message):
        if part.get("type") == "image_url":
            words = (
                f"Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role "
                "'user', but this message with role 'tool' contains an image URL."
            )
            yield Refusal("OAI-116", words, param=f"messages[{index}]", code="invalid_value")
        elif part.get("type") != "text":
            words = (
                f"Invalid 'messages[{index}]'. Content blocks are expected to be either text or "
                "image_url type."
            )
            yield Refusal("OAI-115", words, param=f"messages[{index}]", code="invalid_value")


def images(ask: Ask) -> Iterator[Refusal]:
    """Kinds of pictures."""
    for message in messages_of(ask):
        for part in parts_of(message):
            url = (part.get("image_url") or {}) if part.get("type") == "image_url" else {}
            text = url.get("url", "") if isinstance(url, dict) else url
            if text.startswith("data:") and not text.startswith(
                tuple(f"data:image/{kind}" for kind in _IMAGES)
            ):
                words = (
                    "You uploaded an unsupported image. Please make sure your image has of one the "
                    "following formats: ['png', 'jpeg', 'gif', 'webp']."
                )
                yield Refusal("OAI-121", words, code="invalid_image_format")


def names(ask: Ask) -> Iterator[Refusal]:
    """Names of tools, declared and called, and of those who speak."""
    places = [
        (f"tools[{index}].{kind}.name", tool[kind].get("name"))
        for index, tool in enumerate(tools_of(ask))
        for kind in ("function", "custom")
        if isinstance(tool.get(kind), dict)
    ]
    for index, message in enumerate(messages_of(ask)):
        places += [
            (f"messages[{index}].tool_calls[{number}].{kind}.name", call[kind].get("name"))
            for number, call in enumerate(calls_of(message))
            for kind in ("function", "custom")
            if isinstance(call.get(kind), dict)
        ]
        if message.get("name") is not None and message.get("role") != "tool":
            places.append((f"messages[{index}].name", message["name"]))
    for at, name in places:
        if not isinstance(name, str):
            continue
        if not _NAME.match(name):
            words = (
                f"Invalid '{at}': string does not match pattern. Expected a string that matches "
                "the pattern '^[a-zA-Z0-9_-]+$'."
            )
            yield Refusal("OAI-083", words, param=at, code="invalid_value")
        elif len(name) > 64:
            words = (
                f"Invalid '{at}': string too long. Expected a string with maximum length 64, but "
                f"got a string with length {len(name)} instead."
            )
            yield Refusal("OAI-083", words, param=at, code="string_above_max_length")


def ids(ask: Ask) -> Iterator[Refusal]:
    """The length of ids of calls."""
    for index, message in enumerate(messages_of(ask)):
        for number, call in enumerate(calls_of(message)):
            given = call.get("id")
            if isinstance(given, str) and len(given) > 64:
                at = f"messages[{index}].tool_calls[{number}].id"
                words = (
                    f"Invalid '{at}': string too long. Expected a string with maximum length 64, "
                    f"but got a string with length {len(given)} instead."
                )
                yield Refusal("OAI-119", words, param=at, code="string_above_max_length")


UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
)
UNCALLED = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
    "'tool_calls'."
)


def pairing(
    ask: Ask,
    *,
    unanswered: tuple[str, str] = ("OAI-110", UNANSWERED),
    uncalled: tuple[str, str] = ("OAI-111", UNCALLED),
) -> Iterator[Refusal]:
    """Each call has its result before anything else is said, and each result has its call."""
    waiting: list[str] = []
    for index, message in enumerate(messages_of(ask)):
        if message.get("role") == "tool":
            if message.get("tool_call_id") in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                param = f"messages.[{index}].role"
                yield Refusal(uncalled[0], uncalled[1], param=param)
            continue
        if waiting:
            words = unanswered[1].format(ids=", ".join(waiting))
            yield Refusal(unanswered[0], words, param=f"messages.[{index}].role")
        waiting = [str(call.get("id")) for call in calls_of(message)]
    if waiting:
        words = unanswered[1].format(ids=", ".join(waiting))
        yield Refusal(unanswered[0], words, param="messages")


def tools(ask: Ask) -> Iterator[Refusal]:
    """Empty lists, and choices without tools."""
    if ask.body.get("tools") == []:
        yield Refusal("OAI-082", "[] is too short - 'tools'", param="tools")
    if not ask.body.get("tools") and not ask.body.get("functions"):
        for key in ("tool_choice", "parallel_tool_calls"):
            if ask.body.get(key) not in (None, "none", "auto"):
                only = f"'{key}' is only allowed when 'tools' are specified."
                words = f"Invalid value for '{key}': {only}"
                yield Refusal("OAI-101", words, param=key)
    if "stream_options" in ask.body and ask.body["stream_options"] and not ask.body.get("stream"):
        words = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        yield Refusal("OAI-062", words, param="stream_options")


def schemas(ask: Ask) -> Iterator[Refusal]:
    """The parameters of functions, and the schema of the answer."""
    for index, tool in enumerate(tools_of(ask)):
        function = tool.get("function")
        if not isinstance(function, dict) or function.get("parameters") is None:
            continue
        name, schema = str(function.get("name")), function["parameters"]
        faults = list(json_schemas.openai_function(schema, name))
        if function.get("strict") is True and not faults:
            says = f"Invalid schema for function '{name}': "
            faults = list(json_schemas.openai_strict(schema, says))
        for rule, words in faults:
            at = f"tools[{index}].function.parameters"
            yield Refusal(rule, words, param=at, code="invalid_function_parameters")
    yield from _answer_schema(ask)


def _answer_schema(ask: Ask) -> Iterator[Refusal]:
    wanted = ask.body.get("response_format")
    wanted = wanted.get("json_schema") if isinstance(wanted, dict) else None
    if isinstance(wanted, dict):
        yield from answer_schema(wanted, "response_format", "response_format.json_schema.schema")


def answer_schema(wanted: Json, said: str, at: str) -> Iterator[Refusal]:
    """The schema of an answer: an object at its top, and more where it is strict."""
    says = f"Invalid schema for {said} '{wanted.get('name')}': "
    schema = wanted.get("schema")
    if (
        isinstance(schema, dict)
        and schema
        and schema.get("type") != "object"
        and "$ref" not in schema
    ):
        kind = schema.get("type")
        words = f"{says}schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
        yield Refusal("OAI-085", words, param=at, code="invalid_json_schema")
    if wanted.get("strict") is True and isinstance(schema, dict):
        for rule, words in json_schemas.openai_strict(schema, says):
            yield Refusal(rule, words, param=at, code="invalid_json_schema")


def sampling(ask: Ask) -> Iterator[Refusal]:
    """Ranges."""
    body = ask.body
    ranges = {"temperature": (0, 2), "top_p": (0, 1)}
    ranges |= dict.fromkeys(("frequency_penalty", "presence_penalty"), (-2, 2))
    for key, (least, most) in ranges.items():
        value = body.get(key)
        if isinstance(value, (int, float)) and not least <= value <= most:
            over, bound = (
                ("above maximum", f"<= {most}")
                if value > most
                else ("below minimum", f">= {least}")
            )
            code = "decimal_above_max_value" if value > most else "decimal_below_min_value"
            words = (
                f"Invalid '{key}': decimal {over} value. Expected a value {bound}, but got {value} "
                "instead."
            )
            yield Refusal("OAI-054", words, param=key, code=code)
    stop = body.get("stop")
    if isinstance(stop, list) and len(stop) > 4:
        words = (
            "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an "
            f"array with length {len(stop)} instead."
        )
        yield Refusal("OAI-057", words, param="stop", code="array_above_max_length")
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        words = (
            "Invalid value for 'top_logprobs': 'top_logprobs' is only allowed when 'logprobs' is "
            "enabled."
        )
        yield Refusal("OAI-057", words, param="top_logprobs")
    for key in ("max_tokens", "max_completion_tokens"):
        if isinstance(body.get(key), int) and body[key] < 1:
            words = (
                f"Invalid '{key}': integer below minimum value. Expected a value >= 1, but got "
                f"{body[key]} instead."
            )
            yield Refusal("OAI-013", words, param=key, code="integer_below_min_value")


def metadata(ask: Ask) -> Iterator[Refusal]:
    """How much may be noted, and the word json."""
    pairs = ask.body.get("metadata")
    if isinstance(pairs, dict):
        long = [key for key, value in pairs.items() if len(key) > 64 or len(str(value)) > 512]
        if len(pairs) > 16 or long:
            words = "Invalid 'metadata': too many properties, or one that is too long."
            yield Refusal("OAI-069", words, param="metadata")
    wanted = ask.body.get("response_format")
    if isinstance(wanted, dict) and wanted.get("type") == "json_object":
        text = json.dumps(messages_of(ask), ensure_ascii=False).lower()
        if "json" not in text:
            words = (
                "'messages' must contain the word 'json' in some form, to use 'response_format' of "
                "type 'json_object'."
            )
            yield Refusal("OAI-127", words, param="messages")


# --- models of OpenAI -----------------------------------------------------------------------------

_REASONING = re.compile(r"(?i)^(?:openai/)?(o[134](-|$)|gpt-[5-9])")
_ALWAYS_REASONS = re.compile(
    r"(?i)^(?:openai/)?(o[134](-|$)|gpt-5(-2|-mini|-nano|-pro|$)|gpt-6-astra)"
)
_ONLY_RESPONSES = re.compile(
    r"(?i)^(gpt-5.*-codex|gpt-5(\.\d)?-pro|o[13]-pro|.*-deep-research|computer-use-preview)"
)
_TOOLS_NEED_NONE = re.compile(r"(?i)^(gpt-5\.6|gpt-6-(sol|luna|astra)|gpt-6\.1-sol)")
_TOOLS_BAR_EFFORT = re.compile(r"(?i)^gpt-5\.[45](-mini|-nano|-20|$)")
_NO_PARALLEL = re.compile(r"(?i)^o[134](-|$)")


def models(ask: Ask) -> Iterator[Refusal]:
    """What only some models take: the name of the limit, effort beside tools, temperature."""
    body, model = ask.body, ask.model
    if _ONLY_RESPONSES.match(model):
        words = "This model is only supported in v1/responses and not in v1/chat/completions."
        yield Refusal("OAI-004", words, status=404, param="model")
    if "instruct" in model:
        words = (
            "This is not a chat model and thus not supported in the v1/chat/completions endpoint. "
            "Did you mean to use v1/completions?"
        )
        yield Refusal("OAI-004", words, status=404, param="model")
    if body.get("web_search_options") is not None and "search" not in model:
        words = "Web search options not supported with this model."
        yield Refusal("OAI-061", words, param="web_search_options")
    if model.startswith(("o1-mini", "o1-preview")):
        for index, message in enumerate(messages_of(ask)):
            if message.get("role") in ("system", "developer"):
                at = f"messages[{index}].role"
                words = (
                    f"Unsupported value: '{at}' does not support '{message['role']}' with this "
                    "model."
                )
                yield Refusal("OAI-117", words, param=at, code="unsupported_value")
    if _REASONING.match(model) and "max_tokens" in body and "chat-latest" not in model:
        words = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead."
        )
        yield Refusal("OAI-010", words, param="max_tokens", code="unsupported_parameter")
    effort = body.get("reasoning_effort")
    if effort is not None and not _REASONING.match(model):
        words = "Unrecognized request argument supplied: reasoning_effort"
        yield Refusal("OAI-034", words)
    if tools_of(ask):
        yield from _effort_beside_tools(model, effort)
    if _ALWAYS_REASONS.match(model):
        yield from _while_reasoning(body)
    if _NO_PARALLEL.match(model) and body.get("parallel_tool_calls") is not None:
        words = "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."
        yield Refusal("OAI-102", words, param="parallel_tool_calls", code="unsupported_parameter")


def _effort_beside_tools(model: str, effort: str | None) -> Iterator[Refusal]:
    says = (
        f"Function tools with reasoning_effort are not supported for {model} in "
        "/v1/chat/completions. "
    )
    if _TOOLS_NEED_NONE.match(model) and effort != "none":
        words = f"{says}To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        yield Refusal("OAI-041", words, param="reasoning_effort")
    elif _TOOLS_BAR_EFFORT.match(model) and effort not in (None, "none"):
        words = f"{says}Please use /v1/responses instead."
        yield Refusal("OAI-040", words, param="reasoning_effort")


def _while_reasoning(body: Json) -> Iterator[Refusal]:
    if body.get("temperature") not in (None, 1):
        words = (
            f"Unsupported value: 'temperature' does not support {body['temperature']} with this "
            "model. Only the default (1) value is supported."
        )
        yield Refusal("OAI-050", words, param="temperature", code="unsupported_value")
    for key, default in (
        ("top_p", 1), ("presence_penalty", 0), ("frequency_penalty", 0), ("logit_bias", None),
        ("logprobs", False), ("top_logprobs", None),
    ):  # fmt: skip
        if body.get(key) not in (None, default):
            words = f"Unsupported parameter: '{key}' is not supported with this model."
            yield Refusal("OAI-055", words, param=key, code="unsupported_parameter")


OPENAI: tuple[Rule, ...] = (
    form, content, images, names, ids, pairing, tools, schemas, sampling, metadata, models,
)  # fmt: skip
