"""Sizes of pictures, read out of their headers."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gateway import pictures

from toolglot.gateway.tokens.image_size import image_size

SIDE = st.integers(1, 16383)


@pytest.mark.parametrize("make", pictures.ALL, ids=lambda make: make.__name__)
@given(width=SIDE, height=SIDE)
def test_every_kind_tells_its_size(make, width, height):
    assert image_size(make(width, height)) == (width, height)


@pytest.mark.parametrize("make", pictures.ALL, ids=lambda make: make.__name__)
@given(length=st.integers(0, 40))
def test_a_picture_that_is_cut_off_has_a_size_or_none(make, length):
    whole = make(640, 480)
    assert image_size(whole[:length]) in (None, (640, 480))


@given(st.binary(max_size=200), st.sampled_from([b"", b"\xff\xd8", b"RIFF", b"\x89PNG\r\n\x1a\n"]))
def test_any_bytes_have_a_size_or_none(raw, mark):
    size = image_size(base64.b64encode(mark + raw).decode())
    assert size is None or min(size) > 0


@pytest.mark.parametrize("data", ["", "!", "not base64 at all", "é", "Qk0=", pictures.png(0, 5)])
def test_what_is_no_picture_has_no_size(data):
    assert image_size(data) is None
