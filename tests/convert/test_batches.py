import json
import pickle

from tests.convert.conversations import RICH, WEATHER

from toolglot.convert.batches import Counts, Wanted, convert_batch, convert_file_rows
from toolglot.convert.filters import parse_filter


def lines(*rows):
    return [
        (number, row if isinstance(row, bytes) else json.dumps(row).encode())
        for number, row in enumerate(rows, 1)
    ]


def test_bad_rows_are_set_aside_and_the_rest_goes_on():
    rows = lines(WEATHER, b'{"messages": [', b'"text"', {"what": 1}, b'{"a": "\xff"}', RICH)
    result = convert_batch(rows, Wanted(target="anthropic"))
    assert [row.line for row in result.good] == [1, 6]
    assert [row.line for row in result.bad] == [2, 3, 4, 5]
    reasons = [row.reason for row in result.bad]
    assert "not JSON" in reasons[0]
    assert "JSON object" in reasons[1]
    assert "no known format" in reasons[2]
    assert "not UTF-8" in reasons[3]
    assert result.bad[0].row == '{"messages": ['


def test_mixed_formats_are_recognised_row_by_row():
    share = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]}
    query = {"query": "Hi", "answers": "[]", "tools": "[]"}
    result = convert_batch(lines(WEATHER, share, query), Wanted(target="anthropic"))
    assert [row.source for row in result.good] == ["openai", "sharegpt", "xlam"]


def test_a_format_that_is_named_is_not_recognised():
    result = convert_batch(lines({"query": "Hi"}), Wanted(target="openai", source="sharegpt"))
    assert result.bad[0].reason == "conversations: expected a list"


def test_strict_sets_aside_what_loses_something():
    result = convert_batch(lines(WEATHER, RICH), Wanted(target="sharegpt", strict=True))
    assert (len(result.good), len(result.bad)) == (1, 1)


def test_calls_are_checked_against_their_tools():
    wrong = json.loads(json.dumps(WEATHER).replace("Oslo", "Bergen").replace("city", "town", 1))
    result = convert_batch(lines(WEATHER, wrong), Wanted(target="openai", validate=True))
    assert (result.counts.calls_ok, result.counts.calls_bad) == (1, 1)
    assert [note.code for note in result.good[1].notes] == ["arguments-mismatch"]


def test_filters_keep_some():
    wanted = Wanted(target="openai", filters=(parse_filter("messages>=8"),))
    result = convert_batch(lines(WEATHER, RICH), wanted)
    assert [row.line for row in result.good] == [2]
    assert result.counts.filtered == 1


def test_a_session_that_was_cut_is_still_a_session():
    cut = lines(
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "x"}},
        {
            "timestamp": "2026-01-01T00:00:01Z",
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": "Hi"},
        },
        b'{"timestamp": "2026-01-01T00:00:02Z", "ty',
    )
    result = convert_file_rows(cut, Wanted(target="openai"))
    assert json.loads(result.good[0].data)["messages"] == [{"role": "user", "content": "Hi"}]
    assert [row.line for row in result.bad] == [3]


def test_counts_add_up():
    first, second = Counts(bad=1, codes={"a": 1}), Counts(bad=2, codes={"a": 2, "b": 1})
    first.add(second)
    assert (first.bad, first.codes) == (3, {"a": 3, "b": 1})


def test_what_goes_between_processes_can_be_pickled():
    wanted = Wanted(target="openai", filters=(parse_filter("has-calls"),))
    result = convert_batch(lines(WEATHER, b"x"), wanted)
    assert pickle.loads(pickle.dumps((wanted, result))) == (wanted, result)


def test_a_mistake_of_ours_costs_one_row(monkeypatch):
    from toolglot.convert import batches

    real = batches.convert_rows

    def wrong(rows, *more, **options):
        if len(rows[0]["messages"]) > 5:
            raise KeyError("oops")
        return real(rows, *more, **options)

    monkeypatch.setattr(batches, "convert_rows", wrong)
    result = convert_batch(lines(RICH, WEATHER), Wanted(target="openai"))
    assert [row.line for row in result.good] == [2]
    assert result.bad[0].reason == "a mistake of toolglot: KeyError: 'oops'"
