"""Experiments with providers that fail and clients that leave."""

import asyncio
import random
from contextlib import suppress
from dataclasses import replace

from tests.gateway.wild import Turn
from tests.torture import faults
from tests.torture.connection import Connection
from tests.torture.conversation import PAIRS, Conversation, asked, draw, pieces, question, whole
from tests.torture.lab import Lab, Row, Settings, laboratory, many, until
from tests.upstreams.values import Asked, Offered

PATIENT = "retries = 2\ntimeouts = { connect = 10, first_byte = 30, idle = 30 }"
PROMPT = "retries = 0\ntimeouts = { connect = 10, first_byte = 30, idle = 30 }"


# --- the campaign ---------------------------------------------------------------------------------


async def campaign(settings: Settings) -> Row:
    """Random faults, many conversations at once: nothing lost, doubled or mixed."""
    row = Row("faults in every pair, many at once")
    total = settings.pick(part=150, short=6_000, long=100_000)
    calls = 0
    async with laboratory(provider=PATIENT) as lab:

        async def one(connection: Connection, number: int) -> None:
            nonlocal calls
            rng = settings.random("campaign", number)
            talk = draw(number, PAIRS[number % len(PAIRS)], rng)
            kinds, expect = rng.choices(
                ((faults.FINE, "whole"), (faults.RETRIED, "whole"), (faults.BROKEN, "either")),
                (6, 1, 3),
            )[0]
            name = rng.choice(list(kinds))
            if rng.random() < 0.03:
                await _leave(lab, talk, rng)
                row.count(lab.forget(talk), f"{talk.ours} to {talk.theirs}, client left")
                return
            wrong = await lab.trial(connection, talk, kinds[name](rng), expect)
            calls += talk.calls
            row.count(wrong, f"{talk.ours} to {talk.theirs}, {name}, stream={talk.stream}")

        before = lab.gateway.memory
        await many(settings, lab, row, total, settings.pick(part=25, short=80, long=160), one)
        grown = (lab.gateway.memory - before) / 2**20
    row.figures = {"calls in them": f"{calls:,}", "memory": f"{grown:+.0f} MB"}
    return row


async def _leave(lab: Lab, talk: Conversation, rng: random.Random) -> None:
    """Hang up a moment after having asked."""
    lab.plan(talk, faults.by_event)
    async with lab.connection() as connection:
        await connection.send(*question(talk))
        await asyncio.sleep(rng.random() * 0.02)
        connection.reset()


# --- cuts -----------------------------------------------------------------------------------------


async def cuts(settings: Settings) -> Row:
    """The provider stops at a byte: the client is told, or has everything."""
    row = Row("answers that are cut, byte by byte")
    rng = settings.random("cuts")
    step = settings.pick(part=1201, short=41, long=1)
    points = list(_points(rng, step, settings.pick(part=1, short=2, long=2)))
    async with laboratory(provider=PROMPT) as lab:

        async def one(connection: Connection, number: int) -> None:
            talk, at, how = points[number]
            talk = replace(talk, number=number)
            wrong = await lab.trial(connection, talk, faults.cut(at, how), "either")
            kind = "stream" if talk.stream else "whole"
            row.count(wrong, f"{talk.ours} to {talk.theirs}, {kind}, {how} at {at}")

        await many(settings, lab, row, len(points), 20, one)
    row.figures = {"every": "byte" if step == 1 else f"{step}th byte"}
    return row


def _points(rng: random.Random, step: int, ways: int):
    """Conversations and where to cut them: one of each form for every pair."""
    for pair in PAIRS:
        for stream in (True, False):
            talk = Conversation(0, *pair, stream, calls=2, says=True, between='é "x"\n')
            size = _size(talk)
            for way in range(ways):
                for at in range(rng.randrange(step), size, step):
                    # A whole answer that ends as if that were all has a length of its own.
                    yield talk, at, faults.CUTS[(way + at // step) % len(faults.CUTS)]


def _size(talk: Conversation) -> int:
    """How long an answer is: it depends on the request only by numbers of fixed length."""
    request = Asked(talk.theirs, "m", talk.stream, {}, (Offered("look_up", {}),), (), (), (), ())
    return len(b"".join(pieces(talk, request)) if talk.stream else whole(talk, request))


# --- no answers -----------------------------------------------------------------------------------


_LATE = {"a length that is too long": "either"}
"""What is wrong only after a stream has come to its end."""


async def no_answers(settings: Settings) -> Row:
    """Answers that are none: an error in the client's shape, never a success."""
    row = Row("answers that are none")
    rng = settings.random("no answers")
    trials = [
        (name, pair, stream)
        for name in faults.NO_ANSWERS
        for pair in PAIRS
        for stream in (True, False)
    ]
    if settings.size == "part":
        trials = rng.sample(trials, 50)
    async with laboratory(provider=PROMPT) as lab:

        async def one(connection: Connection, number: int) -> None:
            name, pair, stream = trials[number]
            talk = Conversation(number, *pair, stream, calls=1, says=True, between=" ")
            wrong = await lab.trial(
                connection, talk, faults.NO_ANSWERS[name], _LATE.get(name, "told")
            )
            row.count(wrong, f"{talk.ours} to {talk.theirs}, {name}, stream={stream}")

        await many(settings, lab, row, len(trials), 20, one)
    row.figures = {"kinds": str(len({name for name, *_ in trials}))}
    return row


# --- silence --------------------------------------------------------------------------------------


async def stalls(settings: Settings) -> Row:
    """Providers that fall silent: the client is told in time."""
    row = Row("providers that fall silent")
    kinds = list(faults.STALLS)
    trials = [(kind, pair) for kind in kinds for pair in PAIRS]
    if settings.size == "part":
        trials = settings.random("stalls").sample(trials, 15)
    short = "retries = 0\ntimeouts = { connect = 1, first_byte = 0.5, idle = 0.5 }"
    async with laboratory(provider=short) as lab:

        async def one(connection: Connection, number: int) -> None:
            kind, pair = trials[number]
            talk = Conversation(number, *pair, stream=True, calls=1, says=True, between=" ")
            wrong = await lab.trial(connection, talk, faults.STALLS[kind], "told", 15)
            row.count(wrong, f"{talk.ours} to {talk.theirs}, {kind}")

        await many(settings, lab, row, len(trials), 25, one)
    row.figures = {"limit": "0.5 s"}
    return row


# --- streams that have ended ----------------------------------------------------------------------

_SOON = 2.5
"""Seconds in which an answer ends of which all has come. A second is what it takes."""


async def _silent(turn: Turn) -> None:
    await turn.left()


async def _comments(turn: Turn) -> None:
    while True:
        await turn.chunk(b": still here\n\n" if b"ollama" not in turn.body else b"\n")
        await asyncio.sleep(0.1)


async def _endless_line(turn: Turn) -> None:
    while True:
        await turn.chunk(b"x" * 2**16)
        await asyncio.sleep(0.01)


async def _again(turn: Turn, last: bytes) -> None:
    while True:
        await turn.chunk(last)
        await asyncio.sleep(0.1)


async def _half_a_line_end(turn: Turn) -> None:
    await turn.chunk(b"\r")
    await turn.left()


ENDLESS = {
    "silence": _silent,
    "comments": _comments,
    "one endless line": _endless_line,
    "half a line end": _half_a_line_end,
}
"""What a provider does after the last event of its answer, in place of ending it."""
_NO_END = ("its last event again", "gemini", False)
"""No event of these streams says that it is the last, and the same once more is more of an answer."""


class _GoesOn:
    """A provider that does not end its answers, and counts who lets go of it."""

    def __init__(self) -> None:
        self.begun = self.released = 0

    def after(self, kind: str, *, failed: bool):
        """Answer, or fail in the middle, and then go on in some way."""

        async def answer(turn: Turn, talk: Conversation) -> None:
            self.begun += 1
            events = pieces(talk, asked(talk, turn.path, turn.body))
            if failed:
                half = len(events) // 2
                events = [*events[:half], faults.error_event(talk, half)]
            with suppress(ConnectionError):
                await turn.head(faults.content(turn, talk)[1])
                await turn.chunk(b"".join(events))
                if kind in ENDLESS:
                    await ENDLESS[kind](turn)
                else:
                    await _again(turn, events[-1])
            self.released += 1
            await faults.hang_up(turn)

        return answer


async def ended(settings: Settings) -> Row:
    """Streams that have ended and are not closed: the client's ends, and the provider is let go."""
    row = Row("streams that have ended and go on")
    trials = [
        (kind, pair, failed)
        for kind in (*ENDLESS, "its last event again")
        for pair in PAIRS
        for failed in (False, True)
        if (kind, pair[1], failed) != _NO_END
    ]
    if settings.size == "part":
        trials = settings.random("ended").sample(trials, 20)
    provider = _GoesOn()
    async with laboratory(provider=PROMPT) as lab:

        async def one(connection: Connection, number: int) -> None:
            kind, pair, failed = trials[number]
            talk = Conversation(number, *pair, stream=True, calls=1, says=True, between=" ")
            began = asyncio.get_running_loop().time()
            behaviour, expect = provider.after(kind, failed=failed), "told" if failed else "whole"
            wrong = await lab.trial(connection, talk, behaviour, expect, 20)
            took = asyncio.get_running_loop().time() - began
            if took > _SOON:
                wrong.append(f"took {took:.1f} s")
            what = "an error" if failed else "its end"
            row.count(wrong, f"{talk.ours} to {talk.theirs}, {kind} after {what}")

        await many(settings, lab, row, len(trials), 10, one)
        let_go = await until(lambda: provider.released == provider.begun, 10)
        row.check(let_go, "every provider is let go")
    row.figures = {"providers let go": f"{provider.released:,} of {provider.begun:,}"}
    return row


# --- clients that leave ---------------------------------------------------------------------------

STAGES = ("half a head", "half a body", "asked", "head", "first bytes")


async def leaving(settings: Settings) -> Row:
    """Clients that leave at every stage: the provider is let go, no socket stays."""
    row = Row("clients that leave")
    total = settings.pick(part=25, short=250, long=2_500)
    released = begun = 0

    async def wait(turn: Turn, talk: Conversation) -> None:
        """Begin an answer, and see whether the gateway hangs up."""
        nonlocal begun, released
        begun += 1
        half = pieces(talk, asked(talk, turn.path, turn.body))
        try:
            await turn.head(faults.content(turn, talk)[1])
            await turn.chunk(b"".join(half[: len(half) // 2]))
            await turn.left()
        finally:
            released += 1  # Also if it hung up before anything was said.

    async with laboratory(provider=PROMPT) as lab:
        async with lab.connection() as warm:
            talk = Conversation(9_000_000, *PAIRS[0], stream=True, calls=1, says=True, between="")
            await lab.trial(warm, talk, faults.well, "whole")
        resting = lab.gateway.files

        async def one(_: Connection, number: int) -> None:
            rng = settings.random("leaving", number)
            stage = STAGES[number % len(STAGES)]
            talk = Conversation(
                number, *rng.choice(PAIRS), stream=True, calls=1, says=True, between=""
            )
            lab.plan(talk, wait)
            await _leave_at(lab, talk, stage, rng)
            row.count([], stage)

        await many(settings, lab, row, total, 25, one)
        # At once, but for one in a hundred, which is let go when its silence has lasted too long.
        row.check(await until(lambda: released == begun, 35), "every provider is let go")
        at_rest = await until(lambda: lab.gateway.files <= resting + 30, 10)
        row.check(at_rest, f"no socket stays: {resting} before, {lab.gateway.files} after")
    row.figures = {"providers let go": f"{released:,} of {begun:,}"}
    return row


async def _leave_at(lab: Lab, talk: Conversation, stage: str, rng: random.Random) -> None:
    path, body = question(talk)
    async with lab.connection() as connection:
        if stage in ("half a head", "half a body"):
            await connection.send(path, body, upto=30 if stage == "half a head" else -20)
        else:
            await connection.send(path, body)
        if stage in ("head", "first bytes"):
            async with asyncio.timeout(20):
                await connection.head()
        if stage == "first bytes":
            async with asyncio.timeout(20):
                await connection.some(10)
        if rng.random() < 0.5:
            connection.reset()
