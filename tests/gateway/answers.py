"""An answer in every protocol, whole and in pieces, and what a client makes of it."""

import json

from toolglot import ir
from toolglot.context import Context
from toolglot.events import fold, unfold
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import decode_response, encode_request, encode_response

NAMES = list(PROTOCOLS)
TEXT = "North by north-west, and then a long way over the hills until the river."
ANSWER = ir.Response(
    id="a1",
    model="m",
    choices=(ir.Choice(parts=(ir.Text(text=TEXT),), stop=ir.StopReason(kind="end")),),
    usage=ir.Usage(input=12, output=7),
)


def whole_of(protocol):
    """The answer as one body."""
    return encode_response(ANSWER, target=protocol).data()


def pieces_of(protocol):
    """The answer as a stream, event by event."""
    encoder = get_protocol(protocol).StreamEncoder(Context())
    return [*filter(None, map(encoder.encode, unfold(ANSWER))), encoder.close()]


def kind_of(protocol):
    return get_protocol(protocol).SURFACE.stream.media_type


async def answer_well(turn, protocol):
    """As a provider should."""
    asked = json.loads(turn.body)
    if asked.get("stream") or "stream" in turn.path:
        await turn.whole(b"".join(pieces_of(protocol)), kind_of(protocol))
    else:
        await turn.whole(whole_of(protocol))


def request_for(*, stream, model="m"):
    question = ir.Message(role="user", parts=(ir.Text(text="Which way?"),))
    return ir.Request(model=model, messages=(question,), stream=stream, max_tokens=9)


async def ask(session, protocol, *, stream=False, model="m"):
    """The status, the headers and the body of an answer."""
    wire = encode_request(request_for(stream=stream, model=model), target=protocol)
    async with session.post(wire.path, data=wire.data(), params=dict(wire.query)) as reply:
        return reply.status, reply.headers, await reply.read()


def read_stream(protocol, data):
    """What a client of a protocol makes of a stream."""
    decoder = get_protocol(protocol).StreamDecoder(Context())
    return fold([*decoder.feed(data), *decoder.close()])


def read_whole(protocol, status, data):
    return decode_response(json.loads(data), source=protocol, status=status)


def said(response):
    assert isinstance(response, ir.Response)
    (choice,) = response.choices
    return "".join(part.text for part in choice.parts if isinstance(part, ir.Text))
