"""Responses as the client's protocol can show them."""

import pytest
from msgspec.structs import replace
from tests.wires import answer, asking, call, pair, user

from toolglot import get_protocol, ir
from toolglot.adapt.answers.adapt_parts import AdaptParts, adapt_part
from toolglot.adapt.answers.passes import adapt_whole
from toolglot.ir import Choice, Inline, Opaque, Refusal, Response, StopReason, Text


def adapted(response, source, target, **more):
    ctx = pair(source, target, **more)
    return adapt_whole(response, [AdaptParts(ctx)], ctx), ctx


def notes(ctx):
    return [(note.code, note.path) for note in ctx.receipt()]


def test_the_model_is_the_one_that_was_asked_for():
    """X-17"""
    there, _ = adapted(answer("hi"), "gemini", "anthropic", request=asking(user("hi")))
    assert there.model == "some-model"
    assert adapted(answer("hi"), "gemini", "anthropic")[0].model == "that-model"


def test_one_choice_where_there_is_one():
    both = replace(
        answer("a"),
        choices=tuple(
            Choice(parts=(Text(text=t),), index=i, stop=StopReason(kind="end"))
            for i, t in enumerate("ab")
        ),
    )
    there, ctx = adapted(both, "openai-chat", "anthropic")
    assert [choice.parts for choice in there.choices] == [(Text(text="a"),)]
    assert notes(ctx) == [("choices-dropped", "choices")]
    assert len(adapted(both, "openai-chat", "gemini")[0].choices) == 2


@pytest.mark.parametrize(
    ("parts", "kind"),
    [((Text(text="hi"),), "end"), ((Text(text="hi"), call("f")), "tool_calls"), ((), "length")],
)
def test_an_answer_that_does_not_say_why_it_stopped(parts, kind):
    """case-21"""
    silent = Response(id="r", model="m", choices=(Choice(parts=parts),))
    there, ctx = adapted(silent, "openai-chat", "anthropic")
    assert there.choices[0].stop == StopReason(kind=kind)
    assert notes(ctx) == [("default-added", "choices[0].finish_reason")]


def test_no_choices_are_one_that_is_empty():
    """case-21"""
    there, _ = adapted(Response(id="r", model="m", choices=()), "openai-chat", "anthropic")
    assert there.choices == (Choice(parts=(), stop=StopReason(kind="length")),)


def test_probabilities_go_where_they_have_no_place():
    told = answer("hi")
    told = replace(told, choices=(replace(told.choices[0], logprobs={"content": []}),))
    there, ctx = adapted(told, "openai-chat", "anthropic")
    assert there.choices[0].logprobs is None
    assert notes(ctx) == [("logprobs-dropped", "choices[0].logprobs")]
    assert adapted(told, "openai-chat", "ollama")[0].choices[0].logprobs == {"content": []}


def test_arguments_are_brought_into_form():
    """S0-63"""
    there, ctx = adapted(answer(call("f", "")), "openai-chat", "anthropic")
    assert there.choices[0].parts[0].arguments == "{}"
    assert notes(ctx) == [("arguments-normalised", "choices[0].message.tool_calls[0]")]


def test_made_ids_begin_as_the_clients_do():
    """S0-04"""
    made = ir.ToolCall(id="call_9", name="f", arguments="{}", id_made=True)
    there, _ = adapted(answer(made), "ollama", "anthropic")
    assert there.choices[0].parts[0].id == "toolu_9"


@pytest.mark.parametrize(
    ("part", "target", "shown", "code"),
    [
        (Refusal(text="no"), "anthropic", Text(text="no"), "part-replaced"),
        (Refusal(text="no"), "openai-chat", Refusal(text="no"), None),
        (
            ir.Image(source=Inline(media_type="image/png", data="aGk=")),
            "anthropic",
            Text(text="[image (image/png) left out]"),
            "part-dropped",
        ),
        (
            Opaque(protocol="gemini", type="executableCode", value={}),
            "ollama",
            None,
            "part-dropped",
        ),
        (
            Text(text="x", citations=(ir.Citation(url="https://a"),)),
            "anthropic",
            Text(text="x"),
            "citation-dropped",
        ),
        (ir.Reasoning(text="hm"), "ollama", ir.Reasoning(text="hm"), None),
    ],
)
def test_parts(part, target, shown, code):
    ctx = pair("gemini", target)
    assert adapt_part(part, 0, get_protocol(target).SURFACE, ctx) == shown
    path = "groundingMetadata" if code == "citation-dropped" else "content"
    assert notes(ctx) == ([(code, f"candidates[0].{path}")] if code else [])
