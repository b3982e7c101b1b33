"""Laws of checking and repairing: what is sound stays, what is repaired conforms."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.laws.corpus import NAMES, names, some_words, turns, words
from tests.wires import said

from toolglot import Context, Options, diagnose, get_protocol, ir, repair_history
from toolglot import validate_arguments as problems_of
from toolglot.adapt.answers.part_order import SerializeParts
from toolglot.adapt.answers.passes import adapt_response
from toolglot.adapt.calls.repair import repair_arguments
from toolglot.adapt.calls.validate import CheckCalls
from toolglot.events import Grammar, fold, unfold

slow_ok = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

# --- schemas, and values that conform to them

_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": words,
    "integer": st.integers(-(2**70), 2**70),
    "number": st.floats(allow_nan=False, allow_infinity=False, width=32),
    "boolean": st.booleans(),
    "null": st.none(),
}


@st.composite
def pairs(draw: st.DrawFn, depth: int = 2) -> tuple[Any, Any]:
    """A schema and a value that conforms to it."""
    kind = draw(st.sampled_from([*_SCALARS, *(["array", "object"] if depth else [])]))
    if kind == "array":
        schema, value = draw(pairs(depth - 1))
        return {"type": "array", "items": schema}, [value] * draw(st.integers(0, 2))
    if kind == "object":
        return draw(objects(depth - 1))
    if kind != "null" and draw(st.booleans()) and draw(st.booleans()):
        return {"anyOf": [{"type": kind}, {"type": "null"}]}, draw(_SCALARS[kind])
    return {"type": kind}, draw(_SCALARS[kind])


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> tuple[Any, Any]:
    """The schema of a tool and arguments that conform to it."""
    members = draw(st.dictionaries(names, pairs(depth), max_size=4))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema for name, (schema, _) in members.items()},
        "required": sorted(members)[:2],
    }
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    return schema, {name: value for name, (_, value) in members.items()}


def _stringified(value: Any) -> Any:
    """Every member as a text, as a model without types gives it."""
    return {
        key: child if isinstance(child, str) else json.dumps(child) for key, child in value.items()
    }


DAMAGES: dict[str, Any] = {
    "none": json.dumps,
    "twice": lambda value: json.dumps(json.dumps(value)),
    "thrice": lambda value: json.dumps(json.dumps(json.dumps(value))),
    "fence": lambda value: f"```json\n{json.dumps(value)}\n```",
    "bare fence": lambda value: f"```\n{json.dumps(value, indent=1)}```",
    "comma": lambda value: json.dumps(value)[:-1] + ",}",
    "quotes": repr,
    "cut": lambda value: json.dumps(value)[:-1],
    "cut more": lambda value: json.dumps(value)[: len(json.dumps(value)) // 2],
    "texts": lambda value: json.dumps(_stringified(value)),
    "chatter": lambda value: f"Sure! {json.dumps(value)} Hope that helps.",
    "xml": lambda value: "".join(f"<{k}>{v}</{k}>" for k, v in value.items()),
    "empty": lambda value: "",
    "nonsense": lambda value: "}{",
}


def request_of(schema: Any) -> ir.Request:
    tool = ir.FunctionTool(name="f", parameters=schema)
    return ir.Request(model="m", messages=(), tools=(tool,))


def answer_of(*texts: str) -> ir.Response:
    calls = tuple(ir.ToolCall(id=f"c{n}", name="f", arguments=t) for n, t in enumerate(texts))
    parts = (ir.Text(text="Hm."), *calls)
    choice = ir.Choice(parts=parts, stop=ir.StopReason(kind="tool_calls"))
    return ir.Response(id="r", model="m", choices=(choice,))


def context(schema: Any, **options: Any) -> Context:
    surface = get_protocol("openai-chat").SURFACE
    # Mending would make an object of empty arguments before they are checked.
    made = Options(mend="off", **options)
    return Context(made, source=surface, target=surface, request=request_of(schema))


def arguments_of(response: ir.Response) -> list[str]:
    return [part.arguments for part in response.choices[0].parts if isinstance(part, ir.ToolCall)]


POLICIES = ("note", "repair", "retry")


@given(pair=objects(), spaced=st.booleans())
@pytest.mark.parametrize("policy", POLICIES)
@slow_ok
def test_a_conforming_call_is_never_changed(policy: str, pair: Any, spaced: bool) -> None:
    """S1-51: byte for byte, and nothing is said of it."""
    schema, value = pair
    text = json.dumps(value, indent=1 if spaced else None)
    assert problems_of(schema, text) == []
    ctx = context(schema, validate=policy)
    response = answer_of(text)
    assert adapt_response(response, ctx) is response
    assert not ctx.receipt()


@given(pair=objects(), damage=st.sampled_from(sorted(DAMAGES)))
@slow_ok
def test_repaired_arguments_conform_or_are_as_they_were(pair: Any, damage: str) -> None:
    """S0-63, D-11, case-50: whatever happened to them, and a note tells of it."""
    schema, value = pair
    text = DAMAGES[damage](value)
    ctx = context(schema, validate="repair")
    [found] = arguments_of(adapt_response(answer_of(text), ctx))
    codes = ctx.receipt().codes()
    if found != text:
        assert problems_of(schema, found) == []
        assert isinstance(json.loads(found), dict)
        assert codes == {"arguments-repaired": 1}
    elif problems_of(schema, text):
        [note] = ctx.receipt()
        assert note.code == "arguments-mismatch"
        assert note.message.startswith("invalid: ")


@given(pair=objects(), damage=st.sampled_from(["twice", "thrice", "fence", "bare fence", "none"]))
@slow_ok
def test_what_was_only_wrapped_is_found_whole(pair: Any, damage: str) -> None:
    """S0-63"""
    schema, value = pair
    text = DAMAGES[damage](value)
    repair = repair_arguments(text, schema)
    assert repair is not None
    assert json.loads(repair.arguments) == value
    assert not repair.lossy


@given(
    pair=objects(),
    damages=st.lists(st.sampled_from(sorted(DAMAGES)), min_size=1, max_size=4),
    options=st.fixed_dictionaries(
        {},
        optional={
            "validate": st.sampled_from(POLICIES),
            "sanitize": st.sampled_from(["nul", "c0"]),
            "max_calls": st.integers(1, 3),
            "max_calls_policy": st.sampled_from(["note", "queue"]),
        },
    ),
)
@slow_ok
def test_a_stream_gives_what_the_whole_gives(pair: Any, damages: Any, options: Any) -> None:
    """D-11, S3-38: the same calls, the same queue, the same notes; nothing gets lost."""
    schema, value = pair
    response = answer_of(*(DAMAGES[damage](value) for damage in damages))
    whole, live = context(schema, **options), context(schema, **options)
    expected = adapt_response(response, whole)
    serial, checking, grammar = SerializeParts(), CheckCalls(live), Grammar()
    events = []
    for event in unfold(response):
        for one in serial.feed(event):
            for out in checking.feed(one):
                grammar.check(out)
                events.append(out)
    assert fold(events) == expected
    assert live.queued == whole.queued
    assert sorted(note.message for note in live.receipt()) == sorted(
        note.message for note in whole.receipt()
    )
    assert len(arguments_of(expected)) + len(whole.queued) == len(damages)


# --- histories


@st.composite
def histories(draw: st.DrawFn) -> list[ir.Message]:
    """A sound history of words, ids unique, every called tool declared."""
    found = [
        message for turn in draw(st.lists(turns(), min_size=1, max_size=3)) for message in turn
    ]
    ids = [p.id for m in found for p in m.parts if isinstance(p, ir.ToolCall)]
    assume(len(ids) == len(set(ids)))
    last = ir.Message(role="user", parts=(ir.Text(text=draw(some_words)),))
    return [replace(message, parts=_in_words(message.parts)) for message in (*found, last)]


def _in_words(parts: Any) -> Any:
    """Pictures, which not every protocol takes everywhere, as words."""
    picture = ir.Text(text="a heron")
    return tuple(
        picture
        if isinstance(part, ir.Image)
        else replace(part, parts=_in_words(part.parts))
        if isinstance(part, ir.ToolResult)
        else part
        for part in parts
    )


def body_of(messages: list[ir.Message], name: str) -> Any:
    called = {p.name for m in messages for p in m.parts if isinstance(p, ir.ToolCall)}
    tools = tuple(
        ir.FunctionTool(name=each, parameters={"type": "object"}) for each in sorted(called)
    )
    return said(ir.Request(model="m", messages=tuple(messages), tools=tools), name)


KEY = {"openai-responses": "input", "gemini-interactions": "input", "gemini": "contents"}


@pytest.mark.parametrize("name", NAMES)
@given(messages=histories())
@slow_ok
def test_a_sound_history_is_healthy(name: str, messages: Any) -> None:
    """X-10: and comes back as the very same value."""
    body = body_of(messages, name)
    assert diagnose(body, name) == []
    assert repair_history(body, name)[0] is body


@pytest.mark.parametrize("name", NAMES)
@given(messages=histories(), data=st.data())
@slow_ok
def test_any_history_is_healed(name: str, messages: Any, data: st.DataObject) -> None:
    """X-10, case-32: shuffled, cut and doubled; once repaired, it is sound and stays as it is."""
    body = body_of(messages, name)
    key = KEY.get(name, "messages")
    items = [item for item in body[key] for _ in range(data.draw(st.sampled_from([0, 1, 1, 1, 2])))]
    for _ in range(data.draw(st.integers(0, 3))):
        if items:
            item = items.pop(data.draw(st.integers(0, len(items) - 1)))
            items.insert(data.draw(st.integers(0, len(items))), item)
    body[key] = items
    kept = copy.deepcopy(body)
    policy = data.draw(st.sampled_from(["placeholder", "text", "drop"]))
    findings = diagnose(body, name)
    repaired, receipt = repair_history(body, name, policy=policy)
    assert body == kept
    assert len(receipt) == len(findings)
    assert diagnose(repaired, name) == []
    assert repair_history(repaired, name)[0] is repaired
    if policy != "drop":
        before, after = (json.dumps(b[key], ensure_ascii=False) for b in (body, repaired))
        for message in messages:
            for part in message.parts:
                if (
                    isinstance(part, ir.Text)
                    and json.dumps(part.text, ensure_ascii=False) in before
                ):
                    assert json.dumps(part.text, ensure_ascii=False)[1:-1] in after
