"""Which models can be asked for."""

import asyncio

import pytest
from tests.gateway.running import gateway, provider, to


def ask(method, path, **more):
    async def run():
        providers = {"one": provider("openai-chat", "http://127.0.0.1:9", models=("a", "b"))}
        routes = [to("one/*", match="[ab]"), to("one/*", match="any")]
        async with (
            gateway(providers, routes) as session,
            session.request(method, path, **more) as reply,
        ):
            return reply.status, await reply.json()

    return asyncio.run(run())


def test_one_model_for_clients_of_ollama():
    status, body = ask("POST", "/api/show", json={"model": "any"})
    assert status == 200
    assert "tools" in body["capabilities"]
    status, body = ask("POST", "/api/show", json={})
    assert status == 404
    assert isinstance(body["error"], str)


@pytest.mark.parametrize("path", ["/v1/models", "/models", "/v1beta/models", "/api/tags"])
def test_lists(path):
    status, body = ask("GET", path)
    assert status == 200
    entries = body.get("data") or body["models"]
    names = [entry.get("id") or entry["name"] for entry in entries]
    assert [name.removeprefix("models/") for name in names] == ["any", "a", "b"]


@pytest.mark.parametrize("path", ["/v1/models/", "/models/", "/v1beta/models/"])
def test_one_model(path):
    status, body = ask("GET", path + "a")
    assert status == 200
    assert (body.get("id") or body["name"]).removeprefix("models/") == "a"
    status, body = ask("GET", path + "unknown")
    assert status == 404
    assert "see GET /v1/models" in body["error"]["message"]
