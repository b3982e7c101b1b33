"""Embeddings: vectors of texts, which three protocols ask for in three shapes.

As with answers, each shape is read into one form and written from it: a request is translated by
`translate_request`, and its response by `translate_response`. A protocol declares its paths and
shapes as `EmbeddingsEndpoint` in its `api.py`.
"""

import struct
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from toolglot.errors import DecodeError
from toolglot.ir import Json

Note: TypeAlias = Callable[[str, str], None]
"""Writes down a change: its code in the catalogue, and the path of what was changed."""
Vector: TypeAlias = Sequence[float]
_FLOAT: Final = 4
"""Bytes of a number in a vector that is sent as base64."""


class EmbeddingRequest(Struct, frozen=True, kw_only=True):
    """Texts to be made into vectors."""

    model: str
    texts: tuple[str, ...]
    single: bool = False
    """The client sent one text, not a list."""
    dimensions: int | None = None
    packed: bool = False
    """Vectors are wanted as base64."""
    rest: Mapping[str, Any] = {}
    """Members that only their own protocol has."""


class Embeddings(Struct, frozen=True, kw_only=True):
    """The vectors of texts, in their order."""

    vectors: tuple[Vector, ...]
    input_tokens: int | None = None


def _rename(body: Json, model: str) -> Json:
    return {**body, "model": model}


class EmbeddingsEndpoint(Struct, frozen=True, kw_only=True):
    """Where and in which shape a protocol asks for embeddings."""

    path: str
    """One that begins with a colon follows the name of the model in a path."""
    single: bool = False
    """It takes one text only."""
    decode_request: Callable[[Json, str], EmbeddingRequest]
    """A body, and the model that its path names, if it does."""
    encode_request: Callable[[EmbeddingRequest], Json]
    decode_response: Callable[[Json], Embeddings]
    encode_response: Callable[[Embeddings, EmbeddingRequest], Json]
    rename: Callable[[Json, str], Json] = _rename
    """A body for another model, with all else as it was."""

    def path_for(self, path: str) -> str:
        """Where texts are embedded, by the path at which its protocol generates answers."""
        return path.rpartition(":")[0] + self.path if self.path[0] == ":" else self.path


def translate_request(
    request: EmbeddingRequest, client: EmbeddingsEndpoint, provider: EmbeddingsEndpoint, note: Note
) -> Json:
    """The body for a provider that has another endpoint than the client asked at."""
    if provider.single and len(request.texts) > 1:
        raise DecodeError("input", "the provider takes one text at a time, and there are several")
    for name in request.rest:
        note("field-dropped", name)
    if client.single and not provider.single:
        note("legacy-upgraded", "")
    return provider.encode_request(request)


def translate_response(
    body: Json,
    request: EmbeddingRequest,
    client: EmbeddingsEndpoint,
    provider: EmbeddingsEndpoint,
    note: Note,
) -> tuple[Json, Embeddings]:
    """The body for the client, and what is in it."""
    made = provider.decode_response(body)
    if len(made.vectors) != len(request.texts):
        words = f"expected a vector for each of {len(request.texts)} texts, not {len(made.vectors)}"
        raise DecodeError("", words)
    if made.input_tokens is None:
        note("default-added", "usage")
    return client.encode_response(made, request), made


# --- what the shapes have in common ---------------------------------------------------------------


def texts_of(value: Any, path: str) -> tuple[tuple[str, ...], bool]:
    """One text or a list of them, and whether it was one."""
    if isinstance(value, str):
        return (value,), True
    if not isinstance(value, list) or not value:
        raise DecodeError(path, "expected a text or a list of texts")
    for index, each in enumerate(value):
        if isinstance(each, (int, list)):
            words = "token ids belong to one vendor's vocabulary; send texts to ask another"
            raise DecodeError(f"{path}[{index}]", words)
        if not isinstance(each, str):
            raise DecodeError(f"{path}[{index}]", "expected a text")
    return tuple(value), False


def whole_number(value: Any, path: str) -> int | None:
    """A number of dimensions, if there is one."""
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise DecodeError(path, "expected a whole number above 0")
    return value


def vector_of(value: Any, path: str) -> Vector:
    """A vector, as numbers or as base64."""
    if isinstance(value, str):
        return _unpacked(value, path)
    if not isinstance(value, list) or not all(isinstance(each, (int, float)) for each in value):
        raise DecodeError(path, "expected a list of numbers")
    return value


def packed(vector: Vector) -> str:
    """A vector as base64 of little-endian floats."""
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _unpacked(text: str, path: str) -> Vector:
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        raise DecodeError(path, "expected base64") from None
    if len(data) % _FLOAT:
        raise DecodeError(path, f"expected numbers of {_FLOAT} bytes each")
    return struct.unpack(f"<{len(data) // _FLOAT}f", data)
