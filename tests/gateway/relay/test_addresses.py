"""Addresses of providers, asked over loopback."""

import asyncio
import json

import pytest
from aiohttp import web
from tests.gateway.exchanges import ANSWER, NAMES, post, scripted
from tests.gateway.running import gateway, to, upstream

from toolglot.gateway.config import Config, Provider
from toolglot.gateway.relay.addresses import deployment_of, make_auth, make_endpoints
from toolglot.gateway.relay.providers import make_upstreams
from toolglot.profiles import get_profile
from toolglot.registry import PROTOCOLS
from toolglot.translate import encode_response

CLASSIC = "/openai/deployments/prod/chat/completions?api-version=2024-06-01"
SPELLINGS = [
    "",
    "/",
    "/v1",
    "/v1beta/",
    "/api",
    "/v1/chat/completions",
    "/v1/messages",
    "/api/chat",
]


def exchange(config, *, client="openai-chat", handler=None, model="the-model"):
    """What a provider at an address is asked, and what the client gets."""
    seen = []

    async def run():
        async with (
            upstream(handler or scripted(config.get("protocol", "openai-chat"), seen)) as url,
            gateway(
                {"them": Provider(retries=0, **{**config, "base_url": url + config["base_url"]})},
                [to("them/*")],
            ) as session,
        ):
            reply, body = await post(session, client, model=model)
            return reply.status, body

    status, body = asyncio.run(run())
    return status, body, seen


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("protocol", NAMES)
def test_every_spelling_reaches_a_server_of_every_protocol(protocol, spelling):
    status, body, seen = exchange({"protocol": protocol, "base_url": spelling})
    assert status == 200, body
    ((request, _),) = seen
    own = PROTOCOLS[protocol].SURFACE.path.replace("{model}", "the-model")
    kept = spelling == "/v1" and bool(PROTOCOLS[protocol].API.path_versions)
    assert request.path == (own.replace("v1beta", "v1") if kept else own)


@pytest.mark.parametrize("client", ["ollama", "anthropic", "openai-chat"])
@pytest.mark.parametrize("spelling", ["", "/v1", "/api/"])
def test_a_profile_is_asked_in_the_clients_protocol_at_another_host(client, spelling):
    seen = []

    async def handle(request):
        seen.append(request.path)
        return web.json_response(encode_response(ANSWER, target=client).body)

    config = {"profile": "ollama", "base_url": spelling}
    status, body, _ = exchange(config, client=client, handler=handle)
    assert (status, seen) == (200, [PROTOCOLS[client].SURFACE.path]), body


def test_a_query_of_the_address_is_sent():
    status, _, seen = exchange({"protocol": "anthropic", "base_url": "/v1?team=a"})
    assert status == 200
    assert seen[0][0].path_qs == "/v1/messages?team=a"


def test_a_protocol_that_the_profile_does_not_know_of():
    provider = Provider(profile="deepseek", protocol="ollama", base_url="http://h:1")
    (endpoint,) = make_endpoints(provider, get_profile("deepseek"))
    assert (endpoint.protocol, endpoint.base_url) == ("ollama", "http://h:1/api")


# --- deployments ----------------------------------------------------------------------------------


@pytest.mark.parametrize("who", [{"profile": "azure"}, {"protocol": "openai-chat"}])
def test_a_deployment_in_the_address(who):
    config = {**who, "base_url": CLASSIC, "api_key": "secret"}
    status, _, seen = exchange(config, model="gpt-5.4")
    assert status == 200
    ((request, body),) = seen
    assert request.path_qs == CLASSIC
    assert request.headers["api-key"] == "secret"
    assert "Authorization" not in request.headers
    assert body["model"] == "prod", "the deployment is what is asked for"


def test_a_deployment_in_its_key():
    keys = {"deployment": "prod", "api_version": "2024-10-21"}
    status, _, seen = exchange({"profile": "azure", "base_url": "", **keys})
    assert status == 200
    expected = "/openai/deployments/prod/chat/completions?api-version=2024-10-21"
    assert seen[0][0].path_qs == expected


def test_a_deployment_where_the_model_is_in_the_body():
    config = {"profile": "azure", "base_url": "/openai/v1", "deployment": "prod"}
    status, _, seen = exchange(config)
    assert status == 200
    assert seen[0][0].path_qs == "/openai/v1/chat/completions"
    assert seen[0][1]["model"] == "prod"


@pytest.mark.parametrize(
    ("keys", "url"),
    [
        ({}, "https://res.openai.azure.com/openai/v1/chat/completions"),
        (
            {"api_version": "2024-10-21"},
            "https://res.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21",
        ),
        (
            {"base_url": "https://res.openai.azure.com/"},
            "https://res.openai.azure.com/openai/v1/chat/completions",
        ),
        (
            {"base_url": "https://res.openai.azure.com/openai/deployments/{model}"},
            "https://res.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21",
        ),
        (
            {"base_url": "https://res.openai.azure.com" + CLASSIC, "deployment": "other"},
            "https://res.openai.azure.com" + CLASSIC.replace("prod", "other"),
        ),
    ],
)
def test_addresses_of_deployments(keys, url):
    provider = Provider(profile="azure", values={"resource": "res"}, **keys)
    made = make_upstreams(Config(providers={"it": provider}), {})["it"]
    assert made.url("openai-chat", "/v1/chat/completions", "m") == url


def test_what_has_no_deployments_keeps_its_ways():
    provider = Provider(protocol="anthropic", base_url="http://h", auth="Authorization")
    assert deployment_of(provider, None) is None
    assert make_auth(provider, None, "anthropic").prefix == "Bearer "
    assert (
        make_endpoints(Provider(profile="openai"), get_profile("openai"))
        == get_profile("openai").endpoints
    )
    listed = make_upstreams(Config(providers={"it": Provider(profile="azure", deployment="d")}), {})
    assert listed["it"].listed == ("d",)


# --- paths that are not there ---------------------------------------------------------------------


@pytest.mark.parametrize("client", NAMES)
def test_a_path_that_the_provider_does_not_know_is_not_a_model_that_it_does_not_have(client):
    async def nothing(_request):
        return web.Response(status=404, text="404 page not found")

    config = {"protocol": "openai-chat", "base_url": "/proxy"}
    status, body, _ = exchange(config, client=client, handler=nothing)
    text = body.decode()
    assert status == 404
    assert "wrong_base_url" in text.lower()
    assert "model_not_found" not in text
    assert "base_url of provider them: http://127.0.0.1" in text
    assert "answered 404 at /proxy/chat/completions; did you mean" in text
    assert "/proxy/v1?" in text


def test_an_unknown_model_stays_one():
    async def unknown(_request):
        error = {"message": "The model `x` does not exist", "code": "model_not_found"}
        return web.json_response({"error": error}, status=404)

    status, body, _ = exchange({"protocol": "openai-chat", "base_url": ""}, handler=unknown)
    assert status == 404
    assert json.loads(body)["error"]["code"] == "model_not_found"
