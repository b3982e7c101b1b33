"""`/{provider}/…`: requests that no protocol here reads, such as files, batches, audio and images.

Bytes go to the provider as they come, with its key in place of the client's, and come back as they
are. Nothing is translated, retried or mended, and tokens cannot be counted; so clients with keys
need a provider with `pass_through = true`, and a key that is limited neither to models nor in
tokens.
"""

import re
from typing import Final

from toolglot.gateway import error_responses as errors
from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.error_responses import FIRST_ERROR, FIRST_REDIRECT, RequestRejectedError
from toolglot.gateway.http.client import OutboundRequest, SendFailure
from toolglot.gateway.http.request_info import given_key, id_of, protocol_of
from toolglot.gateway.incoming import PROVIDER_KEY
from toolglot.gateway.relay.plain_requests import failure_of
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.admission import Admission
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.http1.client_connection import Reply, ReplyError
from toolglot.http1.server_connection import Handler
from toolglot.http1.server_request import HttpRequest
from toolglot.http1.server_response import HttpResponse, StreamedHttpResponse, WholeHttpResponse
from toolglot.ir import Usage

_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_CLIENTS_OWN: Final = frozenset({
    "accept-encoding", "api-key", "authorization", "connection", "content-encoding",
    "content-length", "cookie", "expect", "forwarded", "host", "keep-alive", "origin",
    "proxy-authorization", "proxy-connection", "referer", "te", "trailer", "transfer-encoding",
    "upgrade", "x-api-key", "x-goog-api-key", "x-real-ip", PROVIDER_KEY,
})  # fmt: skip
"""Headers that are between the client and the gateway."""
_BETWEEN_HOPS: Final = ("x-forwarded-", "x-toolglot-", "sec-")
_ANSWERED: Final = frozenset({
    "accept-ranges", "cache-control", "content-disposition", "content-language", "content-range",
    "content-type", "etag", "last-modified", "retry-after",
})  # fmt: skip
"""Headers of a reply that the client gets, beside those of rate limits."""
_VERSION: Final = re.compile(r"v\d[a-z0-9]*|api")
_DOTS: Final = re.compile(r"(?i)(^|/)(\.|%2e){1,2}(/|$)|%2f|%5c|\\")
_ORIGIN: Final = re.compile(r"^[a-z]+://[^/]+")


class PassThrough:
    """Forwards requests under the names of providers."""

    def __init__(self, relay: Relay, admission: Admission) -> None:
        self._relay, self._admission = relay, admission

    def handler_for(self, http: HttpRequest) -> Handler | None:
        """What answers a request at a path that nothing else answers; None: nothing does."""
        name, rest = _split(http.raw_path)
        is_known = name in self._relay.router.upstreams and bool(rest)
        return self._handle if is_known and http.method in _METHODS else None

    async def _handle(self, http: HttpRequest) -> HttpResponse:
        admission = self._admission
        telemetry = admission.begin(http, protocol_of(http))
        admitted, error = None, None
        try:
            admitted = await admission.identify(http, telemetry)
            upstream = self._upstream(http, admitted.holder)
            await admission.count(admitted.holder, "")
            return await self._forward(http, upstream, telemetry)
        except errors.REJECTIONS as problem:
            error = errors.from_rejection(problem)
            raise
        finally:
            admission.end(telemetry, admitted, error)

    def _upstream(self, http: HttpRequest, holder: VirtualKey | None) -> Upstream:
        """The provider, if the client may ask it so."""
        name, _ = _split(http.raw_path)
        upstream = self._relay.router.upstreams[name]
        allowed = upstream.config.pass_through
        if allowed is None:
            allowed = not self._admission.asks_for_keys
        if not allowed:
            words = f"/{name}/… is closed; pass_through = true in [providers.{name}] opens it"
            raise RequestRejectedError(errors.not_allowed(words))
        if holder is not None and (holder.models or holder.counts_tokens):
            words = f"the key {holder.name} is limited to models or in tokens, and neither can be"
            error = errors.not_allowed(f"{words} checked under /{name}/…")
            raise RequestRejectedError(error)
        return upstream

    async def _forward(
        self, http: HttpRequest, upstream: Upstream, telemetry: RequestTelemetry
    ) -> HttpResponse:
        body = await http.read()
        telemetry.record.body_size = len(body)
        headers = {
            name: value
            for name, value in http.headers.lower.items()
            if name not in _CLIENTS_OWN and not name.startswith(_BETWEEN_HOPS)
        }
        own = http.headers.get(PROVIDER_KEY) or given_key(http)
        key = upstream.keys_for(own)[0]
        outbound = OutboundRequest(
            method=http.method,
            url=_address(upstream, http),
            data=body if body or http.method in ("POST", "PUT", "PATCH") else None,
            query={name: value for name, value in http.query.items() if name != "key"},
            headers={**headers, **upstream.headers(key)},
            timeouts=upstream.config.timeouts,
            proxy=upstream.config.proxy,
        )
        with upstream.health:
            with telemetry.waiting():
                reply = await self._relay.client.send(outbound)
            telemetry.asked(upstream.name)
            # Nobody knows what of it are tokens.
            telemetry.completed(Usage())
            if isinstance(reply, SendFailure):
                raise RequestRejectedError(failure_of(upstream.name, reply))
            try:
                return await self._deliver(http, upstream, reply, telemetry)
            finally:
                reply.close()

    async def _deliver(
        self, http: HttpRequest, upstream: Upstream, reply: Reply, telemetry: RequestTelemetry
    ) -> HttpResponse:
        if FIRST_REDIRECT <= reply.status < FIRST_ERROR:
            raise RequestRejectedError(errors.redirected(upstream.name, reply.status))
        headers = {
            name: value
            for name, value in reply.headers.lower.items()
            if name in _ANSWERED or "ratelimit" in name
        }
        headers |= {"x-request-id": id_of(http), "x-toolglot-provider": upstream.name}
        telemetry.client_response(reply.status, headers)
        if reply.status >= FIRST_ERROR:
            most = self._relay.config.server.limits.answer
            try:
                data = await reply.read(most)
            except (ReplyError, OSError, TimeoutError) as error:
                raise RequestRejectedError(errors.broke_off(upstream.name, error)) from None
            return WholeHttpResponse(upstream.keys.hidden(data), reply.status, headers)
        response = StreamedHttpResponse(reply.status, headers)
        response.begin(http)
        try:
            with telemetry.waiting():
                while piece := await reply.read_some():
                    telemetry.record.received += len(piece)
                    await response.write(piece)
        except (ReplyError, OSError, TimeoutError):
            http.abort()  # What was cut must not look complete.
            raise
        response.end()
        return response


def _split(raw_path: str) -> tuple[str, str]:
    """The name of a provider, and the path behind it."""
    name, _, rest = raw_path.lstrip("/").partition("/")
    return name, rest


def _address(upstream: Upstream, http: HttpRequest) -> str:
    """The provider's address for a path, which may begin with the version that is in its base."""
    _, rest = _split(http.raw_path)
    base = upstream.endpoints[0].base_url
    if _DOTS.search(rest) or "{" in base:
        words = f"{http.path}: this path cannot be asked of {upstream.name}"
        raise RequestRejectedError(errors.invalid_request(words))
    first, _, behind = rest.partition("/")
    if _VERSION.fullmatch(first):
        return f"{base}/{behind}"
    origin = _ORIGIN.match(base)
    if origin and any(_VERSION.fullmatch(word) for word in behind.split("/")):
        return f"{origin[0]}/{rest}"
    return f"{base}/{rest}"
