"""Content parts of OpenAI Responses, both ways: what stands inside messages and results."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

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
    Refusal,
    Remote,
    Source,
    Text,
)
from toolglot.protocols.openai_responses.surface import NAME
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import cannot_carry, data_url, from_url

OWN: Final[Extras] = {NAME: {}}
"""Extras of a part that came from here and left nothing: nothing is to be filled in for it."""

ITEM: Final = "$item"
"""Key in the extras of a part, or in an opaque part, that belongs to a message: the members of the
message where the part opens one, None where it continues the one before."""

INPUT: Final = "input_text"
OUTPUT: Final = "output_text"

_AUDIO: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_AUDIO_FROM: Final = {media_type: word for word, media_type in _AUDIO.items()}

_SUFFIX: Final = {
    "application/pdf": ".pdf",
    "application/json": ".json",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
}


def kept(fields: Fields) -> Extras:
    """The rest of a value, which shows where it came from even if it is empty."""
    return fields.rest() or OWN


def decode_cache(fields: Fields) -> CacheMark | None:
    """A cache mark as some clients put it on items, for protocols that have such marks."""
    target, value = fields.document.ctx.target, fields.peek("cache_control")
    if target is None or not target.cache.marks or not isinstance(value, dict):
        return None
    if value.get("type") != "ephemeral":
        return None
    mark = fields.fields("cache_control")
    mark.constant("type", "ephemeral")
    ttl = mark.maybe_text("ttl") if isinstance(mark.peek("ttl"), str) else None
    return CacheMark(ttl=ttl, extras=mark.rest())


# --- content: a bare string or parts -------------------------------------------------------------


def decode_content(fields: Fields, key: str, usual: str) -> tuple[tuple[Part, ...], bool]:
    """The parts of a member, and whether it was a bare string; `usual` is the type of texts."""
    value = fields.peek(key)
    if type(value) is str:
        fields.take(key)
        return (Text(text=value),), True
    if value is not None and type(value) is not list:
        fields.fail(key, "expected string or array")
    values = fields.maybe_list(key) or ()
    return tuple(decode_part(each, fields, key, i, usual) for i, each in enumerate(values)), False


def encode_content(parts: tuple[Part, ...], usual: str, ctx: Context) -> list[Json]:
    """The parts of a content member as a list."""
    return [wire for part in parts if (wire := encode_part(part, usual, ctx)) is not None]


def is_bare(parts: tuple[Part, ...]) -> bool:
    """Whether the parts are one text and nothing about it."""
    if len(parts) != 1:
        return False
    part = parts[0]
    return type(part) is Text and not (part.citations or part.extras)


# --- one part ------------------------------------------------------------------------------------


def decode_part(value: Any, parent: Fields, key: str, index: int, usual: str) -> Part:
    """One content part; a type unknown here is kept whole."""
    fields = parent.element(value, key, index)
    kind = fields.peek("type")
    if type(kind) is not str:
        kind = fields.text("type")
    decoder = _DECODERS.get(kind)
    if decoder is not None:
        fields.constant("type", usual if decoder in _TEXTS else kind)
        mark = decode_cache(fields)
        part = decoder(fields)
        if part is not None:
            marked = mark is not None and hasattr(part, "cache")
            return replace(cast("Any", part), cache=mark) if marked else part
    return Opaque(protocol=NAME, type=kind, value={**value, ITEM: None})


def encode_part(part: Part, usual: str, ctx: Context) -> Json | None:
    """One content part; None, with a note, for what has no form here."""
    encoder = _ENCODERS.get(type(part))
    return encoder(part, usual, ctx) if encoder else cannot_carry(part, ctx)


def is_content(part: Part) -> bool:
    """Whether a part stands inside a message rather than being an item of its own."""
    if isinstance(part, Opaque):
        return ITEM in part.value
    return type(part) in _ENCODERS


def _finish(wire: Json, extras: Extras) -> Json:
    merge(wire, extras, NAME).pop(ITEM, None)
    return wire


# --- text ----------------------------------------------------------------------------------------


def _decode_text(fields: Fields) -> Text:
    return Text(text=fields.text("text"), extras=fields.rest())


def _decode_output_text(fields: Fields) -> Text:
    text = fields.text("text")
    citations = tuple(map(decode_citation, fields.each("annotations")))
    logprobs = fields.maybe_list("logprobs")
    extras = kept(fields)
    if logprobs:
        # A choice carries them across; here they only wait to be written back.
        extras = {NAME: {**extras[NAME], "logprobs": logprobs}}
    return Text(text=text, citations=citations, extras=extras)


def _encode_text(part: Text, usual: str, ctx: Context) -> Json:
    own = part.extras.get(NAME)
    kind = own.get("type", usual) if own else usual
    wire: Json = {"type": kind, "text": part.text}
    if kind == OUTPUT and (part.citations or own is None):
        end = len(part.text)
        cited = (encode_citation(each, end, ctx) for each in part.citations)
        wire["annotations"] = [each for each in cited if each is not None]
    elif part.citations:
        ctx.note("citation-dropped", "annotations", "only answers have citations")
    return _finish(wire, part.extras) if own else wire


def decode_citation(fields: Fields) -> Citation:
    """One annotation."""
    if "type" not in fields:
        fields.note("spelling-normalised", "type", "an annotation without a type is a url_citation")
    elif fields.peek("type") != "url_citation":
        return Citation(extras=kept(fields))
    else:
        fields.constant("type", "url_citation")
    return Citation(
        url=fields.maybe_text("url"),
        title=fields.maybe_text("title"),
        start=fields.maybe_int("start_index"),
        end=fields.maybe_int("end_index"),
        extras=kept(fields),
    )


def encode_citation(citation: Citation, end: int, ctx: Context) -> Json | None:
    """One annotation; a place that is not known is the whole text up to `end`."""
    own = citation.extras.get(NAME)
    if own is not None and "type" in own:
        return own
    if own is None and citation.url is None:
        ctx.note(
            "citation-dropped", "annotations", f"a citation of {citation.title or 'no address'}"
        )
        return None
    wire: Json = {"type": "url_citation"}
    usual = (None, None, None) if own is not None else (citation.url, 0, end)
    for key, value, default in (
        ("url", citation.url, None),
        ("title", citation.title, usual[0]),
        ("start_index", citation.start, usual[1]),
        ("end_index", citation.end, usual[2]),
    ):
        if value is not None or default is not None:
            wire[key] = default if value is None else value
    return merge(wire, citation.extras, NAME)


def _decode_refusal(fields: Fields) -> Refusal:
    return Refusal(text=fields.text("refusal"), extras=fields.rest())


def _encode_refusal(part: Refusal, _usual: str, _ctx: Context) -> Json:
    return _finish({"type": "refusal", "refusal": part.text}, part.extras)


# --- media ---------------------------------------------------------------------------------------


def _decode_image(fields: Fields) -> Image | None:
    source: Source
    if type(fields.peek("image_url")) is str:
        source = from_url(fields.text("image_url"))
    elif type(fields.peek("file_id")) is str:
        source = FileRef(id=fields.text("file_id"), issuer=NAME)
    else:
        return None
    return Image(source=source, detail=fields.maybe_text("detail"), extras=kept(fields))


def _encode_image(part: Image, _usual: str, ctx: Context) -> Json | None:
    own, source = part.extras.get(NAME), part.source
    wire: Json = {"type": "input_image"}
    if isinstance(source, Inline):
        wire["image_url"] = (
            data_url(source) if source.media_type or own is not None else _png(source)
        )
    elif isinstance(source, Remote):
        wire["image_url"] = source.url
    elif isinstance(source, FileRef) and source.issuer == NAME:
        wire["file_id"] = source.id
    else:
        return cannot_carry(part, ctx)
    if part.detail is not None:
        wire["detail"] = part.detail
    elif own is None:
        wire["detail"] = "auto"
    return _finish(wire, part.extras)


def _png(source: Inline) -> str:
    return data_url(Inline(media_type="image/png", data=source.data))


def _decode_file(fields: Fields) -> Document | None:
    source = _decode_file_source(fields)
    if source is None:
        return None
    return Document(source=source, name=fields.maybe_text("filename"), extras=kept(fields))


def _decode_file_source(fields: Fields) -> Source | None:
    """A `data:` URL, bare base64 (told by its empty media type), an address or an id."""
    data = fields.peek("file_data")
    if type(data) is str:
        source = from_url(data)
        if isinstance(source, Inline) and not source.media_type:
            return None
        fields.take("file_data")
        return source if isinstance(source, Inline) else Inline(media_type="", data=data)
    if type(fields.peek("file_url")) is str:
        return Remote(url=fields.text("file_url"))
    if type(fields.peek("file_id")) is str:
        return FileRef(id=fields.text("file_id"), issuer=NAME)
    return None


def _encode_file(part: Document, _usual: str, ctx: Context) -> Json | None:
    own, source, name = part.extras.get(NAME), part.source, part.name
    wire: Json = {"type": "input_file"}
    if isinstance(source, PlainText):
        return {"type": INPUT, "text": source.text}
    if isinstance(source, Inline):
        wire["file_data"] = data_url(source) if source.media_type else source.data
        if own is None:
            # The server refuses inline files without a name.
            name = name or "document" + _SUFFIX.get(source.media_type, "")
    elif isinstance(source, Remote):
        wire["file_url"] = source.url
    elif source.issuer == NAME:
        wire["file_id"] = source.id
    else:
        return cannot_carry(part, ctx)
    if name is not None:
        wire["filename"] = name
    return _finish(wire, part.extras)


def _decode_audio(fields: Fields) -> Audio | None:
    value = fields.peek("input_audio")
    if not isinstance(value, dict) or value.keys() != {"data", "format"}:
        return None
    data, media_type = value["data"], _AUDIO.get(str(value["format"]))
    if type(data) is not str or media_type is None:
        return None
    fields.take("input_audio")
    return Audio(source=Inline(media_type=media_type, data=data), extras=fields.rest())


def _encode_audio(part: Audio, _usual: str, ctx: Context) -> Json | None:
    source = part.source
    word = _AUDIO_FROM.get(source.media_type) if isinstance(source, Inline) else None
    if not isinstance(source, Inline) or word is None:
        return cannot_carry(part, ctx)
    audio = {"data": source.data, "format": word}
    return _finish({"type": "input_audio", "input_audio": audio}, part.extras)


def _encode_opaque(part: Opaque, _usual: str, ctx: Context) -> Json | None:
    if part.protocol != NAME:
        return cannot_carry(part, ctx)
    return {key: value for key, value in part.value.items() if key != ITEM}


_DECODERS: Final[Mapping[str, Callable[[Fields], Part | None]]] = {
    "input_text": _decode_text,
    "output_text": _decode_output_text,
    "text": _decode_text,
    "summary_text": _decode_text,
    "refusal": _decode_refusal,
    "input_image": _decode_image,
    "input_file": _decode_file,
    "input_audio": _decode_audio,
}
_TEXTS: Final = frozenset({_decode_text, _decode_output_text})
_ENCODERS: Final[Mapping[type[Any], Callable[[Any, str, Context], Json | None]]] = {
    Text: _encode_text,
    Refusal: _encode_refusal,
    Image: _encode_image,
    Document: _encode_file,
    Audio: _encode_audio,
    Opaque: _encode_opaque,
}
