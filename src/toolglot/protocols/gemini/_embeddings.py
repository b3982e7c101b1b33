"""Embeddings: `:batchEmbedContents`, and `:embedContent` for one text.

Read in `models.py` and `types.py` of the `google-genai` package 3.1.0 (2026-11-16).
"""

from typing import Any, Final

from toolglot.embeddings import (
    EmbeddingRequest,
    Embeddings,
    EmbeddingsEndpoint,
    vector_of,
    whole_number,
)
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire.json_values import member

_KNOWN: Final = frozenset({"model", "content", "outputDimensionality"})


def _decode_batch(body: Json, model: str) -> EmbeddingRequest:
    entries = body.get("requests")
    if not isinstance(entries, list) or not entries:
        raise DecodeError("requests", "expected a list of requests")
    decoded = [_decode(each, model, f"requests[{at}]") for at, each in enumerate(entries)]
    first = decoded[0]
    for at, each in enumerate(decoded):
        if (each.dimensions, each.rest) != (first.dimensions, first.rest):
            words = "expected the same settings as in requests[0]; others have one for all texts"
            raise DecodeError(f"requests[{at}]", words)
    return EmbeddingRequest(
        model=model,
        texts=tuple(text for each in decoded for text in each.texts),
        dimensions=first.dimensions,
        rest=first.rest,
    )


def _decode_single(body: Json, model: str) -> EmbeddingRequest:
    return _decode(body, model, "")


def _decode(body: Any, model: str, path: str) -> EmbeddingRequest:
    if not isinstance(body, dict):
        raise DecodeError(path, "expected object")
    prefix = f"{path}." if path else ""
    dimensions = body.get("outputDimensionality")
    return EmbeddingRequest(
        model=model,
        texts=(_text(body, f"{prefix}content"),),
        single=True,
        dimensions=whole_number(dimensions, f"{prefix}outputDimensionality"),
        rest={name: body[name] for name in body if name not in _KNOWN},
    )


def _text(body: Json, path: str) -> str:
    parts = member(body, "content", "parts")
    if not isinstance(parts, list) or not parts:
        raise DecodeError(f"{path}.parts", "expected a list of parts")
    for at, part in enumerate(parts):
        if not isinstance(member(part, "text"), str) or len(part) > 1:
            words = "expected a text: no other provider embeds anything else"
            raise DecodeError(f"{path}.parts[{at}]", words)
    return "".join(part["text"] for part in parts)


def _encode_batch(request: EmbeddingRequest) -> Json:
    name = f"models/{request.model}"
    return {"requests": [{"model": name, **_encode(text, request)} for text in request.texts]}


def _encode_single(request: EmbeddingRequest) -> Json:
    return _encode(request.texts[0], request)


def _encode(text: str, request: EmbeddingRequest) -> Json:
    entry: Json = {"content": {"parts": [{"text": text}]}}
    if request.dimensions is not None:
        entry["outputDimensionality"] = request.dimensions
    return entry


def _decode_response(body: Json) -> Embeddings:
    entries = body.get("embeddings")
    if not isinstance(entries, list):
        raise DecodeError("embeddings", "expected a list of embeddings")
    return Embeddings(
        vectors=tuple(
            vector_of(member(each, "values"), f"embeddings[{at}].values")
            for at, each in enumerate(entries)
        ),
        input_tokens=_tokens(body),
    )


def _decode_single_response(body: Json) -> Embeddings:
    vector = vector_of(member(body, "embedding", "values"), "embedding.values")
    return Embeddings(vectors=(vector,), input_tokens=_tokens(body))


def _tokens(body: Json) -> int | None:
    tokens = member(body, "usageMetadata", "promptTokenCount")
    return tokens if isinstance(tokens, int) else None


def _encode_response(made: Embeddings, _request: EmbeddingRequest) -> Json:
    return {"embeddings": [{"values": each} for each in made.vectors], **_usage(made)}


def _encode_single_response(made: Embeddings, _request: EmbeddingRequest) -> Json:
    return {"embedding": {"values": made.vectors[0]}, **_usage(made)}


def _usage(made: Embeddings) -> Json:
    if made.input_tokens is None:
        return {}
    return {"usageMetadata": {"promptTokenCount": made.input_tokens}}


def _rename(body: Json, model: str) -> Json:
    """The model stands in the path, and in each request of a batch."""
    name, entries = f"models/{model}", body.get("requests")
    if isinstance(entries, list):
        named = [{**each, "model": name} if isinstance(each, dict) else each for each in entries]
        return {**body, "requests": named}
    return {**body, "model": name} if "model" in body else body


EMBEDDINGS: Final = (
    EmbeddingsEndpoint(
        path=":batchEmbedContents",
        decode_request=_decode_batch,
        encode_request=_encode_batch,
        decode_response=_decode_response,
        encode_response=_encode_response,
        rename=_rename,
    ),
    EmbeddingsEndpoint(
        path=":embedContent",
        single=True,
        decode_request=_decode_single,
        encode_request=_encode_single,
        decode_response=_decode_single_response,
        encode_response=_encode_single_response,
        rename=_rename,
    ),
)
