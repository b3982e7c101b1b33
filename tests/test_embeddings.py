"""Vectors of texts, in the shape of each protocol."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.embeddings import (
    EmbeddingRequest,
    Embeddings,
    EmbeddingsEndpoint,
    packed,
    translate_request,
    translate_response,
    vector_of,
)
from toolglot.errors import DecodeError
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext

ENDPOINTS = [each for module in PROTOCOLS.values() for each in module.API.embeddings]
PAIRS = [(one, two) for one in ENDPOINTS for two in ENDPOINTS]
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
vectors = st.lists(numbers, min_size=1, max_size=5)


def names(endpoint):
    return endpoint.path.rpartition("/")[2] if isinstance(endpoint, EmbeddingsEndpoint) else None


def wire(body):
    """A body as it arrives on the other side."""
    return jsontext.decode(jsontext.encode(body))


@pytest.mark.parametrize(("client", "provider"), PAIRS, ids=names)
@given(st.data())
def test_no_text_and_no_number_changes(client, provider, data):
    one = client.single or provider.single
    texts = data.draw(st.lists(st.text(), min_size=1, max_size=1 if one else 3))
    dimensions = None if one else data.draw(st.none() | st.integers(1, 9))
    made = tuple(data.draw(vectors) for _ in texts)
    request = EmbeddingRequest(model="m", texts=tuple(texts), dimensions=dimensions)
    asked = client.decode_request(wire(client.encode_request(request)), "m")
    sent = provider.decode_request(
        wire(translate_request(asked, client, provider, lambda *_: None)), "m"
    )
    assert (sent.model, sent.texts, sent.dimensions) == ("m", tuple(texts), dimensions)
    answer = provider.encode_response(Embeddings(vectors=made, input_tokens=3), sent)
    body, _ = translate_response(wire(answer), asked, client, provider, lambda *_: None)
    assert client.decode_response(wire(body)).vectors == made


@given(vectors)
def test_packed_vectors(numbers):
    assert list(vector_of(packed(numbers), "")) == numbers


@pytest.mark.parametrize("value", ["é", "YQ==", None, [1, "a"], {}])
def test_what_is_no_vector(value):
    with pytest.raises(DecodeError, match=r"^data\[0\]: expected"):
        vector_of(value, "data[0]")


def test_one_text_at_a_time():
    single = next(each for each in ENDPOINTS if each.single)
    request = EmbeddingRequest(model="m", texts=("a", "b"))
    with pytest.raises(DecodeError, match="one text at a time"):
        translate_request(request, ENDPOINTS[0], single, lambda *_: None)
