"""Tunnels through proxies that refuse them."""

import pytest
from tests.http1.raw import body, server, with_pool

from toolglot.http1.connection_pool import ConnectError


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 407 Who are you\r\n\r\n", "407 Who are you"),
        (None, "closed"),
        (b"x" * 20_000, "no HTTP"),
    ],
)
def test_a_proxy_that_refuses_a_tunnel(answer, words):
    async def use(pool):
        async with server(answer, close=False) as (url, seen):
            with pytest.raises(ConnectError, match=words):
                await body(pool, "https://provider.invalid/", proxy=url)
            return seen[0]

    sent = with_pool(use)
    assert sent.startswith(
        b"CONNECT provider.invalid:443 HTTP/1.1\r\nHost: provider.invalid:443\r\n"
    )


def test_a_tunnel_in_which_nobody_speaks_tls():
    async def use(pool):
        async with server([b"HTTP/1.1 200 Connected\r\n\r\n", None]) as (url, _):
            with pytest.raises(ConnectError):
                await body(pool, "https://provider.invalid/", proxy=url)

    with_pool(use)
