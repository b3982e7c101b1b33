"""Streams of OpenAI Responses: bytes to events.

Reference: https://developers.openai.com/api/reference/resources/responses/streaming-events, as the
types of the packages `openai` 3.49.0 and `openresponses_types` 2.4.0 have it (read 2026-11-15).

    response.created, response.in_progress,
    { response.output_item.added, { what the item holds }, response.output_item.done },
    response.completed | response.incomplete | response.failed

What an item holds comes between `.added` and `.done` of its own: `content_part` with `output_text`
or `refusal`, `function_call_arguments`, `custom_tool_call_input`, `reasoning_summary_part` with
`reasoning_summary_text`, `reasoning_text`. Items may overlap; `item_id` and `output_index` tell
them apart.

Servers differ in what they send: some leave out indices, ids, deltas or the announcement of an
item, some repeat in `.done` what the deltas said. So every `.done` is compared with what was sent
already, and only what is missing follows.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import (
    Event,
    Failed,
    Finished,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    unfold_part,
)
from toolglot.ir import (
    ApiError,
    Extras,
    Json,
    Part,
    Reasoning,
    Refusal,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols.openai_responses._items import (
    PIECES,
    decode_output_item,
    is_servers_own,
    with_item,
)
from toolglot.protocols.openai_responses._stream_index import Item, Items, Slot
from toolglot.protocols.openai_responses.parts import (
    OUTPUT,
    OWN,
    decode_citation,
    decode_part,
    kept,
)
from toolglot.protocols.openai_responses.response import decode_response, decode_stop, decode_usage
from toolglot.protocols.openai_responses.surface import NAME, RESPONSE_MINOR, SERVICE_TIERS
from toolglot.wire.fields import Fields, WireDocument
from toolglot.wire.message import WireResponse
from toolglot.wire.sent_text import SentText
from toolglot.wire.sse import SseDecoder
from toolglot.wire.stream_base import BaseStreamDecoder, parse

_Key = tuple[int, int]
"""A part: the number of its item, and its place in the item."""

_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""Calls, and where they keep what they are called with."""

_PLAIN: Final = {
    "response.output_text.delta": "message",
    "response.function_call_arguments.delta": "function_call",
    "response.custom_tool_call_input.delta": "custom_tool_call",
}
"""Deltas of texts and arguments, and the kind of their items."""

_HEAD: Final = ("id", "model", "created_at", "service_tier")
_OUTCOME: Final = frozenset({"object", "status", "output", "usage", "error", "incomplete_details"})
_STATUS: Final = {"response.completed": "completed", "response.incomplete": "incomplete"}
_MEMBERS: Final = frozenset(
    {
        "type", "sequence_number", "item_id", "output_index", "content_index", "summary_index",
        "annotation_index", "response", "item", "part", "delta", "text", "refusal", "arguments",
        "name", "input", "annotation", "error", "code", "message", "param", "status", "logprobs",
    }
)  # fmt: skip
"""What events hold that is read, or that means nothing."""
_PADDING: Final = "obfuscation"
"""Hides how long deltas are from whoever watches the network."""
_IDLE: Final = frozenset({"keepalive", "ping", "response.ping"})


def _with_logprobs(item: Json) -> int | None:
    """The first piece of a message that has the probabilities of its tokens."""
    content = item.get("content")
    pieces = enumerate(content if isinstance(content, list) else ())
    return next(
        (at for at, each in pieces if isinstance(each, dict) and each.get("logprobs")), None
    )


class StreamDecoder(BaseStreamDecoder):
    """Bytes to events."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(WireDocument(ctx, NAME, RESPONSE_MINOR), SseDecoder())
        self._slots: dict[_Key, Slot] = {}
        self._items = Items()
        self._head: Json = {}
        """What the response said of itself when it began."""
        self._left: set[str] = set()
        """Members of events that are not known, which were named already."""
        self._calls = False
        self._marked = False

    @property
    def could_end(self) -> int:
        return self._count if self._all_came else 0

    @property
    def _all_came(self) -> bool:
        """Whether a server ends streams as another protocol does: all came but the last event."""
        return self._marked and self._begun and all(item.done for item in self._items)

    def _at_end(self) -> Iterator[Event]:
        return self._finish({}) if self._all_came else self._cut_off()

    def read(self, name: str, payload: bytes, value: Json | None = None) -> Iterable[Event]:
        """What one event of the stream means; `value` is its JSON if that was read already."""
        self._count += 1
        if self._over:
            return ()
        if payload == b"[DONE]":
            self._marked = True
            return ()
        value = parse(payload, self._ctx, self._count, value)
        if value is None:
            return ()
        kind = value.get("type") or name
        plain = _PLAIN.get(kind) if isinstance(kind, str) else None
        delta = None if plain is None else self._plain_delta(value, plain)
        return self._other(kind, value) if delta is None else (delta,)

    def _other(self, kind: Any, value: Json) -> Iterator[Event]:
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        try:
            if reader is not None:
                value["type"] = kind
                if not value.keys() <= _MEMBERS:
                    self._leave(value)
                yield from reader(self, value)
            elif isinstance(value.get("error"), (dict, str)) and "response" not in value:
                yield from self._error(value)
            elif isinstance(kind, str) and kind and kind not in _IDLE:
                yield from self._begin({})
                yield OpaqueEvent(NAME, kind, value)
        except DecodeError as error:
            self._skip(str(error))

    def _leave(self, value: Json) -> None:
        """Name the members of an event that are not known, each once."""
        fresh = {key: value[key] for key in value.keys() - _MEMBERS - self._left}
        self._left |= fresh.keys()
        self._ctx.leave(Fields({}, self._document), RESPONSE_MINOR | {_PADDING}, fresh)

    def _plain_delta(self, value: Json, kind: str) -> PartDelta | None:
        """By far the most events: more of an open part of an item that is known by its id."""
        item, text = self._items.known(value.get("item_id")), value.get("delta")
        if item is None or item.done or item.kind != kind or type(text) is not str or not text:
            return None
        slot = self._slots.get((item.number, _place(value)))
        if slot is None or slot.ended:
            return None
        if _PADDING in value and _PADDING not in self._left:
            self._leave(value)
        slot.texts.append(text)
        return PartDelta(slot.index, text)

    def _fields(self, value: Json, item: Item | None = None) -> Fields:
        key = "" if item is None else ("output", item.number)
        return Fields(value, self._document, None, key)

    # --- the response

    def _created(self, value: Json) -> Iterator[Event]:
        response = value.get("response")
        yield from self._begin(response if isinstance(response, dict) else {})

    def _begin(self, response: Json) -> Iterator[Event]:
        if self._begun:
            return
        self._begun, self._head = True, response
        id_, model, created, tier = (response.get(key) for key in _HEAD)
        yield Started(
            id=id_ if id_ and isinstance(id_, str) else self._ctx.new_id("resp_"),
            model=model if isinstance(model, str) else "",
            created=created if type(created) in (int, float) else None,
            service_tier=tier if isinstance(tier, str) and tier in SERVICE_TIERS else None,
            extras={
                NAME: {k: v for k, v in response.items() if k not in _OUTCOME and k not in _HEAD}
            },
        )

    def _ended(self, value: Json) -> Iterator[Event]:
        response = value.get("response")
        response = response if isinstance(response, dict) else {}
        yield from self._begin(response)
        output = response.get("output")
        for place, item in enumerate(output if isinstance(output, list) else ()):
            if isinstance(item, dict):
                yield from self._complete_item(self._items.placed(item, place), item)
        yield from self._finish({"status": _STATUS[value["type"]], **response})

    def _finish(self, response: Json) -> Iterator[Event]:
        self._over = True
        for item in self._items:
            yield from self._name_call(item)
        yield from self._parts.end_all(incomplete=response.get("status") == "incomplete")
        usage, stop, extras = self._outcome(response)
        if usage is not None:
            yield UsageSeen(usage)
        yield Finished((stop,), extras)

    def _outcome(self, response: Json) -> tuple[Usage | None, StopReason, Extras]:
        fields = self._fields(
            {k: v for k, v in response.items() if k != "output" and k not in _HEAD}
        )
        fields.constant("object", "response")
        try:
            usage = decode_usage(fields.maybe_fields("usage"))
            return usage, decode_stop(fields, has_calls=self._calls), kept(fields)
        except DecodeError as error:
            self._skip(str(error))
            return None, decode_stop(self._fields({}), has_calls=self._calls), OWN

    def _failed(self, value: Json) -> Iterator[Event]:
        response = value.get("response")
        yield from self._fail(
            response if isinstance(response, dict) else {"error": value.get("error")}
        )

    def _error(self, value: Json) -> Iterator[Event]:
        if isinstance(value.get("error"), (dict, str)):
            yield from self._fail({"error": value["error"]})
        else:
            error = {key: value[key] for key in ("code", "message", "param") if key in value}
            yield from self._fail({"error": error})

    def _fail(self, body: Json) -> Iterator[Event]:
        self._over = True
        yield from self._parts.end_all(incomplete=True)
        said = {**self._head, **body}
        kept(self._fields({k: v for k, v in said.items() if k not in (*_OUTCOME, *_HEAD)}))
        error = decode_response(WireResponse(body={**body, "status": "failed"}), self._ctx)
        assert isinstance(error, ApiError)  # noqa: S101 - a response that failed decodes to nothing else
        yield Failed(error)

    # --- items

    def _find(self, value: Json, kind: str) -> Item | None:
        """The item that an event speaks of: by its id, its place, or as the last one open."""
        item = self._items.find(kind, value.get("item_id"), value.get("output_index"))
        if item.done:
            self._skip("its item is complete already")
            return None
        return item

    def _item_added(self, value: Json) -> Iterator[Event]:
        yield from self._begin({})
        raw = value.get("item")
        if not isinstance(raw, dict):
            self._skip("no item")
            return
        item = self._items.announce(raw, value.get("output_index"))
        item.announced = raw
        if item.kind in _CALLS:
            yield from self._start_call(item, raw)
        elif item.kind == "reasoning":
            item_id = raw.get("id")
            known = item_id if isinstance(item_id, str) else None
            yield from self._start(item, Reasoning(id=known, extras=OWN))

    def _item_done(self, value: Json) -> Iterator[Event]:
        yield from self._begin({})
        raw = value.get("item")
        if not isinstance(raw, dict):
            self._skip("no item")
            return
        item = self._items.find(str(raw.get("type")), raw.get("id"), value.get("output_index"))
        yield from self._complete_item(item, raw)

    def _complete_item(self, item: Item, raw: Json) -> Iterator[Event]:
        if item.done:
            return
        place = _with_logprobs(raw)
        if place is not None:
            path = f"output[{item.number}].content[{place}].logprobs"
            self._ctx.note("logprobs-dropped", path, "token probabilities are not streamed on")
        try:
            parts = decode_output_item(self._fields(raw, item))
        except DecodeError as error:
            self._skip(str(error))
            return
        incomplete = raw.get("status") == "incomplete"
        if item.held:
            yield from self._start_call(item, raw)
        for place, part in enumerate(parts):
            self._calls = self._calls or isinstance(part, ToolCall)
            yield from self._complete((item.number, place), part, incomplete=incomplete)
        item.done = True
        item.held.clear()
        for place in item.places:
            yield from self._end((item.number, place), incomplete=incomplete)

    # --- parts

    def _start(self, item: Item, part: Part, place: int = 0) -> Iterator[PartStarted]:
        key = (item.number, place)
        if key not in self._slots:
            item.places.append(place)
            self._slots[key] = Slot(self._parts.count)
            yield self._parts.start(key, part, path=_path(key, part))

    def _start_content(self, item: Item, part: Text | Refusal, place: int) -> Iterator[PartStarted]:
        if (item.number, place) in self._slots:
            return
        rest = None
        if not item.opened:
            item.opened = True
            rest = {
                k: v
                for k, v in item.announced.items()
                if k not in ("type", "role", "content", "status")
            }
        yield from self._start(item, with_item(part, rest), place)

    def _start_call(self, item: Item, raw: Json) -> Iterator[Event]:
        """A call begins when its name is known; what came before was held."""
        name, member = raw.get("name"), _CALLS[item.kind]
        if (item.number, 0) in self._slots or not isinstance(name, str) or not name:
            return
        if item.kind == "custom_tool_call" and is_servers_own(name, self._fields({})):
            item.held.clear()
            return
        given = raw.get(member)
        bare = {k: v for k, v in raw.items() if k not in ("status", member)}
        try:
            (part,) = decode_output_item(self._fields({**bare, "type": item.kind}, item))
        except DecodeError as error:
            self._skip(str(error))
            return
        self._calls = True
        yield from self._start(item, part)
        text = "".join(item.held) or (given if isinstance(given, str) else "")
        item.held.clear()
        yield from self._more((item.number, 0), text)

    def _name_call(self, item: Item) -> Iterator[Event]:
        """A call that was never named, but whose arguments came."""
        if item.kind in _CALLS and item.held:
            self._skip("a call without a name")
            yield from self._start_call(
                item, {**item.announced, "name": item.name or f"tool_{item.number}"}
            )

    def _more(self, key: _Key, text: Any) -> Iterator[PartDelta]:
        slot = self._slots.get(key)
        if slot is not None and not slot.ended and text and isinstance(text, str):
            slot.texts.append(text)
            yield PartDelta(slot.index, text)

    def _rest(self, key: _Key, full: Any) -> Iterator[PartDelta]:
        """What a whole text holds beyond what was sent of it."""
        slot = self._slots.get(key)
        if slot is not None and isinstance(full, str):
            yield from self._more(key, slot.texts.beyond(full))

    def _complete(self, key: _Key, part: Part, *, incomplete: bool) -> Iterator[Event]:
        """What is missing of a part that is now known whole, and its end."""
        slot = self._slots.get(key)
        if slot is None:
            yield from self._whole(key, part, incomplete=incomplete)
            return
        if slot.ended:
            return
        if isinstance(part, ToolCall):
            yield from self._rest(key, part.arguments)
        elif isinstance(part, (Text, Refusal)):
            yield from self._rest(key, part.text)
            for citation in part.citations[slot.cited :] if isinstance(part, Text) else ():
                yield PartDelta(slot.index, "", "citation", citation=citation)
        elif isinstance(part, Reasoning):
            yield from self._complete_reasoning(slot, part, key)
        yield from self._end(key, incomplete=incomplete)

    def _complete_reasoning(self, slot: Slot, part: Reasoning, key: _Key) -> Iterator[Event]:
        for piece, text in enumerate(part.summary):
            sent = slot.pieces.get(piece)
            rest = text if sent is None else sent.beyond(text)
            if rest:
                yield PartDelta(slot.index, rest, "summary", piece)
        yield from self._rest(key, part.text)
        if part.signature is not None:
            yield PartDelta(slot.index, part.signature, "signature")

    def _whole(self, key: _Key, part: Part, *, incomplete: bool) -> Iterator[Event]:
        self._slots[key] = slot = Slot(self._parts.count)
        slot.ended = True
        for event in unfold_part(slot.index, part):
            if isinstance(event, PartStarted):
                self._parts.start(key, part, path=_path(key, part))
            elif isinstance(event, PartEnded):
                event = self._parts.end(key, incomplete=incomplete)  # noqa: PLW2901 - with its flag
            yield event

    def _end(self, key: _Key, *, incomplete: bool = False) -> Iterator[PartEnded]:
        slot = self._slots[key]
        if not slot.ended:
            slot.ended = True
            yield self._parts.end(key, incomplete=incomplete)

    # --- what items hold

    def _part_added(self, value: Json) -> Iterator[Event]:
        yield from self._begin({})
        part = value.get("part")
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, dict) and kind in ("output_text", "refusal"):
            item = self._find(value, "message")
            if item is not None:
                place = _place(value)
                text, member = (
                    (Text(text=""), "text") if kind == OUTPUT else (Refusal(text=""), "refusal")
                )
                yield from self._start_content(item, text, place)
                yield from self._more((item.number, place), part.get(member))

    def _part_done(self, value: Json) -> Iterator[Event]:
        raw = value.get("part")
        if not isinstance(raw, dict) or raw.get("type") not in ("output_text", "refusal"):
            return
        item = self._find(value, "message")
        place = _place(value)
        if item is not None and (item.number, place) in self._slots:
            part = decode_part(raw, self._fields({}, item), "content", place, OUTPUT)
            yield from self._complete((item.number, place), part, incomplete=False)

    def _text_delta(self, value: Json) -> Iterator[Event]:
        yield from self._content(value, Text(text=""), value.get("delta"), self._more)

    def _text_done(self, value: Json) -> Iterator[Event]:
        yield from self._content(value, Text(text=""), value.get("text"), self._rest)

    def _refusal_delta(self, value: Json) -> Iterator[Event]:
        yield from self._content(value, Refusal(text=""), value.get("delta"), self._more)

    def _refusal_done(self, value: Json) -> Iterator[Event]:
        yield from self._content(value, Refusal(text=""), value.get("refusal"), self._rest)

    def _content(
        self,
        value: Json,
        empty: Text | Refusal,
        text: Any,
        add: Callable[[_Key, Any], Iterator[PartDelta]],
    ) -> Iterator[Event]:
        if not self._begun:
            yield from self._begin({})
        item = self._find(value, "message")
        if item is None or not text:
            return
        key = (item.number, _place(value))
        if key not in self._slots:
            yield from self._start_content(item, empty, key[1])
        yield from add(key, text)

    def _annotation(self, value: Json) -> Iterator[Event]:
        item, raw = self._find(value, "message"), value.get("annotation")
        if item is None:
            return
        slot = self._slots.get((item.number, _place(value)))
        if slot is not None and not slot.ended and isinstance(raw, dict):
            slot.cited += 1
            citation = decode_citation(
                self._annotated(item, value).element(raw, "annotations", slot.cited - 1)
            )
            yield PartDelta(slot.index, "", "citation", citation=citation)

    def _annotated(self, item: Item, value: Json) -> Fields:
        """The part that an annotation belongs to, for the path of what is not known of it."""
        return self._fields({}, item).element({}, "content", _place(value))

    def _arguments_delta(self, value: Json) -> Iterator[Event]:
        yield from self._begin({})
        item, delta = self._find(value, _called(value)), value.get("delta")
        if item is None or not isinstance(delta, str):
            return
        if (item.number, 0) in self._slots:
            yield from self._more((item.number, 0), delta)
        else:
            item.held.append(delta)

    def _arguments_done(self, value: Json) -> Iterator[Event]:
        yield from self._begin({})
        kind = _called(value)
        item, full = self._find(value, kind), value.get(_CALLS[kind])
        if item is None:
            return
        item.name = str(value.get("name") or "")
        if item.announced and (item.number, 0) not in self._slots:
            yield from self._start_call(item, {**item.announced, "name": item.name})
        if (item.number, 0) in self._slots:
            yield from self._rest((item.number, 0), full)
        elif isinstance(full, str):
            item.held = [full]

    def _summary_delta(self, value: Json) -> Iterator[Event]:
        yield from self._summary(value, value.get("delta"), whole=False)

    def _summary_done(self, value: Json) -> Iterator[Event]:
        part = value.get("part")
        text = part.get("text") if isinstance(part, dict) else value.get("text")
        yield from self._summary(value, text, whole=True)

    def _summary(self, value: Json, text: Any, *, whole: bool) -> Iterator[Event]:
        slot, piece = (yield from self._thought(value)), value.get("summary_index")
        piece = piece if type(piece) is int else 0
        if slot is None or not isinstance(text, str):
            return
        sent = slot.pieces.setdefault(piece, SentText())
        text = sent.beyond(text) if whole else text
        if text:
            sent.append(text)
            yield PartDelta(slot.index, text, "summary", piece)

    def _thought_delta(self, value: Json) -> Iterator[Event]:
        slot, text, place = (yield from self._thought(value)), value.get("delta"), _place(value)
        if slot is None or not isinstance(text, str) or not text:
            return
        if place != slot.piece:
            slot.piece = place
            text = PIECES + text if slot.texts else text
        slot.texts.append(text)
        yield PartDelta(slot.index, text)

    def _thought(self, value: Json) -> Generator[Event, None, Slot | None]:
        """The slot of the reasoning that an event adds to."""
        yield from self._begin({})
        item = self._find(value, "reasoning")
        if item is None:
            return None
        yield from self._start(item, Reasoning(extras=OWN))
        slot = self._slots[(item.number, 0)]
        return None if slot.ended else slot

    def _nothing(self, _value: Json) -> Iterator[Event]:
        yield from ()


def _place(value: Json) -> int:
    place = value.get("content_index")
    return place if type(place) is int else 0


def _path(key: _Key, part: Part) -> str:
    """Where a part stands in the whole response."""
    number, place = key
    path = f"output[{number}]"
    return f"{path}.content[{place}]" if isinstance(part, (Text, Refusal)) else path


def _called(value: Json) -> str:
    return "custom_tool_call" if "custom" in value["type"] else "function_call"


_READERS: Final[dict[str, Callable[[StreamDecoder, Json], Iterator[Event]]]] = {
    "response.created": StreamDecoder._created,
    "response.in_progress": StreamDecoder._created,
    "response.queued": StreamDecoder._created,
    "response.output_item.added": StreamDecoder._item_added,
    "response.output_item.done": StreamDecoder._item_done,
    "response.content_part.added": StreamDecoder._part_added,
    "response.content_part.done": StreamDecoder._part_done,
    "response.output_text.delta": StreamDecoder._text_delta,
    "response.output_text.done": StreamDecoder._text_done,
    "response.output_text.annotation.added": StreamDecoder._annotation,
    "response.refusal.delta": StreamDecoder._refusal_delta,
    "response.refusal.done": StreamDecoder._refusal_done,
    "response.function_call_arguments.delta": StreamDecoder._arguments_delta,
    "response.function_call_arguments.done": StreamDecoder._arguments_done,
    "response.custom_tool_call_input.delta": StreamDecoder._arguments_delta,
    "response.custom_tool_call_input.done": StreamDecoder._arguments_done,
    "response.reasoning_summary_part.added": StreamDecoder._nothing,
    "response.reasoning_summary_part.done": StreamDecoder._summary_done,
    "response.reasoning_summary_text.delta": StreamDecoder._summary_delta,
    "response.reasoning_summary_text.done": StreamDecoder._summary_done,
    "response.reasoning_text.delta": StreamDecoder._thought_delta,
    "response.reasoning_text.done": StreamDecoder._nothing,
    "response.reasoning.delta": StreamDecoder._thought_delta,
    "response.reasoning.done": StreamDecoder._nothing,
    "response.completed": StreamDecoder._ended,
    "response.incomplete": StreamDecoder._ended,
    "response.failed": StreamDecoder._failed,
    "error": StreamDecoder._error,
}
"""Event type to its reader. Open Responses calls the text of reasoning just `reasoning`."""
