"""The HTTP server: which path means what, and every error in the shape that the caller reads."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import unquote

from aiohttp import web

from toolglot.errors import DecodeError
from toolglot.gateway.config import Config
from toolglot.gateway.providers import make_upstreams
from toolglot.gateway.relay import Call, Refusal, Relay, refused
from toolglot.gateway.routing import Router
from toolglot.gateway.upstream import Client
from toolglot.ir import ApiError, ErrorKind
from toolglot.registry import get_protocol
from toolglot.wire import jsontext

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

RELAY: Final = web.AppKey("relay", Relay)
CLIENT: Final = web.AppKey("client", Client)

_DOORS: Final = {
    "/v1/messages": "anthropic",
    "/v1/chat/completions": "openai-chat",
    "/v1/responses": "openai-responses",
    "/api/chat": "ollama",
}
"""Where each protocol is spoken. The version may be left out, as some clients do."""

_STREAMING: Final = "streamGenerateContent"
_TRUE: Final = frozenset({"1", "true", "yes", "on"})


def make_app(config: Config) -> web.Application:
    """The gateway as an application."""
    app = web.Application(client_max_size=config.server.max_body)
    for path, protocol in _DOORS.items():
        for each in {path, path.removeprefix("/v1")}:
            app.router.add_post(each, _door(protocol))
    for version in ("v1", "v1beta", "v1alpha"):
        app.router.add_post(f"/{version}/models/{{call:.+}}", _door("gemini"))
    app.router.add_get("/health", _health)
    app.router.add_get("/toolglot/receipts/{id}", _receipt)
    app.router.add_route("*", "/{path:.*}", _nowhere)
    app.cleanup_ctx.append(lambda app: _running(app, config))
    return app


async def _running(app: web.Application, config: Config):  # type: ignore[no-untyped-def]  # noqa: ANN202
    app[CLIENT] = Client()
    app[RELAY] = Relay(config, Router(config, make_upstreams(config)), app[CLIENT])
    yield
    await app[CLIENT].close()


# --- requests -------------------------------------------------------------------------------------


def _door(protocol: str) -> Handler:
    """What answers requests in a protocol."""

    async def handle(request: web.Request) -> web.StreamResponse:
        call = Call(
            http=request,
            protocol=protocol,
            path=request.path,
            body=b"",
            model="",
            stream=False,
            id=request_id(request),
            strict=request.headers.get("x-toolglot-strict", "").lower() in _TRUE,
            key=given_key(request),
        )
        try:
            await _read(call)
            return await request.app[RELAY].answer(call)
        except Refusal as refusal:
            return refused(call, refusal.error)
        except web.HTTPRequestEntityTooLarge:
            limit = request.app[RELAY].config.server.max_body
            return refused(call, _error("too_large", f"more than {limit} bytes", 413))

    return handle


async def _read(call: Call) -> None:
    call.body = await call.http.read()
    try:
        seen = jsontext.glance(call.body)
    except DecodeError as error:
        raise Refusal(_error("invalid_request", str(error), 400)) from None
    surface = get_protocol(call.protocol).SURFACE
    if "{model}" in surface.path:
        name, _, operation = call.http.match_info["call"].rpartition(":")
        call.model, call.stream = unquote(name), operation == _STREAMING
        return
    if not isinstance(seen.model, str) or not seen.model:
        raise Refusal(_error("invalid_request", "model: expected the name of a model", 400))
    call.model = seen.model
    call.stream = surface.stream_default if seen.stream is None else bool(seen.stream)


def given_key(request: web.Request) -> str | None:
    """The key that a client gives, wherever its protocol has it."""
    headers = request.headers
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token.strip()
    named = headers.get("x-api-key") or headers.get("x-goog-api-key") or headers.get("api-key")
    return named or request.query.get("key")


def request_id(request: web.Request) -> str:
    """The id that the client gave its request, or a new one."""
    given = request.headers.get("x-request-id", "")
    return given if 0 < len(given) <= 128 and given.isascii() and given.isprintable() else _new_id()  # noqa: PLR2004


def _new_id() -> str:
    return f"req_{secrets.token_hex(12)}"


# --- everything else ------------------------------------------------------------------------------


async def _health(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


async def _receipt(request: web.Request) -> web.Response:
    found = request.app[RELAY].receipts.get(request.match_info["id"])
    if found is None:
        return _refuse(request, _error("not_found", "no receipt of that request", 404))
    return web.Response(body=jsontext.encode(found), content_type="application/json")


async def _nowhere(request: web.Request) -> web.Response:
    message = f"{request.method} {request.path}: there is nothing here"
    return _refuse(request, _error("not_found", message, 404))


def _refuse(request: web.Request, error: ApiError) -> web.Response:
    call = Call(
        http=request,
        protocol=caller(request),
        path=request.path,
        body=b"",
        model="",
        stream=False,
        id=request_id(request),
    )
    return refused(call, error)


def caller(request: web.Request) -> str:
    """The protocol that whoever asks most likely speaks, where the path does not say it."""
    headers = request.headers
    if "anthropic-version" in headers or "/messages" in request.path:
        return "anthropic"
    if "x-goog-api-key" in headers or "x-goog-api-client" in headers:
        return "gemini"
    if request.path.startswith("/api/"):
        return "ollama"
    return "openai-responses" if "/responses" in request.path else "openai-chat"


def _error(kind: ErrorKind, message: str, status: int) -> ApiError:
    return ApiError(kind=kind, message=message, status=status)
