"""Vectors of texts: three clients and their SDKs, three providers that take nothing else than their
own shape.
"""

import asyncio
import json
from contextlib import asynccontextmanager, closing

import ollama
import openai
import pytest
from aiohttp import web
from google import genai
from google.genai import types
from tests.gateway.running import gateway, in_thread, provider, serving, to, upstream

from toolglot.gateway.config import Config
from toolglot.wire import jsontext

TEXTS = ["harbour light", "low tide"]
MODELS = {
    "openai-chat": "text-embedding-3-small",
    "ollama": "nomic-embed-text",
    "gemini": "gemini-embedding-001",
}
PATHS = {
    "openai-chat": "/v1/embeddings",
    "ollama": "/api/embed",
    "gemini": "/v1beta/models/m:batchEmbedContents",
}


def vector(text, dimensions=None):
    """Halves and quarters, which are the same in four bytes as in eight."""
    return [len(text) / 4, -0.5, 0.25][: dimensions or 3]


# --- providers ------------------------------------------------------------------------------------


def strict_openai(path, body):
    """See https://platform.openai.com/docs/api-reference/embeddings/create."""
    assert path == "/v1/embeddings"
    assert body.keys() <= {"model", "input", "dimensions", "encoding_format", "user"}
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [
        {"object": "embedding", "index": at, "embedding": vector(text, body.get("dimensions"))}
        for at, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 7, "total_tokens": 7}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}


def strict_ollama(path, body):
    """See https://github.com/ollama/ollama/blob/main/docs/api.md#generate-embeddings."""
    if path == "/api/embeddings":
        assert body.keys() <= {"model", "prompt", "options", "keep_alive"}
        return {"embedding": vector(body["prompt"])}
    assert path == "/api/embed"
    allowed = {"model", "input", "truncate", "dimensions", "options", "keep_alive"}
    assert body.keys() <= allowed
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    vectors = [vector(text, body.get("dimensions")) for text in texts]
    return {"model": body["model"], "embeddings": vectors, "prompt_eval_count": 7}


def strict_gemini(path, body):
    """See https://ai.google.dev/api/embeddings."""
    model, _, operation = path.removeprefix("/v1beta/").partition(":")
    entries = body["requests"] if operation == "batchEmbedContents" else [body]
    made = []
    for entry in entries:
        assert entry.keys() <= {"model", "content", "taskType", "title", "outputDimensionality"}
        assert operation == "embedContent" or entry["model"] == model
        text = "".join(part["text"] for part in entry["content"]["parts"])
        made.append({"values": vector(text, entry.get("outputDimensionality"))})
    return {"embeddings": made} if operation == "batchEmbedContents" else {"embedding": made[0]}


STRICT = {"openai-chat": strict_openai, "ollama": strict_ollama, "gemini": strict_gemini}
ROUTES = [
    *(to(f"{name}/{model}", match=model) for name, model in MODELS.items()),
    to("gemini/gemini-embedding-001", match="m"),
]


@asynccontextmanager
async def providers(seen):
    """All three, by name; `seen` gets what they are asked."""

    def handler(name):
        async def answer(request):
            body = json.loads(await request.read())
            seen.append((request.path, body))
            return web.json_response(STRICT[name](request.path, body))

        return answer

    async with (
        upstream(handler("openai-chat")) as one,
        upstream(handler("ollama")) as two,
        upstream(handler("gemini")) as three,
    ):
        urls = dict(zip(STRICT, (one, two, three), strict=True))
        yield {name: provider(name, url) for name, url in urls.items()}


@pytest.fixture(scope="module")
def url():
    @asynccontextmanager
    async def make():
        async with (
            providers([]) as made,
            serving(Config(providers=made, routes=tuple(ROUTES))) as address,
        ):
            yield address

    with in_thread(make) as address:
        yield address


# --- SDKs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS.values())
@pytest.mark.parametrize("dimensions", [None, 2])
def test_openai(url, model, dimensions):
    more = {} if dimensions is None else {"dimensions": dimensions}
    with openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        made = client.embeddings.create(model=model, input=TEXTS, **more)
    assert [each.embedding for each in sorted(made.data, key=lambda each: each.index)] == [
        vector(text, dimensions) for text in TEXTS
    ]


@pytest.mark.parametrize("model", MODELS.values())
def test_ollama(url, model):
    client = ollama.Client(url)
    with closing(client._client):
        made, one = client.embed(model, TEXTS), client.embeddings(model, TEXTS[0])
    assert list(map(list, made.embeddings)) == [vector(text) for text in TEXTS]
    assert list(one.embedding) == vector(TEXTS[0])


@pytest.mark.parametrize("model", MODELS.values())
def test_gemini(url, model):
    options = types.HttpOptions(base_url=url)
    with closing(genai.Client(api_key="k", http_options=options)) as client:
        made = client.models.embed_content(model=model, contents=TEXTS)
    assert [each.values for each in made.embeddings] == [vector(text) for text in TEXTS]


# --- what is sent and told ------------------------------------------------------------------------


def ask(path, body, **more):
    """The status, the headers, the body, and what the provider was asked."""
    seen = []

    async def run():
        async with (
            providers(seen) as made,
            gateway(
                {**made, **more.pop("also", {})}, more.pop("routes", ROUTES), **more
            ) as session,
            session.post(path, json=body) as reply,
        ):
            return reply.status, reply.headers.copy(), await reply.read()

    status, headers, data = asyncio.run(run())
    return status, headers, jsontext.decode(data), seen


def test_token_ids_stay_with_their_vendor():
    """Only whoever made the vocabulary knows what they mean."""
    body = {"model": "text-embedding-3-small", "input": [[1, 2], [3]]}
    *_, seen = ask("/v1/embeddings", {**body, "input": "one"})
    assert seen == [("/v1/embeddings", {**body, "input": "one"})]
    status, _, told, seen = ask("/v1/embeddings", {**body, "model": "nomic-embed-text"})
    assert (status, seen) == (400, [])
    assert told["error"]["message"].startswith("input[0]: token ids belong")


def test_what_a_provider_does_not_know_is_named():
    body = {"model": "nomic-embed-text", "input": "one", "user": "u1"}
    status, headers, _, seen = ask("/v1/embeddings", body)
    assert status == 200
    assert seen == [("/api/embed", {"model": "nomic-embed-text", "input": "one"})]
    assert "field-dropped" in headers["x-toolglot-receipt"]
    assert headers["x-toolglot-provider"] == "ollama"


def test_a_count_that_no_provider_gives_is_said_to_be_none():
    status, headers, told, _ = ask("/v1/embeddings", {"model": "m", "input": TEXTS})
    assert status == 200
    assert told["usage"] == {"prompt_tokens": 0, "total_tokens": 0}
    assert "default-added" in headers["x-toolglot-receipt"]


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/v1/embeddings", {"model": "m"}, "input: expected a text or a list of texts"),
        ("/v1/embeddings", {"model": "m", "input": []}, "input: expected a text or"),
        ("/v1/embeddings", {"model": "m", "input": ["a", {}]}, "input[1]: expected a text"),
        ("/v1/embeddings", {"model": "m", "input": "a", "dimensions": 0}, "dimensions: expected"),
        ("/v1/embeddings", {"model": "m", "input": "a", "encoding_format": 1}, "encoding_format:"),
        ("/api/embeddings", {"model": "m"}, "prompt: expected a text"),
        ("/v1/embeddings", {"model": "claude-sonnet-4-5", "input": "a"}, "no route matches"),
    ],
)
def test_bad_requests(path, body, words):
    status, _, told, seen = ask(path, body)
    assert status in (400, 404)
    assert words in str(told["error"])
    assert seen == []


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"content": {}}, "requests[0].content.parts: expected a list of parts"),
        ({"content": {"parts": [{"inlineData": {}}]}}, "requests[0].content.parts[0]: expected"),
        (3, "requests[0]: expected object"),
    ],
)
def test_bad_requests_of_a_batch(entry, words):
    path = "/v1beta/models/nomic-embed-text:batchEmbedContents"
    status, _, told, seen = ask(path, {"requests": [entry]})
    assert (status, seen) == (400, [])
    assert words in told["error"]["message"]


def test_a_provider_without_embeddings():
    also = {"claude": provider("anthropic", "http://127.0.0.1:9")}
    routes = [to("claude/c", match="c"), to("claude/c", "ollama/nomic-embed-text", match="d")]
    body = {"model": "c", "input": "a"}
    status, _, told, seen = ask("/v1/embeddings", body, also=also, routes=routes)
    assert (status, seen) == (400, [])
    assert "claude has no embeddings" in told["error"]["message"]
    status, *_, seen = ask("/v1/embeddings", {**body, "model": "d"}, also=also, routes=routes)
    assert status == 200
    assert [path for path, _ in seen] == ["/api/embed"]


@pytest.mark.parametrize(
    "answer",
    [{}, {"data": []}, {"data": [{"embedding": "é"}]}, {"data": [{"embedding": ["x"]}]}],
)
def test_an_answer_that_is_none(answer):
    """Also if there are fewer vectors than texts, which would be paired wrongly."""
    replies = [answer, {"data": [{"embedding": [0.5]}]}]

    async def run(reply):
        async def answered(_):
            return web.json_response(reply)

        async with (
            upstream(answered) as one,
            gateway({"a": provider("openai-chat", one)}) as session,
            session.post("/api/embed", json={"model": "m", "input": TEXTS}) as got,
        ):
            return got.status

    assert [asyncio.run(run(each)) for each in replies] == [502, 502]


def test_a_refusal_has_the_shape_of_the_client_and_no_key():
    async def refused(_):
        words = {"error": {"message": "no such model for sk-secret-key-123", "type": "bad"}}
        return web.json_response(words, status=404)

    async def run():
        async with (
            upstream(refused) as one,
            gateway({"a": provider("openai-chat", one, api_key="sk-secret-key-123")}) as session,
            session.post("/api/embed", json={"model": "m", "input": "a"}) as got,
        ):
            return got.status, await got.json()

    status, told = asyncio.run(run())
    assert status == 404
    assert "no such model" in told["error"]
    assert "secret" not in told["error"]


def test_a_provider_that_is_busy_is_asked_again():
    """As for all requests: `toolglot.attempts` decides."""
    count = 0

    async def busy(_):
        nonlocal count
        count += 1
        if count == 1:
            return web.json_response({"error": "busy"}, status=503, headers={"Retry-After": "0"})
        return web.json_response({"embeddings": [[0.5]]})

    async def run():
        async with (
            upstream(busy) as one,
            gateway({"a": provider("ollama", one, retries=1)}) as session,
            session.post("/v1/embeddings", json={"model": "m", "input": "a"}) as got,
        ):
            return (await got.json())["data"][0]["embedding"]

    assert asyncio.run(run()) == [0.5]
    assert count == 2
