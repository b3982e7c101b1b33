"""The official SDKs hold conversations through the gateway with every kind of provider.

The upstreams are strict: each refuses, in the words of the provider that it plays, what that one
refuses. A refusal is a problem that no test here expects.
"""

import json
from contextlib import asynccontextmanager

import httpx
import pytest
from tests.e2e.trial import png
from tests.gateway.running import in_thread, serving, to
from tests.gateway.sdks import SDKS, StreamFailed, all_sdks, opening
from tests.sampling import sampled
from tests.upstreams.server import SPEAKERS, ScriptedUpstream
from tests.upstreams.strict.upstreams import BY_PROTOCOL, OTHERS

from toolglot import ir
from toolglot.gateway.config import Config
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import encode_request

pytestmark = pytest.mark.slow

NAMES = list(PROTOCOLS)
WORDS = ("word-00c0ffee", "word-0000beef")
PIXELS = png("a picture")
ALL = {**BY_PROTOCOL, **{str(each): each for each in OTHERS}}
HOW = (False, True)
"""Whether a stream is asked for."""
EVERY_PAIR = pytest.mark.parametrize(
    ("client", "theirs", "stream"),
    [*sampled(2, SDKS, BY_PROTOCOL, HOW), *sampled(4, SDKS, map(str, OTHERS), HOW)],
)
"""Every pair of protocols, whole or streamed in turn; of the pairs with further models a half."""
SOME_PAIRS = pytest.mark.parametrize(("client", "theirs"), sampled(3, SDKS, BY_PROTOCOL))
SOME_ERRORS = pytest.mark.parametrize(
    ("client", "theirs", "stream"), sampled(3, SDKS, BY_PROTOCOL, HOW)
)
"""A third of all pairs: each protocol is on both sides, and each client has both forms."""


BLIND = ("deepseek-deepseek-v4-pro", "groq-openai_gpt-oss-120b")
"""Models that see no pictures: they get a text that says so."""


@asynccontextmanager
async def _running():
    async with ScriptedUpstream("one-tool") as scripted:
        # A refusal is a problem although it is mended; answers are to be as clients can read them.
        providers = {name: each.at(scripted.url, mend="on") for name, each in ALL.items()}
        routes = tuple(
            to(f"{name}/{each.model}", match=f"for-{name}") for name, each in ALL.items()
        )
        async with serving(Config(providers=providers, routes=routes)) as url:
            yield scripted, url


@pytest.fixture(scope="module")
def running():
    with in_thread(_running) as (scripted, url), all_sdks(url) as sdks:
        yield scripted, url, sdks


@pytest.fixture
def play(running):
    """Holds a conversation: what was heard in each turn."""
    scripted, _, sdks = running

    def converse(client, theirs, scenario, results, *, stream):
        sdk, history = sdks[client], opening(client)
        scripted.begin(scenario, picture="picture.png", pixels=PIXELS)
        first = sdk.ask(f"for-{theirs}", history, stream=stream)
        history += sdk.results(first, results)
        second = sdk.ask(f"for-{theirs}", history, stream=stream)
        assert _true(scripted, client, theirs) == []
        assert {asked.protocol for asked in scripted.asked} == {ALL[theirs].protocol}
        return first, second

    return converse


def _true(scripted, client, theirs):
    """The problems that are ours."""
    problems = scripted.problems
    if client == "ollama":
        # Its SDK keeps no ids and no state: results find their calls by order.
        last = scripted.asked[-1]
        assert [each.id for each in last.results] == [each for each, _ in last.calls]
        lost = ("results for",) if theirs in ("openai-chat", "ollama") else ("results", "reasoning")
        problems = [each for each in problems if not each.startswith(lost)]
    return problems


@EVERY_PAIR
def test_parallel_calls_with_reasoning(client, theirs, stream, play):
    """S1-01 to S1-04, S1-06, X-13, X-17, X-18: two calls at once, their results, and an answer
    that only they make possible. The upstream objects if reasoning state is not as it was.
    """
    first, second = play(client, theirs, "parallel", WORDS, stream=stream)
    assert [name for _, name, _ in first.calls] == ["bash", "bash"]
    given = [json.loads(a) if isinstance(a, str) else a for _, _, a in first.calls]
    assert given == [{"command": "cat one.txt"}, {"command": "cat two.txt"}]
    assert first.text == "I will look at both."
    assert second.text == f"They say {WORDS[0]} and {WORDS[1]}."
    assert second.calls == []
    for heard in (first, second):
        assert (heard.prompt, heard.output) == (100, 20)
        assert heard.model == f"for-{theirs}"


@EVERY_PAIR
def test_a_picture_in_a_result(client, theirs, stream, play):
    """X-18, case-29: the very bytes arrive."""
    if theirs in BLIND:
        with pytest.raises(AssertionError, match="no picture"):
            play(client, theirs, "image", [PIXELS], stream=stream)
        return
    _, second = play(client, theirs, "image", [PIXELS], stream=stream)
    assert second.text == "I see the picture."


@SOME_PAIRS
def test_equal_conversations_are_equal_bytes_for_the_provider(client, theirs, play, running):
    """X-22, case-41: caches of prompts keep hitting, in later turns too."""
    scripted, _, _ = running

    def sent():
        play(client, theirs, "parallel", WORDS, stream=True)
        return [(each.path, each.body) for each in scripted.requests]

    assert sent() == sent()


@SOME_PAIRS
def test_only_some_streams_end_in_done(client, theirs, running):
    """X-14, case-16."""
    scripted, url, _ = running
    scripted.begin("one-tool")
    request = ir.Request(
        model=f"for-{theirs}",
        messages=(ir.Message(role="user", parts=(ir.Text(text="Which way?"),)),),
        stream=True,
        max_tokens=100,
    )
    wire = encode_request(request, target=client)
    reply = httpx.post(url + wire.path, content=wire.data(), params=dict(wire.query), timeout=30)
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith(get_protocol(client).SURFACE.stream.media_type)
    ends_in_done = client in ("openai-chat", "gemini-interactions")
    assert reply.content.count(b"[DONE]") == (1 if ends_in_done else 0)


# --- errors ---------------------------------------------------------------------------------------


def _told(running, client, theirs, scenario, *, stream):
    """The error that the SDK raises."""
    scripted, _, sdks = running
    scripted.begin(scenario)
    with pytest.raises(sdks[client].error) as caught:
        sdks[client].ask(f"for-{theirs}", opening(client), stream=stream)
    assert len(scripted.asked) == 1
    return caught.value


@SOME_ERRORS
def test_too_many_requests(client, theirs, stream, running):
    """X-16, case-44: the SDK's own class, the status, the words and how long to wait."""
    error = _told(running, client, theirs, "rate-limited", stream=stream)
    told = SDKS[client].failed(None, error)
    assert told.type is SDKS[client].too_many
    assert told.status == 429
    assert "Too many requests." in told.message
    if client != "ollama":  # its SDK does not keep headers
        assert told.headers["retry-after"] == "1"


@SOME_ERRORS
def test_a_refused_request(client, theirs, stream, running):
    """X-16, case-44: what is the client's fault stays so."""
    error = _told(running, client, theirs, "refused", stream=stream)
    told = SDKS[client].failed(None, error)
    assert told.type is SDKS[client].bad_request
    assert told.status == 400
    assert "The moon is in the wrong house." in told.message


COUNTS = {"anthropic": (212345, 200000), "openai-chat": (212345, 128000)}
COUNTS["gemini"] = (1212345, 1048576)
"""What upstreams say of a prompt that is too long, as far as they count."""
OVERFLOWS = {name: speaker.OVERFLOW for name, speaker in SPEAKERS.items()}


@SOME_ERRORS
def test_a_prompt_that_is_too_long(client, theirs, stream, running):
    """X-16, case-44: in the words, or the code, by which clients of each kind know it."""
    error = _told(running, client, theirs, "overflow", stream=stream)
    if client == "openai-responses" and stream:
        assert isinstance(error, StreamFailed)
        assert error.failed_code == "context_length_exceeded"
        return
    told = SDKS[client].failed(None, error)
    assert told.type is SDKS[client].bad_request
    assert told.status == 400
    assert OVERFLOWS[theirs] in told.message
    if client == "anthropic":
        words = "prompt is too long"
        if theirs in COUNTS:
            words += ": {} tokens > {} maximum".format(*COUNTS[theirs])
        assert words in told.message
    elif client.startswith("openai"):
        assert error.code == "context_length_exceeded"
