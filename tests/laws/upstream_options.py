"""The options with which the gateway asks a strict upstream."""

from functools import cache

from tests.upstreams.strict.upstreams import StrictUpstream

from toolglot.context import Options
from toolglot.gateway.config import Config
from toolglot.gateway.relay.providers import make_upstreams


@cache
def options_for(upstream: StrictUpstream) -> Options:
    """What the gateway knows of the provider and of its model."""
    config = Config(providers={"it": upstream.at("http://127.0.0.1:9")})
    made = make_upstreams(config, {})["it"]
    return made.options(upstream.model, "some-model", strict=False)
