"""Embeddings: `/api/embed`, and the older `/api/embeddings` for one text.

Read in the types of the `ollama` package 0.6.3 (2026-11-16).
"""

from typing import Any, Final

from toolglot.embeddings import (
    EmbeddingRequest,
    Embeddings,
    EmbeddingsEndpoint,
    texts_of,
    vector_of,
    whole_number,
)
from toolglot.errors import DecodeError
from toolglot.ir import Json

_KNOWN: Final = frozenset({"model", "input", "prompt", "dimensions"})


def _decode_request(body: Json, _model: str) -> EmbeddingRequest:
    return _request(body, *texts_of(body.get("input"), "input"))


def _decode_single(body: Json, _model: str) -> EmbeddingRequest:
    prompt = body.get("prompt")
    if not isinstance(prompt, str):
        raise DecodeError("prompt", "expected a text")
    return _request(body, (prompt,), single=True)


def _request(body: Json, texts: tuple[str, ...], single: bool) -> EmbeddingRequest:  # noqa: FBT001
    return EmbeddingRequest(
        model=str(body.get("model", "")),
        texts=texts,
        single=single,
        dimensions=whole_number(body.get("dimensions"), "dimensions"),
        rest={name: body[name] for name in body if name not in _KNOWN},
    )


def _encode_request(request: EmbeddingRequest) -> Json:
    texts: Any = request.texts[0] if request.single else list(request.texts)
    body: Json = {"model": request.model, "input": texts}
    if request.dimensions is not None:
        body["dimensions"] = request.dimensions
    return body


def _encode_single(request: EmbeddingRequest) -> Json:
    return {"model": request.model, "prompt": request.texts[0]}


def _decode_response(body: Json) -> Embeddings:
    vectors = body.get("embeddings")
    if not isinstance(vectors, list):
        raise DecodeError("embeddings", "expected a list of embeddings")
    tokens = body.get("prompt_eval_count")
    return Embeddings(
        vectors=tuple(
            vector_of(each, f"embeddings[{index}]") for index, each in enumerate(vectors)
        ),
        input_tokens=tokens if isinstance(tokens, int) else None,
    )


def _decode_single_response(body: Json) -> Embeddings:
    return Embeddings(vectors=(vector_of(body.get("embedding"), "embedding"),))


def _encode_response(made: Embeddings, request: EmbeddingRequest) -> Json:
    body: Json = {"model": request.model, "embeddings": made.vectors}
    if made.input_tokens is not None:
        body["prompt_eval_count"] = made.input_tokens
    return body


def _encode_single_response(made: Embeddings, _request: EmbeddingRequest) -> Json:
    return {"embedding": made.vectors[0]}


EMBEDDINGS: Final = (
    EmbeddingsEndpoint(
        path="/api/embed",
        decode_request=_decode_request,
        encode_request=_encode_request,
        decode_response=_decode_response,
        encode_response=_encode_response,
    ),
    EmbeddingsEndpoint(
        path="/api/embeddings",
        single=True,
        decode_request=_decode_single,
        encode_request=_encode_single,
        decode_response=_decode_single_response,
        encode_response=_encode_single_response,
    ),
)
