"""One small file for every format, as its own tools write it; all tell of the weather in Oslo."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from tests.convert.conversations import RICH, WEATHER, in_format, read, said

from toolglot.context import Context
from toolglot.convert import FORMATS, UnknownFormatError, convert_rows, get_format, recognise
from toolglot.convert.loose_schemas import flat_to_schema, schema_to_flat, to_json_schema
from toolglot.convert.transcript import turn_of, with_turn
from toolglot.errors import DecodeError, InexpressibleError
from toolglot.ir import ToolCall

FILES = Path(__file__).parent / "files"
STORY = [
    ("user", "How is the weather in Oslo?"),
    ("call", "get_weather", {"city": "Oslo"}),
    ("result", 0, "Rain, 7 degrees", False),
    ("assistant", "It rains."),
]
BESIDE = {"system", "thought", "~tool"}
UNNAMED = {"trl", "mistral"}
"""They look like another format and have to be named."""


def rows_of(name):
    (path,) = FILES.glob(f"{name}.json*")
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return [json.loads(text)]
    return [json.loads(line) for line in text.splitlines()]


def loaded(name):
    return read(rows_of(name), get_format(name))


def told(conversation):
    """What was said, without what a client wrote by itself."""
    messages = tuple(m for m in conversation.messages if not turn_of(m).get("context"))
    spoken = said(conversation.with_messages(messages))
    return [each for each in spoken if each[0] not in BESIDE]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_the_story(name):
    story = STORY[:2] if name in {"xlam", "bfcl"} else STORY
    assert told(loaded(name)) == story


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_recognised(name):
    found, why = recognise(rows_of(name))
    assert found.name == ("openai" if name in UNNAMED else name)
    assert why


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_file_says_is_written_again(name):
    form = get_format(name)
    rows = rows_of(name)
    again = convert_rows(rows, form, form)
    assert told(read(again.rows, form)) == told(read(rows, form))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("rows", [[{}], [{"messages": 1}], [{"messages": [1]}], [{"steps": {}}]])
def test_what_is_something_else_is_refused_and_not_recognised(name, rows):
    assert recognise(rows) is None
    try:
        done = convert_rows(rows, get_format(name), get_format("atif"))
    except DecodeError:
        return
    assert not done.conversation.messages


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"claude-code", "codex", "opencode"}))
def test_tools_have_schemas_of_json(name):
    tools = loaded(name).request.tools
    for tool in tools:
        assert tool.name == "get_weather"
        assert tool.parameters["properties"]["city"]["type"] in {"string", "STRING"}
    assert bool(tools) is ("tools" in get_format(name).holds)


def test_names_and_aliases():
    assert get_format("apigen-mt") is get_format("sharegpt")
    with pytest.raises(UnknownFormatError, match="known: claude-code"):
        get_format("wordperfect")


# --- sessions of agents ---------------------------------------------------------------------------


def test_claude_code_has_one_message_for_the_blocks_of_an_answer():
    conversation = loaded("claude-code")
    assert [message.role for message in conversation.messages] == [
        "user", "assistant", "user", "assistant",
    ]  # fmt: skip
    turn = turn_of(conversation.messages[1])
    assert turn["usage"] == {"input": 10, "output": 5, "cache_read": 30, "cache_write": 2}
    assert (turn["id"], turn["time"]) == ("msg_1", "2026-11-16T10:00:02.000Z")
    assert conversation.facts["title"] == "The weather in Oslo"


def test_claude_code_leaves_out_what_was_taken_back_and_says_so():
    done = convert_rows(rows_of("claude-code"), get_format("claude-code"), get_format("openai"))
    assert "taken back" not in json.dumps(done.rows)
    assert any("taken back" in note.message for note in done.receipt.losses)


def test_sub_agents_stay_beside_the_conversation():
    (side,) = loaded("claude-code").sides
    assert told(side) == [("user", "Look for umbrellas."), ("assistant", "There are two.")]
    claude, atif = get_format("claude-code"), get_format("atif")
    there = convert_rows(rows_of("claude-code"), claude, atif)
    assert len(there.rows[0]["subagent_trajectories"]) == 1
    back = convert_rows(there.rows, atif, claude)
    assert told(read(back.rows, claude).sides[0]) == told(side)
    lost = convert_rows(rows_of("claude-code"), claude, get_format("codex"))
    assert any("1 sub-agents" in note.message for note in lost.receipt.losses)


def test_signatures_survive_in_their_own_protocol():
    claude = get_format("claude-code")
    for through in ("atif", "anthropic", "claude-code"):
        there = convert_rows(rows_of("claude-code"), claude, get_format(through))
        back = convert_rows(there.rows, get_format(through), claude)
        assert "c2lnbmVk" in json.dumps(back.rows), through


def test_a_line_leads_to_the_one_before():
    rows, _ = in_format(RICH, get_format("claude-code"))
    assert rows[0]["parentUuid"] is None
    for before, row in pairwise(rows):
        assert row["parentUuid"] == before["uuid"]
    assert len({row["uuid"] for row in rows}) == len(rows)
    assert {row["sessionId"] for row in rows} == {rows[0]["sessionId"]}


def test_codex_counts_tokens_of_an_answer_once():
    done = convert_rows(rows_of("codex"), get_format("codex"), get_format("atif"))
    metrics = [step["metrics"] for step in done.rows[0]["steps"] if "metrics" in step]
    assert metrics == [
        {
            "prompt_tokens": 42,
            "completion_tokens": 5,
            "cached_tokens": 30,
            "extra": {"cache_creation_tokens": 2, "reasoning_tokens": 1},
        }
    ]


def test_what_a_client_writes_by_itself_stays_with_it():
    codex = get_format("codex")
    moved = convert_rows(rows_of("codex"), codex, get_format("claude-code"))
    assert "environment_context" not in json.dumps(moved.rows)
    assert "message-dropped" in moved.receipt.codes()
    kept = convert_rows(rows_of("codex"), codex, get_format("atif"))
    assert "environment_context" in json.dumps(kept.rows)


@pytest.mark.parametrize(("first", "second"), [("claude-code", "codex"), ("codex", "claude-code")])
def test_a_summary_stays_one(first, second):
    one, other = get_format(first), get_format(second)
    start = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    rows, _ = in_format({"messages": [*start, {"role": "user", "content": "S"}, *start]}, one)
    conversation = read(rows, one)
    messages = list(conversation.messages)
    messages[2] = with_turn(messages[2], summary=True)
    ctx = Context(source=one.surface, target=one.surface)
    rows = one.write(conversation.with_messages(tuple(messages)), ctx)
    there = convert_rows(rows, one, other).rows
    mark = "compacted" if second == "codex" else "compact_boundary"
    assert mark in json.dumps(there)
    back = read(convert_rows(there, other, one).rows, one)
    assert [bool(turn_of(m).get("summary")) for m in back.messages][2] is True


def test_times_are_made_where_there_are_none():
    rows, receipt = in_format(WEATHER, get_format("codex"))
    assert rows[0]["timestamp"].startswith("1970-01-01T00:00:00")
    assert "default-added" in receipt.codes()


# --- data sets ------------------------------------------------------------------------------------


def test_ids_of_mistral_have_nine_characters():
    rows, _ = in_format(RICH, get_format("mistral"))
    ids = [call["id"] for m in rows[0]["messages"] for call in m.get("tool_calls", ())]
    assert all(len(each) == 9 and each.isalnum() for each in ids)


def test_chat_templates_get_objects():
    rows, _ = in_format(WEATHER, get_format("trl"))
    (call,) = rows[0]["messages"][2]["tool_calls"]
    assert call["function"]["arguments"] == {"city": "Oslo"}


def test_sharegpt_alternates_as_llama_factory_wants_it():
    rows, _ = in_format(RICH, get_format("sharegpt"))
    speakers = [turn["from"] for turn in rows[0]["conversations"]]
    assert set(speakers[::2]) <= {"human", "observation"}
    assert set(speakers[1::2]) <= {"gpt", "function_call"}


def test_a_text_that_would_be_a_call_is_not_written():
    fake = '<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>'
    row = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": fake}]}
    with pytest.raises(InexpressibleError, match="marks of calls"):
        in_format({**row, "tools": WEATHER["tools"]}, get_format("hermes"))


def test_white_space_that_is_lost_is_told():
    row = {"messages": [{"role": "user", "content": " Hi "}]}
    _, receipt = in_format(row, get_format("glaive"))
    assert [note.code for note in receipt.losses] == ["part-replaced"]


def test_the_first_allowed_answer_counts():
    done = convert_rows(rows_of("bfcl"), get_format("bfcl"), get_format("openai"))
    assert "choices-dropped" in done.receipt.codes()
    last = loaded("bfcl").messages[-1].parts[0]
    assert isinstance(last, ToolCall)
    assert last.input == {"city": "Oslo"}


# --- types of Python ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "schema"),
    [
        ("str", {"type": "string"}),
        ("int, optional", {"type": "integer"}),
        ("List[int]", {"type": "array", "items": {"type": "integer"}}),
        ("Optional[float]", {"type": "number"}),
        ("Dict[str, int]", {"type": "object"}),
        ("Any", {}),
        ("string", {"type": "string"}),
    ],
)
def test_types_of_python(word, schema):
    assert to_json_schema({"type": word}) == schema


def test_flat_parameters_both_ways():
    flat = {
        "a": {"type": "str"},
        "b": {"type": "int, optional"},
        "c": {"type": "bool", "default": 1},
    }
    schema = flat_to_schema(flat)
    assert schema["required"] == ["a"]
    assert schema_to_flat(schema) == (flat, True)
    nested = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
    assert schema_to_flat(nested)[1] is False
