"""Checks a provider for `toolglot doctor`: can it be reached, is its key accepted, do tools work.

The tool loop runs through a gateway of its own on a free port, so that what works here works for
clients.
"""

import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace
from yarl import URL

from toolglot.api import listed_models
from toolglot.gateway.app import make_app
from toolglot.gateway.checks.address_check import list_problem
from toolglot.gateway.checks.discovery_client import connection_advice
from toolglot.gateway.checks.tool_loop import ToolLoopResult, run_tool_loop
from toolglot.gateway.config import CLIENT, DEMO, Config, ConfigError, Provider, read_secret
from toolglot.gateway.http.client import QUICK, Client
from toolglot.gateway.relay.missing_path import json_in
from toolglot.gateway.relay.providers import Upstream, make_upstreams
from toolglot.gateway.routes.model_lists import DEMO_MODEL
from toolglot.gateway.telemetry.redact import mask, redact_url, scrub
from toolglot.ir import ErrorKind
from toolglot.profiles import family_of, get_profile
from toolglot.registry import PROTOCOLS, get_protocol

Progress = Callable[[str], None]

_NO_CHAT: Final = re.compile(
    r"embed|whisper|tts|dall-e|image|audio|realtime|moderation|transcri|rerank|ocr|speech|sora"
    r"|veo|imagen|babbage|davinci|guard|search|bge-|clip|diffusion",
    re.IGNORECASE,
)
"""Names of models that are not for chat."""
_TOOL_WORDS: Final = re.compile(r"tool|function", re.IGNORECASE)
_FIRST_ERROR: Final = 400
_KEY_TROUBLE: Final = frozenset({401, 403})
_NEXT: Final[Mapping[ErrorKind, str]] = {
    "authentication": "check its key",
    "permission": "the key may not do this; choose another model with --model, or another key",
    "billing": "its account needs credit",
    "quota": "the quota of its account is used up",
    "not_found": "name one of its models with --model, and check base_url",
    "rate_limit": "wait a while and try again",
    "overloaded": "wait a while and try again",
    "timeout": "try again, or a faster model with --model",
    "context_length": "its context is too small for tools; choose another model with --model",
}
"""What to do about each kind of error."""
_EMULATE: Final = (
    'set tools = "emulated" for this provider: tools are then described to its model as text'
)


class ConfiguredKey(Struct, frozen=True, kw_only=True):
    """A provider's key: where it comes from, and the key with most of it masked."""

    source: str
    masked: str = ""
    problem: str = ""


class ProviderReport(Struct, frozen=True, kw_only=True):
    """What a check found out about a provider."""

    name: str
    url: str = ""
    reached: bool = False
    reason: str = ""
    """Why the provider cannot be used, or why something was not tried."""
    models: tuple[str, ...] = ()
    model: str | None = None
    """The model that was asked."""
    outcomes: tuple[ToolLoopResult, ...] = ()

    @property
    def works(self) -> bool:
        """Whether something was tried and all of it works."""
        return bool(self.outcomes) and all(each.works for each in self.outcomes)


async def check_provider(
    config: Config, name: str, *, model: str | None = None, progress: Progress = lambda _: None
) -> ProviderReport:
    """Check one provider of a configuration."""
    # Nothing is mended: this says what the provider accepts, and what to write down about it.
    given = {name: replace(config.providers[name], mend="off")} if name != DEMO else {}
    alone = Config(providers=given)
    if name == DEMO:
        found = ProviderReport(name=name, url="built in", reached=True, model=DEMO_MODEL)
        return await _run_loops(alone, found, tuple(PROTOCOLS), progress)
    try:
        upstream = make_upstreams(alone)[name]
    except ConfigError as error:
        return ProviderReport(name=name, reason=str(error))
    progress(f"{name}: models")
    found = await _connect(upstream)
    if not found.reached:
        return found
    chosen = model or _configured_model(config, upstream) or _chat_model(found.models)
    if chosen is None:
        why = found.reason or "it lists no chat models"
        return replace(found, reason=f"{why}; name one with --model")
    protocols = tuple(dict.fromkeys(each.protocol for each in upstream.endpoints))
    found = await _run_loops(alone, replace(found, model=chosen), protocols, progress)
    return replace(found, outcomes=tuple(_without_keys(each, upstream) for each in found.outcomes))


# --- connecting -----------------------------------------------------------------------------------


async def _connect(upstream: Upstream) -> ProviderReport:
    """Whether the provider responds, and its models."""
    endpoint, client = upstream.endpoints[0], Client()
    path = get_protocol(endpoint.protocol).SURFACE.models
    found = ProviderReport(name=upstream.name, url=redact_url(endpoint.base_url))
    try:
        status, body = await client.look(upstream.small_request(endpoint.protocol, path))
        problem = await list_problem(client, upstream, status, body)
    except TimeoutError:
        return replace(found, reason=f"no answer within {QUICK:g} seconds; is the address right?")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return replace(found, reason=scrub(_connection_problem(error, endpoint.base_url)))
    finally:
        await client.close()
    if problem:
        return replace(found, reason=problem)
    models = tuple(listed_models(json_in(body))) if status < _FIRST_ERROR else ()
    return replace(found, reached=True, models=models, reason=_list_problem(status))


def _connection_problem(error: Exception, address: str) -> str:
    if isinstance(error, ValueError):
        return f"{address} is not a valid URL; check base_url"
    return connection_advice(error, URL(address))


def _list_problem(status: int) -> str:
    if status < _FIRST_ERROR:
        return ""
    if status in _KEY_TROUBLE:
        return f"it does not list its models (status {status}): check its key"
    return f"it has no list of models (status {status})"


def _configured_model(config: Config, upstream: Upstream) -> str | None:
    """The first model that the configuration names for a provider."""
    routed = (target for route in config.routes for target in route.targets)
    models = (
        model
        for provider, _, model in (target.partition("/") for target in routed)
        if provider == upstream.name and model not in ("", "*")
    )
    return next(iter((*upstream.listed, *models)), None)


def _chat_model(models: Iterable[str]) -> str | None:
    """The first model that seems to be for chat; one of a known family if there is one."""
    chat = [each for each in models if not _NO_CHAT.search(each)]
    return next((each for each in chat if family_of(each)), chat[0] if chat else None)


# --- tool loops -----------------------------------------------------------------------------------


@asynccontextmanager
async def _gateway(config: Config) -> AsyncIterator[aiohttp.ClientSession]:
    """A gateway on a free port, and a session to ask it."""
    runner = web.AppRunner(make_app(config), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        async with aiohttp.ClientSession(f"http://{host}:{port}") as session:
            yield session
    finally:
        await runner.cleanup()


async def _run_loops(
    config: Config, found: ProviderReport, protocols: tuple[str, ...], progress: Progress
) -> ProviderReport:
    """A tool loop in each protocol, whole and streamed; a rejected key ends all of them."""
    outcomes: list[ToolLoopResult] = []
    async with _gateway(config) as session:
        for protocol, stream in ((each, how) for each in protocols for how in (False, True)):
            if outcomes and outcomes[-1].kind == "authentication":
                same = replace(outcomes[-1], protocol=protocol, stream=stream, requests=0, ms=0)
                outcomes.append(same)
                continue
            progress(f"{found.name}: {protocol}, {'stream' if stream else 'whole'}")
            outcome = await run_tool_loop(
                session, protocol, f"{found.name}/{found.model}", stream=stream
            )
            outcomes.append(replace(outcome, reason=_with_advice(outcome)))
    return replace(found, outcomes=tuple(outcomes))


def _without_keys(outcome: ToolLoopResult, upstream: Upstream) -> ToolLoopResult:
    """The result without the keys that servers repeat when they reject them."""
    reason = outcome.reason
    for key in upstream.keys:
        reason = reason.replace(key, mask(key))
    return replace(outcome, reason=scrub(reason))


def _with_advice(outcome: ToolLoopResult) -> str:
    """Why a loop failed and what to do next."""
    reason, step = outcome.reason, _NEXT.get(outcome.kind) if outcome.kind else None
    if outcome.kind in {"invalid_request", "not_found"} and _TOOL_WORDS.search(reason):
        step = _EMULATE
    return f"{reason.rstrip('.')}; {step}" if step else reason


# --- keys -----------------------------------------------------------------------------------------


def configured_keys(
    provider: Provider, environ: Mapping[str, str] = os.environ
) -> Iterator[ConfiguredKey]:
    """The keys that are sent to a provider, masked."""
    given = provider.api_key
    if given is None and provider.profile:
        names = get_profile(provider.profile).auth.env
        given = tuple(f"env:{name}" for name in names if environ.get(name))[:1]
    for key in (given,) if isinstance(given, str) else given or ():
        if key == CLIENT:
            yield ConfiguredKey(source="the client's own")
            continue
        source = key if key.startswith(("env:", "file:")) else "in the clear"
        try:
            yield ConfiguredKey(source=source, masked=mask(read_secret(key, environ)))
        except ConfigError as error:
            yield ConfiguredKey(source=source, problem=str(error))
