"""A configuration that changes while requests are under way."""

import asyncio
from collections import Counter
from functools import partial

import pytest
from aiohttp import ClientSession, web
from tests.gateway.exchanges import ANSWER
from tests.gateway.running import serving, upstream

from toolglot.gateway import app as app_module
from toolglot.gateway.config import load_config
from toolglot.gateway.config_reload import watch
from toolglot.gateway.relay.providers import make_upstreams
from toolglot.translate import encode_response

GOOD = '[providers.{name}]\nprotocol = "openai-chat"\nbase_url = "{url}/v1"\n'


def test_new_versions_are_used_and_wrong_ones_are_not(tmp_path, caplog):
    path = tmp_path / "toolglot.toml"
    path.write_text(GOOD.format(name="one", url="http://a"))
    used = asyncio.Queue()

    async def run():
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(watch(path, used.put_nowait, every=0.01))
            await asyncio.sleep(0)
            path.write_text("[providers.two]\nprotocol = 3\n")
            while "is not used" not in caplog.text:  # noqa: ASYNC110 - a log has no event
                await asyncio.sleep(0.01)
            path.unlink()
            path.write_text(GOOD.format(name="three", url="http://abc"))
            config = await asyncio.wait_for(used.get(), 10)
            assert list(config.providers) == ["three"]
            assert used.empty()
            watching.cancel()

    asyncio.run(run())


def test_a_request_under_way_is_not_dropped(tmp_path):
    from toolglot.gateway.access.access_control import AccessControl
    from toolglot.gateway.http.client import Client
    from toolglot.gateway.relay.relay import Relay

    async def answers(_request):
        return web.Response()

    async def run():
        async with upstream(answers) as url:
            path = tmp_path / "toolglot.toml"
            path.write_text(GOOD.format(name="one", url=url))
            client = Client()
            config = load_config(path)
            relay = Relay(config, client, AccessControl())
            before = relay.router.targets("m")
            path.write_text(GOOD.format(name="two", url=url))
            relay.use(load_config(path))
            assert [target.name for target in before] == ["one"]
            assert [target.name for target in relay.router.targets("m")] == ["two"]
            await client.close()

    asyncio.run(run())


def test_nobody_notices_many_changes(tmp_path, monkeypatch):
    """Twenty versions, each of which is used, while requests keep coming."""
    monkeypatch.setattr(app_module, "watch", partial(watch, every=0.01))
    path = tmp_path / "toolglot.toml"
    models, statuses = [], Counter()

    async def answers(request):
        models.append((await request.json())["model"])
        return web.json_response(encode_response(ANSWER, target="openai-chat").body)

    def write(url, version):
        route = f'[[routes]]\nmatch = "*"\nto = "one/v{version}"\n'
        path.write_text(GOOD.format(name="one", url=url) + route)

    async def run():
        done = False

        async def ask(session):
            body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
            while not done:
                async with session.post("/v1/messages", json=body) as reply:
                    await reply.read()
                    statuses[reply.status] += 1

        async with upstream(answers) as url:
            write(url, 0)
            async with (
                serving(load_config(path), path) as gateway,
                ClientSession(gateway) as session,
                asyncio.TaskGroup() as tasks,
            ):
                for _ in range(4):
                    tasks.create_task(ask(session))
                for version in range(1, 21):
                    write(url, version)
                    async with asyncio.timeout(10):
                        while models[-1:] != [f"v{version}"]:  # noqa: ASYNC110 - a file has no event
                            await asyncio.sleep(0.005)
                done = True

    asyncio.run(run())
    assert set(statuses) == {200}
    assert set(models) >= {f"v{version}" for version in range(1, 21)}


def test_what_counts_only_after_a_restart_is_told(tmp_path, caplog):
    path = tmp_path / "toolglot.toml"
    path.write_text("[server]\nport = 1\n")
    caplog.set_level("WARNING", "toolglot")

    async def run():
        used = asyncio.Queue()
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(watch(path, used.put_nowait, every=0.01))
            await asyncio.sleep(0)
            path.write_text('[server]\nport = 2\nkeys = true\norigins = ["*"]\n')
            await asyncio.wait_for(used.get(), 10)
            watching.cancel()

    asyncio.run(run())
    assert "port, keys in [server] will count after a restart" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[server]\nport = 1\n",
        "[providers.one\n",
        GOOD.format(name="one", url="http://a") + 'api_key = "file:~nobody-has-this-name/key"\n',
        GOOD.format(name="one", url="http://a") + 'api_key = "file:a\\u0000b"\n',
        GOOD.format(name="one", url="http://a") + f"x = {'[' * 5000}{']' * 5000}\n",
        "\udcff\udcfe",
    ],
    ids=["empty", "no-providers", "half", "no-home", "nul", "deep", "no-text"],
)
def test_whatever_is_wrong_with_a_version_the_one_before_stays(text, tmp_path, caplog):
    """An editor may empty a file first: the demo model must not answer in place of providers."""
    path = tmp_path / "toolglot.toml"
    path.write_text(GOOD.format(name="one", url="http://a"))
    asked = []

    def use(config):
        asked.append(config)
        make_upstreams(config)

    async def run():
        watching = asyncio.ensure_future(watch(path, use, every=0.005))
        await asyncio.sleep(0)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        async with asyncio.timeout(10):
            while "the one before stays" not in caplog.text:  # noqa: ASYNC110 - a log has no event
                await asyncio.sleep(0.005)
        assert not watching.done()
        path.write_text(GOOD.format(name="two", url="http://abc"))
        async with asyncio.timeout(10):
            while not asked or list(asked[-1].providers) != ["two"]:  # noqa: ASYNC110 - the same
                await asyncio.sleep(0.005)
        watching.cancel()

    asyncio.run(run())
    assert str(path) in caplog.text
