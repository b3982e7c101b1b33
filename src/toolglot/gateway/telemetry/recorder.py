"""Recording exchanges, each as a folder that `toolglot replay` can run again offline.

    0007-req_1/
      meta.json                 protocols, options, time, URL, headers, statuses, sizes of chunks
      client.request.json       what the client asked, byte for byte
      continued.request.json    the same with what came before it, if it continues an answer
      upstream.request.json     what the provider was asked
      upstream.response.sse     what it answered (.json, .sse or .ndjson)
      client.response.sse       what the client got
      receipt.json              what the translation changed

Keys in headers and URLs are masked. Bodies are kept whole, prompts included: that is what a
recording is for, so nothing is recorded unless the user asks for it.
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
from toolglot.gateway.telemetry.logs import LOGGER
from toolglot.gateway.telemetry.redact import redact_headers, redact_url
from toolglot.ir import ApiError, Json
from toolglot.receipt import Receipt
from toolglot.rules import ToolRules
from toolglot.wire import jsontext

META: Final = "meta.json"
RECEIPT: Final = "receipt.json"
CONTINUED: Final = "continued.request.json"
_VERSION: Final = 1
_NOT_RECORDED: Final = frozenset({"passes", "event_passes", "response_passes"})
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_FOLDER: Final = re.compile(r"(\d+)-")
_SUFFIXES: Final = {"text/event-stream": "sse", "application/x-ndjson": "ndjson"}


class Meta(Struct, kw_only=True, omit_defaults=True):
    """What is known of an exchange before it begins, and what is learnt on the way."""

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
    """What the answer repeats of a request that continues another."""

    supplied: tuple[tuple[int, str], ...] = ()
    """The state that the client had left out and the gateway had kept, by message."""

    now: int = 0
    """The time that the translation was told, in seconds since the epoch."""

    version: int = _VERSION
    started: str = ""
    url: str = ""
    upstream_headers: dict[str, str] = {}
    status: int = 0
    """The status that the provider answered with."""

    response_headers: dict[str, str] = {}
    client_status: int = 0
    upstream_chunks: list[tuple[float, int]] = []
    """For each chunk, after how many milliseconds it came and how many bytes it had."""

    client_chunks: list[tuple[float, int]] = []
    attempts: list[Json] = []
    """Earlier attempts of the same request: URL and status."""

    error: ApiError | None = None
    """Why the provider's stream broke off, as far as the gateway knew."""


class Recording:
    """One exchange, kept in memory until it ends."""

    def __init__(self, recorder: "Recorder", meta: Meta) -> None:
        self.meta = meta
        meta.path = redact_url(meta.path)
        meta.started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._recorder = recorder
        self._started = perf_counter()
        self._asked = b""
        self._continued = b""
        self._sent: bytes | None = None
        self._answer: list[bytes] = []
        self._shown: list[bytes] = []
        self._shown_type = ""

    def client_request(self, body: bytes) -> None:
        """What the client asked."""
        self._asked = body

    def turn_to(self, provider: str, options: Json, now: int) -> None:
        """How the request is translated for the provider that is asked next."""
        self.meta.provider, self.meta.options, self.meta.now = provider, options, now

    def continues(
        self, asked: bytes, echo: Mapping[str, Any], supplied: Mapping[int, str] | None = None
    ) -> None:
        """The request with what came before it and what was kept for it, and what its answer
        repeats.
        """
        self._continued, self.meta.echo = asked, dict(echo)
        self.meta.supplied = tuple((supplied or {}).items())

    def upstream_request(self, body: bytes, url: str, headers: Mapping[str, str]) -> None:
        """What the provider is asked. A further attempt replaces an earlier one."""
        meta = self.meta
        if self._sent is not None:
            meta.attempts.append({"url": meta.url, "status": meta.status})
            meta.status, meta.response_headers, meta.upstream_chunks = 0, {}, []
            meta.client_status, meta.client_chunks = 0, []
            self._answer.clear()
            self._shown.clear()
        self._sent = body
        meta.url, meta.upstream_headers = redact_url(url), redact_headers(headers)

    def upstream_response(self, status: int, headers: Mapping[str, str]) -> None:
        """How the provider's answer begins."""
        self.meta.status, self.meta.response_headers = status, redact_headers(headers)

    def upstream_chunk(self, data: bytes) -> None:
        """More of the provider's answer."""
        self._answer.append(data)
        self.meta.upstream_chunks.append((self._elapsed(), len(data)))

    def client_response(self, status: int, headers: Mapping[str, str]) -> None:
        """How the client's answer begins."""
        self.meta.client_status = status
        self._shown_type = _content_type(headers)

    def client_chunk(self, data: bytes) -> None:
        """More of the client's answer, as translated: without what only keeps a line open."""
        self._shown.append(data)
        self.meta.client_chunks.append((self._elapsed(), len(data)))

    def end(self, receipt: Receipt | None = None, error: ApiError | None = None) -> None:
        """Write it down, in another thread. `error` is why the provider's stream broke off."""
        self.meta.error = error
        files = {META: jsontext.pretty(to_builtins(self.meta)), "client.request.json": self._asked}
        if self._continued not in (b"", self._asked):
            files[CONTINUED] = self._continued
        if self._sent is not None:
            files["upstream.request.json"] = self._sent
        if self._answer:
            answer = b"".join(self._answer)
            kind = _suffix(_content_type(self.meta.response_headers), answer)
            files[f"upstream.response.{kind}"] = answer
        if self._shown:
            shown = b"".join(self._shown)
            files[f"client.response.{_suffix(self._shown_type, shown)}"] = shown
        if receipt is not None:
            files[RECEIPT] = jsontext.pretty(to_builtins(receipt.notes))
        self._recorder.write(self.meta.request_id, files)

    def _elapsed(self) -> float:
        return round((perf_counter() - self._started) * 1000, 2)


class Recorder:
    """Writes exchanges into a directory, one after the other."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toolglot-record")

    def begin(self, meta: Meta) -> Recording:
        """An exchange begins."""
        return Recording(self, meta)

    def write(self, request_id: str, files: Mapping[str, bytes]) -> None:
        """Write the files of one exchange, in another thread."""
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
            # A full disk must not break the exchange that was to be recorded.
            LOGGER.warning("cannot record %s: %s", request_id, error)
            rmtree(part, ignore_errors=True)

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
    """How the file of an answer ends; some servers call a stream by no name or a wrong one."""
    if data.lstrip().startswith((b"data:", b"event:", b": ")):
        return "sse"
    return _SUFFIXES.get(content_type, "json")
