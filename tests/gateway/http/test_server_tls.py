"""Serving https."""

import asyncio
import ssl
import time

import aiohttp
import pytest
from tests.gateway.certificates import Authority
from tests.gateway.running import serving

from toolglot.gateway.config import Config, ConfigError, Server, Tls
from toolglot.gateway.http.server_tls import ServerTls
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key, revoke_key


def trusting(authority, pair=None):
    context = ssl.create_default_context(cafile=str(authority.file))
    if pair is not None:
        context.load_cert_chain(*pair)
    return context


async def status(url, context, path="/v1/models", **headers):
    async with (
        aiohttp.ClientSession() as session,
        session.get(url.replace("http:", "https:") + path, ssl=context, headers=headers) as reply,
    ):
        await reply.read()
        return reply.status


def test_it_speaks_https_and_takes_a_new_certificate(tmp_path):
    authority = Authority(tmp_path)
    cert, key = authority.issue("first", "server")

    async def serial(url):
        _, writer = await asyncio.open_connection(
            "127.0.0.1", int(url.rpartition(":")[2]), ssl=trusting(authority)
        )
        try:
            return dict(entry[0] for entry in writer.get_extra_info("peercert")["subject"])
        finally:
            writer.close()

    async def run():
        tls = Tls(cert=cert, key=key)
        async with serving(Config(server=Server(tls=tls))) as url:
            assert await status(url, trusting(authority)) == 200
            found = [await serial(url)]
            authority.issue("second", "server")
            for _ in range(200):  # The files are looked at every second.
                if (now := await serial(url)) != found[0]:
                    break
                await asyncio.sleep(0.05)
            return [*found, now]

    assert asyncio.run(run()) == [{"commonName": "first"}, {"commonName": "second"}]


def test_a_pair_that_does_not_fit_is_not_used(tmp_path, caplog):
    authority = Authority(tmp_path)
    cert, key = authority.issue("one")
    other, _ = authority.issue("two")
    tls = ServerTls(Tls(cert=cert, key=key))
    (tmp_path / "one.cert.pem").write_bytes((tmp_path / "two.cert.pem").read_bytes())
    assert other
    tls.reload()
    assert "is not used" in caplog.text


@pytest.mark.parametrize(
    ("text", "words"), [(None, "there is no file"), (b"no certificate", "cannot be used")]
)
def test_files_that_are_none_are_told(tmp_path, text, words):
    place = tmp_path / "x.pem"
    if text is not None:
        place.write_bytes(text)
    with pytest.raises(ConfigError, match=words):
        ServerTls(Tls(cert=str(place), key=str(place)))


def test_a_certificate_names_a_key(tmp_path):
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    cert, key = ours.issue("server")
    file = tmp_path / "it.db"
    with database(file) as db:
        for name in ("alice", "gone"):
            create_key(db, name, time.time())
        revoke_key(db, "gone", time.time())
        token, _ = create_key(db, "by token", time.time())
    tls = Tls(cert=cert, key=key, client_ca=str(ours.file))

    async def run():
        server = Server(tls=tls, keys=True, database=str(file))
        async with serving(Config(server=server)) as url:
            names = ("alice", "gone", "nobody")
            found = [await status(url, trusting(ours, ours.issue(name))) for name in names]
            found.append(await status(url, trusting(ours)))
            found.append(await status(url, trusting(ours), Authorization=f"Bearer {token}"))
            with pytest.raises(aiohttp.ClientError):
                await status(url, trusting(ours, theirs.issue("alice", "forged")))
            return found

    assert asyncio.run(run()) == [200, 401, 401, 401, 200]


def test_only_clients_with_a_certificate(tmp_path):
    authority = Authority(tmp_path)
    cert, key = authority.issue("server")
    tls = Tls(cert=cert, key=key, client_ca=str(authority.file), require_client_cert=True)

    async def run():
        async with serving(Config(server=Server(tls=tls))) as url:
            with pytest.raises(aiohttp.ClientError):
                await status(url, trusting(authority))
            return await status(url, trusting(authority, authority.issue("anyone")))

    assert asyncio.run(run()) == 200
