"""What every protocol does with its fixtures: identity, official types, bad input, streams."""

import copy
import json
import random
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.protocols.harness import JSON, Harness, codes, load, mutated, stem
from tests.protocols.oracles import ORACLES
from tests.protocols.streamed import (
    NOT_STREAMED,
    NOT_TWINS,
    STREAMED_WITHOUT,
    WRITTEN_OTHERWISE,
    WRITTEN_WITHOUT,
    bare,
)

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import Event, Failed, fold, unfold
from toolglot.ir import ApiError, Response
from toolglot.registry import PROTOCOLS
from toolglot.wire.message import WireResponse

HARNESSES = {name: Harness(name) for name in PROTOCOLS}
GOLDEN = Path(__file__).parents[1] / "golden"
NORMALISED = {
    "anthropic": {"arguments-normalised", "citation-dropped"},
    "openai-chat": {"arguments-normalised", "legacy-upgraded", "spelling-normalised"},
    "openai-responses": {"arguments-normalised", "citation-dropped", "spelling-normalised"},
    "gemini": {"arguments-normalised", "legacy-upgraded", "spelling-normalised"},
    "gemini-interactions": {"arguments-normalised", "citation-dropped", "legacy-upgraded"},
    "bedrock-converse": {"arguments-normalised", "spelling-normalised"},
    "ollama": {"arguments-normalised", "spelling-normalised"},
}
"""Notes that explain why a request is not written as it was read."""

TOLD_IN_A_HEADER_TOO = {"gemini-rate-limit": {"retry-after": "12"}}
"""What only the body of an error says, and a header when it is written."""

slow_ok = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
every = pytest.mark.parametrize("harness", HARNESSES.values(), ids=HARNESSES)


def cases(
    kind: str, *, judged: bool = False, twins: bool = False, but: Collection[str] = ()
) -> Any:
    """All fixtures of a kind, each with its protocol.

    Or only those of which the SDK knows everything, those that have a response of the same name,
    or all but some.
    """
    return pytest.mark.parametrize(
        ("harness", "path"),
        [
            pytest.param(harness, path, id=f"{name}-{stem(path)}")
            for name, harness in HARNESSES.items()
            for path in getattr(harness, f"{kind}s")
            if not judged or ORACLES[name].judges(kind, stem(path))
            if not twins or harness.has("response", stem(path))
            if f"{name}-{stem(path)}" not in but
        ],
    )


def test_every_protocol_has_fixtures_of_every_kind_and_an_oracle():
    for name, harness in HARNESSES.items():
        assert harness.requests
        assert harness.responses
        assert harness.errors
        assert harness.streams
        assert name in ORACLES


# --- identity -------------------------------------------------------------------------------------


@cases("request")
def test_a_request_is_written_as_it_was_read(harness, path):
    body = load(path)
    before = json.dumps(body)
    ctx = Context(source=harness.protocol.SURFACE, target=harness.protocol.SURFACE)
    request = harness.decode_request(body, ctx)
    wire = harness.protocol.encode_request(request, ctx)
    assert wire.body == body
    assert json.dumps(body) == before, "the input was changed"
    assert wire.path == harness.protocol.SURFACE.path.format(model=request.model)
    # Arguments that are no JSON are told of, and stay as they are.
    assert {note.code for note in ctx.receipt().losses} <= {"arguments-invalid"}


@cases("request")
def test_a_request_is_written_as_it_was_read_without_surfaces(harness, path):
    body, ctx = load(path), Context()
    assert harness.encode_request(harness.decode_request(body, ctx)) == body
    assert codes(ctx) <= (set() if harness.name == "gemini" else NORMALISED[harness.name])


@cases("request")
def test_a_request_read_twice_is_the_same(harness, path):
    request = harness.decode_request(load(path))
    assert harness.decode_request(harness.encode_request(request)) == request


@cases("response")
def test_a_response_is_written_as_it_was_read(harness, path):
    body = load(path)
    wire = harness.protocol.encode_response(harness.decode_response(copy.deepcopy(body)), Context())
    assert wire.body == body
    assert wire.status == 200


@cases("error")
def test_an_error_is_written_as_it_was_read(harness, path):
    wire = WireResponse(**load(path))
    error = harness.protocol.decode_response(wire, Context())
    assert isinstance(error, ApiError)
    again = harness.protocol.encode_response(error, Context())
    assert (again.status, again.body) == (wire.status, wire.body)
    more = TOLD_IN_A_HEADER_TOO.get(f"{harness.name}-{stem(path)}", {})
    assert again.headers == {**wire.headers, **more}


# --- the official types ---------------------------------------------------------------------------


@cases("request", judged=True)
def test_the_sdk_reads_a_request(harness, path):
    body = harness.encode_request(harness.decode_request(load(path)))
    ORACLES[harness.name].request(body)


@cases("response", judged=True)
def test_the_sdk_reads_a_response(harness, path):
    body = harness.encode_response(harness.decode_response(load(path)))
    ORACLES[harness.name].response(body)


@cases("stream", judged=True)
def test_the_sdk_reads_a_stream(harness, path):
    """X-14: official events only, with nothing that is not the protocol's among them."""
    written = harness.encode_stream(harness.decode_stream(path.read_bytes()))
    ORACLES[harness.name].stream(written)


# --- goldens --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [file for name in PROTOCOLS for file in sorted((GOLDEN / name).glob("*.json"))],
    ids=lambda file: f"{file.parent.name}-{file.name}",
)
def test_a_fixture_is_read_as_its_golden_file_says(file, golden):
    harness = HARNESSES[file.parent.name]
    fixture, kind = file.name.split(".")[:2]
    read = {
        "request": lambda: harness.decode_request(harness.load("request", fixture)),
        "response": lambda: harness.decode_response(harness.load("response", fixture)),
        "events": lambda: harness.decode_stream(harness.stream(fixture)),
    }[kind]()
    golden(f"{harness.name}/{file.name}", msgspec.to_builtins(read))


@every
def test_some_fixtures_of_every_protocol_have_golden_files(harness):
    names = [file.name for file in (GOLDEN / harness.name).glob("*.json")]
    assert sum(".request." in name for name in names) >= 3
    assert sum(".response." in name for name in names) >= 2


# --- bad input ------------------------------------------------------------------------------------


@every
@given(data=st.data())
@slow_ok
def test_any_request_decodes_or_is_refused(harness, data):
    body = data.draw(mutated([load(path) for path in harness.requests]))
    before, ctx = copy.deepcopy(body), Context()
    try:
        request = harness.decode_request(body, ctx)
    except DecodeError as error:
        assert error.message
        return
    written = harness.encode_request(request, ctx)
    assert body == before, "the input was changed"
    # A result without an id is written with that of the call it answers, and noted as `id-made`.
    assert written == body or codes(ctx) & {*NORMALISED[harness.name], "id-made"}
    again = harness.decode_request(written)
    assert harness.encode_request(again) == written
    if harness.name == "ollama":
        assert again == request
    harness.encode_request(request, harness.foreign())


@every
@given(data=st.data())
@slow_ok
def test_any_response_decodes_or_is_refused(harness, data):
    answers = [(200, load(path)) for path in harness.responses]
    errors = [(error["status"], error["body"]) for error in map(load, harness.errors)]
    status, body = data.draw(st.sampled_from([*answers, *errors]))
    body = data.draw(mutated([body]))
    try:
        decoded = harness.decode_response(
            body, status=data.draw(st.sampled_from([status, 200, 400, 503]))
        )
    except DecodeError as error:
        assert error.message
        return
    harness.encode_response(decoded)
    harness.encode_response(decoded, harness.foreign())


@every
@given(data=st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_any_stream_gives_legal_events(harness, data):
    values = harness.values(data.draw(st.sampled_from(harness.streams)).read_bytes())
    if data.draw(st.booleans()):
        values = data.draw(st.permutations(values))
    for index in data.draw(st.lists(st.integers(0, max(0, len(values) - 1)), max_size=4)):
        values[index:index] = [data.draw(mutated([values[index]], 1) | JSON)] if values else []
    junk = data.draw(st.binary(max_size=20))
    events = harness.decode_stream(b"".join(map(harness.framed, values)) + junk)
    harness.encode_stream(events)
    assert isinstance(harness.encode_stream(events, harness.foreign()), bytes)


# --- streams --------------------------------------------------------------------------------------


@cases("stream")
def test_a_stream_cut_anywhere_gives_the_same_events(harness, path):
    """case-10, X-06: byte by byte, in two pieces and at random, inside characters too."""
    data = path.read_bytes()
    whole = harness.decode_stream(data)
    assert harness.decode_stream(data) == whole, "X-22: no clock and no chance"
    assert harness.decode_stream(data, cuts=range(1, len(data))) == whole
    for middle in range(1, len(data), 7):
        assert harness.decode_stream(data, cuts=[middle]) == whole
    dice = random.Random(path.name)
    for _ in range(5):
        cuts = sorted(dice.sample(range(len(data)), min(20, len(data))))
        assert harness.decode_stream(data, cuts=cuts) == whole


@cases("stream")
def test_a_stream_with_other_line_ends_gives_the_same_events(harness, path):
    """X-06: CRLF or CR for LF, and comments between."""
    if harness.binary:
        return  # Its bytes have no lines.
    data = path.read_bytes()
    whole = harness.decode_stream(data)
    lines = data.replace(b"\r\n", b"\n")
    assert harness.decode_stream(lines.replace(b"\n", b"\r\n")) == whole
    if harness.sse:
        assert harness.decode_stream(lines.replace(b"\n", b"\r")) == whole
        assert harness.decode_stream(lines.replace(b"data: ", b": note\ndata:")) == whole


@every
@given(data=st.data())
@slow_ok
def test_a_stream_cut_at_random_gives_the_same_events(harness, data):
    content = data.draw(st.sampled_from(harness.streams)).read_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=8)))
    assert harness.decode_stream(content, cuts=cuts) == harness.decode_stream(content)


@cases("stream", but=NOT_TWINS, twins=True)
def test_a_stream_says_what_the_body_says(harness, path):
    body = harness.decode_response(harness.load("response", stem(path)))
    streamed = fold(harness.decode_stream(path.read_bytes()))
    assert bare(harness.name, streamed) == bare(harness.name, body)


@cases("stream")
def test_a_stream_that_is_written_ends_as_it_did(harness, path):
    [*_, last] = harness.decode_stream(path.read_bytes())
    [*_, again] = rewritten(harness, path)
    assert type(again) is type(last)
    if isinstance(last, Failed):
        assert again.error.kind == last.error.kind
        assert again.error.message == last.error.message


@cases("stream", but=WRITTEN_OTHERWISE)
def test_a_stream_that_is_written_says_the_same(harness, path):
    without = WRITTEN_WITHOUT.get(f"{harness.name}-{stem(path)}", ())
    events = harness.decode_stream(path.read_bytes())
    if isinstance(events[-1], Failed):
        return
    again = fold(rewritten(harness, path))
    assert bare(harness.name, again, *without) == bare(harness.name, fold(events), *without)


def rewritten(harness: Harness, path: Path) -> list[Event]:
    """The events of a stream that was read, written and read again."""
    events = harness.decode_stream(path.read_bytes())
    return harness.decode_stream(harness.encode_stream(events))


@cases("response", but=NOT_STREAMED)
def test_a_response_that_is_streamed_says_the_same(harness, path):
    without = STREAMED_WITHOUT.get(f"{harness.name}-{stem(path)}", ())
    response = harness.decode_response(load(path))
    streamed = fold(harness.decode_stream(harness.encode_stream(unfold(response))))
    assert isinstance(streamed, Response)
    assert bare(harness.name, streamed, *without) == bare(harness.name, response, *without)
