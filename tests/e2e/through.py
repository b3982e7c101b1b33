"""What stands between a client and the upstream: nothing, or the gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.gateway.running import provider, serving, to

from toolglot.gateway.config import Config


@asynccontextmanager
async def gateway(protocol: str, url: str) -> AsyncIterator[str]:
    """A gateway that sends all requests to one upstream."""
    providers = {"scripted": provider(protocol, url, retries=2)}
    async with serving(Config(providers=providers, routes=(to("scripted"),))) as base:
        yield base
