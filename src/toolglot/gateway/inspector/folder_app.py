"""The inspector over a folder of recordings, without a gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.config import Config
from toolglot.gateway.http.host_names import own_host
from toolglot.gateway.http.middleware import Middleware
from toolglot.gateway.inspector.inspector_api import InspectorEndpoints, InspectorSource
from toolglot.gateway.routes.admission import Admission
from toolglot.gateway.routes.route import add_routes
from toolglot.gateway.telemetry.captures import Captures
from toolglot.gateway.telemetry.request_telemetry import Telemetry
from toolglot.http1.url_router import UrlRouter
from toolglot.ir import Json

if TYPE_CHECKING:
    from toolglot.http1.server_connection import Handler


class FolderApp:
    """Serves the page and the API, and nothing else."""

    def __init__(self, captures: Captures, folder: str) -> None:
        self.config = Config()
        self._inspector = InspectorEndpoints(InspectorSource(captures=captures, record=folder))
        router: UrlRouter[Handler] = UrlRouter()
        add_routes(router, Admission(AccessControl(), Telemetry()), self._inspector.routes)
        self.handle = Middleware(router, tuple, own_host(self.config.server)).handle
        """Answers a request."""
        self.handle_admin = self.handle
        """There is no listener of an administrator."""

    @property
    def info(self) -> Json:
        """What there is, as the API says it."""
        return self._inspector.info_of("")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Nothing runs beside the requests."""
        yield

    async def shut_down(self) -> None:
        """Let open pages go."""
        self._inspector.close()
