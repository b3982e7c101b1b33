"""Laws of ids and names: legal, distinct, stable, and the client's own in the answer."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws.corpus import NAMES, PAIRS
from tests.laws.streams import decode, encode
from tests.wires import (
    TRIO_PAIRS,
    across,
    answer,
    asking,
    assistant,
    call,
    parts_of,
    result,
    said,
    seen,
    tool,
    user,
)

from toolglot import StreamTranslator, ir
from toolglot.adapt.aliases import make_alias
from toolglot.events import fold, unfold
from toolglot.surface import IdentifierRule

IDS = {
    "anthropic": r"[a-zA-Z0-9_-]+",
    "openai-chat": r"(?s).{1,64}",
    "openai-responses": r"(?s).{1,64}",
    "gemini-interactions": r"(?s).+",
    "gemini": r"(?s).+",
    "bedrock-converse": r"[a-zA-Z0-9_-]{1,64}",
}
TOOL_NAMES = {
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "openai-chat": r"[a-zA-Z0-9_-]{1,64}",
    "openai-responses": r"[a-zA-Z0-9_-]{1,64}",
    "gemini-interactions": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    "ollama": r"(?s).+",
    "bedrock-converse": r"[a-zA-Z0-9_-]{1,64}",
}
BY_ID = [(source, target) for source, target in PAIRS if target != "ollama"]
"""The one protocol without a place for ids takes part as a client only."""

PREFIX = {"anthropic": "toolu_", "openai-chat": "call_", "openai-responses": "fc_"}
SLOW = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

texts = (
    st.text(min_size=1, max_size=12)
    | st.from_regex(r"(call|toolu|fc|functions)[._:-][a-c]{1,2}[.:_]?[01]", fullmatch=True)
    | st.integers(60, 200).map(lambda length: "x" * length)
)


@st.composite
def sets(draw: st.DrawFn) -> list[str]:
    """Different texts, among them some that are what another would become."""
    found = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
    rule = IdentifierRule(chars="a-zA-Z0-9_-", most=draw(st.sampled_from([64, 128])))
    traps = [make_alias(text, rule) for text in found if draw(st.booleans())]
    return draw(st.permutations(list(dict.fromkeys([*found, *traps]))))


def talk(ids: list[str], names: list[str]) -> ir.Request:
    """A conversation with calls of these ids and names, as many as there are of both."""
    turns: list[ir.Message] = []
    for each, name in zip(ids, names, strict=False):
        turns.append(assistant(call(name, id=each)))
        turns.append(user(result("done", id=each, name=name)))
    return asking(user("go"), *turns, tools=tuple(map(tool, names)), max_tokens=99)


def asked(request: ir.Request, name: str) -> dict[str, Any]:
    """A body that says the model too, which one protocol keeps in the path."""
    return {"model": request.model, **said(request, name)}


def ids_of(value: Any) -> list[str]:
    return [part.id for part in parts_of(value, ir.ToolCall)]


def names_of(value: Any) -> list[str]:
    return [part.name for part in parts_of(value, ir.ToolCall)]


@pytest.mark.parametrize(("source", "target"), BY_ID)
@given(ids=sets())
@SLOW
def test_ids_are_legal_distinct_paired_and_come_back(
    source: str, target: str, ids: list[str]
) -> None:
    """D-01, X-19: any set of ids, there and back."""
    request = talk(ids, ["look"] * len(ids))
    there = across(request, source, target)
    theirs = ids_of(there)
    assert all(re.fullmatch(IDS[target], each) for each in theirs)
    assert len(set(theirs)) == len(ids)
    assert theirs == [part.id for part in parts_of(there, ir.ToolResult)]
    echo = answer(*(call("look", id=each) for each in theirs))
    assert ids_of(seen(echo, target, source, request=asked(request, source))) == ids


@pytest.mark.parametrize(("source", "target"), BY_ID)
@given(ids=sets())
@SLOW
def test_ids_stay_what_they_were_when_the_conversation_grows(
    source: str, target: str, ids: list[str]
) -> None:
    """D-01: what a provider was told once, it is told again."""
    whole = ids_of(across(talk(ids, ["look"] * len(ids)), source, target))
    for end in range(1, len(ids)):
        part = ids[:end]
        assert ids_of(across(talk(part, ["look"] * end), source, target)) == whole[:end]


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(names=sets())
@SLOW
def test_names_are_legal_distinct_and_come_back(source: str, target: str, names: list[str]) -> None:
    """X-20: any set of names, there and back, whole and as a stream."""
    ids = [f"call_{index}" for index in range(len(names))]
    request = talk(ids, names)
    there = across(request, source, target)
    theirs = [each.name for each in there.tools]  # type: ignore[union-attr]
    assert all(re.fullmatch(TOOL_NAMES[target], each) for each in theirs)
    assert len(set(theirs)) == len(names)
    assert names_of(there) == theirs, "the history uses the names of the definitions"
    echo = answer(*(call(name, id=f"new_{index}") for index, name in enumerate(theirs)))
    body = asked(request, source)
    assert names_of(seen(echo, target, source, request=body)) == names
    translator = StreamTranslator(target, source, request=body)
    written = translator.feed(encode(target, unfold(echo))) + translator.close()
    assert names_of(fold(decode(source, [written]))) == names


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(names=sets())
@SLOW
def test_names_stay_what_they_were_when_the_conversation_grows(
    source: str, target: str, names: list[str]
) -> None:
    """X-20: with the same tools, a longer history changes none of their names."""
    ids = [f"call_{index}" for index in range(len(names))]
    whole = across(talk(ids, names), source, target)
    short = across(talk(ids[:1], names), source, target)
    assert short.tools == whole.tools
    assert names_of(short) == names_of(whole)[:1]


@pytest.mark.parametrize(("source", "target"), TRIO_PAIRS)
@given(ids=sets())
@SLOW
def test_prefixed_ids_are_legal_distinct_and_come_back(
    source: str, target: str, ids: list[str]
) -> None:
    """D-01, S0-48: the same under `ids="prefix"`."""
    request = talk(ids, ["look"] * len(ids))
    theirs = ids_of(across(request, source, target, ids="prefix"))
    assert all(each.startswith(PREFIX[target]) for each in theirs)
    assert all(re.fullmatch(IDS[target], each) for each in theirs)
    assert len(set(theirs)) == len(ids)
    echo = answer(*(call("look", id=each) for each in theirs), call("look", id="made-by-them"))
    back = seen(echo, target, source, request=asked(request, source), ids="prefix")
    assert ids_of(back)[:-1] == ids
    assert ids_of(back)[-1].startswith(PREFIX[source])
    assert len(set(ids_of(back))) == len(ids) + 1


@pytest.mark.parametrize("name", NAMES)
@given(ids=sets(), names=sets())
@SLOW
def test_a_protocol_keeps_its_own(name: str, ids: list[str], names: list[str]) -> None:
    """D-01: without a translation nothing is changed, legal or not."""
    there = across(talk(ids, names), name, name)
    assert [each.name for each in there.tools] == names  # type: ignore[union-attr]
    assert names_of(there) == names[: len(ids)]
    assert ids_of(there) == ids[: len(names)]
