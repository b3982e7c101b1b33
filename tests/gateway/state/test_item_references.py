"""Items that a request names by their ids alone, as some SDKs name all earlier output."""

import asyncio

import openai
import pytest
from tests.gateway.running import gateway, provider, to, upstream
from tests.gateway.scripts import Script, calls, response, running, says, sdk

from toolglot import ir
from toolglot.gateway.state.items import may_have_references, referenced_id
from toolglot.gateway.storage.database import database as open_file
from toolglot.gateway.storage.sqlite_keys import create_key
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext

NAMES = list(PROTOCOLS)
TOOL = {
    "type": "function",
    "name": "weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}


def user(text):
    return {"role": "user", "content": text}


def serving(script, use):
    """The same with a provider that takes references, if it speaks Responses."""

    async def run():
        profile = {"profile": "openai"} if script.protocol == "openai-responses" else {}
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider(script.protocol, url, **profile)}, [to("them/*")]) as session,
            sdk(session) as client,
        ):
            return await use(client, session)

    return asyncio.run(run())


def reference(item, **more):
    return {"type": "item_reference", "id": item.id, **more}


async def create(client, *, stream, **asked):
    if not stream:
        return await client.responses.create(model="m", **asked)
    async with client.responses.stream(model="m", **asked) as events:
        return await events.get_final_response()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_tool_loop_whose_calls_are_only_named(name, stream):
    """S1-06: messages and calls alike, on providers that know no such thing."""
    script = Script(
        name,
        calls("weather", '{"city":"Oslo"}', number=1, before=(ir.Text(text="I look."),)),
        calls("weather", '{"city":"Bergen"}', number=2, call_id="call_2"),
        says("It rains.", number=3),
    )

    async def use(client, _session):
        asked = [user("Weather in Oslo and Bergen?")]
        for _ in range(3):
            made = await create(client, stream=stream, input=asked, tools=[TOOL])
            asked = [*asked, *map(reference, made.output)]
            asked += [
                {"type": "function_call_output", "call_id": item.call_id, "output": "rain"}
                for item in made.output
                if item.type == "function_call"
            ]
        return made

    made = running(script, use)
    assert made.output_text == "It rains."
    loop = ["Text", "Text", "ToolCall", "ToolResult", "ToolCall", "ToolResult"]
    assert script.kinds(2) == loop
    parts = [part for message in script.seen[2].messages for part in message.parts]
    called = [part for part in parts if isinstance(part, ir.ToolCall)]
    results = [part for part in parts if isinstance(part, ir.ToolResult)]
    assert [call.id for call in called] == [result.id for result in results]
    assert [jsontext.peek(call.arguments)["city"] for call in called] == ["Oslo", "Bergen"]


def test_the_provider_that_stored_an_item_gets_its_name_only():
    script = Script("openai-responses", says("One.", 1), says("Two.", 2))

    async def use(client, _session):
        one = await client.responses.create(model="m", input="a")
        named = [user("a"), reference(one.output[0]), user("b")]
        await client.responses.create(model="m", input=named)

    serving(script, use)
    assert script.bodies[1]["input"][1]["type"] == "item_reference"


@pytest.mark.parametrize("store", [True, False])
def test_another_provider_of_the_same_protocol_gets_the_item(store):
    """Without the reasoning that only its issuer can read; what the client sends itself stays."""
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
            own = {"type": "reasoning", "id": "rs_own", "summary": []}
            raw = await client.responses.with_raw_response.create(
                model="there/m",
                input=[user("Count."), *map(reference, one.output), own, user("Go on.")],
                store=store,
            )
            return raw.headers["x-toolglot-receipt"]

    receipt = asyncio.run(run())
    assert [item.get("type") for item in second.bodies[0]["input"]] == [
        None,
        "message",
        "reasoning",
        None,
    ]
    assert "reasoning-dropped" in receipt


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_item_is_refused_by_its_name(name):
    """As OpenAI does it: never an answer to a conversation with a hole in it. A provider of the
    same protocol without stored items is no different.
    """
    script = Script(name, says("One.", 1))

    async def use(client, _session):
        unstored = await client.responses.create(model="m", input="a", store=False)
        for wanted in ({"type": "item_reference", "id": "msg_x"}, reference(unstored.output[0])):
            for store in (True, False):
                with pytest.raises(openai.NotFoundError) as caught:
                    await client.responses.create(
                        model="m", input=[user("a"), wanted, user("b")], store=store
                    )
                assert f"Item with id '{wanted['id']}' not found." in caught.value.message
                assert caught.value.type == "invalid_request_error"
                assert caught.value.param == "input"

    running(script, use)
    assert len(script.seen) == 1


def test_a_deleted_response_takes_its_items_with_it():
    script = Script("anthropic", says("One.", 1))

    async def use(client, _session):
        one = await client.responses.create(model="m", input="a")
        await client.responses.delete(one.id)
        with pytest.raises(openai.NotFoundError, match=one.output[0].id):
            await client.responses.create(model="m", input=[reference(one.output[0])])

    running(script, use)


def test_a_provider_may_know_an_item_that_we_do_not():
    script = Script("openai-responses", says("Two."))
    wanted = {"type": "item_reference", "id": "msg_of_yesterday"}

    async def use(client, _session):
        await client.responses.create(model="m", input=[wanted, user("b")])

    serving(script, use)
    assert script.bodies[0]["input"][0] == wanted


def test_holders_of_keys_name_only_what_is_theirs(tmp_path):
    script = Script("openai-responses", says("One.", 1), says("Two.", 2))
    database = tmp_path / "toolglot.db"

    async def run():
        with open_file(database) as db:
            tokens = [create_key(db, name, 0.0)[0] for name in ("ann", "bob")]
        async with (
            upstream(script.handle) as url,
            gateway(
                {"them": provider("openai-responses", url, profile="openai")},
                [to("them/*")],
                keys=True,
                database=str(database),
            ) as session,
            sdk(session, tokens[0]) as ann,
            sdk(session, tokens[1]) as bob,
        ):
            one = await ann.responses.create(model="m", input="a")
            asked = {"model": "m", "input": [reference(one.output[0]), user("b")]}
            with pytest.raises(openai.NotFoundError, match=one.output[0].id):
                await bob.responses.create(**asked)
            await ann.responses.create(**asked)

    asyncio.run(run())
    assert len(script.bodies) == 2


def test_a_request_with_references_can_be_continued_and_counted():
    """What is stored of it are the references; they are resolved whenever it is read."""
    script = Script("anthropic", says("One.", 1), says("Two.", 2), says("Three.", 3))

    async def use(client, session):
        one = await client.responses.create(model="m", input="a")
        named = [user("a"), reference(one.output[0]), user("b")]
        two = await client.responses.create(model="m", input=named)
        await client.responses.create(model="m", input="c", previous_response_id=two.id)
        counts = []
        for asked in (named, [user("a"), user("b")]):
            body = {"model": "m", "input": asked}
            async with session.post("/v1/responses/input_tokens", json=body) as reply:
                counts.append((await reply.json())["input_tokens"])
        return counts

    script.answers += [says("", 4)] * 4
    longer, shorter = running(script, use)
    assert script.texts(2) == ["a", "One.", "b", "Two.", "c"]
    assert longer > shorter


def test_a_conversation_gets_the_items_that_are_named():
    script = Script("anthropic", says("One.", 1), says("Two.", 2), says("Three.", 3))

    async def use(client, _session):
        one = await client.responses.create(model="m", input="a")
        conversation = await client.conversations.create()
        await client.responses.create(
            model="m", input=[reference(one.output[0]), user("b")], conversation=conversation.id
        )
        listed = await client.conversations.items.list(conversation.id, order="asc")
        assert [item.type for item in listed.data] == ["message"] * 3
        await client.responses.create(
            model="m", input=[reference(listed.data[1]), user("c")], conversation=conversation.id
        )

    running(script, use)
    assert script.texts(2) == ["One.", "b", "Two.", "b", "c"]


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        (b'{"type":"item_reference","id":"a"}', "a"),
        (b'{"id":"a","type":"item_reference"}', "a"),
        (b'{ "id" : "a" }', "a"),
        (b'{"id":"a","type":null}', "a"),
        (b'{"type":"message","role":"user","content":"\\"item_reference\\""}', None),
        (b'{"role":"user","content":"\\"item_reference\\"","id":"a"}', None),
        (b'{"type":"function_call","id":"a"}', None),
        (b'{"type":"item_reference","id":7}', None),
        (b'{"type":"item_reference"}', None),
        (b'"item_reference"', None),
    ],
)
def test_references_are_told_from_items(item, wanted):
    asked = jsontext.members(b'{"input":[' + item + b"]}")
    (read,) = jsontext.elements(asked["input"])
    assert referenced_id(read) == wanted
    assert referenced_id(jsontext.peek(item)) == wanted
    if wanted is not None:
        assert may_have_references(b'{"input":[' + item + b"]}")


def test_most_requests_need_not_be_searched():
    assert not may_have_references(b'{"input":[{"id":"a","type":"message","role":"user"}]}')
