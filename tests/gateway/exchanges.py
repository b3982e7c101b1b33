"""One question and its answer in every protocol, and a provider that gives it."""

from aiohttp import web

from toolglot import ir
from toolglot.context import Context
from toolglot.events import unfold
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import encode_request, encode_response

ASKED = ir.Request(
    model="the-model",
    messages=(ir.Message(role="user", parts=(ir.Text(text="Which way?"),)),),
    max_tokens=100,
)
ANSWER = ir.Response(
    id="a1",
    model="the-model",
    choices=(
        ir.Choice(parts=(ir.Text(text="North by north-west."),), stop=ir.StopReason(kind="end")),
    ),
    usage=ir.Usage(input=12, output=7),
)
NAMES = list(PROTOCOLS)


def asked(protocol, *, stream=False, model="the-model"):
    request = ir.Request(
        model=model, messages=ASKED.messages, max_tokens=ASKED.max_tokens, stream=stream
    )
    wire = encode_request(request, target=protocol)
    return {"path": wire.path, "data": wire.data(), "params": dict(wire.query)}


def streamed(protocol):
    encoder = get_protocol(protocol).StreamEncoder(Context())
    return [*(encoder.encode(event) for event in unfold(ANSWER)), encoder.close()]


def scripted(protocol, seen):
    async def handle(request):
        body = await request.json()
        seen.append((request, body))
        if body.get("stream") or "stream" in request.path:
            surface = get_protocol(protocol).SURFACE
            response = web.StreamResponse(headers={"Content-Type": surface.stream.media_type})
            await response.prepare(request)
            for piece in streamed(protocol):
                await response.write(piece)
            return response
        return web.json_response(encode_response(ANSWER, target=protocol).body)

    return handle


async def post(session, protocol, **more):
    wire = asked(protocol, **more)
    async with session.post(wire["path"], data=wire["data"], params=wire["params"]) as reply:
        return reply, await reply.read()
