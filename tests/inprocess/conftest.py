"""A strict upstream beside the program that asks it."""

from contextlib import asynccontextmanager

import pytest
from tests.gateway.running import in_thread
from tests.upstreams.server import ScriptedUpstream


@asynccontextmanager
async def _scripted():
    async with ScriptedUpstream("parallel") as scripted:
        yield scripted


@pytest.fixture(scope="module")
def scripted():
    with in_thread(_scripted) as made:
        yield made
