"""Content blocks of Converse, both ways. A block is an object with one member."""

import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64Error
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    Audio,
    CacheMark,
    Citation,
    Document,
    Extras,
    FileRef,
    Image,
    Inline,
    Json,
    Opaque,
    Part,
    PlainText,
    Reasoning,
    Refusal,
    Source,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.protocols.bedrock_converse.surface import (
    AUDIO,
    DOCUMENT,
    FORM,
    IMAGE,
    NAME,
    OTHER_TYPES,
    VIDEO,
)
from toolglot.wire import jsontext
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import arguments_object, cannot_carry, take_arguments

_CACHE_POINT: Final = "cachePoint"
_UNKNOWN_TYPE: Final = "application/octet-stream"
_MARKABLE: Final = (Text, Image, Document, Audio, ToolCall, ToolResult)
_STATE: Final = b"toolglot:"
"""What stands before the state of others in a blob, which need not be base64."""

# --- content --------------------------------------------------------------------------------------


def decode_content(
    fields: Fields, key: str, decoders: "_Decoders | None" = None
) -> tuple[Part, ...]:
    """The parts of a list of blocks; a cache point belongs to the part before it."""
    if type(fields.peek(key)) is str:
        fields.note("spelling-normalised", key, "a string is written as a list with one text")
        return (Text(text=fields.text(key)),)
    values = fields.maybe_list(key)
    if not values:
        return ()
    parts: list[Part] = []
    for index, value in enumerate(values):
        if type(value) is dict and len(value) == 1 and type(value.get("text")) is str:
            parts.append(Text(text=value["text"]))
            continue
        block = fields.element(value, key, index)
        if parts and _CACHE_POINT in block and _is_markable(parts[-1]):
            mark = decode_cache(block)
            if mark is not None:
                parts[-1] = replace(parts[-1], cache=mark)
                continue
        parts.append(decode_part(block, decoders))
    return tuple(parts)


def encode_content(parts: tuple[Part, ...], ctx: Context) -> list[Json]:
    """The reverse; a cache mark becomes a block behind the part."""
    blocks: list[Json] = []
    for part in parts:
        block = encode_part(part, ctx)
        if block is None:
            continue
        blocks.append(block)
        mark = getattr(part, "cache", None)
        if mark is None and type(part) is ToolResult:
            mark = _inner_mark(part, ctx)
        if mark is not None:
            blocks.append(encode_cache(mark))
    return blocks


def _is_markable(part: Part) -> bool:
    return isinstance(part, _MARKABLE) and part.cache is None


def _inner_mark(part: ToolResult, ctx: Context) -> CacheMark | None:
    """The last mark inside a result, which has no place for one."""
    found = [getattr(inner, "cache", None) for inner in part.parts]
    marks: list[CacheMark] = [mark for mark in found if mark is not None]
    if not marks:
        return None
    ctx.note("cache-marked", ctx.where(part), "the mark inside the result stands behind it")
    return marks[-1]


def decode_cache(block: Fields) -> CacheMark | None:
    """The mark that a block is, if it is one and nothing else."""
    value = block.peek(_CACHE_POINT)
    if type(value) is not dict or value.get("type") != "default" or len(block.whole()) > 1:
        return None
    mark = block.fields(_CACHE_POINT)
    mark.constant("type", "default")
    return CacheMark(ttl=mark.maybe_text("ttl"), extras=mark.rest())


def encode_cache(mark: CacheMark) -> Json:
    """A block that is a mark."""
    wire: Json = {"type": "default"}
    if mark.ttl is not None:
        wire["ttl"] = mark.ttl
    return {_CACHE_POINT: merge(wire, mark.extras, NAME)}


# --- one block ------------------------------------------------------------------------------------


def decode_part(block: Fields, decoders: "_Decoders | None" = None) -> Part:
    """One block; one that is unknown here is kept whole."""
    value = block.whole()
    kind = next((key for key, inner in value.items() if inner is not None), "")
    decoder = (_DECODERS if decoders is None else decoders).get(kind)
    part = decoder(block) if decoder else None
    return part if part is not None else Opaque(protocol=NAME, type=kind, value=value)


def encode_part(part: Part, ctx: Context) -> Json | None:
    """One block; None, with a note, for what has no form here."""
    encoder = _ENCODERS.get(type(part))
    wire = encoder(part, ctx) if encoder else None
    if wire is None:
        cannot_carry(part, ctx)
    return wire


def _finish(wire: Json, part: Any) -> Json:
    return merge(wire, part.extras, NAME) if part.extras else wire


def form_of(value: Any) -> Json:
    """Which of several wire forms a value had."""
    return value.extras.get(FORM, {}) if value.extras else {}


def with_form(extras: Extras, form: Json) -> Extras:
    """Extras that remember a wire form."""
    return {**extras, FORM: form} if form else extras


# --- text and citations ---------------------------------------------------------------------------


def _decode_text(block: Fields) -> Text:
    return Text(text=block.text("text"), extras=block.rest())


def _encode_text(part: Text, ctx: Context) -> Json:
    form = form_of(part)
    if "json" in form and jsontext.text(form["json"]) == part.text:
        return _finish({"json": form["json"]}, part)
    if "guarded" in form:
        return _finish({"guardContent": {"text": {"text": part.text}}}, part)
    if not part.citations and "cited" not in form:
        return _finish({"text": part.text}, part)
    wire: Json = {"content": [{"text": part.text}]}
    citations = [encode_citation(each, ctx.where(part), ctx) for each in part.citations]
    if citations:
        wire["citations"] = citations
    return _finish({"citationsContent": wire}, part)


def _decode_guarded(block: Fields) -> Text | None:
    """A text that a guardrail looks at is still what somebody says; a picture is kept whole."""
    value = block.peek("guardContent")
    text = value.get("text") if type(value) is dict else None
    if type(text) is not dict or type(text.get("text")) is not str:
        return None
    outer = block.fields("guardContent")
    inner = outer.fields("text")
    words = inner.text("text")
    outer.absorb(inner)
    block.absorb(outer)
    return Text(text=words, extras=with_form(block.rest(), {"guarded": True}))


def _decode_json(block: Fields) -> Text:
    """A JSON value in a result: its text, which remembers what it was."""
    value = block.take("json")
    return Text(text=jsontext.text(value), extras=with_form(block.rest(), {"json": value}))


def _decode_cited(block: Fields) -> Text | None:
    """A text with its sources; None for one in several pieces, which is kept whole."""
    value = block.peek("citationsContent")
    text = _one_text(value.get("content")) if type(value) is dict else None
    if text is None:
        return None
    wire = block.fields("citationsContent")
    wire.take("content")
    citations = tuple(map(decode_citation, wire.each("citations")))
    block.absorb(wire)
    extras = with_form(block.rest(), {"cited": True})
    return Text(text=text, citations=citations, extras=extras)


def _one_text(value: Any) -> str | None:
    """The text in a list of one; None: it is something else."""
    only = value[0] if type(value) is list and len(value) == 1 else None
    text = only.get("text") if type(only) is dict and len(only) == 1 else None
    return text if type(text) is str else None


def decode_citation(fields: Fields) -> Citation:
    """One citation."""
    quote, url = None, None
    if _one_text(fields.peek("sourceContent")) is not None:
        quote = _one_text(fields.take("sourceContent"))
    title = fields.maybe_text("title")
    location = fields.peek("location")
    if type(location) is dict and location.keys() == {"web"}:
        place = fields.fields("location")
        web = place.fields("web")
        url = web.maybe_text("url")
        place.absorb(web)
        fields.absorb(place)
    return Citation(url=url, title=title, quote=quote, extras=fields.rest())


def encode_citation(citation: Citation, path: str, ctx: Context) -> Json:
    """One citation. Where in the text it stands has no place here: all of it is cited."""
    if citation.start is not None:
        words = "the whole text is cited, since a part of it cannot be"
        ctx.note("citation-mapped", path, words)
    wire: Json = {}
    if citation.title is not None:
        wire["title"] = citation.title
    if citation.quote is not None:
        wire["sourceContent"] = [{"text": citation.quote}]
    if citation.url is not None:
        wire["location"] = {"web": {"url": citation.url}}
    return merge(wire, citation.extras, NAME)


# --- media ----------------------------------------------------------------------------------------

_TYPES: Final = {
    word: kind for table in (DOCUMENT, AUDIO, VIDEO, IMAGE) for kind, word in table.items()
} | OTHER_TYPES
"""Media types to the words for their formats."""


def _decode_image(block: Fields) -> Image | None:
    found = _decode_media(block, "image", IMAGE)
    return Image(source=found[0], extras=found[1]) if found else None


def _decode_audio(block: Fields) -> Audio | None:
    found = _decode_media(block, "audio", AUDIO)
    return Audio(source=found[0], extras=found[1]) if found else None


def _decode_video(block: Fields) -> Document | None:
    found = _decode_media(block, "video", VIDEO)
    return Document(source=found[0], extras=found[1]) if found else None


def _decode_document(block: Fields) -> Document | None:
    value = block.peek("document")
    name = value.get("name") if type(value) is dict else None
    if type(name) is not str:
        return None
    found = _decode_media(block, "document", DOCUMENT, "name")
    return Document(source=found[0], name=name, extras=found[1]) if found else None


def _decode_media(
    block: Fields, key: str, types: Mapping[str, str], *known: str
) -> tuple[Source, Extras] | None:
    """The source of a medium, and what else is said of it; None keeps the block whole."""
    value = block.peek(key)
    given = value.get("source") if type(value) is dict else None
    if type(given) is not dict or len(given) != 1:
        return None
    word, format_ = next(iter(given)), value.get("format")
    media_type = types.get(format_) if type(format_) is str else None
    if format_ is None and key == "document":
        media_type = _UNKNOWN_TYPE
    content = given[word]
    if word == "text" and key == "document" and type(content) is str:
        # The format stays among the rest: the text is all that others need.
        wire = _taken(block, key, "source", *known)
        return PlainText(text=content), _media_rest(block, wire)
    if media_type is None:
        return None
    if word == "bytes" and type(content) is str:
        wire = _taken(block, key, "source", "format", *known)
        return Inline(media_type=media_type, data=content), _media_rest(block, wire)
    if word == "s3Location" and type(content) is dict and type(content.get("uri")) is str:
        wire = _taken(block, key, "format", *known)
        source = wire.fields("source")
        place = source.fields("s3Location")
        uri = place.text("uri")
        source.absorb(place)
        wire.absorb(source)
        found = FileRef(id=uri, issuer=NAME, media_type=media_type)
        return found, _media_rest(block, wire)
    return None


def _taken(block: Fields, key: str, *members: str) -> Fields:
    wire = block.fields(key)
    for each in members:
        wire.take(each)
    return wire


def _media_rest(block: Fields, wire: Fields) -> Extras:
    block.absorb(wire)
    return block.rest()


def _encode_image(part: Image, _ctx: Context) -> Json | None:
    return _encode_media("image", part, IMAGE)


def _encode_audio(part: Audio, _ctx: Context) -> Json | None:
    return _encode_media("audio", part, AUDIO)


def _encode_document(part: Document, ctx: Context) -> Json | None:
    media_type = getattr(part.source, "media_type", None)
    if media_type is not None and media_type.startswith("video/"):
        return _encode_media("video", part, VIDEO)
    wire: Json = {"name": part.name if part.name is not None else _NAMELESS}
    if isinstance(part.source, PlainText):
        if ctx.foreign(NAME):
            wire["format"] = format_of(part.source.media_type, DOCUMENT) or "txt"
        return _finish({"document": wire | {"source": {"text": part.source.text}}}, part)
    return _encode_media("document", part, DOCUMENT, wire)


_NAMELESS: Final = "document"


def _encode_media(
    key: str, part: Any, types: Mapping[str, str], wire: Json | None = None
) -> Json | None:
    source, wire = part.source, wire or {}
    media_type = getattr(source, "media_type", None)
    if media_type is None and isinstance(source, FileRef):
        media_type = _by_ending(source.id, types)
    if media_type != _UNKNOWN_TYPE or key != "document":
        word = format_of(media_type or "", types)
        if word is None:
            return None
        wire["format"] = word
    if isinstance(source, Inline):
        wire["source"] = {"bytes": source.data}
    elif isinstance(source, FileRef) and source.issuer == NAME:
        wire["source"] = {"s3Location": {"uri": source.id}}
    else:
        return None
    return _finish({key: wire}, part)


def format_of(media_type: str, types: Mapping[str, str]) -> str | None:
    """The word for a media type, among those of a kind of block."""
    bare = media_type.partition(";")[0].strip().lower()
    word = _TYPES.get(bare)
    if word is not None and word in types and (types[word] == bare or bare in OTHER_TYPES):
        return word
    return next((each for each, known in types.items() if known == bare), None)


def _by_ending(name: str, types: Mapping[str, str]) -> str | None:
    return types.get(name.rpartition(".")[2].lower())


_NAME_CHARS: Final = re.compile(r"[^A-Za-z0-9\s\-()\[\]]+")
_SPACES: Final = re.compile(r"\s+")
_LONGEST_NAME: Final = 200


def name_documents(parts: Iterable[Part], used: set[str], ctx: Context) -> tuple[Part, ...]:
    """The parts of a message of others, with names for documents: letters, digits, single spaces,
    hyphens and brackets, 200 characters, each once in a request.
    """
    named: list[Part] = []
    for part in parts:
        if isinstance(part, ToolResult):
            inner = name_documents(part.parts, used, ctx)
            named.append(part if inner == part.parts else replace(part, parts=inner))
        elif isinstance(part, Document) and not _is_video(part):
            named.append(_with_name(part, used, ctx))
        else:
            named.append(part)
    return tuple(named)


def _is_video(part: Document) -> bool:
    return (getattr(part.source, "media_type", None) or "").startswith("video/")


def _with_name(part: Document, used: set[str], ctx: Context) -> Document:
    bare = _SPACES.sub(" ", _NAME_CHARS.sub("-", part.name or "")).strip(" -")
    stem = bare[: _LONGEST_NAME - 5] or _NAMELESS
    name, count = stem, 1
    while name in used:
        count += 1
        name = f"{stem}-{count}"
    used.add(name)
    if name == part.name:
        return part
    if part.name is None:
        ctx.note("default-added", ctx.where(part), f"the document is named {name}")
    else:
        words = f"the name is {name}: it has letters, digits and hyphens only, and is there once"
        ctx.note("value-mapped", ctx.where(part), words, "info")
    return replace(part, name=name)


# --- reasoning ------------------------------------------------------------------------------------


def _decode_reasoning(block: Fields) -> Reasoning | None:
    value = block.peek("reasoningContent")
    if type(value) is not dict:
        return None
    if type(value.get("redactedContent")) is str:
        wire = block.fields("reasoningContent")
        state = unmark_state(wire.text("redactedContent"))
        block.absorb(wire)
        return Reasoning(redacted=True, signature=state, extras=block.rest())
    words = value.get("reasoningText")
    if type(words) is not dict or type(words.get("text")) is not str:
        return None
    wire = block.fields("reasoningContent")
    inner = wire.fields("reasoningText")
    text, signature = inner.text("text"), inner.maybe_text("signature")
    wire.absorb(inner)
    block.absorb(wire)
    return Reasoning(text=text, signature=signature, extras=block.rest())


def _encode_reasoning(part: Reasoning, _ctx: Context) -> Json:
    if part.redacted:
        return _finish(
            {"reasoningContent": {"redactedContent": mark_state(part.signature or "")}}, part
        )
    wire: Json = {"text": part.text or "\n\n".join(part.summary)}
    if part.signature is not None:
        wire["signature"] = part.signature
    return _finish({"reasoningContent": {"reasoningText": wire}}, part)


def mark_state(state: str) -> str:
    """State as the base64 of a blob, which clients read and write again; others' is marked."""
    try:
        if b64encode(b64decode(state, validate=True)).decode() == state:
            return state
    except (NotBase64Error, ValueError):
        pass
    return b64encode(_STATE + state.encode("utf-8", "surrogatepass")).decode()


def unmark_state(blob: str) -> str:
    """The reverse."""
    try:
        data = b64decode(blob, validate=True)
        if data.startswith(_STATE):
            state = data.removeprefix(_STATE).decode("utf-8", "surrogatepass")
            return state if mark_state(state) == blob else blob
    except (NotBase64Error, ValueError):
        pass
    return blob


# --- calls and results ----------------------------------------------------------------------------


def _decode_tool_use(block: Fields) -> ToolCall | None:
    value = block.peek("toolUse")
    if type(value) is dict and value.get("type") is not None:
        return None  # A call that the provider answers itself.
    wire = block.fields("toolUse")
    call_id, name = wire.text("toolUseId"), wire.text("name")
    given = take_arguments(wire, "input")
    if given is None:
        wire.note("arguments-normalised", "input")
        if "input" in wire:
            wire.constant("input", None)
    block.absorb(wire)
    return ToolCall(id=call_id, name=name, arguments=given or "{}", extras=block.rest())


def _encode_tool_use(part: ToolCall, ctx: Context) -> Json:
    wire = {"toolUseId": part.id, "name": part.name, "input": arguments_object(part, ctx)}
    return _finish({"toolUse": wire}, part)


_STATUS: Final = {"success": False, "error": True}
_STATUS_FROM: Final = {failed: word for word, failed in _STATUS.items()}


def _decode_tool_result(block: Fields) -> ToolResult | None:
    value = block.peek("toolResult")
    if type(value) is dict and value.get("type") is not None:
        return None  # That of a call which the provider made itself.
    wire = block.fields("toolResult")
    call_id = wire.text("toolUseId")
    word = wire.peek("status")
    failed = _STATUS.get(word) if type(word) is str else None
    if failed is not None:
        wire.take("status")
    parts = decode_content(wire, "content", _IN_RESULTS)
    block.absorb(wire)
    return ToolResult(id=call_id, parts=parts, is_error=failed, wire_form=NAME, extras=block.rest())


def _encode_tool_result(part: ToolResult, ctx: Context) -> Json:
    wire: Json = {"toolUseId": part.id}
    parts = part.parts
    if not parts and part.is_error and ctx.foreign(NAME):
        # "The content field … cannot be empty when status value is error."
        parts = (Text(text=_FAILED),)
        ctx.note("default-added", ctx.where(part), f"a failed result says something: {_FAILED}")
    if parts or ctx.foreign(NAME):
        blocks = (encode_part(inner, ctx) for inner in parts)
        wire["content"] = [block for block in blocks if block is not None]
    if part.is_error is not None:
        wire["status"] = _STATUS_FROM[part.is_error]
    return _finish({"toolResult": wire}, part)


_FAILED: Final = "(no content)"


def _encode_refusal(part: Refusal, _ctx: Context) -> Json:
    return {"text": part.text}


def _encode_opaque(part: Opaque, _ctx: Context) -> Json | None:
    return part.value if part.protocol == NAME else None


_Decoders = Mapping[str, Callable[[Fields], Part | None]]

_DECODERS: Final[_Decoders] = {
    "text": _decode_text,
    "image": _decode_image,
    "document": _decode_document,
    "video": _decode_video,
    "audio": _decode_audio,
    "toolUse": _decode_tool_use,
    "toolResult": _decode_tool_result,
    "reasoningContent": _decode_reasoning,
    "citationsContent": _decode_cited,
    "guardContent": _decode_guarded,
}
_IN_RESULTS: Final[_Decoders] = {
    "text": _decode_text,
    "json": _decode_json,
    "image": _decode_image,
    "document": _decode_document,
    "video": _decode_video,
}
"""What a tool result may hold and this module understands."""

_ENCODERS: Final[Mapping[type[Any], Callable[[Any, Context], Json | None]]] = {
    Text: _encode_text,
    Image: _encode_image,
    Document: _encode_document,
    Audio: _encode_audio,
    Reasoning: _encode_reasoning,
    ToolCall: _encode_tool_use,
    ToolResult: _encode_tool_result,
    Refusal: _encode_refusal,
    Opaque: _encode_opaque,
}
