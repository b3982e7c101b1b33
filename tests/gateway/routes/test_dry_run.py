"""What would be sent where."""

import asyncio
import json
from pathlib import Path

from tests.gateway.running import gateway, provider, to

from toolglot.gateway.config import Provider

CLIENTS = Path(__file__).parents[2] / "fixtures" / "clients"

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


def test_a_dry_run_shows_what_the_rules_of_a_provider_change():
    async def run():
        providers = {
            "work": Provider(profile="openai", api_key="k"),
            "local": provider("openai-responses", "http://127.0.0.1:9"),
        }
        codex = json.loads((CLIENTS / "codex-lite.request.json").read_text())["body"]
        claude = {**ASKED, "top_k": 5, "max_tokens": 1}
        shown = []
        async with gateway(providers) as session:
            for protocol, body, model in (
                ("anthropic", claude, "work/gpt-5.4"),
                ("openai-responses", codex, "local/some-model"),
            ):
                asked = {"protocol": protocol, "body": body, "model": model}
                async with session.post("/toolglot/translate", json=asked) as reply:
                    shown.append((await reply.json())["targets"][0])
        return shown

    openai, local = asyncio.run(run())
    assert openai["url"] == "https://api.openai.com/v1/responses"
    assert openai["body"]["max_output_tokens"] == 16
    assert "top_k" not in openai["body"]
    assert "top_k" in {note["path"] for note in openai["receipt"]}
    assert {tool["type"] for tool in local["body"]["tools"]} == {"function"}
    assert "additional_tools" not in {item["type"] for item in local["body"]["input"]}


def test_a_dry_run_of_nonsense_says_what_is_wrong():
    status, body = post("/toolglot/translate", {"protocol": "telex"})
    assert status == 400
    assert "protocol: expected one of" in body["error"]["message"]
    status, body = post(
        "/toolglot/translate", {"protocol": "ollama", "body": {"model": "m", "messages": 3}}
    )
    assert status == 400
