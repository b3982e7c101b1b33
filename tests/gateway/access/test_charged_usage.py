"""What a request is charged, and what is reserved for it."""

import pytest

from toolglot.gateway.access.charged_usage import charged_usage, reservation_for
from toolglot.gateway.access.rate_limits import NO_RESERVATION
from toolglot.gateway.access.virtual_keys import Budget, VirtualKey
from toolglot.gateway.telemetry.request_record import RequestRecord
from toolglot.ir import Usage
from toolglot.registry import PROTOCOLS

KEY = VirtualKey(id="k", name="k", created=0.0, budget=Budget(10**6))


def record(**more):
    return RequestRecord(request_id="r", client="anthropic", started=0.0, **more)


def charged(**more):
    usage = charged_usage(record(**more))
    return None if usage is None else (usage.input, usage.output)


def test_a_count_is_taken_as_it_is():
    usage = Usage(input=3, output=4)
    assert charged(sent=True, status=200, usage=usage, received=10**6) == (3, 4)
    stopped = {"stream": True, "finish_reasons": ("end",)}
    assert charged(sent=True, status=200, usage=usage, received=10**6, **stopped) == (3, 4)


def test_what_asked_no_provider_or_failed_is_free():
    assert charged(body_size=400) is None
    assert charged(body_size=400, sent=True, status=502) is None
    assert charged(body_size=400, sent=True, status=429) is None


def test_what_nobody_counted_is_estimated():
    assert charged(sent=True, status=200, body_size=400, received=800) == (100, 200)
    assert charged(sent=True, body_size=400) == (100, 256), "the client left before all"
    streamed = {"sent": True, "status": 200, "stream": True, "body_size": 400, "error": "server"}
    # An event for each token, and one for many.
    assert charged(**streamed, received=50 * 250, received_lines=100) == (100, 50)
    assert charged(**streamed, received=2 * 4300, received_lines=4) == (100, 2000)
    begun = Usage(input=77, output=1)
    assert charged(**streamed, usage=begun, received=9000, received_lines=60) == (77, 30)
    left = {**streamed, "error": ""}
    assert charged(**left, usage=begun, received=9000, received_lines=60) == (77, 94)
    assert charged(sent=True, status=200, body_size=10**9, received=4) == (200_000, 1)


@pytest.mark.parametrize(
    ("protocol", "more", "output"),
    [
        ("anthropic", b'"max_tokens":50', 50),
        ("openai-chat", b'"max_tokens":50', 50),
        ("openai-chat", b'"max_completion_tokens":50,"n":3', 150),
        ("openai-responses", b'"max_output_tokens":50', 50),
        ("gemini", b'"generationConfig":{"maxOutputTokens":50,"candidateCount":2}', 100),
        ("ollama", b'"options":{"num_predict":50}', 50),
        ("ollama", b'"options":{"num_predict":-1}', 16384),
        ("ollama", b'"options":7', 16384),
        ("anthropic", b'"max_tokens":"50"', 16384),
        ("anthropic", b'"max_tokens":true', 16384),
        ("anthropic", b'"max_tokens":1e300', 16384),
    ],
)
def test_what_a_request_may_use_is_reserved(protocol, more, output):
    body = b'{"model":"some-model",' + more + b"}"
    surface = PROTOCOLS[protocol].SURFACE
    reserved = reservation_for(KEY, surface, "some-model", body)
    assert reserved.budget == len(body) // 4 + output
    assert reserved.tokens == len(body) // 4 + min(output, 4096 if output == 16384 else output)


def test_nothing_is_reserved_without_a_limit():
    surface = PROTOCOLS["anthropic"].SURFACE
    free = VirtualKey(id="k", name="k", created=0.0, rpm=3)
    assert reservation_for(None, surface, "m", b"{}") == NO_RESERVATION
    assert reservation_for(free, surface, "m", b"{}") == NO_RESERVATION


@pytest.mark.parametrize("usage", [Usage(), Usage(input=0, output=0), Usage(input=-9, output=0)])
def test_a_provider_that_counts_nothing_is_estimated(usage):
    found = charged(sent=True, status=200, usage=usage, received=4000, body_size=400)
    assert found == (100, 1000)


def test_no_count_gives_tokens_back():
    usage = Usage(input=10, output=-(10**6), cache_read=-5)
    found = charged_usage(record(sent=True, status=200, usage=usage))
    assert (found.input, found.output, found.cache_read) == (10, 0, 0)
