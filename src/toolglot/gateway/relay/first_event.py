"""The beginning of a provider's answer: whether it is a stream, and whether it fails at once."""

import asyncio
from collections.abc import Callable
from typing import Final

from toolglot.http1.client_connection import Reply
from toolglot.streams import StreamTranslator
from toolglot.wire.event_stream import MEDIA_TYPE as EVENT_STREAM

_BEGINNINGS: Final = {
    "text/event-stream": (b"data:", b"event:", b"id:", b"retry:", b":"),
    "application/x-ndjson": (b"{",),
    EVENT_STREAM: (b"\0",),
}
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"
_ENOUGH: Final = 16
"""Bytes that are enough to recognise a stream."""
_HOLD: Final = 1.0
"""Seconds for which a stream without content yet is held back."""


def looks_streamed(media_type: str, head: bytes) -> bool:
    """Whether bytes begin as a stream of a media type does, whatever their content type."""
    return head.lstrip(_BLANK).startswith(_BEGINNINGS[media_type])


async def read_head(reply: Reply) -> bytes:
    """Enough of a reply to know what it is; nothing: it is empty."""
    head = b""
    while len(head) < _ENOUGH and (chunk := await reply.read_some()):
        head += chunk
    return head


async def read_beginning(
    reply: Reply,
    translator: StreamTranslator,
    head: bytes,
    got: Callable[[bytes], None],
) -> bytes:
    """The bytes for the client up to the first content, an error, or the timeout.

    `head` was read already; `got` sees all that the provider sends.
    """
    held, chunk = b"", head
    patience = asyncio.timeout(_HOLD)
    try:
        async with patience:
            while not translator.has_output and not translator.ended:
                chunk = chunk or await reply.read_some()
                if not chunk:
                    return held + translator.close()
                held += translator.feed(chunk)
                got(chunk)
                chunk = b""
    except TimeoutError:
        if not patience.expired():
            raise
    return held
