"""Stored responses through the official client, and compaction."""

import asyncio

import openai
import pytest
from aiohttp import web
from tests.gateway.running import gateway, provider, to, upstream
from tests.gateway.scripts import Script, calls, running, says, sdk

from toolglot import ir
from toolglot.gateway.state.compaction import PROMPT
from toolglot.translate import encode_response


@pytest.mark.parametrize("name", ["anthropic", "openai-responses"])
def test_a_response_is_retrieved_and_deleted(name):
    """S1-07."""

    async def use(client, _session):
        made = await client.responses.create(model="m", input="Hi")
        found = await client.responses.retrieve(made.id)
        assert found == made
        async with client.responses.stream(response_id=made.id) as events:
            async for _ in events:
                pass
            assert (await events.get_final_response()).output_text == "Hello."
        await client.responses.delete(made.id)
        for gone in (
            client.responses.retrieve(made.id),
            client.responses.delete(made.id),
            client.responses.cancel(made.id),
        ):
            with pytest.raises(openai.NotFoundError) as caught:
                await gone
            assert made.id in caught.value.message

    running(Script(name, says("Hello.")), use)


def test_a_stream_is_retrieved_from_where_it_broke_off():
    async def use(client, session):
        made = await client.responses.create(model="m", input="Hi")
        path = f"/v1/responses/{made.id}"
        async with session.get(path, params={"stream": "true", "starting_after": "4"}) as reply:
            text = await reply.text()
        assert text.startswith("event: ")
        assert '"sequence_number":5' in text
        assert '"sequence_number":4' not in text
        assert "response.completed" in text
        async with session.get(path, params={"stream": "true", "starting_after": "x"}) as reply:
            assert reply.status == 400

    running(Script("openai-chat", says("Hello.")), use)


def test_the_items_that_a_response_answered_are_listed_page_by_page():
    """S1-07: with all that came before, the newest first unless asked otherwise."""
    tool = {"type": "function", "name": "look", "parameters": None, "strict": False}

    async def use(client, _session):
        one = await client.responses.create(model="m", input="Hi", tools=[tool])
        (call,) = one.output
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "seen"}
        two = await client.responses.create(
            model="m", input=[result], previous_response_id=one.id, tools=[tool]
        )
        listed = await client.responses.input_items.list(two.id, order="asc")
        assert [item.type for item in listed.data] == [
            "message",
            "function_call",
            "function_call_output",
        ]
        assert listed.data[0].content[0].text == "Hi"
        first = await client.responses.input_items.list(two.id, limit=2)
        assert first.has_more
        everything = [item.id async for item in first]
        assert everything == [item.id for item in reversed(listed.data)]
        for wrong in ({"limit": 0}, {"order": "up"}, {"after": "nothing"}):
            with pytest.raises(openai.BadRequestError):
                await client.responses.input_items.list(two.id, **wrong)
        with pytest.raises(openai.NotFoundError):
            await client.responses.input_items.list("resp_x")

    running(Script("openai-chat", calls("look", "{}", number=1), says("Done.", number=2)), use)


def test_what_does_not_run_in_the_background_cannot_be_cancelled():
    async def use(client, _session):
        made = await client.responses.create(model="m", input="Hi")
        with pytest.raises(openai.BadRequestError, match="synchronous"):
            await client.responses.cancel(made.id)

    running(Script("ollama", says("Hello.")), use)


def test_tokens_are_counted_with_what_came_before():
    script = Script("openai-chat", says("Hello there, how are you?"))

    async def use(client, _session):
        made = await client.responses.create(model="m", input="Hi")
        alone = await client.responses.input_tokens.count(model="m", input="And you?")
        after = await client.responses.input_tokens.count(
            model="m", input="And you?", previous_response_id=made.id
        )
        assert 0 < alone.input_tokens < after.input_tokens

    running(script, use)


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "gemini", "ollama"])
def test_a_conversation_is_compacted_by_a_summary(name):
    """What the compacted window says reaches the model in place of what it stands for."""
    script = Script(name, says("Fine.", 1), says("They greeted.", 2), says("Indeed.", 3))

    async def use(client, _session):
        made = await client.responses.create(model="m", input="How are you?")
        compacted = await client.responses.compact(
            model="m", input="Good.", previous_response_id=made.id
        )
        assert compacted.object == "response.compaction"
        assert [item.type for item in compacted.output] == ["message", "message", "compaction"]
        assert compacted.usage.output_tokens == 7
        window = [item.model_dump(exclude_none=True, warnings=False) for item in compacted.output]
        again = await client.responses.create(
            model="m", input=[*window, {"role": "user", "content": "So?"}]
        )
        assert again.output_text == "Indeed."

    running(script, use)
    assert script.texts(1) == ["How are you?", "Fine.", "Good.", PROMPT]
    said = script.texts(2)
    assert said[:2] == ["How are you?", "Good."]
    assert "They greeted." in said[2]
    assert said[3] == "So?"


@pytest.mark.parametrize("knows", [True, False])
def test_a_provider_with_compaction_of_its_own_does_it(knows):
    script = Script("openai-responses", says("They greeted."))
    paths = []

    async def handle(request):
        paths.append(request.path)
        if not request.path.endswith("/compact"):
            return await script.handle(request)
        if not knows:
            return web.json_response({"error": {"message": "no such path"}}, status=404)
        body = await request.json()
        item = {"type": "compaction", "id": "cmp_1", "encrypted_content": body["model"]}
        usage = {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 3,
        }
        return web.json_response(
            {
                "id": "resp_1",
                "object": "response.compaction",
                "created_at": 1,
                "output": [item],
                "usage": usage,
            }
        )

    async def run():
        async with (
            upstream(handle) as url,
            gateway({"them": provider("openai-responses", url)}, [to("them/real")]) as session,
            sdk(session) as client,
        ):
            return await client.responses.compact(model="m", input="Hi")

    compacted = asyncio.run(run())
    assert paths == ["/v1/responses/compact"] + ["/v1/responses"] * (not knows)
    assert compacted.output[-1].type == "compaction"
    assert (compacted.output[-1].encrypted_content == "real") is knows


def test_compaction_that_fails_says_why():
    script = Script("openai-chat", ir.ApiError(kind="overloaded", message="busy", status=503))

    async def use(client, session):
        with pytest.raises(openai.InternalServerError, match="busy"):
            await client.responses.compact(model="m", input="Hi")
        async with session.post("/v1/responses/compact", json={"input": "Hi"}) as reply:
            assert reply.status == 400
        with pytest.raises(openai.BadRequestError):
            await client.responses.compact(model="m", input="Hi", previous_response_id="resp_x")

    running(script, use)


def test_what_a_provider_makes_in_the_background_is_asked_for_there():
    states = iter(["queued", "in_progress", "completed"])
    seen = []

    async def handle(request):
        seen.append(f"{request.method} {request.path}")
        state = next(states)
        made = encode_response(says("Done."), target="openai-responses").body
        return web.json_response(
            {**made, "id": "resp_1", "status": state, "store": True, "background": True}
        )

    async def run():
        async with (
            upstream(handle) as url,
            gateway({"them": provider("openai-responses", url)}, [to("them/*")]) as session,
            sdk(session) as client,
        ):
            made = await client.responses.create(model="m", input="Hi", background=True)
            assert made.status == "queued"
            for state in ("in_progress", "completed", "completed"):
                assert (await client.responses.retrieve("resp_1")).status == state
            with pytest.raises(openai.BadRequestError):
                await client.responses.cancel("resp_1")

    asyncio.run(run())
    assert seen == ["POST /v1/responses", *["GET /v1/responses/resp_1"] * 2]


def test_what_a_provider_makes_in_the_background_is_cancelled_there():
    async def handle(request):
        state = "cancelled" if request.path.endswith("/cancel") else "queued"
        made = encode_response(says("Done."), target="openai-responses").body
        return web.json_response({**made, "id": "resp_1", "status": state, "store": True})

    async def run():
        async with (
            upstream(handle) as url,
            gateway({"them": provider("openai-responses", url)}, [to("them/*")]) as session,
            sdk(session) as client,
        ):
            await client.responses.create(model="m", input="Hi", background=True)
            assert (await client.responses.cancel("resp_1")).status == "cancelled"
            assert (await client.responses.retrieve("resp_1")).status == "cancelled"

    asyncio.run(run())
