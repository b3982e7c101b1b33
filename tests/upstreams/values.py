"""What a scripted upstream is asked and what it answers, in no protocol in particular."""

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Offered:
    """A tool that the request declares."""

    name: str
    schema: Json
    namespace: str | None = None
    is_custom: bool = False
    """Its input is text."""


@dataclass(frozen=True)
class Result:
    """A tool result in the request: what it answers, and its text."""

    id: str | None
    name: str | None
    text: str


@dataclass(frozen=True)
class Asked:
    """A request for an answer."""

    protocol: str
    model: str
    stream: bool
    body: Json
    tools: tuple[Offered, ...]
    calls: tuple[tuple[str | None, str], ...]
    """Calls in the history, as (id, name)."""
    results: tuple[Result, ...]
    states: tuple[str, ...]
    """Reasoning state in the history: signatures, sealed content, or the reasoning itself."""
    images: tuple[bytes, ...]
    wants_usage: bool = True
    provider: str = ""
    """Who plays; nobody in particular if nothing is checked."""

    @property
    def turn(self) -> int:
        """Which turn of a conversation this is: answers of different turns have different ids."""
        return len(self.results)

    @property
    def text(self) -> str:
        """All of the request as JSON, for a look whether some word is in it."""
        return json.dumps(self.body, ensure_ascii=False)


@dataclass(frozen=True)
class Think:
    """Reasoning, with the state that the provider wants to see again."""

    text: str
    state: str = ""


@dataclass(frozen=True)
class Say:
    """Text for the user."""

    text: str


@dataclass(frozen=True)
class Call:
    """A call of one of the tools that were offered."""

    tool: Offered
    arguments: Json
    id: str
    state: str = ""


Part = Think | Say | Call


@dataclass(frozen=True)
class Reply:
    """An answer."""

    parts: tuple[Part, ...]
    sloppy: bool = False
    """Written as carelessly as upstreams are known to write."""
    cut: bool = False
    """The connection is dropped in the middle."""

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(part for part in self.parts if isinstance(part, Call))


@dataclass(frozen=True)
class Failure:
    """An answer that is an error: `rate`, `overflow` or `invalid`."""

    kind: str
    message: str
    headers: dict[str, str] = field(default_factory=dict)


Event = tuple[str | None, Json | str]
"""The name and the data of a streamed event."""


def pieces(text: str) -> list[str]:
    """A text in up to three pieces, as a stream brings it."""
    step = max(1, -(-len(text) // 3))
    return [text[start : start + step] for start in range(0, len(text), step)]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def opaque(seed: str, size: int = 1500) -> str:
    """Reasoning state: base64 that means nothing, always the same for a seed."""
    return base64.b64encode(hashlib.shake_256(seed.encode()).digest(size)).decode()


def data_url(url: str) -> Iterator[bytes]:
    """The bytes in a data URL, if it is one."""
    head, _, data = url.partition(";base64,")
    if head.startswith("data:") and data:
        yield base64.b64decode(data)
