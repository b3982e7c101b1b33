"""Experiments with a machine that fails: processes that die, full disks, no descriptors."""

import asyncio
import json
import os
import resource
import signal
import sqlite3
import time
from pathlib import Path

from tests.gateway.process import running_gateway
from tests.torture import faults
from tests.torture.connection import Connection
from tests.torture.conversation import PAIRS, Conversation, draw, question
from tests.torture.lab import Lab, Row, Settings, laboratory, many, until
from tests.torture.provider_trials import PATIENT, PROMPT


async def dead_workers(settings: Settings) -> Row:
    """kill -9 of a worker under load: the others answer, and another takes its place."""
    row = Row("a worker is killed under load")
    rng = settings.random("workers")
    broken = 0
    async with laboratory("--workers", "3", provider=PATIENT) as lab:
        for _ in range(settings.pick(part=1, short=2, long=8)):
            workers = set(lab.gateway.workers)
            victim = rng.choice(sorted(workers))
            done = asyncio.Event()

            async def load(done: asyncio.Event = done) -> int:
                return await _load(lab, row, done, rng)

            async with asyncio.TaskGroup() as tasks:
                loads = [tasks.create_task(load()) for _ in range(8)]
                await asyncio.sleep(0.3)
                os.kill(int(victim), signal.SIGKILL)
                back = await until(lambda v=victim: _replaced(lab, v, 3), 15)
                done.set()
            broken += sum(task.result() for task in loads)
            row.check(back, f"three workers again after one was killed: {lab.gateway.workers}")
    row.figures = {"connections that broke": str(broken)}
    return row


def _replaced(lab: Lab, victim: str, workers: int) -> bool:
    """Whether there are as many workers as before, the dead one not among them."""
    pids = [str(lab.gateway.process.pid), *lab.gateway.workers]
    return len(pids) == workers and victim not in pids and not any(map(_is_dead, pids))


def _is_dead(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


_numbers = iter(range(1_000_000, 9_000_000))


async def _load(lab: Lab, row: Row, done: asyncio.Event, rng) -> int:
    """Ask until it is over; how often a connection broke; it is then opened again."""
    broken = 0
    connection = lab.connection()
    while not done.is_set():
        number = next(_numbers)
        talk = draw(number, rng.choice(PAIRS), rng)
        wrong = await lab.trial(connection, talk, faults.well, "whole")
        for _ in range(3):
            if not wrong or not wrong[0].startswith("no answer at all"):
                break
            # Connections that waited for the worker that died are gone with it.
            broken += 1
            again = draw(next(_numbers), (talk.ours, talk.theirs), rng)
            wrong = await lab.trial(connection, again, faults.well, "whole")
        row.count(wrong, f"{talk.ours} to {talk.theirs} under load")
        await asyncio.sleep(0)
    connection.close()
    return broken


async def dead_servers(settings: Settings) -> Row:
    """kill -9 of the whole gateway: what it had stored half a second ago is there again."""
    row = Row("the gateway is killed")
    stored = 0
    for _ in range(settings.pick(part=1, short=3, long=12)):
        async with laboratory(provider=PROMPT, server='database = "it.db"') as lab:
            known = await _store(lab, settings.pick(part=10, short=60, long=200))
            stored += len(known)
            await asyncio.sleep(0.6)
            lab.gateway.process.kill()
            await lab.gateway.ended()
            with sqlite3.connect(lab.folder / "it.db") as db:
                (sound,) = db.execute("PRAGMA integrity_check").fetchone()
            db.close()
            row.check(sound == "ok", f"the database is sound: {sound}")
            again = lab.folder / "again"
            again.mkdir()
            text = (lab.folder / "toolglot.toml").read_text()
            text = text.replace("it.db", str(lab.folder / "it.db"))
            async with (
                running_gateway(again, text, log=True) as gateway,
                Connection(gateway.host, gateway.port) as connection,
            ):
                for name in known:
                    status = await _get(connection, f"/v1/responses/{name}")
                    row.check(status == 200, f"stored response {name}: {status}")
    row.figures = {"responses stored": str(stored)}
    return row


async def _store(lab: Lab, count: int) -> list[str]:
    """Ask for responses that are stored; their ids."""
    names = []
    async with lab.connection() as connection:
        for number in range(count):
            talk = Conversation(
                number, "openai-responses", PAIRS[number % 25][1], False, 1, True, " "
            )
            lab.plan(talk, faults.well)
            answer = await connection.ask(*question(talk))
            lab.forget(talk)
            names.append(json.loads(answer.body)["id"])
    return names


async def _get(connection: Connection, path: str) -> int:
    _, writer = await connection.open()
    writer.write(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
    return (await connection.answer()).status


# --- configuration --------------------------------------------------------------------------------

WRONG = (
    "",
    "[server",
    "[providers]\nx = 1\n",
    '[providers.a]\nprotocol = "none"\nbase_url = "http://x"\n',
    '[providers.a]\nprotocol = "ollama"\nbase_url = "http://x"\napi_key = "file:~nobody-x/key"\n',
    '[providers.a]\nprotocol = "ollama"\nbase_url = "http://x"\napi_key = "file:a\\u0000b"\n',
    "a = " + "[" * 5000,
    "\x00\x01",
)
"""Files that are none; the first is what an editor leaves for a moment."""


async def reloads(settings: Settings) -> Row:
    """The configuration changes under load, rightly and wrongly: every request is answered."""
    row = Row("the configuration changes under load")
    rng = settings.random("reload")
    seconds = settings.pick(part=3, short=12, long=60)
    changes = 0
    async with laboratory(provider=PATIENT) as lab:
        path = lab.folder / "toolglot.toml"
        right = path.read_text()

        async def change() -> None:
            nonlocal changes
            ends = time.monotonic() + seconds
            while time.monotonic() < ends:
                number = changes % (2 * len(WRONG))
                text = WRONG[number // 2] if number % 2 else f"{right}# {changes}\n"
                path.write_bytes(text.encode())
                changes += 1
                await asyncio.sleep(0.7)

        async with asyncio.TaskGroup() as tasks:
            done = asyncio.Event()
            loads = [tasks.create_task(_load(lab, row, done, rng)) for _ in range(6)]
            await change()
            done.set()
        row.check(lab.gateway.process.returncode is None, "the gateway still runs")
        row.check(sum(task.result() for task in loads) == 0, "no connection broke")
    row.figures = {"versions of the file": str(changes)}
    return row


# --- what a machine runs out of -------------------------------------------------------------------


async def full_disk(settings: Settings) -> Row:
    """No file may grow: every request is answered, and stored again once there is room."""
    row = Row("the disk is full")
    total = settings.pick(part=40, short=150, long=600)
    server = 'database = "it.db"\nrecord = "recordings"'
    async with laboratory(provider=PROMPT, server=server) as lab:
        pid = lab.gateway.process.pid
        await _store(lab, 5)
        # As if nothing more fitted on the disk: each write fails, also into files that exist.
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

        async def one(connection: Connection, number: int) -> None:
            rng = settings.random("disk", number)
            talk = draw(1_000 + number, rng.choice(PAIRS), rng)
            wrong = await lab.trial(connection, talk, faults.well, "whole")
            row.count(wrong, f"{talk.ours} to {talk.theirs} with a full disk")

        await many(settings, lab, row, total, 10, one)
        lines = lab.log.read_bytes().count(b"\n")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        names = await _store(lab, 3)
        async with lab.connection() as connection:
            for name in names:
                status = await _get(connection, f"/v1/responses/{name}")
                row.check(status == 200, f"stored once there is room: {status}")
    row.figures = {"lines in the log": str(lines)}
    return row


async def no_descriptors(settings: Settings) -> Row:
    """More connections than descriptors: no busy loop, and it answers once they are gone."""
    row = Row("descriptors run out")
    async with laboratory(provider=PROMPT) as lab:
        pid = lab.gateway.process.pid
        _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, most))
        before = _cpu(pid)
        connections = [lab.connection() for _ in range(100)]
        for connection in connections:
            await connection.open()
        await asyncio.sleep(2)
        spent = _cpu(pid) - before
        row.check(spent < 1.0, f"{spent:.2f} s of CPU in two seconds")
        told = lab.log.read_bytes().count(b"no file descriptors are left")
        row.check(0 < told < 4, f"the log says so, and not every second: {told} times")
        for connection in connections:
            connection.close()
        await until(lambda: lab.gateway.files < 40, 15)

        async def one(connection: Connection, number: int) -> None:
            rng = settings.random("descriptors", number)
            talk = draw(number, rng.choice(PAIRS), rng)
            wrong = await lab.trial(connection, talk, faults.well, "whole")
            row.count(wrong, "after the connections are gone")

        await many(settings, lab, row, settings.pick(part=20, short=100, long=500), 5, one)
        lines = lab.log.read_bytes().count(b"\n")
    row.figures = {"CPU meanwhile": f"{spent:.2f} s", "lines in the log": str(lines)}
    return row


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
