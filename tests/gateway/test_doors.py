"""Every door of the gateway, and who comes through it: all routes of the router, whatever they are.

A new route is tried here without a line for it; one that nobody needs a key for must be named.
"""

import asyncio
import json
import re
import time
from contextlib import asynccontextmanager

import pytest
from tests.gateway.exchanges import NAMES, asked, scripted
from tests.gateway.running import gateway, provider, to, upstream
from tests.http1.raw import body_of

from toolglot.gateway.app import App
from toolglot.gateway.config import Config, Inspector
from toolglot.gateway.routes.route import ModelRoute
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key, revoke_key
from toolglot.gateway.storage.sqlite_ledger import read_usage

OPEN = {
    *(("GET", "/"), ("GET", "/health"), ("GET", "/api/version")),
    *(("GET", "/toolglot"), ("GET", "/toolglot/"), ("GET", "/toolglot/page/app.js")),
}
"""What anyone may ask: whether it lives, and the files of a page that has no contents."""
PLACES = {
    "event": "0",
    "form": "curl",
    "id": "some_id",
    "item": "some_item",
    "model": "cheap-1",
    "call": "cheap-1:generateContent",
    "name": "app.js",
    "number": "1",
    "side": "client",
    "version": "v1beta",
}
HEADERS = ("Authorization: Bearer ", "x-api-key: ", "x-goog-api-key: ", "api-key: ")


def filled(path):
    """A path with something in its places; a model that must have a slash in its name has one."""
    made = re.sub(r"\{(\w+)(?::[^{}]+)?\}", lambda place: PLACES[place[1]], path)
    return made.replace("cheap-1:", "them/cheap-1:") if "[^/]+/.+" in path else made


async def routes():
    """Methods and paths of all routes."""
    app = App(Config())
    async with app.running():
        return [(each.method, filled(each.path), each) for each in app.routes]


ROUTES = asyncio.run(routes())
GUARDED = [
    (method, variant)
    for method, path, _ in ROUTES
    if (method, path) not in OPEN
    for variant in dict.fromkeys((path, re.sub("^/v1/", "/", path)))
]
MODELS = [path for _, path, route in ROUTES if isinstance(route, ModelRoute)]


@asynccontextmanager
async def guarded(folder, protocol="openai-chat", **server):
    """A gateway with keys, what its provider was asked, and the keys by what they are."""
    now, file = time.time(), folder / "it.db"
    with database(file) as db:
        tokens = {
            "alice": create_key(db, "alice", now, inspect=True)[0],
            "bob": create_key(db, "bob", now)[0],
            "cheap": create_key(db, "cheap", now, models=("cheap-*",))[0],
            "expired": create_key(db, "expired", now - 9, expires=now - 1)[0],
            "revoked": create_key(db, "revoked", now)[0],
        }
        revoke_key(db, "revoked", now)
    seen = []
    async with (
        upstream(scripted(protocol, seen)) as url,
        gateway(
            {"them": provider(protocol, url, models=("cheap-1", "dear-1"), api_key="sk-theirs")},
            [to("them/*")],
            keys=True,
            database=str(file),
            inspector=Inspector(enabled=True),
            **server,
        ) as session,
    ):
        yield session, tokens, seen


def talk(folder, use, **server):
    async def run():
        async with guarded(folder, **server) as (session, tokens, seen):
            port = session._base_url.port

            async def ask(method, path, *lines, body=b"", length=None, upgrade=False):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    size = len(body) if length is None else length
                    more = () if upgrade or length is not None else ("Connection: close",)
                    head = (f"{method} {path} HTTP/1.1", "Host: localhost", *lines, *more)
                    writer.write("\r\n".join((*head, f"Content-Length: {size}", "", "")).encode())
                    writer.write(body)
                    async with asyncio.timeout(5):
                        return await (reader.readuntil(b"\r\n\r\n") if upgrade else reader.read())
                finally:
                    writer.close()

            return await use(ask, tokens, seen)

    return asyncio.run(run())


def status_of(answer):
    return int(answer.split(b" ", 2)[1])


def test_only_these_doors_are_open():
    found = {(m, path) for m, path, route in ROUTES if getattr(route, "auth", "key") == "none"}
    assert found == OPEN


def test_nobody_without_a_valid_key_comes_in_anywhere(tmp_path):
    async def use(ask, tokens, seen):
        wrong = {
            "none": "",
            "wrong": "tg-" + "x" * 40,
            "almost": tokens["alice"][:-1],
            "longer": tokens["alice"] + "x",
            "a provider's": "sk-theirs",
            "expired": tokens["expired"],
            "revoked": tokens["revoked"],
        }
        for method, path in GUARDED:
            for kind, token in wrong.items():
                lines = [f"Authorization: Bearer {token}"] if token else []
                # A body of a megabyte is announced and does not come: nobody waits for it.
                answer = await ask(method, path, *lines, length=2**20)
                assert status_of(answer) == 401, (method, path, kind)
                assert b"Connection: close" in answer
                assert b"toolglot keys create" in answer
                assert token.encode() not in answer or not token
        for method, path in OPEN:
            assert status_of(await ask(method, path)) == 200
        return seen

    assert talk(tmp_path, use) == []
    with database(tmp_path / "it.db") as db:
        assert read_usage(db, "key") == (), "strangers leave no row"


@pytest.mark.parametrize("header", HEADERS)
def test_a_valid_key_comes_in_wherever_it_is_sent(tmp_path, header):
    async def use(ask, tokens, _seen):
        for method, path in GUARDED:
            endless = path.endswith("/events")  # Of its answer only the head is waited for.
            answer = await ask(method, path, header + tokens["alice"], upgrade=endless)
            assert status_of(answer) not in (401, 403), (method, path)

    talk(tmp_path, use)


def test_a_websocket_is_not_opened_without_a_key(tmp_path):
    upgrade = (
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    )  # fmt: skip

    async def use(ask, tokens, _seen):
        found = []
        for token in (None, "tg-wrong", tokens["revoked"], tokens["expired"], tokens["alice"]):
            lines = [f"Authorization: Bearer {token}"] if token else []
            found.append(
                status_of(await ask("GET", "/v1/responses", *upgrade, *lines, upgrade=True))
            )
        return found

    assert talk(tmp_path, use) == [401, 401, 401, 401, 101]


# --- a key for some models ------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", NAMES)
def test_a_key_for_some_models_asks_no_others(tmp_path, protocol):
    async def use(ask, tokens, seen):
        found = []
        for model in ("cheap-1", "dear-1", "them/dear-1", "CHEAP-1", "cheap-1\x00", "x" * 300):
            wire = asked(protocol, model=model)
            path = wire["path"].replace("\x00", "%00")
            bearer = f"Authorization: Bearer {tokens['cheap']}"
            found.append(status_of(await ask("POST", path, bearer, body=wire["data"])))
        return found, len(seen)

    (first, *others), reached = talk(tmp_path, use)
    assert first == 200
    assert set(others) <= {400, 403, 404}
    assert reached == 1


TWICE = [
    '{"model":"dear-1","messages":[],"model":"cheap-1"}',
    '{"model":"cheap-1","messages":[],"model":"dear-1"}',
    '{"model":"cheap-1","Model":"dear-1","messages":[]}',
    '{"MODEL":"dear-1","model":"cheap-1","messages":[]}',
    '{"mod\\u0065l":"dear-1","model":"cheap-1","messages":[]}',
    '{"model":"cheap-1","\\u004dodel":"dear-1","messages":[]}',
]


@pytest.mark.parametrize("body", TWICE)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/api/chat"])
def test_a_model_that_is_named_twice_is_refused(tmp_path, body, path):
    async def use(ask, tokens, seen):
        bearer = f"Authorization: Bearer {tokens['cheap']}"
        answer = await ask("POST", path, bearer, body=body.encode())
        return status_of(answer), seen

    status, seen = talk(tmp_path, use)
    assert status in (400, 403)
    assert seen == []


def test_the_word_may_stand_elsewhere_in_a_request(tmp_path):
    body = {
        "model": "cheap-1",
        "messages": [{"role": "user", "content": 'say "model": \u00e9'}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {
            "type": "object", "properties": {"model": {"type": "string"}}}}}],
    }  # fmt: skip

    async def use(ask, tokens, _seen):
        bearer = f"Authorization: Bearer {tokens['cheap']}"
        return status_of(
            await ask("POST", "/v1/chat/completions", bearer, body=json.dumps(body).encode())
        )

    assert talk(tmp_path, use) == 200


def test_lists_show_what_the_key_may_use(tmp_path):
    async def use(ask, tokens, _seen):
        found = {}
        for who in ("alice", "cheap"):
            bearer = f"Authorization: Bearer {tokens[who]}"
            for path in ("/v1/models", "/v1beta/models", "/api/tags"):
                found[who, path] = b"dear-1" in await ask("GET", path, bearer)
            for path in ("/v1/models/dear-1", "/v1beta/models/dear-1"):
                found[who, path] = status_of(await ask("GET", path, bearer)) == 200
            shown = await ask("POST", "/api/show", bearer, body=b'{"model":"dear-1"}')
            found[who, "show"] = status_of(shown) == 200
        return found

    assert all(seen == (who == "alice") for (who, _), seen in talk(tmp_path, use).items())


def test_a_dry_run_is_for_models_of_the_key_and_shows_no_password(tmp_path):
    async def use(ask, tokens, _seen):
        found = []
        for who, model in (("cheap", "dear-1"), ("cheap", "cheap-1")):
            question = {"protocol": "openai-chat", "body": {"model": model, "messages": []}}
            bearer = f"Authorization: Bearer {tokens[who]}"
            body = json.dumps(question).encode()
            found.append(await ask("POST", "/toolglot/translate", bearer, body=body))
        return found

    refused, shown = talk(tmp_path, use)
    assert (status_of(refused), status_of(shown)) == (403, 200)

    async def with_password():
        place = provider("openai-chat", "http://user:hunter2@127.0.0.1:9")
        async with gateway({"them": place}) as session:
            question = {"protocol": "anthropic", "body": {
                "model": "m", "max_tokens": 9, "messages": []}}  # fmt: skip
            async with session.post("/toolglot/translate", json=question) as reply:
                first = await reply.text()
            asked_ = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
            async with session.post("/v1/messages", json=asked_) as reply:
                return first, await reply.text()

    for text in asyncio.run(with_password()):
        assert "hunter2" not in text
        assert "127.0.0.1:9" in text


# --- what others have stored ----------------------------------------------------------------------


def test_nobody_finds_what_belongs_to_another(tmp_path):
    """Every route with an id in its path, with the ids of another's things in it."""

    async def use(ask, tokens, _seen):
        alice, bob = (f"Authorization: Bearer {tokens[who]}" for who in ("alice", "bob"))
        request = json.dumps({"model": "cheap-1", "input": "Which way?"}).encode()
        made = json.loads(body_of(await ask("POST", "/v1/responses", alice, body=request)))
        items = b'{"items":[{"type":"message","role":"user","content":"mine"}]}'
        talked = json.loads(body_of(await ask("POST", "/v1/conversations", alice, body=items)))
        receipt = await ask(
            "POST", "/v1/responses", alice, "x-request-id: req_alices", body=request
        )
        assert status_of(receipt) == 200
        listed = await ask("GET", f"/v1/conversations/{talked['id']}/items", alice)
        item = json.loads(body_of(listed))["data"][0]["id"]
        found = {}
        for method, path, route in ROUTES:
            if "{id" not in route.path:
                continue
            kind = path.split("/")[2]
            mine = {"responses": made["id"], "conversations": talked["id"]}.get(kind, "req_alices")
            there = path.replace("some_id", mine).replace("some_item", item)
            body = {"POST": items}.get(method, b"")
            found[method, path] = status_of(await ask(method, there, bob, body=body))
        for key, value in ((("previous_response_id"), made["id"]), ("conversation", talked["id"])):
            more = json.dumps({"model": "cheap-1", "input": "And?", key: value}).encode()
            found[key] = status_of(await ask("POST", "/v1/responses", bob, body=more))
        assert status_of(await ask("GET", f"/v1/responses/{made['id']}", alice)) == 200
        assert status_of(await ask("GET", f"/v1/conversations/{talked['id']}", alice)) == 200
        assert status_of(await ask("GET", "/toolglot/receipts/req_alices", alice)) == 200
        return found

    found = talk(tmp_path, use)
    assert len(found) >= 13
    assert set(found.values()) <= {400, 404}, found


def test_a_long_name_is_refused_and_kept_nowhere(tmp_path, caplog):
    long = "m" * 100_000

    async def use(ask, tokens, seen):
        bearer = f"Authorization: Bearer {tokens['alice']}"
        found = []
        for path in ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat"):
            body = json.dumps({"model": long, "messages": [], "max_tokens": 1}).encode()
            found += [
                await ask("POST", path, body=body),
                await ask("POST", path, bearer, body=body),
            ]
        return [status_of(each) for each in found], max(map(len, found)), seen

    statuses, size, seen = talk(tmp_path, use)
    assert statuses == [401, 400] * 4
    assert size < 1000
    assert seen == []
    assert long[:300] not in caplog.text
    assert (tmp_path / "it.db").stat().st_size < 200_000
