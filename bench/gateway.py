"""CPU of the gateway for a request and for a stream, beside a relay of bytes on the same stack.

Four processes on loopback: a provider that plays an answer, a relay that only passes bytes on, the
gateway, and this one, which asks. What counts is the CPU time that the middle one used, so neither
the provider's nor the client's share matters, and other work on the machine hardly does.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean

import aiohttp
import uvloop
from aiohttp import web

from toolglot import ir
from toolglot.context import Context
from toolglot.events import Finished, PartDelta, PartEnded, PartStarted, Started, UsageSeen
from toolglot.registry import get_protocol
from toolglot.translate import encode_request, encode_response

PROTOCOLS = ("anthropic", "openai-chat", "openai-responses", "gemini", "ollama")
PAIRS = (
    ("openai-chat", "openai-chat"),
    ("anthropic", "anthropic"),
    ("anthropic", "openai-chat"),
    ("openai-responses", "anthropic"),
    ("openai-responses", "openai-chat"),
    ("gemini", "openai-chat"),
    ("anthropic", "gemini"),
)
BASES = {"gemini": "/v1beta", "ollama": "/api"}
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "600"))
AT_ONCE = 8
TURNS = 6
DELTAS = 56


def tool(number: int) -> ir.FunctionTool:
    word = ("path", "pattern", "limit", "offset", "mode", "note")
    properties = {
        name: {"type": "string", "description": f"The {name} that step {number} works with. " * 3}
        for name in word
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["path"],
        "additionalProperties": False,
    }
    text = f"Tool {number} does one of the twelve things that this agent can do. " * 4
    return ir.FunctionTool(name=f"tool_{number}", description=text, parameters=schema)


ASKED = ir.Request(
    model="bench",
    max_tokens=1000,
    tools=tuple(map(tool, range(12))),
    messages=(
        ir.Message(role="user", parts=(ir.Text(text="Tidy the harbour log. " * 60),)),
        ir.Message(role="assistant", parts=(ir.Text(text="I looked at it. " * 20),)),
        ir.Message(role="user", parts=(ir.Text(text="And now the rest."),)),
    ),
)
ANSWER = ir.Response(
    id="answer",
    model="bench",
    choices=(
        ir.Choice(parts=(ir.Text(text="It is tidy now. " * 20),), stop=ir.StopReason(kind="end")),
    ),
    usage=ir.Usage(input=4000, output=100),
)
EVENTS = (
    Started(id="answer", model="bench"),
    PartStarted(0, ir.Text(text="")),
    *(PartDelta(0, f"word {number} ") for number in range(DELTAS)),
    PartEnded(0),
    UsageSeen(ir.Usage(input=4000, output=100)),
    Finished((ir.StopReason(kind="end"),)),
)


def asked(protocol: str, *, stream: bool) -> tuple[str, bytes]:
    request = ir.Request(
        model="bench",
        max_tokens=1000,
        tools=ASKED.tools,
        messages=ASKED.messages,
        stream=stream,
    )
    wire = encode_request(request, target=protocol)
    query = "?alt=sse" if wire.query else ""
    return wire.path + query, wire.data()


# --- the provider ---------------------------------------------------------------------------------


def provider_app(protocol: str) -> web.Application:
    encoder = get_protocol(protocol).StreamEncoder(Context())
    pieces = [piece for event in EVENTS if (piece := encoder.encode(event))] + [encoder.close()]
    whole = encode_response(ANSWER, target=protocol).data()
    kind = get_protocol(protocol).SURFACE.stream.media_type

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if b'"stream":true' not in body and "stream" not in request.path:
            return web.Response(body=whole, content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
            await asyncio.sleep(0)
        return response

    return _app(handle)


def relay_app(url: str) -> web.Application:
    """The least that a gateway on this stack can do: pass bytes on."""
    session: list[aiohttp.ClientSession] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        if not session:
            session.append(aiohttp.ClientSession(auto_decompress=False))
        body = await request.read()
        headers = {"Content-Type": "application/json"}
        async with session[0].post(url + request.path_qs, data=body, headers=headers) as reply:
            response = web.StreamResponse(headers={"Content-Type": reply.headers["Content-Type"]})
            await response.prepare(request)
            async for chunk in reply.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    return _app(handle)


def _app(handle) -> web.Application:  # type: ignore[no-untyped-def] # noqa: ANN001
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{path:.*}", handle)
    return app


def _run_app(app: web.Application) -> None:
    async def main() -> None:
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(site._server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Event().wait()

    uvloop.run(main())


# --- measuring ------------------------------------------------------------------------------------


@contextlib.contextmanager
def started(*command: str, cwd: str | None = None):  # type: ignore[no-untyped-def] # noqa: ANN201
    root = Path(__file__).parent.parent
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(root), str(root / "src")))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=cwd, env=env)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def cpu(pid: int) -> float:
    """Seconds of CPU, of which `stat` knows only hundredths."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


async def ask(url: str, path: str, body: bytes, rounds: int) -> None:
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession() as session:

        async def some() -> None:
            for _ in range(rounds // AT_ONCE):
                async with session.post(url + path, data=body, headers=headers) as reply:
                    await reply.read()
                    assert reply.status == 200, reply.status

        await asyncio.gather(*(some() for _ in range(AT_ONCE)))


def spent(ways: list[tuple[str, int, str, bytes]]) -> list[float]:
    """Microseconds of CPU for one request, each way. They take turns, so that what else the machine
    does and how fast it runs meets them all alike.
    """
    for url, _, path, body in ways:
        asyncio.run(ask(url, path, body, AT_ONCE * 10))
    sums = [0.0] * len(ways)
    for _ in range(TURNS):
        for number, (url, pid, path, body) in enumerate(ways):
            before = cpu(pid)
            asyncio.run(ask(url, path, body, ROUNDS // TURNS))
            sums[number] += cpu(pid) - before
    return [each / (TURNS * (ROUNDS // TURNS // AT_ONCE * AT_ONCE)) * 1e6 for each in sums]


@contextlib.contextmanager
def gateway(url: str, protocol: str):  # type: ignore[no-untyped-def] # noqa: ANN201
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "toolglot.toml"
        config.write_text(
            f'[providers.it]\nprotocol = "{protocol}"\n'
            f'base_url = "{url}{BASES.get(protocol, "/v1")}"\n'
        )
        port = Path(folder) / "port"
        command = (sys.executable, "-m", "toolglot", "serve", "--quiet", "--config", str(config))
        with started(*command, "--port", "0", "--port-file", str(port)) as process:
            while not port.exists():
                assert process.poll() is None
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port.read_text().strip()}", process.pid


def report() -> None:
    print("\ngateway: CPU beside a relay of bytes (µs, 12 tools in 18 KB)")
    print(f"{'client':18}{'provider':18}{'request':>18}{'60-event stream':>22}")
    ratios: list[list[float]] = [[], []]
    for client, provider in PAIRS:
        with started(sys.executable, "-m", "bench.gateway", "provider", provider) as upstream:
            url = f"http://127.0.0.1:{upstream.stdout.readline().strip()}"
            with started(sys.executable, "-m", "bench.gateway", "relay", url) as relay:
                plain = f"http://127.0.0.1:{relay.stdout.readline().strip()}"
                with gateway(url, provider) as (ours, pid):
                    cells = []
                    for stream in (False, True):
                        theirs = (plain, relay.pid, *asked(provider, stream=stream))
                        floor, cost = spent([theirs, (ours, pid, *asked(client, stream=stream))])
                        cells.append(f"{cost:6.0f} = {cost / floor:4.2f} x")
                        ratios[stream].append(cost / floor)
        print(f"{client:18}{provider:18}{cells[0]:>18}{cells[1]:>22}")
    means = [f"{mean(each):4.2f} x" for each in ratios]
    print(f"{'mean':36}{means[0]:>18}{means[1]:>22}")


if __name__ == "__main__":
    role, argument = sys.argv[1:]
    _run_app(provider_app(argument) if role == "provider" else relay_app(argument))
