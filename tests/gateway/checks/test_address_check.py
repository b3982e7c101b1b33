"""Wrong addresses, found before a client asks."""

import asyncio

import pytest
from aiohttp import web
from tests.gateway.running import listening, upstream

from toolglot.gateway.checks.address_check import address_warnings
from toolglot.gateway.checks.provider_check import check_provider
from toolglot.gateway.config import Config, Provider
from toolglot.registry import PROTOCOLS

LISTS = {
    "openai-chat": {"data": [{"id": "m", "object": "model"}]},
    "anthropic": {"data": [{"type": "model", "id": "m", "display_name": "m"}]},
    "gemini": {"models": [{"name": "models/m"}]},
    "gemini-interactions": {"models": [{"name": "models/m"}]},
    "ollama": {"models": [{"name": "m", "model": "m"}]},
}


def server(routes, *, otherwise=None):
    """A server that knows some paths, and answers with JSON there."""

    async def handle(request):
        found = routes.get((request.method, request.path))
        if found is None:
            return web.Response(**(otherwise or {"status": 404, "text": "404 page not found"}))
        status, value = found
        return web.json_response(value, status=status)

    return upstream(handle)


def warned(routes, base="", protocol="openai-chat", **more):
    async def run():
        async with server(routes, **more) as url:
            provider = Provider(protocol=protocol, base_url=url + base)
            found = [each async for each in address_warnings(Config(providers={"it": provider}))]
            return [each.replace(url, "URL") for each in found]

    return asyncio.run(run())


@pytest.mark.parametrize("protocol", LISTS)
def test_a_right_address_is_not_mentioned(protocol):
    path = PROTOCOLS[protocol].SURFACE.models
    assert warned({("GET", path): (200, LISTS[protocol])}, protocol=protocol) == []


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_other_troubles_are_not_the_address(status):
    assert warned({("GET", "/v1/models"): (status, {})}) == []


def test_a_server_without_a_list_is_asked_for_nothing():
    rejected = {"error": {"message": "model is required"}}
    assert warned({("POST", "/v1/chat/completions"): (400, rejected)}) == []


def test_a_path_that_is_not_there_and_one_that_was_meant():
    routes = {("POST", "/v1/chat/completions"): (400, {"error": {"message": "no model"}})}
    (words,) = warned(routes, "/proxy")
    assert words == (
        "provider it: URL/proxy/chat/completions: answered 404: there is no such path; "
        "did you mean URL/v1?"
    )
    page = {"status": 404, "text": "<html>", "content_type": "text/html"}
    (words,) = warned({}, otherwise=page)
    assert words == (
        "provider it: URL/v1/chat/completions: answered 404 with a page of HTML: "
        "there is no such path"
    )


def test_a_page_in_place_of_an_api():
    page = {"text": "<html>Welcome</html>", "content_type": "text/html"}
    (words,) = warned({}, otherwise=page)
    assert words.startswith("provider it: URL/v1/models: answered with a page of HTML; this is not")
    (words,) = warned({}, otherwise={"text": "hello"})
    assert "something else than JSON" in words


def test_a_redirect():
    moved = {"status": 301, "headers": {"Location": "https://h/"}}
    (words,) = warned({}, otherwise=moved)
    assert "answered 301, a redirect" in words


def test_another_protocol():
    (words,) = warned({("GET", "/v1beta/models"): (200, LISTS["ollama"])}, protocol="gemini")
    assert "answered in the shape of ollama, not of gemini; check protocol and base_url" in words
    assert warned({("GET", "/v1/models"): (200, LISTS["anthropic"])}) == [], "they share the path"


async def closed():
    async with listening(web.Application()) as url:
        return url


def test_nobody_is_there():
    async def run():
        url = await closed()
        config = Config(providers={"it": Provider(protocol="openai-chat", base_url=url)})
        return url, [each async for each in address_warnings(config)]

    url, (words,) = asyncio.run(run())
    assert words.startswith(f"provider it: {url}/v1/models: ")
    assert "Connection refused; is the server running" in words


def test_addresses_that_nobody_gave_are_not_tried():
    async def run(config):
        return [each async for each in address_warnings(config)]

    assert asyncio.run(run(Config(providers={"it": Provider(profile="openai")}))) == []
    broken = Provider(profile="openai", base_url="http://h", api_key="env:NOT_SET_1")
    assert asyncio.run(run(Config(providers={"it": broken}))) == []
    (words,) = asyncio.run(
        run(Config(providers={"it": Provider(protocol="anthropic", base_url="http://:x/v1")}))
    )
    assert "not a valid URL" in words


def test_the_doctor_says_it_too():
    async def run():
        async with server({}) as url:
            provider = Provider(protocol="anthropic", base_url=url)
            return await check_provider(Config(providers={"it": provider}), "it", model="m")

    found = asyncio.run(run())
    assert not found.reached
    assert "/v1/messages: answered 404: there is no such path" in found.reason
    assert found.outcomes == ()
