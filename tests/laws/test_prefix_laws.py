"""What a provider has read once comes again byte for byte, so that its prompt cache finds it."""

import json
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from tests.laws.corpus import NAMES, PATH
from tests.wires import PAIRS, assistant, call, result, user

from toolglot import encode_request, ir, translate_request
from toolglot.registry import get_protocol

TURNS = 20
MARKED = [name for name in NAMES if get_protocol(name).SURFACE.cache.marks]
PLACES = ("tools", "system", "systemInstruction", "instructions", "messages", "input", "contents")
"""Where protocols have what a prompt cache covers."""

LISTS = ("messages", "input", "contents")
"""Those of them that grow."""

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string", "format": "uri"}, "n": {"type": ["integer", "null"]}},
    "required": ["path"],
    "additionalProperties": False,
}
TOOLS = (
    ir.FunctionTool(name="read.file", description="Reads.", parameters=SCHEMA),
    ir.FunctionTool(name="look", description="Looks.", parameters=SCHEMA, strict=True),
    ir.FunctionTool(name="x" * 70, parameters={"type": "object", "properties": {}}),
)
SYSTEM = ir.Message(role="system", parts=(ir.Text(text="Be brief."), ir.Text(text="Be kind.")))
PICTURE = ir.Image(source=ir.Inline(media_type="image/png", data="iVBORw0KGgo="))


def turn(index: int) -> Iterator[ir.Message]:
    """What a model says and its user answers: a call, parallel calls or words, by turns."""
    thought = ir.Reasoning(text=f"thought {index}", signature=f"c2lnbmF0dXJl{index:04}")
    kind = index % 5
    if kind == 0:
        yield assistant(thought, f"answer {index}")
        yield user(f"question {index}", PICTURE)
    elif kind == 1:
        first = call("look", f'{{"path":"a{index}","n":{index}}}', id=f"call.{index}")
        yield assistant(thought, "I look.", first)
        yield user(result(f"seen {index}", id=f"call.{index}", name="look"))
    elif kind == 2:
        ids = [f"call_{index}_{n}_{'y' * 60}" for n in range(12)]
        calls = [
            call("read.file", f'{{"path":"b{n}","n":null}}', id=id_) for n, id_ in enumerate(ids)
        ]
        yield assistant(thought, *calls)
        yield user(*(result(f"text of {id_}", id=id_, name="read.file") for id_ in ids))
    elif kind == 3:
        yield assistant(call("x" * 70, "{}", id=f"toolu_{index}"))
        failed = ir.ToolResult(
            id=f"toolu_{index}", parts=(ir.Text(text="no"), PICTURE), name="x" * 70, is_error=True
        )
        yield user(failed)
    else:
        yield assistant("one", "two")
        yield user(f"first {index}", f"second {index}")


@cache
def session(source: str) -> tuple[bytes, ...]:
    """The requests of a session of a client."""
    messages = [user("question")]
    requests = []
    for index in range(TURNS):
        request = ir.Request(
            model="some-model", messages=tuple(messages), system=SYSTEM, tools=TOOLS, max_tokens=99
        )
        requests.append(encode_request(request, target=source).data())
        messages += turn(index)
    return tuple(requests)


def sent(source: str, target: str, **options: Any) -> list[dict[str, Any]]:
    """What a provider gets of the session."""
    return [
        json.loads(
            translate_request(data, source=source, target=target, path=PATH, **options)[0].data()
        )
        for data in session(source)
    ]


def plain(value: Any) -> Any:
    """A value without marks; a bare string is short for one block of text where marks exist."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key != "cache_control"}
    return [plain(each) for each in value] if isinstance(value, list) else value


def blocks(body: dict[str, Any]) -> list[Any]:
    """All that is cached of a request, in the order in which it is: tools, system, messages."""
    found: list[Any] = list(body.get("tools", ()))
    system = body.get("system", [])
    found += [{"type": "text", "text": system}] if isinstance(system, str) else system
    for message in body["messages"]:
        content = message["content"]
        listed = [{"type": "text", "text": content}] if isinstance(content, str) else content
        found += [{"role": message["role"], **block} for block in listed]
    return found


def text(value: Any) -> str:
    """The bytes that count: the order of keys is part of them."""
    return json.dumps(value)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_request_begins_with_the_one_before(source: str, target: str) -> None:
    """case-40, X-18: tools, system text and messages of a turn come again in the next."""
    for before, after in pairwise(sent(source, target, prompt_cache="off")):
        assert [key for key in before if key in PLACES] == [key for key in after if key in PLACES]
        for key in PLACES:
            if key in LISTS and key in before:
                for earlier, later in zip(before[key], after[key], strict=False):
                    assert text(later) == text(earlier)
                assert len(after[key]) > len(before[key])
            else:
                assert text(after.get(key)) == text(before.get(key))


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[1] in MARKED])
def test_a_marked_request_reads_what_the_one_before_wrote(source: str, target: str) -> None:
    """case-40: the last mark of a turn is a mark of the next one, and nothing before it changes."""
    most = get_protocol(target).SURFACE.cache.max_marks
    written: list[int] = []
    for before, after in pairwise(map(blocks, sent(source, target))):
        marks = [index for index, block in enumerate(before) if "cache_control" in block]
        again = [index for index, block in enumerate(after) if "cache_control" in block]
        assert 0 < len(marks) <= len(again) == most
        assert marks[-1] == len(before) - 1
        assert marks[-1] in again
        assert text(plain(after[: len(before)])) == text(plain(before))
        written += marks
    assert written


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_marks_are_all_that_marking_changes(source: str, target: str) -> None:
    """case-40: a request with marks says the same as one without."""
    for one, other in zip(
        sent(source, target), sent(source, target, prompt_cache="off"), strict=True
    ):
        if target in MARKED:
            assert text(plain(blocks(one))) == text(blocks(other))
            rest = {"tools", "system", "messages"}
            one = {key: value for key, value in one.items() if key not in rest}
            other = {key: value for key, value in other.items() if key not in rest}
        assert text(one) == text(other)
