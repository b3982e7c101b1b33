"""What went wrong with a connection, in words of our own."""

import errno
import socket
import ssl

import pytest

from toolglot.http1.connection_errors import error_words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed ('::1', 9)"), "refused"),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), "reset"),
        (ConnectionResetError(), "reset"),
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (OSError(errno.EIO, "Input/output error"), "the connection failed"),
        (socket.gaierror(-2, "Name or service not known"), "name of the host"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version (_ssl.c:1006)"), "https"),
        (UnicodeError("label too long"), "name of the host is not valid"),
        (OSError("the proxy refused: 407"), "the proxy refused: 407"),
        (ValueError("x"), "the connection failed"),
    ],
)
def test_no_words_of_a_library(error, words):
    said = error_words(error)
    assert words in said
    assert not any(mark in said for mark in ("Errno", "_ssl", "[SSL", "('"))
