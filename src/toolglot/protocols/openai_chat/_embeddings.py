"""Embeddings: `/v1/embeddings`.

Read in `types/embedding_create_params.py` and `types/create_embedding_response.py` of the `openai`
package 3.49.0 (2026-11-16). That package asks for base64 unless told otherwise.
"""

from typing import Any, Final

from toolglot.embeddings import (
    EmbeddingRequest,
    Embeddings,
    EmbeddingsEndpoint,
    packed,
    texts_of,
    vector_of,
    whole_number,
)
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire.json_values import member, members

_KNOWN: Final = frozenset({"model", "input", "dimensions", "encoding_format"})


def _decode_request(body: Json, _model: str) -> EmbeddingRequest:
    texts, single = texts_of(body.get("input"), "input")
    encoding = body.get("encoding_format", "float")
    if encoding not in ("float", "base64"):
        raise DecodeError("encoding_format", 'expected "float" or "base64"')
    return EmbeddingRequest(
        model=str(body.get("model", "")),
        texts=texts,
        single=single,
        dimensions=whole_number(body.get("dimensions"), "dimensions"),
        packed=encoding == "base64",
        rest={name: body[name] for name in body if name not in _KNOWN},
    )


def _encode_request(request: EmbeddingRequest) -> Json:
    texts: Any = request.texts[0] if request.single else list(request.texts)
    body: Json = {"model": request.model, "input": texts}
    if request.dimensions is not None:
        body["dimensions"] = request.dimensions
    return body


def _decode_response(body: Json) -> Embeddings:
    entries = sorted(members(body, "data"), key=_index)
    if not entries:
        raise DecodeError("data", "expected a list of embeddings")
    tokens = member(body, "usage", "prompt_tokens")
    return Embeddings(
        vectors=tuple(
            vector_of(entry.get("embedding"), f"data[{index}].embedding")
            for index, entry in enumerate(entries)
        ),
        input_tokens=tokens if isinstance(tokens, int) else None,
    )


def _index(entry: Json) -> int:
    index = entry.get("index", 0)
    return index if isinstance(index, int) else 0


def _encode_response(made: Embeddings, request: EmbeddingRequest) -> Json:
    tokens = made.input_tokens or 0
    return {
        "object": "list",
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": packed(vector) if request.packed else vector,
            }
            for index, vector in enumerate(made.vectors)
        ],
        "model": request.model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


EMBEDDINGS: Final = (
    EmbeddingsEndpoint(
        path="/v1/embeddings",
        decode_request=_decode_request,
        encode_request=_encode_request,
        decode_response=_decode_response,
        encode_response=_encode_response,
    ),
)
