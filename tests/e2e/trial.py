"""One trial: a real client plays a scenario with a strict upstream, and is judged."""

import struct
import zlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from tests.e2e.clients import Ran, drive
from tests.upstreams import anthropic, gemini, ollama, openai_chat, openai_responses
from tests.upstreams.server import ScriptedUpstream
from tests.upstreams.strict.upstreams import StrictUpstream

PROMPT = "Look at what is in this folder and tell me."
LIMIT = 100.0
"""Seconds that a client has; on a machine with nothing else to do it needs five to ten."""
_NAMELESS = {("opencode", "gemini")}
"""Clients that know calls by their order alone."""
MOST_REQUESTS = 40
"""A client that asks more often goes round in circles."""

Through = Callable[..., AbstractAsyncContextManager[str]]
"""The address of a gateway, from the upstream behind it and the address of that."""


@dataclass(frozen=True)
class Trial:
    """Which client, speaking which protocol, with which upstream, in which scenario."""

    client: str
    protocol: str
    upstream: StrictUpstream
    scenario: str
    asks: str = ""
    """The model that the client asks for, where it is not that of the upstream: one of its own, for
    which it sends other tools."""

    @property
    def row(self) -> str:
        """The row of the page that it belongs to."""
        return f"{self.client} {self.asks}".strip() + f" ({self.protocol})"

    def __str__(self) -> str:
        asks = f"-{self.asks}" if self.asks else ""
        upstream = f"{self.upstream.protocol}-{self.upstream}"
        return f"{self.client}{asks}-{self.protocol}-{upstream}-{self.scenario}"


@dataclass(frozen=True)
class Outcome:
    """How a trial went."""

    trial: Trial
    reason: str
    """Why it failed; empty if it did not."""
    ran: Ran
    requests: int


@dataclass(frozen=True)
class Seen:
    """What there is to judge."""

    trial: Trial
    ran: Ran
    words: tuple[str, str]

    @property
    def said(self) -> str:
        """All that the client wrote."""
        return self.ran.out + self.ran.err


async def attempt(trial: Trial, root: Path, through: Through) -> Outcome:
    """Play and judge."""
    work = root / "work"
    work.mkdir(parents=True)
    words = (f"word-{token_hex(4)}", f"word-{token_hex(4)}")
    for name, word in zip(("one.txt", "two.txt"), words, strict=True):
        (work / name).write_text(f"{word}\n")
    picture, pixels = work / "picture.png", png(token_hex(2))
    picture.write_bytes(pixels)
    scripted = ScriptedUpstream(
        trial.scenario,
        picture=str(picture),
        pixels=pixels,
        keeps_ids=(trial.client, trial.protocol) not in _NAMELESS,
        spares_checks=True,
    )
    mends = trial.scenario == "sloppy"
    async with scripted as upstream, through(trial.upstream, upstream.url, mends=mends) as url:
        ran = await drive(
            trial.client,
            trial.protocol,
            url=url,
            model=trial.asks or trial.upstream.model,
            prompt=PROMPT,
            root=root,
            limit=LIMIT,
        )
    reason = _judge(Seen(trial, ran, words), upstream)
    return Outcome(trial, reason, ran, len(upstream.asked))


def _judge(seen: Seen, upstream: ScriptedUpstream) -> str:
    if not upstream.asked:
        return "no request reached the upstream"
    if len(upstream.asked) > MOST_REQUESTS:
        return f"{len(upstream.asked)} requests"
    if seen.ran.code is None:
        return f"not done after {LIMIT:g} seconds and {len(upstream.asked)} requests"
    if upstream.problems:
        return "; ".join(upstream.problems)
    return _EXPECT[seen.trial.scenario](seen)


# --- what is expected -----------------------------------------------------------------------------


def _says(sentence: str) -> Callable[[Seen], str]:
    def judge(seen: Seen) -> str:
        one, two = seen.words
        wanted = sentence.format(one=one, two=two)
        if wanted not in seen.ran.out:
            return f"the answer {wanted!r} was not shown"
        return f"exit code {seen.ran.code}" if seen.ran.code else ""

    return judge


_says_one = _says("It says {one}.")

_ASKS_AGAIN = frozenset({"claude", "codex", "opencode"})
"""Clients that ask again by themselves after an answer that broke off."""


def _cut(seen: Seen) -> str:
    """Asked again, or failed loudly where that is the client's way; never half an answer."""
    reason = _says_one(seen)
    loud = seen.ran.code or "API Error" in seen.said
    return reason if seen.trial.client in _ASKS_AGAIN or not loud else ""


_TOO_LONG = {
    "claude": ("Prompt is too long",),
    "codex": ("ran out of room in the model's context window",),
}
"""The words of clients that know what it means."""
_OVERFLOWS = tuple(
    each.OVERFLOW for each in (anthropic, openai_chat, openai_responses, gemini, ollama)
)


def _overflow(seen: Seen) -> str:
    words = _TOO_LONG.get(seen.trial.client, _OVERFLOWS)
    shown = any(word in seen.said for word in words)
    return "" if shown else f"it is not said that the conversation is too long: {words[0]!r}"


def _refused(seen: Seen) -> str:
    words = "The moon is in the wrong house."
    return "" if words in seen.said else "the words of the error are not shown"


_EXPECT: dict[str, Callable[[Seen], str]] = {
    "one-tool": _says_one,
    "parallel": _says("They say {one} and {two}."),
    "image": _says("I see the picture."),
    "sloppy": _says_one,
    "rate-limited": _says_one,
    "cut": _cut,
    "overflow": _overflow,
    "refused": _refused,
}


# --- a picture ------------------------------------------------------------------------------------


def png(seed: str) -> bytes:
    """A small picture of one colour, which the seed gives."""
    side, colour = 16, zlib.crc32(seed.encode()).to_bytes(4, "big")[:3]
    rows = (b"\0" + colour * side) * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
