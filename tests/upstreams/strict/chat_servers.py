"""Chat Completions: what others who speak OpenAI's protocol refuse, each in its own words."""

import itertools
import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.upstreams.strict.chat_rules import (
    OPENAI,
    UNANSWERED,
    UNCALLED,
    calls_of,
    content,
    messages_of,
    names,
    pairing,
    parts_of,
    tools_of,
)
from tests.upstreams.strict.refusal import Ask, Json, Refusal, Rule

FOUR_ROLES = ("system", "user", "assistant", "tool")


def roles(
    ask: Ask, rule: str, taken: tuple[str, ...], words: str, status: int
) -> Iterator[Refusal]:
    """The roles that are known."""
    for index, message in enumerate(messages_of(ask)):
        if message.get("role") not in taken:
            said = words.format(index=index, role=message.get("role"))
            yield Refusal(rule, said, status=status)


def function_names(ask: Ask, rule: str, words: str) -> Iterator[Refusal]:
    """Names of functions, in the words of others."""
    for found in names(ask):
        if found.param and (".function." in found.param or ".custom." in found.param):
            yield Refusal(rule, words or found.words, param=found.param)


def function_tools(ask: Ask, rule: str, words: str, status: int = 400) -> Iterator[Refusal]:
    """Only functions, in the nested form."""
    for index, tool in enumerate(tools_of(ask)):
        if tool.get("type") != "function" or not isinstance(tool.get("function"), dict):
            yield Refusal(rule, words.format(index=index, tool=json.dumps(tool)), status=status)


def member(ask: Ask, rule: str, key: str, words: str, status: int = 400) -> Iterator[Refusal]:
    """A member of an assistant message that is not known."""
    for index, message in enumerate(messages_of(ask)):
        if key in message:
            said = words.format(index=index, key=key, role=message.get("role"))
            yield Refusal(rule, said, status=status)


def part_types(ask: Ask, rule: str, taken: tuple[str, ...], words: str) -> Iterator[Refusal]:
    """Kinds of content parts."""
    for index, message in enumerate(messages_of(ask)):
        for part in parts_of(message):
            if part.get("type") not in taken:
                yield Refusal(rule, words.format(index=index, type=part.get("type")))


def arguments(ask: Ask, rule: str, words: str) -> Iterator[Refusal]:
    """Arguments in the history are JSON objects, written as text."""
    for message in messages_of(ask):
        for call in calls_of(message):
            given = (call.get("function") or {}).get("arguments")
            if isinstance(given, str) and not _is_object(given):
                yield Refusal(rule, words.format(id=call.get("id")))


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def empty_tools(ask: Ask, rule: str, words: str) -> Iterator[Refusal]:
    """A list of tools without a tool."""
    if ask.body.get("tools") == []:
        yield Refusal(rule, words)


def ranges(ask: Ask, rule: str, words: str) -> Iterator[Refusal]:
    """Temperature from 0 to 2."""
    value = ask.body.get("temperature")
    if isinstance(value, (int, float)) and not 0 <= value <= 2:
        yield Refusal(rule, words.format(value=value))


# DeepSeek: sources in the rules DS-05 … DS-25.

_SERDE = "Failed to deserialize the JSON body into the target type: "


def _thinks(ask: Ask) -> bool:
    said = ask.body.get("thinking")
    if isinstance(said, dict):
        return said.get("type") != "disabled"
    return not re.match(r"(?i)deepseek-(chat|v3(?!\.2)|coder)", ask.model)


def deepseek_thinking(ask: Ask) -> Iterator[Refusal]:
    """Where it thinks, its reasoning comes back with its calls, and no tool can be forced."""
    if not _thinks(ask):
        return
    for message in messages_of(ask):
        if calls_of(message) and message.get("reasoning_content") is None:
            words = "The `reasoning_content` in the thinking mode must be passed back to the API."
            yield Refusal("DS-05", words, code="invalid_request_error")
    if ask.body.get("tool_choice") not in (None, "auto", "none"):
        words = "Thinking mode does not support this tool_choice"
        yield Refusal("DS-14", words, code="invalid_request_error")


def deepseek_format(ask: Ask) -> Iterator[Refusal]:
    """No schemas for answers, and no strict functions outside its beta."""
    wanted = ask.body.get("response_format")
    if isinstance(wanted, dict) and wanted.get("type") == "json_schema":
        words = "This response_format type is unavailable now"
        yield Refusal("DS-25", words, code="invalid_request_error")


DEEPSEEK: tuple[Rule, ...] = (
    partial(
        roles,
        rule="DS-17",
        taken=FOUR_ROLES,
        words=_SERDE + "messages[{index}].role: unknown variant `{role}`, expected one of "
        "`system`, `user`, `assistant`, `tool` at line 1 column 85",
        status=400,
    ),
    partial(
        part_types,
        rule="DS-15",
        taken=("text",),
        words=_SERDE + "messages[{index}]: unknown variant `{type}`, expected `text` at line 1 "
        "column 391",
    ),
    partial(
        function_tools,
        rule="DS-23",
        words=_SERDE + "tools[{index}]: missing field `function` at line 1 column 2949",
    ),
    partial(function_names, rule="DS-24", words=""),
    partial(
        pairing,
        unanswered=(
            "DS-18",
            (
                "An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each 'tool_call_id'. (insufficient tool messages following "
                "tool_calls message)"
            ),
        ),
        uncalled=(
            "DS-19",
            "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        ),
    ),
    deepseek_thinking,
    deepseek_format,
)


# Groq: GQ-003 … GQ-029.

_GROQ_MEMBERS = {
    "role", "content", "name", "tool_calls", "tool_call_id", "reasoning", "function_call",
    "refusal", "annotations", "channel",
}  # fmt: skip
_GROQ_REASONS = re.compile(r"(?i)gpt-oss|qwen3|deepseek-r1|qwq|kimi-k2-thinking")


def groq_messages(ask: Ask) -> Iterator[Refusal]:
    """Members of messages that it does not know, and reasoning where the model has none."""
    for index, message in enumerate(messages_of(ask)):
        for key in message:
            if key not in _GROQ_MEMBERS:
                words = (
                    f"'messages.{index}' : for 'role:{message.get('role')}' the following must be "
                    f"satisfied[('messages.{index}' : property '{key}' is unsupported)]"
                )
                yield Refusal("GQ-003", words)
        if "reasoning" in message and not _GROQ_REASONS.search(ask.model):
            words = f"messages[{index}].reasoning: reasoning is not supported with this model"
            yield Refusal("GQ-004", words)


def groq_fields(ask: Ask) -> Iterator[Refusal]:
    """What is documented to give 400, and JSON beside tools."""
    body = ask.body
    for key in ("logprobs", "top_logprobs", "logit_bias"):
        if body.get(key):
            yield Refusal("GQ-008", f"property '{key}' is unsupported")
    if body.get("n") not in (None, 1):
        yield Refusal("GQ-008", "'n' : value must be 1")
    wanted = body.get("response_format")
    if isinstance(wanted, dict) and wanted.get("type") == "json_object" and tools_of(ask):
        yield Refusal("GQ-029", "json mode cannot be combined with tool/function calling")
    if body.get("reasoning_format") and "include_reasoning" in body:
        yield Refusal("GQ-013", "cannot specify both include_reasoning and reasoning_format")
    choice = body.get("tool_choice")
    named = (choice.get("function") or {}).get("name") if isinstance(choice, dict) else None
    declared = [(tool.get("function") or {}).get("name") for tool in tools_of(ask)]
    if named and named not in declared:
        yield Refusal("GQ-017", "requested tool does not exist")


GROQ: tuple[Rule, ...] = (
    groq_messages,
    groq_fields,
    partial(
        pairing,
        unanswered=("GQ-pairing", UNANSWERED),
        uncalled=("GQ-pairing", UNCALLED),
    ),
)


# Mistral: MI-03 … MI-26, mostly mistral-common's validator.

_MISTRAL_BODY = {
    "model", "messages", "temperature", "top_p", "max_tokens", "stream", "stop", "random_seed",
    "metadata", "response_format", "tools", "tool_choice", "presence_penalty", "frequency_penalty",
    "n", "prediction", "parallel_tool_calls", "reasoning_effort", "prompt_mode", "guardrails",
    "safe_prompt", "prompt_cache_key", "stream_options", "logprobs", "top_logprobs",
}  # fmt: skip
_MISTRAL_MESSAGE = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "prefix"},
    "tool": {"role", "content", "tool_call_id", "name"},
}
_MISTRAL_PARTS = {
    "text", "image_url", "document_url", "reference", "bbox", "file_url", "input_audio", "file",
    "thinking", "resource", "resource_link",
}  # fmt: skip
_NINE = re.compile(r"^[a-zA-Z0-9]{9}$")


def _extra(loc: list[Any]) -> Refusal:
    detail = [
        {"type": "extra_forbidden", "loc": ["body", *loc], "msg": "Extra inputs are not permitted"}
    ]
    return Refusal(
        "MI-03" if len(loc) == 1 else "MI-05", json.dumps({"detail": detail}), status=422
    )


def mistral_form(ask: Ask) -> Iterator[Refusal]:
    """Members, roles and kinds of content."""
    yield from (_extra([key]) for key in ask.body if key not in _MISTRAL_BODY)
    for index, message in enumerate(messages_of(ask)):
        role = message.get("role")
        known = _MISTRAL_MESSAGE.get(str(role))
        if known is None:
            words = (
                f"Input tag '{role}' found using 'role' does not match any of the expected tags: "
                "'system', 'user', 'assistant', 'tool'"
            )
            yield Refusal("MI-07", words, status=422)
            continue
        for key in message:
            if key not in known:
                yield _extra(["messages", index, role, key])
        for part in parts_of(message):
            if part.get("type") not in _MISTRAL_PARTS:
                words = f"Input tag '{part.get('type')}' found using 'type' does not match any tag"
                yield Refusal("MI-21", words, status=422)
    if ask.body.get("logprobs") and ask.model.startswith("ministral"):
        yield Refusal("MI-25", "Logprobs are not enabled for this model", code="3051")
    for tool in tools_of(ask):
        if (tool.get("function") or {}).get("parameters") is None:
            yield Refusal("MI-20", "Field required: tools.function.parameters", status=422)


def mistral_calls(ask: Ask) -> Iterator[Refusal]:
    """Ids of nine characters, each once; as many results as calls."""
    waiting: list[str] = []
    for message in messages_of(ask):
        given = [str(call.get("id")) for call in calls_of(message)]
        if message.get("role") == "tool":
            given = [str(message.get("tool_call_id"))]
            if given[0] in waiting:
                waiting.remove(given[0])
            else:
                yield _mistral_order("MI-10", f"Unexpected tool call id {given[0]} in tool results")
        elif waiting:
            yield _mistral_order("MI-11", "Not the same number of function calls and responses")
            waiting = []
        for each in given:
            if not _NINE.match(each):
                words = f"Tool call id was {each} but must be a-z, A-Z, 0-9, with a length of 9."
                yield Refusal("MI-08", words, code="3280", kind="invalid_function_call")
        if message.get("role") == "assistant":
            waiting = given
            if len(set(given)) < len(given):
                yield _mistral_order("MI-10", "Duplicate tool call id in assistant message")
    if waiting:
        yield _mistral_order("MI-11", "Not the same number of function calls and responses")


def _mistral_order(rule: str, words: str) -> Refusal:
    return Refusal(rule, words, code="3230", kind="invalid_request_message_order")


def mistral_order(ask: Ask) -> Iterator[Refusal]:
    """Which role may follow which, and which is the last."""
    said = messages_of(ask)
    for before, message in itertools.pairwise(said):
        pair = (before.get("role"), message.get("role"))
        if pair == ("user", "tool"):
            yield _mistral_order("MI-13", "Unexpected role 'tool' after role 'user'")
        if pair in {("assistant", "system"), ("tool", "system")}:
            yield _mistral_order("MI-14", f"Unexpected role 'system' after role '{pair[0]}'")
    if said and said[-1].get("role") == "assistant" and not said[-1].get("prefix"):
        words = (
            "Expected last role User or Tool (or Assistant with prefix True) for serving but got "
            "assistant"
        )
        yield _mistral_order("MI-15", words)
    wanted, choice = ask.body.get("response_format"), ask.body.get("tool_choice", "auto")
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind in ("json_schema", "json_object") and tools_of(ask) and choice not in ("auto", "none"):
        words = f"`{kind}` response type with tools is only compatible with `tool_choice: auto`"
        yield Refusal("MI-24", words)


MISTRAL: tuple[Rule, ...] = (
    mistral_form,
    mistral_calls,
    mistral_order,
    partial(
        function_names,
        rule="MI-19",
        words="Function name was … but must be a-z, A-Z, 0-9, or contain underscores and dashes, "
        "with a maximum length of 64.",
    ),
)


# vLLM: VL-04 … VL-22.

_VLLM_PARTS = (
    "text", "input_text", "output_text", "refusal", "thinking", "image_url", "input_image",
    "image_embeds", "audio_url", "input_audio", "audio_embeds", "video_url", "prompt_embeds",
    "tool_reference",
)  # fmt: skip


def vllm_choice(ask: Ask) -> Iterator[Refusal]:
    """Choices of tools."""
    choice, body = ask.body.get("tool_choice"), ask.body
    if choice not in (None, "none") and not body.get("tools"):
        yield Refusal("VL-06", "When using `tool_choice`, `tools` must be set.")
    if isinstance(choice, str) and choice not in ("none", "auto", "required"):
        words = (
            f'Invalid value for `tool_choice`: {choice}! Only named tools, "none", "auto" or '
            '"required" are supported.'
        )
        yield Refusal("VL-07", words)
    if isinstance(choice, dict):
        named = (choice.get("function") or {}).get("name")
        if choice.get("type") != "function" or not named:
            yield Refusal("VL-07", "Invalid value for `function`: `None` in `tool_choice`!")
        elif named not in [(tool.get("function") or {}).get("name") for tool in tools_of(ask)]:
            words = (
                "The tool specified in `tool_choice` does not match any of the specified `tools`"
            )
            yield Refusal("VL-08", words)
    if body.get("stream_options") and not body.get("stream"):
        yield Refusal("VL-11", "Stream options can only be defined when `stream=True`.")


VLLM: tuple[Rule, ...] = (
    partial(
        empty_tools,
        rule="VL-04",
        words="`tools` must not be an empty array. Either provide at least one tool or omit the "
        "field entirely.",
    ),
    partial(function_tools, rule="VL-05", words="tools.{index}.type: Input should be 'function'"),
    vllm_choice,
    partial(
        part_types,
        rule="VL-20",
        taken=_VLLM_PARTS,
        words="Unsupported chat content part type: '{type}'.",
    ),
    partial(arguments, rule="VL-22", words="Expecting value: line 1 column 1 (char 0)"),
    partial(ranges, rule="VL-15", words="temperature must be in [0, 2], got {value}."),
)

# llama.cpp: LC-09 … LC-16.


def llama_cpp_choice(ask: Ask) -> Iterator[Refusal]:
    """Choices of tools as text."""
    choice = ask.body.get("tool_choice")
    if isinstance(choice, str) and choice not in ("auto", "none", "required"):
        yield Refusal("LC-10", f"Invalid tool_choice: {choice}")
    value = ask.body.get("temperature")
    if value is not None and not isinstance(value, (int, float)):
        words = (
            "Field 'temperature': [json.exception.type_error.302] type must be number, but is "
            "string"
        )
        yield Refusal("LC-06", words)


LLAMA_CPP: tuple[Rule, ...] = (
    partial(
        function_tools,
        rule="LC-09",
        words="Failed to parse tools: Unsupported tool type: {tool}",
        status=500,
    ),
    llama_cpp_choice,
    partial(
        part_types,
        rule="LC-parts",
        taken=("text", "image_url", "input_audio", "media_marker"),
        words="unsupported content[].type",
    ),
)

# Ollama: OL-20 … OL-26.


def ollama_content(ask: Ask) -> Iterator[Refusal]:
    """Content, pictures and efforts."""
    if not messages_of(ask):
        yield Refusal("OL-20", "[] is too short - 'messages'")
    for message in messages_of(ask):
        if message.get("content") is None and not calls_of(message):
            yield Refusal("OL-21", "invalid message content type: <nil>")
        for part in parts_of(message):
            url = part.get("image_url")
            text = url.get("url", "") if isinstance(url, dict) else str(url or "")
            if part.get("type") == "image_url" and text.startswith("http"):
                words = (
                    "image URLs are not currently supported, please use base64 encoded data instead"
                )
                yield Refusal("OL-23", words)
    effort = ask.body.get("reasoning_effort")
    if effort not in (None, "none", "minimal", "low", "medium", "high", "xhigh", "ultra", "max"):
        words = (
            f'invalid reasoning value: "{effort}" (must be "minimal", "low", "medium", "high", '
            '"xhigh", "ultra", "max", or "none")'
        )
        yield Refusal("OL-26", words)


OLLAMA: tuple[Rule, ...] = (
    ollama_content,
    partial(
        part_types,
        rule="OL-22",
        taken=("text", "image_url", "input_audio"),
        words="invalid message format",
    ),
    partial(arguments, rule="OL-24", words="invalid tool call arguments"),
)

# xAI: XAI-016, XAI-031.


def xai_messages(ask: Ask) -> Iterator[Refusal]:
    """Every message says something."""
    for message in messages_of(ask):
        if message.get("content") == []:
            words = "Invalid request content: Each message must have at least one content element."
            yield Refusal("XAI-016", words)


XAI: tuple[Rule, ...] = (
    xai_messages,
    partial(
        arguments,
        rule="XAI-031",
        words="The arguments to a tool_call with ID '{id}' are not a valid JSON string.",
    ),
)

# OpenRouter: OR-007, OR-008, OR-010.


def openrouter_reasoning(ask: Ask) -> Iterator[Refusal]:
    """One way to ask for reasoning, and its details back to models of Google."""
    reasoning = ask.body.get("reasoning")
    if isinstance(reasoning, dict):
        if reasoning.get("effort") is not None and reasoning.get("max_tokens") is not None:
            words = 'Only one of "reasoning.effort" and "reasoning.max_tokens" can be specified'
            yield Refusal("OR-007", words)
        effort = ask.body.get("reasoning_effort")
        if effort is not None and effort != reasoning.get("effort"):
            words = 'Only one of "reasoning" and "reasoning_effort" may be provided'
            yield Refusal("OR-008", words)
    if not re.search(r"(?i)gemini-3", ask.model):
        return
    for message in _current_turn(messages_of(ask)):
        if calls_of(message) and not message.get("reasoning_details"):
            words = (
                "Gemini models require OpenRouter reasoning details to be preserved in each "
                "request. Please refer to our docs: … Function call is missing a thought_signature "
                "in functionCall parts."
            )
            yield Refusal("OR-010", words)


def _current_turn(messages: list[Json]) -> list[Json]:
    """What came after the user last spoke: earlier calls need no signatures any more."""
    last = max((i for i, each in enumerate(messages) if each.get("role") == "user"), default=-1)
    return messages[last + 1 :]


OPENROUTER: tuple[Rule, ...] = (
    openrouter_reasoning,
    partial(
        pairing,
        unanswered=("OR-pairing", UNANSWERED),
        uncalled=("OR-pairing", UNCALLED),
    ),
)

# Cerebras and Fireworks refuse members that they do not know.

_FOREIGN_REASONING = {"cerebras": "reasoning_content", "fireworks": "reasoning"}


def foreign_reasoning(ask: Ask) -> Iterator[Refusal]:
    """Reasoning under the name of another provider."""
    key = _FOREIGN_REASONING[ask.provider]
    for index, message in enumerate(messages_of(ask)):
        if key in message:
            words = f"property 'messages.{index}.{message.get('role')}.{key}' is unsupported"
            yield Refusal(f"{ask.provider}-reasoning", words)
    if ask.provider == "fireworks" and {"max_tokens", "max_completion_tokens"} <= set(ask.body):
        words = "Cannot specify both max_tokens and max_completion_tokens"
        yield Refusal("FW-limit", words)


def usual(ask: Ask) -> Iterator[Refusal]:
    """What no server of this protocol takes: calls without results, results without calls."""
    yield from pairing(ask)
    for found in content(ask):
        if found.rule == "OAI-057":
            yield found


BY_PROVIDER: dict[str, tuple[Rule, ...]] = {
    "openai": OPENAI,
    "azure": OPENAI,
    "deepseek": DEEPSEEK,
    "groq": GROQ,
    "mistral": MISTRAL,
    "vllm": VLLM,
    "sglang": (usual,),
    "llama.cpp": LLAMA_CPP,
    "ollama": OLLAMA,
    "xai": XAI,
    "openrouter": OPENROUTER,
    "cerebras": (usual, foreign_reasoning),
    "fireworks": (usual, foreign_reasoning),
}
