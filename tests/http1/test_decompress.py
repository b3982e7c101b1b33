"""Content encodings, undone piece by piece."""

import gzip
import zlib

import pytest

from toolglot.http1.decompress import decompressor

TEXT = b"What was said. " * 500


def raw_deflate(data):
    made = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return made.compress(data) + made.flush()


@pytest.mark.parametrize("step", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("encoding", "compress"),
    [
        ("gzip", gzip.compress),
        ("X-Gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
    ],
)
def test_what_is_compressed_comes_out(encoding, compress, step):
    data, undo = compress(TEXT), decompressor(encoding)
    assert b"".join(undo(data[at : at + step]) for at in range(0, len(data), step)) == TEXT


@pytest.mark.parametrize("encoding", [None, "", "identity", "Identity"])
def test_what_is_not_compressed_needs_nothing(encoding):
    assert decompressor(encoding) is None


def test_what_nobody_asked_for_is_refused():
    with pytest.raises(ValueError, match="compressed as zstd"):
        decompressor("zstd")
