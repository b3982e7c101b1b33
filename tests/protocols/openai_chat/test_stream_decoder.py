"""Streams that are read of OpenAI Chat Completions."""

import json

import pytest
from tests.protocols.openai_chat.helpers import (
    HARNESS,
    SIGNED,
    call,
    codes,
    encode,
    parts_of,
    piece,
    read,
    results,
    stream,
)

from toolglot.context import Context
from toolglot.events import (
    Failed,
    Finished,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    fold,
)
from toolglot.ir import (
    Choice,
    Reasoning,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols import openai_chat as chat

# --- streams in -----------------------------------------------------------------------------------


def lines(*chunks, done=True):
    """A stream of chunks with one choice each, given as its members."""
    out = b""
    for chunk in chunks:
        choice = {"index": 0, **chunk} if "choices" not in chunk else None
        value = {"id": "s1", "choices": [choice]} if choice else chunk
        out += b"data: " + json.dumps(value).encode() + b"\n\n"
    return out + (b"data: [DONE]\n\n" if done else b"")


END = {"delta": {}, "finish_reason": "tool_calls"}


def test_whitespace_is_kept():
    """X-12: deltas of nothing but whitespace are text."""
    assert parts_of(stream("text"))[0].text == "The tide \n\nturns at 北京 time 🌊."


def test_usage_comes_before_the_end():
    events = stream("text")
    assert [type(event) for event in events[-2:]] == [UsageSeen, Finished]
    assert events[-2].usage == Usage(input=86, cache_read=1920, output=300)


def test_parallel_calls_keep_apart():
    """case-07, S0-58: interleaved pieces reach their own call, byte for byte."""
    made = parts_of(stream("parallel-calls"))[1:]
    assert [part.arguments for part in made] == ['{"port": "Brest"}', '{"line":7}']


def pieces(*entries):
    """A stream of pieces of calls: (index, id or none, arguments)."""
    return lines(
        *(
            {
                "delta": {
                    "tool_calls": [
                        {
                            "index": index,
                            **({"id": given, "type": "function"} if given else {}),
                            "function": {**({"name": "f"} if given else {}), "arguments": text},
                        }
                    ]
                }
            }
            for index, given, text in entries
        ),
        END,
    )


def ends_in(data):
    """The places of parts as they start and end."""
    return [
        (type(event).__name__, event.index)
        for event in read(data)
        if isinstance(event, (PartStarted, PartEnded))
    ]


def test_a_complete_call_ends_where_the_next_begins():
    """So that it need not wait for the end of the answer, nor the next one for it."""
    data = pieces((0, "a", ""), (0, "", '{"x":'), (0, "", "1}"), (1, "b", "{}"), (2, "c", ""))
    assert ends_in(data) == [
        ("PartStarted", 0),
        ("PartEnded", 0),
        ("PartStarted", 1),
        ("PartEnded", 1),
        ("PartStarted", 2),
        ("PartEnded", 2),
    ]


def test_calls_that_are_written_by_turns_stay_open():
    data = pieces(
        (0, "a", '{"x":'), (1, "b", '{"y":'), (0, "", "1}"), (1, "", "2}"), (2, "c", "{}")
    )
    assert ends_in(data)[:4] == [
        ("PartStarted", 0),
        ("PartStarted", 1),
        ("PartEnded", 0),
        ("PartEnded", 1),
    ]
    assert [part.arguments for part in parts_of(read(data))] == ['{"x":1}', '{"y":2}', "{}"]


@pytest.mark.parametrize(("stray", "noted"), [("", False), (" \n", False), ('{"x":1}', True)])
def test_what_comes_of_a_complete_call_is_not_added_to_it(stray, noted):
    """Some servers send a call again when it is complete."""
    ctx = Context()
    events = read(pieces((0, "a", '{"x":1}'), (1, "b", "{"), (0, "", stray), (1, "", "}")), ctx)
    assert [part.arguments for part in parts_of(events)] == ['{"x":1}', "{}"]
    assert ("event-skipped" in [note.code for note in ctx.notes()]) == noted


def test_text_between_pieces_of_a_call():
    """case-03, X-04: text amid arguments is a part of its own, and the call stays whole."""
    assert parts_of(stream("text-inside-arguments")) == (
        ToolCall(id="call_1", name="read", arguments='{"path":"a"}'),
        Text(text="I will wait."),
    )


def test_arguments_before_id_and_name_are_held():
    """X-02: what comes before the name or id of its call is not lost."""
    made = parts_of(stream("arguments-first"))
    assert made == (ToolCall(id="call_late", name="late", arguments='{"a":1}'),)
    chunks = [piece(0, name="f", arguments="{"), piece(0, "late"), piece(0, arguments="}"), END]
    assert parts_of(read(lines(*chunks)))[0] == ToolCall(id="late", name="f", arguments="{}")


def test_missing_ids_and_names():
    """case-06: an id is made, a name stands in, and a call without anything is none."""
    made = parts_of(read(lines(piece(0, name="run", arguments="{}"), END)))[0]
    assert made.id.startswith("call_")
    assert made.id_made
    made = parts_of(read(lines(piece(0, "call_a", "", '{"a":1}'), END)))[0]
    assert (made.name, made.arguments) == ("tool_0", '{"a":1}')
    events = read(lines(piece(0, "", "", ""), {"delta": {}, "finish_reason": "stop"}))
    assert fold(events).choices[0] == Choice(parts=(), stop=StopReason(kind="end", raw="stop"))


def test_calls_without_index_are_told_apart():
    ctx = Context()
    made = parts_of(stream("vendor-no-ids", ctx))
    assert [part.arguments for part in made] == ['{"port":"Brest"}', '{"line":7}']
    chunks = [piece(None, "a", "f", "{"), piece(None, "b", "g", "{"), piece(None, "a", None, "}")]
    made = parts_of(read(lines(*chunks, piece(None, "b", None, "}"), END)))
    assert [(part.id, part.arguments) for part in made] == [("a", "{}"), ("b", "{}")]


def test_a_new_id_on_the_same_index_is_a_new_call():
    chunks = [piece(0, "a", "f", "{}"), piece(0, "b", "f", "{}"), END]
    assert [part.id for part in parts_of(read(lines(*chunks)))] == ["a", "b"]


def test_repeated_ids_and_both_forms_are_one_call():
    """case-14: a server that repeats id, name and the old form in every delta makes one call."""
    assert parts_of(stream("vendor-repeated-ids")) == (
        ToolCall(id="call__0_tide", name="tide_table", arguments='{ "port": "Brest" }'),
    )


def test_a_call_in_the_old_form():
    ctx = Context()
    events = stream("legacy-function-call", ctx)
    assert parts_of(events)[0].arguments == '{"port":"Brest"}'
    assert events[-1].stops == (StopReason(kind="tool_calls", raw="tool_calls"),)
    assert "legacy-upgraded" in codes(ctx)


def test_a_call_cut_by_the_limit_is_incomplete():
    """X-07: the cut call ends incomplete, the whole one does not, and the stop stays `length`."""
    events = stream("length-inside-call")
    assert [event for event in events if isinstance(event, PartEnded)] == [
        PartEnded(0),
        PartEnded(1, incomplete=True),
    ]
    assert events[-1].stops[0].kind == "length"


def test_freeform_input_cut_by_the_limit_cannot_be_told():
    entry = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "c", "input": "-a"}}
    chunk = {"delta": {"tool_calls": [entry]}, "finish_reason": "length"}
    assert PartEnded(0) in read(lines(chunk))


def test_done_without_a_finish_reason():
    """case-16: `[DONE]` ends what is whole; what follows it is passed over."""
    assert stream("no-finish")[-1] == Finished((StopReason(kind="end"),))
    whole = read(lines(piece(0, "a", "f", "{}")))
    assert whole[-1] == Finished((StopReason(kind="tool_calls"),))
    cut = read(lines(piece(0, "a", "f", '{"a')))
    assert isinstance(cut[-1], Failed)
    assert stream("broken-line")[-1] == Finished((StopReason(kind="end", raw="stop"),))


def test_a_cut_stream_is_an_error():
    """case-09: no end marker is an error, after what was delivered; a broken line is not."""
    events = stream("cut")
    assert events[-1].error.status == 502
    assert [event for event in events if isinstance(event, PartEnded)] == [
        PartEnded(0),
        PartEnded(1, incomplete=True),
    ]
    ctx = Context()
    assert parts_of(stream("broken-line", ctx)) == (Text(text="One two."),)
    assert codes(ctx) == ["event-skipped"]
    assert isinstance(read(b"")[0], Failed)
    assert isinstance(read(b"data: [DONE]\n\n")[0], Failed)


def test_a_finished_stream_needs_no_done():
    assert isinstance(stream("no-done")[-1], Finished)


def test_the_last_blank_line_may_be_missing():
    data = HARNESS.stream("text")
    assert read(data.rstrip()) == read(data)


def test_an_error_in_the_stream():
    """X-15: an error object ends the stream with open parts closed."""
    events = stream("error")
    assert events[-2] == PartEnded(0, incomplete=True)
    assert (events[-1].error.kind, events[-1].error.status) == ("server", 503)
    assert isinstance(read(b'data: {"object":"error","message":"x"}\n\n')[-1], Failed)
    assert isinstance(read(b'event: error\ndata: {"message":"x"}\n\n')[-1], Failed)


def test_reasoning_ends_where_text_begins():
    kinds = [type(part) for part in parts_of(stream("vendor-deepseek"))]
    assert kinds == [Reasoning, Text, ToolCall]
    assert stream("vendor-deepseek")[-2].usage.cache_read == 64


def test_reasoning_details_are_gathered():
    parts = parts_of(stream("vendor-openrouter"))
    message = encode(results(*parts, role="assistant"))["messages"][0]
    assert message["reasoning"] == "Bees again."
    assert message["reasoning_details"] == [
        {
            "type": "reasoning.text",
            "text": "Bees again.",
            "format": "anthropic-claude-v1",
            "index": 0,
            "signature": "ErUB",
        }
    ]


def test_details_without_words_beside_them_are_shown():
    entry = {"type": "reasoning.summary", "summary": "Thin", "index": 0}
    more = entry | {"summary": "king", "index": 0, "type": "reasoning.summary", "id": None}
    state = {"type": "reasoning.encrypted", "data": "x"}
    chunks = [
        {"delta": {"reasoning_details": [entry]}},
        {"delta": {"reasoning_details": [more, more | {"summary": None}, state, "odd"]}},
        {"delta": {"content": "Yes."}, "finish_reason": "stop"},
    ]
    parts = parts_of(read(lines(*chunks)))
    assert [part.text for part in parts] == ["Thinking", "", "Yes."]
    message = encode(results(*parts, role="assistant"))["messages"][0]
    assert "reasoning" not in message
    assert message["reasoning_details"] == [
        entry | {"summary": "Thinking", "id": None},
        state,
        "odd",
    ]


def test_sealed_state_in_a_stream():
    parts = parts_of(stream("sealed"))
    assert parts[:2] == (Reasoning(text="Hm."), Reasoning(redacted=True, signature="tg1.QUJD"))


def test_the_same_reasoning_under_two_names_is_read_once():
    delta = {"reasoning_content": "a", "reasoning": "a"}
    parts = parts_of(read(lines({"delta": delta}, {"delta": delta}, END)))
    assert parts == (Reasoning(text="aa"),)


def test_other_members_of_deltas_are_named_once():
    ctx = Context()
    chunk = {"delta": {"audio": {"id": "a"}, "video": None}, "logprobs": {"content": [1]}}
    read(lines(chunk, chunk, {"delta": {"content": [{"type": "text", "text": "x"}]}}, END), ctx)
    assert ctx.receipt().codes() == {"event-skipped": 2, "logprobs-dropped": 1}
    ctx = Context()
    read(
        lines({"delta": {"annotations": [{}]}}, {"delta": {"content": "x"}, "usage": []}, END), ctx
    )
    assert codes(ctx) == ["citation-dropped"]


def test_choices_are_kept_apart():
    response = fold(stream("two-choices"))
    assert [choice.parts[0].text for choice in response.choices] == ["Heads", "Tails"]
    assert [choice.stop.kind for choice in response.choices] == ["end", "length"]


def test_the_first_chunk_may_be_about_the_prompt():
    assert stream("vendor-azure")[0] == Started(
        id="chatcmpl-St1", model="gpt-6.1", created=1794771111
    )


ODD_CHUNKS = [
    {"choices": None},
    {"choices": 1},
    {"choices": [1, None, []]},
    {"choices": [{"index": -5, "delta": {"content": "x"}}]},
    {"choices": [{"index": 10**9, "delta": {"content": "x"}}]},
    {"choices": [{"delta": {"content": 5}}]},
    {"choices": [{"delta": {"reasoning": 5, "refusal": 5, "annotations": 5}}]},
    {"choices": [{"delta": {"tool_calls": [None, {}, {"function": 5}, {"function": []}]}}]},
    {"choices": [{"delta": {"tool_calls": {"index": 0}}}]},
    {"choices": [{"delta": {"function_call": 5}}]},
    {"choices": [{"delta": {"reasoning_details": 5}}]},
    {"choices": [{"delta": {"content": "x", "annotations": [5]}}]},
    {"choices": [{"delta": [], "finish_reason": 5}]},
    {"choices": [{"message": {"role": "assistant", "content": "whole"}}]},
    {"choices": [], "usage": 5},
    {"choices": [], "usage": {"prompt_tokens": "many"}},
    {"choices": [{"delta": {}, "usage": {"prompt_tokens": 1}}]},
]


@pytest.mark.parametrize("chunk", ODD_CHUNKS, ids=json.dumps)
def test_odd_chunks_give_legal_events(chunk):
    read(lines(chunk, {"delta": {"content": "y"}}, chunk, END))


# --- reasoning state on calls, as Google's models have it -----------------------------------------


@pytest.mark.parametrize("late", [False, True])
def test_a_signature_in_a_stream_is_the_calls(late):
    """X-18: with the first piece of the call, or a later one."""
    first = {"index": 0, **call(arguments="")}
    more = {"index": 0, "function": {"arguments": "{}"}}
    (more if late else first)["extra_content"] = SIGNED
    chunks = [
        {"id": "1", "object": "chat.completion.chunk", "model": "m", "created": 1,
         "choices": [{"index": 0, "delta": {"tool_calls": [each]}, "finish_reason": None}]}
        for each in (first, more)
    ]  # fmt: skip
    chunks.append({**chunks[0], "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    data = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    decoder = chat.StreamDecoder(Context())
    events = [*decoder.feed(data), *decoder.feed(b"data: [DONE]\n\n")]
    (part,) = fold(events).choices[0].parts
    assert part.signature == "c2lnbmF0dXJl"
    encoder = chat.StreamEncoder(Context())
    again = chat.StreamDecoder(Context())
    assert fold([*again.feed(b"".join(map(encoder.encode, events)))]) == fold(events)


def test_the_first_reason_to_stop_counts():
    again = {"delta": {}, "finish_reason": "stop"}
    events = read(lines(piece(0, "a", "f", "{}"), END, again))
    assert events[-1].stops[0].raw == "tool_calls"
