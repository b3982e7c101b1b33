"""Responses over a WebSocket."""

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from tests.gateway.running import gateway, provider, to, upstream
from tests.gateway.scripts import Script, calls, response, says, sdk

from toolglot import ir
from toolglot.gateway.app import App
from toolglot.gateway.config import Config
from toolglot.gateway.http.server import answering, listen
from toolglot.gateway.relay.relay import Relay
from toolglot.registry import PROTOCOLS

BETA = {"openai-beta": "responses_websockets=2026-02-06"}
TOOL = {"type": "function", "name": "shell", "parameters": {"type": "object"}, "strict": False}
LAST = {"response.completed", "response.incomplete", "response.failed", "error"}


def message(text, role="user"):
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": role, "content": content}


def frame(*items, **more):
    """A request as Codex sends it."""
    return {
        "type": "response.create",
        "model": "m",
        "stream": True,
        "store": False,
        "input": list(items),
        "tools": [TOOL],
        "include": ["reasoning.encrypted_content"],
        "client_metadata": {"turn_id": "t"},
        **more,
    }


async def events(socket):
    """The events of one answer."""
    seen = []
    while not seen or seen[-1]["type"] not in LAST:
        seen.append(await socket.receive_json(timeout=10))
    return seen


async def ask(socket, *items, **more):
    """The last event of the answer to a request."""
    await socket.send_json(frame(*items, **more))
    return (await events(socket))[-1]


@asynccontextmanager
async def connected(handler, protocol, *, url="/v1/responses", compress=15, **server):
    async with (
        upstream(handler) as there,
        gateway({"them": provider(protocol, there)}, [to("them/*")], **server) as session,
        session.ws_connect(url, headers=BETA, compress=compress) as socket,
    ):
        yield socket


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_tool_loop_with_a_warm_up_sends_only_what_is_new(name):
    """S1-06, S1-07: as Codex does it, with nothing stored."""
    script = Script(
        name, calls("shell", '{"command":"ls"}', number=1), says("Two files.", number=2)
    )

    async def run():
        async with connected(script.handle, name) as socket:
            await socket.send_json(frame(message("Be terse.", "developer"), generate=False))
            warm = await events(socket)
            assert [event["type"] for event in warm] == [
                "response.created",
                "response.in_progress",
                "response.completed",
            ]
            assert not script.seen
            assert warm[-1]["response"]["output"] == []
            assert warm[-1]["response"]["usage"]["total_tokens"] == 0
            before = warm[-1]["response"]["id"]
            await socket.send_json(frame(message("List."), previous_response_id=before))
            one = await events(socket)
            assert one[0]["type"] == "response.created"
            (call,) = one[-1]["response"]["output"]
            result = {
                "type": "function_call_output",
                "call_id": call["call_id"],
                "output": "a b",
            }
            two = await ask(socket, result, previous_response_id=one[-1]["response"]["id"])
        assert two["type"] == "response.completed"
        (said,) = two["response"]["output"]
        assert said["content"][0]["text"] == "Two files."

    asyncio.run(run())
    for place, kinds in enumerate((["Text"], ["Text", "ToolCall", "ToolResult"])):
        request = script.seen[place]
        system = [] if request.system is None else ["Text"]
        assert [*system, *script.kinds(place)] == ["Text", *kinds]
    assert "generate" not in script.bodies[0]
    assert "previous_response_id" not in script.bodies[1]
    assert "openai-beta" not in script.headers[0]


@pytest.mark.parametrize("compress", [0, 15])
def test_frames_may_be_compressed(compress):
    async def run():
        script = Script("anthropic", says("Hello."))
        async with connected(script.handle, "anthropic", compress=compress) as socket:
            assert bool(socket.compress) is bool(compress)
            assert (await ask(socket, message("Hi")))["type"] == "response.completed"

    asyncio.run(run())


def test_the_official_client_connects():
    script = Script("gemini", says("Hello.", 1), says("Yes.", 2))

    async def run():
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider("gemini", url)}, [to("them/*")]) as session,
            sdk(session) as client,
            client.responses.connect() as connection,
        ):
            texts, previous = [], None
            for question in ("Hi", "Sure?"):
                await connection.response.create(
                    model="m", input=question, previous_response_id=previous
                )
                async for event in connection:
                    if event.type == "response.completed":
                        previous = event.response.id
                        texts.append(event.response.output_text)
                        break
            return texts

    assert asyncio.run(run()) == ["Hello.", "Yes."]
    assert script.texts() == ["Hi", "Hello.", "Sure?"]


def test_what_is_stored_on_a_connection_is_continued_over_http():
    script = Script("openai-chat", says("Hello.", 1), says("Yes.", 2))

    async def run():
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider("openai-chat", url)}, [to("them/*")]) as session,
        ):
            async with session.ws_connect("/responses") as socket:
                done = await ask(socket, message("Hi"), store=True)
            asked = {
                "model": "m",
                "input": "Sure?",
                "previous_response_id": done["response"]["id"],
            }
            async with session.post("/v1/responses", json=asked) as reply:
                assert reply.status == 200

    asyncio.run(run())
    assert script.texts() == ["Hi", "Hello.", "Sure?"]


def test_what_is_not_stored_ends_with_the_connection():
    script = Script("openai-chat", says("Hello."))

    async def run():
        async with (
            upstream(script.handle) as url,
            gateway({"them": provider("openai-chat", url)}, [to("them/*")]) as session,
        ):
            async with session.ws_connect("/v1/responses") as socket:
                done = await ask(socket, message("Hi"))
            async with session.ws_connect("/v1/responses") as socket:
                more = {"previous_response_id": done["response"]["id"]}
                wrong = await ask(socket, message("Sure?"), **more)
                assert wrong["status"] == 400
                assert wrong["error"]["code"] == "previous_response_not_found"
                # A refusal does not end the connection.
                script.answers.append(says("Again."))
                assert (await ask(socket, message("Hi")))["type"] == "response.completed"

    asyncio.run(run())


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("{nope", "JSON"),
        ("[]", "object"),
        ('{"type":"response.steer"}', "response.create"),
        ('{"type":"response.create","input":"Hi"}', "model"),
        ('{"type":"response.create","model":"m","background":true}', "background"),
        ('{"type":"response.create","model":"m","previous_response_id":1}', "previous"),
        (b"bytes", "text"),
    ],
)
def test_frames_that_cannot_be_read_are_told(sent, words):
    async def run():
        script = Script("openai-chat", says("Hello."))
        async with connected(script.handle, "openai-chat") as socket:
            if isinstance(sent, bytes):
                await socket.send_bytes(sent)
            else:
                await socket.send_str(sent)
            (wrong,) = await events(socket)
            assert wrong["type"] == "error"
            assert wrong["status"] == 400
            assert words in wrong["error"]["message"]
            await socket.send_json({"type": "response.processed", "response_id": "resp_1"})
            assert (await ask(socket, message("Hi")))["type"] == "response.completed"

    asyncio.run(run())


def test_errors_of_a_provider_are_told_with_their_status():
    async def handle(_request):
        body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}
        return web.json_response(body, status=429, headers={"retry-after": "7"})

    async def run():
        async with connected(handle, "anthropic") as socket:
            wrong = await ask(socket, message("Hi"))
        assert wrong["status"] == 429
        assert wrong["error"]["message"] == "slow"
        assert wrong["headers"]["retry-after"] == "7"

    asyncio.run(run())


def test_requests_wait_for_the_one_before():
    script = Script("openai-chat", says("One.", 1), says("Two.", 2))

    async def run():
        async with connected(script.handle, "openai-chat") as socket:
            await socket.send_json(frame(message("a"), stream_id="left"))
            await socket.send_json(frame(message("b")))
            for word, lane in (("One.", "left"), ("Two.", None)):
                seen = await events(socket)
                (said,) = seen[-1]["response"]["output"]
                assert said["content"][0]["text"] == word
                assert {event.get("stream_id") for event in seen} == {lane}

    asyncio.run(run())


def test_too_many_requests_at_once_are_refused():
    async def run():
        waits = asyncio.Event()

        async def handle(_request):
            await waits.wait()
            return web.json_response({"error": {"message": "enough"}}, status=400)

        async with connected(handle, "openai-chat") as socket:
            for _ in range(20):
                await socket.send_json(frame(message("Hi")))
            wrong = await socket.receive_json(timeout=10)
            assert "waiting" in wrong["error"]["message"]
            waits.set()

    asyncio.run(run())


def test_waiting_requests_have_a_size_together():
    async def run():
        waits = asyncio.Event()

        async def handle(_request):
            await waits.wait()
            return web.json_response({"error": {"message": "enough"}}, status=400)

        async with connected(handle, "openai-chat", max_body=50_000) as socket:
            for _ in range(4):
                await socket.send_json(frame(message("x" * 20_000)))
            wrong = await socket.receive_json(timeout=10)
            assert "bytes are waiting" in wrong["error"]["message"]
            waits.set()
            # Those that waited are answered, and there is room again.
            for _ in range(3):
                assert "enough" in str(await socket.receive_json(timeout=10))
            await socket.send_json(frame(message("x" * 20_000)))
            assert "enough" in str(await socket.receive_json(timeout=10))

    asyncio.run(run())


def test_frames_that_are_small_on_the_wire_wait_there():
    """What is compressed is not all unpacked before somebody reads it."""

    async def run():
        waits = asyncio.Event()

        async def handle(_request):
            await waits.wait()
            return web.json_response({"error": {"message": "enough"}}, status=400)

        async with connected(handle, "openai-chat", max_body=2**22) as socket:
            for _ in range(12):
                await socket.send_json(frame(message("x" * 2_000_000)))
            waits.set()
            found = [await socket.receive_json(timeout=20) for _ in range(12)]
            assert {"enough" in str(each) or "waiting" in str(each) for each in found} == {True}

    asyncio.run(run())


def test_a_frame_that_is_too_large_ends_the_connection():
    async def run():
        script = Script("openai-chat")
        async with connected(script.handle, "openai-chat", max_body=2000) as socket:
            await socket.send_json(frame(message("x" * 3000)))
            end = await socket.receive(timeout=10)
            assert end.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
            assert socket.close_code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG

    asyncio.run(run())


def test_when_the_client_goes_so_does_the_request():
    """X-15."""

    async def run():
        began, ended = asyncio.Event(), asyncio.Event()

        async def handle(_request):
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        async with connected(handle, "anthropic") as socket:
            await socket.send_json(frame(message("Hi")))
            await asyncio.wait_for(began.wait(), 10)
            await socket.close()
            await asyncio.wait_for(ended.wait(), 10)

    asyncio.run(run())


def test_pings_are_answered_while_a_request_runs():
    async def run():
        goes_on = asyncio.Event()
        script = Script("openai-chat", says("Done."))

        async def handle(request):
            await goes_on.wait()
            return await script.handle(request)

        async with connected(handle, "openai-chat", compress=0) as socket:
            socket._autoping = False
            await socket.send_json(frame(message("Hi")))
            await socket.ping(b"there?")
            pong = await socket.receive(timeout=10)
            assert pong.type is aiohttp.WSMsgType.PONG
            assert bytes(pong.data) == b"there?"
            goes_on.set()
            assert (await events(socket))[-1]["type"] == "response.completed"

    asyncio.run(run())


def test_reasoning_state_goes_back_to_whom_it_belongs():
    """S1-06: over a connection that stores nothing, as it was issued."""
    thought = ir.Reasoning(text="Hm.", signature="c2ln")
    script = Script("anthropic", response(thought, ir.Text(text="One.")), says("Two.", 2))

    async def run():
        async with connected(script.handle, "anthropic") as socket:
            one = await ask(socket, message("Hi"))
            await ask(socket, message("Go on."), previous_response_id=one["response"]["id"])

    asyncio.run(run())
    assert script.kinds() == ["Text", "Reasoning", "Text", "Text"]
    (_, said, _) = script.seen[1].messages
    assert said.parts[0].signature == "c2ln"


@pytest.mark.parametrize("path", ["/v1/responses", "/responses"])
def test_whoever_wants_no_socket_is_told_what_to_do(path):
    async def run():
        async with (
            gateway({"a": provider("anthropic", "http://127.0.0.1:9")}) as session,
            session.get(path) as reply,
        ):
            assert reply.status == 426
            assert reply.headers["Upgrade"] == "websocket"
            assert "WebSocket" in json.loads(await reply.read())["error"]["message"]

    asyncio.run(run())


def test_a_gateway_that_stops_lets_answers_end_and_idle_connections_go():
    async def run():
        goes_on, began = asyncio.Event(), asyncio.Event()
        script = Script("openai-chat", says("Done."))

        async def handle(request):
            began.set()
            await goes_on.wait()
            return await script.handle(request)

        async with upstream(handle) as url:
            app = App(Config(providers={"them": provider("openai-chat", url)}))
            sock = listen("127.0.0.1", 0)
            running = answering(app, sock, drain=10)
            await running.__aenter__()
            there = f"http://127.0.0.1:{sock.getsockname()[1]}/v1/responses"
            async with (
                aiohttp.ClientSession() as session,
                session.ws_connect(there) as idle,
                session.ws_connect(there) as busy,
                asyncio.TaskGroup() as tasks,
            ):
                await busy.send_json(frame(message("Hi")))
                await began.wait()
                tasks.create_task(running.__aexit__(None, None, None))
                assert (await idle.receive(timeout=10)).type is aiohttp.WSMsgType.CLOSE
                goes_on.set()
                assert (await events(busy))[-1]["type"] == "response.completed"
                assert (await busy.receive(timeout=10)).type is aiohttp.WSMsgType.CLOSE

    asyncio.run(run())


@pytest.mark.parametrize("name", [each for each in PROTOCOLS if each != "openai-responses"])
def test_a_result_without_a_call_fails_and_what_it_continued_is_forgotten(name):
    """As the Open Responses suite asks for it: a turn that failed is not continued from there."""
    script = Script(
        name, calls("shell", '{"command":"ls"}', number=1), says("Two.", number=2), says("Three.")
    )
    strange = {"type": "function_call_output", "call_id": "call_none", "output": "x"}

    async def run():
        async with connected(script.handle, name) as socket:
            one = (await ask(socket, message("List.")))["response"]
            (call,) = (item for item in one["output"] if item["type"] == "function_call")
            failed = await ask(socket, strange, previous_response_id=one["id"])
            assert (failed["type"], failed["status"]) == ("error", 400)
            assert "No tool call found" in failed["error"]["message"]
            assert "call_none" in failed["error"]["message"]
            result = {**strange, "call_id": call["call_id"]}
            gone = await ask(socket, result, previous_response_id=one["id"])
            assert gone["error"]["code"] == "previous_response_not_found"
            again = await ask(socket, message("List."), call, result)
            assert again["type"] == "response.completed"

    asyncio.run(run())
    assert len(script.seen) == 2


def test_a_stored_response_is_not_forgotten_when_a_turn_fails():
    script = Script("anthropic", says("One.", number=1), says("Two.", number=2))
    strange = {"type": "function_call_output", "call_id": "call_none", "output": "x"}

    async def run():
        async with connected(script.handle, "anthropic") as socket:
            one = (await ask(socket, message("Hi."), store=True))["response"]
            failed = await ask(socket, strange, previous_response_id=one["id"])
            assert failed["type"] == "error"
            two = await ask(socket, message("Go on."), previous_response_id=one["id"])
            assert two["type"] == "response.completed"

    asyncio.run(run())
    assert script.texts() == ["Hi.", "One.", "Go on."]


def test_what_fails_in_the_gateway_itself_is_told_and_leaves_the_connection_open(monkeypatch):
    script = Script("openai-responses", says("Still here."))
    answer, failures = Relay.answer, [RuntimeError("not foreseen")]

    async def failing(self, *args):
        if failures:
            raise failures.pop()
        return await answer(self, *args)

    monkeypatch.setattr(Relay, "answer", failing)

    async def run():
        async with connected(script.handle, "openai-responses") as socket:
            error = await ask(socket, message("?"))
            assert (error["type"], error["status"]) == ("error", 500)
            assert "toolglot itself failed" in error["error"]["message"]
            assert "not foreseen" not in json.dumps(error)
            await socket.send_json({"type": []})
            assert (await events(socket))[-1]["status"] == 400
            assert (await ask(socket, message("?")))["type"] == "response.completed"

    asyncio.run(run())


@pytest.mark.parametrize("wrong", [{"type": []}, {"type": {}}, {"stream_id": "x" * 300}])
def test_odd_members_leave_the_connection_open(wrong):
    async def run():
        script = Script("openai-chat", says("Yes."))
        async with connected(script.handle, "openai-chat") as socket:
            await socket.send_json({**frame(message("Hi")), **wrong})
            told = await socket.receive_json(timeout=10)
            assert (told["type"], told["status"]) == ("error", 400)
            assert (await ask(socket, message("Hi")))["type"] == "response.completed"

    asyncio.run(run())
