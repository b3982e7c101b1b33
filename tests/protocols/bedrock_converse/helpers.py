"""Converse as its tests use it."""

from tests.protocols.harness import Harness

from toolglot.ir import Message, Request
from toolglot.wire.event_stream import EventStreamDecoder, encode_event
from toolglot.wire.jsontext import encode as encode_json
from toolglot.wire.jsontext import peek

HARNESS = Harness("bedrock-converse")
PATH = "/model/us.anthropic.claude-sonnet-4-6/converse"
encode, foreign = HARNESS.encode_request, HARNESS.foreign
events_of, bytes_of = HARNESS.decode_stream, HARNESS.encode_stream
load, stream_of = HARNESS.load, HARNESS.stream


def decode(body, ctx=None, path=PATH):
    return HARNESS.decode_request(body, ctx, path)


def answer(body, status=200, headers=None, ctx=None):
    return HARNESS.decode_response(body, ctx, status, headers)


def codes(ctx):
    """The codes of the notes, in order and as often as they were made."""
    return [note.code for note in ctx.receipt()]


def said(*parts, role="user", **more):
    return Request(model="m", messages=(Message(role=role, parts=parts),), **more)


def stream(*events):
    """Events as the bytes of a stream."""
    return b"".join(encode_event(name, encode_json(value)) for name, value in events)


def messages(data):
    """What stands in a stream, by name."""
    return [(name, peek(payload)) for name, payload in EventStreamDecoder().feed(data)]
