"""What is found out about a provider."""

import asyncio

import pytest
from aiohttp import web
from tests.gateway import weather
from tests.gateway.running import listening, provider, to, upstream

from toolglot.gateway.checks.provider_check import _chat_model, check_provider, configured_keys
from toolglot.gateway.config import Config, Provider
from toolglot.registry import PROTOCOLS


def checked(made, *, routes=(), **more):
    """What is found out about the provider `up`."""
    config = Config(providers={"up": made}, routes=tuple(routes))
    return check_provider(config, "up", **more)


def behaving(how, protocol="openai-chat", *, routes=(), model=None, **more):
    async def main():
        async with weather.behaving(how) as scripted:
            made = provider(protocol, scripted.url, **more)
            return await checked(made, routes=routes, model=model), scripted

    return asyncio.run(main())


def answering(status, body):
    """What is found out about a server that always says the same, and how often it was asked."""
    asked = []

    async def handle(request):
        asked.append(request.path)
        return web.json_response(body, status=status)

    async def main(**more):
        async with upstream(handle) as url:
            return await checked(provider("openai-chat", url, api_key=SECRET), **more), asked

    return main


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_provider_that_works(protocol):
    found, scripted = behaving(weather.able, protocol)
    assert found.works
    assert found.reached
    assert found.models == ("scripted",)
    assert found.model == "scripted"
    assert [(each.protocol, each.stream) for each in found.outcomes] == [
        (protocol, False),
        (protocol, True),
    ]
    assert len(scripted.asked) == 4
    assert {each.model for each in scripted.asked} == {"scripted"}


def test_a_provider_is_tried_in_every_protocol_that_it_speaks():
    async def main():
        async with weather.behaving(weather.able) as scripted:
            made = Provider(profile="openai", base_url=f"{scripted.url}/v1", api_key="k")
            return await checked(made)

    found = asyncio.run(main())
    assert found.works
    spoken = [each.protocol for each in found.outcomes if each.stream]
    assert sorted(spoken) == ["openai-chat", "openai-responses"]


def test_the_demo_model_speaks_everything():
    found = asyncio.run(check_provider(Config(), "demo"))
    assert found.works
    assert {each.protocol for each in found.outcomes} == set(PROTOCOLS)


def test_which_model_is_asked():
    routes = [to("up/routed", match="x"), to("up/*")]
    assert behaving(weather.able, model="mine", models=("shown",))[0].model == "mine"
    assert behaving(weather.able, models=("shown",), routes=routes)[0].model == "shown"
    assert behaving(weather.able, routes=routes)[0].model == "routed"


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        (("text-embedding-3-large", "some-model", "gpt-5.4"), "gpt-5.4"),
        (("whisper-1", "some-model"), "some-model"),
        (("gpt-image-2", "tts-1"), None),
        ((), None),
    ],
)
def test_a_model_that_holds_conversations(models, chosen):
    assert _chat_model(models) == chosen


def test_nobody_is_there():
    async def main():
        async with listening(web.Application()) as url:
            pass
        return await checked(provider("openai-chat", url))

    found = asyncio.run(main())
    assert not found.reached
    assert not found.works
    assert "is the server running, and is this its port?" in found.reason


@pytest.mark.parametrize("url", ["localhost/v1", "http://:x/v1"])
def test_an_address_that_is_none(url):
    found = asyncio.run(checked(Provider(protocol="openai-chat", base_url=url)))
    assert found.reason == f"{url} is not a valid URL; check base_url"


def test_a_key_that_is_not_there(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    made = Provider(profile="openai", api_key="env:NO_SUCH_KEY")
    assert "NO_SUCH_KEY is not set" in asyncio.run(checked(made)).reason


SECRET = "this does not look like a secret"
REFUSED = {"error": {"message": f"Incorrect API key {SECRET}.", "type": "authentication_error"}}


def test_a_wrong_key_is_tried_once():
    found, asked = asyncio.run(answering(401, REFUSED)(model="m"))
    assert found.reached
    assert not found.works
    assert "status 401" in found.reason
    assert [each.reason for each in found.outcomes] == [
        "Incorrect API key …cret; check its key",
    ] * 2
    assert [each.requests for each in found.outcomes] == [1, 0]
    assert asked == ["/v1/models", "/v1/chat/completions"]


def test_a_wrong_key_without_a_model():
    found, asked = asyncio.run(answering(401, REFUSED)())
    assert not found.works
    assert "check its key; name one with --model" in found.reason
    assert asked == ["/v1/models"]


def test_a_server_without_a_list():
    found, _ = asyncio.run(answering(404, {})())
    assert found.reason == "it has no list of models (status 404); name one with --model"


def test_a_server_that_refuses_tools():
    found, _ = behaving(weather.toolless)
    assert not found.works
    assert 'set tools = "emulated"' in found.outcomes[0].reason


def test_advice_by_the_kind_of_error():
    found, _ = behaving(weather.limited)
    assert found.outcomes[0].reason == "Too many requests; wait a while and try again"


def test_every_question_is_announced():
    said = []

    async def main():
        async with weather.behaving(weather.able) as scripted:
            await checked(provider("ollama", scripted.url), progress=said.append)

    asyncio.run(main())
    assert said == ["up: models", "up: ollama, whole", "up: ollama, stream"]


def test_keys_are_shown_masked():
    long = "sk-0123456789abcdefgh"
    url = {"protocol": "openai-chat", "base_url": "http://127.0.0.1:1"}
    made = Provider(**url, api_key=(long, "env:K", "env:GONE", "client"))
    seen = list(configured_keys(made, {"K": long}))
    assert [each.source for each in seen] == [
        "in the clear",
        "env:K",
        "env:GONE",
        "the client's own",
    ]
    assert [each.masked for each in seen] == ["sk-…efgh", "sk-…efgh", "", ""]
    assert "GONE is not set" in seen[2].problem
    (usual,) = configured_keys(Provider(profile="openai"), {"OPENAI_API_KEY": long})
    assert usual.source == "env:OPENAI_API_KEY"
    assert list(configured_keys(Provider(**url), {})) == []
