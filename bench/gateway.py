"""CPU of the gateway for a request and for a stream, beside nginx and beside the floor.

Processes on loopback: a scripted provider, and between it and this one, which asks, in turn nginx
(if there is one), a relay of bytes, the same relay translating, and the gateway. What counts is the
CPU time that the middle one used, so neither the provider's nor the client's share matters. Compare
the ratios of one run: a busy machine makes all of them slower.
"""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.example import request, tool
from bench.http_peers import load, post

SECONDS = float(os.environ.get("BENCH_SECONDS", "1"))
TURNS = int(os.environ.get("BENCH_TURNS", "3"))
ROOT = Path(__file__).parent.parent


class Scenario(NamedTuple):
    """What is asked, and how many at a time."""

    name: str
    body: dict[str, Any]
    stream: bool = False
    paced: bool = False
    new_tools: bool = False
    provider: str = "openai-chat"
    at_once: int = 16


def small() -> dict[str, Any]:
    """12 tools and a call in the history, 18 KB."""
    whole = request()
    tools = [{**tool(index), "description": f"Tool {index}."} for index in range(12)]
    return {**whole, "tools": tools, "messages": whole["messages"][:3], "system": "Be brief."}


def long() -> dict[str, Any]:
    """A long session, 1.1 MB."""
    whole = request()
    first, *turns = whole["messages"]
    return {**whole, "messages": [first, *turns * 27]}


def scenarios() -> Iterator[Scenario]:
    """Rows of the table."""
    paced = {"stream": True, "paced": True}
    yield Scenario("18 KB, whole", small())
    yield Scenario("18 KB, whole, tools never seen", small(), new_tools=True)
    yield Scenario("18 KB, stream at once", small(), stream=True)
    yield Scenario("18 KB, stream paced", small(), **paced)
    yield Scenario("62 KB, whole", request())
    yield Scenario("1.1 MB, whole", long(), at_once=4)
    yield Scenario("same protocol, whole", small(), provider="anthropic")
    yield Scenario("same protocol, stream paced", small(), provider="anthropic", **paced)


def asked(scenario: Scenario) -> Callable[[], bytes]:
    """What makes the requests of a scenario, each another one."""
    model = "paced-model" if scenario.paced else "bench"
    body = {**scenario.body, "model": model, "stream": scenario.stream}
    first, *rest = body["messages"]
    body["messages"] = [first, *rest, {"role": "user", "content": "request @@@@@@@@"}]
    text = json.dumps(body, separators=(",", ":"))
    if scenario.new_tools:
        text = text.replace('"description":"', '"description":"@@@@@@@@ ')
    numbers = itertools.count(10_000_000)
    return lambda: post("/v1/messages", text.replace("@@@@@@@@", str(next(numbers))).encode())


# --- processes ------------------------------------------------------------------------------------


@contextlib.contextmanager
def started(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A process, until it is no longer needed."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@contextlib.contextmanager
def device(*arguments: str) -> Iterator[tuple[int, int]]:
    """The port and the process of one of `http_peers.py`."""
    with started(sys.executable, "-m", "bench.http_peers", *arguments) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline()), process.pid


@contextlib.contextmanager
def nginx(provider: int) -> Iterator[tuple[int, int]]:
    """nginx passing bytes on, in one process."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        config = Path(folder) / "nginx.conf"
        config.write_text(
            f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/log;\n"
            "events { worker_connections 1024; }\n"
            f"http {{ access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b;"
            f" fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;"
            " client_max_body_size 64m; client_body_buffer_size 4m;\n"
            f" upstream it {{ server 127.0.0.1:{provider}; keepalive 64; }}\n"
            f" server {{ listen 127.0.0.1:{port}; keepalive_requests 1000000; location / {{"
            " proxy_pass http://it; proxy_http_version 1.1; proxy_buffering off;"
            ' proxy_set_header Connection ""; } } }\n'
        )
        with started("nginx", "-c", str(config)) as process:
            wait_for(port)
            yield port, process.pid


@contextlib.contextmanager
def gateway(provider: int, protocol: str) -> Iterator[tuple[int, int]]:
    """The gateway, as `toolglot serve` starts it."""
    with tempfile.TemporaryDirectory() as folder:
        config, port = Path(folder) / "toolglot.toml", Path(folder) / "port"
        config.write_text(
            f'[providers.it]\nprotocol = "{protocol}"\n'
            f'base_url = "http://127.0.0.1:{provider}/v1"\n'
        )
        command = (sys.executable, "-m", "toolglot", "serve", "--quiet", "--config", str(config))
        command += ("--log", "warning")
        with started(*command, "--port", "0", "--port-file", str(port)) as process:
            while not port.exists():
                assert process.poll() is None
                time.sleep(0.05)
            yield int(port.read_text()), process.pid


def free_port() -> int:
    """A port that nobody listens on."""
    import socket  # noqa: PLC0415 - for nginx alone, which chooses none itself

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int) -> None:
    """Until somebody listens."""
    import socket  # noqa: PLC0415

    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"nobody listens on port {port}")


# --- measuring ------------------------------------------------------------------------------------


def cpu(pid: int) -> float:
    """Seconds of CPU, of which `stat` knows only hundredths."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def spent(scenario: Scenario, ways: dict[str, tuple[int, int]]) -> dict[str, float]:
    """Microseconds of CPU for one request, each way: the best of some turns."""
    data, expected, found = asked(scenario), b"harbour" if scenario.stream else b"tide", {}
    for name, (port, pid) in list(ways.items()) * (TURNS + 1):
        count = scenario.at_once * 2
        if name in found:
            count = max(count, int(count * SECONDS / found[name][1]))
        began, before = time.perf_counter(), cpu(pid)
        asyncio.run(load(port, data, count, scenario.at_once, expected))
        cost = (cpu(pid) - before) / (count // scenario.at_once * scenario.at_once) * 1e6
        taken = (time.perf_counter() - began) * scenario.at_once * 2 / count
        # The first turn only warms up, and tells how many requests make a second.
        found[name] = (min(cost, found[name][0]) if name in found else 1e12, taken)
    return {name: cost for name, (cost, _) in found.items()}


def report() -> None:
    """Print the table."""
    print("\nGateway: µs of CPU for a request, and its ratio to nginx; clients of Anthropic")
    has_nginx = shutil.which("nginx") is not None
    if not has_nginx:
        print("nginx is not installed: ratios are to the relay of bytes")
    load_average = " ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"load average of the machine: {load_average}; {os.cpu_count()} cores")
    rows = list(scenarios())
    with contextlib.ExitStack() as open_, device("provider") as (provider, _):
        nginx_way = {"nginx": open_.enter_context(nginx(provider))} if has_nginx else {}
        plain = open_.enter_context(device("relay", str(provider)))
        translating = open_.enter_context(device("translating", str(provider)))
        ours = {
            protocol: open_.enter_context(gateway(provider, protocol))
            for protocol in ("openai-chat", "anthropic")
        }
        for row in rows:
            ways = {**nginx_way, "bytes": plain}
            if row.provider != "anthropic":
                ways["translating"] = translating
            found = spent(row, {**ways, "toolglot": ours[row.provider]})
            base = found["nginx" if has_nginx else "bytes"]
            cells = "  ".join(
                f"{name} {cost:7.0f} = {cost / base:5.2f} x" for name, cost in found.items()
            )
            print(f"{row.name:<32} {cells}", flush=True)


if __name__ == "__main__":
    report()
