"""Reasoning state, sealed for clients and opened for its issuer."""

import pytest
from msgspec.structs import replace
from tests.wires import NAMES, PAIRS, answer, asking, assistant, call, pair, user

from toolglot import ir, translate_request, translate_response
from toolglot.adapt.answers.part_order import OrderParts
from toolglot.adapt.answers.passes import adapt_whole
from toolglot.adapt.reasoning.seal import SealState
from toolglot.adapt.reasoning.sealed_state import TAG, Place, SealedState, pack, unpack, unseal
from toolglot.ir import Reasoning, Text
from toolglot.translate import decode_response, encode_request

SIGNED = Reasoning(text="Hm.", signature="c2ln", id="rs_1", extras={"anthropic": {"x": 1}})


def codes(ctx):
    return [note.code for note in ctx.receipt()]


def sealed(source, target, *parts, **more):
    ctx = pair(source, target, **more)
    passes = [SealState(ctx), *([] if ctx.target.messages.ordered else [OrderParts(ctx)])]
    return adapt_whole(answer(*parts), passes, ctx).choices[0].parts, ctx


def opened(source, target, *parts, **more):
    ctx = pair(source, target, **more)
    return unseal(asking(user("hi"), assistant(*parts)), ctx).messages[1].parts, ctx


# --- sealed state itself --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "state",
    [
        SealedState("anthropic"),
        SealedState("gemini", reasoning=SIGNED),
        SealedState("x", layout=(Place(text=3), Place(call="c", arguments="{ }", signature="s"))),
        SealedState("x", reasoning=Reasoning(text="\ud83d lone")),
    ],
)
def test_sealed_state_is_text_and_back(state):
    text = pack(state)
    assert text.startswith(TAG)
    assert text.isascii()
    assert unpack(text) == state


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "c2ln",
        TAG,
        TAG + "!!",
        TAG + "e30=",
        TAG + "W10=",
        pack(SealedState("a"))[:-3] + "x",
    ],
)
def test_what_is_not_sealed_is_none(text):
    assert unpack(text) is None


# --- back to the provider -------------------------------------------------------------------------

LAYOUTS = [
    (SIGNED, Text(text="So."), call("f", '{"a":1}')),
    (Text(text="one"), SIGNED, Text(text="two"), call("f"), Text(text="three")),
    (SIGNED, replace(SIGNED, text="two", signature="dHdv"), call("f"), call("g", id="c2")),
    (replace(call("f", '{"a": 1.0}'), signature="c2ln"), call("g", id="c2")),
    (Reasoning(redacted=True, signature="c2Vj"), Text(text="x")),
]


@pytest.mark.parametrize("parts", LAYOUTS)
@pytest.mark.parametrize(("provider", "client"), PAIRS)
def test_what_a_provider_said_comes_back_as_it_was(provider, client, parts):
    """X-18, case-35"""
    there, _ = sealed(provider, client, *parts)
    back, ctx = opened(client, provider, *there)
    assert back == parts
    assert "reasoning-dropped" not in codes(ctx)


@pytest.mark.parametrize("client", [name for name in NAMES if name != "gemini"])
def test_signed_texts_come_back_to_the_one_who_signs_texts(client):
    """case-33"""
    parts = (Text(text="one"), replace(Text(text="two"), signature="dHdv"))
    there, _ = sealed("gemini", client, *parts)
    assert "dHdv" not in "".join(getattr(part, "signature", None) or "" for part in there)
    assert opened(client, "gemini", *there)[0] == parts


@pytest.mark.parametrize("target", [name for name in NAMES if name != "anthropic"])
def test_nobody_else_gets_it(target):
    """case-34"""
    there, _ = sealed("anthropic", "openai-responses", SIGNED, "So.")
    source = "openai-responses" if target != "openai-responses" else "openai-chat"
    back, ctx = opened(source, target, *there)
    assert back == (Text(text="So."),)
    assert codes(ctx) == ["reasoning-dropped"]
    assert "anthropic" in next(iter(ctx.receipt())).message


def test_broken_state_is_another_providers():
    broken = Reasoning(text="Hm.", signature=TAG + "cut", redacted=True)
    back, ctx = opened("openai-responses", "anthropic", broken, "So.")
    assert back == (Text(text="So."),)
    assert codes(ctx) == ["reasoning-dropped"]


def test_words_without_state_go_to_those_who_take_them():
    """case-37"""
    plain = Reasoning(text="Hm.")
    assert opened("anthropic", "openai-chat", plain)[0] == (plain,)
    back, ctx = opened("openai-chat", "anthropic", plain, "So.")
    assert back == (Text(text="So."),)
    assert codes(ctx) == ["reasoning-dropped"]


def test_words_beside_sealed_state_are_no_loss():
    """X-18: they were only for the client to read."""
    shown, hidden = Reasoning(text="Hm."), sealed("anthropic", "openai-chat", SIGNED)[0][0]
    state = Reasoning(redacted=True, signature=hidden.signature)
    back, ctx = opened("openai-chat", "anthropic", shown, state, "So.")
    assert back == (SIGNED, Text(text="So."))
    assert codes(ctx) == ["reasoning-restored"]


def test_a_provider_gets_its_own_native_state():
    ctx = pair("anthropic", "anthropic")
    request = asking(user("hi"), assistant(SIGNED, "So."))
    assert unseal(request, ctx).messages == request.messages


def test_a_message_that_the_client_changed_is_taken_as_it_is():
    there, _ = sealed("openai-chat", "anthropic", call("f", '{ "a": 1 }'), call("g", id="c2"))
    kept = tuple(part for part in there if getattr(part, "id", None) != "c2")
    back, _ = opened("anthropic", "openai-chat", *kept)
    assert [part.name for part in back] == ["f"]


def test_arguments_that_the_client_changed_are_the_clients():
    there, _ = sealed("openai-chat", "anthropic", call("f", '{ "a": 1 }'))
    changed = (replace(there[0], arguments='{"a":2}'), *there[1:])
    back, _ = opened("anthropic", "openai-chat", *changed)
    assert back == (call("f", '{"a":2}'),)


def test_calls_of_a_client_without_ids_are_known_by_their_order():
    """case-33"""
    first = replace(call("f", id="call_a"), signature="c2ln")
    there, _ = sealed("gemini", "ollama", first, call("g", id="call_b"))
    calls = [part for part in there if isinstance(part, ir.ToolCall)]
    nameless = [replace(part, id=f"call_{n}", id_made=True) for n, part in enumerate(calls)]
    others = [part for part in there if not isinstance(part, ir.ToolCall)]
    back, _ = opened("ollama", "gemini", *others, *nameless)
    assert [(part.name, part.signature) for part in back] == [("f", "c2ln"), ("g", None)]


def test_calls_of_a_client_without_ids_tell_of_themselves():
    """X-18: only the first of two calls carries something, and the ids are gone."""
    parts = (SIGNED, Text(text="So."), call("f", id="toolu_a"), call("g", id="toolu_b"))
    there, _ = sealed("anthropic", "gemini", *parts)
    calls = [part for part in there if isinstance(part, ir.ToolCall)]
    assert [part.signature is None for part in calls] == [False, True]
    nameless = [replace(part, id=f"toolu_{n}", id_made=True) for n, part in enumerate(calls)]
    back, ctx = opened("gemini", "anthropic", Text(text="So."), *nameless)
    assert back[:2] == parts[:2]
    assert [part.name for part in back[2:]] == ["f", "g"]
    assert "reasoning-dropped" not in codes(ctx)


@pytest.mark.parametrize("client", ["anthropic", "openai-responses", "gemini", "ollama"])
def test_state_on_calls_of_a_chat_provider_comes_back(client):
    """X-18: Google's models refuse calls without it, also where they speak Chat Completions."""
    extra = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    function = {"name": "f", "arguments": "{}"}
    called = {"id": "c1", "type": "function", "function": function, "extra_content": extra}
    message = {"role": "assistant", "content": "Hm.", "tool_calls": [called]}
    body = {
        "id": "1", "object": "chat.completion", "model": "m", "created": 1,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }  # fmt: skip
    shown, _ = translate_response(body, source="openai-chat", target=client)
    answered = decode_response(shown.body, source=client)
    turn = ir.Message(role="assistant", parts=answered.choices[0].parts)
    result = ir.ToolResult(id="c1", name="f", parts=(ir.Text(text="done"),))
    history = (turn, ir.Message(role="user", parts=(result,)))
    request = ir.Request(model="m", messages=history, max_tokens=9)
    back = encode_request(request, target=client)
    sent, _ = translate_request(back.body, source=client, target="openai-chat", path=back.path)
    (told,) = (each for each in sent.body["messages"] if each["role"] == "assistant")
    assert told["tool_calls"][0]["extra_content"] == extra
