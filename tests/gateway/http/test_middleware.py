"""What every request passes first: pages of others, odd paths, and faults of our own."""

import asyncio
import json
import logging

import aiohttp
import pytest
from aiohttp import web
from tests.gateway.handling import routed
from tests.gateway.running import gateway, provider, upstream
from yarl import URL

from toolglot import demo
from toolglot.gateway.http.middleware import is_allowed
from toolglot.http1.server_response import StreamedHttpResponse
from toolglot.http1.url_router import UrlRouter

HELLO = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
SPEAKING = {
    "/v1/messages": HELLO,
    "/v1/chat/completions": HELLO,
    "/v1/responses": {"model": "m", "input": "Hello"},
    "/v1beta/models/m:generateContent": {"contents": [{"parts": [{"text": "Hello"}]}]},
    "/v1/models/m:generateContent": {"contents": [{"parts": [{"text": "Hello"}]}]},
    "/api/chat": {**HELLO, "stream": False},
}


def ask(method, path, *, server=None, **more):
    """Status, headers and text of the demo model's gateway."""

    async def run():
        async with (
            gateway(**(server or {})) as session,
            session.request(method, str(session._build_url("/"))[:-1] + path, **more) as reply,
        ):
            return reply.status, reply.headers.copy(), await reply.text()

    return asyncio.run(run())


# --- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SPEAKING)
@pytest.mark.parametrize("odd", ["/{}", "{}/", "//{}//"])
def test_slashes_too_many_do_no_harm(path, odd):
    status, _, text = ask("POST", odd.format(path), json=SPEAKING[path])
    assert (status, "demo model" in text) == (200, True), text


@pytest.mark.parametrize("path", SPEAKING)
def test_the_version_may_be_left_out(path):
    short = path.removeprefix("/v1beta").removeprefix("/v1")
    status, _, text = ask("POST", short, json=SPEAKING[path])
    assert (status, "demo model" in text) == (200, True), text


def test_a_stream_at_a_path_with_slashes_too_many_is_complete():
    status, _, text = ask("POST", "//v1/messages/", json={**HELLO, "stream": True})
    assert status == 200
    assert text.count("message_stop") == 2
    assert "demo_" in text


@pytest.mark.parametrize("base", ["/v1", "/v1beta", "/openai/v1", "/api"])
@pytest.mark.parametrize("path", SPEAKING)
def test_a_base_url_with_too_much_at_its_end_gets_a_hint(base, path):
    status, _, text = ask("POST", base + path, json=SPEAKING[path])
    assert status == 404
    assert f"at {path}: take {base} off" in text


def test_a_path_that_leads_nowhere_is_told_where_to_ask():
    status, _, text = ask("POST", "/v1/rerank", json={})
    assert status == 404
    assert all(place in text for place in ("/v1/messages", "/v1/chat/completions", "/api/chat"))


@pytest.mark.parametrize(
    ("path", "headers", "code"),
    [
        ("/v1/v1/messages", {}, lambda body: body["error"]["code"]),
        ("/v1/v1/chat/completions", {}, lambda body: body["error"]["code"]),
        ("/v1/v1/responses", {}, lambda body: body["error"]["code"]),
        ("/api/v1/api/chat", {}, lambda body: body["code"]),
        (
            "/v1beta/v1beta/models/m:generateContent",
            {"x-goog-api-key": "k"},
            lambda body: body["error"]["details"][0]["reason"].lower(),
        ),
        ("/v1beta/models/m:embed", {}, lambda body: body["error"]["details"][0]["reason"].lower()),
    ],
)
def test_an_unknown_path_has_a_code_that_no_unknown_model_has(path, headers, code):
    status, _, text = ask("POST", path, json=HELLO, headers=headers)
    assert (status, code(json.loads(text))) == (404, "unknown_path")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/v1/images", "serves no images; ask a provider for them at /PROVIDER/v1/images;"),
        ("/v1/messages/batches", "serves no batches;"),
        ("/v1/audio/transcriptions", "serves no speech and transcriptions;"),
        ("/api/pull", "serves no downloads of models;"),
    ],
)
def test_what_others_serve_is_told_so(path, words):
    status, _, text = ask("POST", path, json={})
    assert status == 404
    assert words in text
    assert "/v1/messages" in text


def test_no_model_is_loaded_here():
    status, _, text = ask("GET", "/api/ps")
    assert (status, json.loads(text)) == (200, {"models": []})


def test_paths_are_not_searched_without_end():
    status, _, text = ask("POST", "/a" * 1000 + "/v1/messages", json=HELLO)
    assert status == 404
    assert "take" not in text


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_the_root_answers(method):
    status, _, text = ask(method, "/")
    assert status == 200
    assert ("version" in text) is (method == "GET")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/v1/messages", "POST"), ("PUT", "/v1/models", "GET"), ("OPTIONS", "/", "GET")],
)
def test_a_wrong_method_is_told_the_right_one(method, path, allowed):
    status, headers, text = ask(method, path)
    assert (status, headers["Allow"]) == (405, allowed)
    assert f"takes {allowed}" in text


@pytest.mark.parametrize("path", ["m:embed", "m", ":generateContent", "..:generateContent"])
def test_what_is_no_question_to_a_model_is_not_answered(path):
    status, _, text = ask("POST", f"/v1beta/models/{path}", json={})
    assert status == 404
    assert json.loads(text)["error"]["status"] == "NOT_FOUND"


# --- pages in browsers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "patterns", "allowed"),
    [
        ("http://localhost:3000", (), True),
        ("https://127.0.0.1", (), True),
        ("http://[::1]:8100", (), True),
        ("https://evil.example", (), False),
        ("http://localhost.evil.example", (), False),
        ("http://127.0.0.1@evil.example", (), False),
        ("http://[::1].evil.example", (), False),
        ("http://localhost:port", (), False),
        ("null", (), False),
        ("file://localhost", (), False),
        ("http://[", (), False),
        ("https://chat.example", ("https://chat.example",), True),
        ("https://a.chat.example", ("https://*.chat.example",), True),
        ("null", ("*",), True),
    ],
)
def test_who_may_ask(origin, patterns, allowed):
    assert is_allowed(origin, patterns) is allowed


@pytest.mark.parametrize("path", SPEAKING)
def test_pages_of_strangers_may_not_spend_the_users_tokens(path):
    headers = {"Origin": "https://evil.example"}
    status, told, text = ask("POST", path, json=SPEAKING[path], headers=headers)
    assert status == 403
    assert "Access-Control-Allow-Origin" not in told
    assert "origins" in text


def test_pages_of_strangers_may_not_open_a_websocket():
    async def run():
        async with gateway() as session:
            with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                await session.ws_connect("/v1/responses", origin="https://evil.example")
            async with session.ws_connect("/v1/responses", origin="http://localhost") as socket:
                assert not socket.closed

    asyncio.run(run())


@pytest.mark.parametrize("stream", [False, True])
def test_pages_that_may_ask_can_read_the_answer(stream):
    origin, server = "https://chat.example", {"origins": ("https://*.example",)}
    wanted = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-api-key",
    }
    status, told, _ = ask("OPTIONS", "/v1/messages", headers=wanted, server=server)
    assert status == 204
    assert told["Access-Control-Allow-Origin"] == origin
    assert told["Access-Control-Allow-Headers"] == "content-type,x-api-key"
    body = {**HELLO, "stream": stream}
    status, told, text = ask(
        "POST", "/v1/messages", json=body, headers={"Origin": origin}, server=server
    )
    assert (status, told["Access-Control-Allow-Origin"]) == (200, origin)
    assert "x-request-id" in told["Access-Control-Expose-Headers"]
    assert "demo" in text


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SPEAKING)
def test_a_fault_of_our_own_is_told_in_the_callers_shape_and_logged(path, monkeypatch, caplog):
    def fails(*_given):
        raise ZeroDivisionError("sk-secret-0123456789abcdef")

    monkeypatch.setattr(demo, "reply", fails)
    with caplog.at_level(logging.ERROR, "toolglot"):
        status, headers, text = ask(
            "POST", path, json=SPEAKING[path], headers={"x-request-id": "mine"}
        )
    assert status == 500
    assert headers["x-request-id"] == "mine"
    assert "request id mine" in str(json.loads(text))
    assert "ZeroDivisionError" not in text
    assert "secret" not in text
    assert "request mine: POST" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_a_fault_is_counted_as_one(monkeypatch):
    monkeypatch.setattr(demo, "reply", lambda *_: 1 / 0)

    async def run():
        async with gateway() as session:
            async with session.post("/v1/messages", json=HELLO) as reply:
                assert reply.status == 500
            async with session.get("/metrics") as reply:
                return await reply.text()

    assert 'status="500"' in asyncio.run(run())


def test_a_fault_in_the_middle_of_a_stream_never_looks_like_its_end(monkeypatch):
    def breaks(answer):
        yield from list(events(answer))[:3]
        raise ZeroDivisionError

    events = demo.events
    monkeypatch.setattr(demo, "events", breaks)
    with pytest.raises(aiohttp.ClientPayloadError):
        ask("POST", "/v1/messages", json={**HELLO, "stream": True})


@pytest.mark.parametrize(
    ("path", "data"), [("/api/show", b"{nope"), ("/toolglot/translate", b"[1")]
)
def test_what_is_no_json_is_told_wherever_it_is_sent(path, data):
    status, _, text = ask("POST", path, data=data)
    assert status == 400
    assert "JSON" in text


@pytest.mark.parametrize("path", SPEAKING)
def test_a_body_that_is_not_compressed_as_it_says_is_told_in_the_callers_shape(path):
    headers = {"Content-Encoding": "gzip"}
    status, _, text = ask("POST", path, data=b'{"model": "m"}', headers=headers)
    assert status == 400
    assert "the body is no gzip" in json.dumps(json.loads(text))


def test_a_client_that_leaves_is_no_fault(caplog):
    """Whoever writes to it is told so by the connection."""

    async def run():
        left = asyncio.Event()

        async def gone(_request):
            raise ConnectionResetError

        async def begun(request):
            StreamedHttpResponse().begin(request)
            left.set()
            raise ConnectionResetError

        router = UrlRouter()
        router.add("GET", "/gone", gone)
        router.add("GET", "/begun", begun)
        async with routed(router) as url, aiohttp.ClientSession(url) as session:
            async with session.get("/gone") as reply:
                assert reply.status == 500, "nothing was written, so it was another connection"
            caplog.clear()
            with pytest.raises(aiohttp.ClientError):
                async with session.get("/begun") as reply:
                    await reply.read()
            await left.wait()

    asyncio.run(run())
    assert not [each for each in caplog.records if each.name == "toolglot"]


# --- names of models ------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["../../files", "a/../b", ".", "x/.."])
def test_a_models_name_does_not_climb(model):
    status, _, text = ask("POST", "/v1/messages", json={**HELLO, "model": model})
    assert status == 400
    assert "name of a model" in text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", {**HELLO, "model": "a?b#c%d"}),
        ("/v1beta/models/a%3Fb%23c%25d:generateContent", SPEAKING["/v1/models/m:generateContent"]),
    ],
)
def test_a_models_name_stays_in_its_place_of_the_path(path, body):
    seen = []

    async def answers(request):
        seen.append(request.rel_url.raw_path)
        return web.json_response({"candidates": []})

    async def run():
        async with (
            upstream(answers) as url,
            gateway({"g": provider("gemini", url)}) as session,
            session.post(URL(path, encoded=True), json=body) as reply,
        ):
            await reply.read()

    asyncio.run(run())
    assert seen == ["/v1beta/models/a%3Fb%23c%25d:generateContent"]
