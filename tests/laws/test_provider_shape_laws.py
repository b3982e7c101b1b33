"""What providers really send: every shape is read, written back the same, and nothing of it is
lost without a note that has its path.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.laws.corpus import NAMES, path_to

from toolglot import ir
from toolglot.context import Context
from toolglot.events import fold
from toolglot.receipt import Note, Receipt
from toolglot.registry import get_protocol
from toolglot.streams import StreamTranslator
from toolglot.translate import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    translate_request,
    translate_response,
)

OTHERS = {name: tuple(each for each in NAMES if each != name) for name in NAMES}
TOOL_STOPS = ("tool_calls", "length", "content_filter")

# --- paths ----------------------------------------------------------------------------------------


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All marked texts in a document, with their paths."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from leaves(member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from leaves(member, f"{path}[{index}]")
    elif isinstance(value, str) and value.startswith("mark"):
        yield path, value


def covers(note: Note, path: str) -> bool:
    """Whether a note speaks of a place, or of something that it is in."""
    return path == note.path or path.startswith((f"{note.path}.", f"{note.path}["))


def silent(body: Any, written: bytes, receipt: Receipt) -> list[str]:
    """The paths of what is neither in the translation nor named."""
    text = written.decode()
    return [
        path
        for path, mark in leaves(body)
        if mark not in text and not any(covers(note, path) for note in receipt if note.path)
    ]


def marks(prefix: str) -> st.SearchStrategy[str]:
    return st.integers(10, 99).map(lambda number: f"mark-{prefix}-{number}")


# --- answers of Chat servers that write every member, or leave out some ---------------------------

ARGUMENTS = st.sampled_from(["{}", '{"at": "mark-argument"}', ""])
CALLS = st.builds(
    lambda number, arguments, typed: {
        "id": f"call_{number}",
        **({"type": "function"} if typed else {}),
        "function": {"name": f"tide_{number}", "arguments": arguments},
    },
    st.integers(0, 3),
    ARGUMENTS,
    st.booleans(),
)
THINKING = marks("thought").map(
    lambda text: {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
)
PARTS = st.lists(marks("text").map(lambda text: {"type": "text", "text": text}), min_size=1)
CONTENT = (
    st.sampled_from([None, ""])
    | marks("text")
    | st.tuples(THINKING, PARTS).map(lambda each: [each[0], *each[1]])
)
EMPTY_CALL = st.sampled_from([None, {"name": "", "arguments": ""}])
MESSAGES = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": CONTENT},
    optional={
        "tool_calls": st.none() | st.lists(CALLS, max_size=2, unique_by=lambda call: call["id"]),
        "function_call": EMPTY_CALL,
        "refusal": st.sampled_from([None, ""]),
        "reasoning_content": marks("reasoning"),
        "audio": st.just({"id": "", "data": ""}),
    },
)
STOPS = st.sampled_from(["stop", "tool_calls", "length", "", None, "eos", "function_call"])
USAGE = st.builds(
    lambda prompt, said, thought, beside, total: {
        "prompt_tokens": prompt,
        "completion_tokens": said if beside else said + thought,
        "completion_tokens_details": {"reasoning_tokens": thought},
        **({"total_tokens": prompt + said + thought} if total or beside else {}),
    },
    st.integers(0, 50),
    st.integers(0, 50),
    st.integers(0, 50),
    st.booleans(),
    st.booleans(),
)
CHAT = st.builds(
    lambda head, message, stop, usage: {
        **head,
        "choices": [{"index": 0, "message": message, "finish_reason": stop}],
        **({"usage": usage} if usage else {}),
    },
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.sampled_from(["chatcmpl-1", ""]),
            "object": st.just("chat.completion"),
            "model": st.just("mark-model"),
            "created": st.just(1_794_700_800),
            "service_tier": st.sampled_from(["default", "mark-tier", None, ""]),
            "provider": marks("provider"),
        },
    ),
    MESSAGES,
    STOPS,
    st.none() | USAGE,
)


def calls_of(response: Any) -> list[ir.ToolCall]:
    assert isinstance(response, ir.Response)
    return [part for part in response.choices[0].parts if isinstance(part, ir.ToolCall)]


@given(CHAT)
def test_an_answer_is_written_back_as_it_came(body: dict[str, Any]) -> None:
    response = decode_response(body, source="openai-chat")
    assert encode_response(response, target="openai-chat").body == body


@pytest.mark.parametrize("target", OTHERS["openai-chat"])
@given(CHAT)
def test_an_answer_has_the_calls_that_were_made_and_says_so(
    target: str, body: dict[str, Any]
) -> None:
    wire, receipt = translate_response(body, source="openai-chat", target=target)
    there = decode_response(wire.body, source=target)
    made = body["choices"][0]["message"].get("tool_calls") or ()
    assert [call.name for call in calls_of(there)] == [call["function"]["name"] for call in made]
    assert isinstance(there, ir.Response)
    stop = there.choices[0].stop
    assert stop is not None
    if made:
        assert stop.kind in TOOL_STOPS
    assert silent(body, wire.data(), receipt) == []


@pytest.mark.parametrize("target", NAMES)
@given(USAGE)
def test_tokens_add_up_wherever_reasoning_is_counted(target: str, usage: dict[str, Any]) -> None:
    body = {"id": "c", "model": "m", "choices": [], "usage": usage}
    body["choices"] = [
        {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
    ]
    wire, _ = translate_response(body, source="openai-chat", target=target, model="n")
    there = decode_response(wire.body, source=target)
    assert isinstance(there, ir.Response)
    assert there.usage is not None
    said, thought = usage["completion_tokens"], usage["completion_tokens_details"]
    beside = (
        usage.get("total_tokens") == usage["prompt_tokens"] + said + thought["reasoning_tokens"]
    )
    whole = said + (thought["reasoning_tokens"] if beside else 0)
    assert (there.usage.prompt, there.usage.output) == (usage["prompt_tokens"], whole)


# --- histories ------------------------------------------------------------------------------------

TURNS = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["call_0", "call_1"]), st.sampled_from(["first", "second"])),
        min_size=1,
        max_size=2,
        unique_by=lambda each: each[0],
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("target", ["gemini", "ollama"])
@given(TURNS)
@example([[("call_0", "first")], [("call_0", "second")]])
def test_a_result_has_the_name_of_the_call_that_is_open(
    target: str, turns: list[list[tuple[str, str]]]
) -> None:
    messages: list[Any] = [{"role": "user", "content": "go"}]
    for turn in turns:
        calls = [{"type": "tool_use", "id": i, "name": name, "input": {}} for i, name in turn]
        results = [{"type": "tool_result", "tool_use_id": i, "content": name} for i, name in turn]
        messages += [
            {"role": "assistant", "content": calls},
            {"role": "user", "content": results},
        ]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    wire, _ = translate_request(body, source="anthropic", target=target)
    there = decode_request(wire.body, source=target, path=wire.path)
    results = [p for m in there.messages for p in m.parts if isinstance(p, ir.ToolResult)]
    assert [result.name for result in results] == [
        part.text for result in results for part in result.parts if isinstance(part, ir.Text)
    ]


PICTURES = st.sampled_from(
    [
        ("input_image", "image_url", "data:image/png;base64,bWFyay0"),
        ("input_image", "image_url", "https://pics.example/mark"),
        ("input_file", "file_url", "https://pics.example/mark.pdf"),
        ("input_text", "text", "mark-text"),
    ]
)


@pytest.mark.parametrize("target", OTHERS["openai-responses"])
@given(st.lists(PICTURES, min_size=1, max_size=4))
def test_every_medium_of_a_result_arrives_or_is_named(
    target: str, given_: list[tuple[str, str, str]]
) -> None:
    output = [{"type": kind, key: f"{value}{n}"} for n, (kind, key, value) in enumerate(given_)]
    body = {
        "model": "m",
        "input": [
            {"role": "user", "content": "Look."},
            {"type": "function_call", "call_id": "c1", "name": "pics", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": output},
        ],
    }
    wire, receipt = translate_request(body, source="openai-responses", target=target)
    written = wire.data().decode()
    for index, (kind, _, value) in enumerate(given_):
        found = value.rpartition(",")[2] + str(index)
        named = any(
            note.path.startswith(f"input[2].content[{index}]") or note.path == "input[2]"
            for note in receipt
            if note.code in ("part-dropped", "part-replaced")
        )
        assert found in written or (kind != "input_text" and named)


@given(
    st.sampled_from(["tide", "moon"]), st.booleans(), st.sampled_from(OTHERS["openai-responses"])
)
def test_a_function_that_a_search_found_is_called_as_it_is_declared(
    name: str, grouped: bool, target: str
) -> None:
    function = {"type": "function", "name": name, "parameters": {"type": "object"}}
    group = {"type": "namespace", "name": "sea", "description": "d", "tools": [function]}
    call = {"type": "function_call", "call_id": "c1", "name": name, "arguments": "{}"}
    body = {
        "model": "m",
        "tools": [group if grouped else function],
        "input": [
            {"role": "user", "content": "hi"},
            {**call, "namespace": "sea" if grouped else name},
            {"type": "function_call_output", "call_id": "c1", "output": "x"},
        ],
    }
    wire, _ = translate_request(body, source="openai-responses", target=target)
    there = decode_request(wire.body, source=target, path=wire.path)
    declared = {tool.name for tool in there.tools if isinstance(tool, ir.FunctionTool)}
    called = {p.name for m in there.messages for p in m.parts if isinstance(p, ir.ToolCall)}
    assert called == declared


# --- Gemini ---------------------------------------------------------------------------------------


def without_ids(data: bytes) -> bytes:
    """The bytes of an answer without the ids that were made up from its input."""
    return re.sub(rb"[a-z]+_[0-9a-f]{24}", b"", data)


NUMBERS = {1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION", 5: "OTHER"}


@pytest.mark.parametrize("target", OTHERS["gemini"])
@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_say_what_their_words_say(target: str, number: int) -> None:
    def body(reason: Any) -> dict[str, Any]:
        content = {"role": "model", "parts": [{"text": "x"}]}
        return {
            "candidates": [{"content": content, "finishReason": reason, "index": 0}],
            "responseId": "r",
            "modelVersion": "m",
        }

    by_word, by_number = body(NUMBERS[number]), body(number)
    one, _ = translate_response(by_word, source="gemini", target=target)
    two, _ = translate_response(by_number, source="gemini", target=target)
    assert without_ids(one.data()) == without_ids(two.data())
    again = encode_response(decode_response(by_number, source="gemini"), target="gemini").body
    assert again == by_number
    streams = []
    for each in (by_word, by_number):
        stream = StreamTranslator("gemini", target)
        streams.append(stream.feed(f"data: {json.dumps(each)}\r\n\r\n".encode()) + stream.close())
    assert without_ids(streams[0]) == without_ids(streams[1])


SENTENCES = st.lists(st.text(alphabet="abc äöü€🌊", min_size=1, max_size=8), min_size=1, max_size=4)


@pytest.mark.parametrize("streamed", [False, True])
@given(SENTENCES)
def test_grounding_cites_what_its_segment_says(streamed: bool, sentences: list[str]) -> None:
    supports, at = [], 0
    for index, sentence in enumerate(sentences):
        size = len(sentence.encode())
        segment = {"startIndex": at, "endIndex": at + size, "text": sentence}
        supports.append({"segment": segment, "groundingChunkIndices": [index]})
        at += size
    pages = [
        {"web": {"uri": f"https://a.example/{i}", "title": "t"}} for i in range(len(sentences))
    ]
    grounding = {"groundingChunks": pages, "groundingSupports": supports}
    content = {"role": "model", "parts": [{"text": "".join(sentences)}]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    body = {"candidates": [{**candidate, "groundingMetadata": grounding}], "modelVersion": "m"}
    if streamed:
        codec = get_protocol("gemini")
        decoder = codec.StreamDecoder(Context())
        data = f"data: {json.dumps(body)}\r\n\r\n".encode()
        response = fold([*decoder.feed(data), *decoder.close()])
    else:
        response = decode_response(body, source="gemini")
    assert isinstance(response, ir.Response)
    (text,) = response.choices[0].parts
    assert isinstance(text, ir.Text)
    assert [text.text[cited.start : cited.end] for cited in text.citations] == sentences
    if not streamed:
        assert encode_response(response, target="gemini").body == body


# --- requests -------------------------------------------------------------------------------------

CHAT_SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "user": marks("user"),
        "metadata": marks("metadata").map(lambda text: {"k": text}),
        "response_format": marks("schema").map(
            lambda text: {
                "type": "json_schema",
                "json_schema": {
                    "name": text,
                    "description": f"{text}-description",
                    "schema": {"type": "object", "properties": {}},
                },
            }
        ),
        "web_search_options": marks("where").map(
            lambda text: {"user_location": {"type": "approximate", "approximate": {"city": text}}}
        ),
        "tool_choice": st.sampled_from(["auto", "any", {"function": {"name": "look"}}]),
        "unheard_of": marks("field"),
        "prompt_cache_key": marks("cache"),
        "verbosity": marks("verbosity"),
    },
)


@pytest.mark.parametrize("target", OTHERS["openai-chat"])
@given(CHAT_SETTINGS, marks("system"), marks("strict"))
def test_what_a_request_says_arrives_or_is_named_by_its_path(
    target: str, settings: dict[str, Any], system: str, description: str
) -> None:
    function = {"name": "look", "description": description, "strict": True}
    body = {
        "model": "mark-model",
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": [{"type": "text", "text": "mark-content"}]},
        ],
        "tools": [{"type": "function", "function": function}],
        **settings,
    }
    wire, receipt = translate_request(body, source="openai-chat", target=target)
    written = wire.data() + wire.path.encode()
    assert silent(body, written, receipt) == []
    if get_protocol(target).SURFACE.tools.strict_default is None:
        assert "tools[0].function.strict" in {note.path for note in receipt}


@given(CHAT_SETTINGS)
def test_a_request_is_written_back_as_it_came(settings: dict[str, Any]) -> None:
    tool = {"function": {"name": "look"}}
    picture = {"type": "image_url", "image_url": "https://pics.example/a.png"}
    sound = {"type": "input_audio", "input_audio": "UklGRg=="}
    body = {
        "messages": [{"role": "user", "content": [picture, sound]}],
        "tools": [tool],
        **settings,
    }
    path = "/openai/deployments/mark-model/chat/completions?api-version=1"
    request = decode_request(body, source="openai-chat", path=path)
    assert request.model == "mark-model"
    assert encode_request(request, target="openai-chat").body == body


@pytest.mark.parametrize("target", OTHERS["anthropic"])
@given(marks("key"))
def test_structured_output_is_the_same_in_both_places(target: str, key: str) -> None:
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    wanted = {"type": "json_schema", "schema": schema}
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    earlier, now = {**body, "output_format": wanted}, {**body, "output_config": {"format": wanted}}
    one, _ = translate_request(earlier, source="anthropic", target=target)
    two, _ = translate_request(now, source="anthropic", target=target)
    assert one.data() == two.data()
    again = encode_request(decode_request(earlier, source="anthropic"), target="anthropic").body
    assert again == earlier


# --- streams --------------------------------------------------------------------------------------


def chunks(*choices: dict[str, Any]) -> bytes:
    return b"".join(
        b"data: " + json.dumps({"id": "x", "model": "m", "choices": [choice]}).encode() + b"\n\n"
        for choice in choices
    )


@pytest.mark.parametrize("target", OTHERS["openai-chat"])
@given(st.booleans(), st.sampled_from(["{}", '{"a": "b', ""]))
def test_state_that_follows_a_call_comes_back(target: str, worded: bool, arguments: str) -> None:
    details = {"type": "reasoning.encrypted", "data": "bWFyaw==", "index": 0}
    call = {"index": 0, "id": "c1", "type": "function"}
    whole = {"name": "tide", "arguments": arguments}
    said = {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]}
    data = chunks(
        *([{"index": 0, "delta": said}] if worded else []),
        {"index": 0, "delta": {"tool_calls": [{**call, "function": whole}]}},
        {"index": 0, "delta": {"reasoning_details": [details]}},
        {"index": 0, "delta": {}, "finish_reason": "tool_calls"},
    )
    stream = StreamTranslator("openai-chat", target)
    codec = get_protocol(target)
    written = stream.feed(data) + stream.close()
    decoder = codec.StreamDecoder(Context(source=codec.SURFACE, target=codec.SURFACE))
    answer = fold([*decoder.feed(written), *decoder.close()])
    if arguments == '{"a": "b' and target == "anthropic":
        assert "arguments-invalid" in stream.receipt.codes()
    if arguments == '{"a": "b':
        return
    assert isinstance(answer, ir.Response)
    history = ir.Request(
        model="m",
        messages=(
            ir.Message(role="user", parts=(ir.Text(text="go"),)),
            ir.Message(role="assistant", parts=answer.choices[0].parts),
        ),
    )
    sent = encode_request(history, target=target)
    back, _ = translate_request(
        sent.body, source=target, target="openai-chat", path=sent.path or path_to(target)
    )
    assert "bWFyaw==" in back.data().decode()
