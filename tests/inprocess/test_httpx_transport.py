"""The official SDKs ask every kind of provider without a gateway beside them."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import anthropic
import httpx
import httpx2
import openai
import pytest
from aiohttp import web
from google import genai
from google.genai import types as genai_types
from tests.gateway.running import in_thread, upstream
from tests.gateway.sdks import SDKS, all_sdks, opening
from tests.upstreams.strict.upstreams import BY_PROTOCOL

import toolglot
from toolglot.gateway.config import Config, ConfigError, Provider

WORDS = ("word-00c0ffee", "word-0000beef")
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
CLIENTS = pytest.mark.parametrize("client", list(SDKS))
UPSTREAMS = pytest.mark.parametrize("theirs", list(BY_PROTOCOL))
NOWHERE = "http://nobody.invalid"


def _options(scripted, theirs):
    """How a program names a strict upstream."""
    each = BY_PROTOCOL[theirs]
    return f"there/{each.model}", {"config": Config(providers={"there": each.at(scripted.url)})}


@pytest.fixture(scope="module")
def sdks(scripted):
    """The SDKs, by the protocol of the upstream that they ask."""
    made, stack = {}, []
    for theirs in BY_PROTOCOL:
        model, options = _options(scripted, theirs)
        context = all_sdks(NOWHERE, lambda m=model, o=options: toolglot.client(m, **o))
        made[theirs] = context.__enter__()
        stack.append(context)
    yield made
    for context in stack:
        context.__exit__(None, None, None)


@STREAMS
@UPSTREAMS
@CLIENTS
def test_parallel_calls_with_reasoning(client, theirs, stream, scripted, sdks):
    sdk, history = sdks[theirs][client], opening(client)
    scripted.begin("parallel")
    first = sdk.ask("any-model", history, stream=stream)
    assert [name for _, name, _ in first.calls] == ["bash", "bash"]
    history += sdk.results(first, WORDS)
    second = sdk.ask("any-model", history, stream=stream)
    assert second.text == f"They say {WORDS[0]} and {WORDS[1]}."
    if client != "ollama":  # its SDK keeps no ids and no state
        assert scripted.problems == []
    assert {asked.protocol for asked in scripted.asked} == {theirs}


@STREAMS
@UPSTREAMS
@CLIENTS
def test_errors_are_those_of_the_sdk(client, theirs, stream, scripted, sdks):
    scripted.begin("rate-limited")
    with pytest.raises(SDKS[client].error) as caught:
        sdks[theirs][client].ask("any-model", opening(client), stream=stream)
    told = SDKS[client].failed(None, caught.value)
    assert told.type is SDKS[client].too_many
    assert told.status == 429
    assert "Too many requests." in told.message


# --- asynchronous SDKs ----------------------------------------------------------------------------

HI = [{"role": "user", "content": "Say hello."}]


async def _ask_anthropic(http):
    made = anthropic.AsyncAnthropic(api_key="none", http_client=http)
    async with made.messages.stream(model="any", max_tokens=99, messages=HI) as stream:
        return (await stream.get_final_message()).content[0].text


async def _ask_chat(http):
    made = openai.AsyncOpenAI(api_key="none", http_client=http)
    answer = await made.chat.completions.create(model="any", messages=HI)
    return answer.choices[0].message.content


async def _ask_responses(http):
    made = openai.AsyncOpenAI(api_key="none", http_client=http)
    return (await made.responses.create(model="any", input="Say hello.")).output_text


async def _ask_gemini(http):
    options = genai_types.HttpOptions(httpx_async_client=http)
    made = genai.Client(api_key="none", http_options=options)
    return (await made.aio.models.generate_content(model="any", contents="Say hello.")).text


async def _ask_bare(http):
    body = {"model": "any", "messages": HI, "stream": False}
    return (await http.post("http://any/api/chat", json=body)).json()["message"]["content"]


ASYNC = (_ask_anthropic, _ask_chat, _ask_responses, _ask_gemini, _ask_bare)


@pytest.mark.parametrize("ask", ASYNC)
def test_asynchronous_sdks_ask_many_at_once(ask):
    async def run():
        async with toolglot.async_client("demo") as http:
            said = await asyncio.gather(*(ask(http) for _ in range(5)))
            assert len(http.receipts) == 5
            return said

    assert all("Say hello." in words for words in asyncio.run(run()))


def test_one_client_in_several_loops():
    http = toolglot.async_client("demo")
    assert "Say hello." in asyncio.run(_ask_chat(http))
    assert "Say hello." in asyncio.run(_ask_chat(http))


# --- programs -------------------------------------------------------------------------------------


def _ask(http, words="Say hello."):
    made = openai.OpenAI(api_key="none", http_client=http, max_retries=0)
    messages = [{"role": "user", "content": words}]
    answer = made.chat.completions.create(model="any", messages=messages)
    return answer.choices[0].message.content


def test_a_blocking_client_inside_a_loop():
    """As in a notebook, where every line runs in a loop."""

    async def cell():
        return _ask(toolglot.client("demo"))

    assert "Say hello." in asyncio.run(cell())


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_one_transport_for_both_libraries(library):
    with library.Client(transport=toolglot.Transport("demo")) as client:
        reply = client.post("http://any/v1/chat/completions", json={"model": "m", "messages": HI})
    assert isinstance(reply, library.Response)
    assert reply.status_code == 200
    assert "Say hello." in reply.json()["choices"][0]["message"]["content"]


def test_receipts_say_what_changed(scripted):
    scripted.begin("one-tool")
    model, options = _options(scripted, "openai-responses")
    http = toolglot.client(model, **options)
    made = anthropic.Anthropic(api_key="none", http_client=http)
    reply = made.messages.with_raw_response.create(
        model="any", max_tokens=99, messages=HI, stop_sequences=["END"]
    )
    assert "field-dropped" in reply.headers["x-toolglot-receipt"]
    (receipt,) = http.receipts
    assert (receipt["client"], receipt["protocol"]) == ("anthropic", "openai-responses")
    assert "stop_sequences" in [note.path for note in receipt["notes"]]


ONCE = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": "Once"}}],
}


@asynccontextmanager
async def _stalling(seen):
    """A provider that begins to answer and then waits, until its client leaves."""

    async def handle(request):
        seen["asked"] = seen.get("asked", 0) + 1
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: " + json.dumps(ONCE).encode() + b"\n\n")
        try:
            await asyncio.Event().wait()
        finally:
            seen["left"].set()

    async with upstream(handle) as url:
        yield url


@pytest.fixture
def stalling():
    seen = {"left": threading.Event()}
    with in_thread(lambda: _stalling(seen)) as url:
        yield f"{url}/v1", seen


def _stream(url, **more):
    http = toolglot.client("there/m", base_url=url, protocol="openai-chat")
    made = openai.OpenAI(api_key="none", http_client=http, max_retries=0, **more)
    return made.chat.completions.create(model="any", messages=HI, stream=True)


def test_a_stream_that_is_closed_leaves_the_provider(stalling):
    url, seen = stalling
    with _stream(url) as events:
        assert next(iter(events)).choices[0].delta.content == "Once"
    assert seen["left"].wait(5)


def test_a_timeout_of_the_client_is_its_own_error(stalling):
    url, seen = stalling
    with pytest.raises((openai.APITimeoutError, httpx2.ReadTimeout)):
        list(_stream(url, timeout=0.2))
    assert seen["left"].wait(5)


def test_threads_share_one_client_and_wait_together(stalling):
    """While one thread waits for its provider, the others get their answers."""
    url, seen = stalling
    http = toolglot.client(["there/m", "demo"], config=_two(url))
    with _stream_of(http) as events:
        next(iter(events))  # and nobody reads on
        with ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda n: _ask_demo(http, f"Number {n}."), range(16)))
    assert [f"Number {n}." in words for n, words in enumerate(said)] == [True] * 16
    assert seen["asked"] == 1


def _two(url):
    return Config(providers={"there": Provider(protocol="openai-chat", base_url=url)})


def _stream_of(http):
    made = openai.OpenAI(api_key="none", http_client=http, max_retries=0)
    return made.chat.completions.create(model="any", messages=HI, stream=True)


def _ask_demo(http, words):
    made = openai.OpenAI(api_key="none", http_client=http, max_retries=0)
    messages = [{"role": "user", "content": words}]
    return (
        made.chat.completions.create(model="demo/any", messages=messages).choices[0].message.content
    )


def test_a_provider_without_a_key_is_refused_at_once(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="set OPENAI_API_KEY, or give api_key"):
        toolglot.client("openai/gpt-5.4")


def test_a_library_that_is_not_there():
    with pytest.raises(ValueError, match="expected one of httpx2, httpx"):
        toolglot.client("demo", library="requests")
