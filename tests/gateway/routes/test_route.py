"""Paths at which nothing is asked of a model."""

import asyncio

import aiohttp
import pytest
from aiohttp import web
from tests.gateway.running import listening

from toolglot.errors import DecodeError
from toolglot.gateway.access.authentication import Refusal
from toolglot.gateway.config import Config, Server
from toolglot.gateway.http.client import Client
from toolglot.gateway.http.middleware import stand_at
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.endpoints import answer, error
from toolglot.gateway.routes.route import add_ways


async def good(visit):
    return answer({"read": len(visit.body)})


async def unreadable(_visit):
    raise DecodeError("limit", "expected a number")


async def unknown(_visit):
    raise Refusal(error("invalid_request", "it is not there", 404))


@pytest.mark.parametrize("version", ["", "/v1"])
@pytest.mark.parametrize(
    ("path", "size", "status", "words"),
    [
        ("good", 9, 200, "9"),
        ("unreadable", 1, 400, "limit: expected a number"),
        ("unknown", 1, 404, "it is not there"),
        ("good", 200, 413, "more than 100 bytes"),
    ],
)
def test_what_is_refused_is_told_in_the_protocol(version, path, size, status, words):
    async def run():
        app = web.Application(client_max_size=100)
        ways = tuple(("POST", f"/v1/{each.__name__}", each) for each in (good, unreadable, unknown))
        client = Client()
        relay = Relay(Config(server=Server(max_body=100)), client)
        add_ways(app, relay, ways)
        stand_at(app, relay)
        async with (
            listening(app) as url,
            aiohttp.ClientSession(url) as session,
            session.post(f"{version}/{path}", data=b"x" * size) as reply,
        ):
            assert reply.status == status
            body = await reply.json()
            assert words in str(body)
            assert ("error" in body) is (status != 200)
        await client.close()

    asyncio.run(run())
