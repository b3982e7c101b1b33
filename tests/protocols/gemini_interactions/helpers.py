"""Gemini Interactions as its tests use it."""

import json

from tests.protocols.harness import Harness

from toolglot.ir import Message, Request

HARNESS = Harness("gemini-interactions")
decode, encode, foreign = HARNESS.decode_request, HARNESS.encode_request, HARNESS.foreign
answer, tell = HARNESS.decode_response, HARNESS.encode_response
events_of, bytes_of = HARNESS.decode_stream, HARNESS.encode_stream
load, stream_of = HARNESS.load, HARNESS.stream

DONE = b"event: done\ndata: [DONE]\n\n"


def codes(ctx):
    """The codes of the notes, in order and as often as they were made."""
    return [note.code for note in ctx.receipt()]


def said(*parts, role="user", **more):
    return Request(model="m", messages=(Message(role=role, parts=parts),), **more)


def sse(events, *, done=True):
    """Events as a stream, with `event:` lines from their types; bytes are frames as they are."""
    return b"".join(map(_frame, events)) + (DONE if done else b"")


def _frame(event):
    if isinstance(event, bytes):
        return event
    line = f"event: {event['event_type']}\n" if "event_type" in event else ""
    return f"{line}data: {json.dumps(event)}\n\n".encode()
