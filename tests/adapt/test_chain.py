"""The chain of passes, and passes of one's own."""

import pytest
from msgspec.structs import replace
from tests.laws.corpus import fixture_id, fixtures, load, path_to
from tests.laws.streams import decode, stream_of
from tests.wires import answer, words

import toolglot
from toolglot import decode_request, decode_response, encode_response
from toolglot.adapt import REQUEST_PASSES, active_passes
from toolglot.context import Context
from toolglot.errors import StreamError
from toolglot.events import Failed, Finished, PartDelta, PartStarted, fold
from toolglot.ir import ApiError, Text
from toolglot.providers import book_names, surface_for
from toolglot.registry import PROTOCOLS, get_protocol


def shout(request, ctx):
    """A pass that changes all text of the user."""
    ctx.note("value-mapped", "messages", "shouted")
    messages = tuple(
        replace(
            message,
            parts=tuple(
                replace(part, text=part.text.upper()) if isinstance(part, Text) else part
                for part in message.parts
            ),
        )
        for message in request.messages
    )
    return replace(request, messages=messages)


def test_a_pass_of_ones_own_runs_in_a_translation_and_is_in_the_receipt():
    """S3-39"""
    wire, receipt = toolglot.translate_request(
        {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]},
        source="anthropic",
        target="openai-chat",
        passes=(shout,),
    )
    assert wire.body["messages"][0]["content"] == "HELLO"
    assert "shouted" in [note.message for note in receipt]


def test_a_pass_of_ones_own_over_responses_sees_the_clients_calls():
    """S3-40"""
    seen = []

    def look(response, _ctx):
        seen.extend(part.name for choice in response.choices for part in choice.parts)
        return response

    request = {
        "model": "m",
        "input": "go",
        "tools": [{"type": "function", "name": "cat", "parameters": {"type": "object"}}],
    }
    answer = {
        "content": [{"type": "tool_use", "id": "t", "name": "read_file", "input": {}}],
        "stop_reason": "tool_use",
    }
    toolglot.translate_response(
        answer,
        source="anthropic",
        target="openai-responses",
        request=request,
        rules=toolglot.ToolRules(rename={"cat": "read_file"}),
        response_passes=(look,),
    )
    assert seen == ["cat"]


class _Shout:
    """Makes the words of an answer capital letters."""

    def __init__(self, ctx):
        self._ctx = ctx

    def feed(self, event):
        if isinstance(event, PartDelta) and event.field == "text":
            return (replace(event, text=event.text.upper()),)
        if isinstance(event, PartStarted) and isinstance(event.part, Text):
            if event.part.text:
                self._ctx.note("value-mapped", self._ctx.part_at(event.index), "louder")
            return (replace(event, part=replace(event.part, text=event.part.text.upper())),)
        return (event,)


@pytest.mark.parametrize(("source", "target"), [(a, b) for a in PROTOCOLS for b in PROTOCOLS])
def test_a_users_event_pass_sees_whole_answers_and_streams(source, target):
    """In every pair, also where nothing else would change."""
    said = answer("quietly")
    wire, receipt = toolglot.translate_response(
        encode_response(said, target=source).data(),
        source=source,
        target=target,
        event_passes=(_Shout,),
    )
    assert words(decode_response(wire.data(), source=target)) == "QUIETLY"
    assert "value-mapped" in receipt.codes()
    translator = toolglot.StreamTranslator(source, target, watch=True, event_passes=(_Shout,))
    data = translator.feed(stream_of(source, said)) + translator.close()
    assert words(fold(decode(target, [data]))) == "QUIETLY"


class _Refuse:
    """Ends every answer with an error."""

    def __init__(self, _ctx):
        pass

    def feed(self, event):
        error = ApiError(kind="content_policy", message="no")
        return (Failed(error),) if isinstance(event, Finished) else (event,)


def test_an_error_of_a_users_event_pass_is_not_an_answer():
    said = answer("quietly")
    data = encode_response(said, target="ollama").data()
    with pytest.raises(StreamError, match="no"):
        toolglot.translate_response(
            data, source="ollama", target="anthropic", event_passes=(_Refuse,)
        )
    translator = toolglot.StreamTranslator("ollama", "anthropic", event_passes=(_Refuse,))
    written = translator.feed(stream_of("ollama", said)) + translator.close()
    assert fold(decode("anthropic", [written])).message == "no"


def targets():
    """What each protocol accepts, and each provider of it: for models of all families."""
    models = ("gpt-5.4", "claude-opus-4-8", "gemini-3-pro", "mistral-large-latest", "deepseek-chat")
    found = [get_protocol(name).SURFACE for name in PROTOCOLS]
    found += [
        surface_for(provider, protocol, model)
        for provider in book_names()
        for protocol in PROTOCOLS
        for model in models
    ]
    return list({id(each): each for each in found}.values())


TARGETS = targets()


@pytest.mark.parametrize(("name", "file"), fixtures("request"), ids=fixture_id)
def test_a_pass_that_is_left_out_has_nothing_to_do(name, file):
    """For every provider and model that a rule book knows."""
    request = decode_request(load(file), source=name, path=path_to(name))
    source = get_protocol(name).SURFACE
    for target in TARGETS:
        if target.name == name:
            continue
        ctx, adapted = Context(source=source, target=target), request
        active = {*active_passes(source, target)}
        for adapt in REQUEST_PASSES:
            before, noted = adapted, len(ctx.notes())
            adapted = adapt(adapted, ctx)
            assert adapt in active or (adapted is before and len(ctx.notes()) == noted)


def test_passes_that_cannot_apply_are_left_out():
    for name in PROTOCOLS:
        for target in TARGETS:
            source = get_protocol(name).SURFACE
            passes = active_passes(source, target)
            assert passes is active_passes(source, target)
            assert set(passes) < set(REQUEST_PASSES)
