"""The gateway as an application: its parts, put together."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.config import Config
from toolglot.gateway.config_reload import watch
from toolglot.gateway.http.client import Client
from toolglot.gateway.http.host_names import own_host
from toolglot.gateway.http.middleware import Middleware
from toolglot.gateway.inspector.inspector_api import InspectorEndpoints, InspectorSource
from toolglot.gateway.relay.receipt_log import ReceiptLog
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.admission import Admission
from toolglot.gateway.routes.conversations import ConversationEndpoints
from toolglot.gateway.routes.count_tokens import CountEndpoints
from toolglot.gateway.routes.dry_run import dry_run_routes
from toolglot.gateway.routes.embedding_routes import EmbeddingEndpoints
from toolglot.gateway.routes.generation import GenerationEndpoints
from toolglot.gateway.routes.health import HealthEndpoints
from toolglot.gateway.routes.models import ModelEndpoints
from toolglot.gateway.routes.pass_through import PassThrough
from toolglot.gateway.routes.receipts import receipt_routes
from toolglot.gateway.routes.responses import ResponseEndpoints
from toolglot.gateway.routes.route import ModelRoute, Route, add_routes
from toolglot.gateway.routes.websocket import WebSocketEndpoint
from toolglot.gateway.state.kept_reasoning import KeptReasoning
from toolglot.gateway.state.sessions import Sessions
from toolglot.gateway.storage.backends import open_storage
from toolglot.gateway.telemetry.captures import captures_for
from toolglot.gateway.telemetry.metrics import Metrics
from toolglot.gateway.telemetry.recorder import Recorder
from toolglot.gateway.telemetry.request_telemetry import Telemetry
from toolglot.gateway.telemetry.tracing import NO_TRACING, otlp_tracing
from toolglot.http1.url_router import UrlRouter
from toolglot.registry import PROTOCOLS

if TYPE_CHECKING:
    from toolglot.http1.server_connection import Handler


class App:
    """A gateway: how it answers requests, and what runs as long as it does."""

    def __init__(self, config: Config, path: Path | None = None) -> None:
        """A configuration from a file is read again when it changes."""
        server = config.server
        self.config = config
        self._path = path
        self._client, self._storage = Client(), open_storage(server)
        access = AccessControl(self._storage.keys, self._storage.ledger, self._storage.limits)
        self._telemetry = Telemetry(
            metrics=Metrics(worker=str(os.getpid())),
            tracing=otlp_tracing(server.traces) if server.traces else NO_TRACING,
            recorder=Recorder(server.record) if server.record else None,
            captures=captures_for(server),
        )
        admission = Admission(access, self._telemetry, server)
        self._relay = Relay(config, self._client, access, KeptReasoning(self._storage.values))
        self._sockets: list[WebSocketEndpoint] = []
        self._inspector: InspectorEndpoints | None = None
        router: UrlRouter[Handler] = UrlRouter()
        self.routes = tuple(
            self._routes(admission, Sessions(self._storage.values, server.max_body))
        )
        """All paths at which it answers."""
        add_routes(router, admission, self.routes)
        own = None if server.keys else own_host(server)
        origins = lambda: self._relay.config.server.origins  # noqa: E731
        elsewhere = PassThrough(self._relay, admission).handler_for
        self.handle = Middleware(router, origins, own, elsewhere).handle
        """Answers a request."""
        reports: UrlRouter[Handler] = UrlRouter()
        health = HealthEndpoints(self._relay, self._telemetry.metrics)
        add_routes(reports, admission, (replace(each, auth="none") for each in health.routes))
        self.handle_admin = Middleware(reports, tuple, own_host(server)).handle
        """Answers a request on the listener of the administrator."""

    @property
    def receipts(self) -> ReceiptLog:
        """The receipts of earlier requests."""
        return self._relay.receipts

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Everything that runs beside the requests."""
        # Loose tasks, because whatever happens to them must not end the requests.
        start = asyncio.get_running_loop().create_task
        work = [start(self._relay.keep_alive())]
        if self._path is not None:
            work.append(start(watch(self._path, self._relay.use)))
        try:
            yield
        finally:
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            await self._client.close()
            self._telemetry.close()
            await self._storage.close()

    async def shut_down(self) -> None:
        """No more requests are accepted: close WebSockets when their answers are complete."""
        if self._inspector is not None:
            self._inspector.close()
        for socket in self._sockets:
            await socket.close()

    def _routes(self, admission: Admission, sessions: Sessions) -> list[Route | ModelRoute]:
        relay = self._relay
        count, embed = CountEndpoints(relay, sessions), EmbeddingEndpoints(relay)
        routes: list[Route | ModelRoute] = [
            *HealthEndpoints(relay, admission.telemetry.metrics).routes,
            *GenerationEndpoints(relay, sessions, count, embed).routes,
            *count.routes,
            *embed.routes,
            *ModelEndpoints(relay).routes,
            *ConversationEndpoints(sessions).routes,
            *receipt_routes(relay.receipts),
            *dry_run_routes(relay, admission),
        ]
        # Protocols in which a request can continue an earlier answer.
        for name in (name for name, codec in PROTOCOLS.items() if codec.SURFACE.earlier_keys):
            socket = WebSocketEndpoint(relay, sessions, admission, name)
            self._sockets.append(socket)
            routes += (*socket.routes, *ResponseEndpoints(relay, sessions, name).routes)
        if admission.telemetry.captures is not None:
            self._inspector = InspectorEndpoints(self._inspected(admission))
            routes += self._inspector.routes
        return routes

    def _inspected(self, admission: Admission) -> InspectorSource:
        captures, server = admission.telemetry.captures, self.config.server
        if captures is None:
            raise AssertionError  # pragma: no cover - the caller asked
        return InspectorSource(
            captures=captures,
            keys=server.keys,
            router=lambda: self._relay.router,
            admit=lambda request, model: admission.count(request.holder, model),
            record=server.record or "",
        )
