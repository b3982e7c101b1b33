"""The gateway as a process."""

import asyncio
import resource
import signal
import subprocess
import sys
import urllib.request

import pytest
from tests.gateway.running import serving
from tests.http1.raw import exchange

from toolglot.gateway.config import Config, ConfigError, Server, ServerLimits
from toolglot.gateway.http.server import check_exposure, limits_of, listen, write_port


def test_it_does_not_open_itself_to_the_network_by_accident():
    check_exposure(Config())
    with pytest.raises(ConfigError, match="--keys"):
        check_exposure(Config(server=Server(host="0.0.0.0")))
    check_exposure(Config(server=Server(host="0.0.0.0", keys=True)))
    check_exposure(Config(server=Server(host="0.0.0.0", open=True)))


def test_a_port_in_use_is_told():
    first = listen("127.0.0.1", 0)
    with first, pytest.raises(ConfigError, match="cannot listen on"):
        listen("127.0.0.1", first.getsockname()[1])


def test_the_port_is_written_whole(tmp_path):
    write_port(str(tmp_path / "port"), 1234)
    assert [each.name for each in tmp_path.iterdir()] == ["port"]
    assert (tmp_path / "port").read_text() == "1234\n"


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_it_starts_answers_and_ends(tmp_path, workers):
    command = [sys.executable, "-m", "toolglot", "serve", "--port", "0", "--workers", str(workers)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={"PATH": ""}
    ) as process:
        line = process.stderr.readline()
        assert "listens on http://127.0.0.1:" in line
        with urllib.request.urlopen(f"{line.split()[-1]}/health") as reply:
            assert reply.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0


# --- limits ---------------------------------------------------------------------------------------


def test_limits_are_those_of_the_configuration():
    limits = ServerLimits(
        head_seconds=1, body_seconds=2, idle_seconds=3, connections=40, per_address=5, bodies=6
    )
    made = limits_of(Server(limits=limits, max_body=7))
    assert (made.head_seconds, made.body_seconds, made.idle_seconds) == (1, 2, 3)
    assert (made.connections, made.per_address) == (40, 5)
    assert (made.body_size, made.all_bodies) == (7, 7), "one body fits in any case"


def test_by_default_descriptors_do_not_run_out():
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    made = limits_of(Server())
    assert 0 < made.per_address <= made.connections
    assert 2 * made.connections < allowed
    assert (made.head_seconds, made.body_seconds) == (10, 30)


def test_a_few_descriptors_are_for_clients_too(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    assert limits_of(Server()).connections == 24
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert limits_of(Server()).connections > 10_000


HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"


def talking(use, **limits):
    async def run():
        async with serving(Config(server=Server(limits=ServerLimits(**limits)))) as url:
            return await use(int(url.rpartition(":")[2]))

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", None),
        (HEAD, 408),
        (HEAD + b"Content-Length: 100\r\n\r\nhalf", 408),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n50\r\nhalf", 408),
    ],
)
def test_what_does_not_arrive_is_not_waited_for(sent, status):
    async def use(port):
        return await exchange(port, sent, wait=20)

    answer = talking(use, head_seconds=0.2, body_seconds=0.2, idle_seconds=0.2)
    assert (int(answer.split()[1]) if answer else None) == status


def test_connections_beyond_the_limit_are_told_to_come_back():
    async def use(port):
        first = await asyncio.open_connection("127.0.0.1", port)
        second = await asyncio.open_connection("127.0.0.1", port)
        # Both are counted once they are answered.
        for _, writer in (first, second):
            writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for reader, _ in (first, second):
            await reader.readuntil(b"\r\n\r\n")
        refused = await exchange(port, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for _, writer in (first, second):
            writer.close()
        return refused

    for limits in ({"connections": 2}, {"connections": 9, "per_address": 2}):
        answer = talking(use, **limits)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in answer


def test_bodies_share_a_budget():
    async def use(port):
        held = []
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD + b"Content-Length: 900000\r\n\r\n" + bytes(800_000))
            await writer.drain()
            held.append((reader, writer))
        done, _ = await asyncio.wait(
            [asyncio.create_task(reader.readuntil(b"\r\n\r\n")) for reader, _ in held],
            return_when=asyncio.FIRST_COMPLETED, timeout=10,
        )  # fmt: skip
        for _, writer in held:
            writer.close()
        return [task.result() for task in done]

    async def run():
        server = Server(max_body=2**20, limits=ServerLimits(bodies=2_000_000))
        async with serving(Config(server=server)) as url:
            return await use(int(url.rpartition(":")[2]))

    (answer,) = asyncio.run(run())
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in answer.lower()
