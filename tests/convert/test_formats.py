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
from toolglot.dialects.table import DIALECTS
from toolglot.errors import DecodeError, InexpressibleError
from toolglot.ir import ToolCall

FILES = Path(__file__).parent / "files"
WRITTEN = [name for name, each in FORMATS.items() if each.writable]
STORY = [
    ("user", "How is the weather in Oslo?"),
    ("call", "get_weather", {"city": "Oslo"}),
    ("result", 0, "Rain, 7 degrees", False),
    ("assistant", "It rains."),
]
BESIDE = {"system", "thought", "~tool"}
UNWRITABLE: set[str] = set()
"""Dialects that have no text for the call."""
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


@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_tells_the_story(name):
    story = STORY[:2] if name in {"xlam", "bfcl"} else STORY
    assert told(loaded(name)) == story


@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_is_recognised(name):
    found, why = recognise(rows_of(name))
    assert found.name == ("openai" if name in UNNAMED else name)
    assert why


@pytest.mark.parametrize("name", WRITTEN)
def test_what_a_file_says_is_written_again(name):
    form = get_format(name)
    rows = rows_of(name)
    again = convert_rows(rows, form, form)
    assert told(read(again.rows, form)) == told(read(rows, form))


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("rows", [[{}], [{"messages": 1}], [{"messages": [1]}], [{"steps": {}}]])
def test_what_is_something_else_is_refused_and_not_recognised(name, rows):
    assert recognise(rows) is None
    try:
        done = convert_rows(rows, get_format(name), get_format("atif"))
    except DecodeError:
        return
    assert not done.conversation.messages


@pytest.mark.parametrize("name", sorted(set(WRITTEN) - {"claude-code", "codex", "opencode"}))
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


def test_gemini_cli_in_one_document_as_older_versions_have_it():
    form = get_format("gemini-cli")
    about, *lines = convert_rows(rows_of("gemini-cli"), form, form).rows
    assert told(read([{**about, "messages": lines}], form)) == STORY
    assert about["summary"] == "The weather in Oslo"


def test_pictures_in_results_of_opencode():
    row = rows_of("opencode")[0]
    state = row["messages"][1]["parts"][2]["state"]
    state["attachments"] = [
        {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AA"}
    ]
    form = get_format("opencode")
    done = convert_rows([row], form, get_format("anthropic"))
    assert '"data": "AA"' in json.dumps(done.rows)
    assert "base64,AA" in json.dumps(convert_rows([row], form, form).rows)


def test_ids_of_opencode_are_in_order_because_it_sorts_by_them():
    rows, _ = in_format(RICH, get_format("opencode"))
    messages = rows[0]["messages"]
    assert [m["info"]["id"] for m in messages] == sorted(m["info"]["id"] for m in messages)
    for message in messages:
        names = [part["id"] for part in message["parts"]]
        assert names == sorted(names)


# --- texts in dialects ----------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_as_text(dialect):
    form = get_format(f"text:{dialect}")
    try:
        rows, receipt = in_format(WEATHER, form)
    except InexpressibleError:
        assert dialect in UNWRITABLE
        return
    back = convert_rows(rows, form, get_format("openai"))
    assert receipt.losses == back.receipt.losses == ()
    assert said(read(back.rows, get_format("openai"))) == said(
        read([WEATHER], get_format("openai"))
    )


def test_a_dialect_that_nobody_knows():
    with pytest.raises(UnknownFormatError, match="text:DIALECT"):
        get_format("text:klingon")


# --- recordings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [False, True])
def test_recordings_of_the_gateway(streamed):
    request = rows_of("anthropic")[0] | {"model": "a-model", "max_tokens": 100}
    answer = request["messages"].pop()
    usage = {"input_tokens": 3, "output_tokens": 4}
    block = {"type": "text", "text": answer["content"]}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "a-model"}
    whole = {**message, "content": [block], "stop_reason": "end_turn", "usage": usage}
    stream = "".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
        for event in (
            {"type": "message_start", "message": {**message, "content": [], "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": {**block, "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {**block, "type": "text_delta"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
            {"type": "message_stop"},
        )
    )
    meta = {"request_id": "req_1", "client": "anthropic", "provider": "openai-chat"}
    row = {"meta": meta, "request": request, "response": stream if streamed else whole}
    found, _ = recognise([row])
    assert found.name == "recording"
    done = convert_rows([row], found, get_format("atif"))
    assert told(done.conversation) == STORY
    assert done.rows[0]["session_id"] == "req_1"
    assert done.rows[0]["steps"][-1]["metrics"]["completion_tokens"] == 4
    assert [note.path for note in done.receipt.losses] == ["max_tokens"]
