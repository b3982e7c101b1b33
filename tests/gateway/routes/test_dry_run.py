"""What would be sent where."""

import asyncio

from tests.gateway.running import gateway, provider, to

ASKED = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}], "odd": 1}


def post(path, body, **routes):
    async def run():
        providers = {
            "one": provider("openai-chat", "http://127.0.0.1:9", api_key="env:PATH"),
            "two": provider("anthropic", "http://127.0.0.1:9"),
        }
        async with (
            gateway(providers, [to("one/other", "two/*")]) as session,
            session.post(path, json=body) as reply,
        ):
            return reply.status, await reply.json()

    return asyncio.run(run())


def test_a_dry_run_shows_what_would_be_sent_where():
    status, shown = post("/toolglot/translate", {"protocol": "anthropic", "body": ASKED})
    assert status == 200
    one, two = shown["targets"]
    assert one["url"] == "http://127.0.0.1:9/v1/chat/completions"
    assert one["body"]["model"] == "other"
    assert [note["path"] for note in one["receipt"] if note["code"] == "field-unknown"] == ["odd"]
    assert two["body"] == ASKED
    assert two["receipt"] == []


def test_a_dry_run_of_nonsense_says_what_is_wrong():
    status, body = post("/toolglot/translate", {"protocol": "telex"})
    assert status == 400
    assert "protocol: expected one of" in body["error"]["message"]
    status, body = post(
        "/toolglot/translate", {"protocol": "ollama", "body": {"model": "m", "messages": 3}}
    )
    assert status == 400
