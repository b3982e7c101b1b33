"""Answers recorded from real servers: every one is translated, or is a proper error.

A small set is among the fixtures; more lies beside the repository, where it exists at all.
"""

import json
from typing import Any, NamedTuple

import pytest
from tests.evidence import OWN, evidence
from tests.laws.corpus import NAMES, PAIRS
from tests.laws.streams import (
    STREAMS,
    arguments,
    assert_legal,
    decode,
    one_by_one,
    stem_of,
    translate,
)

from toolglot import DecodeError, ir, translate_response
from toolglot.events import fold
from toolglot.lint import lint_stream
from toolglot.translate import decode_response

PROTOCOL = {
    "/v1/chat/completions": "openai-chat",
    "/v1/responses": "openai-responses",
    "/v1/messages": "anthropic",
}
ASKED = ir.Request(model="asked-for", messages=())


class Recording(NamedTuple):
    """One answer of a server."""

    server: str
    name: str
    protocol: str
    status: int
    stream: bool
    body: str

    def __str__(self) -> str:
        return f"{self.server}-{self.name}"


def recordings() -> list[Recording]:
    found = []
    for file in evidence("servers", "*.jsonl"):
        server = file.stem if file.is_relative_to(OWN) else f"{file.stem}-recorded"
        for line in file.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            path = entry["request"]["line"].split()[1].split("?")[0]
            headers = dict(header.lower().split(": ", 1) for header in entry["headers"])
            if path in PROTOCOL and entry["status"].isdigit():
                stream = headers.get("content-type", "").startswith("text/event-stream")
                found.append(
                    Recording(
                        server,
                        entry["name"],
                        PROTOCOL[path],
                        int(entry["status"]),
                        stream,
                        entry["body"],
                    )
                )
    return found


RECORDINGS = recordings()
STREAMED = [each for each in RECORDINGS if each.stream]
BODIES = [each for each in RECORDINGS if not each.stream]


def given(values: list[Recording]) -> Any:
    return pytest.mark.parametrize("recording", values, ids=str)


def test_recordings_cover_several_servers_and_protocols():
    assert len({each.server for each in RECORDINGS}) >= 3
    assert {each.protocol for each in STREAMED} == set(PROTOCOL.values())
    assert any(each.status >= 400 for each in BODIES)


@given(STREAMED)
def test_recorded_streams_are_read(recording):
    data = recording.body.encode()
    events = decode(recording.protocol, [data])
    assert_legal(events)
    assert decode(recording.protocol, one_by_one(data)) == events


@pytest.mark.parametrize("target", NAMES)
@given(STREAMED)
def test_recorded_streams_reach_every_client(recording, target):
    if recording.protocol == target:
        return
    written, _ = translate(recording.protocol, target, [recording.body.encode()], request=ASKED)
    assert lint_stream(written, target) == []
    assert_legal(decode(target, [written]))


@pytest.mark.parametrize("target", NAMES)
@given(BODIES)
def test_recorded_bodies_reach_every_client(recording, target):
    protocol, status = recording.protocol, recording.status
    answer = decode_response(recording.body.encode(), source=protocol, status=status)
    wire, _ = translate_response(
        recording.body.encode(), source=protocol, target=target, status=status
    )
    told = decode_response(wire.body, source=target, status=wire.status)
    assert type(told) is type(answer)
    if isinstance(answer, ir.ApiError):
        assert isinstance(told, ir.ApiError)
        assert not wire.ok
        assert answer.message in told.message
    else:
        assert isinstance(told, ir.Response)
        assert calls(told) == calls(answer)


def calls(response: ir.Response) -> list[tuple[str, Any]]:
    return [
        (part.name, arguments(part))
        for part in response.choices[0].parts
        if isinstance(part, ir.ToolCall)
    ]


# --- the same oddities, made anew -----------------------------------------------------------------

ODDITIES = {
    "openai-chat/vendor-no-ids": (b"tool_calls", b'"id":"call'),
    "openai-chat/vendor-repeated-ids": (b'"function_call"', None),
    "openai-chat/vendor-vllm-named": (b'"finish_reason": "stop"', b'"finish_reason": "tool_calls"'),
    "openai-responses/bare-indices": (b"response.output_item.added", b"sequence_number"),
    "anthropic/vendor-llamacpp": (b"chatcmpl-", b'"input":'),
}
"""A recording, what it has, and what it lacks."""


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("stem", ODDITIES)
def test_the_oddities_of_servers(stem, target):
    ((name, data),) = [(n, file.read_bytes()) for n, file in STREAMS if stem_of(file) == stem]
    has, lacks = ODDITIES[stem]
    assert has in data
    assert lacks is None or lacks not in data
    if name == target:
        return
    written, _ = translate(name, target, [data], request=ASKED)
    told = fold(decode(target, [written]))
    assert isinstance(told, ir.Response)
    assert all(value for _, value in calls(told))
    assert told.choices[0].stop is not None
    assert told.choices[0].stop.kind == "tool_calls"


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("page", [b"Internal Server Error", b"<html>502</html>", b"", b'["odd"]'])
def test_an_error_that_is_no_json_is_told_in_words(source, target, page):
    """X-16: proxies and crashed servers answer with pages; a client still gets its own error."""
    wire, _ = translate_response(page, source=source, target=target, status=502)
    error = decode_response(wire.body, source=target, status=wire.status)
    assert isinstance(error, ir.ApiError)
    assert page.decode() in error.message
    assert error.message
    assert not wire.ok


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_success_that_is_no_json_is_refused(source, target):
    with pytest.raises(DecodeError):
        translate_response(b"<html>hello</html>", source=source, target=target)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_empty_stream_is_an_error(source, target):
    """case-09: some servers answer 200 and then nothing."""
    written, _ = translate(source, target, [b""], request=ASKED)
    assert isinstance(fold(decode(target, [written])), ir.ApiError)
