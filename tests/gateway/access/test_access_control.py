"""Keys, limits and the ledger, through the gateway."""

import asyncio
import sqlite3
import time

import pytest
from tests.gateway.exchanges import asked, scripted
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.access.rate_limits import LimitExceeded, RateLimiter
from toolglot.gateway.access.virtual_keys import Budget, VirtualKey
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key
from toolglot.gateway.storage.sqlite_ledger import read_usage
from toolglot.gateway.telemetry.request_record import RequestRecord
from toolglot.ir import Usage

PATHS = {
    "anthropic": ("/v1/messages", {"x-api-key": None}),
    "openai-chat": ("/v1/chat/completions", {"Authorization": "Bearer "}),
    "openai-responses": ("/v1/responses", {"Authorization": "Bearer "}),
    "gemini-interactions": ("/v1beta/interactions", {"x-goog-api-key": None}),
    "gemini": ("/v1beta/models/the-model:generateContent", {"x-goog-api-key": None}),
    "ollama": ("/api/chat", {"Authorization": "Bearer "}),
    "bedrock-converse": ("/model/the-model/converse", {"Authorization": "Bearer "}),
}


def keyed(tmp_path, name="team", **terms):
    with database(tmp_path / "it.db") as db:
        return create_key(db, name, time.time(), **terms)[0]


def statuses(tmp_path, tokens, protocol="openai-chat", model="the-model"):
    """The answers to requests with these keys, one after the other."""

    async def run():
        seen, found = [], []
        async with (
            upstream(scripted("openai-chat", seen)) as url,
            gateway(
                {"them": provider("openai-chat", url)},
                [to("them/*")],
                keys=True,
                database=str(tmp_path / "it.db"),
            ) as session,
        ):
            for token in tokens:
                wire = asked(protocol, model=model)
                ((header, prefix),) = PATHS[protocol][1].items()
                headers = {header: (prefix or "") + token} if token else {}
                async with session.post(wire["path"], data=wire["data"], headers=headers) as reply:
                    found.append((reply.status, reply.headers.copy(), await reply.json()))
        return found, len(seen)

    return asyncio.run(run())


@pytest.mark.parametrize("protocol", PATHS)
def test_a_key_is_asked_for_and_taken_wherever_the_protocol_has_it(tmp_path, protocol):
    token = keyed(tmp_path)
    found, asked_for = statuses(tmp_path, [None, "tg-wrong", token], protocol)
    assert [status for status, _, _ in found] == [401, 401, 200]
    assert asked_for == 1, "who has no key reaches no provider"


def test_a_model_that_a_key_may_not_use(tmp_path):
    token = keyed(tmp_path, models=("other-*",))
    ((status, _, body),), _ = statuses(tmp_path, [token])
    assert status == 403
    assert "the-model" in body["error"]["message"]
    with database(tmp_path / "it.db") as db:
        assert [(each.name, each.errors) for each in read_usage(db, "key")] == [("team", 1)]


def test_a_limit_is_told_with_the_time_to_wait(tmp_path):
    token = keyed(tmp_path, rpm=2)
    found, _ = statuses(tmp_path, [token] * 3)
    assert [status for status, _, _ in found] == [200, 200, 429]
    assert 1 <= int(found[-1][1]["retry-after"]) <= 61
    assert "2 requests per minute" in found[-1][2]["error"]["message"]
    left = [headers["x-ratelimit-remaining-requests"] for _, headers, _ in found[:2]]
    assert left == ["1", "0"]


def test_a_budget_that_is_used_up(tmp_path):
    token = keyed(tmp_path, budget=Budget(30, "day"))
    found, _ = statuses(tmp_path, [token] * 3)
    assert [status for status, _, _ in found] == [200, 200, 429], "19 tokens a request"


def test_what_was_used_is_in_the_ledger(tmp_path):
    token = keyed(tmp_path)
    statuses(tmp_path, [token, token, None], "anthropic")
    with database(tmp_path / "it.db") as db:
        used = {each.name: each for each in read_usage(db, "key")}
    assert used["team"].requests == 2
    assert (used["team"].input, used["team"].output) == (24, 14)
    assert set(used) == {"team"}, "a request without a key leaves no row"


def test_only_a_hash_of_a_key_is_stored(tmp_path):
    token = keyed(tmp_path)
    statuses(tmp_path, [token])
    with sqlite3.connect(tmp_path / "it.db") as db:
        dump = "\n".join(db.iterdump())
    db.close()
    assert token not in dump
    assert token.removeprefix("tg-") not in dump


def test_lists_are_for_those_with_a_key_too(tmp_path):
    token = keyed(tmp_path)

    async def run():
        async with gateway(keys=True, database=str(tmp_path / "it.db")) as session:
            async with session.get("/v1/models") as reply:
                assert reply.status == 401
            headers = {"Authorization": f"Bearer {token}"}
            async with session.get("/v1/models", headers=headers) as reply:
                assert reply.status == 200
            async with session.get("/health") as reply:
                assert reply.status == 200

    asyncio.run(run())


def test_a_receipt_is_for_whoever_asked(tmp_path):
    one, other = keyed(tmp_path, "one"), keyed(tmp_path, "other")

    async def run():
        async with (
            upstream(scripted("openai-chat", [])) as url,
            gateway(
                {"them": provider("openai-chat", url)}, keys=True, database=str(tmp_path / "it.db")
            ) as session,
        ):
            wire = asked("anthropic")
            headers = {"x-api-key": one, "x-request-id": "a/b"}
            async with session.post(wire["path"], data=wire["data"], headers=headers) as reply:
                assert reply.status == 200
            for token, status in ((one, 200), (other, 404), ("", 401)):
                where = "/toolglot/receipts/a/b"
                async with session.get(where, headers={"x-api-key": token}) as reply:
                    assert reply.status == status

    asyncio.run(run())


@pytest.mark.parametrize(
    ("seconds", "header"), [(0.0, "1"), (0.2, "1"), (1.0, "1"), (1.01, "2"), (float("inf"), None)]
)
def test_a_client_waits_for_whole_seconds_and_for_one_at_least(seconds, header, monkeypatch):
    exceeded = LimitExceeded(what="requests", limit=3, remaining=0, retry_after=seconds)
    monkeypatch.setattr(RateLimiter, "admit", lambda *_, **__: exceeded)
    key = VirtualKey(id="k", name="k", created=0.0, rpm=3)
    with pytest.raises(RequestRejectedError) as caught:
        asyncio.run(AccessControl().authorize(key, "m"))
    assert caught.value.error.retry_after == header


class Ledger:
    """A ledger in memory, in which another process has spent some tokens."""

    def __init__(self, spent=0):
        self.entries, self.spent = [], spent

    def record(self, entry):
        self.entries.append(entry)

    async def tokens(self, _key, _since=0.0):
        return self.spent

    async def close(self):
        """Nothing to close."""


def test_what_the_model_reads_anew_includes_what_it_writes_to_a_cache():
    ledger = Ledger()
    usage = Usage(input=1, cache_write=2, cache_read=4, output=8, reasoning=3)
    record = RequestRecord(request_id="r", client="anthropic", started=0.0, usage=usage)
    AccessControl(ledger=ledger).charge(None, record)
    (entry,) = ledger.entries
    assert (entry.input, entry.cached, entry.output, entry.reasoning) == (3, 4, 8, 3)


@pytest.mark.parametrize("spent", [9, 10])
def test_a_budget_counts_what_other_processes_spent(spent):
    key = VirtualKey(id="k", name="k", created=0.0, budget=Budget(10))
    access = AccessControl(ledger=Ledger(spent))
    if spent < 10:
        asyncio.run(access.authorize(key, "m"))
    else:
        with pytest.raises(RequestRejectedError, match="10 tokens of its budget"):
            asyncio.run(access.authorize(key, "m"))
