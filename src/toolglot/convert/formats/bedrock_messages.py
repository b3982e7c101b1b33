"""Rows for tuning on Bedrock: `schemaVersion`, `system` and `messages` as Converse has them."""

from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.plain_turns import (
    PlainTurn,
    TurnReader,
    declared,
    functions,
    list_of,
    plain_turns,
    rest_of,
    result_text,
    system_text,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import DecodeError
from toolglot.ir import Image, Inline, Json, Part, Reasoning, Text
from toolglot.wire import jsontext

_VERSION: Final = "bedrock-conversation-2024"
_KNOWN: Final = ("schemaVersion", "system", "messages", "toolConfig")
_KINDS: Final = frozenset({"text", "toolUse", "toolResult", "image", "reasoningContent"})


def recognise(row: Json) -> str:
    """The version, or messages of blocks without types."""
    if str(row.get("schemaVersion", "")).startswith("bedrock-conversation"):
        return f"its `schemaVersion` is {row['schemaVersion']}"
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        return ""
    contents = [each.get("content") for each in messages if isinstance(each, dict)]
    blocks = [b for content in contents if isinstance(content, list) for b in content]
    fits = bool(blocks) and all(isinstance(b, dict) and b.keys() <= _KINDS for b in blocks)
    return "its messages have blocks of Converse" if fits else ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    reader = TurnReader("messages", ctx)
    for index, message in enumerate(list_of(row, "messages")):
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list):
            raise DecodeError(f"messages[{index}].content", "expected a list")
        for block in content:
            result = block.get("toolResult")
            if isinstance(result, dict):
                parts = tuple(_read_inner(each) for each in result.get("content") or ())
                failed = True if result.get("status") == "error" else None
                reader.answer_with(parts, None, result.get("toolUseId"), is_error=failed)
        others = [block for block in content if "toolResult" not in block]
        if others:
            role = "assistant" if message.get("role") == "assistant" else "user"
            said = [_read_block(block, reader, index) for block in others]
            reader.say("assistant" if role == "assistant" else "user", *said)
    system = "\n\n".join(
        str(each.get("text", "")) for each in row.get("system") or () if isinstance(each, dict)
    )
    config = row.get("toolConfig") or {}
    specs = [_read_tool(each) for each in config.get("tools") or ()]
    request = reader.finish(system=system or None, tools=declared(specs, "toolConfig.tools"))
    return RecordedConversation(request=request, metadata=rest_of(row, *_KNOWN))


def _read_tool(tool: Any) -> Json:
    spec = tool.get("toolSpec") if isinstance(tool, dict) else None
    if not isinstance(spec, dict):
        raise DecodeError("toolConfig.tools", "expected `toolSpec`")
    return {**spec, "inputSchema": (spec.get("inputSchema") or {}).get("json")}


def _read_inner(block: Json) -> Part:
    if "json" in block:
        return Text(text=jsontext.text(block["json"]))
    return _image(block["image"]) if "image" in block else Text(text=str(block.get("text", "")))


def _read_block(block: Json, reader: TurnReader, index: int) -> Part:
    if "toolUse" in block:
        use = block["toolUse"]
        return reader.call(use.get("name"), use.get("input"), use.get("toolUseId"))
    if "reasoningContent" in block:
        words = (block["reasoningContent"].get("reasoningText") or {}).get("text", "")
        return Reasoning(text=str(words))
    if "image" in block:
        return _image(block["image"])
    if "text" in block:
        return Text(text=str(block["text"]))
    raise DecodeError(f"messages[{index}].content", f"no block is called {next(iter(block), '')}")


def _image(value: Json) -> Image:
    data = (value.get("source") or {}).get("bytes", "")
    return Image(source=Inline(media_type=f"image/{value.get('format', 'png')}", data=str(data)))


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row."""
    row: Json = {"schemaVersion": _VERSION, **conversation.metadata}
    if system := system_text(conversation, ctx):
        row["system"] = [{"text": system}]
    messages: list[Json] = []
    row["messages"] = messages
    for turn in plain_turns(conversation, ctx):
        message = _write_turn(turn, ctx)
        if messages and messages[-1]["role"] == message["role"]:
            messages[-1]["content"] += message["content"]
        else:
            messages.append(message)
    tools = [_write_tool(tool) for tool in functions(conversation.request.tools)]
    if tools:
        row["toolConfig"] = {"tools": tools}
    return [row]


def _write_tool(tool: Json) -> Json:
    spec = {key: value for key, value in tool.items() if key != "parameters"}
    return {"toolSpec": {**spec, "inputSchema": {"json": tool["parameters"]}}}


def _write_turn(turn: PlainTurn, ctx: Context) -> Json:
    if turn.role == "tool":
        return {"role": "user", "content": [_write_result(each, ctx) for each in turn.results]}
    content: list[Json] = []
    if turn.thoughts:
        content.append({"reasoningContent": {"reasoningText": {"text": turn.thoughts}}})
    if turn.text:
        content.append({"text": turn.text})
    content += [_write_image(image) for image in turn.images]
    content += [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.input}}
        for call in turn.calls
    ]
    return {"role": "assistant" if turn.role == "assistant" else "user", "content": content}


def _write_result(result: Any, ctx: Context) -> Json:
    text = result_text(result, ctx, marked=False)
    images = [_write_image(part) for part in result.parts if isinstance(part, Image)]
    wire: Json = {"toolUseId": result.id, "content": [{"text": text}, *images]}
    return {"toolResult": {**wire, "status": "error"} if result.is_error else wire}


def _write_image(image: Image) -> Json:
    source = image.source
    inline = source if isinstance(source, Inline) else Inline(media_type="image/png", data="")
    form = inline.media_type.removeprefix("image/")
    return {"image": {"format": form, "source": {"bytes": inline.data}}}


FORMAT: Final = Format(
    name="bedrock",
    summary="tuning on Bedrock: `schemaVersion`, `system`, `messages` as Converse has them",
    reference="https://docs.aws.amazon.com/nova/latest/userguide/fine-tune-prepare-data-"
    "understanding.html (2026-11-16)",
    surface=of_text("bedrock", path="messages", reasoning=True, pictures=True),
    read=read,
    write=write,
    recognise=recognise,
    holds=frozenset({"system", "tools", "metadata"}),
    aliases=("nova", "converse"),
)
