"""Requests under the name of a provider."""

import asyncio
import time

import pytest
from aiohttp import FormData, web
from tests.gateway.running import gateway, provider, upstream
from yarl import URL

from toolglot.gateway.access.virtual_keys import Budget
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key

KEY = "sk-secret-key-123"


def ask(method, path, *, handler=None, server=None, headers=None, data=None, **config):
    """The status, the headers, the body, and what arrived."""
    seen = []

    async def echo(request):
        seen.append((request.method, request.path_qs, request.headers.copy(), await request.read()))
        if handler is not None:
            return await handler(request)
        more = {"X-Secret": "s", "x-ratelimit-remaining": "3"}
        return web.Response(body=b"\x00bytes\xff", content_type="audio/mpeg", headers=more)

    async def run():
        async with (
            upstream(echo) as one,
            gateway(
                {"openai": provider("openai-chat", one, api_key=KEY, **config)}, **server or {}
            ) as session,
            session.request(method, path, headers=headers, data=data) as reply,
        ):
            return reply.status, reply.headers.copy(), await reply.read()

    return *asyncio.run(run()), seen


def test_bytes_pass():
    form = FormData()
    form.add_field("file", b"\x00\x01", filename="a.bin")
    given = {"Authorization": "Bearer client", "OpenAI-Beta": "x=1", "Cookie": "c"}
    path = "/openai/v1/files?purpose=batch&key=mine"
    status, headers, body, seen = ask("POST", path, headers=given, data=form)
    [(method, asked, got, sent)] = seen
    assert (status, body) == (200, b"\x00bytes\xff")
    assert headers["Content-Type"] == "audio/mpeg"
    assert headers["x-ratelimit-remaining"] == "3"
    assert headers["x-toolglot-provider"] == "openai"
    assert "X-Secret" not in headers
    assert (method, asked) == ("POST", "/v1/files?purpose=batch")
    assert got["Authorization"] == f"Bearer {KEY}"
    assert got["OpenAI-Beta"] == "x=1"
    assert got["Content-Type"].startswith("multipart/form-data; boundary=")
    assert "Cookie" not in got
    assert b"\x00\x01" in sent


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/openai/v1/files/file-1/content", "/v1/files/file-1/content"),
        ("/openai/files/file-1", "/v1/files/file-1"),
        ("/openai/upload/v1/files", "/upload/v1/files"),
        ("/openai/v1/chat/completions", "/v1/chat/completions"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_addresses(method, path, asked):
    status, _, _, seen = ask(method, path)
    assert status == 200
    assert [each[:2] for each in seen] == [(method, asked)]


@pytest.mark.parametrize(
    "path",
    ["/openai/v1/%2e%2e/admin", "/openai/v1/..%2fadmin", "/openai/%2E/admin", "/openai/a\\b"],
)
def test_no_path_climbs(path):
    status, _, body, seen = ask("GET", URL(path, encoded=True))
    assert (status, seen) == (400, [])
    assert b"cannot be asked of openai" in body


@pytest.mark.parametrize(
    ("path", "status"), [("/other/v1/files", 404), ("/openai", 404), ("/v1/files", 404)]
)
def test_other_paths_are_unknown_as_ever(path, status):
    got, _, body, seen = ask("GET", path)
    assert (got, seen) == (status, [])
    if path == "/v1/files":
        assert b"/PROVIDER/v1/files" in body


def test_a_method_that_is_wrong_is_no_reason_to_pass():
    got, _, _, seen = ask("GET", "/v1/messages")
    assert (got, seen) == (405, [])


def test_errors_pass_without_our_key():
    async def refused(_):
        return web.json_response({"error": {"message": f"bad key {KEY}"}}, status=401)

    status, _, body, _ = ask("GET", "/openai/v1/files", handler=refused)
    assert status == 401
    assert b"bad key" in body
    assert KEY.encode() not in body


def test_redirects_are_not_followed():
    async def elsewhere(_):
        raise web.HTTPFound("http://127.0.0.1:9/secret")

    status, *_ = ask("GET", "/openai/v1/files", handler=elsewhere)
    assert status == 502


def test_a_server_that_is_away():
    async def run():
        async with (
            gateway({"a": provider("openai-chat", "http://127.0.0.1:9")}) as session,
            session.get("/a/v1/files") as reply,
        ):
            return reply.status, await reply.json()

    status, told = asyncio.run(run())
    assert status == 502
    assert "a" in told["error"]["message"]


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "opened", "status"),
    [
        ({}, None, 403),
        ({}, True, 200),
        ({"models": ("gpt-*",)}, True, 403),
        ({"budget": Budget(1000)}, True, 403),
        ({"tpm": 1000}, True, 403),
        ({"rpm": 1}, True, 200),
    ],
)
def test_keys_that_are_limited_do_not_pass(tmp_path, limits, opened, status):
    """What is used there is not known, so that it could not be charged."""
    file = tmp_path / "it.db"
    with database(file) as store:
        token, _ = create_key(store, "it", time.time(), **limits)
    server = {"keys": True, "database": str(file)}
    config = {} if opened is None else {"pass_through": opened}
    given = {"Authorization": f"Bearer {token}"}
    got, _, _, seen = ask("GET", "/openai/v1/files", server=server, headers=given, **config)
    assert got == status
    if status == 200:
        assert seen[0][2]["Authorization"] == f"Bearer {KEY}"
    got, _, _, seen = ask("GET", "/openai/v1/files", server=server, **config)
    assert (got, seen) == (401, [])
