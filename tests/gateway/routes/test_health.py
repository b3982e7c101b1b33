"""Whether the gateway is well."""

import asyncio

import pytest
from tests.gateway.running import gateway, provider

from toolglot import __version__


@pytest.mark.parametrize("path", ["/", "/health", "/ready", "/metrics", "/api/version"])
def test_no_key_is_needed(path, tmp_path):
    async def run():
        async with (
            gateway(keys=True, database=str(tmp_path / "d.sqlite")) as session,
            session.get(path) as reply,
        ):
            return reply.status, await reply.text()

    status, text = asyncio.run(run())
    assert status == 200
    assert (__version__ in text) is (path in ("/", "/health", "/api/version"))


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
