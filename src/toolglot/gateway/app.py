"""The gateway as an application: its parts, put together."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import web

from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.config import Config
from toolglot.gateway.config_reload import watch
from toolglot.gateway.http.client import Client
from toolglot.gateway.http.middleware import add_middleware
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.admission import Admission
from toolglot.gateway.routes.conversations import ConversationEndpoints
from toolglot.gateway.routes.count_tokens import CountEndpoints
from toolglot.gateway.routes.dry_run import dry_run_routes
from toolglot.gateway.routes.generation import GenerationEndpoints
from toolglot.gateway.routes.health import HealthEndpoints
from toolglot.gateway.routes.models import ModelEndpoints
from toolglot.gateway.routes.receipts import receipt_routes
from toolglot.gateway.routes.responses import ResponseEndpoints
from toolglot.gateway.routes.route import ModelRoute, Route, add_routes
from toolglot.gateway.routes.websocket import WebSocketEndpoint
from toolglot.gateway.state.kept_reasoning import KeptReasoning
from toolglot.gateway.state.sessions import Sessions
from toolglot.gateway.storage.backends import open_storage
from toolglot.gateway.telemetry.metrics import Metrics
from toolglot.gateway.telemetry.recorder import Recorder
from toolglot.gateway.telemetry.request_telemetry import Telemetry
from toolglot.gateway.telemetry.tracing import NO_TRACING, otlp_tracing
from toolglot.registry import PROTOCOLS


def make_app(config: Config, path: Path | None = None) -> web.Application:
    """The gateway as an application; a configuration from a file is read again when it changes."""
    server = config.server
    client, storage = Client(), open_storage(server)
    access = AccessControl(storage.keys, storage.ledger)
    telemetry = Telemetry(
        metrics=Metrics(worker=str(os.getpid())),
        tracing=otlp_tracing(server.traces) if server.traces else NO_TRACING,
        recorder=Recorder(server.record) if server.record else None,
    )
    admission = Admission(access, telemetry)
    relay = Relay(config, client, access, KeptReasoning(storage.values))
    app = web.Application(client_max_size=server.max_body)
    _add_routes(app, relay, admission, Sessions(storage.values))
    add_middleware(app, lambda: relay.config.server.origins)

    async def running(_app: web.Application) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            work = [tasks.create_task(relay.keep_alive())]
            if path is not None:
                work.append(tasks.create_task(watch(path, relay.use)))
            yield
            for task in work:
                task.cancel()
        await client.close()
        telemetry.close()
        await storage.close()

    app.cleanup_ctx.append(running)
    return app


def _add_routes(
    app: web.Application, relay: Relay, admission: Admission, sessions: Sessions
) -> None:
    count = CountEndpoints(relay, sessions)
    routes: list[Route | ModelRoute] = [
        *HealthEndpoints(relay, admission.telemetry.metrics).routes,
        *GenerationEndpoints(relay, sessions, count).routes,
        *count.routes,
        *ModelEndpoints(relay).routes,
        *ConversationEndpoints(sessions).routes,
        *receipt_routes(relay.receipts),
        *dry_run_routes(relay),
    ]
    # Protocols in which a request can continue an earlier answer.
    for name in (name for name, codec in PROTOCOLS.items() if codec.SURFACE.earlier_keys):
        socket = WebSocketEndpoint(relay, sessions, admission, name)
        app.on_shutdown.append(socket.close)
        routes += (*socket.routes, *ResponseEndpoints(relay, sessions, name).routes)
    add_routes(app, admission, routes)
