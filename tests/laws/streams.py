"""What the laws of streams are tried on, and the ways to run and compare streams."""

import json
import random
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace
from tests.laws.corpus import FIXTURES, ids, names, objects, some_words

from toolglot import ir
from toolglot.context import Context
from toolglot.events import Event, Failed, Grammar, PartDelta, PartEnded, unfold
from toolglot.receipt import Receipt
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.streams import StreamTranslator
from toolglot.translate import decode_response
from toolglot.wire.message import WireResponse

STREAMS = [
    (name, file) for name in PROTOCOLS for file in sorted((FIXTURES / name).glob("*.stream.txt"))
]
"""All recorded streams as (protocol, file)."""

NAMESAKES = frozenset(
    f"openai-chat/{stem}"
    for stem in ("citations", "refusal", "text", "vendor-deepseek", "vendor-openrouter")
)
"""A stream and a body of one name that are different answers."""


def body_of(stream: Path) -> Path:
    """The file of the body of the same name."""
    return stream.with_name(stream.name.replace(".stream.txt", ".response.json"))


def stem_of(stream: Path) -> str:
    """`protocol/name` of a stream."""
    return f"{stream.parent.name}/{stream.name.removesuffix('.stream.txt')}"


TWINS = [
    (name, file)
    for name, file in STREAMS
    if body_of(file).exists() and stem_of(file) not in NAMESAKES
]
"""Streams whose answer is also there as a body."""

# --- running -------------------------------------------------------------------------------------


def decode(name: str, pieces: Iterable[bytes], ctx: Context | None = None) -> list[Event]:
    """The events of a stream that comes in these pieces."""
    codec = get_protocol(name)
    decoder = codec.StreamDecoder(ctx or Context(source=codec.SURFACE, target=codec.SURFACE))
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [*events, *decoder.close()]


def encode(name: str, events: Iterable[Event]) -> bytes:
    """A stream of a protocol."""
    codec = get_protocol(name)
    encoder = codec.StreamEncoder(Context(target=codec.SURFACE))
    return b"".join(encoder.encode(event) for event in events) + encoder.close()


def body(name: str, response: ir.Response | ir.ApiError) -> WireResponse:
    """A body of a protocol."""
    codec = get_protocol(name)
    return codec.encode_response(response, Context(target=codec.SURFACE))


def translate(
    source: str, target: str, pieces: Iterable[bytes], **options: Any
) -> tuple[bytes, Receipt]:
    """What a client gets for a stream that comes in these pieces, and the receipt."""
    translator = StreamTranslator(source, target, **options)
    written = b"".join([*map(translator.feed, pieces), translator.close()])
    return written, translator.receipt


def one_by_one(data: bytes) -> list[bytes]:
    """A stream byte by byte."""
    return [data[place : place + 1] for place in range(len(data))]


def cut_at(data: bytes, places: Iterable[int]) -> list[bytes]:
    """A stream in the pieces between these places."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def assert_legal(events: Iterable[Event]) -> None:
    """Every event may follow the one before, and the last one ends the stream."""
    grammar = Grammar()
    for event in events:
        grammar.check(event)
    assert grammar.complete


# --- comparing -----------------------------------------------------------------------------------


def merged(events: Iterable[Event]) -> list[Event]:
    """Events with neighbouring deltas of one part and field as one, and empty ones left out."""
    found: list[Event] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, PartDelta) and event.citation is None:
            if not event.text:
                continue
            if isinstance(last, PartDelta) and _place(last) == _place(event):
                text = last.text + event.text
                found[-1] = PartDelta(event.index, text, event.field, event.piece)
                continue
        found.append(event)
    return found


def _place(delta: PartDelta) -> tuple[Any, ...]:
    return (delta.index, delta.field, delta.piece, delta.citation is None)


def plain(response: ir.Response | ir.ApiError) -> Any:
    """What a response says, without extras and the whitespace of arguments."""
    if isinstance(response, ir.ApiError):
        return response.kind, response.message
    choices = [([_part(part) for part in choice.parts], choice.stop) for choice in response.choices]
    return choices, _counts(response), response.model


def loose(response: ir.Response | ir.ApiError, *protocols: str) -> Any:
    """The same without made ids, carriers and the words of a protocol, neighbouring texts joined.

    If one of the protocols that it went through keeps no order of parts, they are put in order.
    """
    if isinstance(response, ir.ApiError):
        return response.kind, response.message
    flat = not all(get_protocol(name).SURFACE.messages.ordered for name in protocols)
    choices = [
        (_loose(choice.parts, flat=flat), choice.stop and choice.stop.kind)
        for choice in response.choices
    ]
    return choices, [count or 0 for count in _counts(response)], response.model


def _counts(response: ir.Response) -> tuple[int | None, ...]:
    usage = response.usage or ir.Usage()
    return usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning


_KINDS = ("reasoning", "text", "refusal", "call")


def _loose(parts: Iterable[ir.Part], *, flat: bool) -> list[Any]:
    told = [_part(part) for part in parts]
    told = [(*part[:2], "") if part[0] in ("text", "reasoning") else part for part in told]
    told = [part for part in told if part[0] not in ("text", "reasoning") or part[1]]
    if flat:
        told.sort(key=lambda part: _KINDS.index(part[0]) if part[0] in _KINDS else len(_KINDS))
    joined: list[Any] = []
    for part in told:
        last = joined[-1] if joined else None
        if last is not None and part[0] == last[0] and (part[0] == "text" or flat):
            gap = "\n\n" if part[0] == "reasoning" else ""
            joined[-1:] = (
                [(part[0], last[1] + gap + part[1].removeprefix(gap), "")]
                if (part[0] in ("text", "reasoning"))
                else [last, part]
            )
        else:
            joined.append(part)
    return joined


def _part(part: ir.Part) -> Any:
    if isinstance(part, ir.Text):
        cited = tuple((each.url, each.title) for each in part.citations)
        return ("text", part.text, cited, part.signature)
    if isinstance(part, ir.Reasoning):
        return ("reasoning", part.text, part.summary, part.signature, part.redacted)
    if isinstance(part, ir.ToolCall):
        return ("call", part.name, arguments(part), part.kind, part.namespace)
    if isinstance(part, ir.Refusal):
        return ("refusal", part.text)
    return (type(part).__name__, part)


def arguments(call: ir.ToolCall) -> Any:
    """The value of a call's arguments, out of any wrapping; their text if they are no JSON."""
    try:
        value = json.loads(call.arguments or "{}")
    except ValueError:
        return call.arguments
    wrapped = isinstance(value, dict) and len(value) == 1 and value.keys() & {"$value", "$invalid"}
    return next(iter(value.values())) if wrapped else value


def call_ids(response: ir.Response | ir.ApiError) -> list[str | None]:
    """The ids of the calls; None for one that was made."""
    if isinstance(response, ir.ApiError):
        return []
    return [
        None if part.id_made else part.id
        for choice in response.choices
        for part in choice.parts
        if isinstance(part, ir.ToolCall)
    ]


def ids_were_made(response: ir.Response | ir.ApiError) -> bool:
    """Whether a call had no id of its own."""
    return None in call_ids(response)


def assembled(name: str, response: ir.Response | ir.ApiError) -> Any:
    """The body that a client of a protocol puts together from a stream."""
    assert isinstance(response, ir.Response)
    (choice,) = response.choices
    parts = choice.parts
    if not get_protocol(name).SURFACE.messages.ordered:
        text = "".join(part.text for part in parts if isinstance(part, ir.Text))
        calls = [part for part in parts if isinstance(part, ir.ToolCall)]
        others = [part for part in parts if not isinstance(part, (ir.Text, ir.ToolCall))]
        parts = (*others, *([ir.Text(text=text)] if text else ()), *calls)
    return body(name, replace(response, choices=(replace(choice, parts=parts),))).body


def was_cut(events: Iterable[Event]) -> bool:
    """Whether a part never came to its end."""
    return any(isinstance(event, PartEnded) and event.incomplete for event in events)


def failed(events: Iterable[Event]) -> bool:
    """Whether the response broke off."""
    return any(isinstance(event, Failed) for event in events)


def fixture(name: str, file: Path) -> tuple[bytes, ir.Response | ir.ApiError]:
    """A recorded stream and the response of its body."""
    return file.read_bytes(), decode_response(body_of(file).read_bytes(), source=name)


# --- generated values ----------------------------------------------------------------------------

signatures = st.sampled_from(["c2lnbmF0dXJl", "RXFRQg==", "Z0FBQUFBQg=="])
spaces = st.sampled_from([(",", ":"), (", ", ": ")])


@st.composite
def calls(draw: st.DrawFn) -> ir.ToolCall:
    """A call, with its arguments written tightly or with spaces."""
    text = json.dumps(draw(objects), separators=draw(spaces), ensure_ascii=False)
    return ir.ToolCall(id=draw(ids), name=draw(names), arguments=text)


@st.composite
def responses(draw: st.DrawFn) -> ir.Response:
    """An answer: perhaps reasoning, then texts and calls in any order."""
    parts: list[ir.Part] = []
    if draw(st.booleans()):
        parts.append(ir.Reasoning(text=draw(some_words), signature=draw(signatures)))
    some = st.builds(ir.Text, text=some_words) | calls()
    for part in draw(st.lists(some, max_size=4)):
        if not (parts and isinstance(part, ir.Text) and isinstance(parts[-1], ir.Text)):
            parts.append(part)
    called = [part.id for part in parts if isinstance(part, ir.ToolCall)]
    if len(called) != len(set(called)):
        parts = [part for part in parts if not isinstance(part, ir.ToolCall)]
        called = []
    kind: ir.StopKind = "tool_calls" if called else draw(st.sampled_from(["end", "length"]))
    count = st.integers(0, 10**6)
    return ir.Response(
        id=draw(ids),
        model="some-model",
        choices=(ir.Choice(parts=tuple(parts), stop=ir.StopReason(kind=kind)),),
        usage=ir.Usage(input=draw(count), cache_read=draw(st.none() | count), output=draw(count)),
    )


def stream_of(name: str, response: ir.Response | ir.ApiError, seed: int = 0) -> bytes:
    """A stream of a protocol, with texts and arguments in pieces."""
    return encode(name, _in_pieces(unfold(response), random.Random(seed)))


def _in_pieces(events: Iterable[Event], rng: random.Random) -> Iterator[Event]:
    for event in events:
        if isinstance(event, PartDelta) and event.field == "text":
            middle = rng.randint(0, len(event.text))
            for text in (event.text[:middle], event.text[middle:]):
                if text:
                    yield PartDelta(event.index, text)
        else:
            yield event
