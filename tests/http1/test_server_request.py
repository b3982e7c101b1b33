"""What a handler sees of a request."""

import gzip

import pytest
from tests.http1.raw import talk

from toolglot.http1.headers import Headers
from toolglot.http1.server_request import HttpRequest

HOST = b"Host: x\r\n"
CLOSE = b"Connection: close\r\n"


@pytest.mark.parametrize(
    ("encoding", "data", "status", "words"),
    [
        (b"gzip", gzip.compress(b"small", mtime=0), b"200", b"small"),
        (b"identity", b"small", b"200", b"small"),
        (b"gzip", gzip.compress(b"x" * 5000, mtime=0), b"413", b"larger than"),
        (b"gzip", gzip.compress(b"small", mtime=0)[:-4], b"400", b"no complete gzip"),
        (b"gzip", b"plain", b"400", b"no gzip"),
        # Others, such as zstd, may be known by a module that is installed.
        (b"compress", b"plain", b"415", b"deflate, gzip"),
    ],
)
def test_compressed_bodies(encoding, data, status, words):
    head = b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (encoding, len(data))
    answer = talk(b"POST / HTTP/1.1\r\n" + HOST + CLOSE + head + data, body_size=1000)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert words in answer


def test_path_and_query():
    request = HttpRequest(None, "GET", "/a%20b/c?x=1&x=2&y=&z=%C3%BC", Headers(()))
    assert (request.path, request.raw_path) == ("/a b/c", "/a%20b/c")
    assert request.query == {"x": "1", "y": "", "z": "ü"}
    request.move_to("/d%2Fe")
    assert (request.path, request.query["y"]) == ("/d/e", "")


def test_values_go_with_a_request_and_not_with_its_clone():
    request = HttpRequest(None, "GET", "/?a=b", Headers.of({"x": "1"}))
    request["id"] = 7
    assert (request["id"], request.get("other"), len(request), list(request)) == (
        7,
        None,
        1,
        ["id"],
    )
    clone = request.clone(headers=Headers.of({"x": "2"}), raw_path="/c")
    assert (clone.raw_path, clone.query, clone.headers["x"], clone.get("id")) == (
        "/c",
        {"a": "b"},
        "2",
        None,
    )
    assert request.clone().headers is request.headers
    assert request, "a request without values is true all the same"


def test_a_request_without_a_connection_is_closed():
    request = HttpRequest(None, "GET", "/", Headers(()))
    request.abort()
    assert (request.closed, request.drained, request.remote) == (True, False, "")
