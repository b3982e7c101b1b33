"""What stands between a client and the upstream: nothing, or the gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.gateway.running import listening, to
from tests.upstreams.strict.upstreams import StrictUpstream

from toolglot.gateway.app import make_app
from toolglot.gateway.config import Config


@asynccontextmanager
async def gateway(upstream: StrictUpstream, url: str) -> AsyncIterator[str]:
    """A gateway that sends all requests to one model of one strict upstream."""
    providers = {"strict": upstream.at(url, retries=2)}
    routes = (to(f"strict/{upstream.model}"),)
    async with listening(make_app(Config(providers=providers, routes=routes))) as base:
        yield base
