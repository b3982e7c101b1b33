"""Transports for httpx and httpx2, and so for every SDK that is built on them.

    client = anthropic.Anthropic(http_client=toolglot.client("openai/gpt-5.4"))

A transport answers the requests of a client itself, as the gateway would: it translates them,
asks the provider, and translates what comes back. There is no port and no thread.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import WeakKeyDictionary, finalize

from toolglot.errors import MissingExtraError
from toolglot.inprocess.local_gateway import LocalAnswer, LocalGateway
from toolglot.inprocess.loop_driver import LoopDriver
from toolglot.inprocess.targets import Targets, config_for
from toolglot.ir import Json

if TYPE_CHECKING:
    from toolglot.gateway.config import Config

_LIBRARIES: Final = ("httpx2", "httpx")
"""Libraries that a client can be made of, the first choice first: SDKs of 2026 need httpx2."""


def client(model: Targets | None = None, *, library: str | None = None, **options: Any) -> Any:
    """An `httpx2.Client` (or `httpx.Client`) for an SDK: `http_client=toolglot.client(...)`.

    The options are those of `Transport`. `library` is `httpx2` or `httpx`, for an SDK that needs
    another one than the newest that is installed.
    """
    made = Transport(model, **options)
    return _with_receipts(_library(library).Client)(transport=made, timeout=None)


def async_client(
    model: Targets | None = None, *, library: str | None = None, **options: Any
) -> Any:
    """The same for an asynchronous SDK: an `httpx2.AsyncClient` (or `httpx.AsyncClient`)."""
    made = AsyncTransport(model, **options)
    return _with_receipts(_library(library).AsyncClient)(transport=made, timeout=None)


def transport(model: Targets | None = None, **options: Any) -> "Transport":
    """A transport for an HTTP client of one's own: `httpx.Client(transport=…)`."""
    return Transport(model, **options)


class Transport:
    """Sends the requests of an `httpx.Client` or `httpx2.Client` through a gateway in memory.

    `model` is where they go, whatever model they name: `openai/gpt-5.4`, or several of which each
    stands in for those before it. Without it they are routed by `config`, a `Config` or the path of
    a `toolglot.toml`. Keys come from the environment, from `config` or from `api_key`.
    """

    def __init__(self, model: Targets | None = None, **options: Any) -> None:
        config = config_for(model, **options)
        self._driver, self._gateway = LoopDriver(), LocalGateway(config)
        self._close = finalize(self, _close, self._driver, self._gateway)

    @property
    def receipts(self) -> list[Json]:
        """What translating changed, request by request, the oldest first."""
        return self._gateway.receipts

    def handle_request(self, request: Any) -> Any:
        """Answer a request; called by the client."""
        library, body, seconds = _library_of(request), request.read(), _read_seconds(request)
        answer = self._driver.run(_begun(library, self._gateway, request, body, seconds))
        return library.Response(
            answer.status,
            headers=dict(answer.headers),
            stream=_sync_stream(library)(self, answer, request, seconds),
            request=request,
        )

    def close(self) -> None:
        """Close the connections to providers."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncTransport:
    """The same for an `httpx.AsyncClient` or `httpx2.AsyncClient` that runs on asyncio."""

    def __init__(self, model: Targets | None = None, **options: Any) -> None:
        self._config: Config = config_for(model, **options)
        # A gateway belongs to the loop that it runs in. Programs that call `asyncio.run` several
        # times use one client in several loops.
        self._gateways: WeakKeyDictionary[asyncio.AbstractEventLoop, LocalGateway] = (
            WeakKeyDictionary()
        )

    @property
    def receipts(self) -> list[Json]:
        """What translating changed, request by request, the oldest first."""
        return [receipt for each in self._gateways.values() for receipt in each.receipts]

    async def handle_async_request(self, request: Any) -> Any:
        """Answer a request; called by the client."""
        loop, library = asyncio.get_running_loop(), _library_of(request)
        gateway = self._gateways.get(loop)
        if gateway is None:
            gateway = self._gateways[loop] = LocalGateway(self._config)
        body, seconds = await request.aread(), _read_seconds(request)
        answer = await _begun(library, gateway, request, body, seconds)
        return library.Response(
            answer.status,
            headers=dict(answer.headers),
            stream=_async_stream(library)(answer, request, seconds),
            request=request,
        )

    async def aclose(self) -> None:
        """Close the connections to providers."""
        gateway = self._gateways.pop(asyncio.get_running_loop(), None)
        if gateway is not None:
            await gateway.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _close(driver: LoopDriver, gateway: LocalGateway) -> None:
    driver.run(gateway.close())
    driver.close()


# --- requests and answers -------------------------------------------------------------------------


async def _begun(
    library: ModuleType, gateway: LocalGateway, request: Any, body: bytes, seconds: float | None
) -> LocalAnswer:
    target = request.url.raw_path.decode("ascii")
    headers = {name.lower(): value for name, value in request.headers.items()}
    with _as_errors_of(library, request):
        async with asyncio.timeout(seconds):
            return await gateway.send(request.method, target, headers, body)


async def _next(
    library: ModuleType, answer: LocalAnswer, request: Any, seconds: float | None
) -> bytes:
    with _as_errors_of(library, request):
        async with asyncio.timeout(seconds):
            return await answer.read()


class _as_errors_of:  # noqa: N801 - it is used like a function
    """Failures as the client's library names them, so that SDKs try again as they usually do."""

    def __init__(self, library: ModuleType, request: Any) -> None:
        self._library, self._request = library, request

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TimeoutError):
            words = "no answer came in the time that the client gives it"
            raise self._library.ReadTimeout(words, request=self._request) from error
        if isinstance(error, ConnectionError):
            raise self._library.RemoteProtocolError(str(error), request=self._request) from error


def _read_seconds(request: Any) -> float | None:
    """How long the client waits for an answer to begin or to go on."""
    given: Mapping[str, float | None] = request.extensions.get("timeout", {})
    return given.get("read")


# --- two libraries --------------------------------------------------------------------------------


def _library(name: str | None) -> ModuleType:
    for each in (name,) if name else _LIBRARIES:
        if each not in _LIBRARIES:
            raise ValueError(f"library: expected one of {', '.join(_LIBRARIES)}")
        if find_spec(each) is not None:
            return import_module(each)
    raise MissingExtraError("httpx", name or _LIBRARIES[0])


def _library_of(request: Any) -> ModuleType:
    """The library that a request is from; one transport serves both."""
    return sys.modules[type(request).__module__.partition(".")[0]]


@cache
def _with_receipts(kind: type) -> type:
    """A kind of client, with the receipts of its transport."""

    class TranslatingClient(kind):  # type: ignore[misc]
        """A client whose requests are translated."""

        @property
        def receipts(self) -> list[Json]:
            """What translating changed, request by request, the oldest first."""
            made: list[Json] = self._transport.receipts
            return made

    return TranslatingClient


@cache
def _sync_stream(library: ModuleType) -> Any:
    class Stream(library.SyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, transport: Transport, *answer: Any) -> None:
            # The transport, so that it is not closed while somebody reads.
            self._transport, self._answer = transport, answer

        def __iter__(self) -> Iterator[bytes]:
            while data := self._transport._driver.run(_next(library, *self._answer)):
                yield data

        def close(self) -> None:
            self._transport._driver.run(self._answer[0].close())

    return Stream


@cache
def _async_stream(library: ModuleType) -> Any:
    class Stream(library.AsyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, *answer: Any) -> None:
            self._answer = answer

        async def __aiter__(self) -> AsyncIterator[bytes]:
            while data := await _next(library, *self._answer):
                yield data

        async def aclose(self) -> None:
            await self._answer[0].close()

    return Stream
