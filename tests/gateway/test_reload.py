"""A configuration that changes while requests are under way."""

import asyncio

from aiohttp import web
from tests.gateway.running import upstream

from toolglot.gateway.config import load_config
from toolglot.gateway.reload import watch

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
    from toolglot.gateway.relay import Relay
    from toolglot.gateway.upstream import Client

    async def answers(_request):
        return web.Response()

    async def run():
        async with upstream(answers) as url:
            path = tmp_path / "toolglot.toml"
            path.write_text(GOOD.format(name="one", url=url))
            client = Client()
            relay = Relay(load_config(path), client)
            before = relay.router.targets("m")
            path.write_text(GOOD.format(name="two", url=url))
            relay.use(load_config(path))
            assert [target.name for target in before] == ["one"]
            assert [target.name for target in relay.router.targets("m")] == ["two"]
            await client.close()

    asyncio.run(run())
