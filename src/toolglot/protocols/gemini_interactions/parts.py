"""Contents of Gemini Interactions, both ways: what stands inside steps and results."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, cast

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    Audio,
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
from toolglot.protocols.gemini_interactions._offsets import Offsets
from toolglot.protocols.gemini_interactions.surface import NAME, VARIANTS
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import cannot_carry

STEP: Final = "$step"
"""Key in the extras of a part, or in an opaque part, that stands inside a step: the members of the
step where the part opens one, None where it continues the one before."""


def with_variants(extras: Extras, variants: Json) -> Extras:
    """Extras that remember an unusual wire form; the same ones if there was none."""
    return {**extras, VARIANTS: variants} if variants else extras


def variants_of(value: Any) -> Json:
    """The wire form of a value, if it was unusual."""
    extras: Extras = value.extras
    return extras.get(VARIANTS, {}) if extras else {}


def kept(fields: Fields) -> Extras:
    """The rest of a value, which shows where it came from even if it is empty."""
    return fields.rest() or {NAME: {}}


# --- contents -------------------------------------------------------------------------------------


def decode_content(values: Iterable[Any], parent: Fields, key: str) -> tuple[Part, ...]:
    """The parts of a list of contents."""
    return tuple(decode_part(each, parent, key, index) for index, each in enumerate(values))


def encode_content(parts: tuple[Part, ...], ctx: Context) -> list[Json]:
    """The reverse."""
    return [wire for part in parts if (wire := encode_part(part, ctx)) is not None]


def decode_part(value: Any, parent: Fields, key: str, index: int) -> Part:
    """One content; a type unknown here is kept whole."""
    fields = parent.element(value, key, index)
    kind = fields.peek("type")
    decoder = _DECODERS.get(kind) if type(kind) is str else None
    if decoder is not None:
        fields.constant("type", kind)
        part = decoder(fields)
        if part is not None:
            return part
    elif type(kind) is not str:
        kind = fields.text("type")
    return Opaque(protocol=NAME, type=kind, value={**value, STEP: None})


def encode_part(part: Part, ctx: Context) -> Json | None:
    """One content; None, with a note, for what has no form here."""
    encoder = _ENCODERS.get(type(part))
    return encoder(part, ctx) if encoder else cannot_carry(part, ctx)


def is_content(part: Part) -> bool:
    """Whether a part stands inside a step rather than being one."""
    return STEP in part.value if isinstance(part, Opaque) else type(part) in _ENCODERS


def with_step(part: Part, rest: Json) -> Part:
    """A part that knows that it opens a step, and what else that says."""
    if isinstance(part, Opaque):
        return replace(part, value={**part.value, STEP: rest})
    extras = cast("Any", part).extras
    return replace(part, extras={**extras, NAME: {**extras.get(NAME, {}), STEP: rest}})


def step_of(part: Part) -> Json | None:
    """The members of the step that a part opens; None: it may continue the one before."""
    own = part.value if isinstance(part, Opaque) else cast("Any", part).extras.get(NAME)
    found: Json | None = own.get(STEP) if own else None
    return found


def _finish(wire: Json, extras: Extras) -> Json:
    if extras:
        merge(wire, extras, NAME).pop(STEP, None)
    return wire


# --- text -----------------------------------------------------------------------------------------


def _decode_text(fields: Fields) -> Text:
    text = fields.text("text")
    return Text(text=text, citations=decode_citations(fields, text), extras=fields.rest())


def _encode_text(part: Text, ctx: Context) -> Json:
    wire: Json = {"type": "text", "text": part.text}
    if part.citations:
        annotations = [*encode_citations(part.citations, part.text, ctx)]
        if annotations:
            wire["annotations"] = annotations
    return _finish(wire, part.extras)


_CITED: Final = {
    "url_citation": ("url", "title"),
    "place_citation": ("url", "name"),
    "file_citation": ("document_uri", "file_name"),
}
"""Annotations that say where a text was taken from: their members for its address and title."""


def decode_citations(fields: Fields, text: str | None) -> tuple[Citation, ...]:
    """The annotations of a text; None: the text is not known, and no place in it is read."""
    annotations = fields.each("annotations")
    if not annotations:
        return ()
    offsets = None if text is None else Offsets(text)
    return tuple(_decode_citation(each, offsets) for each in annotations)


def _decode_citation(fields: Fields, offsets: Offsets | None) -> Citation:
    kind = fields.peek("type")
    keys = _CITED.get(kind) if type(kind) is str else None
    if keys is None:
        return Citation(extras=kept(fields))
    fields.constant("type", "url_citation")
    url, title = fields.maybe_text(keys[0]), fields.maybe_text(keys[1])
    start, end = (_place(fields, key, offsets) for key in ("start_index", "end_index"))
    return Citation(url=url, title=title, start=start, end=end, extras=kept(fields))


def _place(fields: Fields, key: str, offsets: Offsets | None) -> int | None:
    """A place in the text, in characters; one that is inside a character stays as it is."""
    at = fields.peek(key)
    found = offsets.characters(at) if offsets is not None and type(at) is int else None
    if found is not None:
        fields.take(key)
    return found


def encode_citations(citations: Iterable[Citation], text: str, ctx: Context) -> Iterator[Json]:
    """The annotations of a text."""
    offsets = Offsets(text)
    for citation in citations:
        own = citation.extras.get(NAME)
        kind = "url_citation" if own is None else own.get("type", "url_citation")
        keys = _CITED.get(kind) if type(kind) is str else None
        if keys is None:
            yield dict(own or {})
        elif own is None and citation.url is None:
            words = f"a citation of {citation.title or 'no address'}"
            ctx.note("citation-dropped", "annotations", words)
        else:
            wire: Json = {"type": kind}
            named = {keys[0]: citation.url, keys[1]: citation.title}
            wire |= {key: value for key, value in named.items() if value is not None}
            places = {"start_index": citation.start, "end_index": citation.end}
            wire |= {key: offsets.bytes(at) for key, at in places.items() if at is not None}
            yield merge(wire, citation.extras, NAME)


# --- media ----------------------------------------------------------------------------------------

_FILES: Final = ("https://generativelanguage.googleapis.com/", "gs://")
"""Where uploaded files are. They can be read with the uploader's key only."""

_RESOLUTION_FROM: Final = {"low": "low", "high": "high", "original": "ultra_high"}
"""How closely to look at an image: the words that others have, too, and how they are said here."""

_USUAL_TYPE: Final[Mapping[type[Any], str]] = {
    Image: "image/jpeg",
    Document: "application/pdf",
    Audio: "audio/mpeg",
}


def _decode_source(fields: Fields) -> Source | None:
    data, uri = fields.peek("data"), fields.peek("uri")
    if type(data) is str:
        fields.text("data")
        return Inline(media_type=_media_type(fields) or "", data=data)
    if type(uri) is not str:
        return None
    fields.text("uri")
    media_type = _media_type(fields)
    if uri.startswith(_FILES):
        return FileRef(id=uri, issuer=NAME, media_type=media_type)
    return Remote(url=uri, media_type=media_type)


def _media_type(fields: Fields) -> str | None:
    # An empty one says nothing, and stays as it is.
    return fields.maybe_text("mime_type") if fields.peek("mime_type") != "" else None


def _decode_image(fields: Fields) -> Image | None:
    source = _decode_source(fields)
    if source is None:
        return None
    given = fields.peek("resolution")
    detail = fields.text("resolution") if given in ("low", "high") else None
    return Image(source=source, detail=detail, extras=fields.rest())


def _decode_audio(fields: Fields) -> Audio | None:
    source = _decode_source(fields)
    return None if source is None else Audio(source=source, extras=fields.rest())


def _decode_document(fields: Fields) -> Document | None:
    source = _decode_source(fields)
    return None if source is None else _document(source, "document", fields.rest())


def _decode_video(fields: Fields) -> Document | None:
    source = _decode_source(fields)
    return None if source is None else _document(source, "video", fields.rest())


def _document(source: Source, kind: str, extras: Extras) -> Document:
    part = Document(source=source, extras=extras)
    if _document_kind(part) != kind:
        part = replace(part, extras=with_variants(extras, {"type": kind}))
    return part


def _document_kind(part: Document) -> str:
    known: str | None = variants_of(part).get("type")
    is_video = (part.source.media_type or "").startswith("video/")
    return known or ("video" if is_video else "document")


def _encode_medium(part: Image | Document | Audio, ctx: Context) -> Json | None:
    source = part.source
    kind = _document_kind(part) if isinstance(part, Document) else part.__struct_config__.tag
    wire: Json = {"type": kind}
    if isinstance(source, PlainText):
        return {"type": "text", "text": source.text}
    media_type = source.media_type
    if isinstance(source, Inline):
        wire["data"] = source.data
        if not media_type and ctx.foreign(NAME):
            media_type = _USUAL_TYPE[type(part)]
    elif isinstance(source, Remote):
        wire["uri"] = source.url
    elif source.issuer == NAME:
        wire["uri"] = source.id
    else:
        return cannot_carry(part, ctx)
    if media_type:
        wire["mime_type"] = media_type
    if isinstance(part, Image) and part.detail in _RESOLUTION_FROM:
        wire["resolution"] = _RESOLUTION_FROM[part.detail]
    return _finish(wire, part.extras)


def _encode_refusal(part: Refusal, _ctx: Context) -> Json:
    return {"type": "text", "text": part.text}


def _encode_opaque(part: Opaque, ctx: Context) -> Json | None:
    if part.protocol != NAME:
        return cannot_carry(part, ctx)
    return {key: value for key, value in part.value.items() if key != STEP}


_DECODERS: Final[Mapping[str, Callable[[Fields], Part | None]]] = {
    "text": _decode_text,
    "image": _decode_image,
    "audio": _decode_audio,
    "document": _decode_document,
    "video": _decode_video,
}
CONTENTS: Final = frozenset(_DECODERS)
"""The types of contents, by which a list of them is told from a list of steps."""

_ENCODERS: Final[Mapping[type[Any], Callable[[Any, Context], Json | None]]] = {
    Text: _encode_text,
    Image: _encode_medium,
    Document: _encode_medium,
    Audio: _encode_medium,
    Refusal: _encode_refusal,
    Opaque: _encode_opaque,
}
