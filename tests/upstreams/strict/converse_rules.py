"""Bedrock Converse: what it refuses in the form of a request, whatever the model.

The shapes are those of the service model of botocore 1.44.0; the words were reported by users.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from tests.upstreams.strict.refusal import Ask, Json, Refusal, Rule

_BODY = {
    "messages", "system", "inferenceConfig", "toolConfig", "guardrailConfig",
    "additionalModelRequestFields", "promptVariables", "additionalModelResponseFieldPaths",
    "requestMetadata", "performanceConfig", "serviceTier", "outputConfig",
}  # fmt: skip
_BLOCKS = {
    "text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent",
    "cachePoint", "reasoningContent", "citationsContent", "searchResult", "toolAddition",
    "toolRemoval",
}  # fmt: skip
_IN_RESULT = {"text", "json", "image", "document", "video", "searchResult"}
_IN_SYSTEM = {"text", "guardContent", "cachePoint"}
_SETTINGS = {"maxTokens", "temperature", "topP", "stopSequences"}
_SPEC = {"name", "description", "inputSchema", "strict"}
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DOCUMENT = re.compile(r"[A-Za-z0-9\s\-()\[\]]{1,200}")
_FORMATS = {
    "image": {"png", "jpeg", "gif", "webp"},
    "document": {"pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md", None},
}


def _objects(value: Any) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _messages(ask: Ask) -> list[Json]:
    return _objects(ask.body.get("messages"))


def _blocks(ask: Ask) -> Iterator[tuple[str, Json]]:
    for index, message in enumerate(_messages(ask)):
        for number, block in enumerate(_objects(message.get("content"))):
            yield f"messages.{index}.content.{number}", block


def _unknown(at: str, key: str) -> Refusal:
    words = f"Malformed input request: #{at}: extraneous key [{key}] is not permitted"
    return Refusal("BC-037", words)


def form(ask: Ask) -> Iterator[Refusal]:
    """Names and unions, as the service model declares them."""
    yield from (_unknown("", key) for key in ask.body.keys() - _BODY)
    config = ask.body.get("inferenceConfig") or {}
    yield from (_unknown("/inferenceConfig", key) for key in config.keys() - _SETTINGS)
    for number, block in enumerate(_objects(ask.body.get("system"))):
        yield from _union(f"system.{number}", block, _IN_SYSTEM)
    for at, block in _blocks(ask):
        yield from _union(at, block, _BLOCKS)
        for inner in _objects((block.get("toolResult") or {}).get("content")):
            yield from _union(f"{at}.toolResult", inner, _IN_RESULT)


def _union(at: str, block: Json, known: set[str]) -> Iterator[Refusal]:
    if len(block) != 1 or not block.keys() <= known:
        words = f"{at}: has {sorted(block)} instead of one of {sorted(known)}"
        yield Refusal("BC-shape", words)


def settings(ask: Ask) -> Iterator[Refusal]:
    """Ranges of numbers."""
    config = ask.body.get("inferenceConfig") or {}
    for key, (least, most) in {
        "temperature": (0, 1),
        "topP": (0, 1),
        "maxTokens": (1, 2**31),
    }.items():
        value = config.get(key)
        if value is not None and not least <= value <= most:
            words = f"Value at 'inferenceConfig.{key}' failed to satisfy constraint"
            yield Refusal("BC-036", words)
    if not all(each.strip() for each in config.get("stopSequences") or ()):
        yield Refusal("BC-035", "stopSequences: each stop sequence must contain non-whitespace")


def turns(ask: Ask) -> Iterator[Refusal]:
    """Who speaks when, and what a message has at least."""
    roles = [each.get("role") for each in _messages(ask)]
    if not roles or roles[0] != "user":
        words = "A conversation must start with a user message. Try again with a conversation that "
        yield Refusal("BC-006", words + "starts with a user message.")
    if any(one == other for one, other in pairwise(roles)):
        words = "A conversation must alternate between user and assistant roles."
        yield Refusal("BC-007", words)
    for index, message in enumerate(_messages(ask)):
        if not message.get("content"):
            words = f"The content field in the Message object at messages.{index} is empty."
            yield Refusal("BC-009", words)
    for at, block in _blocks(ask):
        if isinstance(block.get("text"), str) and not block["text"].strip():
            words = f"The text field in the ContentBlock object at {at} is blank. Add text to the "
            yield Refusal("BC-010", words + "text field, and try again.")
    for block in _objects(ask.body.get("system")):
        if block.get("text") == "":
            yield Refusal("BC-011", "system: text must have 1 character at least")


def tools(ask: Ask) -> Iterator[Refusal]:
    """Declared tools, and that there are some where the history has calls."""
    config = ask.body.get("toolConfig")
    called = any({"toolUse", "toolResult"} & block.keys() for _, block in _blocks(ask))
    if config is None:
        if called:
            words = "The toolConfig field must be defined when using toolUse and toolResult "
            yield Refusal("BC-012", words + "content blocks.")
        return
    if not config.get("tools"):
        yield Refusal("BC-013", "The provided request is not valid")
    names = set()
    for number, tool in enumerate(_objects(config.get("tools"))):
        yield from _union(
            f"toolConfig.tools.{number}", tool, {"toolSpec", "systemTool", "cachePoint"}
        )
        spec = tool.get("toolSpec")
        if spec is None:
            continue
        at = f"toolConfig.tools.{number}.toolSpec"
        names.add(spec.get("name"))
        yield from (_unknown(at, key) for key in spec.keys() - _SPEC)
        if not _NAME.fullmatch(str(spec.get("name"))):
            words = (
                f"Value at '{at}.name' failed to satisfy constraint: Member must satisfy regular "
            )
            yield Refusal("BC-014", words + "expression pattern: [a-zA-Z0-9_-]+")
        if spec.get("description") == "":
            yield Refusal("BC-015", f"Invalid length for parameter {at}.description, value: 0")
        schema = (spec.get("inputSchema") or {}).get("json")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield Refusal("BC-018", f"The value at {at}.inputSchema.json.type must be object")
    choice = config.get("toolChoice")
    if choice is not None:
        yield from _union("toolConfig.toolChoice", choice, {"auto", "any", "tool"})
        if "tool" in choice and choice["tool"].get("name") not in names:
            yield Refusal("BC-032", "toolConfig.toolChoice.tool: there is no tool of this name")


def pairing(ask: Ask) -> Iterator[Refusal]:
    """Every call is answered in the next message, and nothing else is."""
    waiting: list[str] = []
    for index, message in enumerate(_messages(ask)):
        blocks = _objects(message.get("content"))
        given = [b["toolResult"]["toolUseId"] for b in blocks if "toolResult" in b]
        missing = [each for each in waiting if each not in given]
        if missing:
            words = (
                f"Expected toolResult blocks at messages.{index}.content for the following Ids: "
            )
            yield Refusal("BC-019", words + ", ".join(missing))
        if len(given) > len(waiting):
            words = (
                f"The number of toolResult blocks at messages.{index}.content exceeds the number"
            )
            yield Refusal("BC-020", words + " of toolUse blocks of previous turn.")
        waiting = [b["toolUse"]["toolUseId"] for b in blocks if _is_call(b)]
        for each in (*waiting, *given):
            if not _ID.fullmatch(each):
                yield Refusal("BC-016", f"Value {each!r} at toolUseId failed to satisfy constraint")
        for number, block in enumerate(blocks):
            result = block.get("toolResult") or {}
            if result.get("status") == "error" and not result.get("content"):
                words = f"The content field at messages.{index}.content.{number}.toolResult cannot "
                yield Refusal("BC-021", words + "be empty when status value is error.")
            if "toolUse" in block and not isinstance(block["toolUse"].get("input"), dict):
                words = (
                    f"The format of the value at messages.{index}.content.{number}.toolUse.input"
                )
                yield Refusal(
                    "BC-shape", words + " is invalid. Provide a json object for the field"
                )


def _is_call(block: Json) -> bool:
    return "toolUse" in block and block["toolUse"].get("type") is None


def media(ask: Ask) -> Iterator[Refusal]:
    """Formats, names of documents, and who may send what."""
    used: list[str] = []
    for at, block in _media(ask):
        for kind, formats in _FORMATS.items():
            if kind in block and block[kind].get("format") not in formats:
                yield Refusal("BC-049", f"{at}.{kind}.format: unknown format")
        if "document" in block:
            name = str(block["document"].get("name"))
            if not _DOCUMENT.fullmatch(name) or re.search(r"\s\s", name):
                words = (
                    "The document file name can only contain alphanumeric characters, whitespace"
                )
                yield Refusal(
                    "BC-047", words + " characters, hyphens, parentheses, and square brackets."
                )
            if name in used:
                yield Refusal("BC-048", f"{at}: duplicate document names")
            used.append(name)
    for index, message in enumerate(_messages(ask)):
        shown = [b for b in _objects(message.get("content")) if b.keys() & {"image", "document"}]
        if shown and message.get("role") != "user":
            yield Refusal("BC-049", f"messages.{index}: media are the user's to send")


def _media(ask: Ask) -> Iterator[tuple[str, Json]]:
    for at, block in _blocks(ask):
        yield at, block
        for inner in _objects((block.get("toolResult") or {}).get("content")):
            yield at, inner


def reasoning(ask: Ask) -> Iterator[Refusal]:
    """Thoughts are not the last thing that a model said, and have words."""
    for index, message in enumerate(_messages(ask)):
        blocks = _objects(message.get("content"))
        if blocks and "reasoningContent" in blocks[-1]:
            words = (
                f"messages.{index}: The final block in an assistant message cannot be `thinking`."
            )
            yield Refusal("BC-046", words)
        for block in blocks:
            words_of = (block.get("reasoningContent") or {}).get("reasoningText")
            if isinstance(words_of, dict) and not isinstance(words_of.get("text"), str):
                yield Refusal("BC-043", f"messages.{index}: reasoningText.text must not be null")


def marks(ask: Ask) -> Iterator[Refusal]:
    """Cache points: four of them at most, and something before each."""
    found = sum("cachePoint" in block for _, block in _blocks(ask))
    found += sum("cachePoint" in block for block in _objects(ask.body.get("system")))
    config = ask.body.get("toolConfig") or {}
    found += sum("cachePoint" in tool for tool in _objects(config.get("tools")))
    if found > 4:
        words = f"A maximum of 4 blocks with cache_control may be provided. Found {found}."
        yield Refusal("BC-040", words)


CONVERSE: tuple[Rule, ...] = (
    form, settings, turns, tools, pairing, media, reasoning, marks,
)  # fmt: skip
BY_PROVIDER: Mapping[str, tuple[Rule, ...]] = {"bedrock": CONVERSE}
