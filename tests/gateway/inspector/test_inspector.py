"""The API of the inspector, over a gateway with agents in front of it and providers behind."""

import asyncio
import io
import json
import zipfile

import pytest
from aiohttp import web
from tests.gateway.inspector.scenes import (
    REFUSAL,
    answer,
    call,
    chats,
    dies,
    inspected,
    picture,
    work,
)
from tests.gateway.running import gateway, provider, to, upstream

from toolglot.cli.replay import replay
from toolglot.gateway.config import Inspector
from toolglot.gateway.storage.database import database
from toolglot.gateway.storage.sqlite_keys import create_key

API = "/toolglot/api/v1"


async def get(session, path, status=200, **more):
    async with session.get(API + path, **more) as reply:
        assert reply.status == status, await reply.text()
        return await reply.json() if "json" in reply.content_type else await reply.read()


@pytest.fixture(scope="module")
def seen():
    """What the API says after an agent has worked and another has died."""

    async def run():
        async with inspected() as session:
            await work(session)
            await dies(session)
            await chats(session, "hello", 2)
            found = {"sessions": await get(session, "/sessions"), "session": {}, "exchange": {}}
            for row in found["sessions"]["sessions"]:
                found["session"][row["id"]] = await get(session, f"/sessions/{row['id']}")
            for number in range(1, 10):
                found["exchange"][number] = await get(session, f"/exchanges/{number}")
            found["stream"] = await get(session, "/exchanges/3/stream")
            found["event"] = await get(session, "/exchanges/3/stream/client/0")
            found["raw"] = await get(session, "/exchanges/3/bodies/client-response")
            found["doctor"] = await get(session, "/exchanges/3/doctor")
            found["numbers"] = await get(session, "/numbers")
            found["case"] = await get(session, "/exchanges/3/copy/case")
            found["curl"] = await get(session, "/exchanges/3/copy/curl")
            found["python"] = await get(session, "/exchanges/3/copy/python")
            found["said"] = await get(session, "/sessions", params={"text": "FLAKY"})
            found["receipts"] = {}
            async with session.get("/toolglot/receipts") as reply:
                for row in (await reply.json())["data"]:
                    found["receipts"][row["request_id"]] = row["notes"]
            return found

    return asyncio.run(run())


def test_sessions_are_listed_with_who_talks_to_whom(seen):
    dead, agent = (
        next(row for row in seen["sessions"]["sessions"] if row["title"] == title)
        for title in ("why is the build red?", "fix the flaky tide test")
    )
    assert agent["client"] == {"name": "Claude Code", "version": "2.1.9"}
    assert (agent["protocol"], agent["provider_protocol"]) == ("anthropic", "openai-chat")
    assert (agent["provider"], agent["model"]) == ("openai", "gpt-5.4")
    assert (agent["turns"], agent["calls"], agent["state"]) == (6, 8, "done")
    assert [turn["mended"] for turn in agent["strip"]] == [False, False, True, False, False, False]
    assert agent["verdicts"] == {"valid": 5, "repaired": 1, "unknown": 1, "repeated": 1}
    assert (dead["state"], dead["client"]["name"]) == ("dead", "opencode")
    assert "broke off" in dead["reason"]
    assert seen["sessions"]["exchanges"] == 9
    assert [row["title"] for row in seen["said"]["sessions"]] == ["fix the flaky tide test"]


def test_each_call_has_a_row_with_its_result_and_verdict(seen):
    rows = seen["session"][1]["call_list"]
    assert [(row["exchange"], row["name"], row["verdict"]["kind"]) for row in rows] == [
        (1, "Grep", "valid"),
        (1, "Read", "valid"),
        (2, "Bash", "valid"),
        (3, "Edit", "repaired"),
        (3, "Read", "valid"),
        (3, "todo_write", "unknown"),
        (4, "Bash", "valid"),
        (5, "Bash", "repeated"),
    ]
    edit = rows[3]
    assert json.loads(edit["written"]["arguments"])["replace_all"] == "false"
    assert json.loads(edit["given"]["arguments"])["replace_all"] is False
    assert edit["result"]["text"] == "The file tide.py has been updated."
    assert edit["back_after"] >= 0
    assert [note["code"] for note in edit["notes"]] == ["arguments-repaired"]
    assert rows[2]["result"]["is_error"]


def test_a_refusal_that_was_understood_is_shown_as_what_it_is(seen):
    first, second = seen["exchange"][3]["attempts"]
    assert (first["reason"], second["reason"], second["status"]) == ("first", "mended", 200)
    assert [(each["status"], each["words"]) for each in first["tries"]] == [(400, REFUSAL)]
    assert "max_completion_tokens" in seen["exchange"][3]["bodies"]["upstream-request"]["tree"]


def test_an_exchange_has_four_bodies(seen):
    bodies = seen["exchange"][3]["bodies"]
    assert bodies["client-request"]["tree"]["model"] == "claude-sonnet-5"
    assert bodies["upstream-request"]["tree"]["model"] == "gpt-5.4"
    message = bodies["upstream-response"]["tree"]["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["name"] == "Edit"
    blocks = bodies["client-response"]["tree"]["content"]
    assert [block["input"]["replace_all"] for block in blocks if block["name"] == "Edit"] == [False]
    assert seen["raw"].startswith(b"event: message_start")
    assert len(seen["raw"]) == bodies["client-response"]["size"]


def test_every_note_of_the_receipt_has_a_bridge_that_ends_where_something_is(seen):
    for number in range(1, 7):
        exchange = seen["exchange"][number]
        notes = seen["receipts"][exchange["request_id"]]
        assert [note["code"] for note in exchange["receipt"]] == [each["code"] for each in notes]
        assert [each["note"] for each in exchange["bridges"]] == list(range(len(notes)))
        for bridge in exchange["bridges"]:
            side = exchange["receipt"][bridge["note"]]["side"]
            pair = ("client-request", "upstream-request")
            pair = pair if side == "request" else ("upstream-response", "client-response")
            for end, name in zip(("source", "target"), pair, strict=True):
                if bridge[end] is not None:
                    assert at(exchange["bodies"][name]["tree"], bridge[end]) is not None
    ends = {
        seen["exchange"][3]["receipt"][each["note"]]["code"]: (each["source"], each["target"])
        for each in seen["exchange"][3]["bridges"]
    }
    assert ends["field-unknown"] == ("context_management", None)
    assert ends["error-marked"] == ("messages[4].content[0]", "messages[6]")
    assert ends["arguments-repaired"] == ("choices[0].message.tool_calls[0]", "content[0]")


def at(value, path):
    for step in path.replace("]", "").replace("[", ".").split("."):
        value = value[int(step) if step.isdigit() else step]
    return value


def test_the_events_of_both_sides_are_in_time(seen):
    for side in ("upstream", "client"):
        events = seen["stream"][side]["events"]
        assert events == sorted(events, key=lambda each: each[0])
        assert seen["stream"][side]["lint"] == []
    assert seen["stream"]["client"]["events"][0][2] == "message_start"
    assert seen["stream"]["upstream"]["events"][-1][2] == "[DONE]"
    assert json.loads(seen["event"])["type"] == "message_start"


def test_tokens_and_bad_calls_are_added_up(seen):
    (row,) = (row for row in seen["numbers"]["models"] if row["provider"] == "openai")
    assert (row["exchanges"], row["calls"], row["bad_calls"], row["repaired_calls"]) == (6, 8, 1, 1)
    assert row["tokens"]["cache_read"] == 10_100
    assert row["first_byte"] > row["own"] > 0


def test_a_test_case_can_be_replayed(seen, tmp_path):
    with zipfile.ZipFile(io.BytesIO(seen["case"])) as archive:
        archive.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    request, reply = replay(folder)
    assert request.same
    assert reply.same


def test_copies_name_the_path_and_no_key(seen):
    assert b"/v1/messages" in seen["curl"]
    assert seen["curl"].startswith(b"curl ")
    compile(seen["python"], "copy", "exec")


def run(use, **given):
    async def main():
        async with inspected(**given) as session:
            return await use(session)

    return asyncio.run(main())


def test_the_doctor_finds_what_is_wrong_and_repairs_it():
    body = {
        "model": "demo",
        "messages": [
            {"role": "user", "content": "Go."},
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            {"role": "user", "content": "Well?"},
        ],
    }

    async def use(session):
        async with session.post("/v1/chat/completions", json=body) as reply:
            await reply.read()
        return await get(session, "/exchanges/1/doctor")

    found = run(use)
    assert "call-unanswered" in {each["kind"] for each in found["findings"]}
    assert any(line.startswith("+") and '"tool"' in line for line in found["diff"])
    assert found["repaired"]["messages"][2]["role"] == "tool"


def test_what_if_shows_what_would_be_sent_and_sends_nothing():
    async def use(session):
        await chats(session, "hello")
        path, found = API + "/exchanges/1/what-if", []
        for question in ({"protocol": "gemini"}, {"model": "openai/x"}, {"protocol": "none"}, []):
            async with session.post(path, json=question) as reply:
                found.append((reply.status, await reply.json()))
        return found, await get(session, "")

    found, info = run(use)
    assert [status for status, _ in found] == [200, 200, 400, 400]
    assert found[0][1]["targets"][0]["body"]["contents"][0]["role"] == "user"
    assert found[1][1]["targets"][0]["body"]["model"] == "x"
    assert info["exchanges"] == 1


def test_results_that_are_pictures_are_shown_and_open_calls_are_told():
    steps = (answer(call("Bash", '{"command":"draw"}', "p1")), answer(call("Bash", "{}", "p2")))

    async def use(session):
        await picture(session)
        return await get(session, "/sessions/1")

    first, second = run(use, steps=steps)["call_list"]
    assert first["result"]["media"] == ["image/png"]
    assert first["result"]["picture"].startswith("data:image/png;base64,")
    assert {each["kind"] for each in second["verdicts"]} == {"mismatch", "open"}


def test_a_call_without_a_result_is_unanswered_once_the_conversation_goes_on():
    body = {"model": "demo", "messages": [{"role": "user", "content": "Weather in Rome?"}]}
    body["tools"] = [
        {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    ]

    async def use(session):
        async with session.post("/v1/chat/completions", json=body) as reply:
            said = (await reply.json())["choices"][0]["message"]
        again = [*body["messages"], said, {"role": "user", "content": "Well?"}]
        async with session.post("/v1/chat/completions", json={**body, "messages": again}) as reply:
            await reply.read()
        return await get(session, "/sessions/1")

    found = run(use)
    assert found["turns"] == 2
    assert found["call_list"][0]["verdict"]["kind"] == "unanswered"


def test_pages_are_told_what_changes():
    async def use(session):
        async with session.get(API + "/events") as feed:
            assert feed.content_type == "text/event-stream"
            await feed.content.readuntil(b"\n\n")
            await chats(session, "hello")
            told = await feed.content.readuntil(b"\n\n")
        return json.loads(told.partition(b"data: ")[2])

    assert run(use)["exchange"] == 1


def test_open_pages_do_not_hold_up_the_end_of_the_gateway():
    async def main():
        async with inspected() as session:
            feed = await session.get(API + "/events")
            await feed.content.readuntil(b"\n\n")
            began = asyncio.get_running_loop().time()
        feed.close()
        return asyncio.get_running_loop().time() - began

    assert asyncio.run(main()) < 5


def test_what_is_not_there_is_said_so():
    async def use(session):
        for path in (
            "/exchanges/7", "/sessions/7", "/exchanges/" + "9" * 500, "/exchanges/7/doctor",
        ):  # fmt: skip
            await get(session, path, 404)
        await chats(session, "hello")
        for path in ("bodies/other", "copy/word", "stream/client/99", "stream/other/0"):
            await get(session, f"/exchanges/1/{path}", 404)
        async with session.delete(API + "/exchanges") as reply:
            return await reply.json()

    assert run(use)["exchanges"] == 0


# --- who may look ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "gateway.internal"}, 403),
        ({"Host": "10.1.2.3"}, 403),
        ({"Host": "localhost:8100"}, 200),
        ({"Host": "[::1]:8100"}, 200),
        ({"X-Forwarded-For": "192.0.2.7"}, 403),
        ({"Via": "1.1 proxy"}, 403),
    ],
)
def test_only_the_page_itself_may_read(headers, status):
    async def use(session):
        await get(session, "/sessions", status, headers=headers)
        async with session.get("/toolglot/", headers=headers) as reply:
            assert reply.status == status

    run(use)


def test_an_address_elsewhere_may_not_look_without_keys(monkeypatch):
    monkeypatch.setattr(
        "toolglot.http1.server_request.HttpRequest.remote", property(lambda _: "192.0.2.7")
    )

    async def use(session):
        await get(session, "/sessions", 403)

    run(use, open=True, inspector=Inspector(enabled=True))


def test_where_it_is_off_there_is_nothing():
    async def main():
        async with gateway(inspector=Inspector(enabled=False)) as session:
            await chats(session, "hello")
            await get(session, "/sessions", 404)

    asyncio.run(main())


def test_tenants_do_not_see_each_other_and_need_the_right(tmp_path):
    file = tmp_path / "keys.db"
    with database(file) as db:
        tokens = [
            create_key(db, name, 0.0, inspect=name != "plain")[0] for name in ("a", "b", "plain")
        ]

    def headers(token):
        return {"Authorization": f"Bearer {token}"}

    async def use(session):
        for token, words in zip(tokens, ("of a", "of b", "of plain"), strict=True):
            body = {"model": "demo", "messages": [{"role": "user", "content": words}]}
            async with session.post(
                "/v1/chat/completions", json=body, headers=headers(token)
            ) as reply:
                assert reply.status == 200
        for token, words, others in ((tokens[0], "of a", 2), (tokens[1], "of b", 1)):
            mine = await get(session, "/sessions", headers=headers(token))
            assert [row["title"] for row in mine["sessions"]] == [words]
            await get(session, f"/exchanges/{others}", 404, headers=headers(token))
            page = await get(session, "/export", headers=headers(token))
            assert words.encode() in page
            assert page.count(b'"title"') == 2  # in the list and in the session
        await get(session, "/sessions", 403, headers=headers(tokens[2]))
        await get(session, "/sessions", 401)
        async with session.get("/toolglot/") as reply:
            assert reply.status == 200  # The page itself has no contents; it asks for a key.

    run(use, keys=True, database=str(file), inspector=Inspector(enabled=True))


def test_it_takes_no_more_than_it_may():
    async def use(session):
        await chats(session, "hello", 8)
        return await get(session, "/sessions")

    found = run(use, inspector=Inspector(exchanges=3))
    assert [row["id"] for row in found["sessions"]] == [8, 7, 6]


def test_retries_and_fallbacks_are_attempts_with_their_reasons():
    async def overloaded(request):
        await request.read()
        return web.json_response({"error": {"message": "busy"}}, status=503)

    async def main():
        async with upstream(overloaded) as url:
            providers = {
                "gone": provider("openai-chat", "http://127.0.0.1:9"),
                "busy": provider("openai-chat", url, retries=1),
            }
            async with gateway(providers, [to("gone/a", "busy/b", "demo")]) as session:
                await chats(session, "hello")
                return await get(session, "/exchanges/1")

    first, second, third = asyncio.run(main())["attempts"]
    assert [each["reason"] for each in (first, second, third)] == ["first", "fallback", "fallback"]
    assert [each["status"] for each in first["tries"]] == [0]
    assert "127.0.0.1" in first["tries"][0]["words"]
    assert [each["status"] for each in second["tries"]] == [503, 503]
    assert (third["provider"], third["protocol"]) == ("demo", "")


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"demo","messages":' + b"[" * 400 + b"]" * 400 + b"}",
        b'{"model":"demo","messages":[{"role":"user","content":"\\ud800"}]}',
        b'{"model":"demo","messages":"none"}',
        b'{"model":"demo","messages":[],"tools":[{"function":{"name":7}}]}',
    ],
)
def test_bodies_that_are_anything_are_shown_as_far_as_that_goes(body):
    async def use(session):
        async with session.post("/v1/chat/completions", data=body) as reply:
            await reply.read()
        found = await get(session, "/sessions")
        for path in ("", "/stream", "/bodies/client-request", "/copy/curl", "/copy/case"):
            await get(session, f"/exchanges/1{path}")
        async with session.get(API + "/exchanges/1/doctor") as reply:
            assert reply.status in (200, 400)
        await get(session, "/export")
        return found["sessions"]

    assert len(run(use)) == 1
