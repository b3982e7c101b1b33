"""The way back: answers in the form that the client asked for."""

import asyncio

import pytest
from aiohttp import web
from tests.gateway.exchanges import ANSWER, asked, post
from tests.gateway.handling import made_request
from tests.gateway.running import gateway, provider, to, upstream
from tests.gateway.wild import wild

from toolglot import ir
from toolglot.context import Context
from toolglot.events import fold
from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.config import Config, Server
from toolglot.gateway.http.client import Client
from toolglot.gateway.http.response_writers import MemoryWriter
from toolglot.gateway.incoming import read_incoming
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.telemetry.request_telemetry import Telemetry
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import encode_response

CHUNK = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'


@pytest.mark.parametrize("theirs", PROTOCOLS)
@pytest.mark.parametrize("ours", PROTOCOLS)
def test_a_whole_answer_to_a_client_that_asked_for_a_stream(ours, theirs):
    async def answers(_request):
        return web.json_response(encode_response(ANSWER, target=theirs).body)

    async def run():
        async with (
            upstream(answers) as url,
            gateway({"them": provider(theirs, url)}, [to("them/*")]) as session,
        ):
            return await post(session, ours, stream=True)

    reply, body = asyncio.run(run())
    assert reply.content_type == get_protocol(ours).SURFACE.stream.media_type
    decoder = get_protocol(ours).StreamDecoder(Context())
    (choice,) = fold([*decoder.feed(body), *decoder.close()]).choices
    texts = [part.text for part in choice.parts if isinstance(part, ir.Text)]
    assert "".join(texts) == "North by north-west."


@pytest.mark.parametrize("client", ["anthropic", "openai-chat"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_key_that_the_provider_repeats_does_not_reach_the_client(client, stream):
    key = "sk-live-0123456789abcdef"

    async def refuses(request):
        told = f"Incorrect API key provided: {request.headers['Authorization']}"
        return web.json_response({"error": {"message": told}}, status=401)

    async def run():
        async with (
            upstream(refuses) as url,
            gateway({"them": provider("openai-chat", url, api_key=key)}) as session,
        ):
            wire = asked(client, stream=stream)
            async with session.post(wire["path"], data=wire["data"]) as reply:
                return reply.status, await reply.text()

    status, text = asyncio.run(run())
    assert status == 401
    assert "Incorrect API key" in text
    assert key not in text


def test_streams_with_the_same_id_are_all_kept_alive():
    """Ids are the clients' own, so two may have the same."""

    async def run():
        go_on = asyncio.Event()

        async def silent(request):
            reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await reply.prepare(request)
            await reply.write(CHUNK)
            await go_on.wait()
            return reply

        async def alive(session):
            wire = asked("anthropic", stream=True)
            headers = {"x-request-id": "same"}
            async with session.post(wire["path"], data=wire["data"], headers=headers) as reply:
                await reply.content.readuntil(get_protocol("anthropic").SURFACE.stream.keep_alive)

        async with (
            upstream(silent) as url,
            gateway({"them": provider("openai-chat", url)}, keep_alive=0.01) as session,
        ):
            try:
                await asyncio.wait_for(asyncio.gather(alive(session), alive(session)), 9)
            finally:
                go_on.set()

    asyncio.run(run())


def test_a_client_that_left_is_not_written_to():
    """The provider breaks off while nobody listens any more: there is nobody to tell."""

    async def run():
        left, written = asyncio.Event(), []

        class Gone(MemoryWriter):
            closed = True

            async def write(self, data):
                written.append(data)
                left.set()

        async def breaks(turn):
            await turn.head()
            await turn.chunk(
                b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
            )
            await left.wait()
            await turn.reset()

        async with wild(breaks) as (url, _):
            config = Config(providers={"them": provider("openai-chat", url)})
            client, telemetry = Client(), Telemetry().start_request("r", "anthropic")
            relay = Relay(config, client, AccessControl())
            await relay.answer(incoming("anthropic", stream=True), Gone(), telemetry)
            await client.close()
        return written, telemetry.record

    written, record = asyncio.run(run())
    assert b"error" not in b"".join(written)
    assert written
    assert record.error == ""


def test_nothing_is_written_to_a_stream_that_has_ended():
    """However long the connection lives on, its keep-alives are over."""

    class Open(MemoryWriter):
        drained = True

    async def run():
        async def answers(turn):
            await turn.head()
            await turn.chunk(CHUNK + b"data: [DONE]\n\n")
            await turn.end()

        async with wild(answers) as (url, _):
            server = Server(keep_alive=0.01)
            config = Config(providers={"them": provider("openai-chat", url)}, server=server)
            client, telemetry = Client(), Telemetry().start_request("r", "anthropic")
            relay, writer = Relay(config, client, AccessControl()), Open()
            await relay.answer(incoming("anthropic", stream=True), writer, telemetry)
            whole = writer.answer.data
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(relay.keep_alive(), 0.1)
            await client.close()
        return whole, writer.answer.data

    whole, later = asyncio.run(run())
    assert whole
    assert later == whole


def incoming(protocol, **more):
    wire = asked(protocol, **more)
    http = made_request("POST", wire["path"])
    return read_incoming(http, protocol, wire["path"], wire["data"])
