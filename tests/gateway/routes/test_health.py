"""Whether the gateway is well."""

import asyncio
import socket

import aiohttp
import pytest
from tests.gateway.running import gateway, provider

from toolglot import __version__
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key


@pytest.mark.parametrize("path", ["/", "/health", "/api/version"])
def test_no_key_is_needed(path, tmp_path):
    async def run():
        async with (
            gateway(keys=True, database=str(tmp_path / "d.sqlite")) as session,
            session.get(path) as reply,
        ):
            return reply.status, await reply.text()

    status, text = asyncio.run(run())
    assert status == 200
    assert __version__ in text


def test_what_it_does_is_told_to_holders_of_keys_and_to_the_administrator(tmp_path):
    path = tmp_path / "d.sqlite"
    with database(path) as db:
        token, _ = create_key(db, "one", 0.0)

    async def run():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            admin = f"127.0.0.1:{free.getsockname()[1]}"
        bearer = {"Authorization": f"Bearer {token}"}
        found = []
        async with (
            gateway(keys=True, database=str(path), admin=admin) as session,
            aiohttp.ClientSession(f"http://{admin}") as there,
        ):
            for path_ in ("/ready", "/metrics"):
                for asks, headers in ((session, {}), (session, bearer), (there, {})):
                    async with asks.get(path_, headers=headers) as reply:
                        found.append(reply.status)
            async with there.get("/v1/models") as reply:
                found.append(reply.status)
        return found

    assert asyncio.run(run()) == [401, 200, 200, 401, 200, 200, 404]


def test_a_gateway_whose_providers_all_rest_is_not_ready():
    async def run():
        async with gateway({"a": provider("anthropic", "http://127.0.0.1:9")}) as session:
            asked = {"model": "m", "max_tokens": 9, "messages": []}
            for _ in range(5):
                async with session.post("/v1/messages", json=asked) as reply:
                    assert reply.status >= 500
            async with session.get("/ready") as reply:
                return reply.status, await reply.json()

    assert asyncio.run(run()) == (503, {"status": "resting", "resting": ["a"]})
