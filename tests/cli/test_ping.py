"""Asking a gateway what it can do."""

import asyncio

import pytest
from aiohttp import web
from tests.gateway.running import gateway, listening, provider, to, upstream
from tests.upstreams.server import ScriptedUpstream
from tests.upstreams.strict.upstreams import BY_PROTOCOL, OTHERS

from toolglot.cli import ping as probe


def answering(body, status=200):
    async def handle(_request):
        return web.json_response(body, status=status)

    return handle


def ask(body, status, question, *args):
    """What a question about a server that always says the same comes to."""

    async def main():
        async with upstream(answering(body, status)) as url:
            return await asyncio.to_thread(question, url, *args)

    return asyncio.run(main())


def through_a_gateway(scenario, question, *args):
    async def main():
        async with (
            ScriptedUpstream(scenario) as scripted,
            gateway({"up": provider("anthropic", scripted.url)}, [to("up")]) as session,
        ):
            url = str(session._base_url)
            return await asyncio.to_thread(question, url, *args), scripted.asked

    return asyncio.run(main())


def test_a_gateway_runs():
    found, asked = through_a_gateway("one-tool", probe.is_running)
    assert found
    assert not asked


@pytest.mark.parametrize(("body", "status"), [({"status": "ok"}, 500), ({"ok": 1}, 200)])
def test_another_server_is_no_gateway(body, status):
    assert not ask(body, status, probe.is_running)


async def _nobody():
    async with listening(web.Application()) as url:
        return url


def test_nobody_is_there():
    url = asyncio.run(_nobody())
    assert not probe.is_running(url)
    with pytest.raises(probe.UnreachableError, match=f"no gateway answers at {url}"):
        probe.models(url, "k")
    with pytest.raises(probe.UnreachableError, match="no gateway answers at http://:x"):
        probe.models("http://:x", "k")


def test_the_models_of_a_gateway():
    listed = {"object": "list", "data": [{"id": "one"}, {"id": "two"}, "?"]}
    assert ask(listed, 200, probe.models, "k") == ["one", "two"]
    assert ask({"error": "no"}, 404, probe.models, "k") == []
    assert ask(["?"], 200, probe.models, "k") == []


def test_one_cheap_request_that_works():
    found, asked = through_a_gateway("one-tool", probe.check_model, "k", "some-model")
    assert found == probe.CheckedModel(provider="up")
    assert [each.model for each in asked] == ["some-model"]
    assert asked[0].body["max_tokens"] == 16


def test_one_that_fails_says_why():
    found, asked = through_a_gateway("refused", probe.check_model, "k", "some-model")
    assert (found.error, found.lasting) == ("The moon is in the wrong house.", True)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"error": {"message": "no key"}}, 401, ("no key", True)),
        ({"error": "no key"}, 403, ("no key", True)),
        ({}, 404, ("status 404", True)),
        ([], 429, ("status 429", False)),
        ({}, 503, ("status 503", False)),
    ],
)
def test_what_lasts_and_what_passes(body, status, error):
    found = ask(body, status, probe.check_model, "k", "m")
    assert (found.error, found.lasting) == error
    assert found.rejected == (status in (401, 403))


def test_an_answer_that_is_no_json():
    async def handle(_request):
        return web.Response(text="<html>", status=502)

    async def main():
        async with upstream(handle) as url:
            return await asyncio.to_thread(probe.check_model, url, "k", "m")

    assert asyncio.run(main()) == probe.CheckedModel(error="status 502")


@pytest.mark.parametrize("theirs", [*BY_PROTOCOL.values(), *OTHERS], ids=str)
def test_the_small_request_is_taken_by_every_provider(theirs):
    async def main():
        async with (
            ScriptedUpstream("one-tool") as scripted,
            gateway({"up": theirs.at(scripted.url)}, [to(f"up/{theirs.model}")]) as session,
        ):
            url = str(session._base_url)
            found = await asyncio.to_thread(probe.check_model, url, "k", theirs.model)
            return found, scripted.problems

    assert asyncio.run(main()) == (probe.CheckedModel(provider="up"), [])
