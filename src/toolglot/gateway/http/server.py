"""Running the gateway: sockets, signals, and the workers that share a port."""

import asyncio
import errno
import gc
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

from toolglot.gateway.config import Config, ConfigError
from toolglot.gateway.http.middleware import LOOPBACK
from toolglot.http1.http_server import HttpServer
from toolglot.http1.server_connection import Handler, Limits
from toolglot.http1.server_response import WholeHttpResponse
from toolglot.wire import jsontext

try:
    import uvloop
except ImportError:  # pragma: no cover - not made for Windows
    _new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
else:
    _new_loop = uvloop.new_event_loop

Ready = Callable[[], None]

_TAKEN: Final = "; choose another port with --port, or use what listens there: `toolglot doctor`"
DRAIN: Final = 30.0
"""Seconds that open streams have to end after a signal."""


class Application(Protocol):
    """What is served."""

    max_body: int

    @property
    def handle(self) -> Handler:
        """Answers a request."""
        ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """Everything that runs beside the requests."""
        ...

    async def shut_down(self) -> None:
        """No more requests are accepted."""
        ...


def check_exposure(config: Config) -> None:
    """Reject a configuration that lets everyone on the network use the provider keys."""
    server = config.server
    if server.host not in LOOPBACK and not (server.keys or server.open):
        raise ConfigError(
            f"{server.host} can be reached from other machines: require keys (--keys, after "
            "`toolglot keys create`), or pass --open if that is intended"
        )


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A listening socket; a shared port can be listened to by several processes."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind((host, port))
        sock.listen(1024)
        sock.settimeout(0)
    except OSError as error:
        sock.close()
        hint = _TAKEN if error.errno == errno.EADDRINUSE else ""
        raise ConfigError(f"cannot listen on {host}:{port}: {error.strerror}{hint}") from None
    return sock


def serve(
    app: Callable[[], Application],
    sock: socket.socket,
    ready: Ready,
    *,
    leader: int | None = None,
    ending: Callable[[], None] | None = None,
) -> None:
    """Answer on a socket until a signal comes, then let open streams end.

    `leader` is a pipe that closes when this process should end too; `ending` is called when it
    does.
    """
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        runner.run(_serve(app, sock, ready, leader, ending))


async def _serve(
    app: Callable[[], Application],
    sock: socket.socket,
    ready: Ready,
    leader: int | None,
    ending: Callable[[], None] | None,
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if leader is not None:
        loop.add_reader(leader, _once(loop, leader, stop))
    async with answering(app(), sock):
        # What was loaded is never freed, so the garbage collector need not traverse it.
        gc.freeze()
        ready()
        await stop.wait()
        if ending is not None:
            ending()


@asynccontextmanager
async def answering(
    app: Application, sock: socket.socket, drain: float = DRAIN
) -> AsyncIterator[None]:
    """Answer requests on a socket with an application, and let open streams end afterwards."""
    async with app.running():
        server = HttpServer(app.handle, Limits(body_size=app.max_body), _refusal)
        await server.listen(sock)
        try:
            yield
        finally:
            await app.shut_down()
            await server.close(drain)


def _refusal(status: int, words: str) -> WholeHttpResponse:
    """The answer to what is no request: in no protocol, since nobody knows which."""
    body = jsontext.encode({"error": {"type": "invalid_request_error", "message": words}})
    return WholeHttpResponse(body, status, {"Content-Type": "application/json"})


def _once(loop: asyncio.AbstractEventLoop, pipe: int, stop: asyncio.Event) -> Callable[[], None]:
    def closed() -> None:
        loop.remove_reader(pipe)
        stop.set()

    return closed


def serve_many(
    app: Callable[[], Application], sock: socket.socket, ready: Ready, workers: int
) -> None:
    """The same in several processes, each with its own socket on the port.

    The first leads: all others end when it does, at a signal or in any other way.
    """
    host, port = sock.getsockname()[:2]
    children: list[int] = []
    follow, lead = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
    for _ in range(workers - 1):
        pid = os.fork()
        if pid == 0:
            try:
                lead.close()
                sock.close()
                serve(app, listen(host, port, shared=True), _silently, leader=follow.fileno())
            finally:
                os._exit(0)
        children.append(pid)
    follow.close()
    try:
        serve(app, sock, ready, ending=lead.close)
    finally:
        lead.close()
        for pid in children:
            os.waitpid(pid, 0)


def in_background(work: Coroutine[None, None, None]) -> None:
    """Do something beside answering; it ends when the gateway does."""
    task = asyncio.get_running_loop().create_task(work)
    _background.add(task)
    task.add_done_callback(_background.discard)


_background: Final[set[asyncio.Task[None]]] = set()
"""The loop itself does not keep tasks alive."""


def _silently() -> None:
    """Only one of the processes reports that they are ready."""


def write_port(path: str, port: int) -> None:
    """Write the port to a file for another program, atomically."""
    file = Path(path)
    part = file.with_name(file.name + ".part")
    part.write_text(f"{port}\n", encoding="utf-8")
    part.replace(file)


def say(words: str) -> None:
    """Print to standard error."""
    print(words, file=sys.stderr, flush=True)  # noqa: T201
