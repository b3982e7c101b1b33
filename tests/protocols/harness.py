"""What the tests of all protocols share: fixtures, and each protocol with little ceremony."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from toolglot.context import Context
from toolglot.events import Event, Grammar
from toolglot.ir import ApiError, Request, Response
from toolglot.registry import get_protocol
from toolglot.surface import MediaSupport, MessageSupport, Surface
from toolglot.wire.event_stream import MEDIA_TYPE, EventStreamDecoder, encode_event
from toolglot.wire.message import WireRequest, WireResponse

FIXTURES = Path(__file__).parents[1] / "fixtures"
ELSEWHERE = Surface(
    name="elsewhere",
    path="/",
    settings={},
    messages=MessageSupport(
        path="messages",
    ),
    media=MediaSupport(
        accepted={},
    ),
)
"""A protocol that is not in the registry: whatever comes from it is foreign."""


def stem(path: Any) -> str:
    """The name of a fixture, which several files may share."""
    return path.name.split(".")[0] if isinstance(path, Path) else str(path)


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _json(line: bytes) -> list[Any]:
    try:
        return [json.loads(line)]
    except ValueError:
        return []


def codes(ctx: Context) -> set[str]:
    """The codes of the notes so far."""
    return set(ctx.receipt().codes())


class Harness:
    """A protocol of the registry and its fixtures; a context is made up unless one is given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.protocol = get_protocol(name)
        self.fixtures = FIXTURES / name
        self.requests = self._files("request.json")
        self.responses = self._files("response.json")
        self.errors = self._files("error.json")
        self.streams = self._files("stream.txt")
        self.sse = b"data:" in self.streams[0].read_bytes()
        self.binary = self.protocol.SURFACE.stream.media_type == MEDIA_TYPE

    def _files(self, ending: str) -> list[Path]:
        return sorted(self.fixtures.glob(f"*.{ending}"))

    def has(self, kind: str, fixture: str) -> bool:
        return (self.fixtures / f"{fixture}.{kind}.json").exists()

    def load(self, kind: str, fixture: str) -> Any:
        return load(self.fixtures / f"{fixture}.{kind}.json")

    def stream(self, fixture: str) -> bytes:
        return (self.fixtures / f"{fixture}.stream.txt").read_bytes()

    def values(self, data: bytes) -> list[Any]:
        """The JSON values in the lines of a stream, as far as they are JSON; of binary messages,
        each with its name.
        """
        if self.binary:
            messages = EventStreamDecoder().feed(data)
            return [{"name": name, "data": value} for name, raw in messages for value in _json(raw)]
        return [value for line in data.splitlines() for value in _json(line.removeprefix(b"data:"))]

    def framed(self, value: Any) -> bytes:
        """A value as the protocol frames the events of a stream."""
        if self.binary:
            named = value if isinstance(value, dict) else {"data": value}
            data = json.dumps(named.get("data")).encode()
            return encode_event(str(named.get("name", "metadata"))[:200], data)
        line = json.dumps(value).encode()
        return b"data: %s\n\n" % line if self.sse else line + b"\n"

    def foreign(self, **more: Any) -> Context:
        """The context of something that comes from another protocol."""
        return Context(source=ELSEWHERE, target=self.protocol.SURFACE, now=1_800_000_000, **more)

    def decode_request(self, body: Any, ctx: Context | None = None, path: str = "") -> Request:
        return self.protocol.decode_request(WireRequest(body=body, path=path), ctx or Context())

    def encode_request(self, request: Request, ctx: Context | None = None) -> Any:
        return self.protocol.encode_request(request, ctx or Context()).body

    def decode_response(
        self,
        body: Any,
        ctx: Context | None = None,
        status: int = 200,
        headers: dict[str, str] | None = None,
    ) -> Any:
        wire = WireResponse(body=body, status=status, headers=headers or {})
        return self.protocol.decode_response(wire, ctx or Context(seed=b"x"))

    def encode_response(self, response: Response | ApiError, ctx: Context | None = None) -> Any:
        return self.protocol.encode_response(response, ctx or Context()).body

    def decode_stream(
        self, data: bytes, ctx: Context | None = None, cuts: Sequence[int] = ()
    ) -> list[Event]:
        """The events of a stream fed in pieces: each of them legal, and the last one an end."""
        decoder, grammar, events = (
            self.protocol.StreamDecoder(ctx or Context(seed=b"x")),
            Grammar(),
            [],
        )
        for start, end in pairwise([0, *cuts, len(data)]):
            events.extend(decoder.feed(data[start:end]))
        events.extend(decoder.close())
        for event in events:
            grammar.check(event)
        assert grammar.complete
        assert list(decoder.close()) == []
        return events

    def encode_stream(self, events: Iterable[Event], ctx: Context | None = None) -> bytes:
        """The bytes of events, each of which must be legal."""
        encoder, grammar, written = self.protocol.StreamEncoder(ctx or Context()), Grammar(), b""
        for event in events:
            grammar.check(event)
            written += encoder.encode(event)
        return written + encoder.close()


# --- documents with something wrong in them -------------------------------------------------------

JUNK: list[Any] = [None, True, -1, 0.5, 2**70, "", "x", [], [None], {}, {"type": 7}, [[]]]
JUNK.append([{"type": "zz"}])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(JUNK),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5)
            | st.sampled_from(["text", "parts", "role", "name", "id", "type", "a_b", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterable[tuple[Any, ...]]:
    """Every place in a JSON value, as the keys that lead to it."""
    yield path
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in members:
            yield from places(child, (*path, key))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy of a value with something else at a place."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


@st.composite
def mutated(draw: st.DrawFn, values: Sequence[Any], most: int = 3) -> Any:
    """One of some documents, with something else in a few places below its top."""
    value = draw(st.sampled_from(values))
    for _ in range(draw(st.integers(1, most))):
        below = [place for place in places(value) if place]
        if below:
            value = put(value, draw(st.sampled_from(below)), draw(JSON))
    return value
