"""Experiments with many requests: what memory they leave behind, and what an open stream costs."""

import asyncio
import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.gateway.process import running_gateway
from tests.torture import faults
from tests.torture.connection import Connection
from tests.torture.conversation import PAIRS, Conversation, draw, question
from tests.torture.lab import MEGABYTE, Lab, Row, Settings, configuration, judge, laboratory, many
from tests.torture.provider_trials import PATIENT


async def memory(settings: Settings) -> Row:
    """Many requests, faults among them: memory does not grow with their number."""
    row = Row("memory over many requests")
    total = settings.pick(part=400, short=10_000, long=200_000)
    sizes: list[int] = []
    async with laboratory(provider="retries = 0", server="receipts = 100") as lab:

        async def one(connection: Connection, number: int) -> None:
            rng = settings.random("memory", number)
            talk = draw(number, PAIRS[number % len(PAIRS)], rng)
            fault, expect = (faults.well, "whole")
            if number % 100 == 99:
                fault, expect = faults.cut(rng.randrange(900), rng.choice(faults.CUTS)), "either"
            wrong = await lab.trial(connection, talk, fault, expect)
            row.count(wrong, f"{talk.ours} to {talk.theirs}")
            if number % max(1, total // 20) == 0:
                sizes.append(lab.gateway.memory)

        await many(settings, lab, row, total, 40, one)
        sizes.append(lab.gateway.memory)
        files = lab.gateway.files
    warm = sizes[len(sizes) * 2 // 5]
    grown = (sizes[-1] - warm) / MEGABYTE
    row.check(grown < 12, f"grows by {grown:.1f} MB after the first two fifths")
    row.figures = {
        "in the end": f"{sizes[-1] / MEGABYTE:.0f} MB",
        "last three fifths": f"{grown:+.1f} MB",
        "files open": str(files),
    }
    return row


async def open_streams(settings: Settings) -> Row:
    """Streams that are all open at once, and then all end well."""
    row = Row("streams open at once")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    wanted = settings.pick(part=100, short=1_000, long=10_000)
    # A worker has two sockets for each stream; this process has one, and the provider another.
    total = min(wanted, hard - 500)
    workers = 1 + (2 * total > hard - 500)
    provider = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.torture.holding_provider"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        url = f"http://127.0.0.1:{int(await provider.stdout.readline())}"
        await _hold(settings, row, url, total, workers, provider)
    finally:
        provider.kill()
        await provider.wait()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return row


async def _hold(settings, row: Row, url: str, total: int, workers: int, provider) -> None:
    with TemporaryDirectory(prefix="torture-") as name:
        text = configuration(url, provider=PATIENT, server="keep_alive = 600\n" + UNBOUNDED)
        options = ("--workers", str(workers))
        async with running_gateway(Path(name), text, *options, log=True) as gateway:
            lab = Lab(gateway, Path(name), Path(name, "log"))
            before = _weight(lab)
            streams: list[tuple[Conversation, Connection]] = []

            async def begin(_: Connection, number: int) -> None:
                talk = Conversation(number, *PAIRS[number % 25], True, 1, True, " ")
                connection = lab.connection()
                streams.append((talk, connection))
                await connection.send(*question(talk))
                settings.progress(row.name, len(streams), total)

            await many(settings, lab, row, total, 50, begin)
            held = 0
            while held < len(streams):
                held = int(await asyncio.wait_for(provider.stdout.readline(), 120))
            each = (_weight(lab) - before) / max(1, len(streams))
            provider.stdin.write(b"go on\n")
            for talk, connection in streams:
                row.count(await _end(talk, connection), f"{talk.ours} to {talk.theirs}")
    row.figures = {"memory for each": f"{each / 1024:.0f} KB", "workers": str(workers)}


UNBOUNDED = "limits = { connections = 20000, per_address = 20000 }"
"""Settings without which so many connections from one address are refused."""


def _weight(lab: Lab) -> int:
    pids = [str(lab.gateway.process.pid), *lab.gateway.workers]
    page = resource.getpagesize()
    return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page for pid in pids)


async def _end(talk: Conversation, connection: Connection) -> list[str]:
    try:
        async with asyncio.timeout(120), connection:
            return judge(talk, await connection.answer(), "whole")
    except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
        return [f"no answer at all: {error!r}"]
