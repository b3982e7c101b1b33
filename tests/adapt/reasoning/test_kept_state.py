"""State that a client does not give back, kept in the meantime."""

import pytest
from tests.signed_turns import CALLS, THOUGHT, asked, native_answer, stripped, turn

from toolglot import ir
from toolglot.adapt.reasoning.kept_state import missing_state, restore_state, state_to_keep
from toolglot.context import Context
from toolglot.events import unfold
from toolglot.exchange import Exchange
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import decode_request, encode_request, encode_response

SIGNS = get_protocol("gemini").SURFACE


def test_only_a_turn_with_calls_and_state_is_kept():
    assert state_to_keep((ir.Text(text="Hm."), CALLS[1]), "it") is None
    assert state_to_keep((THOUGHT, ir.Text(text="Hm.")), "it") is None
    assert state_to_keep((THOUGHT, CALLS[1]), "it") is not None
    assert state_to_keep((CALLS[0],), "it") is not None


def test_a_turn_is_found_by_its_first_call_however_it_is_spaced():
    key, carrier = state_to_keep((THOUGHT, *CALLS), "it")
    spaced = ir.ToolCall(id="call_1", name="sound", arguments='{"at":"quay"}')
    request = asked(turn(spaced, CALLS[1]))
    assert missing_state(request, SIGNS) == {1: key}
    other = ir.ToolCall(id="call_1", name="sound", arguments='{"at":"sea"}')
    assert missing_state(asked(turn(other)), SIGNS) != {1: key}
    supplied = restore_state(request, {1: carrier})
    assert missing_state(supplied, SIGNS) == {}, "it is there now"
    assert missing_state(asked(turn(ir.Text(text="No calls."))), SIGNS) == {}


def answered(exchange, answer, *, stream):
    """Let an exchange see an answer."""
    if not stream:
        exchange.response(encode_response(answer, target=exchange.provider).data())
        return
    encoder = get_protocol(exchange.provider).StreamEncoder(Context())
    translator = exchange.stream()
    for event in unfold(answer):
        translator.feed(encoder.encode(event))
    translator.feed(encoder.close())
    translator.close()


def state_of(parts):
    return [
        part if isinstance(part, ir.Reasoning) else part.signature
        for part in parts
        if isinstance(part, (ir.Reasoning, ir.ToolCall))
    ]


PAIRS = [
    (ours, theirs)
    for ours in PROTOCOLS
    for theirs in ("anthropic", "gemini", "openai-responses")
    if ours != theirs
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_what_a_client_stripped_reaches_its_issuer(ours, theirs, stream):
    """X-18, for clients that give back calls and nothing else."""
    answer = native_answer(theirs)
    first, wire = Exchange(ours, theirs), encode_request(asked(), target=ours)
    first.request(wire.data(), wire.path)
    answered(first, answer, stream=stream)
    kept = dict(first.kept_state())
    assert len(kept) == 1
    assert first.kept_state() == {}, "given once"
    again, wire = Exchange(ours, theirs), encode_request(asked(*stripped(answer)), target=ours)
    again.decode_request(wire.data(), wire.path)
    again.restore_state({index: kept[key] for index, key in again.missing_state().items()})
    sent = again.request(wire.data(), wire.path)
    there = decode_request(sent.data, source=theirs, path=sent.path)
    said = [part for each in there.messages if each.role == "assistant" for part in each.parts]
    assert state_of(said) == state_of(answer.choices[0].parts)
    assert "reasoning-restored" in again.receipt.codes()


@pytest.mark.parametrize("other", ["anthropic", "openai-responses"])
def test_it_is_opened_for_its_issuer_only(other):
    answer = native_answer("gemini")
    first, wire = Exchange("openai-chat", "gemini"), encode_request(asked(), target="openai-chat")
    first.request(wire.data(), wire.path)
    answered(first, answer, stream=False)
    (sealed,) = first.kept_state().values()
    again = Exchange("openai-chat", other)
    wire = encode_request(asked(*stripped(answer)), target="openai-chat")
    again.decode_request(wire.data(), wire.path)
    again.restore_state(dict.fromkeys(again.missing_state(), sealed))
    assert b"c2lnbmVk" not in again.request(wire.data(), wire.path).data
    assert "reasoning-dropped" in again.receipt.codes()
