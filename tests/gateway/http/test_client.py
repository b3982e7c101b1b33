"""Asking a provider: retries, keys, timeouts."""

import asyncio
from email.utils import formatdate

import pytest
from aiohttp import web
from tests.gateway.running import provider, upstream

from toolglot.exchange import Sent
from toolglot.gateway.config import Config, Timeouts
from toolglot.gateway.http import client as module
from toolglot.gateway.http.client import Client, Question, Unreachable, retry_after
from toolglot.gateway.relay.providers import make_upstreams


def ask(handler, environ=None, **fields):
    """The status of the answer, and the requests that were made for it."""
    seen = []

    async def counted(request):
        seen.append((request.headers.get("Authorization"), await request.read()))
        return await handler(request, len(seen))

    async def run():
        async with upstream(counted) as url:
            config = Config(providers={"it": provider("openai-chat", url, **fields)})
            it = make_upstreams(config, environ or {})["it"]
            sent = Sent(path="/v1/chat/completions", data=b"{}")
            client = Client()
            try:
                question = Question(upstream=it, protocol="openai-chat", model="m", sent=sent)
                async with await client.ask(question) as reply:
                    await reply.read()
                    return reply.status
            finally:
                await client.close()

    return asyncio.run(run()), seen


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.001)


async def _fails_first(_request, number):
    return web.Response(status=500 if number == 1 else 200)


def test_a_failure_before_the_first_byte_is_tried_again():
    status, seen = ask(_fails_first, retries=2)
    assert (status, len(seen)) == (200, 2)


def test_not_more_often_than_said():
    async def fails(_request, _number):
        return web.Response(status=503)

    status, seen = ask(fails, retries=2)
    assert (status, len(seen)) == (503, 3)


def test_a_bad_request_is_not_tried_again():
    async def refuses(_request, _number):
        return web.Response(status=400)

    status, seen = ask(refuses, retries=2)
    assert (status, len(seen)) == (400, 1)


def test_a_provider_that_asks_for_too_much_patience_is_not_waited_for():
    async def later(_request, _number):
        return web.Response(status=429, headers={"retry-after": "3600"})

    status, seen = ask(later, retries=2)
    assert (status, len(seen)) == (429, 1)


def test_another_key_is_tried_when_one_is_refused():
    async def one_key(request, _number):
        return web.Response(status=200 if request.headers["Authorization"] == "Bearer b" else 429)

    status, seen = ask(one_key, {"A": "a", "B": "b"}, api_key=("env:A", "env:B"), retries=2)
    assert status == 200
    assert [key for key, _ in seen] == ["Bearer a", "Bearer b"]


def test_silence_before_the_first_byte_is_a_timeout():
    async def waits(_request, _number):
        await asyncio.Event().wait()

    with pytest.raises(Unreachable, match="did not answer in time"):
        ask(waits, timeouts=Timeouts(connect=0.05, first_byte=0.05))


def test_a_connection_that_is_closed_without_an_answer_is_tried_once_more():
    async def closes(request, number):
        if number == 1:
            request.transport.close()
        return web.Response()

    status, seen = ask(closes)
    assert (status, len(seen)) == (200, 2)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
    ],
)
def test_how_long_to_wait(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_proxy_stands_in_between():
    async def answers(request, _number):
        return web.json_response({"asked": str(request.url)})

    async def run():
        seen = []

        async def counted(request):
            seen.append(str(request.url))
            return await answers(request, len(seen))

        async with upstream(counted) as proxy:
            there = provider("openai-chat", "http://provider.invalid", proxy=proxy)
            it = make_upstreams(Config(providers={"it": there}), {})["it"]
            sent = Sent(path="/v1/chat/completions", data=b"{}")
            client = Client()
            try:
                question = Question(upstream=it, protocol="openai-chat", model="m", sent=sent)
                async with await client.ask(question) as reply:
                    assert reply.status == 200
            finally:
                await client.close()
        return seen

    assert asyncio.run(run()) == ["http://provider.invalid/v1/chat/completions"]
