"""Continuing a response by its id, on providers that know no such thing."""

import asyncio
import json
import re

import aiohttp
import openai
import pytest
from aiohttp import web
from tests.gateway.running import gateway, provider, to, upstream
from tests.gateway.scripts import Script, calls, response, says, sdk

from toolglot import ir
from toolglot.gateway.state.sessions import FinalResponseFinder, OwnResponseId, Sessions
from toolglot.gateway.state.stored_responses import StoredResponse
from toolglot.gateway.storage.database import database as open_file
from toolglot.gateway.storage.memory_store import MemoryStore
from toolglot.gateway.storage.sqlite_keys import create_key
from toolglot.registry import PROTOCOLS

NAMES = list(PROTOCOLS)
FOREIGN = [name for name in NAMES if name != "openai-responses"]
TOOL = {
    "type": "function",
    "name": "weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}


async def create(client, *, stream, **asked):
    """A response, whole or as a stream's end."""
    if not stream:
        return await client.responses.create(model="m", **asked)
    async with client.responses.stream(model="m", **asked) as events:
        async for _ in events:
            pass
        return await events.get_final_response()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_tool_loop_by_previous_response_id(name, stream):
    """S1-06, S1-07: what came before is given to whoever has not kept it."""
    script = Script(
        name,
        calls("weather", '{"city":"Oslo"}', number=1, before=(ir.Text(text="I look."),)),
        says("It rains.", number=2),
        says("Yes, rain.", number=3),
    )

    async def run():
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider(name, url)}, [to("them/*")]) as session,
            sdk(session) as client,
        ):
            one = await create(client, stream=stream, input="Weather in Oslo?", tools=[TOOL])
            (call,) = [item for item in one.output if item.type == "function_call"]
            result = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
            two = await create(
                client, stream=stream, input=[result], tools=[TOOL], previous_response_id=one.id
            )
            three = await create(
                client, stream=stream, input="Sure?", tools=[TOOL], previous_response_id=two.id
            )
        assert two.output_text == "It rains."
        assert three.output_text == "Yes, rain."
        return one, two

    one, two = asyncio.run(run())
    if name == "openai-responses" and not stream:
        # It keeps its responses itself, so it gets no more than it was sent.
        assert script.bodies[1]["previous_response_id"] == "resp_a1"
        assert script.kinds(1) == ["ToolResult"]
        return
    if name != "openai-responses":
        assert two.previous_response_id == one.id
    assert "previous_response_id" not in script.bodies[1]
    assert script.kinds(1) == ["Text", "Text", "ToolCall", "ToolResult"]
    assert script.texts(2) == ["Weather in Oslo?", "I look.", "It rains.", "Sure?"]
    called, result = (
        next(p for m in script.seen[1].messages for p in m.parts if isinstance(p, kind))
        for kind in (ir.ToolCall, ir.ToolResult)
    )
    assert called.id == result.id


def test_a_response_is_continued_by_another_provider():
    """S1-06: the second provider of the same protocol gets everything, without the state of the
    first.
    """
    thought = ir.Reasoning(text="Hm.", id="rs_1", extras={"openai-responses": {}})
    first = Script("openai-responses", response(thought, ir.Text(text="One."), number=1))
    second = Script("openai-responses", says("Two.", number=2))

    async def run():
        async with (
            upstream(first.handle) as here,
            upstream(second.handle) as there,
            gateway(
                {
                    "here": provider("openai-responses", here),
                    "there": provider("openai-responses", there),
                },
            ) as session,
            sdk(session) as client,
        ):
            one = await client.responses.create(model="here/m", input="Count.")
            raw = await client.responses.with_raw_response.create(
                model="there/m", input="Go on.", previous_response_id=one.id
            )
            assert raw.parse().output_text == "Two."
            return raw.headers["x-toolglot-receipt"], [item.type for item in one.output]

    receipt, kinds = asyncio.run(run())
    assert kinds == ["reasoning", "message"]
    assert [item["type"] for item in second.bodies[0]["input"]] == ["message"] * 3
    assert "reasoning-dropped" in receipt


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_not_known_cannot_be_continued(name):
    async def run():
        script = Script(name, says("One."))
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider(name, url)}, [to("them/*")]) as session,
            sdk(session) as client,
        ):
            unstored = await client.responses.create(model="m", input="Hi", store=False)
            for previous in ("resp_unknown", unstored.id):
                with pytest.raises(openai.BadRequestError) as caught:
                    await client.responses.create(
                        model="m", input="Hi", previous_response_id=previous
                    )
                error = caught.value
                assert error.code == "previous_response_not_found"
                assert error.param == "previous_response_id"
                assert error.type == "invalid_request_error"
                assert previous in error.message
        assert len(script.seen) == 1

    asyncio.run(run())


def test_a_provider_may_know_a_response_that_we_do_not():
    script = Script("openai-responses", says("Three."))

    async def run():
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider("openai-responses", url)}, [to("them/*")]) as session,
            sdk(session) as client,
        ):
            await client.responses.create(
                model="m", input="Hi", previous_response_id="resp_of_yesterday"
            )

    asyncio.run(run())
    assert script.bodies[0]["previous_response_id"] == "resp_of_yesterday"


def _forgetful(name, *words):
    """A provider whose answers all have the same id, and that stores none of them."""
    script = Script(name, *(says(word, number=1) for word in words))
    handle = script.handle

    async def forgetting(request):
        reply = await handle(request)
        if isinstance(reply, web.Response) and name == "openai-responses":
            return web.json_response({**json.loads(reply.body), "store": False})
        return reply

    return script, forgetting


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_two_conversations_never_share_an_id(name, stream):
    """S1-33: whatever ids the provider gives, each response has one of 96 random bits or more."""
    script, handle = _forgetful(name, "OK.", "OK.", "Two.", "Three.")

    async def run():
        async with (
            upstream(handle) as url,
            gateway({"them": provider(name, url)}, [to("them/*")]) as session,
            sdk(session) as client,
        ):
            one = await create(client, stream=stream, input="a")
            other = await create(client, stream=stream, input="b")
            two = await create(client, stream=stream, input="c", previous_response_id=one.id)
            three = await create(client, stream=stream, input="d", previous_response_id=two.id)
            return [one.id, other.id, two.id, three.id]

    ids = asyncio.run(run())
    assert len({*ids}) == 4
    for each in ids:
        assert re.fullmatch(r"resp_[0-9a-f]{24,}", each)
    assert script.texts(2) == ["a", "OK.", "c"]
    assert script.texts(3) == ["a", "OK.", "c", "Two.", "d"]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_an_id_of_our_own_is_given_to_what_passes_through(size):
    """S1-33: wherever the response is named, and nowhere else; every other byte stays."""
    data = (
        b'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1",'
        b'"store":false,"output":[]},"sequence_number":0}\n\n'
        b'data: {"type":"response.output_text.delta","item_id":"resp_1","delta":"\\"resp_1\\""}\n\n'
        b'data: {"type":"response.completed","response":{"id":"resp_1","n":1.0}}\n\n'
        b'data: {"type":"response.completed","response":{"id":"resp_1","n":2}}'
    )
    ids = OwnResponseId()
    written = b"".join(ids.feed(data[at : at + size]) for at in range(0, len(data), size))
    written += ids.close()
    (made,) = {*re.findall(rb'"response":\{"id":"(.*?)"', written)}
    assert made != b"resp_1"
    assert written.replace(made, b"resp_1") == data


def test_the_id_of_a_response_that_its_provider_stored_is_kept():
    data = (
        b'data: {"response":{"id":"resp_1","store":true}}\n\ndata: {"response":{"id":"resp_1"}}\nd'
    )
    ids = OwnResponseId()
    assert ids.feed(data[:9]) + ids.feed(data[9:]) + ids.close() == data
    whole = b'{"id":"resp_1","store":true}'
    assert OwnResponseId().body(whole) == whole
    assert OwnResponseId().body(b"no JSON") == b"no JSON"


def test_what_is_stored_is_told_and_costs_no_note():
    """A response says that it is stored; what we do ourselves is no loss."""
    script = Script("openai-chat", says("One."))

    async def run():
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider("openai-chat", url)}, [to("them/*")]) as session,
        ):
            asked = {"model": "m", "input": "Hi", "store": True}
            async with session.post("/v1/responses", json=asked) as reply:
                assert (await reply.json())["store"] is True
                receipt = f"/toolglot/receipts/{reply.headers['x-request-id']}"
            async with session.get(receipt) as reply:
                paths = [note["path"] for note in (await reply.json())["notes"]]
                assert "store" not in paths
        assert "store" not in script.bodies[0]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"previous_response_id": 7}, "previous_response_id"),
        ({"conversation": [1]}, "conversation"),
        ({"previous_response_id": "resp_1", "conversation": "conv_1"}, "conversation"),
        ({"previous_response_id": "made", "input": 7}, "input"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_path(asked, path):
    async def run():
        script = Script("openai-chat", says("One."))
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider("openai-chat", url)}, [to("them/*")]) as session,
        ):
            body = {"model": "m", "input": "Hi"}
            async with session.post("/v1/responses", json=body) as reply:
                made = (await reply.json())["id"]
            if asked.get("previous_response_id") == "made":
                asked["previous_response_id"] = made
            async with session.post("/v1/responses", json={**body, **asked}) as reply:
                assert reply.status == 400
                assert path in (await reply.json())["error"]["message"]

    asyncio.run(run())


def test_the_provider_that_answers_in_place_of_another_gets_everything():
    """S1-06: each target of a route gets what it can answer."""
    first = Script("openai-responses", says("One.", number=1))
    second = Script("anthropic", says("Two.", number=2))

    async def run():
        async with upstream(second.handle) as there, upstream(first.handle) as here:
            providers = {
                "here": provider("openai-responses", here),
                "there": provider("anthropic", there),
            }
            async with (
                gateway(providers, [to("here/*", "there/*")]) as session,
                sdk(session) as client,
            ):
                one = await client.responses.create(model="m", input="a")
                first.answers.append(ir.ApiError(kind="overloaded", message="no", status=503))
                two = await client.responses.create(
                    model="m", input="b", previous_response_id=one.id
                )
                assert two.output_text == "Two."

    asyncio.run(run())
    assert first.bodies[1]["previous_response_id"] == "resp_a1"
    assert second.texts() == ["a", "One.", "b"]


def test_nobody_continues_what_belongs_to_another():
    async def run():
        sessions = Sessions(MemoryStore())
        kept = StoredResponse(response=b'{"output":[]}', input=b"[]")
        await sessions.store_for("ann").put_response("resp_1", kept, store=True)
        assert await sessions.store_for("ann").get_response("resp_1") == kept
        assert await sessions.store_for("bob").get_response("resp_1") is None
        assert await sessions.store_for("bob").history("resp_1") is None

    asyncio.run(run())


FINAL = (
    b'event: response.output_text.delta\r\ndata: {"type":"response.output_text.delta",'
    b'"delta":"\\"response.completed\\""}\r\n\r\n'
    b'data: {"response":{"id":"resp_1","output":[]},"type":"response.completed"}\r\n\r\n'
)


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_the_final_response_is_found_wherever_the_stream_is_cut(size):
    finder = FinalResponseFinder()
    found = [finder.feed(FINAL[at : at + size]) for at in range(0, len(FINAL), size)]
    assert [each for each in found if each is not None] == [b'{"id":"resp_1","output":[]}']


@pytest.mark.parametrize(
    "line", [b'data: {"type":"x","said":"response.completed"}\n', b'{"response.completed"\n']
)
def test_what_only_names_the_end_is_not_the_end(line):
    assert FinalResponseFinder().feed(line) is None


@pytest.mark.parametrize("stream", [False, True])
def test_the_built_in_model_remembers_too(stream):
    """S1-06: it has no state of its own, whatever its answer says."""

    async def run():
        async with gateway() as session, sdk(session) as client:
            one = await create(client, stream=stream, input="My word is lintel.", store=True)
            two = await create(client, stream=stream, input="Hm.", previous_response_id=one.id)
            assert two.previous_response_id == one.id
            assert two.store
            listed = await client.responses.input_items.list(two.id, order="asc")
            assert listed.data[0].content[0].text == "My word is lintel."
            with pytest.raises(openai.BadRequestError):
                await client.responses.create(model="m", input="a", previous_response_id="resp_x")

    asyncio.run(run())


def test_holders_of_keys_see_only_what_is_theirs(tmp_path):
    script = Script("openai-responses", says("One.", 1), says("Two.", 2))
    database = tmp_path / "toolglot.db"

    async def run():
        with open_file(database) as db:
            tokens = [create_key(db, name, 0.0)[0] for name in ("ann", "bob")]
        async with (
            upstream(script.handle) as url,
            gateway(
                {"them": provider("openai-responses", url)},
                [to("them/*")],
                keys=True,
                database=str(database),
            ) as session,
            sdk(session, tokens[0]) as ann,
            sdk(session, tokens[1]) as bob,
        ):
            one = await ann.responses.create(model="m", input="a")
            with pytest.raises(openai.NotFoundError):
                await bob.responses.retrieve(one.id)
            with pytest.raises(openai.BadRequestError, match=one.id):
                await bob.responses.create(model="m", input="b", previous_response_id=one.id)
            assert await ann.responses.retrieve(one.id) == one
            await ann.responses.create(model="m", input="b", previous_response_id=one.id)
            async with sdk(session, "nobody") as thief:
                with pytest.raises(openai.AuthenticationError):
                    await thief.responses.retrieve(one.id)
            with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
                await session.ws_connect("/v1/responses")
            assert caught.value.status == 401

    asyncio.run(run())
    assert len(script.bodies) == 2


def test_what_is_stored_outlives_the_gateway(tmp_path):
    """S1-07: where a database is named."""
    script = Script("anthropic", says("One.", 1), says("Two.", 2))

    async def run():
        previous = None
        async with upstream(script.handle) as url:
            for question in ("a", "b"):
                async with (
                    gateway(
                        {"them": provider("anthropic", url)},
                        [to("them/*")],
                        database=str(tmp_path / "toolglot.db"),
                    ) as session,
                    sdk(session) as client,
                ):
                    made = await client.responses.create(
                        model="m", input=question, previous_response_id=previous
                    )
                    previous = made.id

    asyncio.run(run())
    assert script.texts() == ["a", "One.", "b"]


def test_a_small_request_does_not_become_a_huge_one():
    """What is continued counts, by whichever name it is continued."""
    script = Script("openai-chat", *(says("Yes.", number=number) for number in range(9)))

    async def run():
        async with (
            upstream(script.handle) as url,
            gateway(
                {"them": provider("openai-chat", url)}, [to("them/*")], max_body=20_000
            ) as session,
        ):

            async def post(path, **body):
                async with session.post(path, json=body) as reply:
                    return reply.status, await reply.json()

            previous, found = {}, []
            for _ in range(4):
                status, made = await post("/v1/responses", model="m", input="x" * 9_000, **previous)
                found.append(status)
                previous = {"previous_response_id": made.get("id")} if status == 200 else previous
            item = {"type": "message", "role": "user", "content": "y" * 12_000}
            _, talk = await post("/v1/conversations", items=[item])
            grown, _ = await post(f"/v1/conversations/{talk['id']}/items", items=[item])
            status, told = await post(
                "/v1/responses", model="m", input="x" * 12_000, conversation=talk["id"]
            )
            return found, grown, status, told

    found, grown, status, told = asyncio.run(run())
    assert found == [200, 200, 413, 413]
    assert (grown, status) == (413, 413)
    assert "max_body" in told["error"]["message"]
    assert max(len(json.dumps(body)) for body in script.bodies) < 21_000
