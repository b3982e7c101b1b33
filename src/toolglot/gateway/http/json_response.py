"""JSON over HTTP: small responses, and errors in the client's protocol."""

from collections.abc import Mapping
from typing import Final

from toolglot.gateway.error_responses import render
from toolglot.gateway.http.request_info import id_of, protocol_of
from toolglot.http1.server_request import HttpRequest
from toolglot.http1.server_response import WholeHttpResponse
from toolglot.ir import ApiError, Json
from toolglot.wire import jsontext

JSON: Final = "application/json"


def json_response(
    body: Json, status: int = 200, headers: Mapping[str, str] | None = None
) -> WholeHttpResponse:
    """A JSON response."""
    return WholeHttpResponse(
        jsontext.encode(body), status, {"Content-Type": f"{JSON}; charset=utf-8", **(headers or {})}
    )


def error_response(request: HttpRequest, error: ApiError) -> WholeHttpResponse:
    """An error of our own in the client's protocol."""
    wire = render(error, protocol_of(request))
    headers = {**wire.headers, "Content-Type": JSON, "x-request-id": id_of(request)}
    return WholeHttpResponse(body=wire.data(), status=wire.status, headers=headers)
