"""One request through the gateway, over real sockets."""

import asyncio

import pytest
from tests.gateway.exchanges import ASKED, NAMES, asked, post, scripted
from tests.gateway.running import BASES, gateway, provider, to, upstream
from tests.upstreams.server import ScriptedUpstream

from toolglot import ir
from toolglot.context import Context
from toolglot.registry import get_protocol
from toolglot.translate import encode_request
from toolglot.wire.follow import Passing


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("theirs", NAMES)
@pytest.mark.parametrize("ours", NAMES)
def test_every_client_on_every_provider(ours, theirs, stream):
    """S1-01, S1-02, S1-03, S1-04: any client in, any provider out, whole and streamed."""

    async def run():
        seen = []
        async with (
            upstream(scripted(theirs, seen)) as url,
            gateway({"them": provider(theirs, url)}, [to("them/*")]) as session,
        ):
            reply, body = await post(session, ours, stream=stream)
        assert reply.status == 200
        assert len(seen) == 1
        assert reply.headers["x-toolglot-provider"] == "them"
        codec = get_protocol(ours)
        if stream:
            decoder = codec.StreamDecoder(Context())
            from toolglot.events import fold

            response = fold([*decoder.feed(body), *decoder.close()])
        else:
            import json

            from toolglot.translate import decode_response

            response = decode_response(json.loads(body), source=ours)
        (choice,) = response.choices
        text = "".join(part.text for part in choice.parts if isinstance(part, ir.Text))
        assert text == "North by north-west."
        assert response.usage.output == 7
        assert BASES[theirs] in seen[0][0].path

    asyncio.run(run())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_the_one_that_was_asked_for(name, stream):
    """X-17, in the same protocol too, where bytes pass through."""

    async def run():
        seen = []
        async with (
            upstream(scripted(name, seen)) as url,
            gateway({"them": provider(name, url)}, [to("them/the-model")]) as session,
        ):
            reply, body = await post(session, name, stream=stream, model="asked-for")
        assert reply.status == 200
        assert b"asked-for" in body
        assert b"the-model" not in body
        request, sent = seen[0]
        assert "the-model" in (request.path if name == "gemini" else sent["model"])

    asyncio.run(run())


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_model_is_refused_in_the_callers_protocol(name):
    async def run():
        async with gateway(
            {"a": provider(name, "http://127.0.0.1:9")}, [to("a/*", match="x-*")]
        ) as s:
            reply, body = await post(s, name)
        assert reply.status == 404
        assert b"the-model" in body
        assert reply.headers["x-request-id"]

    asyncio.run(run())


def test_the_next_target_answers_when_the_first_cannot_be_reached():
    async def run():
        seen = []
        async with (
            upstream(scripted("openai-chat", seen)) as url,
            gateway(
                {
                    "gone": provider("anthropic", "http://127.0.0.1:9"),
                    "here": provider("openai-chat", url),
                },
                [to("gone/*", "here/*")],
            ) as session,
        ):
            reply, _ = await post(session, "anthropic")
        assert reply.status == 200
        assert reply.headers["x-toolglot-provider"] == "here"

    asyncio.run(run())


@pytest.mark.parametrize("name", NAMES)
def test_nobody_there_is_told_in_the_callers_protocol(name):
    """X-16."""

    async def run():
        async with gateway(
            {"gone": provider("anthropic", "http://127.0.0.1:9")}, [to("gone/*")]
        ) as s:
            reply, body = await post(s, name)
        assert reply.status >= 500
        assert b"provider gone cannot be reached" in body

    asyncio.run(run())


def test_a_receipt_can_be_asked_for_afterwards():
    async def run():
        seen = []
        async with (
            upstream(scripted("openai-chat", seen)) as url,
            gateway({"them": provider("openai-chat", url)}, [to("them/*")]) as session,
        ):
            wire = asked("anthropic")
            headers = {"x-request-id": "mine-1"}
            body = wire["data"][:-1] + b',"tomorrow":{"a":1}}'
            async with session.post(wire["path"], data=body, headers=headers) as reply:
                assert "field-unknown" in reply.headers["x-toolglot-receipt"]
            async with session.get("/toolglot/receipts/mine-1") as reply:
                notes = (await reply.json())["notes"]
            assert "tomorrow" in [note["path"] for note in notes]
            headers = {"x-toolglot-strict": "true"}
            async with session.post(wire["path"], data=body, headers=headers) as reply:
                assert reply.status == 400
                assert "tomorrow" in await reply.text()
        assert len(seen) == 1

    asyncio.run(run())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_without_a_provider_the_demo_model_answers(name, stream):
    async def run():
        async with gateway() as session:
            reply, body = await post(session, name, stream=stream)
        assert reply.status == 200
        assert reply.headers["x-toolglot-provider"] == "demo"
        assert b"demo" in body

    asyncio.run(run())


@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses"])
def test_a_path_without_its_version_reaches_the_same_provider(name):
    async def run():
        seen = []
        async with (
            upstream(scripted(name, seen)) as url,
            gateway({"them": provider(name, url)}, [to("them/*")]) as session,
        ):
            wire = asked(name)
            path = wire["path"].removeprefix("/v1")
            async with session.post(path, data=wire["data"]) as reply:
                assert reply.status == 200, await reply.text()
        assert seen[0][0].path == wire["path"]

    asyncio.run(run())


def play(scenario, ours, theirs):
    """What a client gets whose provider plays a scenario, and how often that was asked."""

    async def run():
        tool = ir.FunctionTool(
            name="shell", parameters={"type": "object", "properties": {"command": {}}}
        )
        request = ir.Request(
            model="m", messages=ASKED.messages, max_tokens=9, stream=True, tools=(tool,)
        )
        wire = encode_request(request, target=ours)
        async with (
            ScriptedUpstream(scenario) as scripted_,
            gateway({"p": provider(theirs, scripted_.url)}, [to("p")]) as session,
            session.post(wire.path, data=wire.data(), params=dict(wire.query)) as response,
        ):
            return await response.read()

    return asyncio.run(run())


@pytest.mark.parametrize("theirs", NAMES)
def test_an_agent_client_is_made_to_ask_again(theirs):
    """X-15: the block that broke off stays open, and the error is one that passes."""
    told = play("cut", "anthropic", theirs)
    assert told.count(b"event: content_block_start") == 1
    assert b"event: content_block_stop" not in told
    assert b'"overloaded_error"' in told


@pytest.mark.parametrize("name", NAMES)
def test_a_careless_provider_of_the_clients_own_protocol(name):
    """X-06: what the client gets has all that strict clients need, and nothing they stumble on."""
    told = play("sloppy", name, name)
    codec = get_protocol(name)
    lines = codec.SURFACE.stream_type != "text/event-stream"
    check = codec.StreamCheck()
    passing = Passing(check, lines=lines)
    assert all(piece.sound for piece in (*passing.feed(told), *passing.close()))
    assert check.ended
    if not codec.SURFACE.comments:
        assert b": ping" not in told
