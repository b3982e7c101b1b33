"""Tables of routes: who may ask, and what happens to what goes wrong."""

import asyncio

import aiohttp
import pytest
from tests.gateway.handling import routed

from toolglot.errors import DecodeError
from toolglot.gateway import error_responses as errors
from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.config import Server
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.routes.admission import Admission
from toolglot.gateway.routes.route import ModelRoute, Route, add_routes
from toolglot.gateway.storage.backends import open_storage
from toolglot.gateway.telemetry.request_telemetry import Telemetry
from toolglot.http1.url_router import UrlRouter


async def good(request):
    return json_response({"read": len(request.body)})


async def unreadable(_request):
    raise DecodeError("limit", "expected a number")


async def unknown(_request):
    raise RequestRejectedError(errors.missing_item("it is not there"))


def ask(routes, method, path, server=None, **more):
    async def run():
        router, server_ = UrlRouter(), server or Server()
        storage, telemetry = open_storage(server_), Telemetry()
        access = AccessControl(storage.keys, storage.ledger)
        add_routes(router, Admission(access, telemetry), routes)
        async with (
            routed(router, body_size=100) as url,
            aiohttp.ClientSession(url) as session,
            session.request(method, path, **more) as reply,
        ):
            result = reply.status, await reply.json()
        await storage.close()
        return *result, telemetry.metrics

    return asyncio.run(run())


@pytest.mark.parametrize("version", ["", "/v1"])
@pytest.mark.parametrize(
    ("path", "size", "status", "words"),
    [
        ("good", 9, 200, "9"),
        ("unreadable", 1, 400, "limit: expected a number"),
        ("unknown", 1, 404, "it is not there"),
        ("good", 200, 413, "more than 100 bytes"),
    ],
)
def test_what_is_rejected_is_told_in_the_protocol(version, path, size, status, words):
    routes = [Route("POST", f"/v1/{each.__name__}", each) for each in (good, unreadable, unknown)]
    got, body, _ = ask(routes, "POST", f"{version}/{path}", data=b"x" * size)
    assert got == status
    assert words in str(body)
    assert ("error" in body) is (status != 200)


@pytest.mark.parametrize("auth", ["key", "none"])
def test_the_table_says_who_may_ask(auth, tmp_path):
    server = Server(keys=True, database=str(tmp_path / "d.sqlite"))
    status, body, _ = ask([Route("GET", "/x", good, auth=auth)], "GET", "/x", server)
    assert status == (401 if auth == "key" else 200)
    assert ("toolglot keys create" in str(body)) is (auth == "key")


def test_only_paths_with_a_version_have_a_second_name():
    routes = [Route("GET", "/v1beta/x", good), Route("GET", "/v1/y", good)]
    assert ask(routes, "GET", "/beta/x")[0] == 404
    assert ask(routes, "GET", "/x")[0] == 404
    assert ask(routes, "GET", "/y")[0] == 200


ASKED = {"model": "m", "messages": []}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/chat/completions"])
def test_a_model_is_asked_at_the_full_path(path):
    async def answer(request, _writer, telemetry):
        telemetry.client_response(200, {})
        return json_response({"path": request.path, "model": request.model})

    routes = [ModelRoute("/v1/chat/completions", "openai-chat", answer)]
    status, body, metrics = ask(routes, "POST", path, json=ASKED)
    assert (status, body) == (200, {"path": "/v1/chat/completions", "model": "m"})
    assert 'status="200"' in metrics.text()


@pytest.mark.parametrize(
    ("problem", "status", "words"),
    [
        (DecodeError("a", "expected b"), 400, "a: expected b"),
        (RequestRejectedError(errors.not_found("no such thing")), 404, "no such thing"),
        (ValueError("a secret"), 500, "toolglot itself failed"),
    ],
)
def test_whatever_goes_wrong_is_counted_and_told(problem, status, words):
    async def fails(_request, _writer, _telemetry):
        raise problem

    routes = [ModelRoute("/v1/messages", "anthropic", fails)]
    got, body, metrics = ask(routes, "POST", "/v1/messages", json=ASKED)
    assert got == status
    assert body["type"] == "error"
    assert words in body["error"]["message"]
    assert f'status="{status}"' in metrics.text()
    assert 'toolglot_open_requests{client="anthropic",worker="0"} 0' in metrics.text()
