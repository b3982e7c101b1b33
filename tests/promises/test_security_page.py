"""What docs/security.md promises: its tests exist, its doors are those of the gateway, and nobody
without a key, and no address in a request, gets further than it says.
"""

import asyncio
import json
import re
from pathlib import Path

import pytest
from aiohttp import web
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.gateway.app import App
from toolglot.gateway.config import Config
from toolglot.gateway.routes.route import Route

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_the_tests_that_are_named_exist():
    named = set(re.findall(r"`(tests/[^`]+)`", PAGE))
    assert len(named) > 8
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_doors_without_a_key_are_those_of_the_page():
    """A new one has to be written down, with its reason."""

    async def run():
        app = App(Config())
        async with app.running():
            await app.shut_down()
        return app.routes

    routes = [each for each in asyncio.run(run()) if isinstance(each, Route)]
    doors = PAGE.split("<!-- doors -->")[1].split("<!-- end -->")[0]
    found = {f"{each.method} {each.path}" for each in routes if each.auth == "none"}
    assert found == set(re.findall(r"`(GET [^`]+)`", doors))


TOKENS = ["' OR '1'='1", "tg-' UNION SELECT 1 --", 'tg-"; DROP TABLE keys; --', "%", "*", "tg-%"]


@pytest.mark.parametrize("token", TOKENS)
def test_a_key_is_never_part_of_a_statement(token, tmp_path):
    async def run():
        async with gateway(keys=True, database=str(tmp_path / "it.db")) as session:
            headers = {"authorization": f"Bearer {token}"}
            async with session.get("/v1/models", headers=headers) as reply:
                first = reply.status
            async with session.get("/v1/models", headers=headers) as reply:
                return first, reply.status

    assert asyncio.run(run()) == (401, 401)


def _bodies(canary):
    picture = {"type": "image_url", "image_url": {"url": canary}}
    asked = [{"role": "user", "content": "Hi."}]
    chat = {"model": "m", "messages": asked}
    yield chat | {"api_base": canary, "base_url": canary, "api_key": "x"}
    yield chat | {"user_config": {"model_list": [{"litellm_params": {"api_base": canary}}]}}
    yield chat | {"messages": [{"role": "user", "content": [picture]}]}
    yield chat | {"model": canary}
    yield chat | {"metadata": {"webhook": canary}, "callback_url": canary}
    yield chat | {"tools": [{"type": "mcp", "server_url": canary, "server_label": "x"}]}


@pytest.mark.parametrize("theirs", ["openai-chat", "anthropic", "gemini", "ollama"])
def test_an_address_in_a_request_is_never_asked(theirs):
    asked, strangers = [], []

    def refuse(seen):
        async def answer(request):
            seen.append(request.path)
            return web.json_response({"error": {"message": "No."}}, status=400)

        return answer

    async def run():
        async with upstream(refuse(asked)) as url, upstream(refuse(strangers)) as strange:
            routes = [to("them/*")]
            async with gateway({"them": provider(theirs, url)}, routes) as session:
                for body in _bodies(f"{strange}/canary"):
                    async with session.post("/v1/chat/completions", data=json.dumps(body)) as reply:
                        await reply.read()

    asyncio.run(run())
    assert asked
    assert strangers == []
