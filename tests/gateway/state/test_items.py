"""Items of the Responses API: read, named, listed."""

import pytest
from msgspec import Raw

from toolglot.adapt.reasoning.sealed_state import SealedState, pack
from toolglot.errors import DecodeError
from toolglot.gateway.state.items import (
    is_foreign_reasoning,
    normalize_item,
    paginate,
    read_items,
    unanswered_result,
)
from toolglot.wire import jsontext

ITEMS = [{"id": f"i{number}", "type": "message"} for number in range(5)]


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        (None, []),
        ([], []),
        ("Hi", ["message"]),
        (Raw(b'"Hi"'), ["message"]),
        (Raw(b'[{"type":"a"},{"type":"b"}]'), ["a", "b"]),
        ([{"type": "a"}], ["a"]),
    ],
)
def test_an_input_is_a_list_a_text_or_nothing(given, kinds):
    assert [jsontext.read(item)["type"] for item in read_items(given)] == kinds


@pytest.mark.parametrize("given", [7, Raw(b"7"), {"type": "message"}])
def test_an_input_is_nothing_else(given):
    with pytest.raises(DecodeError, match="input"):
        read_items(given)


def test_items_are_listed_with_a_type_an_id_and_content_in_parts():
    def made(prefix):
        return prefix + "1"

    assert normalize_item({"role": "user", "content": "Hi"}, made) == {
        "id": "msg_1",
        "role": "user",
        "type": "message",
        "content": [{"type": "input_text", "text": "Hi"}],
        "status": "completed",
    }
    assert normalize_item({"role": "assistant", "content": "Hi"}, made)["content"] == [
        {"type": "output_text", "text": "Hi", "annotations": []}
    ]
    own = {"id": "mine", "type": "function_call", "status": "in_progress"}
    assert normalize_item(Raw(jsontext.encode(own)), made) == own
    assert normalize_item({"id": None, "type": "new_kind"}, made) == {
        "id": "item_1",
        "type": "new_kind",
    }


@pytest.mark.parametrize(
    ("query", "ids", "more"),
    [
        ({}, ["i4", "i3", "i2", "i1", "i0"], False),
        ({"order": "asc", "limit": "2"}, ["i0", "i1"], True),
        ({"limit": "2", "after": "i2"}, ["i1", "i0"], False),
        ({"after": "i0"}, [], False),
    ],
)
def test_pages(query, ids, more):
    shown = paginate(ITEMS, query)
    assert [item["id"] for item in shown["data"]] == ids
    assert shown["has_more"] is more
    assert shown["first_id"] == (ids[0] if ids else None)
    assert shown["last_id"] == (ids[-1] if ids else None)


@pytest.mark.parametrize(
    "query", [{"limit": "0"}, {"limit": "101"}, {"limit": "x"}, {"order": "up"}, {"after": "x"}]
)
def test_pages_that_do_not_exist(query):
    (key,) = query
    with pytest.raises(DecodeError, match=key):
        paginate(ITEMS, query)


SEALED = pack(SealedState(issuer="another"))


@pytest.mark.parametrize(
    ("item", "own", "foreign"),
    [
        ({"type": "message", "content": "reasoning"}, False, False),
        ({"type": "reasoning", "encrypted_content": "state"}, True, False),
        ({"type": "reasoning", "encrypted_content": "state"}, False, True),
        ({"type": "reasoning", "encrypted_content": SEALED}, False, False),
        ({"type": "reasoning", "encrypted_content": None}, True, True),
        ({"type": "reasoning"}, True, True),
    ],
)
def test_reasoning_that_only_its_issuer_takes(item, own, foreign):
    for each in (item, Raw(jsontext.encode(item))):
        assert is_foreign_reasoning(each, own=own) is foreign


def test_results_whose_calls_are_missing():
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    own = {"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": ""}
    given = [{"type": "function_call_output", "call_id": "c1", "output": ""}]
    more = [*given, {"type": "custom_tool_call_output", "call_id": "c2", "output": ""}]
    assert unanswered_result(given, [call]) is None
    assert unanswered_result(given, [Raw(jsontext.encode(call))]) is None
    assert unanswered_result([own, *more], [call]) is None
    assert unanswered_result(more, [call]) == "c2"
    assert unanswered_result(given, given) == "c1"
    assert unanswered_result(given, [{"type": "compaction", "encrypted_content": "x"}]) is None
    assert unanswered_result([{"role": "user", "content": "hi"}], []) is None
