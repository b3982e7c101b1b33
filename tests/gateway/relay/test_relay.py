"""One request through the gateway, over real sockets."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from aiohttp import web
from tests.gateway.exchanges import ANSWER, ASKED, NAMES, asked, post, scripted
from tests.gateway.running import BASES, gateway, provider, to, upstream
from tests.sampling import sampled
from tests.upstreams.server import ScriptedUpstream

from toolglot import attempts, ir
from toolglot.context import Context
from toolglot.registry import get_protocol
from toolglot.translate import encode_request, encode_response
from toolglot.wire.follow import make_splitter


# Every pair, whole or streamed in turn.
@pytest.mark.parametrize(("ours", "theirs", "stream"), sampled(2, NAMES, NAMES, [False, True]))
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
@pytest.mark.parametrize("name", [n for n in NAMES if get_protocol(n).SURFACE.model_at])
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
    check = codec.StreamCheck()
    passing = make_splitter(check, codec.SURFACE.stream.media_type)
    assert all(piece.readable for piece in (*passing.feed(told), *passing.close()))
    assert check.ended
    if not codec.SURFACE.stream.comments:
        assert b": ping" not in told


# --- retries, keys and other targets --------------------------------------------------------------


@pytest.fixture
def _short_pauses(monkeypatch):
    monkeypatch.setattr(attempts, "FIRST_PAUSE", 0.001)


def ask(*handlers, requests=1, **fields):
    """The last status that a client gets whose targets answer so, and what each was asked.

    A handler gets the number of the request, and returns a status, or a response, or does the rest
    itself.
    """
    seen = [[] for _ in handlers]

    def counted(handler, mine):
        async def handle(request):
            mine.append(request.headers.get("Authorization"))
            result = handler(request, len(mine))
            if not isinstance(result, int):
                return await result
            if result != 200:
                return web.Response(status=result)
            return web.json_response(encode_response(ANSWER, target="openai-chat").body)

        return handle

    async def run():
        async with AsyncExitStack() as stack:
            providers = {}
            for place, handler in enumerate(handlers):
                url = await stack.enter_async_context(upstream(counted(handler, seen[place])))
                providers[f"p{place}"] = provider("openai-chat", url, **fields)
            routes = [to(*(f"{name}/*" for name in providers))]
            session = await stack.enter_async_context(gateway(providers, routes))
            for _ in range(requests):
                reply, _ = await post(session, "openai-chat")
            return reply.status

    return asyncio.run(run()), *seen


@pytest.mark.usefixtures("_short_pauses")
@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_failure_before_the_first_byte_is_tried_again(status):
    got, seen = ask(lambda _, number: status if number == 1 else 200, retries=2)
    assert (got, len(seen)) == (200, 2)


@pytest.mark.usefixtures("_short_pauses")
def test_not_more_often_than_said():
    got, seen = ask(lambda _, __: 503, retries=2)
    assert (got, len(seen)) == (503, 3)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_what_asking_again_does_not_change_is_not_asked_again(status):
    got, seen = ask(lambda _, __: status, retries=2)
    assert (got, len(seen)) == (status, 1)


@pytest.mark.parametrize("headers", [{"x-should-retry": "false"}, {"retry-after": "3600"}])
def test_a_provider_that_wants_no_retry_gets_none(headers):
    async def later():
        return web.Response(status=429, headers=headers)

    got, seen = ask(lambda _, __: later(), retries=2)
    assert (got, len(seen)) == (429, 1)


@pytest.mark.parametrize("status", [401, 402, 403, 404, 408, 409, 425, 429, 500, 503, 529])
def test_another_target_may_do_better(status):
    got, one, two = ask(lambda _, __: status, lambda _, __: 200)
    assert (got, len(one), len(two)) == (200, 1, 1)


def test_another_key_is_tried_when_one_is_refused(monkeypatch):
    monkeypatch.setenv("A", "a")
    monkeypatch.setenv("B", "b")

    def one_key(request, _number):
        return 200 if request.headers["Authorization"] == "Bearer b" else 429

    got, seen = ask(one_key, api_key=("env:A", "env:B"), retries=2, requests=3)
    assert got == 200
    assert seen == ["Bearer a", "Bearer b", "Bearer b", "Bearer b"], "and it rests for others"


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_a_connection_that_is_closed_without_an_answer_is_a_retry(retries):
    async def closes(request):
        request.transport.close()
        return web.Response()

    def first(request, number):
        return closes(request) if number == 1 else 200

    def kept(request, number):
        return 200 if number == 1 else closes(request)

    assert ask(lambda request, _: closes(request), retries=retries)[0] == 502
    assert len(ask(lambda request, _: closes(request), retries=retries)[1]) == 1 + retries
    got, seen = ask(first, retries=retries)
    assert (got, len(seen)) == ((200, 2) if retries else (502, 1))
    got, seen = ask(kept, retries=retries, requests=2)
    assert (got, len(seen)) == (502, 2 + retries)
