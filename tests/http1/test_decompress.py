"""Content encodings, undone piece by piece."""

import gzip
import sys
import zlib

import pytest

from toolglot.http1 import decompress
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


# --- bodies of requests ---------------------------------------------------------------------------


class Module:
    """A module as `compression.zstd` is, or `brotli`, with zlib inside."""

    ZstdError = error = zlib.error

    class ZstdDecompressor:
        def __init__(self):
            self._zlib = zlib.decompressobj()

        @property
        def eof(self):
            return self._zlib.eof

        @property
        def unused_data(self):
            return self._zlib.unused_data

        def decompress(self, data, most):
            return self._zlib.decompress(data, max(most, 0))

    class Decompressor(ZstdDecompressor):
        def process(self, data, output_buffer_limit=0):
            return self.decompress(data, output_buffer_limit)

        def is_finished(self):
            return self.eof

        can_accept_more_data = is_finished


@pytest.fixture
def installed(monkeypatch):
    decompress._extra_encodings.cache_clear()
    for name in ("backports", "backports.zstd", "brotli"):
        monkeypatch.setitem(sys.modules, name, Module)
    yield
    decompress._extra_encodings.cache_clear()


@pytest.mark.parametrize("encoding", ["zstd", "br"])
def test_encodings_of_modules_that_are_installed(installed, encoding):
    data = zlib.compress(TEXT)
    assert decompress.decompress_body(data, encoding, 0) == TEXT
    assert decompress.decompress_body(data, encoding, len(TEXT)) == TEXT
    bomb = zlib.compress(bytes(10**6))
    assert len(decompress.decompress_body(bomb, encoding, 1000)) == 1001
    for wrong in (b"plain", data[:-5]):
        with pytest.raises(decompress.DecompressError, match=f"no (complete )?{encoding}"):
            decompress.decompress_body(wrong, encoding, 0)
    assert encoding in decompress.known_encodings()


def test_a_brotli_that_knows_no_bound_is_not_used(installed, monkeypatch):
    monkeypatch.delattr(Module.Decompressor, "can_accept_more_data")
    with pytest.raises(LookupError):
        decompress.decompress_body(b"x", "br", 9)


def test_nothing_may_follow_the_end():
    with pytest.raises(decompress.DecompressError, match="something follows"):
        decompress.decompress_body(gzip.compress(TEXT) + gzip.compress(TEXT), "gzip", 0)


def test_a_piece_of_a_reply_that_would_fill_the_memory():
    undo = decompressor("gzip")
    with pytest.raises(zlib.error, match="more than"):
        undo(gzip.compress(bytes(2**26 + 1), 1))


# --- the real modules, where they are installed ---------------------------------------------------

_REAL = [
    ("zstd", "compression.zstd"),
    ("zstd", "backports.zstd"),
    ("br", "brotli"),
    ("br", "brotlicffi"),
]


@pytest.mark.parametrize(("encoding", "name"), _REAL)
def test_what_a_real_module_compressed_is_read_whole_or_not_at_all(encoding, name):
    module = pytest.importorskip(name)
    read = dict(decompress._MODULES[encoding])[name](module)
    data = module.compress(TEXT)
    assert read(data, len(TEXT) + 1) == TEXT
    assert read(data, -1) == TEXT
    wrong = [data[:size] for size in (1, len(data) // 2, len(data) - 1)]
    for each in (*wrong, data + b"more", data + data, b"not compressed"):
        with pytest.raises(decompress.DecompressError):
            read(each, 3 * len(TEXT))


@pytest.mark.parametrize(("encoding", "name"), _REAL)
def test_a_real_module_stops_at_the_bound(encoding, name):
    module = pytest.importorskip(name)
    read = dict(decompress._MODULES[encoding])[name](module)
    made = read(module.compress(bytes(2**24)), 2**20 + 1)
    assert 2**20 < len(made) <= 2**22
