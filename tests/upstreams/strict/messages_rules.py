"""Anthropic Messages: what the Claude API and those who speak its protocol refuse."""

import re
from collections.abc import Iterator
from typing import Any

from anthropic.types.beta.message_create_params import MessageCreateParams
from tests.upstreams.strict import json_schemas
from tests.upstreams.strict.refusal import Ask, Json, Refusal, Rule
from tests.upstreams.strict.sdk_shapes import Misfit, misfits

_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def _messages(ask: Ask) -> list[Json]:
    found = ask.body.get("messages")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _blocks(value: Any) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _tools(ask: Ask) -> list[Json]:
    return _blocks(ask.body.get("tools"))


def _is_custom(tool: Json) -> bool:
    return tool.get("type") in (None, "custom")


# --- form -----------------------------------------------------------------------------------------

_OLDER = {"temperature", "top_p", "top_k"}
"""Fields that the version of 2026-10-21 does not know, and the one of 2023-06-01 does."""
_BETAS = {
    "context_management": "context-management",
    "mcp_servers": "mcp-client",
    "output_format": "structured-outputs",
}
"""Fields of a beta, and how its name begins."""


def form(ask: Ask) -> Iterator[Refusal]:
    """Members, types and values, as anthropic-sdk-python declares them."""
    newer = ask.headers.get("anthropic-version") == "2026-10-21"
    betas = ask.headers.get("anthropic-beta", "")
    for found in misfits(ask.body, MessageCreateParams):
        key = found.path[0] if found.path else ""
        if found.kind == "unknown" and len(found.path) == 1:
            if (key in _OLDER and not newer) or (key == "output_format" and not ask.headers):
                continue
            if key == "output_format" and _BETAS[key] in betas:
                continue
        if found.kind == "unknown" and found.path[2:3] == ("input_schema",) and key == "tools":
            continue
        if found.kind == "unknown" and found.path[-1] == "abort_reason":
            continue
        yield _misfit(ask, found)
    for key, beta in _BETAS.items() if ask.headers else ():
        if key in ask.body and beta not in betas and key != "output_format":
            yield Refusal("AN-010", f"{key}: Extra inputs are not permitted")


def _misfit(ask: Ask, found: Misfit) -> Refusal:
    at = _dotted(ask, found)
    if found.kind == "unknown":
        return Refusal("AN-009", f"{at}: Extra inputs are not permitted")
    if found.kind == "missing":
        return Refusal("AN-016", f"{at}: Field required")
    if found.kind == "value":
        allowed = ", ".join(f"'{each}'" for each in found.allowed)
        return Refusal("AN-009", f"{at}: Input should be {allowed}")
    return Refusal("AN-009", f"{at}: Input should be {found.allowed[0] if found.allowed else ''}")


def _dotted(ask: Ask, found: Misfit) -> str:
    """A path as Anthropic writes it, with the type of each block behind its number."""
    steps: list[str] = []
    value: Any = ask.body
    for step in found.path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            value = None
        steps.append(str(step))
        if isinstance(step, int) and isinstance(value, dict) and len(steps) > 2:
            steps.append(str(value.get("type", "")))
        elif isinstance(step, int) and steps[0] == "tools" and isinstance(value, dict):
            steps.append(str(value.get("type") or "custom"))
    return ".".join(step for step in steps if step)


# --- messages -------------------------------------------------------------------------------------


def texts(ask: Ask) -> Iterator[Refusal]:
    """No empty texts, and none of white space alone."""
    said = _messages(ask)
    if not said:
        yield Refusal("AN-016", "messages: at least one message is required")
    for index, message in enumerate(said):
        content, last = message.get("content"), index == len(said) - 1
        if content in ("", []) and not (last and message.get("role") == "assistant"):
            words = (
                f"messages.{index}: all messages must have non-empty content except for the "
                "optional final assistant message"
            )
            yield Refusal("AN-073", words)
        if isinstance(content, str) and content and not content.strip():
            words = "messages: text content blocks must contain non-whitespace text"
            yield Refusal("AN-075", words)
        for block in _blocks(content):
            yield from _text(block, message.get("role") == "assistant")
    for block in _blocks(ask.body.get("system")):
        yield from _text(block, spaces=False)
    yield from _last_text(said)


def _text(block: Json, spaces: bool) -> Iterator[Refusal]:
    if block.get("type") != "text" or not isinstance(block.get("text"), str):
        return
    if not block["text"]:
        if block.get("cache_control"):
            words = "messages: cache_control cannot be set for empty text blocks"
            yield Refusal("AN-077", words)
        else:
            yield Refusal("AN-074", "messages: text content blocks must be non-empty")
    elif not block["text"].strip() and not (spaces and block["text"] == " "):
        yield Refusal("AN-075", "messages: text content blocks must contain non-whitespace text")


def _last_text(said: list[Json]) -> Iterator[Refusal]:
    if not said or said[-1].get("role") != "assistant":
        return
    content = said[-1].get("content")
    blocks = _blocks(content)
    text = content if isinstance(content, str) else blocks[-1].get("text") if blocks else None
    if isinstance(text, str) and text != text.rstrip():
        words = "messages: final assistant content cannot end with trailing whitespace"
        yield Refusal("AN-078", words)


def pairing(ask: Ask) -> Iterator[Refusal]:
    """Each call is answered in the next message, first thing, once; each answer has its call."""
    said = _joined(_messages(ask))
    seen: set[str] = set()
    for place, (index, role, blocks) in enumerate(said):
        called = [b.get("id") for b in blocks if b.get("type") == "tool_use"]
        for call_id in called:
            if call_id in seen:
                yield Refusal("AN-091", f"messages.{index}: `tool_use` ids must be unique")
            seen.add(str(call_id))
        before = said[place - 1][2] if place else []
        yield from _results(index, role, blocks, before)
        if not called or role != "assistant":
            continue
        after = said[place + 1][2] if place + 1 < len(said) else []
        answered = [b.get("tool_use_id") for b in _leading(after)]
        missing = [each for each in called if each not in answered]
        if blocks[-1].get("type") == "text":
            missing = called  # AN-088: what is said after a call parts it from its result
        if missing:
            words = (
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(map(str, missing))}. Each `tool_use` block must "
                "have a corresponding `tool_result` block in the next message."
            )
            yield Refusal("AN-087", words)


def _joined(said: list[Json]) -> list[tuple[int, str, list[Json]]]:
    """Messages of one role in a row are one turn (AN-079)."""
    turns: list[tuple[int, str, list[Json]]] = []
    for index, message in enumerate(said):
        content = message.get("content")
        blocks = (
            [{"type": "text", "text": content}] if isinstance(content, str) else _blocks(content)
        )
        if turns and turns[-1][1] == message.get("role"):
            turns[-1][2].extend(blocks)
        else:
            turns.append((index, str(message.get("role")), list(blocks)))
    return turns


def _leading(blocks: list[Json]) -> list[Json]:
    """The results with which a turn begins."""
    found = []
    for block in blocks:
        if block.get("type") != "tool_result":
            break
        found.append(block)
    return found


def _results(index: int, role: str, blocks: list[Json], before: list[Json]) -> Iterator[Refusal]:
    called = [b.get("id") for b in before if b.get("type") == "tool_use"]
    seen: list[Any] = []
    for number, block in enumerate(blocks):
        if block.get("type") != "tool_result":
            continue
        given = block.get("tool_use_id")
        if given not in called:
            words = (
                f"messages.{index}.content.{number}: unexpected `tool_use_id` found in "
                f"`tool_result` blocks: {given}. Each `tool_result` block must have a "
                "corresponding `tool_use` block in the previous message."
            )
            yield Refusal("AN-089", words)
        if given in seen:
            words = (
                f"messages.{index}.content.{number}: each `tool_use` must have a single result. "
                f"Found multiple `tool_result` blocks with id: {given}"
            )
            yield Refusal("AN-092", words)
        seen.append(given)
        yield from _result(f"messages.{index}.content.{number}", block)


def _result(at: str, block: Json) -> Iterator[Refusal]:
    inner = _blocks(block.get("content"))
    if block.get("is_error") and any(each.get("type") != "text" for each in inner):
        words = f"{at}: all content must be type `text` if `is_error` is true"
        yield Refusal("AN-097", words)
    if any(each.get("cache_control") for each in inner):
        words = (
            "cache_control may not be specified within `tool_result.content`. Instead, place it "
            "directly on `tool_result`"
        )
        yield Refusal("AN-098", words)
    for each in inner:
        yield from _text(each, spaces=False)


def ids(ask: Ask) -> Iterator[Refusal]:
    """Ids of calls, and pictures that are none."""
    for index, message in enumerate(_messages(ask)):
        for number, block in enumerate(_blocks(message.get("content"))):
            at = f"messages.{index}.content.{number}.{block.get('type')}"
            for key in ("id", "tool_use_id"):
                given = block.get(key) if block.get("type") in ("tool_use", "tool_result") else None
                if isinstance(given, str) and not _ID.match(given):
                    words = f"{at}.{key}: String should match pattern '^[a-zA-Z0-9_-]+$'"
                    yield Refusal("AN-093", words)
            source = (block.get("source") or {}) if block.get("type") == "image" else {}
            if source.get("type") == "base64" and source.get("media_type") not in _PICTURES:
                words = (
                    f"{at}.source.base64.media_type: Input should be 'image/jpeg', 'image/png', "
                    "'image/gif' or 'image/webp'"
                )
                yield Refusal("AN-135", words)


_LATER_SYSTEM = re.compile(r"(?i)claude-(opus-4-[89]|opus-[5-9]|fable|mythos|sonnet-5-|haiku-5)")


def system_messages(ask: Ask) -> Iterator[Refusal]:
    """System text between messages: not everywhere, and not with every model."""
    said = _messages(ask)
    for index, message in enumerate(said):
        if message.get("role") != "system":
            continue
        if not _LATER_SYSTEM.search(ask.model):
            yield Refusal("AN-082", "role 'system' is not supported on this model")
            continue
        before = [each.get("role") for each in said[:index] if each.get("role") != "system"]
        after = [each.get("role") for each in said[index + 1 :] if each.get("role") != "system"]
        if not before:
            words = f"messages.{index}: role 'system' must follow a 'user' message"
            yield Refusal("AN-083", words)
        if after and after[0] != "assistant":
            words = (
                f"messages.{index}: role 'system' must precede an 'assistant' message or end the "
                "array"
            )
            yield Refusal("AN-083", words)


# --- thinking -------------------------------------------------------------------------------------

_THINKS = {"thinking", "redacted_thinking"}
_ADAPTIVE_ONLY = re.compile(r"(?i)claude-(opus-4-[78]|sonnet-5|opus-5|fable|mythos|haiku-5)")
_NOT_ADAPTIVE = re.compile(r"(?i)claude-(3|sonnet-4-(0|2|5)|opus-4-(0|1|2|5)|haiku-4)")
_ALWAYS_THINKS = re.compile(r"(?i)claude-(fable|mythos|opus-5-5)")
_NO_PREFILL = re.compile(
    r"(?i)claude-(opus-4-[6-9]|sonnet-4-[6-9]|sonnet-5|opus-5|fable|mythos|haiku-5)"
)
_NO_EFFORT = re.compile(r"(?i)claude-(3|sonnet-4-(0|2|5)|opus-4-(0|1|2)|haiku-4)")
_NO_SAMPLING = re.compile(r"(?i)claude-(opus-4-[78]|opus-5|fable|mythos|sonnet-5-5|haiku-5-5)")
_ONE_OF_SAMPLING = re.compile(r"(?i)claude-(opus-4-(1|5|6)|sonnet-4-(5|6)|haiku-4-5)")


def _thinking(ask: Ask) -> str | None:
    said = ask.body.get("thinking")
    return said.get("type") if isinstance(said, dict) else None


def thinking(ask: Ask) -> Iterator[Refusal]:
    """Whether the model can be told to think so, and what goes with it."""
    kind, said = _thinking(ask), ask.body.get("thinking") or {}
    use = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
    if kind == "enabled" and _ADAPTIVE_ONLY.search(ask.model):
        yield Refusal("AN-040", f'"thinking.type.enabled" is not supported for this model. {use}')
    if kind == "disabled" and _ALWAYS_THINKS.search(ask.model):
        yield Refusal("AN-043", f'"thinking.type.disabled" is not supported for this model. {use}')
    if kind == "adaptive" and _NOT_ADAPTIVE.search(ask.model):
        yield Refusal("AN-038", "adaptive thinking is not supported on this model")
    if kind == "enabled":
        yield from _budget(ask, said.get("budget_tokens"))
        choice = ask.body.get("tool_choice") or {}
        if choice.get("type") in ("any", "tool"):
            yield Refusal("AN-054", "Thinking may not be enabled when tool_choice forces tool use.")
    if kind in ("enabled", "adaptive") and ask.body.get("temperature") not in (None, 1):
        words = "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."
        yield Refusal("AN-030", words)
    if kind == "enabled":
        yield from _thinking_first(ask)


def _budget(ask: Ask, budget: Any) -> Iterator[Refusal]:
    if not isinstance(budget, int):
        return
    if budget < 1024:
        words = "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        yield Refusal("AN-046", words)
    interleaved = "interleaved-thinking" in ask.headers.get("anthropic-beta", "")
    limit = ask.body.get("max_tokens")
    if ask.headers and not interleaved and isinstance(limit, int) and budget >= limit:
        yield Refusal("AN-046", "`max_tokens` must be greater than `thinking.budget_tokens`.")


def _thinking_first(ask: Ask) -> Iterator[Refusal]:
    """The turn with the calls that are being answered begins with its thinking."""
    turns = _joined(_messages(ask))
    while turns and turns[-1][1] == "system":
        turns.pop()
    if len(turns) < 2 or not _leading(turns[-1][2]):
        return
    index, role, blocks = turns[-2]
    # The turn began with the first assistant message after what the user last said.
    for place in range(len(turns) - 2, -1, -2):
        index, role, blocks = turns[place]
        if place == 0 or not _leading(turns[place - 1][2]):
            break
    if role == "assistant" and blocks and blocks[0].get("type") not in _THINKS:
        words = (
            f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but "
            f"found `{blocks[0].get('type')}`. When `thinking` is enabled, a final `assistant` "
            "message must start with a thinking block (preceeding the lastmost set of `tool_use` "
            "and `tool_result` blocks)."
        )
        yield Refusal("AN-061", words)


def signatures(ask: Ask) -> Iterator[Refusal]:
    """Thinking comes back as it was, and nothing else does; it is never the end of a message."""
    for index, message in enumerate(_messages(ask)):
        blocks = _blocks(message.get("content"))
        for number, block in enumerate(blocks):
            signature = block.get("signature") if block.get("type") == "thinking" else "ok"
            if signature == "" or (signature is not None and "\n" in str(signature)):
                words = (
                    f"messages.{index}.content.{number}: Invalid `signature` in `thinking` block"
                )
                yield Refusal("AN-062", words)
        if blocks and blocks[-1].get("type") in _THINKS and message.get("role") == "assistant":
            words = (
                f"messages.{index}: The final block in an assistant message cannot be `thinking`."
            )
            yield Refusal("AN-065", words)


def prefill(ask: Ask) -> Iterator[Refusal]:
    """The beginning of an answer, for models that do not take it."""
    said = _messages(ask)
    if not said or said[-1].get("role") != "assistant":
        return
    blocks = _blocks(said[-1].get("content"))
    paused = bool(blocks) and "server_tool" in str(blocks[-1].get("type")) + "".join(
        str(each.get("type")) for each in blocks
    )
    if _NO_PREFILL.search(ask.model) and not paused:
        words = (
            "This model does not support assistant message prefill. The conversation must end with "
            "a user message."
        )
        yield Refusal("AN-058", words)


def settings(ask: Ask) -> Iterator[Refusal]:
    """Sampling, efforts, stop sequences and choices of tools."""
    body, model = ask.body, ask.model
    given = [key for key in ("temperature", "top_p", "top_k") if body.get(key) is not None]
    if _NO_SAMPLING.search(model):
        for key in given:
            yield Refusal("AN-027", f"`{key}` is deprecated for this model.")
    temperature = body.get("temperature")
    if isinstance(temperature, (int, float)) and not 0 <= temperature <= 1:
        yield Refusal("AN-024", "temperature: range: 0..1")
    if _ONE_OF_SAMPLING.search(model) and {"temperature", "top_p"} <= set(given):
        words = (
            "`temperature` and `top_p` cannot both be specified for this model. Please use only "
            "one."
        )
        yield Refusal("AN-025", words)
    for each in body.get("stop_sequences") or ():
        if isinstance(each, str) and not each.strip():
            words = "stop_sequences: each stop sequence must contain non-whitespace"
            yield Refusal("AN-031", words)
    effort = (body.get("output_config") or {}).get("effort")
    if effort is not None and _NO_EFFORT.search(model):
        yield Refusal("AN-052", "This model does not support the effort parameter.")
    limit = body.get("max_tokens")
    if isinstance(limit, int) and limit < 0:
        yield Refusal("AN-017", "max_tokens: Input should be greater than or equal to 0")
    user = (body.get("metadata") or {}).get("user_id")
    if isinstance(user, str) and len(user) > 256:
        yield Refusal("AN-033", "metadata.user_id: String should have at most 256 characters")


# --- tools ----------------------------------------------------------------------------------------


def tools(ask: Ask) -> Iterator[Refusal]:
    """Names, schemas and choices."""
    named = [tool["name"] for tool in _tools(ask) if isinstance(tool.get("name"), str)]
    if len(set(named)) < len(named):
        yield Refusal("AN-101", "tools: Tool names must be unique.")
    for index, tool in enumerate(_tools(ask)):
        at = f"tools.{index}.custom"
        name = tool.get("name")
        if _is_custom(tool) and isinstance(name, str) and not _NAME.match(name):
            words = f"{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            yield Refusal("AN-100", words)
        if _is_custom(tool) and "input_schema" in tool:
            yield from _schema(tool, at)
    yield from _choice(ask, named)
    yield from _strict_tools(ask)


def _schema(tool: Json, at: str) -> Iterator[Refusal]:
    faults = list(json_schemas.anthropic_tool(tool["input_schema"], at))
    if tool.get("strict") is True and not faults:
        faults = list(json_schemas.anthropic_strict(tool["input_schema"], at))
    yield from (Refusal(rule, words) for rule, words in faults)


def _choice(ask: Ask, named: list[str]) -> Iterator[Refusal]:
    choice = ask.body.get("tool_choice")
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind in ("any", "tool") and not _tools(ask) and not ask.body.get("mcp_servers"):
        yield Refusal("AN-119", f"tool_choice.{kind} may only be specified while providing tools")
    elif kind == "tool" and choice.get("name") not in named:
        yield Refusal("AN-118", f"Tool '{choice.get('name')}' not found in provided tools")
    if kind in ("any", "tool") and _ALWAYS_THINKS.search(ask.model):
        words = 'tool_choice: type "tool" and "any" are not supported for this model'
        yield Refusal("AN-056", words)


def _strict_tools(ask: Ask) -> Iterator[Refusal]:
    strict = [tool for tool in _tools(ask) if tool.get("strict") is True]
    if len(strict) > 20:
        words = (
            f"Too many strict tools ({len(strict)}). The maximum number of strict tools supported "
            "is 20. Try reducing the number of tools marked as strict."
        )
        yield Refusal("AN-109", words)
    schemas = [tool.get("input_schema") for tool in strict]
    optional = sum(map(json_schemas.optional_parameters, schemas))
    # Documented is a limit of 24; one schema that had all of them was refused (a recorded answer).
    if optional > 24 or any(json_schemas.optional_parameters(each) > 23 for each in schemas):
        words = (
            f"Schemas contains too many optional parameters ({optional}), which would make grammar "
            "compilation inefficient. Reduce the number of optional parameters in your tool "
            "schemas (limit: 24)."
        )
        yield Refusal("AN-110", words)
    unions = sum(map(json_schemas.union_parameters, schemas))
    if unions > 16:
        words = (
            f"Schemas contains too many parameters with union types ({unions} parameters with type "
            "arrays or anyOf). (limit: 16 parameters with unions)."
        )
        yield Refusal("AN-111", words)
    output = (ask.body.get("output_config") or {}).get("format")
    if isinstance(output, dict) and output.get("type") == "json_schema":
        found = json_schemas.anthropic_strict(output.get("schema"), "output_config.format.schema")
        yield from (Refusal(rule, words) for rule, words in found)


def cache_marks(ask: Ask) -> Iterator[Refusal]:
    """At most four marks, and the longer ones first."""
    marks = [mark for mark in _marks(ask) if mark]
    if len(marks) > 4:
        words = f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
        yield Refusal("AN-130", words)
    spans = [mark.get("ttl") or "5m" for mark in marks if isinstance(mark, dict)]
    if "1h" in spans and "5m" in spans[: len(spans) - spans[::-1].index("1h")]:
        words = (
            "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
            "cache_control block. Note that blocks are processed in the following order: tools, "
            "system, messages."
        )
        yield Refusal("AN-131", words)


def _marks(ask: Ask) -> Iterator[Any]:
    yield from (tool.get("cache_control") for tool in _tools(ask))
    yield from (block.get("cache_control") for block in _blocks(ask.body.get("system")))
    for message in _messages(ask):
        yield from (block.get("cache_control") for block in _blocks(message.get("content")))


ANTHROPIC: tuple[Rule, ...] = (
    form, texts, pairing, ids, system_messages, thinking, signatures, prefill, settings, tools,
    cache_marks,
)  # fmt: skip


# --- others who speak it --------------------------------------------------------------------------


def deepseek(ask: Ask) -> Iterator[Refusal]:
    """DS-10: thinking comes back with the calls that it led to."""
    if _thinking(ask) == "disabled":
        return
    for message in _messages(ask):
        kinds = {block.get("type") for block in _blocks(message.get("content"))}
        if "tool_use" in kinds and "thinking" not in kinds:
            words = "The `content[].thinking` in the thinking mode must be passed back to the API."
            yield Refusal("DS-10", words)


def vllm(ask: Ask) -> Iterator[Refusal]:
    """VL-50 to VL-52."""
    taken = {"text", "image", "tool_use", "tool_result", "tool_reference", *_THINKS}
    for message in _messages(ask):
        for block in _blocks(message.get("content")):
            if block.get("type") not in taken:
                yield Refusal("VL-50", "Input should be 'text', 'image', …")
    for index, tool in enumerate(_tools(ask)):
        if not isinstance(tool.get("input_schema"), dict):
            yield Refusal("VL-51", f"tools.{index}.input_schema: Field required")
    yield from _positive_limit(ask, "VL-52", "max_tokens must be positive")


def ollama(ask: Ask) -> Iterator[Refusal]:
    """OL-40 to OL-42."""
    yield from _positive_limit(ask, "OL-40", "max_tokens is required and must be positive")
    for message in _messages(ask):
        for block in _blocks(message.get("content")):
            source = block.get("source")
            if block.get("type") == "image" and (source or {}).get("type") != "base64":
                words = "invalid image source type: url. Only base64 images are supported."
                yield Refusal("OL-41", words)


def _positive_limit(ask: Ask, rule: str, words: str) -> Iterator[Refusal]:
    limit = ask.body.get("max_tokens")
    if not isinstance(limit, int) or limit < 1:
        yield Refusal(rule, words)


BY_PROVIDER: dict[str, tuple[Rule, ...]] = {
    "anthropic": ANTHROPIC,
    "deepseek": (deepseek,),
    "vllm": (vllm,),
    "ollama": (ollama,),
}
