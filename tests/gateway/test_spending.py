"""A key with a limit, and clients who try to spend more."""

import asyncio
import json
import time
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from tests.gateway.exchanges import ANSWER, asked, streamed
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.gateway.access.virtual_keys import Budget
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key
from toolglot.gateway.storage.sqlite_ledger import read_usage
from toolglot.registry import get_protocol
from toolglot.translate import encode_response

LIMIT = 60
TOKENS = 19
"""What an answer counts."""
MOST = -(-LIMIT // TOKENS)


def model_of(protocol, reached, *, usage=True, hangs=None, arrived=None):
    """A provider that counts only if it is asked, as Chat does; `hangs` stops before the end."""

    async def handle(request):
        body = await request.json()
        reached.append(body)
        if arrived is not None:
            arrived.put_nowait(body)
        surface = get_protocol(protocol).SURFACE
        if not (body.get("stream") or "stream" in request.path):
            if hangs is not None:
                await hangs.wait()
            answer = encode_response(ANSWER, target=protocol).body
            return web.json_response(answer if usage else {**answer, "usage": None})
        response = web.StreamResponse(headers={"Content-Type": surface.stream.media_type})
        await response.prepare(request)
        told = usage and (body.get("stream_options") or {}).get("include_usage")
        pieces = streamed(protocol)
        if protocol == "openai-chat":
            *content, last = b"".join(pieces).split(b"\n\n")[:-1]
            told_ = [each for each in content if b'"choices":[]' in each]
            assert told_, "the encoder writes usage at the end"
            content = [each for each in content if told or each not in told_]
            pieces = [each + b"\n\n" for each in (*content, last)]
        for index, piece in enumerate(pieces):
            if hangs is not None and index == len(pieces) - 2:
                await hangs.wait()
            await response.write(piece)
        return response

    return handle


@asynccontextmanager
async def limited(folder, protocol, *, terms=None, **how):
    """A gateway, a key with a limit, and what reaches the provider."""
    file, reached = folder / "it.db", []
    with database(file) as db:
        terms = terms or {"budget": Budget(LIMIT)}
        token = create_key(db, "spender", time.time(), **terms)[0]
    async with (
        upstream(model_of(protocol, reached, **how)) as url,
        gateway(
            {"them": provider(protocol, url)}, [to("them/*")], keys=True, database=str(file)
        ) as session,
    ):
        session.headers["Authorization"] = f"Bearer {token}"
        session.headers["x-api-key"] = token
        yield session, reached


def spend(folder, protocol, use, **how):
    async def run():
        async with limited(folder, protocol, **how) as (session, reached):
            found = await use(session)
        return found, reached

    return asyncio.run(run())


async def once(session, protocol, **more):
    wire = asked(protocol, **more)
    async with session.post(wire["path"], data=wire["data"], params=wire["params"]) as reply:
        await reply.read()
        return reply.status


def one_after_the_other(protocol, count, **more):
    async def use(session):
        return [await once(session, protocol, **more) for _ in range(count)]

    return use


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["openai-chat", "anthropic"])
@pytest.mark.parametrize("server", ["openai-chat", "anthropic"])
def test_plain_use_ends_with_the_budget(tmp_path, client, server, stream):
    statuses, reached = spend(tmp_path, server, one_after_the_other(client, 8, stream=stream))
    assert statuses == [200] * MOST + [429] * (8 - MOST)
    assert len(reached) == MOST


def test_a_stream_without_usage_is_asked_for_it_and_the_client_is_not_shown_it(tmp_path):
    async def use(session):
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}
        texts = []
        for options in (None, {"include_usage": False}, {"include_usage": True}):
            more = {} if options is None else {"stream_options": options}
            async with session.post("/v1/chat/completions", json={**body, **more}) as reply:
                texts.append((await reply.text(), reply.headers.get("x-toolglot-receipt", "")))
        return texts

    texts, reached = spend(tmp_path, "openai-chat", use)
    assert [each["stream_options"] for each in reached] == [{"include_usage": True}] * 3
    assert ['"choices":[]' in text for text, _ in texts] == [False, False, True]
    assert ["default-added" in receipt for _, receipt in texts] == [True, True, False]
    for text, _ in texts:
        assert "North by north-west." in text
        assert text.endswith("data: [DONE]\n\n")
    with database(tmp_path / "it.db") as db:
        (used,) = read_usage(db, "key")
    assert (used.requests, used.input, used.output) == (3, 36, 21)


@pytest.mark.parametrize("stream", [False, True])
def test_a_provider_that_does_not_count_is_counted(tmp_path, stream):
    use = one_after_the_other("openai-chat", 12, stream=stream)
    statuses, reached = spend(tmp_path, "openai-chat", use, usage=False)
    assert 200 in statuses
    assert statuses[-1] == 429
    assert len(reached) <= 2 * MOST


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic"])
def test_a_client_that_leaves_before_the_end_pays(tmp_path, protocol, stream):
    async def leave(session, arrived):
        """The status, or None if the client left when its request had arrived."""
        wire = asked(protocol, stream=stream)
        call = asyncio.create_task(session.post(wire["path"], data=wire["data"]).__aenter__())
        came = asyncio.create_task(arrived.get())
        await asyncio.wait((call, came), return_when=asyncio.FIRST_COMPLETED)
        if came.done() and stream:
            await (await call).content.readany()
        came.cancel()
        if call.done():
            call.result().close()
            return call.result().status
        call.cancel()
        return None

    async def run():
        hangs, arrived = asyncio.Event(), asyncio.Queue()
        how = {"hangs": hangs, "arrived": arrived}
        async with limited(tmp_path, protocol, **how) as (session, reached):
            for _ in range(100):
                if await leave(session, arrived) == 429:
                    await asyncio.sleep(0.02)  # The one before may not have been noticed yet.
                if len(reached) > 2 * MOST:
                    break
            hangs.set()
            return len(reached)

    # A part of an answer is estimated, so it may be a few more than whole ones.
    assert 1 <= asyncio.run(run()) <= 2 * MOST


@pytest.mark.parametrize("terms", [{"budget": Budget(LIMIT)}, {"tpm": LIMIT}])
@pytest.mark.parametrize("stream", [False, True])
def test_sixty_at_once_use_no_more_than_the_limit(tmp_path, terms, stream):
    async def use(session):
        return await asyncio.gather(
            *(once(session, "openai-chat", stream=stream) for _ in range(60))
        )

    statuses, reached = spend(tmp_path, "openai-chat", use, terms=terms)
    assert set(statuses) == {200, 429}
    assert 1 <= len(reached) <= MOST


def test_a_budget_that_was_used_up_before_a_restart_lets_nobody_in(tmp_path):
    spend(tmp_path, "openai-chat", one_after_the_other("openai-chat", MOST))

    async def again():
        file, reached = tmp_path / "it.db", []
        async with (
            upstream(model_of("openai-chat", reached)) as url,
            gateway(
                {"them": provider("openai-chat", url)}, [to("them/*")], keys=True,
                database=str(file),
            ) as session,
        ):  # fmt: skip
            session.headers["Authorization"] = tokens["spender"]
            return await asyncio.gather(*(once(session, "openai-chat") for _ in range(20))), reached

    tokens = {}
    with database(tmp_path / "it.db") as db:
        # The token is stored as a hash, so the same key gets a new one.
        token, _ = create_key(db, "other", time.time())
        (new,) = db.execute("SELECT hash FROM keys WHERE name = 'other'").fetchone()
        db.execute("DELETE FROM keys WHERE name = 'other'")
        db.execute("UPDATE keys SET hash = ? WHERE name = 'spender'", (new,))
    tokens["spender"] = f"Bearer {token}"
    statuses, reached = asyncio.run(again())
    assert set(statuses) == {429}
    assert reached == []


@pytest.mark.parametrize("path", ["/toolglot/translate", "/v1/messages/count_tokens"])
def test_what_asks_no_model_counts_as_a_request(tmp_path, path):
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    question = {"protocol": "anthropic", "body": body} if "translate" in path else body

    async def use(session):
        found = []
        for _ in range(5):
            async with session.post(path, json=question) as reply:
                found.append(reply.status)
                await reply.read()
        return found

    statuses, _ = spend(tmp_path, "openai-chat", use, terms={"rpm": 3})
    assert statuses == [200] * 3 + [429] * 2


def test_what_is_reserved_comes_back(tmp_path):
    """Requests that fail, are refused or are complete leave nothing reserved."""

    async def use(session):
        found = []
        for body in ({"model": "m"}, {"model": "m", "messages": "no"}, {"model": ""}):
            async with session.post("/v1/messages", data=json.dumps(body)) as reply:
                found.append(reply.status)
        found.append(await once(session, "openai-chat"))
        return found

    statuses, _ = spend(tmp_path, "openai-chat", use, terms={"budget": Budget(100)})
    assert statuses == [400, 400, 400, 200]
