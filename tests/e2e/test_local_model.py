"""A real model behind the gateway: a client of another protocol, a whole tool loop.

The model is small and says what it likes, so only the form of its answers is looked at.
"""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import anthropic
import pytest
from tests.gateway.running import gateway, to

from toolglot.gateway import llama_server as local_model
from toolglot.gateway.config import Provider

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]

SECONDS = 120
"""For one request, and for the start."""

TOOL = {
    "name": "get_weather",
    "description": "Get the current weather in a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
WEATHER = {
    "Rome": "24 degrees, clear",
    "Oslo": "3 degrees, snow",
    "Lima": "19 degrees, fog",
    "Cairo": "31 degrees, dry",
}
CITIES = ("Paris", "Tokyo", "Berlin")
"""Asked about in turn until the model calls: other processors round otherwise."""


@pytest.fixture(scope="module")
def served():
    """The model, as a program of its own that ends with these tests."""
    pytest.importorskip(local_model.ENGINE, reason="toolglot[local-model] is not installed")
    if local_model.find_weights() is None:
        pytest.skip("the weights are not there: toolglot local-model --prepare")
    command = [sys.executable, "-m", "toolglot", "local-model"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,
        ThreadPoolExecutor(1) as thread,
    ):
        try:
            line = thread.submit(process.stdout.readline).result(SECONDS)
            said = json.loads(line)
            assert said["pid"] == process.pid
            yield said
        finally:
            process.terminate()
    assert process.returncode == 0


def question(city):
    return {"role": "user", "content": f"What is the weather in {city} right now?"}


def call(city, call_id):
    made = {"type": "tool_use", "id": call_id, "name": "get_weather", "input": {"city": city}}
    return {"role": "assistant", "content": [made]}


def result(call_id, words):
    answer = {"type": "tool_result", "tool_use_id": call_id, "content": words}
    return {"role": "user", "content": [answer]}


def earlier():
    """Turns from which even a small model learns how calls are written."""
    for number, (city, words) in enumerate(WEATHER.items()):
        call_id = f"toolu_{number:024d}"
        yield from (question(city), call(city, call_id), result(call_id, words))
        yield {"role": "assistant", "content": f"In {city} it is {words}."}


async def ask(client, messages, stream):
    asked = {"model": "any", "max_tokens": 200, "tools": [TOOL], "messages": messages}
    if not stream:
        return await client.messages.create(**asked)
    async with client.messages.stream(**asked) as answer:
        return await answer.get_final_message()


async def called(client, history, stream):
    """The conversation up to the first call that the model makes, and the answer with it."""
    for city in CITIES:
        messages = [*history, question(city)]
        answer = await ask(client, messages, stream)
        if answer.stop_reason == "tool_use":
            return messages, answer
    pytest.fail(f"the model never called: {answer}")


async def loop(served, tools, history, stream):
    """The answer that calls, and the last one."""
    provider = Provider(protocol="openai-chat", base_url=served["base_url"], tools=tools, retries=0)
    async with (
        gateway({"local": provider}, [to(f"local/{served['model']}")]) as session,
        anthropic.AsyncAnthropic(
            base_url=str(session._base_url), api_key="k", max_retries=0, timeout=SECONDS
        ) as client,
    ):
        messages, first = await called(client, history, stream)
        last = first
        while last.stop_reason == "tool_use" and len(messages) < len(history) + 6:
            calls = [block for block in last.content if block.type == "tool_use"]
            messages.append({"role": "assistant", "content": last.content})
            results = (result(each.id, "18 degrees, sunny")["content"][0] for each in calls)
            messages.append({"role": "user", "content": list(results)})
            last = await ask(client, messages, stream)
        return first, last


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("tools", ["native", "emulated:hermes"])
def test_a_tool_loop_with_a_real_model(served, tools, stream):
    history = [] if tools == "native" else list(earlier())
    first, last = asyncio.run(loop(served, tools, history, stream))
    made = [block for block in first.content if block.type == "tool_use"]
    assert made
    for each in made:
        assert each.name == "get_weather"
        assert isinstance(each.input["city"], str)
        assert each.id
    assert first.usage.input_tokens > 0
    assert last.stop_reason in {"end_turn", "max_tokens"}
    assert "".join(block.text for block in last.content if block.type == "text").strip()
