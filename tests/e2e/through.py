"""What stands between a client and the upstream: nothing, or the gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.gateway.running import serving, to
from tests.upstreams.strict.upstreams import StrictUpstream

from toolglot.gateway.config import Config


@asynccontextmanager
async def gateway(upstream: StrictUpstream, url: str, *, mends: bool = False) -> AsyncIterator[str]:
    """A gateway that sends all requests to one model of one strict upstream.

    Nothing is mended, so that a request that is refused is seen, unless the answers are at fault.
    """
    mend = "on" if mends else "off"
    providers = {"strict": upstream.at(url, retries=2, mend=mend)}
    routes = (to(f"strict/{upstream.model}"),)
    async with serving(Config(providers=providers, routes=routes)) as base:
        yield base
