"""State that a client does not give back, kept in the meantime."""

import pytest
from msgspec.structs import replace
from tests.counting import grows_linearly
from tests.signed_turns import CALLS, THOUGHT, asked, native_answer, stripped, turn

from toolglot import ir
from toolglot.adapt.reasoning.kept_state import missing_state, restore_state, state_to_keep
from toolglot.adapt.reasoning.sealed_state import TAG
from toolglot.context import Context
from toolglot.events import unfold
from toolglot.exchange import Exchange
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import decode_request, encode_request, encode_response

SIGNS = get_protocol("gemini").SURFACE


def keys_of(request):
    return {index: [*keys] for index, keys in missing_state(request, SIGNS).items()}


def found(kept, keys):
    """What is kept under the first of the keys that leads to something."""
    value = next((kept[key] for key in keys if key in kept), None)
    return kept.get(value, value)


def test_only_a_turn_with_calls_and_state_is_kept():
    assert state_to_keep((ir.Text(text="Hm."), CALLS[1]), "it") is None
    assert state_to_keep((THOUGHT, ir.Text(text="Hm.")), "it") is None
    assert state_to_keep((THOUGHT, CALLS[1]), "it") is not None
    assert state_to_keep((CALLS[0],), "it") is not None


def test_a_turn_is_found_by_its_first_call_however_it_is_spaced():
    key, carrier = state_to_keep((THOUGHT, *CALLS), "it")
    spaced = ir.ToolCall(id="call_1", name="sound", arguments='{"at":"quay"}')
    request = asked(turn(spaced, CALLS[1]))
    assert keys_of(request)[1][0] == key
    other = ir.ToolCall(id="call_1", name="sound", arguments='{"at":"sea"}')
    assert key not in keys_of(asked(turn(other)))[1]
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
    assert len(kept) == 2, "the state, and a key that leads to it"
    assert first.kept_state() == {}, "given once"
    again, wire = Exchange(ours, theirs), encode_request(asked(*stripped(answer)), target=ours)
    again.decode_request(wire.data(), wire.path)
    missing = again.missing_state().items()
    again.restore_state({index: found(kept, keys) for index, keys in missing})
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
    sealed = next(value for value in first.kept_state().values() if value.startswith(TAG))
    again = Exchange("openai-chat", other)
    wire = encode_request(asked(*stripped(answer)), target="openai-chat")
    again.decode_request(wire.data(), wire.path)
    again.restore_state(dict.fromkeys(again.missing_state(), sealed))
    assert b"c2lnbmVk" not in again.request(wire.data(), wire.path).data
    assert "reasoning-dropped" in again.receipt.codes()


# --- clients that change what they return ---------------------------------------------------------


def said_with(answer, words="Let me sound them."):
    """The same answer with words before its calls."""
    choice = answer.choices[0]
    thought, *calls = choice.parts
    parts = (thought, ir.Text(text=words), *calls)
    return replace(answer, choices=(replace(choice, parts=parts),))


def respelled(messages, made=lambda number: f"client_{number}"):
    """The same turn with ids of the client's own."""
    ids = {}

    def renamed(part):
        return replace(part, id=ids.setdefault(part.id, made(len(ids))))

    return [replace(each, parts=tuple(map(renamed, each.parts))) for each in messages]


def reordered(messages):
    """The same turn with arguments that were read and written again."""
    return [
        replace(
            each,
            parts=tuple(
                replace(p, arguments=p.arguments.replace(":", " : "))
                if isinstance(p, ir.ToolCall)
                else p
                for p in each.parts
            ),
        )
        for each in messages
    ]


CHANGES = {
    "without text": list,
    "other ids": respelled,
    "other spacing": lambda messages: respelled(reordered(messages)),
    "less text": lambda messages: [
        replace(messages[0], parts=(ir.Text(text="Hm."), *messages[0].parts)),
        *messages[1:],
    ],
    "other ids and more text": lambda messages: [
        replace(
            messages[0], parts=(ir.Text(text="I shall sound all of them now."), *messages[0].parts)
        ),
        *respelled(messages)[1:],
    ],
}


def turned(ours, theirs, answer, messages, before=()):
    """The assistant's parts that a provider gets back for what a client returned."""
    first, wire = Exchange(ours, theirs), encode_request(asked(*before), target=ours)
    first.request(wire.data(), wire.path)
    answered(first, answer, stream=False)
    kept = dict(first.kept_state())
    again, wire = Exchange(ours, theirs), encode_request(asked(*before, *messages), target=ours)
    again.decode_request(wire.data(), wire.path)
    missing = again.missing_state().items()
    states = {index: state for index, keys in missing if (state := found(kept, keys))}
    again.restore_state(states)
    sent = again.request(wire.data(), wire.path)
    there = decode_request(sent.data, source=theirs, path=sent.path)
    return [part for each in there.messages if each.role == "assistant" for part in each.parts]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_state_is_found_again_whatever_the_client_changes(ours, theirs, change):
    """X-18: text dropped or shortened, ids respelled or none, arguments written again."""
    answer = said_with(native_answer(theirs))
    parts = turned(ours, theirs, answer, CHANGES[change](list(stripped(answer))))
    wanted = [part for part in answer.choices[0].parts if not isinstance(part, ir.Text)]
    assert state_of(parts) == state_of(wanted)
    assert [part.name for part in parts if isinstance(part, ir.ToolCall)] == ["sound", "sound"]


@pytest.mark.parametrize("ours", ["openai-chat", "ollama"])
def test_the_same_call_made_twice_has_two_states(ours):
    """The second is kept for the second, although name and arguments are the same."""
    answer = native_answer("gemini")
    once = respelled(stripped(answer), lambda n: f"one_{n}")
    twice = respelled(stripped(answer), lambda n: f"two_{n}")
    parts = turned(ours, "gemini", answer, twice, before=once)
    calls = [part for part in parts if isinstance(part, ir.ToolCall)]
    assert [call.signature == "s1" for call in calls] == [False, False, True, False]


def test_a_call_that_was_edited_gets_no_state_of_another():
    answer = native_answer("gemini")
    edited = [
        replace(
            each,
            parts=tuple(
                replace(part, arguments='{"at":"sea"}') if isinstance(part, ir.ToolCall) else part
                for part in each.parts
            ),
        )
        for each in respelled(stripped(answer))
    ]
    parts = turned("openai-chat", "gemini", answer, edited)
    assert "s1" not in state_of(parts)


def test_another_conversation_gets_nothing():
    answer = native_answer("gemini")
    first = Exchange("openai-chat", "gemini")
    first.request(encode_request(asked(), target="openai-chat").data())
    answered(first, answer, stream=False)
    kept = dict(first.kept_state())
    other = asked(*respelled(stripped(answer)))
    hello = ir.Message(role="user", parts=(ir.Text(text="Hello."),))
    other = replace(other, messages=(hello, *other.messages[1:]))
    assert [found(kept, keys) for keys in keys_of(other).values()] == [None]


def keys_of_turns(turns, order=1):
    call = ir.ToolCall(id="c", name="read", arguments='{"path": "a"}')
    said = ir.Message(role="assistant", parts=(call,))
    result = ir.Message(role="user", parts=(ir.ToolResult(id="c"),))
    request = ir.Request(model="m", messages=(said, result) * turns)
    missing = missing_state(request, get_protocol("openai-chat").SURFACE)
    return [tuple(keys) for keys in list(missing.values())[::order]]


def test_each_turn_has_a_key_of_its_own_in_whatever_order_they_are_asked_for():
    keys = keys_of_turns(5)
    assert len(set(keys)) == 5
    assert keys_of_turns(5, order=-1) == keys[::-1]


def test_the_keys_of_a_long_history_take_time_in_proportion_to_its_length():
    assert grows_linearly(keys_of_turns, 20)
