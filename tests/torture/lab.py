"""A gateway as a process, a provider that does as it is told, and clients that look closely."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.gateway.process import Gateway, running_gateway
from tests.gateway.running import BASES
from tests.gateway.wild import Turn, wild
from tests.torture.connection import Answer, Connection
from tests.torture.conversation import (
    NAMES,
    TOOL,
    Conversation,
    foreign,
    misread,
    number_in,
    question,
    target,
)
from tests.torture.readers import Reading, read

MEGABYTE = 2**20
Behaviour = Callable[[Turn, Conversation], Awaitable[None]]
"""What a provider does with one request of a conversation."""


@dataclass
class Row:
    """What one experiment found: a line of the table."""

    name: str
    tried: int = 0
    held: int = 0
    figures: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, wrong: Iterable[str], what: str = "") -> None:
        """One more trial, and what was wrong with it."""
        found = list(wrong)
        self.tried += 1
        self.held += not found
        if found and len(self.failures) < 20:
            self.failures.append(f"{what}: {'; '.join(found[:3])}")

    def check(self, holds: object, words: str) -> None:
        """One more trial, which holds or does not."""
        self.count([] if holds else ["does not hold"], words)


@dataclass(frozen=True)
class Settings:
    """How much is tried, with which seed, and until when."""

    seed: int
    size: str
    ends: float
    progress: Callable[[str, int, int], None] = lambda name, done, total: None

    def pick(self, **sizes: int) -> int:
        """The amount for this size: `part`, `short` or `long`."""
        return sizes[self.size]

    def random(self, name: str, number: int = 0) -> random.Random:
        """Chance for one trial of an experiment, the same for the same seed."""
        return random.Random(f"{self.seed} {name} {number}")

    @property
    def late(self) -> bool:
        """Whether it is time to end."""
        return time.monotonic() > self.ends


@dataclass
class Lab:
    """What an experiment works with."""

    gateway: Gateway
    folder: Path
    log: Path
    plans: dict[int, tuple[Conversation, Behaviour]] = field(default_factory=dict)
    asked: Counter[int] = field(default_factory=Counter)
    misread: dict[int, list[str]] = field(default_factory=dict)
    otherwise: Callable[[Turn], Awaitable[None]] | None = None
    """What the provider does with requests of no conversation."""

    def connection(self) -> Connection:
        """A connection to the gateway."""
        return Connection(self.gateway.host, self.gateway.port)

    def plan(self, talk: Conversation, behaviour: Behaviour) -> None:
        """What the provider will do with a conversation."""
        self.plans[talk.number] = talk, behaviour

    def forget(self, talk: Conversation) -> list[str]:
        """What the provider found wrong with the requests of a conversation that is over."""
        self.plans.pop(talk.number, None)
        self.asked.pop(talk.number, None)
        return self.misread.pop(talk.number, [])

    async def trial(
        self,
        connection: Connection,
        talk: Conversation,
        behaviour: Behaviour,
        expect: str,
        seconds: float = 60,
    ) -> list[str]:
        """Have a conversation; what was wrong with it."""
        self.plan(talk, behaviour)
        path, body = question(talk)
        try:
            answer = await connection.ask(path, body, seconds)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            connection.close()
            return [f"no answer at all: {error!r}", *self.forget(talk)]
        return [*self.forget(talk), *judge(talk, answer, expect)]


def judge(talk: Conversation, answer: Answer, expect: str) -> list[str]:
    """What is wrong with an answer that should be `whole`, `told` (an error) or `either`.

    In no case may anything be doubled, mixed, out of order, or look complete when it is not.
    """
    seen = read(talk.ours, answer.status, answer.body, stream=talk.stream)
    wrong = [f"{each} is of another conversation" for each in foreign(talk, answer.body)]
    wrong += seen.wrong
    if not answer.ended:
        wrong.append("the body has no end")
    if seen.end == "complete":
        wrong += _incomplete(talk, seen)
    elif not _is_beginning(talk, seen):
        wrong.append(f"what came is not how the answer begins: {seen.text!r} {seen.calls}"[:300])
    fits = {"whole": ("complete",), "told": ("error",), "either": ("complete", "error")}
    if seen.end not in fits[expect]:
        wrong.append(f"ends with {seen.end}, status {answer.status}, where {expect} was expected")
    return wrong


def _expected(talk: Conversation) -> list[tuple[str, object]]:
    return [(TOOL, arguments) for arguments in talk.arguments]


def _incomplete(talk: Conversation, seen: Reading) -> list[str]:
    wrong = []
    if seen.text != talk.text:
        wrong.append(f"text {seen.text!r} where {talk.text!r} was said")
    if seen.calls != _expected(talk):
        wrong.append(
            f"{len(seen.calls)} calls where {talk.calls} were made, or others: {seen.calls}"
        )
    if len(set(seen.ids)) != len(seen.ids):
        wrong.append("two calls have one id")
    return wrong


def _is_beginning(talk: Conversation, seen: Reading) -> bool:
    made = _expected(talk)[: len(seen.calls)]
    return talk.text.startswith(seen.text) and seen.calls == made


# --- setting up -----------------------------------------------------------------------------------


def configuration(url: str, *, provider: str = "retries = 0", server: str = "") -> str:
    """A file with a provider of each protocol, and a route to each."""
    lines = ["[server]", server]
    for name in NAMES:
        lines += [
            f'[providers."{name}"]',
            f'protocol = "{name}"',
            f'base_url = "{url}{BASES[name]}"',
            provider,
            "[[routes]]",
            f'match = "{target(name)}"',
            f'to = "{name}/m"',
        ]
    return "\n".join(lines) + "\n"


@asynccontextmanager
async def laboratory(
    *options: str, provider: str = "retries = 0", server: str = ""
) -> AsyncIterator[Lab]:
    """A gateway with one provider for each protocol, in a folder that is gone afterwards."""
    lab: Lab | None = None

    async def answer(turn: Turn) -> None:
        turns.clear()
        number = number_in(turn.body)
        assert lab is not None
        plan = lab.plans.get(number)
        if plan is None and lab.otherwise is not None:
            await lab.otherwise(turn)
            return
        if plan is None:
            lab.misread.setdefault(number, []).append("asked for a conversation that is over")
            await turn.whole(b"{}", status=400)
            return
        talk, behaviour = plan
        lab.asked[number] += 1
        if wrong := misread(talk, turn.path, turn.body):
            lab.misread.setdefault(number, []).extend(wrong)
        await behaviour(turn, talk)

    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="torture-")))
        url, turns = await stack.enter_async_context(wild(answer))
        text = configuration(url, provider=provider, server=server)
        gateway = await stack.enter_async_context(running_gateway(folder, text, *options, log=True))
        lab = Lab(gateway, folder, folder / "log")
        yield lab


async def many(
    settings: Settings, lab: Lab, row: Row, total: int, at_once: int, one: "Trial"
) -> None:
    """Trials, several at a time, each worker with a connection of its own."""
    numbers = iter(range(total))

    async def work() -> None:
        async with lab.connection() as connection:
            for number in numbers:
                if settings.late:
                    return
                await one(connection, number)
                settings.progress(row.name, row.tried, total)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(min(at_once, total)):
            tasks.create_task(work())


Trial = Callable[[Connection, int], Awaitable[None]]


async def until(holds: Callable[[], object], seconds: float = 10) -> bool:
    """Wait for something of another process; whether it came to be."""
    ends = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > ends:
            return False
        await asyncio.sleep(0.02)
    return True
