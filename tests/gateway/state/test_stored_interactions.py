"""Interactions that are stored and continued, on any provider, with Google's own SDK."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from google import genai
from google.genai import types
from google.genai._gaos.lib import compat_errors
from tests.gateway.running import gateway, provider, to, upstream
from tests.gateway.scripts import Script, calls, says

THEIRS = ("anthropic", "openai-chat", "gemini-interactions")
"""Others behave as the second; the last one stores answers itself."""
WATER = {
    "type": "function",
    "name": "water_level",
    "parameters": {"type": "object", "properties": {"gauge": {"type": "string"}}},
}


@asynccontextmanager
async def talking(script):
    """The SDK at a gateway in front of a script."""
    async with (
        upstream(script.handle) as url,
        gateway({"them": provider(script.protocol, url)}, [to("them/*")]) as session,
    ):
        options = types.HttpOptions(base_url=str(session._build_url("/")).rstrip("/"))
        client = genai.Client(api_key="none", http_options=options)
        try:
            yield client.aio.interactions, session
        finally:
            await client.aio.aclose()


async def created(api, *, stream, **asked):
    """An interaction, and the steps that came."""
    if not stream:
        return await api.create(model="m", **asked)
    events = [event async for event in await api.create(model="m", stream=True, **asked)]
    assert events[-1].event_type == "interaction.completed", events[-1]
    return events[-1].interaction


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("theirs", THEIRS)
def test_a_tool_loop_by_previous_interaction_id(theirs, stream):
    script = Script(theirs, calls("water_level", '{"gauge":"Hay"}'), says("One metre.", 2))

    async def run():
        async with talking(script) as (api, _):
            one = await created(api, stream=stream, input="How high?", tools=[WATER])
            assert one.status == "requires_action"
            kept = await api.get(one.id)
            assert [step.type for step in kept.steps] == ["function_call"]
            result = {
                "type": "function_result",
                "call_id": kept.steps[0].id,
                "name": "water_level",
                "result": "1 m",
            }
            two = await created(
                api,
                stream=stream,
                input=[result],
                tools=[WATER],
                previous_interaction_id=one.id,
            )
            assert two.status == "completed"
            assert (await api.get(two.id)).output_text == "One metre."

    asyncio.run(run())
    if theirs == "gemini-interactions":
        # It has stored the first one, so it gets what came.
        assert script.bodies[1]["previous_interaction_id"]
        assert script.kinds() == ["ToolResult"]
    else:
        assert script.kinds() == ["Text", "ToolCall", "ToolResult"]
        assert script.texts(0) == ["How high?"]


@pytest.mark.parametrize("given", ["Hm?", [{"type": "text", "text": "Hm?"}]])
def test_every_form_of_an_input_is_continued(given):
    script = Script("openai-chat", says("One."), says("Two.", 2))

    async def run():
        async with talking(script) as (api, _):
            one = await api.create(model="m", input=given)
            kept = await api.get(one.id, include_input=True)
            assert kept.input[0].content[0].text == "Hm?"
            two = await api.create(model="m", input=given, previous_interaction_id=one.id)
            assert two.previous_interaction_id == one.id

    asyncio.run(run())
    assert script.texts() == ["Hm?", "One.", "Hm?"]


def test_what_is_not_stored_cannot_be_continued_nor_got():
    script = Script("openai-chat", says("One."), says("Two.", 2))

    async def run():
        async with talking(script) as (api, _):
            one = await api.create(model="m", input="a", store=False)
            with pytest.raises(compat_errors.NotFoundError, match="not found"):
                await api.get(one.id)
            with pytest.raises(compat_errors.NotFoundError, match="Previous interaction"):
                await api.create(model="m", input="b", previous_interaction_id=one.id)

    asyncio.run(run())


def test_a_result_without_its_call_is_refused():
    script = Script("openai-chat", says("One."))
    loose = {"type": "function_result", "call_id": "c9", "name": "f", "result": "x"}

    async def run():
        async with talking(script) as (api, _):
            one = await api.create(model="m", input="a")
            with pytest.raises(compat_errors.BadRequestError, match="c9"):
                await api.create(model="m", input=[loose], previous_interaction_id=one.id)

    asyncio.run(run())


def test_an_interaction_is_got_as_a_stream_and_deleted():
    script = Script("anthropic", says("One."))

    async def run():
        async with talking(script) as (api, session):
            one = await api.create(model="m", input="a")
            events = [event async for event in await api.get(one.id, stream=True)]
            kinds = [event.event_type for event in events]
            assert kinds == [
                "interaction.created",
                "step.start",
                "step.delta",
                "step.stop",
                "interaction.completed",
            ]
            async with session.get(
                f"/v1beta/interactions/{one.id}", params={"stream": "true", "last_event_id": "x"}
            ) as reply:
                assert reply.status == 400
                assert "last_event_id" in (await reply.json())["error"]["message"]
            with pytest.raises(compat_errors.BadRequestError, match="Cannot cancel"):
                await api.cancel(one.id)
            await api.delete(one.id)
            with pytest.raises(compat_errors.NotFoundError):
                await api.get(one.id)
            with pytest.raises(compat_errors.NotFoundError):
                await api.delete(one.id)

    asyncio.run(run())


def test_an_interaction_is_no_response():
    """Ids of one protocol lead nowhere in another."""
    script = Script("openai-chat", says("One."), says("Two.", 2))

    async def run():
        async with talking(script) as (api, session):
            one = await api.create(model="m", input="a")
            async with session.get(f"/v1/responses/{one.id}") as reply:
                assert reply.status == 404
            asked = {"model": "m", "input": "b", "previous_response_id": one.id}
            async with session.post("/v1/responses", json=asked) as reply:
                assert reply.status == 400
            async with session.delete(f"/v1/responses/{one.id}") as reply:
                assert reply.status == 404
            assert (await api.get(one.id)).output_text == "One."

    asyncio.run(run())


def test_what_a_provider_makes_in_the_background_is_asked_for_there():
    waiting = {"id": "v1_bg", "object": "interaction", "status": "in_progress", "model": "m"}
    done = {
        **waiting,
        "status": "completed",
        "steps": [{"type": "model_output", "content": [{"type": "text", "text": "At last."}]}],
    }
    asked = []

    async def handle(request):
        asked.append((request.method, request.path))
        if request.path.endswith("/cancel"):
            return web.json_response({**waiting, "status": "cancelled"})
        return web.json_response(waiting if request.method == "POST" else done)

    async def run():
        async with (
            upstream(handle) as url,
            gateway({"them": provider("gemini-interactions", url)}, [to("them/*")]) as session,
        ):
            body = {"model": "m", "input": "a", "background": True}
            for _ in range(2):
                async with session.post("/v1beta/interactions", json=body) as reply:
                    assert (await reply.json())["status"] == "in_progress"
            async with session.post("/v1beta/interactions/v1_bg/cancel") as reply:
                assert (await reply.json())["status"] == "cancelled"
            async with session.post("/v1/interactions", json=body) as reply:
                assert (await reply.json())["id"] == "v1_bg"
            async with session.get("/v1/interactions/v1_bg") as reply:
                assert (await reply.json())["status"] == "completed"

    asyncio.run(run())
    assert asked[-1] == ("GET", "/v1beta/interactions/v1_bg")
