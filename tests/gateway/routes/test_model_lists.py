"""Lists of models, in the shape of whoever asks."""

import asyncio

import pytest
from aiohttp import web
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.gateway.routes import model_lists as models

ASKERS = {
    "openai": ({}, {}),
    "anthropic": ({"anthropic-version": "2023-06-01"}, {}),
    "gemini": ({"x-goog-api-key": "k"}, {}),
    "codex": ({}, {"client_version": "0.166.0"}),
}


def asked(path, headers=None, params=None, lists=None, **fields):
    async def listed(request):
        assert request.method == "GET"
        return web.json_response(lists if lists is not None else {"data": [{"id": "theirs"}]})

    async def run():
        async with (
            upstream(listed) as url,
            gateway(
                {"them": provider("openai-chat", url, **fields)},
                [to("them/gpt-5.4", match="claude-x"), to("them/*")],
            ) as session,
            session.get(path, headers=headers, params=params) as reply,
        ):
            return reply.status, await reply.json()

    return asyncio.run(run())


def names(asker, body):
    return {
        "openai": lambda: [each["id"] for each in body["data"]],
        "anthropic": lambda: [each["id"] for each in body["data"]],
        "gemini": lambda: [each["name"].removeprefix("models/") for each in body["models"]],
        "codex": lambda: [each["slug"] for each in body["models"]],
    }[asker]()


@pytest.mark.parametrize("asker", ASKERS)
def test_one_path_and_four_shapes(asker):
    headers, params = ASKERS[asker]
    status, body = asked("/v1/models", headers, params)
    assert status == 200
    assert names(asker, body) == ["claude-x", "theirs"]


def test_what_the_configuration_lists_is_not_asked_for():
    _, body = asked("/v1/models", models=("one", "two"), lists={"data": [{"id": "other"}]})
    assert names("openai", body) == ["claude-x", "one", "two"]


def test_a_provider_that_does_not_list_is_left_out():
    _, body = asked("/v1/models", lists=[1, 2, 3])
    assert names("openai", body) == ["claude-x"]


def test_one_model():
    status, body = asked("/v1/models/anything/at-all")
    assert (status, body["id"]) == (200, "anything/at-all")


def test_ollama_clients_find_what_they_ask_for():
    _, body = asked("/api/tags")
    assert [each["name"] for each in body["models"]] == ["claude-x", "theirs"]
    assert asked("/api/version")[1]["version"]


def test_without_a_provider_there_is_the_demo_model():
    async def run():
        async with gateway() as session, session.get("/v1/models") as reply:
            return await reply.json()

    assert names("openai", asyncio.run(run())) == ["toolglot-demo"]


def test_all_providers_are_asked_at_once():
    """Each waits until all were asked, so that one after the other would never end."""

    async def run():
        together = asyncio.Barrier(3)

        async def listed(_request):
            await together.wait()
            return web.json_response({"data": [{"id": "m"}]})

        async with upstream(listed) as url:
            providers = {name: provider("openai-chat", url) for name in "abc"}
            async with gateway(providers) as session, session.get("/v1/models") as reply:
                assert names("openai", await reply.json()) == ["m", "b/m", "c/m"]

    asyncio.run(asyncio.wait_for(run(), 9))


def test_a_list_is_remembered_and_a_failure_only_shortly(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(models.time, "monotonic", lambda: now)
    answers = [{}, {"data": [{"id": "m"}]}, {"data": [{"id": "other"}]}]

    async def run():
        nonlocal now

        async def listed(_request):
            return web.json_response(answers.pop(0))

        async def seen(session):
            async with session.get("/v1/models") as reply:
                return names("openai", await reply.json())

        async with (
            upstream(listed) as url,
            gateway({"a": provider("openai-chat", url)}) as session,
        ):
            assert await seen(session) == ["demo/toolglot-demo"]
            now += 10
            assert await seen(session) == ["m"]
            now += 200
            assert await seen(session) == ["m"]
            now += 200
            assert await seen(session) == ["other"]

    asyncio.run(run())


ROUTES = {
    "none": (),
    "all": ("*",),
    "some": ("claude-*", "mine"),
    "shadowed": ("m*", "mine", "*"),
    "unlike": ("nothing-like-it",),
}


@pytest.mark.parametrize("matches", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize("known", [(), ("a",), ("a", "b"), ("a", "openai")])
def test_every_name_that_is_listed_is_answered(matches, known):
    """A name in a list leads to a provider, and a model of a provider leads to that provider."""

    async def handle(request):
        if request.method == "GET":
            data = [{"id": name} for name in ("mine", "openai/gpt-oss", "claude-x", "b/odd", "z")]
            return web.json_response({"data": data})
        model = (await request.json())["model"]
        choice = {"index": 0, "message": {"role": "assistant", "content": model}}
        body = {"id": "1", "model": model, "choices": [{**choice, "finish_reason": "stop"}]}
        return web.json_response({"object": "chat.completion", "created": 1, **body})

    async def run():
        async with upstream(handle) as url:
            providers = {name: provider("openai-chat", url) for name in known}
            target = f"{known[0]}/*" if known else "demo/*"
            routes = [to(target, match=each) for each in matches]
            async with gateway(providers, routes) as session:
                async with session.get("/v1/models") as reply:
                    listed = names("openai", await reply.json())
                assert listed
                for name in listed:
                    messages = [{"role": "user", "content": "Hello"}]
                    body = {"model": name, "messages": messages}
                    async with session.post("/v1/chat/completions", json=body) as reply:
                        assert reply.status == 200, (name, await reply.text())

    asyncio.run(run())
