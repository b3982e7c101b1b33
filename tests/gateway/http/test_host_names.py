"""By which names the gateway may be called."""

import asyncio
import socket

import pytest
from tests.gateway.running import gateway

from toolglot.gateway.config import Server
from toolglot.gateway.http.host_names import own_host
from toolglot.gateway.storage.database import database


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("localhost:8100", True),
        ("LOCALHOST.:8100", True),
        ("app.localhost:8100", True),
        ("host.docker.internal:8100", True),
        ("127.0.0.1:8100", True),
        ("10.1.2.3", True),
        ("[::1]:8100", True),
        ("[fe80::1]", True),
        (socket.gethostname(), True),
        ("gateway.example", True),
        ("a.intern.example:80", True),
        ("chat.example", True),
        ("evil.example", False),
        ("evil.example:8100", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("1.2.3.4.5", False),
        ("[evil.example]", False),
        ("[::1].evil.example", False),
        ("127.0.0.1@evil.example", False),
        ("localhost:evil", False),
        ("*", False),
        ("toolglot:8100", True),
        ("a" * 300, False),
    ],
)
def test_names(host, own):
    hosts = ("gateway.example", "*.intern.example")
    is_own = own_host(Server(hosts=hosts, origins=("https://chat.example", "*")))
    assert is_own(host) is own


def test_an_open_gateway_has_local_names():
    assert own_host(Server(open=True))("toolglot.default.svc.cluster.local")
    assert not own_host(Server())("toolglot.default.svc.cluster.local")
    assert not own_host(Server(open=True))("evil.example")


PATHS = ("/v1/models", "/metrics", "/ready", "/toolglot/receipts/x", "/v1/responses/x", "/health")


@pytest.mark.parametrize("keys", [False, True])
def test_without_keys_a_page_cannot_use_a_name_of_its_own(tmp_path, keys):
    file = tmp_path / "it.db"
    with database(file):
        pass

    async def run():
        async with gateway(keys=keys, database=str(file)) as session:
            found = []
            for path in PATHS:
                for headers in ({"Host": "evil.example"}, {"Sec-Fetch-Site": "Cross-Site"}):
                    async with session.get(path, headers=headers) as reply:
                        found.append(reply.status)
            body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
            for headers in (
                {"Host": "evil.example"},
                {"Sec-Fetch-Site": "cross-site"},
                {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:3000"},
                {"Sec-Fetch-Site": "same-origin"},
            ):
                async with session.post(
                    "/v1/chat/completions", json=body, headers=headers
                ) as reply:
                    found.append(reply.status)
            return found

    found = asyncio.run(run())
    if keys:
        assert set(found[:-6]) == {401}, "a key is what protects it"
    else:
        assert found == [421, 403] * (len(PATHS) + 1) + [200, 200]
