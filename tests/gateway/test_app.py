"""Paths, keys and errors of the server."""

import asyncio

import pytest
from tests.gateway.running import gateway, provider

SHAPES = {
    "/v1/messages": lambda body: body["type"] == "error" and body["error"]["type"],
    "/v1/chat/completions": lambda body: body["error"]["type"],
    "/v1/responses": lambda body: body["error"]["type"],
    "/v1beta/models/x:generateContent": lambda body: body["error"]["status"],
    "/v1/models/x:generateContent": lambda body: body["error"]["status"],
    "/api/chat": lambda body: isinstance(body["error"], str),
}


def call(method, path, **more):
    async def run():
        providers = {"a": provider("anthropic", "http://127.0.0.1:9")}
        async with (
            gateway(providers, max_body=1000) as session,
            session.request(method, path, **more) as reply,
        ):
            return reply.status, await reply.json()

    return asyncio.run(run())


@pytest.mark.parametrize("path", SHAPES)
def test_what_is_no_json_is_refused_in_the_callers_shape(path):
    status, body = call("POST", path, data=b"{nope")
    assert status == 400
    assert SHAPES[path](body)


@pytest.mark.parametrize("path", SHAPES)
def test_what_is_too_large_is_refused_in_the_callers_shape(path):
    status, body = call("POST", path, data=b"{" + b" " * 2000 + b"}")
    assert status in (400, 413)
    assert SHAPES[path](body)
    assert "1000 bytes" in str(body)


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/chat/completions"])
def test_a_request_without_a_model_is_refused(path):
    status, body = call("POST", path, json={"messages": []})
    assert status == 400
    assert "model" in body["error"]["message"]


def test_unknown_paths_are_told_in_the_shape_of_whoever_asks():
    assert call("GET", "/nowhere")[0] == 404
    assert call("GET", "/v1/messages/x")[1]["type"] == "error"
    headers = {"x-goog-api-key": "k"}
    assert call("GET", "/nowhere", headers=headers)[1]["error"]["status"] == "NOT_FOUND"
    assert isinstance(call("GET", "/api/nowhere")[1]["error"], str)


def test_health():
    assert call("GET", "/health")[1]["status"] == "ok"
    assert call("GET", "/ready") == (200, {"status": "ready", "resting": []})
