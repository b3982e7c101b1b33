"""Clients whom a proxy has authenticated."""

import asyncio
import time

import pytest
from tests.gateway.handling import made_request
from tests.gateway.running import gateway

from toolglot.gateway.access.client_identity import ClientIdentity
from toolglot.gateway.config import Server
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key

HEADER = "X-Forwarded-User"


def asking(folder, trusted, *headers):
    file = folder / "it.db"
    with database(file) as db:
        create_key(db, "alice", time.time(), models=("cheap-*",))
    server = {"keys": True, "database": str(file)}
    if trusted:
        server |= {"trusted_proxies": trusted, "identity_header": HEADER}

    async def run():
        async with gateway(**server) as session:
            found = []
            for each in headers:
                async with session.get("/v1/models", headers=each) as reply:
                    found.append((reply.status, await reply.text()))
            return found

    return asyncio.run(run())


@pytest.mark.parametrize("trusted", [("127.0.0.1",), ("10.0.0.1", "127.0.0.0/8")])
def test_a_trusted_proxy_names_its_client(tmp_path, trusted):
    (good, bad, none) = asking(tmp_path, trusted, {HEADER: "alice"}, {HEADER: "eve"}, {})
    assert good[0] == 200
    assert (bad[0], none[0]) == (401, 401)
    assert "there is no key with the name 'eve'" in bad[1]


@pytest.mark.parametrize("trusted", [(), ("10.0.0.1",), ("::1", "192.168.0.0/16")])
def test_nobody_else_does(tmp_path, trusted):
    ((status, _),) = asking(tmp_path, trusted, {HEADER: "alice"})
    assert status == 401


def test_a_header_that_came_twice_is_not_believed():
    identity = ClientIdentity(
        Server(keys=True, trusted_proxies=("127.0.0.1",), identity_header=HEADER)
    )
    request = made_request("GET", "/", {HEADER: "alice"})
    assert identity.name_of(request) is None, "it came from nowhere"

    class Connection:
        remote = "127.0.0.1"
        peer_certificate = None

    request.connection = Connection()
    assert identity.name_of(request) == "alice"
    request.headers.repeated.add(HEADER.lower())
    assert identity.name_of(request) is None
