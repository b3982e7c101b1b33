"""Health, readiness and metrics."""

import time
from typing import Final

from toolglot import __version__
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.route import PlainRequest, Route
from toolglot.gateway.telemetry.metrics import Metrics
from toolglot.gateway.telemetry.prometheus import CONTENT_TYPE
from toolglot.http1.server_response import WholeHttpResponse
from toolglot.registry import PROTOCOLS

_VERSION_PATHS: Final = tuple(
    module.API.version_path for module in PROTOCOLS.values() if module.API.version_path
)


class HealthEndpoints:
    """The handlers, over one relay."""

    def __init__(self, relay: Relay, metrics: Metrics) -> None:
        self._relay, self._metrics = relay, metrics

    @property
    def routes(self) -> tuple[Route, ...]:
        """The paths. That the process lives is nobody's secret; what it does is."""
        return (
            Route("GET", "/", self.health, auth="none"),
            Route("GET", "/health", self.health, auth="none"),
            Route("GET", "/ready", self.ready),
            Route("GET", "/metrics", self.metrics),
            *(Route("GET", path, self.version, auth="none") for path in _VERSION_PATHS),
        )

    async def health(self, _request: PlainRequest) -> WholeHttpResponse:
        """That the process answers."""
        return json_response({"status": "ok", "version": __version__})

    async def ready(self, _request: PlainRequest) -> WholeHttpResponse:
        """Whether requests can be served, and which providers rest."""
        now, upstreams = time.monotonic(), self._relay.router.upstreams
        resting = [name for name, each in upstreams.items() if each.health.resting(now)]
        ready = not upstreams or len(resting) < len(upstreams)
        body = {"status": "ready" if ready else "resting", "resting": resting}
        return json_response(body, 200 if ready else 503)

    async def metrics(self, _request: PlainRequest) -> WholeHttpResponse:
        """All metrics, for Prometheus, with the state of the providers."""
        now = time.monotonic()
        for upstream in self._relay.router.upstreams.values():
            self._metrics.set_breaker(upstream.name, upstream.health.state(now))
        text = self._metrics.text()
        return WholeHttpResponse(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})

    async def version(self, _request: PlainRequest) -> WholeHttpResponse:
        """The version, for clients that request that of their server."""
        return json_response({"version": __version__})
