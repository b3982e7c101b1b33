"""The HTTP server: which path means what, and every error in the shape that the caller reads."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

from aiohttp import web

from toolglot.errors import DecodeError
from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.access.authentication import Refusal
from toolglot.gateway.config import Config, Server
from toolglot.gateway.config_reload import watch
from toolglot.gateway.http.client import Client
from toolglot.gateway.http.middleware import FORESEEN, foreseen, stand_at
from toolglot.gateway.relay.incoming import Call, given_key, refused
from toolglot.gateway.relay.reframe import ArrayFraming, GenerateFraming, chat_of
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.conversations import Conversations
from toolglot.gateway.routes.endpoints import Endpoints, error
from toolglot.gateway.routes.model_lists import Catalogue
from toolglot.gateway.routes.responses import Responses
from toolglot.gateway.routes.route import add_ways
from toolglot.gateway.routes.websocket import Sockets
from toolglot.gateway.state.kept_reasoning import KeptReasoning
from toolglot.gateway.state.sessions import Sessions
from toolglot.gateway.storage.backends import open_storage
from toolglot.gateway.telemetry.metrics import Metrics
from toolglot.gateway.telemetry.recorder import Recorder
from toolglot.gateway.telemetry.request_telemetry import Telemetry
from toolglot.gateway.telemetry.tracing import NO_TRACING, Tracing, otlp_tracing
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Answerer = Callable[[Call], Awaitable[web.StreamResponse]]

_IN_PATH: Final = "{model}"
_OPERATIONS: Final = ("generateContent", "streamGenerateContent", "countTokens")
"""What can be asked of a model whose name is in the path."""


def make_app(config: Config, path: Path | None = None) -> web.Application:
    """The gateway as an application; a configuration from a file is read again when it changes."""
    app = web.Application(client_max_size=config.server.max_body)
    client, server = Client(), config.server
    storage = open_storage(server)
    relay = Relay(
        config,
        client,
        access=AccessControl(storage.keys, storage.ledger),
        telemetry=Telemetry(
            metrics=Metrics(worker=str(os.getpid())),
            tracing=_tracing(server),
            recorder=Recorder(server.record) if server.record else None,
        ),
        memory=KeptReasoning(storage.values),
    )
    desk = Endpoints(relay, Catalogue(client))
    _add_doors(app, relay, desk, Sessions(storage.values))
    _add_desk(app, relay, desk)
    stand_at(app, relay)

    async def running(_app: web.Application) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            work = [tasks.create_task(relay.keep_alive())]
            if path is not None:
                work.append(tasks.create_task(watch(path, relay.use)))
            yield
            for task in work:
                task.cancel()
        await client.close()
        relay.close()
        await storage.close()

    app.cleanup_ctx.append(running)
    return app


def _tracing(server: Server) -> Tracing:
    return otlp_tracing(server.traces) if server.traces else NO_TRACING


def _add_doors(app: web.Application, relay: Relay, desk: Endpoints, sessions: Sessions) -> None:
    """Where each protocol is spoken. The version may be left out, as some clients do."""
    for name, codec in PROTOCOLS.items():
        where = codec.SURFACE.path
        if _IN_PATH in where:
            for version in ("v1", "v1beta", "v1alpha"):
                handler = _door(relay, name, _in_path(relay, desk))
                app.router.add_post(f"/{version}/models/{{call:.+}}", handler)
        else:
            for each in _with_and_without_version(where):
                app.router.add_post(each, _door(relay, name, _remembering(relay, sessions), where))
        if codec.SURFACE.earlier_keys:
            _add_state(app, relay, sessions, name)
        count = codec.API.count
        if count is not None and count.path.startswith("/"):
            for each in _with_and_without_version(count.path):
                app.router.add_post(each, _door(relay, name, _counting(desk, sessions)))
    app.router.add_post("/api/generate", _door(relay, "ollama", _generating(relay)))


def _add_state(app: web.Application, relay: Relay, sessions: Sessions, name: str) -> None:
    """What a protocol has in which a request can continue an earlier answer."""
    responses = Responses(relay, sessions, name)
    responses.add_to(app)
    Conversations(relay, sessions).add_to(app)
    sockets = Sockets(relay, sessions, name, _admission(relay))
    app.on_shutdown.append(sockets.leave)
    where = PROTOCOLS[name].SURFACE.path
    for each in _with_and_without_version(where):
        app.router.add_get(each, _known(relay, sockets.handle))
        app.router.add_post(f"{each}/compact", _door(relay, name, responses.compact))


def _add_desk(app: web.Application, relay: Relay, desk: Endpoints) -> None:
    for path in ("/", "/health"):
        app.router.add_get(path, desk.health)
    app.router.add_get("/ready", desk.ready)
    app.router.add_get("/metrics", desk.metrics)
    _add_models(app, relay, desk)
    add_ways(app, relay, (("GET", "/toolglot/receipts/{id:.+}", desk.receipt),))
    app.router.add_post("/toolglot/translate", _known(relay, desk.translate))


def _add_models(app: web.Application, relay: Relay, desk: Endpoints) -> None:
    """Where clients ask for models; several protocols share a path."""
    lists = dict.fromkeys(codec.SURFACE.models for codec in PROTOCOLS.values())
    shown = {codec.SURFACE.models for codec in PROTOCOLS.values() if codec.API.show}
    for where in lists:
        for path in _with_and_without_version(where):
            app.router.add_get(path, _known(relay, desk.models))
        if where not in shown:
            app.router.add_get(f"{where}/{{model:.+}}", _known(relay, desk.model))
    for api in (codec.API for codec in PROTOCOLS.values()):
        if api.show is not None:
            app.router.add_post(api.show.path, _known(relay, desk.show))
        if api.version_path:
            app.router.add_get(api.version_path, desk.version)


def _with_and_without_version(path: str) -> tuple[str, ...]:
    """A path, and the same as clients write it that leave the version out."""
    return (path, path.removeprefix("/v1")) if path.startswith("/v1/") else (path,)


def _known(relay: Relay, handler: Handler) -> Handler:
    """A handler for clients that have a key, where keys are asked for."""

    async def handle(request: web.Request) -> web.StreamResponse:
        await relay.access.authenticate(given_key(request))
        return await handler(request)

    return handle


# --- requests -------------------------------------------------------------------------------------


def _door(relay: Relay, protocol: str, answer: Answerer, path: str = "") -> Handler:
    """What answers requests in a protocol; `path` is the full one if clients may shorten it."""
    admit = _admission(relay)

    async def handle(request: web.Request) -> web.StreamResponse:
        call, failure = relay.call(request, protocol), None
        call.path = path or call.path
        try:
            call.body = await request.read()
            await admit(call)
            return _with_standing(await answer(call), relay.access.rate_limit_headers(call.holder))
        except FORESEEN as problem:
            failure = foreseen(problem, request)
            return refused(call, failure).http()
        except ConnectionError:
            raise  # The client is gone.
        except Exception:
            failure = call.witness.internal_error()
            raise
        finally:
            relay.ended(call, failure)

    return handle


def _with_standing(response: web.StreamResponse, standing: Mapping[str, str]) -> web.StreamResponse:
    """An answer that tells its client how much is left; a stream said so when it began."""
    if standing and not response.prepared:
        response.headers.update(standing)
    return response


def _admission(relay: Relay) -> Callable[[Call], Awaitable[None]]:
    """What lets in whoever may ask for a model, and nobody else."""

    async def admit(call: Call) -> None:
        _look(call)
        call.witness.record.asked_model = call.model
        call.holder = await relay.access.authenticate(call.key)
        call.witness.record.key_id = call.owner
        await relay.access.authorize(call.holder, call.model)

    return admit


def _look(call: Call) -> None:
    """Which model is asked for, and whether as a stream."""
    try:
        seen = jsontext.glance(call.body)
    except DecodeError as problem:
        raise Refusal(error("invalid_request", str(problem), 400)) from None
    surface = PROTOCOLS[call.protocol].SURFACE
    if _IN_PATH in surface.path:
        call.model, call.stream = _called(call.http.match_info["call"])
        call.path = quote(call.path.rstrip("/"), safe="/:@")
        return
    if not isinstance(seen.model, str) or not _is_name(seen.model):
        raise Refusal(error("invalid_request", "model: expected the name of a model", 400))
    call.model = seen.model
    call.stream = surface.stream_default if seen.stream is None else bool(seen.stream)


def _called(words: str) -> tuple[str, bool]:
    """The model in a path, and whether it shall answer as a stream."""
    name, _, operation = words.rstrip("/").rpartition(":")
    if operation not in _OPERATIONS or not _is_name(name):
        expected = ", ".join(f":{each}" for each in _OPERATIONS)
        raise Refusal(error("not_found", f"models/{words}: expected a model and {expected}", 404))
    return name, operation.startswith("stream")


def _is_name(model: str) -> bool:
    """Whether a text can name a model; providers may have it in a path, where dots would climb."""
    return bool(model) and not {".", ".."}.intersection(model.split("/"))


def _in_path(relay: Relay, desk: Endpoints) -> Answerer:
    """What answers where the path says what to do."""

    async def answer(call: Call) -> web.StreamResponse:
        count = PROTOCOLS[call.protocol].API.count
        if count is not None and call.path.endswith(count.path):
            return await desk.count(call)
        if call.stream and call.http.query.get("alt") != "sse":
            call.framing = ArrayFraming()
        return await relay.answer(call)

    return answer


def _remembering(relay: Relay, sessions: Sessions) -> Answerer:
    """What answers most requests; some continue an earlier answer, or are continued."""

    async def answer(call: Call) -> web.StreamResponse:
        sessions.attach(call)
        return await relay.answer(call)

    return answer


def _counting(desk: Endpoints, sessions: Sessions) -> Answerer:
    async def answer(call: Call) -> web.StreamResponse:
        await sessions.expand(call)
        return await desk.count(call)

    return answer


def _generating(relay: Relay) -> Answerer:
    async def answer(call: Call) -> web.StreamResponse:
        try:
            call.body = jsontext.encode(chat_of(read_body(call.body)))
        except DecodeError as problem:
            raise Refusal(error("invalid_request", str(problem), 400)) from None
        call.path, call.framing = "/api/chat", GenerateFraming()
        return await relay.answer(call)

    return answer
