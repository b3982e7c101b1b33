"""Content parts of OpenAI Chat Completions, both ways."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from toolglot.context import Context
from toolglot.ir import (
    NO_EXTRAS,
    Audio,
    CacheMark,
    Document,
    FileRef,
    Image,
    Inline,
    Json,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Remote,
    Source,
    Text,
)
from toolglot.protocols.openai_chat.surface import NAME, VARIANTS, variants_of, with_variants
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import cannot_carry, data_url, from_url

CALL: Final = "tool_calls."
"""Opens the type of an opaque part that stood among the calls, not in the content."""

PIECES: Final = "thinking"
"""The variant of reasoning that stands among the content, in pieces of its own."""

_FORMAT: Final = {
    "audio/mpeg": "mp3",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/vnd.wave": "wav",
}
"""Media types whose name is not the format's."""

# --- content: a bare string or parts --------------------------------------------------------------


def decode_content(fields: Fields) -> tuple[tuple[Part, ...], bool]:
    """The parts of `content`, and whether they were a list on the wire."""
    value = fields.take("content")
    if value is None:
        return (), False
    if type(value) is str:
        return (Text(text=value),), False
    if type(value) is not list:
        fields.fail("content", "expected string or array")
    return tuple(decode_part(part, fields, index) for index, part in enumerate(value)), True


def encode_content(parts: tuple[Part, ...], wire_form: str, ctx: Context) -> str | list[Json]:
    """The reverse: a bare string where one plain text is all there is, unless it was a list."""
    first = parts[0] if len(parts) == 1 else None
    if wire_form != NAME and isinstance(first, Text) and is_plain(first):
        return first.text
    return encode_parts(parts, ctx)


def encode_parts(parts: tuple[Part, ...], ctx: Context) -> list[Json]:
    """Parts as a list, without those that have no form here."""
    return [wire for part in parts if (wire := encode_part(part, ctx)) is not None]


def is_plain(part: Part) -> bool:
    """Whether a part is a text and nothing that only a part can say about it."""
    return type(part) is Text and part.cache is None and NAME not in part.extras


# --- one part -------------------------------------------------------------------------------------


def decode_part(value: Any, parent: Fields, index: int) -> Part:
    """One part; a type unknown here is kept whole."""
    fields = parent.element(value, "content", index)
    kind = fields.text("type")
    decoder = _DECODERS.get(kind)
    part = decoder(fields) if decoder else None
    return part if part is not None else Opaque(protocol=NAME, type=kind, value=value)


def encode_part(part: Part, ctx: Context) -> Json | None:
    """One part; None, with a note, for what has no form here."""
    encoder = _ENCODERS.get(type(part))
    return encoder(part, ctx) if encoder else cannot_carry(part, ctx)


def _decode_text(fields: Fields) -> Text:
    text = fields.text("text")
    return Text(text=text, cache=decode_cache(fields), extras=fields.rest())


def _encode_text(part: Text, _ctx: Context) -> Json:
    return finish({"type": "text", "text": part.text}, part)


def _decode_thinking(fields: Fields) -> Reasoning | None:
    """Reasoning as Mistral has it: `ThinkChunk` in https://docs.mistral.ai/api (2026-11-16)."""
    pieces = fields.peek("thinking")
    if type(pieces) is not list or not pieces:
        return None
    text = "".join(map(piece_text, pieces))
    if not text:
        return None
    fields.take("thinking")
    known = pieces == [{"type": "text", "text": text}]
    return Reasoning(
        text=text, extras=with_variants(fields.rest(), {PIECES: None if known else pieces})
    )


def _encode_thinking(part: Reasoning, ctx: Context) -> Json | None:
    variants = variants_of(part.extras)
    reads = ctx.target is not None and ctx.target.reasoning.member == PIECES
    if PIECES not in variants and not reads:
        return cannot_carry(part, ctx)
    text = part.text or "\n\n".join(part.summary)
    if not text:
        ctx.note("reasoning-dropped", "content", "it has no words")
        return None
    pieces = variants.get(PIECES) or [{"type": "text", "text": text}]
    return merge({"type": "thinking", "thinking": pieces}, part.extras, NAME)


def piece_text(piece: Any) -> str:
    """The text of a piece of reasoning or content; none of other kinds."""
    text = piece.get("text") if isinstance(piece, dict) else None
    return text if type(text) is str else ""


def _decode_refusal(fields: Fields) -> Refusal:
    text = fields.text("refusal")
    return Refusal(text=text, extras=with_variants(fields.rest(), {"part": True}))


def _encode_refusal(part: Refusal, _ctx: Context) -> Json:
    if VARIANTS not in part.extras:
        return {"type": "text", "text": part.text}
    return merge({"type": "refusal", "refusal": part.text}, part.extras, NAME)


def _decode_image(fields: Fields) -> Image:
    if type(fields.peek("image_url")) is str:
        fields.note("spelling-normalised", "image_url", "a bare URL in place of an object")
        url = fields.text("image_url")
        cache, extras = decode_cache(fields), with_variants(fields.rest(), {"bare": True})
        return Image(source=from_url(url), cache=cache, extras=extras)
    inner = fields.fields("image_url")
    url, detail = inner.text("url"), inner.maybe_text("detail")
    fields.absorb(inner)
    cache = decode_cache(fields)
    return Image(source=from_url(url), detail=detail, cache=cache, extras=fields.rest())


def _encode_image(part: Image, ctx: Context) -> Json | None:
    source = part.source
    if isinstance(source, Inline):
        image: Json = {"url": data_url(source)}
    elif isinstance(source, Remote):
        image = {"url": source.url}
    else:
        return cannot_carry(part, ctx)
    if part.detail is not None:
        image["detail"] = part.detail
    bare = "bare" in variants_of(part.extras) and part.detail is None
    return finish({"type": "image_url", "image_url": image["url"] if bare else image}, part)


def _decode_audio(fields: Fields) -> Audio:
    if type(fields.peek("input_audio")) is str:
        return _decode_bare_audio(fields)
    inner = fields.fields("input_audio")
    source = Inline(media_type="audio/" + inner.text("format"), data=inner.text("data"))
    fields.absorb(inner)
    variants: Json = {}
    if source.media_type in _FORMAT:
        variants["format"] = source.media_type.removeprefix("audio/")
    cache, extras = decode_cache(fields), fields.rest()
    return Audio(
        source=source, cache=cache, extras=with_variants(extras, variants) if variants else extras
    )


def _decode_bare_audio(fields: Fields) -> Audio:
    """Sound as Mistral takes it: base64 or a URL alone, with no word of its format."""
    fields.note("spelling-normalised", "input_audio", "bare data in place of an object")
    given = fields.text("input_audio")
    source = from_url(given) if given.startswith(_URLS) else Inline(media_type="", data=given)
    if isinstance(source, Inline) and not source.media_type:
        source = Inline(media_type=_sound_type(source.data), data=source.data)
    return Audio(
        source=source,
        cache=decode_cache(fields),
        extras=with_variants(fields.rest(), {"bare": given}),
    )


_URLS: Final = ("data:", "https:", "http:")
_SOUNDS: Final = (("UklGR", "audio/wav"), ("T2dnUw", "audio/ogg"), ("ZkxhQw", "audio/flac"))
"""How files of sound begin in base64; MP3 is what else there is."""


def _sound_type(data: str) -> str:
    return next((kind for start, kind in _SOUNDS if data.startswith(start)), "audio/mpeg")


def _encode_audio(part: Audio, ctx: Context) -> Json | None:
    source = part.source
    if "bare" in (variants := variants_of(part.extras)) and not ctx.foreign(NAME):
        return finish({"type": "input_audio", "input_audio": variants["bare"]}, part)
    if not isinstance(source, Inline):
        return cannot_carry(part, ctx)
    kind = source.media_type
    known = variants_of(part.extras).get("format") or _FORMAT.get(kind)
    audio = {"data": source.data, "format": known or kind.removeprefix("audio/")}
    if known and ctx.foreign(NAME):
        ctx.note("value-respelled", ctx.where(part), f"{kind} is {known} here")
    return finish({"type": "input_audio", "input_audio": audio}, part)


def _decode_file(fields: Fields) -> Document | None:
    value = fields.peek("file")
    if not isinstance(value, dict) or not (value.get("file_data") or value.get("file_id")):
        return None
    inner = fields.fields("file")
    source, variants = _decode_source(inner)
    name = inner.maybe_text("filename")
    fields.absorb(inner)
    cache, extras = decode_cache(fields), fields.rest()
    return Document(
        source=source,
        name=name,
        cache=cache,
        extras=with_variants(extras, variants) if variants else extras,
    )


def _decode_source(inner: Fields) -> tuple[Source, Json]:
    data = inner.maybe_text("file_data") if inner.peek("file_data") else None
    if data is None:
        return FileRef(id=inner.text("file_id"), issuer=NAME), {}
    if data.startswith(_URLS):
        return from_url(data), {}
    # Bare base64 says nothing of its type; PDF is what the API takes this way.
    return Inline(media_type="application/pdf", data=data), {"bare": True}


def _encode_file(part: Document, ctx: Context) -> Json | None:
    source, file = part.source, {}
    if part.name is not None:
        file["filename"] = part.name
    if isinstance(source, Inline):
        if ctx.foreign(NAME):
            source = _complete(source, file, ctx)
        bare = variants_of(part.extras).get("bare")
        file["file_data"] = source.data if bare else data_url(source)
    elif isinstance(source, Remote):
        file["file_data"] = source.url
    elif isinstance(source, FileRef) and source.issuer == NAME:
        file["file_id"] = source.id
    else:
        return cannot_carry(part, ctx)
    return finish({"type": "file", "file": file}, part)


def _complete(source: Inline, file: Json, ctx: Context) -> Inline:
    """A type for inline data that came without, and a name, which is required here."""
    media_type = source.media_type or "application/pdf"
    if "filename" not in file:
        file["filename"] = name = "document." + media_type.rpartition("/")[2].partition(";")[0]
        ctx.note("default-added", "file.filename", f"the file is named {name}")
    return Inline(media_type=media_type, data=source.data)


def _encode_opaque(part: Opaque, ctx: Context) -> Json | None:
    return part.value if part.protocol == NAME else cannot_carry(part, ctx)


# --- cache marks ----------------------------------------------------------------------------------


def decode_cache(fields: Fields) -> CacheMark | None:
    """The cache mark of a part or tool, as OpenRouter and others take it."""
    value = fields.peek("cache_control")
    if not isinstance(value, dict) or value.get("type") != "ephemeral":
        return None
    mark = fields.fields("cache_control")
    mark.constant("type", "ephemeral")
    ttl = mark.maybe_text("ttl") if isinstance(mark.peek("ttl"), str) else None
    return CacheMark(ttl=ttl, extras=mark.rest())


def finish(wire: Json, value: Any) -> Json:
    """Add the cache mark and the extras, which every part and tool may have."""
    mark = value.cache
    if mark is not None:
        wire["cache_control"] = control = {"type": "ephemeral"}
        if mark.ttl is not None:
            control["ttl"] = mark.ttl
        merge(control, mark.extras, NAME)
    return merge(wire, value.extras, NAME) if value.extras is not NO_EXTRAS else wire


_DECODERS: Final[Mapping[str, Callable[[Fields], Part | None]]] = {
    "text": _decode_text,
    "thinking": _decode_thinking,
    "image_url": _decode_image,
    "input_audio": _decode_audio,
    "file": _decode_file,
    "refusal": _decode_refusal,
}
_ENCODERS: Final[Mapping[type[Any], Callable[[Any, Context], Json | None]]] = {
    Text: _encode_text,
    Reasoning: _encode_thinking,
    Image: _encode_image,
    Audio: _encode_audio,
    Document: _encode_file,
    Refusal: _encode_refusal,
    Opaque: _encode_opaque,
}
