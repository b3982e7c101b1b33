"""Providers that fail in every way, and what their clients are told."""

import asyncio
import json
import time
from functools import partial

import pytest
from tests.gateway.answers import (
    ANSWER,
    NAMES,
    TEXT,
    answer_well,
    ask,
    kind_of,
    pieces_of,
    read_stream,
    read_whole,
    request_for,
    said,
    whole_of,
)
from tests.gateway.running import gateway, provider, to
from tests.gateway.wild import wild
from tests.sampling import sampled

from toolglot import attempts, ir
from toolglot.context import Context
from toolglot.events import Failed, Started, unfold
from toolglot.gateway.config import Timeouts
from toolglot.gateway.relay import first_event as opening_module
from toolglot.gateway.relay import providers as providers_module
from toolglot.registry import get_protocol
from toolglot.streams import StreamTranslator
from toolglot.translate import encode_request, encode_response

ALL_CLIENTS = pytest.mark.parametrize("ours", NAMES)
ALL_UPSTREAMS = pytest.mark.parametrize("theirs", NAMES)
PAIRS = pytest.mark.parametrize(("ours", "theirs"), sampled(3, NAMES, NAMES))
"""A third of all pairs: each protocol on both sides with two or three others."""
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(attempts, "FIRST_PAUSE", 0.001)


def trial(answer, ours, theirs, *, stream=False, requests=1, **fields):
    """What the client gets for its last request, and how often the provider was asked."""

    async def run():
        async with (
            wild(answer) as (url, turns),
            gateway({"them": provider(theirs, url, **fields)}, [to("them/*")]) as session,
        ):
            for _ in range(requests):
                got = await asyncio.wait_for(ask(session, ours, stream=stream), 10)
            return *got, len(turns)

    return asyncio.run(run())


# --- the connection breaks ------------------------------------------------------------------------


@BOTH
@ALL_CLIENTS
def test_reset_before_the_head(ours, stream):
    """X-16, case-44."""

    async def answer(turn):
        await turn.reset()

    status, _, body, asked = trial(answer, ours, "openai-chat", stream=stream)
    error = read_whole(ours, status, body)
    assert status >= 500
    assert error.kind == "server"
    assert "provider them cannot be reached" in error.message
    assert asked <= 2


@ALL_CLIENTS
def test_reset_after_the_head_of_a_whole_answer(ours):
    """case-09: half an answer is none."""

    async def answer(turn):
        await turn.head("application/json")
        await turn.chunk(whole_of("openai-chat")[:-9])
        await turn.reset()

    status, _, body, _ = trial(answer, ours, "openai-chat")
    error = read_whole(ours, status, body)
    assert status >= 500
    assert "provider them broke off" in error.message


@PAIRS
def test_reset_in_the_middle_of_a_stream(ours, theirs):
    """X-15, case-09: what came is shown, and then that it is not all."""

    async def answer(turn):
        await turn.head(kind_of(theirs))
        *most, _last = pieces_of(theirs)
        for piece in most[: len(most) - 1]:
            await turn.chunk(piece)
        await asyncio.sleep(0.02)
        await turn.reset()

    status, _, body, asked = trial(answer, ours, theirs, stream=True)
    assert (status, asked) == (200, 1)
    error = read_stream(ours, body)
    assert isinstance(error, ir.ApiError)
    assert "provider them broke off" in error.message
    assert b"North" in body
    assert body.count(b"[DONE]") == (1 if ours in ("openai-chat", "gemini-interactions") else 0)


@PAIRS
def test_a_stream_that_ends_early_without_a_word(ours, theirs):
    """X-15, case-09."""

    async def answer(turn):
        pieces = pieces_of(theirs)
        await turn.whole(b"".join(pieces[: len(pieces) // 2]), kind_of(theirs))

    status, _, body, _ = trial(answer, ours, theirs, stream=True)
    assert status == 200
    assert isinstance(read_stream(ours, body), ir.ApiError)


# --- silence --------------------------------------------------------------------------------------


@ALL_CLIENTS
def test_silence_before_the_head(ours):
    async def answer(turn):
        await turn.left()

    wait = Timeouts(connect=0.05, first_byte=0.05)
    status, _, body, _ = trial(answer, ours, "openai-chat", timeouts=wait)
    error = read_whole(ours, status, body)
    assert status >= 500 or (ours, status) == ("bedrock-converse", 408)
    assert "provider them did not answer in time" in error.message


@ALL_CLIENTS
def test_silence_in_the_middle_of_a_stream(ours):
    """X-15: an answer may take long to begin; once it has, silence is judged by its own measure."""

    async def answer(turn):
        await turn.head()
        for piece in pieces_of("openai-chat")[:2]:
            await turn.chunk(piece)
        await turn.left()

    wait = Timeouts(first_byte=300, idle=0.1)
    status, _, body, _ = trial(answer, ours, "openai-chat", stream=True, timeouts=wait)
    error = read_stream(ours, body)
    assert status == 200
    assert isinstance(error, ir.ApiError)
    assert "provider them fell silent" in error.message


def test_silence_in_the_middle_of_a_whole_answer():
    async def answer(turn):
        await turn.head("application/json")
        await turn.chunk(b'{"id":')
        await turn.left()

    wait = Timeouts(first_byte=300, idle=0.1)
    status, _, body, _ = trial(answer, "anthropic", "openai-chat", timeouts=wait)
    assert status == 504
    assert b"fell silent" in body


# --- garbage --------------------------------------------------------------------------------------

PAGE = b"<!doctype html><title>502 Bad Gateway</title>"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (PAGE, "text/html"),
        (PAGE, "application/json"),
        (b'{"id": "a", "choi', "application/json"),
        (b"[]", "application/json"),
        (b"", "application/json"),
        (b"", "text/plain"),
    ],
    ids=["page", "page-as-json", "half", "list", "nothing", "nothing-as-text"],
)
@BOTH
@ALL_CLIENTS
def test_something_else_than_an_answer(ours, stream, body, kind):
    """X-16, case-44: an error of the gateway's kind, never an empty success."""

    async def answer(turn):
        await turn.whole(body, kind)

    status, _, got, _ = trial(answer, ours, "openai-chat", stream=stream)
    error = read_whole(ours, status, got)
    assert status >= 500
    assert isinstance(error, ir.ApiError)
    assert "provider them answered with something else" in error.message


@ALL_CLIENTS
def test_an_empty_stream(ours):
    """case-09."""

    async def answer(turn):
        await turn.whole(b"", "text/event-stream")

    status, _, body, _ = trial(answer, ours, "openai-chat", stream=True)
    assert status >= 500
    assert isinstance(read_whole(ours, status, body), ir.ApiError)


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "application/json"])
@ALL_UPSTREAMS
def test_a_stream_under_another_name(theirs, kind):
    """case-44: a stream is known by what it looks like."""

    async def answer(turn):
        await turn.whole(b"".join(pieces_of(theirs)), kind)

    status, _, body, _ = trial(answer, "anthropic", theirs, stream=True)
    assert status == 200
    assert said(read_stream("anthropic", body)) == TEXT


@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
@ALL_CLIENTS
def test_a_whole_answer_to_a_client_that_wants_a_stream(ours, kind):
    async def answer(turn):
        await turn.whole(whole_of("openai-chat"), kind)

    status, _, body, _ = trial(answer, ours, "openai-chat", stream=True)
    assert status == 200
    assert said(read_stream(ours, body)) == TEXT


@ALL_CLIENTS
def test_junk_between_events(ours):
    """case-09: one broken line is no broken stream."""
    junk = b": comment\n\ndata: {nonsense\n\nevent: odd\ndata: 17\n\nretry: 3\n\n\xff\xfe\n\n"

    async def answer(turn):
        pieces = pieces_of("anthropic")
        await turn.whole(junk.join(pieces), "text/event-stream")

    other = "openai-chat" if ours == "anthropic" else ours
    status, _, body, _ = trial(answer, other, "anthropic", stream=True)
    assert status == 200
    assert said(read_stream(other, body)) == TEXT


# --- failures inside a stream that says nothing yet -----------------------------------------------


def fails_inside(protocol, error):
    """A provider whose stream begins well and then tells of an error."""
    encoder = get_protocol(protocol).StreamEncoder(Context())
    begun = encoder.encode(Started(id="a", model="m"))
    data = begun + encoder.encode(Failed(error)) + encoder.close()

    async def answer(turn):
        await turn.whole(data, kind_of(protocol))

    return answer


@pytest.mark.parametrize("theirs", ["anthropic", "openai-responses"])
@ALL_CLIENTS
def test_an_error_instead_of_words(ours, theirs):
    """X-16, case-44: the client gets it as an error that came at once."""
    error = ir.ApiError(kind="context_length", message="The prompt is too long.", status=400)
    status, _, body, _ = trial(fails_inside(theirs, error), ours, theirs, stream=True)
    if ours == "openai-responses":
        assert status == 200
        assert read_stream(ours, body).kind == "context_length"
        return
    told = read_whole(ours, status, body)
    assert status == 400
    assert told.kind == "context_length"
    assert "prompt is too long" in told.message.lower()


def test_an_error_instead_of_words_is_made_good_elsewhere():
    error = ir.ApiError(kind="overloaded", message="Too many.", status=529)

    async def run():
        async with (
            wild(fails_inside("anthropic", error)) as (one, ones),
            wild(partial(answer_well, protocol="openai-chat")) as (two, _),
        ):
            both = {"one": provider("anthropic", one), "two": provider("openai-chat", two)}
            async with gateway(both, [to("one/*", "two/*")]) as session:
                got = await ask(session, "gemini", stream=True)
        assert len(ones) == 1
        return got

    status, headers, body = asyncio.run(run())
    assert (status, headers["x-toolglot-provider"]) == (200, "two")
    assert said(read_stream("gemini", body)) == TEXT


def test_a_stream_that_says_nothing_for_long_begins_all_the_same(monkeypatch):
    monkeypatch.setattr(opening_module, "_HOLD", 0.05)

    async def run():
        go_on = asyncio.Event()

        async def answer(turn):
            encoder = get_protocol("anthropic").StreamEncoder(Context())
            first, *rest = map(encoder.encode, unfold(ANSWER))
            await turn.head()
            await turn.chunk(first)
            await go_on.wait()
            await turn.chunk(b"".join(rest))
            await turn.end()

        async with (
            wild(answer) as (url, _),
            gateway({"them": provider("anthropic", url)}, [to("them/*")]) as session,
        ):
            wire = encode_request(request_for(stream=True), target="openai-chat")
            async with session.post(wire.path, data=wire.data()) as reply:
                assert reply.status == 200
                go_on.set()
                return await reply.read()

    assert said(read_stream("openai-chat", asyncio.run(run()))) == TEXT


@pytest.mark.parametrize("theirs", ["openai-chat", "anthropic"])
@ALL_CLIENTS
def test_what_fails_in_the_gateway_itself_is_told_in_the_stream(ours, theirs, monkeypatch, caplog):
    """X-16: an answer that broke must not look complete, and nothing of the cause is told."""
    feed = StreamTranslator.feed
    fed = []

    def failing(self, data):
        fed.append(data)
        if len(fed) > 1:
            raise RuntimeError("not foreseen")
        return feed(self, data)

    monkeypatch.setattr(StreamTranslator, "feed", failing)

    async def answer(turn):
        data = b"".join(pieces_of(theirs))
        place = data.index(b"\n\n", data.index(b"North")) + 2
        await turn.head(kind_of(theirs))
        await turn.chunk(data[:place])
        await asyncio.sleep(0.1)
        await turn.chunk(data[place:])
        await turn.end()

    status, _, body, _ = trial(answer, ours, theirs, stream=True)
    error = read_stream(ours, body)
    assert status == 200
    assert isinstance(error, ir.ApiError)
    assert b"North" in body
    assert "toolglot itself failed" in error.message
    assert b"not foreseen" not in body
    assert "not foreseen" in caplog.text


SECRET = "prv-0123456789abcdef0123456789abcdef"


# A third of all cases: each protocol with each of the places, each provider with each of them.
@pytest.mark.parametrize(
    ("ours", "theirs", "how"),
    sampled(3, NAMES, ["openai-chat", "anthropic", "ollama"], ["status", "body", "first", "later"]),
)
def test_a_key_that_a_provider_repeats_is_masked(ours, theirs, how):
    """Wherever the error is: it came with a status, in place of an answer, or inside a stream."""
    error = ir.ApiError(kind="server", message=f"the key {SECRET} is not good")

    async def answer(turn):
        encoder = get_protocol(theirs).StreamEncoder(Context())
        events = list(unfold(ANSWER))
        begun = b"".join(map(encoder.encode, events[:3] if how == "later" else events[:1]))
        failed = encoder.encode(Failed(error)) + encoder.close()
        if how in ("first", "later"):
            await turn.whole(begun + failed, kind_of(theirs))
        else:
            data = encode_response(error, target=theirs).data()
            await turn.whole(data, status=500 if how == "status" else 200)

    for stream in (False, True) if how in ("status", "body") else (True,):
        *_, body, _ = trial(answer, ours, theirs, stream=stream, api_key=SECRET)
        assert b"is not good" in body
        assert SECRET.encode() not in body


# --- trying again ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "headers"), [(429, {"retry_after": "0.01"}), (500, {}), (503, {}), (529, {})]
)
@BOTH
def test_a_failure_and_then_an_answer(status, headers, stream):
    async def answer(turn):
        if turn.number == 1:
            await turn.whole(b'{"error":{"message":"Not now."}}', status=status, **headers)
        else:
            await answer_well(turn, "anthropic")

    got, _, body, asked = trial(answer, "openai-chat", "anthropic", stream=stream, retries=1)
    assert (got, asked) == (200, 2)
    assert TEXT.split(maxsplit=1)[0].encode() in body


def test_a_long_wait_is_left_to_the_client():
    """case-44."""

    async def answer(turn):
        await turn.whole(
            b'{"error":{"message":"Later."}}', status=429, retry_after="3600", x_limit="1"
        )

    status, headers, body, asked = trial(answer, "anthropic", "openai-chat", retries=3)
    assert (status, asked) == (429, 1)
    assert headers["retry-after"] == "3600"
    assert json.loads(body)["error"] == {"type": "rate_limit_error", "message": "Later."}


def two_targets(first, second, requests=1):
    """Statuses and bodies from a gateway with two targets, and how often each was asked."""

    async def run():
        async with wild(first) as (one, ones), wild(second) as (two, twos):
            both = {"one": provider("openai-chat", one), "two": provider("openai-chat", two)}
            async with gateway(both, [to("one/*", "two/*")]) as session:
                got = [await ask(session, "anthropic") for _ in range(requests)]
            return got, len(ones), len(twos)

    return asyncio.run(run())


def refuse(status, words):
    async def answer(turn):
        await turn.whole(json.dumps({"error": {"message": words}}).encode(), status=status)

    return answer


def test_all_are_down():
    """The last error is what the client gets."""
    got, ones, twos = two_targets(refuse(500, "One is ill."), refuse(503, "Two is full."))
    ((status, headers, body),) = got
    assert (ones, twos) == (1, 1)
    assert status == 529
    assert headers["x-toolglot-provider"] == "two"
    assert json.loads(body)["error"] == {"type": "overloaded_error", "message": "Two is full."}


def test_garbage_is_a_failure_too():
    async def page(turn):
        await turn.whole(PAGE, "text/html")

    got, ones, twos = two_targets(page, partial(answer_well, protocol="openai-chat"))
    assert [status for status, _, _ in got] == [200]
    assert (ones, twos) == (1, 1)


def test_a_bad_request_is_not_tried_elsewhere():
    got, ones, twos = two_targets(refuse(400, "No."), partial(answer_well, protocol="openai-chat"))
    assert [status for status, _, _ in got] == [400]
    assert (ones, twos) == (1, 0)


def test_a_provider_that_fails_rests_and_is_tried_again(monkeypatch):
    rest = 0.5
    monkeypatch.setattr(providers_module, "_REST", rest)
    well = False

    async def first(turn):
        answer = partial(answer_well, protocol="openai-chat") if well else refuse(500, "Ill.")
        await answer(turn)

    async def run():
        nonlocal well
        async with (
            wild(first) as (one, ones),
            wild(partial(answer_well, protocol="openai-chat")) as (two, _),
        ):
            both = {"one": provider("openai-chat", one), "two": provider("openai-chat", two)}
            async with gateway(both, [to("one/*", "two/*")]) as session:

                async def resting():
                    async with session.get("/ready") as reply:
                        return (await reply.json())["resting"]

                async def provider_of():
                    status, headers, _ = await ask(session, "anthropic")
                    assert status == 200
                    return headers["x-toolglot-provider"]

                failed = [await provider_of() for _ in range(providers_module._TRIES)]
                opened = time.monotonic()
                assert failed == ["two"] * providers_module._TRIES
                assert await resting() == ["one"]
                before = len(ones)
                assert await provider_of() == "two"
                if time.monotonic() < opened + rest:
                    assert len(ones) == before
                well = True
                await asyncio.sleep(rest)
                assert await provider_of() == "one"
                assert await resting() == []

    asyncio.run(run())


# --- errors in the words of each client -----------------------------------------------------------

SPELLED = {
    "overloaded": {
        "anthropic": (529, "overloaded_error", None),
        "openai-chat": (503, "server_error", "server_is_overloaded"),
        "openai-responses": (503, "service_unavailable_error", "server_is_overloaded"),
        "gemini-interactions": (503, None, "unavailable"),
        "gemini": (503, "UNAVAILABLE", 503),
        "ollama": (503, None, None),
        "bedrock-converse": (503, "ServiceUnavailableException", None),
    },
    "rate_limit": {
        "bedrock-converse": (429, "ThrottlingException", None),
        "anthropic": (429, "rate_limit_error", None),
        "openai-chat": (429, "rate_limit_exceeded", "rate_limit_exceeded"),
        "openai-responses": (429, "rate_limit_error", "rate_limit_exceeded"),
        "gemini-interactions": (429, None, "rate_limit_exceeded"),
        "gemini": (429, "RESOURCE_EXHAUSTED", 429),
        "ollama": (429, None, None),
    },
    "quota": {
        "bedrock-converse": (400, "ServiceQuotaExceededException", None),
        "anthropic": (429, "rate_limit_error", None),
        "openai-chat": (429, "insufficient_quota", "insufficient_quota"),
        "openai-responses": (429, "insufficient_quota", "insufficient_quota"),
        "gemini-interactions": (429, None, "quota_exceeded"),
        "gemini": (429, "RESOURCE_EXHAUSTED", 429),
        "ollama": (429, None, None),
    },
    "context_length": {
        "bedrock-converse": (400, "ValidationException", None),
        "anthropic": (400, "invalid_request_error", None),
        "openai-chat": (400, "invalid_request_error", "context_length_exceeded"),
        "openai-responses": (400, "invalid_request_error", "context_length_exceeded"),
        "gemini-interactions": (400, None, "context_length_exceeded"),
        "gemini": (400, "INVALID_ARGUMENT", 400),
        "ollama": (400, None, None),
    },
}
"""The status, the kind and the code by which clients of each protocol know an error."""
SAID = {
    "overloaded": "The server is busy.",
    "rate_limit": "Slow down.",
    "quota": "You exceeded your current quota.",
    "context_length": "This model's maximum context length is 8192 tokens; you sent 9001.",
}


@pytest.mark.parametrize("kind", SPELLED)
@ALL_CLIENTS
def test_errors_in_the_words_of_each_client(ours, kind):
    """X-16, case-44: whoever the provider is, clients do the right thing next."""
    theirs = "openai-responses" if ours == "openai-chat" else "openai-chat"
    wait = "7" if kind == "rate_limit" else None
    error = ir.ApiError(kind=kind, message=SAID[kind], retry_after=wait)
    wire = encode_response(error, target=theirs)

    async def answer(turn):
        await turn.whole(wire.data(), status=wire.status, **{"retry_after": "7"} if wait else {})

    status, headers, body, _ = trial(answer, ours, theirs)
    whole = json.loads(body)
    told = whole.get("error", whole)
    expected, word, code = SPELLED[kind][ours]
    assert status == expected
    assert headers.get("retry-after") == wait
    assert SAID[kind] in (told if ours == "ollama" else told["message"])
    if ours != "ollama":
        assert (
            told.get({"gemini": "status", "bedrock-converse": "__type"}.get(ours, "type")) == word
        )
        assert told.get("code") == code
    if ours == "anthropic" and kind == "context_length":
        assert told["message"].startswith("prompt is too long: 9001 tokens > 8192 maximum")
    # A client that waits and asks again would only do so in vain.
    gives_up = ours == "anthropic" and kind == "quota"
    assert headers.get("x-should-retry") == ("false" if gives_up else None)
