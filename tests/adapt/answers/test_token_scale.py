"""Token counts in proportion to the window that a client believes in."""

import pytest
from tests.laws.streams import encode
from tests.wires import NAMES, answer, asking, pair, user

from toolglot import Options, decode_response, encode_request, encode_response
from toolglot.adapt.answers.passes import adapt_response, adapt_whole
from toolglot.adapt.answers.token_scale import ScaleUsage, scaled, scales
from toolglot.events import fold, unfold
from toolglot.exchange import Exchange
from toolglot.ir import Usage
from toolglot.registry import get_protocol

HALF = Options(window=100_000, client_window=200_000)
USED = Usage(input=1001, cache_read=50, output=9, reasoning=4)


@pytest.mark.parametrize(
    ("options", "does"),
    [
        (Options(), False),
        (Options(window=5), False),
        (Options(client_window=5), False),
        (Options(window=5, client_window=5), False),
        (HALF, True),
    ],
)
def test_counts_are_scaled_only_where_both_windows_are_known_and_differ(options, does):
    assert scales(options) is does
    ctx = pair("ollama", "ollama", options=options)
    response = answer("Hi", usage=USED)
    assert (adapt_response(response, ctx) is not response) is does
    assert [note.code for note in ctx.receipt()] == ["usage-scaled"] * does


def test_the_prompt_is_scaled_and_the_answer_is_not():
    assert scaled(USED, HALF) == Usage(input=2002, cache_read=100, output=9, reasoning=4)


def test_counts_are_rounded_up():
    """A client that makes room a little too early loses nothing."""
    options = Options(window=3, client_window=4)
    assert scaled(Usage(input=1), options).input == 2
    assert scaled(Usage(input=0), options).input == 0
    assert scaled(Usage(input=10), Options(window=4, client_window=1)).input == 3


def test_an_answer_without_counts_has_none():
    ctx = pair("ollama", "anthropic", options=HALF)
    response = answer("Hi")
    assert adapt_whole(response, [ScaleUsage(ctx)], ctx) == response
    assert not ctx.receipt()


def exchanged(client, provider):
    """An exchange whose request is on its way."""
    asked = asking(user("Hi"), max_tokens=9, stream=True, include_usage=True)
    wire = encode_request(asked, target=client)
    exchange = Exchange(client, provider, HALF)
    exchange.request(wire.data(), wire.path)
    return exchange


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("provider", NAMES)
def test_every_client_sees_its_own_measure_and_the_caller_the_true_one(client, provider):
    """Also where nothing else is translated."""
    exchange = exchanged(client, provider)
    reply = answer("Hi", usage=Usage(input=1000, output=9))
    shown = exchange.response(encode_response(reply, target=provider).data())
    assert decode_response(shown.data, source=client).usage.prompt == 2000
    assert shown.usage.prompt == 1000
    assert "usage-scaled" in exchange.receipt.codes()


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("provider", NAMES)
def test_the_same_in_streams(client, provider):
    exchange = exchanged(client, provider)
    translator = exchange.stream()
    reply = answer("Hi", usage=Usage(input=1000, output=9))
    data = translator.feed(encode(provider, unfold(reply))) + translator.close()
    decoder = get_protocol(client).StreamDecoder(pair(client, client))
    read = fold([*decoder.feed(data), *decoder.close()])
    assert read.usage.prompt == 2000
    assert read.usage.output == 9
    assert translator.usage.prompt == 1000
    assert [note.code for note in translator.receipt].count("usage-scaled") == 1


def test_a_whole_answer_as_a_stream_is_scaled_once():
    exchange = exchanged("anthropic", "openai-chat")
    reply = answer("Hi", usage=Usage(input=1000, output=9))
    shown = exchange.unfolded(encode_response(reply, target="openai-chat").data())
    assert b'"input_tokens":2000' in shown.data
    assert shown.usage.prompt == 1000
