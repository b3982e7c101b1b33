"""Running the gateway: sockets and signals."""

import asyncio
import errno
import gc
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from toolglot.gateway.config import Config, ConfigError, Server
from toolglot.gateway.http.host_names import LOOPBACK
from toolglot.gateway.http.server_tls import ServerTls
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
_BUSY: Final = 503
_SPARE: Final = 64
"""Descriptors that are for neither clients nor providers."""
_MOST_DESCRIPTORS: Final = 2**16
DRAIN: Final = 30.0
"""Seconds that open streams have to end after a signal."""


class Application(Protocol):
    """What is served."""

    config: Config

    @property
    def handle(self) -> Handler:
        """Answers a request."""
        ...

    @property
    def handle_admin(self) -> Handler:
        """Answers a request on the listener of the administrator."""
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
    certified = server.tls is not None and server.tls.require_client_cert
    if server.host not in LOOPBACK and not (server.keys or server.open or certified):
        raise ConfigError(
            f"{server.host} can be reached from other machines: require keys (--keys, after "
            "`toolglot keys create`), or pass --open if that is intended"
        )


def check_tls(config: Config) -> None:
    """Reject a configuration whose certificate cannot be used."""
    if config.server.tls is not None:
        ServerTls(config.server.tls)


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
) -> None:
    """Answer on a socket until a signal comes, then let open streams end.

    `leader` is a pipe that closes when this process should end too.
    """
    _allow_descriptors()
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        runner.run(_serve(app, sock, ready, leader))


async def _serve(
    app: Callable[[], Application],
    sock: socket.socket,
    ready: Ready,
    leader: int | None,
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # Files that changed are read again within a second, without a signal; it must not end us.
    loop.add_signal_handler(signal.SIGHUP, _silently)
    if leader is not None:
        loop.add_reader(leader, _once(loop, leader, stop))
    async with answering(app(), sock):
        # What was loaded is never freed, so the garbage collector need not traverse it.
        gc.freeze()
        ready()
        await stop.wait()


@asynccontextmanager
async def answering(
    app: Application, sock: socket.socket, drain: float = DRAIN
) -> AsyncIterator[None]:
    """Answer requests on a socket with an application, and let open streams end afterwards."""
    settings = app.config.server
    tls = ServerTls(settings.tls) if settings.tls is not None else None
    admin = _listen_admin(settings)
    async with app.running(), AsyncExitStack() as stack:
        server = HttpServer(app.handle, limits_of(settings), _refusal)
        context = tls.context if tls is not None else None
        await server.listen(sock, settings.limits.backlog, context)
        if tls is not None:
            stack.callback(tls.watch().cancel)
        if admin is not None:
            stack.callback(admin.close)
            reports = HttpServer(app.handle_admin, limits_of(settings), _refusal)
            await reports.listen(admin)
            stack.push_async_callback(reports.close, 0.0)
        try:
            yield
        finally:
            await app.shut_down()
            await server.close(drain)


def limits_of(settings: Server) -> Limits:
    """What clients may take of a server."""
    given = settings.limits
    # A client that is answered takes one descriptor, and its provider another.
    descriptors = _descriptors()
    most = given.connections or max(1, (descriptors - min(_SPARE, descriptors // 4)) // 2)
    return Limits(
        head_seconds=given.head_seconds,
        body_seconds=given.body_seconds,
        idle_seconds=given.idle_seconds,
        body_size=settings.max_body,
        all_bodies=max(given.bodies, settings.max_body),
        connections=most,
        per_address=given.per_address or max(1, most // 2),
    )


def _descriptors() -> int:
    """How many files and sockets this process may have open."""
    try:
        import resource  # noqa: PLC0415 - not made for Windows
    except ImportError:  # pragma: no cover
        return _MOST_DESCRIPTORS
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_DESCRIPTORS if allowed < 0 else min(allowed, _MOST_DESCRIPTORS)


def _allow_descriptors() -> None:
    """Raise the limit of open files as far as we may: shells set it low for programs of old."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not made for Windows

        allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MOST_DESCRIPTORS if most < 0 else min(most, _MOST_DESCRIPTORS)
        if 0 <= allowed < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def _listen_admin(settings: Server) -> socket.socket | None:
    if settings.admin is None:
        return None
    host, _, port = settings.admin.rpartition(":")
    return listen(host.strip("[]"), int(port), shared=settings.workers > 1)


def _refusal(status: int, words: str) -> WholeHttpResponse:
    """The answer to what is no request: in no protocol, since nobody knows which."""
    body = jsontext.encode({"error": {"type": "invalid_request_error", "message": words}})
    headers = {"Content-Type": "application/json"}
    if status == _BUSY:
        headers["Retry-After"] = "1"
    return WholeHttpResponse(body, status, headers)


def _once(loop: asyncio.AbstractEventLoop, pipe: int, stop: asyncio.Event) -> Callable[[], None]:
    def closed() -> None:
        loop.remove_reader(pipe)
        stop.set()

    return closed


def in_background(work: Coroutine[None, None, None]) -> None:
    """Do something beside answering; it ends when the gateway does."""
    task = asyncio.get_running_loop().create_task(work)
    _background.add(task)
    task.add_done_callback(_background.discard)


_background: Final[set[asyncio.Task[None]]] = set()
"""The loop itself does not keep tasks alive."""


def _silently() -> None:
    """There is nothing to do or say."""


def write_port(path: str, port: int) -> None:
    """Write the port to a file for another program, atomically."""
    file = Path(path)
    part = file.with_name(file.name + ".part")
    part.write_text(f"{port}\n", encoding="utf-8")
    part.replace(file)


def say(words: str) -> None:
    """Print to standard error."""
    print(words, file=sys.stderr, flush=True)  # noqa: T201
