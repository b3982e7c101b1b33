"""A scripted upstream for any protocol: one answer after the other, and what it was asked."""

import asyncio

import openai
from aiohttp import web
from tests.gateway.running import gateway, provider, to, upstream

from toolglot import ir
from toolglot.context import Context
from toolglot.events import unfold
from toolglot.registry import get_protocol
from toolglot.translate import decode_request, encode_response


def response(*parts, number=1, stop="end", model="the-model"):
    """An answer of these parts."""
    choice = ir.Choice(parts=parts, stop=ir.StopReason(kind=stop))
    usage = ir.Usage(input=12, output=7)
    return ir.Response(id=f"a{number}", model=model, choices=(choice,), usage=usage)


def says(text, number=1):
    """An answer in words."""
    return response(ir.Text(text=text), number=number)


def calls(name, arguments, *, number=1, call_id="call_1", before=()):
    """An answer that calls a tool."""
    call = ir.ToolCall(id=call_id, name=name, arguments=arguments)
    return response(*before, call, number=number, stop="tool_calls")


def sdk(session, key="k"):
    """The official client, pointed at a gateway."""
    url = str(session._build_url("/v1"))
    return openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0)


class Script:
    """Answers requests in turn; `seen` is what it was asked, in the interlingua."""

    def __init__(self, protocol, *answers):
        self.protocol = protocol
        self.answers = list(answers)
        self.seen = []
        self.bodies = []
        self.headers = []
        self.paths = []

    async def handle(self, request):
        body = await request.json()
        self.bodies.append(body)
        self.paths.append(request.path)
        self.headers.append(request.headers)
        self.seen.append(decode_request(body, source=self.protocol, path=request.path))
        answer = self.answers.pop(0)
        if body.get("stream") or "stream" in request.path:
            return await self._stream(request, answer)
        wire = encode_response(answer, target=self.protocol)
        return web.json_response({**wire.body, **self._stored(body)}, status=wire.status)

    async def _stream(self, request, answer):
        codec = get_protocol(self.protocol)
        reply = web.StreamResponse(headers={"Content-Type": codec.SURFACE.stream.media_type})
        await reply.prepare(request)
        encoder = codec.StreamEncoder(Context())
        for event in unfold(answer):
            await reply.write(encoder.encode(event))
        await reply.write(encoder.close())
        return reply

    def _stored(self, body):
        """Only one protocol stores, and says so."""
        if self.protocol != "openai-responses":
            return {}
        return {"store": body.get("store", True)}

    def texts(self, place=-1):
        """All texts of a request, in their order."""
        return [
            part.text
            for message in self.seen[place].messages
            for part in message.parts
            if isinstance(part, ir.Text)
        ]

    def kinds(self, place=-1):
        """The kinds of all parts of a request, in their order."""
        return [
            type(part).__name__ for message in self.seen[place].messages for part in message.parts
        ]


def running(script, use):
    """Run something with a client of a gateway in front of a script."""

    async def run():
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider(script.protocol, url)}, [to("them/*")]) as session,
            sdk(session) as client,
        ):
            return await use(client, session)

    return asyncio.run(run())
