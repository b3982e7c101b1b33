"""Whether a provider is at its address: found out when the gateway starts, and by `doctor`.

The list of models is asked for, and where there is none, the path of a request with an empty one:
a server that speaks the protocol rejects it, at no cost, and any other does not know the path.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

from toolglot.api import listed_models
from toolglot.base_urls import alternatives
from toolglot.gateway.checks.discovery_client import connection_advice
from toolglot.gateway.config import Config, ConfigError
from toolglot.gateway.http.client import QUICK, Client, OutboundRequest
from toolglot.gateway.relay.missing_path import is_missing_path, json_in
from toolglot.gateway.relay.providers import Upstream, make_upstreams
from toolglot.gateway.telemetry.redact import redact_url, scrub
from toolglot.http1.client_connection import ReplyError
from toolglot.profiles import Endpoint
from toolglot.registry import PROTOCOLS, get_protocol

_FIRST_ERROR: Final = 400
_NO_SUCH: Final = frozenset({404, 405, 410, 501})
_REDIRECTS: Final = range(300, 400)
_FAILURES: Final = (ReplyError, OSError, ValueError)
_MODEL: Final = "none"


async def address_warnings(config: Config) -> AsyncIterator[str]:
    """What is wrong with the addresses that a configuration gives, as it is found out."""
    try:
        upstreams = make_upstreams(config)
    except ConfigError:
        return  # The gateway says so itself.
    client = Client()
    try:
        given = [each for each in upstreams.values() if each.config.base_url is not None]
        for done in asyncio.as_completed([_named_problem(client, each) for each in given]):
            if words := await done:
                yield words
    finally:
        await client.close()


async def _named_problem(client: Client, upstream: Upstream) -> str:
    problem = await address_problem(client, upstream)
    return f"provider {upstream.name}: {problem}" if problem else ""


async def address_problem(client: Client, upstream: Upstream) -> str:
    """What is wrong with a provider's address: the URL that was tried and what answered there."""
    protocol = upstream.endpoints[0].protocol
    listed = upstream.small_request(protocol, get_protocol(protocol).SURFACE.models)
    try:
        status, body = await client.look(listed)
        return await list_problem(client, upstream, status, body)
    except TimeoutError:
        return f"{redact_url(listed.url)}: no answer within {QUICK:g} seconds"
    except _FAILURES as error:
        return scrub(f"{redact_url(listed.url)}: {_connection_problem(error, listed.url)}")


async def list_problem(client: Client, upstream: Upstream, status: int, body: bytes) -> str:
    """The same for a provider that replied so to the question for its models."""
    endpoint = upstream.endpoints[0]
    if status in _NO_SUCH or status in _REDIRECTS:
        url, problem = await _ask_for_nothing(client, upstream, endpoint)
    elif status < _FIRST_ERROR:
        models = get_protocol(endpoint.protocol).SURFACE.models
        url = upstream.url(endpoint.protocol, models, _MODEL)
        problem = _shape_problem(endpoint.protocol, body)
    else:
        return ""  # It wants a key, or has other troubles; it is there.
    if not problem:
        return ""
    return f"{redact_url(url)}: {problem}{await _hint(client, upstream, endpoint)}"


def _connection_problem(error: Exception, url: str) -> str:
    if isinstance(error, ValueError):
        return "this is not a valid URL; check base_url"
    return connection_advice(error, url)


def _shape_problem(protocol: str, body: bytes) -> str:
    """What is wrong with a list of models."""
    value = json_in(body)
    if value is None:
        what = "a page of HTML" if body.lstrip().startswith(b"<") else "something else than JSON"
        return f"answered with {what}; this is not the address of an API"
    entries = listed_models(value).values()
    if not entries or _is_list_of(protocol, entries):
        return ""
    other = next((name for name in PROTOCOLS if _is_list_of(name, entries)), None)
    if other is None or _shares_list(protocol, other):
        return ""
    return f"answered in the shape of {other}, not of {protocol}; check protocol and base_url"


def _is_list_of(protocol: str, entries: Iterable[Any]) -> bool:
    return all(get_protocol(protocol).API.is_listed_model(each) for each in entries)


def _shares_list(one: str, other: str) -> bool:
    """Whether two protocols list models at one path, where servers choose the shape."""
    return get_protocol(one).SURFACE.models == get_protocol(other).SURFACE.models


async def _ask_for_nothing(
    client: Client, upstream: Upstream, endpoint: Endpoint
) -> tuple[str, str]:
    """The URL of a request, and what is wrong with the reply to an empty one."""
    request = _empty_request(upstream, endpoint)
    status, body = await client.look(request)
    if is_missing_path(status, body) or status in _NO_SUCH - {404}:
        return request.url, f"answered {status}{_shape(body)}: there is no such path"
    if status in _REDIRECTS:
        return request.url, f"answered {status}, a redirect; give the address that it leads to"
    if body.lstrip().startswith(b"<") and status < _FIRST_ERROR:
        return request.url, "answered with a page of HTML; this is not the address of an API"
    return request.url, ""


def _empty_request(upstream: Upstream, endpoint: Endpoint) -> OutboundRequest:
    path = get_protocol(endpoint.protocol).SURFACE.path.format(model=_MODEL)
    request = upstream.small_request(endpoint.protocol, path, b"{}")
    values = {"model": upstream.deployment or _MODEL, **upstream.config.values}
    return OutboundRequest(
        url=endpoint.url(path, **values), data=b"{}", headers=request.headers, proxy=request.proxy
    )


def _shape(body: bytes) -> str:
    return " with a page of HTML" if body.lstrip().startswith(b"<") else ""


async def _hint(client: Client, upstream: Upstream, endpoint: Endpoint) -> str:
    """Another address that knows the path, if there is one."""
    for base in alternatives(endpoint.base_url, endpoint.protocol):
        other = Endpoint(protocol=endpoint.protocol, base_url=base, query=endpoint.query)
        try:
            _, problem = await _ask_for_nothing(client, upstream, other)
        except (TimeoutError, *_FAILURES):
            continue
        if not problem:
            return f"; did you mean {redact_url(base)}?"
    return ""
