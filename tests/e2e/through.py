"""What stands between a client and the upstream: nothing, or the gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.gateway.running import listening, provider, to

from toolglot.gateway.app import make_app
from toolglot.gateway.config import Config


@asynccontextmanager
async def gateway(protocol: str, url: str) -> AsyncIterator[str]:
    """A gateway that sends all requests to one upstream."""
    providers = {"scripted": provider(protocol, url, retries=2)}
    async with listening(make_app(Config(providers=providers, routes=(to("scripted"),)))) as base:
        yield base
