"""Content blocks of Anthropic Messages, both ways."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from toolglot.context import Context
from toolglot.ir import (
    CacheMark,
    Citation,
    Document,
    FileRef,
    Image,
    Inline,
    Json,
    Opaque,
    Part,
    PlainText,
    Reasoning,
    Refusal,
    Remote,
    Source,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.protocols.anthropic.surface import NAME
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import arguments_object, arguments_text, cannot_carry, take_arguments

EMPTY: Final[dict[str, Json]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}
"""What a block of a stream holds when it starts; its content comes in deltas."""

# --- content: a bare string or blocks -------------------------------------------------------------


def decode_content(
    fields: Fields, key: str, *, nested: bool = False
) -> tuple[tuple[Part, ...], str]:
    """The parts of a content member, and its `wire_form`."""
    value = fields.take(key)
    if value is None:
        return (), ""
    if type(value) is str:
        return (Text(text=value),), ""
    if type(value) is not list:
        fields.fail(key, "expected string or array")
    parts = tuple(
        decode_part(block, fields, key, index, nested=nested) for index, block in enumerate(value)
    )
    return parts, content_form(parts)


def content_form(parts: tuple[Part, ...]) -> str:
    """The `wire_form` of content that was a list: one for those that would be written otherwise."""
    return NAME if not parts or is_bare(parts) else ""


def encode_content(parts: tuple[Part, ...], wire_form: str, ctx: Context) -> str | list[Json]:
    """The reverse: a bare string where one plain text is all there is, unless it was a list."""
    if wire_form != NAME and is_bare(parts):
        return cast("Text", parts[0]).text
    return [block for part in parts if (block := encode_part(part, ctx)) is not None]


def is_bare(parts: tuple[Part, ...]) -> bool:
    """Whether the parts are one text and nothing about it."""
    if len(parts) != 1:
        return False
    part = parts[0]
    return type(part) is Text and not (part.citations or part.cache or part.extras)


# --- one block ------------------------------------------------------------------------------------


def decode_part(value: Any, parent: Fields, key: str, index: int, *, nested: bool = False) -> Part:
    """One block; a type unknown here is kept whole."""
    plain = plain_part(value)
    if plain is not None:
        return plain
    fields = parent.element(value, key, index)
    kind = fields.text("type")
    decoder = None if nested and kind not in _NESTED else _DECODERS.get(kind)
    part = decoder(fields) if decoder else None
    return part if part is not None else Opaque(protocol=NAME, type=kind, value=value)


def plain_part(value: Any) -> Part | None:
    """By far the most blocks: a text, a call or a result of text with nothing else about it, read
    at a third of what the others cost; None: it is another one.
    """
    if type(value) is not dict:
        return None
    kind = value.get("type")
    if kind == "text":
        text = value.get("text")
        return Text(text=text) if len(value) == 2 and type(text) is str else None  # noqa: PLR2004
    if kind == "tool_use" and len(value) == 4:  # noqa: PLR2004 - the members that are read here
        call_id, name, given = value.get("id"), value.get("name"), value.get("input")
        if type(call_id) is str and type(name) is str and type(given) is dict:
            return ToolCall(id=call_id, name=name, arguments=arguments_text(given))
    elif kind == "tool_result" and len(value) == 3:  # noqa: PLR2004
        call_id, content = value.get("tool_use_id"), value.get("content")
        if type(call_id) is str and type(content) is str:
            return ToolResult(id=call_id, parts=(Text(text=content),))
    return None


def encode_part(part: Part, ctx: Context) -> Json | None:
    """One block; None, with a note, for what has no form here."""
    encoder = _ENCODERS.get(type(part))
    wire = encoder(part, ctx) if encoder else None
    if wire is None:
        cannot_carry(part, ctx)
    return wire


def _decode_text(fields: Fields) -> Text:
    text = fields.text("text")
    citations = tuple(map(decode_citation, fields.each("citations")))
    return Text(text=text, citations=citations, cache=decode_cache(fields), extras=fields.rest())


def _encode_text(part: Text, ctx: Context) -> Json:
    wire: Json = {"type": "text", "text": part.text}
    citations = [
        wired for each in part.citations if (wired := encode_citation(each, ctx)) is not None
    ]
    if citations:
        wire["citations"] = citations
    return finish(wire, part)


def decode_citation(fields: Fields) -> Citation:
    """One citation."""
    return Citation(
        url=fields.maybe_text("url"),
        title=fields.maybe_text("title"),
        quote=fields.maybe_text("cited_text"),
        extras=fields.rest(),
    )


def encode_citation(citation: Citation, ctx: Context) -> Json | None:
    """One citation, if it came from here."""
    if not citation.extras.get(NAME):
        # Every location type names something of this provider's own: a search, a document index.
        ctx.note("citation-dropped", "citations", f"a citation of {citation.url or citation.title}")
        return None
    wire: Json = {}
    members = ("url", citation.url), ("title", citation.title), ("cited_text", citation.quote)
    for key, value in members:
        if value is not None:
            wire[key] = value
    return merge(wire, citation.extras, NAME)


def _decode_image(fields: Fields) -> Image | None:
    source = _decode_source(fields)
    if source is None:
        return None
    return Image(source=source, cache=decode_cache(fields), extras=fields.rest())


def _encode_image(part: Image, _ctx: Context) -> Json | None:
    source = _encode_source(part.source, "image/png")
    return finish({"type": "image", "source": source}, part) if source else None


def _decode_document(fields: Fields) -> Document | None:
    source = _decode_source(fields)
    if source is None:
        return None
    name = fields.maybe_text("title")
    return Document(source=source, name=name, cache=decode_cache(fields), extras=fields.rest())


def _encode_document(part: Document, _ctx: Context) -> Json | None:
    source = _encode_source(part.source, "application/pdf")
    if source is None:
        return None
    wire: Json = {"type": "document", "source": source}
    if part.name is not None:
        wire["title"] = part.name
    return finish(wire, part)


def _decode_source(fields: Fields) -> Source | None:
    """A source whose every member is understood; None keeps the block whole."""
    value = fields.peek("source")
    if not isinstance(value, dict):
        fields.fail("source", "expected object")
    for kind, keys, make in _SOURCES:
        if value.get("type") == kind and value.keys() == keys:
            if not all(type(member) is str for member in value.values()):
                fields.fail("source", "expected strings")
            fields.take("source")
            return make(value)
    return None


_SOURCES: Final[tuple[tuple[str, frozenset[str], Callable[[Json], Source]], ...]] = (
    (
        "base64",
        frozenset({"type", "media_type", "data"}),
        lambda value: Inline(media_type=value["media_type"], data=value["data"]),
    ),
    ("url", frozenset({"type", "url"}), lambda value: Remote(url=value["url"])),
    (
        "file",
        frozenset({"type", "file_id"}),
        lambda value: FileRef(id=value["file_id"], issuer=NAME),
    ),
    (
        "text",
        frozenset({"type", "media_type", "data"}),
        lambda value: PlainText(text=value["data"], media_type=value["media_type"]),
    ),
)


def _encode_source(source: Source, default_type: str) -> Json | None:
    if isinstance(source, Inline):
        return {
            "type": "base64",
            "media_type": source.media_type or default_type,
            "data": source.data,
        }
    if isinstance(source, Remote):
        return {"type": "url", "url": source.url}
    if isinstance(source, PlainText):
        return {"type": "text", "media_type": source.media_type, "data": source.text}
    return {"type": "file", "file_id": source.id} if source.issuer == NAME else None


def _decode_thinking(fields: Fields) -> Reasoning:
    text = fields.text("thinking")
    return Reasoning(text=text, signature=fields.maybe_text("signature"), extras=fields.rest())


def _decode_redacted(fields: Fields) -> Reasoning:
    return Reasoning(redacted=True, signature=fields.text("data"), extras=fields.rest())


def _encode_reasoning(part: Reasoning, ctx: Context) -> Json:
    if part.redacted:
        return merge({"type": "redacted_thinking", "data": part.signature or ""}, part.extras, NAME)
    wire: Json = {"type": "thinking", "thinking": part.text or "\n\n".join(part.summary)}
    if part.signature is not None or ctx.foreign(NAME):
        wire["signature"] = part.signature or ""
    return merge(wire, part.extras, NAME)


def _decode_tool_use(fields: Fields) -> ToolCall:
    call_id, name = fields.text("id"), fields.text("name")
    return ToolCall(
        id=call_id,
        name=name,
        arguments=_decode_input(fields),
        cache=decode_cache(fields),
        extras=fields.rest(),
    )


def _decode_input(fields: Fields) -> str:
    given = take_arguments(fields, "input")
    if given is None:
        fields.note("arguments-normalised", "input")
        if "input" in fields:
            fields.constant("input", None)
    return given or "{}"


def _encode_tool_use(part: ToolCall, ctx: Context) -> Json:
    wire = {
        "type": "tool_use",
        "id": part.id,
        "name": part.name,
        "input": arguments_object(part, ctx),
    }
    return finish(wire, part)


def _decode_tool_result(fields: Fields) -> ToolResult:
    call_id = fields.text("tool_use_id")
    parts, wire_form = decode_content(fields, "content", nested=True)
    return ToolResult(
        id=call_id,
        parts=parts,
        is_error=fields.maybe_bool("is_error"),
        wire_form=wire_form,
        cache=decode_cache(fields),
        extras=fields.rest(),
    )


def _encode_tool_result(part: ToolResult, ctx: Context) -> Json:
    wire: Json = {"type": "tool_result", "tool_use_id": part.id}
    if part.parts or part.wire_form == NAME:
        wire["content"] = encode_content(part.parts, part.wire_form, ctx)
    if part.is_error is not None:
        wire["is_error"] = part.is_error
    return finish(wire, part)


def _encode_refusal(part: Refusal, _ctx: Context) -> Json:
    return {"type": "text", "text": part.text}


def _encode_opaque(part: Opaque, _ctx: Context) -> Json | None:
    return part.value if part.protocol == NAME else None


# --- cache marks ----------------------------------------------------------------------------------


def decode_cache(fields: Fields) -> CacheMark | None:
    """The cache mark of a block or tool."""
    value = fields.peek("cache_control")
    if value is None or (type(value) is dict and value.get("type") != "ephemeral"):
        return None
    mark = fields.fields("cache_control")
    mark.constant("type", "ephemeral")
    return CacheMark(ttl=mark.maybe_text("ttl"), extras=mark.rest())


def finish(wire: Json, value: Any) -> Json:
    """Add the cache mark and the extras, which every block and tool may have."""
    mark = value.cache
    if mark is not None:
        wire["cache_control"] = control = {"type": "ephemeral"}
        if mark.ttl is not None:
            control["ttl"] = mark.ttl
        merge(control, mark.extras, NAME)
    return merge(wire, value.extras, NAME)


_DECODERS: Final[Mapping[str, Callable[[Fields], Part | None]]] = {
    "text": _decode_text,
    "image": _decode_image,
    "document": _decode_document,
    "thinking": _decode_thinking,
    "redacted_thinking": _decode_redacted,
    "tool_use": _decode_tool_use,
    "tool_result": _decode_tool_result,
}
_NESTED: Final = frozenset({"text", "image", "document"})
"""What a tool result may hold and this module understands."""

_ENCODERS: Final[Mapping[type[Any], Callable[[Any, Context], Json | None]]] = {
    Text: _encode_text,
    Image: _encode_image,
    Document: _encode_document,
    Reasoning: _encode_reasoning,
    ToolCall: _encode_tool_use,
    ToolResult: _encode_tool_result,
    Refusal: _encode_refusal,
    Opaque: _encode_opaque,
}
