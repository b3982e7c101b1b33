"""Anthropic Messages as its tests use it."""

from tests.protocols.harness import Harness

from toolglot.ir import Choice, Message, Request, Response, ToolCall

HARNESS = Harness("anthropic")
decode_request, encode_request = HARNESS.decode_request, HARNESS.encode_request
decode_response, encode_response = HARNESS.decode_response, HARNESS.encode_response
decode_stream, encode_stream = HARNESS.decode_stream, HARNESS.encode_stream
load, stream_of, foreign = HARNESS.load, HARNESS.stream, HARNESS.foreign


def user(*parts):
    return Request(model="m", messages=(Message(role="user", parts=parts),), max_tokens=5)


def answer(*parts, **more):
    return Response(id="msg_1", model="m", choices=(Choice(parts=parts, **more),))


def call(function="f", arguments="{}", id_="toolu_1", **more):
    return ToolCall(id=id_, name=function, arguments=arguments, **more)
