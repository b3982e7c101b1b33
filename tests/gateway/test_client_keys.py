"""Whose key goes where: clients' own keys, keys of the gateway, and what belongs to an account."""

import asyncio
import time
from contextlib import AsyncExitStack

import pytest
from aiohttp import web
from tests.gateway.exchanges import ANSWER, asked, scripted
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key
from toolglot.translate import encode_response

OWN = {"Authorization": "Bearer sk-the-clients-own-key"}


def refusing(seen, status):
    async def handle(request):
        seen.append(request.headers.get("Authorization"))
        if status >= 400:
            return web.json_response({"error": {"message": "no"}}, status=status)
        return web.json_response(encode_response(ANSWER, target="openai-chat").body)

    return handle


def ask_route(folder, keys, statuses, headers, api_keys, **route):
    """The status, and what each provider of a route saw."""

    async def run():
        seen = [[] for _ in statuses]
        async with AsyncExitStack() as stack:
            providers = {}
            for index, (status, key) in enumerate(zip(statuses, api_keys, strict=True)):
                url = await stack.enter_async_context(upstream(refusing(seen[index], status)))
                providers[f"p{index}"] = provider("openai-chat", url, api_key=key)
            targets = [f"{name}/*" for name in providers]
            more = {"keys": True, "database": str(folder / "it.db")} if keys else {}
            session = await stack.enter_async_context(
                gateway(providers, [to(*targets, **route)], **more)
            )
            wire = asked("openai-chat")
            async with session.post(wire["path"], data=wire["data"], headers=headers) as reply:
                return reply.status, seen, await reply.text()

    return asyncio.run(run())


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
@pytest.mark.parametrize("pick", ["first", "weighted", "least-busy", "affinity"])
def test_a_clients_key_goes_to_one_provider(tmp_path, status, pick):
    got, (first, second, third), _ = ask_route(
        tmp_path, False, (status, 200, 200), OWN, ("client", "client", "sk-ours"), pick=pick
    )
    assert got == 200, "a provider with a key of ours may answer"
    assert set(first) <= {OWN["Authorization"]}
    assert second == []
    assert third == ["Bearer sk-ours"]


def token(folder):
    with database(folder / "it.db") as db:
        return create_key(db, "team", time.time())[0]


def test_a_key_of_the_gateway_goes_to_nobody(tmp_path):
    bearer = {"Authorization": f"Bearer {token(tmp_path)}"}
    status, (seen,), text = ask_route(tmp_path, True, (200,), bearer, ("client",))
    assert (status, seen) == (401, [])
    assert "x-toolglot-provider-key" in text
    status, seen, _ = ask_route(tmp_path, True, (200, 200), bearer, ("client", "sk-ours"))
    assert (status, seen) == (200, [[], ["Bearer sk-ours"]])


def test_nor_where_no_keys_are_asked_for(tmp_path):
    bearer = {"Authorization": "Bearer tg-of-another-gateway-perhaps"}
    _, (seen,), _ = ask_route(tmp_path, False, (200,), bearer, ("client",))
    assert seen == [None]


def test_a_client_may_have_both(tmp_path):
    headers = {
        "Authorization": f"Bearer {token(tmp_path)}", "x-toolglot-provider-key": "sk-mine",
    }  # fmt: skip
    status, (seen,), _ = ask_route(tmp_path, True, (200,), headers, ("client",))
    assert (status, seen) == (200, ["Bearer sk-mine"])


ACCOUNT = {"OpenAI-Organization": "org-x", "OpenAI-Project": "proj-x", "OpenAI-Beta": "b"}


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("protocol", ["openai-chat", "openai-responses"])
def test_only_whoever_has_the_key_chooses_the_account(protocol, own):
    async def run():
        seen = []
        async with (
            upstream(scripted(protocol, seen)) as url,
            gateway(
                {"them": provider(protocol, url, api_key="client" if own else "sk-ours")},
                [to("them/*")],
            ) as session,
        ):
            wire = asked(protocol)
            async with session.post(
                f"{wire['path']}?api-version=2020-01-01", data=wire["data"],
                headers={**OWN, **ACCOUNT, "x-request-id": "r1"},
            ) as reply:  # fmt: skip
                assert reply.status == 200
                await reply.read()
            async with session.get("/toolglot/receipts/r1") as reply:
                notes = (await reply.json())["notes"]
        return seen[0][0], {note["path"] for note in notes}

    request, notes = asyncio.run(run())
    chosen = {"headers.openai-organization", "headers.openai-project", "query.api-version"}
    assert request.headers["OpenAI-Beta"] == "b"
    assert ("OpenAI-Organization" in request.headers) is own
    assert ("OpenAI-Project" in request.headers) is own
    assert ("api-version" in request.query) is own
    assert notes & chosen == (set() if own else chosen)


def test_another_clients_refusals_are_no_illness(tmp_path):
    async def run():
        seen = []

        async def handle(request):
            seen.append(request)
            if request.headers["x-who"] == "greedy":
                return web.json_response({"error": {"message": "slow down"}}, status=429)
            return web.json_response(encode_response(ANSWER, target="openai-chat").body)

        async with upstream(handle) as url, upstream(scripted("openai-chat", [])) as other:
            providers = {
                "greedy": provider("openai-chat", url, headers={"x-who": "greedy"}),
                "second": provider("openai-chat", other),
            }
            async with gateway(providers, [to("greedy/*", "second/*")]) as session:
                found = []
                for _ in range(8):
                    wire = asked("openai-chat")
                    async with session.post(wire["path"], data=wire["data"]) as reply:
                        found.append(reply.status)
                async with session.get("/ready") as reply:
                    return found, len(seen), await reply.json()

    statuses, first, ready = asyncio.run(run())
    assert statuses == [200] * 8
    assert first == 8, "it is asked first every time"
    assert ready["resting"] == []
