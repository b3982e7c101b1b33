"""The models that clients can use: those of the routes and those that providers list."""

import asyncio
import time
from typing import Final

from toolglot.api import ModelInfo, listed_models
from toolglot.gateway.config import DEMO
from toolglot.gateway.http.client import Client
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.relay.routing import Router
from toolglot.profiles import family_of
from toolglot.registry import get_protocol

DEMO_MODEL: Final = "toolglot-demo"
_LASTING: Final = 300.0
"""Seconds for which a provider's list is cached."""
_AGAIN: Final = 5.0
"""Seconds for which a provider that gave none is not asked again."""


class Catalogue:
    """The models that clients can use."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lists: dict[tuple[str, str], tuple[float, tuple[str, ...]]] = {}
        """By a provider's name and address, which may change while we run."""

    async def names(self, router: Router) -> tuple[str, ...]:
        """All of them; a provider that cannot be asked is left out."""
        names = list(router.names)
        async with asyncio.TaskGroup() as tasks:
            lists = {
                name: tasks.create_task(self._listed(upstream))
                for name, upstream in router.upstreams.items()
            }
        for upstream in router.upstreams.values():
            for model in lists[upstream.name].result():
                targets = router.targets(model)
                plain = targets and (targets[0].name, targets[0].model) == (upstream.name, model)
                names.append(model if plain else f"{upstream.name}/{model}")
        if not router.upstreams and router.targets(DEMO_MODEL):
            names.append(DEMO_MODEL)
        return tuple(dict.fromkeys(names)) or (f"{DEMO}/{DEMO_MODEL}",)

    async def _listed(self, upstream: Upstream) -> tuple[str, ...]:
        if upstream.listed:
            return upstream.listed
        protocol, address = upstream.endpoints[0].protocol, upstream.endpoints[0].base_url
        until, models = self._lists.get((upstream.name, address), (0.0, ()))
        if time.monotonic() < until:
            return models
        path = get_protocol(protocol).SURFACE.models
        answer = await self._client.fetch(upstream.small_request(protocol, path))
        models = tuple(listed_models(answer))
        lasting = _LASTING if models else _AGAIN
        self._lists[upstream.name, address] = (time.monotonic() + lasting, models)
        return models


def describe(name: str) -> ModelInfo:
    """The description of a model for clients."""
    family = family_of(name)
    return ModelInfo(name=name, efforts=family.efforts if family else ())
