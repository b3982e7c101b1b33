"""What a provider has read once comes again byte for byte, so that its prompt cache finds it."""

import json
from functools import cache, partial
from itertools import pairwise
from typing import Any

import pytest
from tests.laws.corpus import NAMES, RESEND, path_to
from tests.wires import PAIRS, answer, assistant, call, parts_of, user

from toolglot import (
    Exchange,
    Options,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    ir,
    translate_request,
)
from toolglot.registry import get_protocol

TURNS = 20
MARKED = [name for name in NAMES if get_protocol(name).SURFACE.cache.marks]
SET_HERE = [pair for pair in PAIRS if pair[1] in MARKED and pair[0] not in MARKED]
"""Where marks are set for a client whose protocol has none."""

PLACES = (
    *("tools", "toolConfig", "system", "systemInstruction", "instructions"),
    *("messages", "input", "contents"),
)
"""Where protocols have what a prompt cache covers."""

LISTS = ("messages", "input", "contents")
"""Those of them that grow."""

LONG = "x" * 70
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string", "format": "uri"}, "n": {"type": ["integer", "null"]}},
    "required": ["path"],
    "additionalProperties": False,
}
TOOLS = (
    ir.FunctionTool(name="read.file", description="Reads.", parameters=SCHEMA),
    ir.FunctionTool(name="look", description="Looks.", parameters=SCHEMA, strict=True),
    ir.FunctionTool(name=LONG, parameters={"type": "object", "properties": {}}),
)
SYSTEM = ir.Message(role="system", parts=(ir.Text(text="Be brief."), ir.Text(text="Be kind.")))
PICTURE = ir.Image(source=ir.Inline(media_type="image/png", data="iVBORw0KGgo="))


# --- a session of twenty turns --------------------------------------------------------------------


def model_turn(
    index: int, read: str = "read.file", look: str = "look", long: str = LONG
) -> ir.Message:
    """What a model says: words, a call or parallel calls, by turns; it knows the tools by these
    names.
    """
    thought = ir.Reasoning(
        text=f"thought {index}", signature=f"c2lnbmF0dXJl{index:04}", id=f"rs_{index}"
    )
    if index % 5 == 0:
        return assistant(thought, f"answer {index}")
    if index % 5 == 1:
        arguments = f'{{"path":"a{index}","n":{index}}}'
        return assistant(thought, "I look.", call(look, arguments, id=f"call.{index}"))
    if index % 5 == 2:
        ids = [f"call_{index}_{number}_{'y' * 60}" for number in range(12)]
        return assistant(thought, *(call(read, f'{{"n":null,"path":"{id_}"}}', id_) for id_ in ids))
    if index % 5 == 3:
        return assistant(call(long, "{}", id=f"toolu_{index}"))
    return assistant("one", "two")


def client_turn(index: int, calls: list[ir.ToolCall]) -> ir.Message:
    """What a client says to that: the results, some of them failed or with pictures, or words."""
    if not calls:
        return user(f"first {index}", *([PICTURE] if index % 2 else [f"second {index}"]))
    failed = True if index % 5 == 3 else None
    parts: tuple[ir.Part, ...] = (ir.Text(text="seen"), *([PICTURE] if failed else ()))
    return user(
        *(ir.ToolResult(id=each.id, parts=parts, name=each.name, is_error=failed) for each in calls)
    )


def asked(source: str, *messages: ir.Message, **more: Any) -> dict[str, Any]:
    """The body of a client with these messages."""
    request = ir.Request(model="some-model", messages=messages, **more)
    return dict(encode_request(request, target=source).body)


@cache
def client_requests(source: str) -> tuple[bytes, ...]:
    """The requests of a client whose history was made elsewhere."""
    messages = [user("question")]
    requests = []
    for index in range(TURNS):
        body = asked(source, *messages, system=SYSTEM, tools=TOOLS, max_tokens=99)
        requests.append(json.dumps(body).encode())
        said = model_turn(index)
        messages += [said, client_turn(index, parts_of(said, ir.ToolCall))]
    return tuple(requests)


def translated(source: str, target: str, **options: Any) -> list[dict[str, Any]]:
    """What a provider gets of such a session."""
    return [
        json.loads(
            translate_request(data, source=source, target=target, path=path_to(source), **options)[
                0
            ].data()
        )
        for data in client_requests(source)
    ]


def live(source: str, target: str, **options: Any) -> list[dict[str, Any]]:
    """What a provider gets of a session in which it answered itself, with ids and reasoning state
    of its own, and the client sends back what it was given.
    """
    body = asked(source, user("question"), system=SYSTEM, tools=TOOLS, max_tokens=99)
    path = get_protocol(source).SURFACE.messages.path
    requests = []
    for index in range(TURNS):
        exchange = Exchange(source, target, Options(**options))
        got = exchange.request(json.dumps(body).encode(), path_to(source))
        requests.append(json.loads(got.data))
        tools = decode_request(got.data, source=target, path=got.path or path_to(target)).tools
        said = model_turn(
            index, *(each.name for each in tools if isinstance(each, ir.FunctionTool))
        )
        reply = encode_response(answer(*said.parts), target=target).data()
        shown = json.loads(exchange.response(reply).data)
        calls = parts_of(decode_response(shown, source=source), ir.ToolCall)
        body[path] += RESEND[source](shown)
        body[path] += asked(source, client_turn(index, calls))[path]
    return requests


def without_ids(value: Any) -> Any:
    """What clients send that leave out the ids of calls, where their protocol lets them."""
    if isinstance(value, list):
        return [without_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    loose = {"functionCall", "functionResponse", "tool_calls"} & value.keys()
    kept = {key: without_ids(each) for key, each in value.items() if key != "tool_call_id"}
    for key in loose:
        entries = kept[key] if isinstance(kept[key], list) else [kept[key]]
        for entry in entries:
            entry.pop("id", None)
    return kept


def translated_without_ids(source: str, target: str, **options: Any) -> list[dict[str, Any]]:
    """What a provider gets of a session of a client that leaves out ids."""
    bodies = [without_ids(json.loads(data)) for data in client_requests(source)]
    return [
        json.loads(
            translate_request(each, source=source, target=target, path=path_to(source), **options)[
                0
            ].data()
        )
        for each in bodies
    ]


SESSIONS = [
    pytest.param(translated, id="history"),
    pytest.param(translated_without_ids, id="no ids"),
    pytest.param(live, id="live"),
    pytest.param(partial(live, ids="prefix", id_max=20), id="short ids"),
    pytest.param(partial(live, tools="emulated"), id="emulated"),
]


# --- prefixes -------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """The bytes that count: the order of keys is part of them."""
    return json.dumps(value)


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_request_begins_with_the_one_before(session: Any, source: str, target: str) -> None:
    """case-40: tools, system text and messages of a turn come again in the next."""
    for before, after in pairwise(session(source, target, prompt_cache="off")):
        assert [key for key in before if key in PLACES] == [key for key in after if key in PLACES]
        for key in PLACES:
            if key in LISTS and key in before:
                assert len(after[key]) > len(before[key])
                for earlier, later in zip(before[key], after[key], strict=False):
                    assert text(later) == text(earlier)
            else:
                assert text(after.get(key)) == text(before.get(key))


def plain(value: Any) -> Any:
    """A value without marks."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key != "cache_control"}
    return [plain(each) for each in value] if isinstance(value, list) else value


def blocks(body: dict[str, Any]) -> list[Any]:
    """All that is cached of a request, in the order in which it is: tools, system, messages. A
    bare string is short for one block of text, and what is marked must be a block.
    """
    tools = body.get("tools") or body.get("toolConfig", {}).get("tools", ())
    found = [*tools, *_listed(body.get("system", []))]
    for message in body["messages"]:
        found += [{"role": message["role"], **block} for block in _listed(message["content"])]
    return _with_points(found)


def _with_points(found: list[Any]) -> list[Any]:
    """The blocks, where a mark is a block of its own: with the mark on the one before."""
    marked: list[Any] = []
    for block in found:
        if "cachePoint" in block:
            marked[-1] = {**marked[-1], "cache_control": block["cachePoint"]}
        else:
            marked.append(block)
    return marked


def _listed(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize(("source", "target"), SET_HERE)
def test_a_request_reads_what_the_one_before_wrote(session: Any, source: str, target: str) -> None:
    """case-40: the last mark of a turn is a mark of the next one, and nothing before it changes."""
    most = get_protocol(target).SURFACE.cache.max_marks
    for before, after in pairwise(map(blocks, session(source, target))):
        marks, again = (
            [index for index, block in enumerate(each) if "cache_control" in block]
            for each in (before, after)
        )
        assert 0 < len(marks) <= len(again) <= most
        assert marks[-1] == len(before) - 1
        assert marks[-1] in again
        assert text(plain(after[: len(before)])) == text(plain(before))


@pytest.mark.parametrize(("source", "target"), SET_HERE)
def test_marks_are_all_that_marking_changes(source: str, target: str) -> None:
    """case-40: a request with marks says the same as one without."""
    unmarked = translated(source, target, prompt_cache="off")
    for one, other in zip(translated(source, target), unmarked, strict=True):
        assert text(plain(blocks(one))) == text(blocks(other))
        assert one.keys() == other.keys()
        for key in one.keys() - set(PLACES):
            assert text(one[key]) == text(other[key])


def test_the_session_has_all_that_could_change() -> None:
    """Calls and results, pictures, reasoning state, names and ids that are aliased."""
    last = live("openai-chat", "anthropic")[-1]
    kinds = {block.get("type") for block in blocks(last)}
    assert kinds >= {"text", "image", "thinking", "tool_use", "tool_result"}
    assert text(last).count('"signature": "c2lnbmF0dXJl') > TURNS // 2
    assert "read.file" not in text(last)
    assert "call.1" not in text(last)
