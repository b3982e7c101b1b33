"""The latest exchanges, in memory, for the inspector: bounded by count and bytes, per tenant.

While an exchange is under way its pieces are appended and nothing else: what they mean is worked
out when somebody looks.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from toolglot.context import Options
from toolglot.gateway.config import Server
from toolglot.gateway.http.host_names import LOOPBACK
from toolglot.gateway.telemetry.request_record import RequestRecord
from toolglot.ir import ApiError, Usage
from toolglot.receipt import Note

State: TypeAlias = Literal["waiting", "answering", "ended"]
Reason: TypeAlias = Literal["first", "fallback", "mended"]
Listener: TypeAlias = Callable[["CapturedExchange"], None]

_OVERHEAD: Final = 128
"""Bytes that a piece takes beside its own."""
_SHARE: Final = 8
"""One exchange may take this part of what a tenant has."""
_TENANTS: Final = 4
"""All tenants together may take this many times what one may."""


class Try(Struct, frozen=True):
    """A request that was sent and not answered with something to deliver."""

    at: float
    status: int
    """0: there was no answer."""
    words: str
    body: bytes = b""


class CapturedAttempt(Struct, kw_only=True):
    """One target that was asked, and what it answered."""

    provider: str
    protocol: str = ""
    """Empty: the built-in model answered."""
    model: str = ""
    url: str = ""
    headers: Mapping[str, str] = {}
    asked: bytes = b""
    """The client's request with its history, if it continues a stored answer."""
    body: bytes = b""
    """The request as it was sent."""
    reason: Reason = "first"
    at: float = 0.0
    """Seconds after the request of the client."""
    translation: Options | None = None
    """The options of the translation."""
    echo: Mapping[str, Any] = {}
    supplied: Mapping[int, str] = {}
    repairs: tuple[str, ...] = ()
    now: int = 0
    answer_id: str = ""
    notes: int = 0
    """How many notes of the receipt are about the request; the rest are about the answer."""
    tries: list[Try] = []
    status: int = 0
    response_headers: Mapping[str, str] = {}
    times: list[float] = []
    """When each piece of the answer came."""
    pieces: list[bytes] = []

    @property
    def chunks(self) -> list[tuple[float, bytes]]:
        """The pieces of the answer, each with its time."""
        return list(zip(self.times, self.pieces, strict=False))


class CapturedExchange(Struct, kw_only=True):
    """One request of a client and everything that came of it."""

    number: int
    request_id: str
    owner: str
    started: float
    """Seconds since the epoch."""
    clock: float
    """The same on the clock of the pieces."""
    protocol: str
    path: str
    model: str
    stream: bool
    headers: Mapping[str, str]
    body: bytes
    attempts: list[CapturedAttempt] = []
    status: int = 0
    response_headers: Mapping[str, str] = {}
    times: list[float] = []
    """When each piece was sent to the client."""
    pieces: list[bytes] = []
    state: State = "waiting"
    error: ApiError | None = None
    notes: tuple[Note, ...] = ()
    usage: Usage | None = None
    stops: tuple[str, ...] = ()
    duration: float = 0.0
    waited: float = 0.0
    first_byte: float | None = None
    kept: int = 0
    """Bytes of it in memory."""
    readings: tuple[int, ...] = ()
    """What the clock of the translation said, for a replay."""
    left_out: int = 0
    """Bytes of bodies that were too long to be kept."""
    counted: int | None = None
    """The bytes that its ring counts for it; None: it is in none."""
    capture: "Capture | None" = None
    """What follows it, as long as it is under way."""
    facts: Any = None
    """What was found out about it by those who looked."""

    @property
    def chunks(self) -> list[tuple[float, bytes]]:
        """The pieces that the client got, each with its time."""
        return list(zip(self.times, self.pieces, strict=False))

    @property
    def attempt(self) -> CapturedAttempt | None:
        """The attempt whose answer counts: the last."""
        return self.attempts[-1] if self.attempts else None

    def forget(self) -> None:
        """Let go of all contents: also of one that is under way, and of what is still to come."""
        self.body = b""
        self.times, self.pieces = [], []
        self.attempts.clear()
        if self.capture is not None:
            self.capture.stop()

    @property
    def asked(self) -> bytes:
        """The client's request, with its history."""
        return (self.attempts[-1].asked if self.attempts else b"") or self.body


class Capture:
    """Follows one exchange. For a piece it appends to two lists: an object that holds others would
    be one more for the garbage collector to walk.
    """

    __slots__ = ("_most", "_now", "_pieces", "_ring", "_room", "_times", "exchange")

    def __init__(
        self,
        ring: "Captures",
        exchange: CapturedExchange,
        most: int,
        now: Callable[[], float],
    ) -> None:
        self.exchange, self._ring, self._most, self._now = exchange, ring, most, now
        self._room = most - exchange.kept
        """Bytes that may still be kept."""
        self._times: list[float] = []
        self._pieces: list[bytes] = []

    def stop(self) -> None:
        """Keep nothing of what is still to come."""
        self._room, self._most = -1, 0
        self._times, self._pieces = [], []

    def attempt(self, attempt: CapturedAttempt) -> None:
        """A target is about to be asked."""
        exchange = self.exchange
        attempt.at = self._now() - exchange.clock
        if exchange.attempts and attempt.reason == "first":
            attempt.reason = "fallback"
        for body in (attempt.body, attempt.asked):
            if body is not exchange.body:
                self._room -= len(body)
        if self._room < 0:
            exchange.left_out += len(attempt.body) + len(attempt.asked)
            attempt.body = attempt.asked = b""
        exchange.attempts.append(attempt)
        self._times, self._pieces = attempt.times, attempt.pieces

    def tried(self, status: int, words: str = "", body: bytes = b"") -> None:
        """The target that was asked last did not answer with something to deliver."""
        if self.exchange.attempts:
            at = self._now() - self.exchange.clock
            self.exchange.attempts[-1].tries.append(Try(at, status, words, body))

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        """The target begins to answer."""
        if (attempt := self.exchange.attempt) is not None:
            attempt.status, attempt.response_headers = status, headers

    def upstream_chunk(self, data: bytes) -> None:
        """More of the answer."""
        self._room -= len(data) + _OVERHEAD
        if self._room >= 0:
            self._times.append(self._now())
            self._pieces.append(data)
        else:
            self.exchange.left_out += len(data)

    def client_response(self, status: int, headers: Mapping[str, str]) -> None:
        """The answer to the client begins."""
        exchange = self.exchange
        exchange.status, exchange.response_headers = status, headers
        exchange.state = "answering"
        self._ring.changed(exchange)

    def client_chunk(self, data: bytes) -> None:
        """More of what the client gets."""
        self._room -= len(data) + _OVERHEAD
        exchange = self.exchange
        if self._room >= 0:
            exchange.times.append(self._now())
            exchange.pieces.append(data)
        else:
            exchange.left_out += len(data)

    def failed(self, error: ApiError) -> None:
        """Why it failed."""
        self.exchange.error = error

    def end(self, record: RequestRecord, readings: Iterable[int] = ()) -> None:
        """It is over; `readings` are those of the clock of the translation."""
        exchange = self.exchange
        exchange.readings = tuple(readings)
        exchange.kept = self._most - max(0, self._room)
        exchange.notes = record.receipt.notes
        exchange.usage, exchange.stops = record.usage, record.finish_reasons
        exchange.duration, exchange.waited = record.duration, record.waited
        exchange.first_byte = record.time_to_first_byte
        exchange.status = exchange.status or record.status
        exchange.state, exchange.capture = "ended", None
        self._ring.settle(exchange)
        self._ring.changed(exchange)


class _Ring:
    """The exchanges of one tenant, the oldest first, and the bytes that they take."""

    __slots__ = ("bytes", "exchanges")

    def __init__(self) -> None:
        self.exchanges: deque[CapturedExchange] = deque()
        self.bytes = 0

    def drop(self) -> int:
        """Let go of the oldest; the bytes that this gave."""
        gone = self.exchanges.popleft()
        counted, gone.counted = gone.counted or 0, None
        self.bytes -= counted
        gone.forget()
        return counted


class Captures:
    """The latest exchanges of all tenants."""

    def __init__(
        self,
        most: int = 500,
        most_bytes: int = 64 * 2**20,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Each tenant has at most so many exchanges, of so many bytes."""
        self.most, self.most_bytes = most, most_bytes
        self._clock, self._now = clock, now
        self._rings: dict[str, _Ring] = {}
        self._bytes = 0
        self._count = 0
        self._listeners: dict[Listener, str] = {}

    def start(
        self,
        *,
        owner: str,
        request_id: str,
        protocol: str,
        path: str,
        model: str,
        stream: bool,
        headers: Mapping[str, str],
        body: bytes,
    ) -> Capture:
        """Follow a request that came in."""
        self._count += 1
        most = self.most_bytes // _SHARE
        exchange = CapturedExchange(
            number=self._count,
            request_id=request_id,
            owner=owner,
            started=self._now(),
            clock=self._clock(),
            protocol=protocol,
            path=path,
            model=model,
            stream=stream,
            headers=headers,
            body=body if len(body) <= most else body[:most],
            left_out=max(0, len(body) - most),
        )
        exchange.kept = len(exchange.body)
        capture = exchange.capture = Capture(self, exchange, most, self._clock)
        self.add(exchange)
        return capture

    def add(self, exchange: CapturedExchange) -> None:
        """Keep an exchange, and let go of the oldest where that is too much."""
        ring = self._rings.get(exchange.owner)
        if ring is None:
            ring = self._rings[exchange.owner] = _Ring()
        ring.exchanges.append(exchange)
        exchange.counted = 0
        while len(ring.exchanges) > self.most:
            self._bytes -= ring.drop()
        self.settle(exchange)
        self.changed(exchange)

    def settle(self, exchange: CapturedExchange) -> None:
        """Count the bytes of an exchange anew."""
        ring = self._rings.get(exchange.owner)
        if ring is None or exchange.counted is None:
            return
        more, exchange.counted = exchange.kept - exchange.counted, exchange.kept
        ring.bytes += more
        self._bytes += more
        while ring.bytes > self.most_bytes and len(ring.exchanges) > 1:
            self._bytes -= ring.drop()
        while self._bytes > self.most_bytes * _TENANTS:
            owner, largest = max(self._rings.items(), key=lambda each: each[1].bytes)
            self._bytes -= largest.drop()
            if not largest.exchanges:
                del self._rings[owner]

    def of(self, owner: str) -> list[CapturedExchange]:
        """The exchanges of a tenant, the oldest first."""
        ring = self._rings.get(owner)
        return list(ring.exchanges) if ring is not None else []

    def size(self, owner: str) -> int:
        """The bytes that those take."""
        ring = self._rings.get(owner)
        return ring.bytes if ring is not None else 0

    def find(self, owner: str, number: int) -> CapturedExchange | None:
        """One exchange of a tenant."""
        ring = self._rings.get(owner)
        found = ring.exchanges if ring is not None else ()
        return next((each for each in found if each.number == number), None)

    def clear(self, owner: str) -> None:
        """Forget what a tenant has."""
        ring = self._rings.pop(owner, None)
        while ring is not None and ring.exchanges:
            self._bytes -= ring.drop()

    # --- who looks on -----------------------------------------------------------------------------

    def listen(self, owner: str, listener: Listener) -> None:
        """Call a function for each exchange of a tenant that begins, is answered or ends."""
        self._listeners[listener] = owner

    def unlisten(self, listener: Listener) -> None:
        """Do so no longer."""
        self._listeners.pop(listener, None)

    def changed(self, exchange: CapturedExchange) -> None:
        """Tell those who look on."""
        for listener, owner in tuple(self._listeners.items()):
            if owner == exchange.owner:
                listener(exchange)


def captures_for(server: Server) -> Captures | None:
    """What keeps exchanges for the inspector, if that is to be; each worker would have others."""
    wanted = server.inspector.enabled
    if wanted is None:
        wanted = server.host in LOOPBACK and not server.keys
    if not wanted or server.workers > 1:
        return None
    return Captures(server.inspector.exchanges, server.inspector.bytes)
