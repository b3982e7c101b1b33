"""What is in a captured exchange: its conversation, its calls and results. Decoded when asked for,
and kept as little as possible, since histories repeat themselves in every request.
"""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from toolglot.context import Context
from toolglot.errors import ToolglotError
from toolglot.events import fold
from toolglot.gateway.telemetry.captures import CapturedExchange
from toolglot.ir import (
    ApiError,
    Audio,
    Document,
    Image,
    Inline,
    Message,
    Part,
    Refusal,
    Request,
    Response,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.receipt import Note
from toolglot.registry import get_protocol
from toolglot.source_paths import places_of_choices
from toolglot.translate import decode_request, decode_response
from toolglot.verdicts import Verdict, check_call
from toolglot.wire.event_stream import MEDIA_TYPE as EVENT_STREAM

UNREADABLE: Final = (ToolglotError, ValueError, RecursionError)
"""What reading a foreign body can end in: it may be anything, and nested as deep as it likes."""
BodyKind: TypeAlias = Literal["json", "sse", "ndjson", "eventstream"]

STREAM_PART: Final = "part {}"
"""How a note on a stream names the part that it is about."""
_ABOUT_CALLS: Final = ("arguments-", "call-", "name-", "id-")
_TITLE: Final = 120
_RESULT: Final = 4000
_PICTURE: Final = 200_000
_STREAMS: Final[dict[str, BodyKind]] = {
    "text/event-stream": "sse",
    "application/x-ndjson": "ndjson",
    EVENT_STREAM: "eventstream",
}


class ResultFacts(Struct, frozen=True, kw_only=True):
    """The result of a tool, as a client sent it back."""

    id: str
    name: str | None
    text: str
    size: int
    """Characters of the text, also those that are not kept."""
    is_error: bool
    media: tuple[str, ...] = ()
    """The media types of what is no text."""
    picture: str = ""
    """A small picture in it, as a data URL."""
    by_order: bool = False
    """Its protocol has no ids, so it belongs to the call of its name and place."""


class CallFacts(Struct, frozen=True, kw_only=True):
    """A call in an answer."""

    written: ToolCall | None
    """As the model wrote it; None: the client got one that the model did not make as a call."""
    given: ToolCall | None
    """As the client got it; None: it got none."""
    verdicts: tuple[Verdict, ...]
    notes: tuple[Note, ...]

    @property
    def call(self) -> ToolCall:
        """Whichever there is."""
        call = self.given or self.written
        if call is None:
            raise AssertionError  # pragma: no cover - one of them is there
        return call


class RequestFacts(Struct, frozen=True, kw_only=True):
    """What a request says."""

    chain: tuple[int, ...] = ()
    """A fingerprint of each message."""
    title: str = ""
    tools: int = 0
    results: tuple[ResultFacts, ...] = ()
    """Those that came after what the model said last."""
    answered: frozenset[str] = frozenset()
    """The ids of all calls that have a result."""
    problem: str = ""
    """Why it cannot be read."""


class AnswerFacts(Struct, frozen=True, kw_only=True):
    """What an answer says."""

    calls: tuple[CallFacts, ...] = ()
    text: str = ""


class ExchangeFacts(Struct, frozen=True):
    """What is in an exchange."""

    request: RequestFacts
    answer: AnswerFacts


def facts_of(exchange: CapturedExchange) -> ExchangeFacts:
    """What is in an exchange, found out once."""
    if isinstance(exchange.facts, ExchangeFacts):
        return exchange.facts
    problem, decoded = "", None
    try:
        decoded = decode_request(exchange.asked, source=exchange.protocol, path=exchange.path)
    except UNREADABLE as error:
        problem = str(error)
    asked = _request_facts(decoded) if decoded is not None else RequestFacts(problem=problem)
    if exchange.state != "ended":
        return ExchangeFacts(asked, AnswerFacts())
    facts = ExchangeFacts(asked, _answer_facts(exchange, decoded))
    exchange.facts = facts
    return facts


# --- bodies ---------------------------------------------------------------------------------------


def joined(chunks: list[tuple[float, bytes]]) -> bytes:
    """The body that came in these pieces."""
    return b"".join([data for _, data in chunks])


def body_kind(content_type: str, data: bytes) -> BodyKind:
    """How a body is framed; some servers send streams with a wrong content type."""
    if data.lstrip()[:6].startswith((b"data:", b"event:", b": ")):
        return "sse"
    return _STREAMS.get(content_type.partition(";")[0].strip().lower(), "json")


def content_type(headers: object) -> str:
    """The content type in headers of any case."""
    items = headers.items() if hasattr(headers, "items") else ()
    return next((str(value) for name, value in items if name.lower() == "content-type"), "")


def read_answer(data: bytes, protocol: str, kind: BodyKind) -> Response | ApiError | None:
    """An answer, whole or streamed; None if it cannot be read."""
    if not data or not protocol:
        return None
    try:
        if kind == "json":
            return decode_response(data, source=protocol)
        decoder = get_protocol(protocol).StreamDecoder(Context())
        return fold([*decoder.feed(data), *decoder.close()])
    except UNREADABLE:
        return None


def upstream_answer(exchange: CapturedExchange) -> Response | ApiError | None:
    """What the provider answered."""
    attempt = exchange.attempt
    if attempt is None:
        return None
    data = joined(attempt.chunks)
    kind = body_kind(content_type(attempt.response_headers), data)
    return read_answer(data, attempt.protocol, kind)


def client_answer(exchange: CapturedExchange) -> Response | ApiError | None:
    """What the client got."""
    data = joined(exchange.chunks)
    kind = body_kind(content_type(exchange.response_headers), data)
    return read_answer(data, exchange.protocol, kind)


# --- requests -------------------------------------------------------------------------------------


def _request_facts(request: Request) -> RequestFacts:
    answered = frozenset(
        part.id
        for message in request.messages
        for part in message.parts
        if isinstance(part, ToolResult)
    )
    return RequestFacts(
        chain=tuple(map(_fingerprint, request.messages)),
        title=_title(request.messages),
        tools=len(request.tools),
        results=tuple(_fresh_results(request.messages)),
        answered=answered,
    )


def _fingerprint(message: Message) -> int:
    """The same for a message that differs in marks and state only."""
    return hash((message.role, tuple(filter(None, map(_said, message.parts)))))


def _said(part: Part) -> object:
    match part:
        case Text():
            return part.text.strip()
        case ToolCall():
            return part.name, part.arguments
        case ToolResult():
            return tuple(filter(None, map(_said, part.parts)))
        case Image() | Document() | Audio():
            return type(part).__name__
        case _:
            return None


def _title(messages: tuple[Message, ...]) -> str:
    """What the user said first; clients put texts of their own in tags."""
    for message in messages:
        if message.role != "user":
            continue
        for part in message.parts:
            if isinstance(part, Text) and (words := part.text.strip()) and words[0] != "<":
                return " ".join(words[: _TITLE * 2].split())[:_TITLE]
    return ""


def _fresh_results(messages: tuple[Message, ...]) -> Iterator[ResultFacts]:
    last = max((at for at, each in enumerate(messages) if each.role == "assistant"), default=-1)
    for message in messages[last + 1 :]:
        for part in message.parts:
            if isinstance(part, ToolResult):
                yield _result(part)


def _result(part: ToolResult) -> ResultFacts:
    text = "\n".join(each.text for each in part.parts if isinstance(each, Text))
    return ResultFacts(
        id=part.id,
        name=part.name,
        text=text[:_RESULT],
        size=len(text),
        is_error=bool(part.is_error),
        media=tuple(filter(None, map(_media_type, part.parts))),
        picture=next(filter(None, map(_picture, part.parts)), ""),
        by_order=part.id_made,
    )


def _media_type(part: Part) -> str:
    if not isinstance(part, Image | Document | Audio):
        return ""
    return getattr(part.source, "media_type", None) or type(part).__name__.lower()


def _picture(part: Part) -> str:
    if not isinstance(part, Image) or not isinstance(part.source, Inline):
        return ""
    source = part.source
    safe = source.media_type in {"image/png", "image/jpeg", "image/gif", "image/webp"}
    if not safe or len(source.data) > _PICTURE:
        return ""
    return f"data:{source.media_type};base64,{source.data}"


# --- answers --------------------------------------------------------------------------------------


def _answer_facts(exchange: CapturedExchange, request: Request | None) -> AnswerFacts:
    given = client_answer(exchange)
    attempt = exchange.attempt
    same = attempt is not None and attempt.protocol == exchange.protocol and not exchange.notes
    written = (
        given if same or attempt is None or not attempt.protocol else upstream_answer(exchange)
    )
    got, made = _calls(given), _calls(written)
    notes = exchange.notes[attempt.notes if attempt is not None else 0 :]
    paths = _call_paths(written, attempt.protocol if attempt is not None else "")
    rows = []
    for at in range(max(len(got), len(made))):
        one = made[at] if at < len(made) else None
        other = got[at] if at < len(got) else None
        about = _notes_of(notes, paths[at] if at < len(paths) else (), alone=len(got) == 1)
        tools = request.tools if request is not None else ()
        verdicts = check_call(other, written=one, tools=tools, notes=about)
        rows.append(CallFacts(written=one, given=other, verdicts=verdicts, notes=about))
    return AnswerFacts(calls=tuple(rows), text=_text(given))


def _calls(answer: Response | ApiError | None) -> list[ToolCall]:
    if not isinstance(answer, Response):
        return []
    parts = (part for choice in answer.choices for part in choice.parts)
    return [part for part in parts if isinstance(part, ToolCall)]


def _call_paths(answer: Response | ApiError | None, protocol: str) -> list[tuple[str, ...]]:
    """Where the calls of a provider's answer stand, as notes on answers and on streams say it."""
    if not isinstance(answer, Response) or not protocol:
        return []
    places = places_of_choices(get_protocol(protocol).SURFACE, answer.choices)
    return [
        tuple(filter(None, (places.of(part), STREAM_PART.format(number))))
        for choice in answer.choices
        for number, part in enumerate(choice.parts)
        if isinstance(part, ToolCall)
    ]


def _notes_of(notes: tuple[Note, ...], paths: tuple[str, ...], *, alone: bool) -> tuple[Note, ...]:
    """The notes on one call: by its place, or by their codes if there is no other call."""
    return tuple(
        note
        for note in notes
        if any(
            note.path == path or note.path.startswith((f"{path}.", f"{path}[")) for path in paths
        )
        or (alone and note.code.startswith(_ABOUT_CALLS))
    )


def _text(answer: Response | ApiError | None) -> str:
    if isinstance(answer, ApiError):
        return answer.message[:_RESULT]
    if answer is None:
        return ""
    parts = (part for choice in answer.choices for part in choice.parts)
    return "\n".join(part.text for part in parts if isinstance(part, Text | Refusal))[:_RESULT]
