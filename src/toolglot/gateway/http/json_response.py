"""JSON over HTTP: small responses, and errors in the client's protocol."""

from collections.abc import Mapping
from typing import Final

from aiohttp import web

from toolglot.gateway.error_responses import render
from toolglot.gateway.http.request_info import id_of, protocol_of
from toolglot.ir import ApiError, Json
from toolglot.wire import jsontext

JSON: Final = "application/json"


def json_response(
    body: Json, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    """A JSON response."""
    return web.Response(
        body=jsontext.encode(body), status=status, content_type=JSON, headers=headers
    )


def error_response(request: web.Request, error: ApiError) -> web.Response:
    """An error of our own in the client's protocol."""
    wire = render(error, protocol_of(request))
    headers = {**wire.headers, "Content-Type": JSON, "x-request-id": id_of(request)}
    return web.Response(body=wire.data(), status=wire.status, headers=headers)
