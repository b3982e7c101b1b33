"""Whether tools work, tried on providers that behave in many ways."""

import asyncio

import aiohttp
import pytest
from tests.gateway import weather
from tests.gateway.running import gateway, provider, upstream

from toolglot.gateway.checks import tool_loop as module
from toolglot.gateway.checks.tool_loop import run_tool_loop
from toolglot.registry import PROTOCOLS


def tried(how, protocol, *, stream=False, **more):
    """What comes of a trial, and what the provider was asked."""

    async def main():
        async with (
            weather.behaving(how) as scripted,
            gateway({"up": provider(protocol, scripted.url, **more)}) as session,
        ):
            return await run_tool_loop(session, protocol, "up/m", stream=stream), scripted.asked

    return asyncio.run(main())


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_loop_is_two_small_requests(protocol, stream):
    outcome, (first, second) = tried(weather.able, protocol, stream=stream)
    assert (outcome.works, outcome.reason, outcome.requests) == (True, "", 2)
    assert (outcome.protocol, outcome.stream) == (protocol, stream)
    assert {first.protocol, second.protocol} == {protocol}
    assert {first.stream, second.stream} == {stream}
    assert [tool.name for tool in first.tools] == ["get_weather"]
    assert first.model == "m"
    (result,) = second.results
    assert "18 degrees, sunny" in result.text
    assert [name for _, name in second.calls] == ["get_weather"]
    assert str(module.TOKENS) in first.text
    assert len(first.text) < 1000


def test_another_call_is_an_answer_too():
    outcome, _ = tried(weather.eager, "openai-chat")
    assert outcome.works


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("how", "reason", "kind", "requests"),
    [
        (weather.talkative, "it did not call the tool but said 'It is always", None, 1),
        (weather.careless, "without a city", None, 1),
        (weather.silent, "it said nothing about the tool's result", None, 2),
        (weather.writing, 'set dialect = "hermes"', None, 1),
        (weather.toolless, "this model does not support tools", "invalid_request", 1),
        (weather.limited, "Too many requests", "rate_limit", 1),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_why_it_does_not_work(how, reason, kind, requests, stream):
    outcome, asked = tried(how, "openai-chat", stream=stream, mend="off")
    assert not outcome.works
    assert reason in outcome.reason
    assert outcome.kind == kind
    assert outcome.requests == requests == len(asked)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_that_breaks_off(protocol):
    outcome, _ = tried(weather.breaking, protocol, stream=True)
    assert not outcome.works
    # Where agents ask again only after an overload, that is what they are told.
    assert outcome.kind in {"server", "overloaded"}
    assert "broke off" in outcome.reason


@pytest.mark.parametrize(
    ("how", "more"),
    [
        (weather.writing, {"dialect": "hermes"}),
        (weather.toolless, {"tools": "emulated"}),
        (weather.toolless, {"mend": "on"}),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_what_is_advised_helps(how, more, stream):
    outcome, _ = tried(how, "openai-chat", stream=stream, **more)
    assert outcome.works, outcome.reason


def direct(handler):
    """A trial with a server that is no gateway."""

    async def main():
        async with upstream(handler) as url, aiohttp.ClientSession(url) as session:
            return await run_tool_loop(session, "openai-chat", "m", stream=False)

    return asyncio.run(main())


def test_an_answer_that_takes_too_long(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.05)

    async def wait(_request):
        await asyncio.Event().wait()

    outcome = direct(wait)
    assert (outcome.reason, outcome.kind) == ("no response within 0.05 seconds", "timeout")


def test_an_answer_that_is_something_else():
    async def answer(_request):
        return aiohttp.web.json_response({"choices": "none"})

    assert "the response cannot be read" in direct(answer).reason


def test_a_connection_that_is_closed():
    async def close(request):
        request.transport.close()
        return aiohttp.web.Response()

    assert direct(close).kind == "server"
