"""Ollama as its tests use it."""

from tests.protocols.harness import Harness

from toolglot.ir import Message, Request, ToolCall

HARNESS = Harness("ollama")
decode_request, encode_request = HARNESS.decode_request, HARNESS.encode_request
decode_response, encode_response = HARNESS.decode_response, HARNESS.encode_response
decode_stream, encode_stream = HARNESS.decode_stream, HARNESS.encode_stream
load, stream_of, foreign = HARNESS.load, HARNESS.stream, HARNESS.foreign


def user(*parts):
    return Request(model="m", messages=(Message(role="user", parts=parts),))


def call(function="f", arguments="{}", id_="c1", **more):
    return ToolCall(id=id_, name=function, arguments=arguments, **more)
