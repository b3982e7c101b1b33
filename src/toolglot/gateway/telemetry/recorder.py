"""Recording exchanges, each as a folder that `toolglot replay` can run again offline.

    0007-req_1/
      meta.json                 protocols, options, time, URL, headers, statuses, sizes of chunks
      client.request.json       the client's request, byte for byte
      continued.request.json    the same with its history, if it continues a stored response
      upstream.request.json     the request to the provider
      upstream.response.sse     the provider's response (.json, .sse, .ndjson, .eventstream)
      client.response.sse       the response to the client
      receipt.json              what the translation changed

Keys in headers and URLs are masked. Bodies are kept whole, prompts included: that is what a
recording is for, so nothing is recorded unless the configuration says so.
"""

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any, Final

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import fields

from toolglot.context import Options
from toolglot.errors import DecodeError
from toolglot.exchange import Exchange
from toolglot.gateway.telemetry.logs import LOGGER
from toolglot.gateway.telemetry.redact import redact_headers, redact_url
from toolglot.ir import ApiError, Json
from toolglot.receipt import Receipt
from toolglot.rules import ToolRules
from toolglot.wire import jsontext
from toolglot.wire.event_stream import MEDIA_TYPE as EVENT_STREAM

META: Final = "meta.json"
RECEIPT: Final = "receipt.json"
CONTINUED: Final = "continued.request.json"
_VERSION: Final = 1
_NOT_RECORDED: Final = frozenset({"passes", "event_passes", "response_passes"})
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_FOLDER: Final = re.compile(r"(\d+)-")
_SUFFIXES: Final = {
    "text/event-stream": "sse",
    "application/x-ndjson": "ndjson",
    EVENT_STREAM: "eventstream",
}


class Meta(Struct, kw_only=True, omit_defaults=True):
    """The meta data of a recorded exchange."""

    request_id: str
    client: str
    """The protocol of the client."""

    provider: str
    """The protocol of the provider."""

    path: str = ""
    """The path that the client asked for."""

    model: str = ""
    stream: bool = False
    """Whether the client asked for a stream."""

    options: Json = {}
    """The options of the translation, as `options_to_json` gives them."""

    echo: Json = {}
    """Fields of the response that repeat the client's request."""

    supplied: tuple[tuple[int, str], ...] = ()
    """Reasoning state that the client left out and the gateway had kept, by message."""

    repairs: tuple[str, ...] = ()
    """Repairs of the history, after the provider had refused the request."""

    now: int = 0
    """The time of the translation, in seconds since the epoch."""

    answer_id: str = ""
    """The id that a translated answer got."""

    clock: tuple[int, ...] = ()
    """What the clock of the translation said, in nanoseconds, each time that it was asked."""

    version: int = _VERSION
    started: str = ""
    url: str = ""
    upstream_headers: dict[str, str] = {}
    status: int = 0
    """The status of the provider's response."""

    response_headers: dict[str, str] = {}
    client_status: int = 0
    upstream_chunks: list[tuple[float, int]] = []
    """For each chunk, after how many milliseconds it came and how many bytes it had."""

    client_chunks: list[tuple[float, int]] = []
    request_notes: int | None = None
    """How many notes of the receipt are about the request; the rest are about the answer."""

    attempts: list[Json] = []
    """Earlier attempts of the same request: URL and status."""

    error: ApiError | None = None
    """Why the provider's stream broke off, as far as it is known."""


class Recording:
    """One exchange, kept in memory until it ends."""

    def __init__(self, recorder: "Recorder", meta: Meta) -> None:
        self.meta = meta
        meta.path = redact_url(meta.path)
        meta.started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._recorder = recorder
        self._started = perf_counter()
        self._request = b""
        self._continued = b""
        self._upstream_request: bytes | None = None
        self._upstream_response: list[bytes] = []
        self._client_response: list[bytes] = []
        self._client_type = ""

    def client_request(self, body: bytes) -> None:
        """The client's request."""
        self._request = body

    def translation(self, exchange: Exchange) -> None:
        """How the request is translated for the provider that is asked next."""
        self.meta.provider, self.meta.options = exchange.provider, options_to_json(exchange.options)
        self.meta.now, self.meta.answer_id = exchange.now, exchange.answer_id
        self.meta.repairs = exchange.repairs
        self.meta.request_notes = len(exchange.notes)

    def continued_request(
        self, body: bytes, echo: Mapping[str, Any], supplied: Mapping[int, str] | None = None
    ) -> None:
        """The request with its history and kept reasoning, and what its response repeats of it."""
        self._continued, self.meta.echo = body, dict(echo)
        self.meta.supplied = tuple((supplied or {}).items())

    def upstream_request(self, body: bytes, url: str, headers: Mapping[str, str]) -> None:
        """The request to the provider. A further attempt replaces an earlier one."""
        meta = self.meta
        if self._upstream_request is not None:
            meta.attempts.append({"url": meta.url, "status": meta.status})
            meta.status, meta.response_headers, meta.upstream_chunks = 0, {}, []
            meta.client_status, meta.client_chunks = 0, []
            self._upstream_response.clear()
            self._client_response.clear()
        self._upstream_request = body
        meta.url, meta.upstream_headers = redact_url(url), redact_headers(headers)

    def upstream_response(self, status: int, headers: Mapping[str, str]) -> None:
        """The head of the provider's response."""
        self.meta.status, self.meta.response_headers = status, redact_headers(headers)

    def upstream_chunk(self, data: bytes) -> None:
        """More of the provider's response."""
        self._upstream_response.append(data)
        self.meta.upstream_chunks.append((self._elapsed(), len(data)))

    def client_response(self, status: int, headers: Mapping[str, str]) -> None:
        """The head of the response to the client."""
        self.meta.client_status = status
        self._client_type = _content_type(headers)

    def client_chunk(self, data: bytes) -> None:
        """More of the response to the client, without keep-alive comments."""
        self._client_response.append(data)
        self.meta.client_chunks.append((self._elapsed(), len(data)))

    def end(self, receipt: Receipt | None = None, error: ApiError | None = None) -> None:
        """Write the exchange to disk. `error` is why the provider's stream broke off."""
        self.meta.error = error
        files = {
            META: jsontext.pretty(to_builtins(self.meta)),
            "client.request.json": self._request,
        }
        if self._continued not in (b"", self._request):
            files[CONTINUED] = self._continued
        if self._upstream_request is not None:
            files["upstream.request.json"] = self._upstream_request
        if self._upstream_response:
            received = b"".join(self._upstream_response)
            kind = _suffix(_content_type(self.meta.response_headers), received)
            files[f"upstream.response.{kind}"] = received
        if self._client_response:
            sent = b"".join(self._client_response)
            files[f"client.response.{_suffix(self._client_type, sent)}"] = sent
        if receipt is not None:
            files[RECEIPT] = jsontext.pretty(to_builtins(receipt.notes))
        self._recorder.write(self.meta.request_id, files)

    def _elapsed(self) -> float:
        return round((perf_counter() - self._started) * 1000, 2)


class Recorder:
    """Writes exchanges into a directory, in a thread of its own."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toolglot-record")
        self._failed = 0
        """Recordings that could not be written since the last that could."""

    def start(self, meta: Meta) -> Recording:
        """A recording of an exchange that begins."""
        return Recording(self, meta)

    def write(self, request_id: str, files: Mapping[str, bytes]) -> None:
        """Write the files of one exchange later, in the thread."""
        self._writer.submit(self._write, request_id, files)

    def close(self) -> None:
        """Wait until everything is written."""
        self._writer.shutdown()

    def _write(self, request_id: str, files: Mapping[str, bytes]) -> None:
        name = _UNSAFE.sub("_", request_id)[:80] or "request"
        part = self.directory / f".part-{name}"
        try:
            part.mkdir(mode=0o700)
            for file, data in files.items():
                (part / file).write_bytes(data)
            part.rename(self.directory / f"{self._next():04d}-{name}")
        except OSError as error:
            # A full disk must not break the exchange that was to be recorded, nor fill the log.
            self._failed += 1
            if self._failed == 1:
                LOGGER.warning("cannot record %s, nor others until this is mended: %s", name, error)
            rmtree(part, ignore_errors=True)
            return
        if self._failed:
            LOGGER.warning("recording again; %d exchanges were not recorded", self._failed)
            self._failed = 0

    def _next(self) -> int:
        names = (_FOLDER.match(folder.name) for folder in self.directory.iterdir())
        return max((int(name[1]) for name in names if name), default=0) + 1


# --- reading back ---------------------------------------------------------------------------------


def read_meta(folder: Path) -> Meta:
    """The meta data of a recorded exchange."""
    file = folder / META
    try:
        meta = convert(jsontext.decode(file.read_bytes()), Meta)
    except (DecodeError, ValidationError) as error:
        raise DecodeError(str(file), str(error)) from None
    if meta.version != _VERSION:
        raise DecodeError(str(file), f"version {meta.version} of recordings is not known")
    return meta


def options_to_json(options: Options) -> Json:
    """The options that are not the default, as a recording keeps them; functions are left out."""
    chosen = {field.name: getattr(options, field.name) for field in fields(options)}
    defaults = Options()
    return {
        name: to_builtins(value)
        for name, value in chosen.items()
        if name not in _NOT_RECORDED and value != getattr(defaults, name)
    }


def options_from_json(value: Json) -> Options:
    """What `options_to_json` was given."""
    chosen: dict[str, Any] = dict(value)
    if isinstance(rules := chosen.get("rules"), dict):
        chosen["rules"] = convert(rules, ToolRules)
    if (markers := chosen.get("optional_markers")) is not None:
        chosen["optional_markers"] = tuple(markers)
    return Options(**chosen)


def _content_type(headers: Mapping[str, str]) -> str:
    found = (value for name, value in headers.items() if name.lower() == "content-type")
    return next(found, "").partition(";")[0].strip().lower()


def _suffix(content_type: str, data: bytes) -> str:
    """The suffix of a response's file; some servers send streams with a wrong content type."""
    if data.lstrip().startswith((b"data:", b"event:", b": ")):
        return "sse"
    return _SUFFIXES.get(content_type, "json")
