"""An exchange to take away: as a curl command, as Python, or as a case for `toolglot replay`."""

import io
import shlex
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from msgspec import to_builtins

from toolglot.gateway.inspector.exchange_detail import body_of
from toolglot.gateway.inspector.exchange_facts import body_kind, content_type
from toolglot.gateway.telemetry.captures import CapturedExchange
from toolglot.gateway.telemetry.recorder import CONTINUED, META, RECEIPT, Meta, options_to_json
from toolglot.gateway.telemetry.redact import redact_headers, redact_url
from toolglot.wire import jsontext

KEY: Final = "TOOLGLOT_KEY"
_KEPT: Final = ("user-agent",)
_PREFIXES: Final = ("anthropic-", "openai-", "x-goog-api-client")


def as_curl(exchange: CapturedExchange, url: str, *, keys: bool) -> str:
    """A command that sends the client's request again."""
    headers = " ".join(f"-H {shlex.quote(each)}" for each in _headers(exchange, keys=keys))
    body = exchange.body.decode("utf-8", "replace")
    if keys:  # The shell fills in the key.
        headers = headers.replace(
            f"'Authorization: Bearer ${KEY}'", f'"Authorization: Bearer ${KEY}"'
        )
    return (
        f"curl -N {shlex.quote(url + redact_url(exchange.path))} {headers} -d {shlex.quote(body)}\n"
    )


def as_python(exchange: CapturedExchange, url: str, *, keys: bool) -> str:
    """A script that does so, with nothing but the standard library."""
    headers = dict(each.split(": ", 1) for each in _headers(exchange, keys=False))
    given = ", ".join(f"{name!r}: {value!r}" for name, value in headers.items())
    if keys:
        given += f', "Authorization": "Bearer " + os.environ["{KEY}"]'
    body = exchange.body.decode("utf-8", "replace")
    return (
        f"{'import os' if keys else ''}\nfrom urllib.request import Request, urlopen\n\n"
        f"body = {body!r}\n"
        f"request = Request({(url + redact_url(exchange.path))!r}, body.encode(), {{{given}}})\n"
        "with urlopen(request) as reply:\n    for line in reply:\n"
        '        print(line.decode(), end="")\n'
    ).lstrip()


def _headers(exchange: CapturedExchange, *, keys: bool) -> list[str]:
    given = redact_headers(exchange.headers)
    chosen = [
        f"{name}: {value}"
        for name, value in given.items()
        if name in _KEPT or name.startswith(_PREFIXES)
    ]
    bearer = [f"Authorization: Bearer ${KEY}"] if keys else []
    return ["Content-Type: application/json", *bearer, *chosen]


def as_case(exchange: CapturedExchange) -> bytes:
    """A folder for `toolglot replay`, zipped."""
    folder = f"{exchange.number:04d}-{_plain(exchange.request_id)}"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in case_files(exchange).items():
            archive.writestr(f"{folder}/{name}", data)
    return packed.getvalue()


def case_files(exchange: CapturedExchange) -> Mapping[str, bytes]:
    """The files of a recording, as `toolglot serve --record` writes them."""
    attempt = exchange.attempt
    meta = Meta(
        request_id=exchange.request_id,
        client=exchange.protocol,
        provider=attempt.protocol if attempt else exchange.protocol,
        path=redact_url(exchange.path),
        model=exchange.model,
        stream=exchange.stream,
        options=options_to_json(attempt.translation) if attempt and attempt.translation else {},
        now=attempt.now if attempt else 0,
        repairs=attempt.repairs if attempt else (),
        answer_id=attempt.answer_id if attempt else "",
        echo=dict(attempt.echo) if attempt else {},
        supplied=tuple(attempt.supplied.items()) if attempt else (),
        clock=exchange.readings,
        started=datetime.fromtimestamp(exchange.started, UTC).isoformat(timespec="milliseconds"),
        url=redact_url(attempt.url) if attempt else "",
        upstream_headers=redact_headers(attempt.headers) if attempt else {},
        status=attempt.status if attempt else 0,
        response_headers=redact_headers(attempt.response_headers) if attempt else {},
        client_status=exchange.status,
        upstream_chunks=_chunks(exchange, attempt.chunks if attempt else []),
        client_chunks=_chunks(exchange, exchange.chunks),
        attempts=[
            {"url": redact_url(each.url), "status": each.status} for each in exchange.attempts[:-1]
        ],
        error=exchange.error,
    )
    files = {META: jsontext.pretty(to_builtins(meta)), "client.request.json": exchange.body}
    if exchange.asked != exchange.body:
        files[CONTINUED] = exchange.asked
    if attempt is not None and attempt.body:
        files["upstream.request.json"] = attempt.body
        received = body_of(exchange, "upstream-response")
        if received:
            kind = body_kind(content_type(attempt.response_headers), received)
            files[f"upstream.response.{kind}"] = received
    if sent := body_of(exchange, "client-response"):
        files[f"client.response.{body_kind(content_type(exchange.response_headers), sent)}"] = sent
    files[RECEIPT] = jsontext.pretty(to_builtins(exchange.notes))
    return files


def _chunks(
    exchange: CapturedExchange, chunks: list[tuple[float, bytes]]
) -> list[tuple[float, int]]:
    return [(round((at - exchange.clock) * 1000, 2), len(data)) for at, data in chunks]


def _plain(text: str) -> str:
    return "".join(each if each.isalnum() or each in "._-" else "_" for each in text)[:80]
