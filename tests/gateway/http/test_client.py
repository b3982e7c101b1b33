"""Asking a provider once: what is sent, and what comes back if nothing does."""

import asyncio

import pytest
from aiohttp import web
from tests.gateway.running import provider, upstream

from toolglot.gateway.config import Config, Timeouts
from toolglot.gateway.http.client import Client, OutboundRequest, SendFailure
from toolglot.gateway.relay.providers import make_upstreams
from toolglot.http1.connection_pool import ConnectError


def with_client(use):
    async def run():
        client = Client()
        try:
            return await use(client)
        finally:
            await client.close()

    return asyncio.run(run())


def send(handler, **fields):
    """The status of the reply, or why there is none, and how often it was asked."""
    seen = []

    async def counted(request):
        seen.append((dict(request.headers), await request.read(), str(request.rel_url)))
        return await handler(request)

    async def use(client):
        async with upstream(counted) as url:
            reply = await client.send(OutboundRequest(url=url + "/x", data=b"{}", **fields))
            if isinstance(reply, SendFailure):
                return reply
            async with reply:
                await reply.read()
                return reply.status

    return with_client(use), seen


def test_what_is_sent():
    async def answers(_request):
        return web.Response(status=503)

    status, seen = send(answers, headers={"x-a": "b"}, query={"alt": "sse"})
    assert status == 503, "whatever the status is, it is a reply, and asked for once"
    ((headers, body, url),) = seen
    assert (headers["x-a"], body, url) == ("b", b"{}", "/x?alt=sse")


def test_silence_before_the_first_byte_is_a_timeout():
    async def waits(_request):
        await asyncio.Event().wait()

    failure, _ = send(waits, timeouts=Timeouts(connect=0.05, first_byte=0.05))
    assert failure == SendFailure("timeout")


def test_a_connection_that_is_closed_without_an_answer_was_dropped():
    async def closes(request):
        request.transport.close()
        return web.Response()

    failure, seen = send(closes)
    assert (failure.reason, len(seen)) == ("dropped", 1)
    assert failure.detail


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "http://[", "ftp://127.0.0.1/x"])
def test_an_address_at_which_nobody_is(url):
    async def use(client):
        return await client.send(OutboundRequest(url=url, data=b"{}"))

    failure = with_client(use)
    assert failure.reason == "unreachable"
    assert failure.detail


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [(200, b'{"a":1}', {"a": 1}), (200, b"<html>", None), (404, b'{"a":1}', None)],
)
def test_a_small_answer_is_good_to_have(status, body, found):
    methods = []

    async def answers(request):
        methods.append(request.method)
        return web.Response(status=status, body=body)

    async def use(client):
        async with upstream(answers) as url:
            assert await client.fetch(OutboundRequest(url=url)) == found
            assert await client.look(OutboundRequest(url=url, data=b"{}")) == (status, body)
        assert await client.fetch(OutboundRequest(url="http://127.0.0.1:9")) is None
        with pytest.raises(ConnectError):
            await client.look(OutboundRequest(url="http://127.0.0.1:9"))

    with_client(use)
    assert methods == ["GET", "POST"]


def test_a_proxy_stands_in_between():
    seen = []

    async def answers(request):
        seen.append(str(request.url))
        return web.json_response({})

    async def use(client):
        async with upstream(answers) as proxy:
            there = provider("openai-chat", "http://provider.invalid", proxy=proxy)
            it = make_upstreams(Config(providers={"it": there}), {})["it"]
            small = it.small_request("openai-chat", "/v1/models")
            assert await client.fetch(small) == {}
            reply = await client.send(OutboundRequest(url=small.url, data=b"{}", proxy=proxy))
            reply.close()

    with_client(use)
    assert seen == ["http://provider.invalid/v1/models"] * 2


def test_a_redirect_is_not_followed():
    """Where it leads is not the provider that the key is for."""

    async def elsewhere(_request):
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    status, seen = send(elsewhere)
    assert status == 307
    assert len(seen) == 1
