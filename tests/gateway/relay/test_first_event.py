"""How answers begin. What follows from it is in test_faults.py."""

import pytest

from toolglot.gateway.relay.first_event import looks_streamed


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"data: {}", "text/event-stream"),
        (b"\xef\xbb\xbf\r\nevent: message_start", "text/event-stream"),
        (b": welcome", "text/event-stream"),
        (b'\n{"model":"m"', "application/x-ndjson"),
    ],
)
def test_streams(head, media_type):
    assert looks_streamed(media_type, head)


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"<!doctype html>", "text/event-stream"),
        (b'{"data": 1}', "text/event-stream"),
        (b"", "text/event-stream"),
        (b"", "application/x-ndjson"),
        (b"data: {}", "application/x-ndjson"),
    ],
)
def test_other_things(head, media_type):
    assert not looks_streamed(media_type, head)
