"""What a format can say survives the way through another; the rest is in the receipt."""

import pytest
from hypothesis import given
from tests.convert.conversations import RICH, WEATHER, in_format, read, rows, said

from toolglot.convert import FORMATS, RecordedConversation, convert_rows, get_format
from toolglot.errors import InexpressibleError, UntranslatableError

ALL = [each for each in FORMATS.values() if each.writable]
QUESTIONS = {"xlam", "bfcl"}
"""One question and its calls, without answers."""
AGENTS = {each.name for each in ALL if each.client}
"""They bring system text and tools of their own."""


def around(first, through):
    """Rows of a format, the same after the way through another, and all losses on that way.

    Blank text that a format does not take is no loss, but it is not the same either.
    """
    there = convert_rows(first[0], first[1], through)
    back = convert_rows(there.rows, through, first[1])
    blank = [note for note in (*there.receipt, *back.receipt) if note.code == "blank-text"]
    return back.rows, (*there.receipt.losses, *back.receipt.losses, *blank)


def same(rows, others, form):
    return said(read(rows, form)) == said(read(others, form))


@pytest.mark.parametrize("through", ALL, ids=lambda each: each.name)
def test_plain_calls_survive_every_format(through):
    back, losses = around(([WEATHER], get_format("openai")), through)
    if through.name in QUESTIONS | AGENTS:
        assert losses
    else:
        assert losses == ()
        assert same([WEATHER], back, get_format("openai"))


@pytest.mark.parametrize("form", ALL, ids=lambda each: each.name)
@pytest.mark.parametrize("row", [WEATHER, RICH], ids=["weather", "rich"])
def test_every_pair_keeps_or_tells(form, row):
    rows, _ = in_format(row, form)
    for through in ALL:
        back, losses = around((rows, form), through)
        assert losses or _but_for_clients(rows, back, form, through), through.name


def _but_for_clients(rows, back, form, through):
    """An agent's session in another agent: it brings its own system text and tools."""
    mine, other = said(read(rows, form)), said(read(back, form))
    if form.client and through.client:
        mine = [each for each in mine if each[0] not in ("system", "~tool")]
        other = [each for each in other if each[0] not in ("system", "~tool")]
    return mine == other


@given(rows())
def test_any_conversation_is_kept_or_told(row):
    start = get_format("openai")
    for through in ALL:
        try:
            back, losses = around(([row], start), through)
        except InexpressibleError:
            continue
        assert losses or same([row], back, start), through.name


@pytest.mark.parametrize("form", ALL, ids=lambda each: each.name)
def test_what_is_written_is_read_without_a_change(form):
    rows, _ = in_format(WEATHER, form)
    again = convert_rows(rows, form, form)
    assert again.receipt.losses == ()
    assert same(rows, again.rows, form)


@pytest.mark.parametrize("form", ALL, ids=lambda each: each.name)
def test_the_same_input_gives_the_same_rows(form):
    first, second = in_format(RICH, form), in_format(RICH, form)
    assert first == second


def test_strict_refuses_a_loss():
    with pytest.raises(UntranslatableError):
        convert_rows([RICH], get_format("openai"), get_format("sharegpt"), strict=True)


def test_reasoning_state_returns_to_its_issuer_through_a_format_that_keeps_it():
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
    answer = {"role": "assistant", "content": [thinking, {"type": "text", "text": "Hello."}]}
    row = {"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}, answer]}
    rows, losses = around(([row], get_format("anthropic")), get_format("atif"))
    assert losses == ()
    assert rows[0]["messages"][1]["content"][0] == thinking


def test_reasoning_state_is_dropped_with_a_note_elsewhere():
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
    answer = {"role": "assistant", "content": [thinking, {"type": "text", "text": "Hello."}]}
    row = {"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}, answer]}
    done = convert_rows([row], get_format("anthropic"), get_format("openai"))
    assert done.rows[0]["messages"][2]["reasoning_content"] == "Hm."
    assert "reasoning-dropped" in done.receipt.codes()


def test_columns_are_kept_where_there_is_a_place_and_noted_elsewhere():
    row = {**WEATHER, "source": "here"}
    kept = convert_rows([row], get_format("trl"), get_format("sharegpt"))
    assert kept.rows[0]["source"] == "here"
    dropped = convert_rows([row], get_format("trl"), get_format("openai"))
    assert "source" not in dropped.rows[0]
    assert [note.path for note in dropped.receipt.losses] == ["source"]


def test_a_conversation_is_a_value():
    conversation = read([WEATHER], get_format("openai"))
    assert conversation == read([WEATHER], get_format("openai"))
    assert isinstance(conversation, RecordedConversation)
    with pytest.raises(AttributeError):
        conversation.facts = {}


def test_a_schema_that_is_written_out_is_noted():
    tool = {"type": "function", "function": {"name": "book"}}
    row = {"messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
    done = convert_rows([row], get_format("openai"), get_format("sharegpt"))
    assert "schema-default" in done.receipt.codes()
