"""What went wrong with a connection, in words of our own.

The exceptions of libraries name their functions, files and numbers, which help nobody who reads
them in an answer; and they differ between event loops.
"""

import errno
import socket
import ssl
from collections.abc import Mapping
from typing import Final

_BY_NUMBER: Final[Mapping[int, str]] = {
    errno.ECONNREFUSED: "nobody listens there (connection refused)",
    errno.ECONNRESET: "the connection was reset",
    errno.ECONNABORTED: "the connection was closed",
    errno.EPIPE: "the connection was closed",
    errno.ETIMEDOUT: "the connection timed out",
    errno.EHOSTUNREACH: "there is no route to the host",
    errno.ENETUNREACH: "the network cannot be reached",
    errno.EADDRNOTAVAIL: "no local address or port is free",
    errno.EMFILE: "this process has too many open files; raise its limit (ulimit -n)",
    errno.ENFILE: "this machine has too many open files",
    errno.EACCES: "connecting there is not permitted",
    errno.EPERM: "connecting there is not permitted",
}


def error_words(error: BaseException) -> str:
    """A phrase for a person who runs a gateway."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its TLS certificate is not valid: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return "TLS failed; does the server speak https at this port?"
    if isinstance(error, socket.gaierror):
        return "the name of the host is not known"
    if isinstance(error, UnicodeError):
        return "the name of the host is not valid"
    if isinstance(error, OSError) and error.errno is not None:
        return _BY_NUMBER.get(error.errno, "the connection failed")
    if isinstance(error, ConnectionResetError):
        return "the connection was reset"
    if isinstance(error, OSError) and error.args and error.errno is None:
        return str(error)  # Raised by this package.
    return "the connection failed"
