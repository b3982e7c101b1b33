"""Parts of Gemini contents, both ways."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import (
    Audio,
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
from toolglot.protocols.gemini._grounding import is_own
from toolglot.protocols.gemini._variants import (
    CallIds,
    left_out,
    take_signature,
    variants_of,
    with_variants,
)
from toolglot.protocols.gemini.surface import NAME
from toolglot.wire import jsontext
from toolglot.wire.fields import Fields, merge
from toolglot.wire.parts import arguments_object, cannot_carry, take_arguments

# --- parts: an array, or one of them without it ---------------------------------------------------


def decode_parts(fields: Fields, key: str, ids: CallIds) -> tuple[Part, ...]:
    """The parts of a member."""
    return tuple(
        decode_part(part, fields, key, index, ids) for index, part in enumerate(array(fields, key))
    )


def array(fields: Fields, key: str) -> list[Any]:
    """The values of an array; the servers also take a single one as it is."""
    value = fields.peek(key)
    if type(value) is dict:
        fields.note("spelling-normalised", key, "a single value is written as an array")
        return [fields.take(key)]
    return fields.maybe_list(key) or []


# --- one part -------------------------------------------------------------------------------------


def decode_part(value: Any, parent: Fields, key: str, index: int, ids: CallIds) -> Part:
    """One part, known by the member that is there; anything else is kept whole."""
    fields = parent.element(value, key, index)
    for kind, decoder in _DECODERS:
        if fields.peek(kind) is not None:
            part = decoder(fields, ids)
            return part if part is not None else Opaque(protocol=NAME, type=kind, value=value)
    whole = fields.whole()
    if whole.keys() <= _BARE and whole.get("thoughtSignature") is not None:
        return _text_or_thought(fields, "", {"without": ("text",)})
    kind = next((key for key in whole if key not in _BARE), "")
    return Opaque(protocol=NAME, type=kind, value=whole)


def encode_part(part: Part, ctx: Context) -> Json | None:
    """One part; None, with a note, for what has no form here."""
    encoder = _ENCODERS.get(type(part))
    if encoder is not None:
        return encoder(part, ctx)
    cannot_carry(part, ctx)
    return None


def _decode_text(fields: Fields, _ids: CallIds) -> Text | Reasoning:
    return _text_or_thought(fields, fields.text("text"), {})


def _text_or_thought(fields: Fields, text: str, variants: Json) -> Text | Reasoning:
    signature = take_signature(fields)
    if fields.peek("thought") is True:
        fields.take("thought")
        return Reasoning(
            text=text,
            signature=signature,
            redacted=signature is not None and not text,
            extras=with_variants(fields.rest(), variants),
        )
    return Text(text=text, signature=signature, extras=with_variants(fields.rest(), variants))


def _encode_text(part: Text, ctx: Context) -> Json:
    dropped = sum(not is_own(each) for each in part.citations) if part.citations else 0
    if dropped:
        ctx.note("citation-dropped", ctx.where(part), f"{dropped} citations of a text")
    return _finish({"text": part.text}, part)


def _encode_reasoning(part: Reasoning, _ctx: Context) -> Json:
    return _finish({"text": part.text or "\n\n".join(part.summary), "thought": True}, part)


def _encode_refusal(part: Refusal, _ctx: Context) -> Json:
    return {"text": part.text}


def _finish(wire: Json, part: Text | Reasoning | ToolCall) -> Json:
    """Add the signature, which stands beside what it signs, and the extras."""
    if part.signature is not None:
        wire["thoughtSignature"] = part.signature
    if part.extras:
        if "text" in left_out(part) and not wire["text"]:
            del wire["text"]
        merge(wire, part.extras, NAME)
    return wire


# --- calls and results ----------------------------------------------------------------------------


def _decode_call(fields: Fields, ids: CallIds) -> ToolCall:
    call = fields.fields("functionCall")
    name = call.text("name") if ids.strict else call.maybe_text("name") or ""
    call_id, made = ids.call(call, name)
    given = take_arguments(call, "args")
    signature = take_signature(fields)
    fields.absorb(call)
    variants = {"without": ("args",)} if given is None else {}
    return ToolCall(
        id=call_id,
        name=name,
        arguments=given or "{}",
        id_made=made,
        signature=signature,
        extras=with_variants(fields.rest(), variants),
    )


def _encode_call(part: ToolCall, ctx: Context) -> Json:
    call: Json = _id_of(part, ctx)
    call["name"] = part.name
    args = arguments_object(part, ctx)
    if args or "args" not in left_out(part):
        call["args"] = args
    return _finish({"functionCall": call}, part)


def _id_of(part: ToolCall | ToolResult, ctx: Context) -> Json:
    """The id, unless this protocol left it out; clients who get none make one up for the result."""
    return {} if part.id_made and not ctx.foreign(NAME) else {"id": part.id}


def _decode_result(fields: Fields, ids: CallIds) -> ToolResult:
    result = fields.fields("functionResponse")
    name = result.text("name") if ids.strict else result.maybe_text("name") or ""
    call_id, made = ids.result(result, name)
    parts, is_error, wire_form, variants = _decode_answer(result.maybe_object("response"), name)
    parts += tuple(
        _decode_in_result(value, result, index, ids)
        for index, value in enumerate(array(result, "parts"))
    )
    fields.absorb(result)
    return ToolResult(
        id=call_id,
        parts=parts,
        name=name,
        is_error=is_error,
        id_made=made,
        wire_form=wire_form,
        extras=with_variants(fields.rest(), variants),
    )


def _encode_result(part: ToolResult, ctx: Context) -> Json:
    result: Json = _id_of(part, ctx)
    result["name"] = "unknown" if part.name is None else part.name
    texts = [inner.text for inner in part.parts if isinstance(inner, Text)]
    if texts or "response" not in left_out(part):
        if len(texts) > 1:
            ctx.note("text-joined", ctx.where(part), f"{len(texts)} texts of a result")
        result["response"] = _encode_answer("\n".join(texts), part)
    others = [_encode_in_result(inner, ctx) for inner in part.parts if not isinstance(inner, Text)]
    media = [wire for wire in others if wire is not None]
    if media:
        result["parts"] = media
    return merge({"functionResponse": result}, part.extras, NAME)


def _decode_in_result(value: Any, result: Fields, index: int, ids: CallIds) -> Part:
    fields = result.element(value, "parts", index)
    if "inlineData" in fields or "fileData" in fields:
        return decode_part(value, result, "parts", index, ids)
    return Opaque(protocol=NAME, type=next(iter(value), ""), value=value)


def _encode_in_result(part: Part, ctx: Context) -> Json | None:
    if isinstance(part, (Image, Document, Audio, Opaque)):
        return encode_part(part, ctx)
    cannot_carry(part, ctx)
    return None


def _decode_answer(
    answer: Json | None, name: str
) -> tuple[tuple[Part, ...], bool | None, str, Json]:
    """What a result says: its one text where clients are known to put one, else the object as JSON.

    With whether it failed, its wire form (this protocol's name for an object) and its variants.
    """
    if answer is None:
        return (), None, "", {"without": ("response",)}
    key, value = next(iter(answer.items()), ("", None))
    if len(answer) == 1 and type(value) is str:
        if key in ("output", "error"):
            return (Text(text=value),), True if key == "error" else None, "", {}
        if key in ("result", "content"):
            return (Text(text=value),), None, "", {"key": key}
    content = answer.get("content")
    if len(answer) == 2 and type(content) is str and answer.get("name") == name:  # noqa: PLR2004
        return (Text(text=content),), None, "", {"key": "content", "name": name}
    failed = True if len(answer) == 1 and key == "error" else None
    return (Text(text=jsontext.text(answer)),), failed, NAME, {}


def _encode_answer(text: str, part: ToolResult) -> Json:
    if part.wire_form == NAME:
        answer = _object_in(text)
        if answer is not None:
            return answer
    if part.is_error:
        return {"error": text}
    variants = variants_of(part)
    answer = {variants.get("key", "output"): text}
    if "name" in variants:
        answer["name"] = variants["name"]
    return answer


def _object_in(text: str) -> Json | None:
    try:
        value = jsontext.decode(text)
    except DecodeError:
        return None
    return value if isinstance(value, dict) else None


# --- media ----------------------------------------------------------------------------------------

_FILES: Final = ("https://generativelanguage.googleapis.com/", "gs://")
"""Where uploaded files are. They can be read with the uploader's key only."""

_TYPES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "heic": "image/heic",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "mp4": "video/mp4",
    "webm": "video/webm",
}
_USUAL_TYPE: Final[Mapping[type[Any], str]] = {
    Image: "image/jpeg",
    Document: "application/pdf",
    Audio: "audio/mpeg",
}


def _decode_inline(fields: Fields, _ids: CallIds) -> Part | None:
    blob = fields.fields("inlineData")
    media_type, data = blob.maybe_text("mimeType"), blob.maybe_text("data")
    if not media_type or data is None:
        return None
    url_safe = _has_url_alphabet(data)
    if url_safe:
        data = data.translate(_STANDARD)
    part = _medium(Inline(media_type=media_type, data=data), media_type, fields, blob)
    return replace(part, extras=with_variants(part.extras, _URL_VARIANT)) if url_safe else part


_STANDARD: Final = str.maketrans("-_", "+/")
_URL: Final = str.maketrans("+/", "-_")
_URL_VARIANT: Final[Json] = {"alphabet": "url"}


def _has_url_alphabet(data: str) -> bool:
    """Whether base64 has the characters that are safe in URLs, as Google's Python SDK writes it.

    Other protocols take only the usual ones.
    """
    return ("-" in data or "_" in data) and "+" not in data and "/" not in data


def _decode_file(fields: Fields, _ids: CallIds) -> Part | None:
    file = fields.fields("fileData")
    uri, media_type = file.maybe_text("fileUri"), file.maybe_text("mimeType")
    if uri is None:
        return None
    if uri.startswith(_FILES):
        return _medium(
            FileRef(id=uri, issuer=NAME, media_type=media_type), media_type, fields, file
        )
    return _medium(Remote(url=uri, media_type=media_type), media_type, fields, file)


def _medium(
    source: Source, media_type: str | None, fields: Fields, inner: Fields
) -> Image | Document | Audio:
    kind = (media_type or "").partition("/")[0]
    name = inner.maybe_text("displayName") if kind not in ("image", "audio") else None
    fields.absorb(inner)
    if kind == "image":
        return Image(source=source, extras=fields.rest())
    if kind == "audio":
        return Audio(source=source, extras=fields.rest())
    return Document(source=source, name=name, extras=fields.rest())


def _encode_medium(part: Image | Document | Audio, ctx: Context) -> Json | None:
    wire = _encode_source(part, ctx)
    if wire is None:
        cannot_carry(part, ctx)
        return None
    if isinstance(part, Document) and part.name is not None:
        next(iter(wire.values()))["displayName"] = part.name
    return merge(wire, part.extras, NAME)


def _encode_source(part: Image | Document | Audio, ctx: Context) -> Json | None:
    source = part.source
    if isinstance(source, Inline):
        media_type = source.media_type or _USUAL_TYPE[type(part)]
        data = source.data.translate(_URL) if "alphabet" in variants_of(part) else source.data
        return {"inlineData": {"mimeType": media_type, "data": data}}
    if isinstance(source, PlainText):
        data = b64encode(source.text.encode("utf-8", "surrogatepass")).decode()
        return {"inlineData": {"mimeType": source.media_type, "data": data}}
    if isinstance(source, FileRef):
        if source.issuer != NAME:
            return None
        return _file(source.id, source.media_type)
    if source.media_type is None and (ctx.foreign(NAME) or not isinstance(part, Document)):
        return _file(source.url, _guess(source.url) or _USUAL_TYPE[type(part)])
    return _file(source.url, source.media_type)


def _file(uri: str, media_type: str | None) -> Json:
    file: Json = {} if media_type is None else {"mimeType": media_type}
    file["fileUri"] = uri
    return {"fileData": file}


def _guess(url: str) -> str | None:
    """The media type that the name in a URL suggests."""
    name = url.partition("?")[0].rpartition("/")[2]
    return _TYPES.get(name.rpartition(".")[2].lower())


def _encode_opaque(part: Opaque, ctx: Context) -> Json | None:
    if part.protocol == NAME:
        return part.value
    cannot_carry(part, ctx)
    return None


_DECODERS: Final[tuple[tuple[str, Callable[[Fields, CallIds], Part | None]], ...]] = (
    ("functionCall", _decode_call),
    ("functionResponse", _decode_result),
    ("inlineData", _decode_inline),
    ("fileData", _decode_file),
    ("text", _decode_text),
)
"""Members that tell what a part is. Without one of them it is kept whole."""

_BARE: Final = frozenset({"thought", "thoughtSignature", "partMetadata"})
"""Members of a part that is nothing but a signature, as the last one of a stream often is."""

_ENCODERS: Final[Mapping[type[Any], Callable[[Any, Context], Json | None]]] = {
    Text: _encode_text,
    Image: _encode_medium,
    Document: _encode_medium,
    Audio: _encode_medium,
    Reasoning: _encode_reasoning,
    ToolCall: _encode_call,
    ToolResult: _encode_result,
    Refusal: _encode_refusal,
    Opaque: _encode_opaque,
}
