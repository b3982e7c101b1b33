"""Whether providers can be used: are they there, do they take the key, do tools work.

Everything is asked through a gateway of its own that lasts as long as the checkup, so that what
works here works for clients.
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

from toolglot.gateway.app import make_app
from toolglot.gateway.checks.discovery_client import advice
from toolglot.gateway.checks.tool_loop import Outcome, try_tools
from toolglot.gateway.config import CLIENT, DEMO, Config, ConfigError, Provider, read_secret
from toolglot.gateway.http.client import QUICK, Client
from toolglot.gateway.relay.providers import Upstream, make_upstreams
from toolglot.gateway.routes.model_lists import DEMO_MODEL, listed
from toolglot.gateway.telemetry.redact import mask, redact_url, scrub
from toolglot.ir import ErrorKind
from toolglot.profiles import family_of, get_profile
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.wire import jsontext

Progress = Callable[[str], None]

_NO_CHAT: Final = re.compile(
    r"embed|whisper|tts|dall-e|image|audio|realtime|moderation|transcri|rerank|ocr|speech|sora"
    r"|veo|imagen|babbage|davinci|guard|search|bge-|clip|diffusion",
    re.IGNORECASE,
)
"""Models that do not hold conversations, by their names."""
_TOOL_WORDS: Final = re.compile(r"tool|function", re.IGNORECASE)
_FIRST_ERROR: Final = 400
_KEY_TROUBLE: Final = frozenset({401, 403})
_NEXT: Final[Mapping[ErrorKind, str]] = {
    "authentication": "check its key",
    "permission": "the key may not do this; choose another model with --model, or another key",
    "billing": "its account needs credit",
    "quota": "its account has used up what it may",
    "not_found": "name one of its models with --model, and check base_url",
    "rate_limit": "wait a while and try again",
    "overloaded": "wait a while and try again",
    "timeout": "try again, or a faster model with --model",
    "context_length": "it takes too little text for tools; choose another model with --model",
}
"""What to do about an error."""
_EMULATE: Final = 'set tools = "emulated" for this provider: its model is then told them as text'


class KeySeen(Struct, frozen=True, kw_only=True):
    """A key: where it comes from, and its looks."""

    source: str
    masked: str = ""
    problem: str = ""


class Checked(Struct, frozen=True, kw_only=True):
    """What was found out about a provider."""

    name: str
    url: str = ""
    reached: bool = False
    reason: str = ""
    """Why it cannot be used, or why some of it was not tried."""
    models: tuple[str, ...] = ()
    model: str | None = None
    """The one that was asked."""
    outcomes: tuple[Outcome, ...] = ()

    @property
    def works(self) -> bool:
        """Whether all that was tried works, and something was."""
        return bool(self.outcomes) and all(each.works for each in self.outcomes)


async def check_provider(
    config: Config, name: str, *, model: str | None = None, progress: Progress = lambda _: None
) -> Checked:
    """Everything about one provider of a configuration."""
    alone = Config(providers={name: config.providers[name]} if name != DEMO else {})
    if name == DEMO:
        found = Checked(name=name, url="built in", reached=True, model=DEMO_MODEL)
        return await _try_all(alone, found, tuple(PROTOCOLS), progress)
    try:
        upstream = make_upstreams(alone)[name]
    except ConfigError as error:
        return Checked(name=name, reason=str(error))
    progress(f"{name}: models")
    found = await _reach(upstream)
    if not found.reached:
        return found
    chosen = model or _named(config, upstream) or _chat_model(found.models)
    if chosen is None:
        why = found.reason or "it lists no models that hold conversations"
        return replace(found, reason=f"{why}; name one with --model")
    protocols = tuple(dict.fromkeys(each.protocol for each in upstream.endpoints))
    found = await _try_all(alone, replace(found, model=chosen), protocols, progress)
    return replace(found, outcomes=tuple(_hidden(each, upstream) for each in found.outcomes))


# --- reaching it ----------------------------------------------------------------------------------


async def _reach(upstream: Upstream) -> Checked:
    """Whether it answers, with its models."""
    endpoint, client = upstream.endpoints[0], Client()
    path = get_protocol(endpoint.protocol).SURFACE.models
    found = Checked(name=upstream.name, url=redact_url(endpoint.base_url))
    try:
        status, body = await client.look(upstream.small_request(endpoint.protocol, path))
    except TimeoutError:
        return replace(found, reason=f"no answer within {QUICK:g} seconds; is the address right?")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return replace(found, reason=scrub(_unreached(error, endpoint.base_url)))
    finally:
        await client.close()
    models = tuple(listed(jsontext.peek(body))) if status < _FIRST_ERROR else ()
    return replace(found, reached=True, models=models, reason=_no_list(status))


def _unreached(error: Exception, address: str) -> str:
    if isinstance(error, ValueError):
        return f"{address} is no address that one can ask; check base_url"
    return advice(error, URL(address))


def _no_list(status: int) -> str:
    if status < _FIRST_ERROR:
        return ""
    if status in _KEY_TROUBLE:
        return f"it does not show its models (status {status}): check its key"
    return f"it has no list of models (status {status})"


def _named(config: Config, upstream: Upstream) -> str | None:
    """The first model that the configuration has for it."""
    routed = (target for route in config.routes for target in route.targets)
    models = (
        model
        for provider, _, model in (target.partition("/") for target in routed)
        if provider == upstream.name and model not in ("", "*")
    )
    return next(iter((*upstream.config.models, *models)), None)


def _chat_model(models: Iterable[str]) -> str | None:
    """The first one that looks as if it held conversations, rather one that is known."""
    able = [each for each in models if not _NO_CHAT.search(each)]
    return next((each for each in able if family_of(each)), able[0] if able else None)


# --- trying tools ---------------------------------------------------------------------------------


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


async def _try_all(
    config: Config, found: Checked, protocols: tuple[str, ...], progress: Progress
) -> Checked:
    """A tool loop in each protocol, whole and as a stream; a key that is refused ends it."""
    outcomes: list[Outcome] = []
    async with _gateway(config) as session:
        for protocol, stream in ((each, how) for each in protocols for how in (False, True)):
            if outcomes and outcomes[-1].kind == "authentication":
                same = replace(outcomes[-1], protocol=protocol, stream=stream, requests=0, ms=0)
                outcomes.append(same)
                continue
            progress(f"{found.name}: {protocol}, {'stream' if stream else 'whole'}")
            outcome = await try_tools(
                session, protocol, f"{found.name}/{found.model}", stream=stream
            )
            outcomes.append(replace(outcome, reason=_with_advice(outcome)))
    return replace(found, outcomes=tuple(outcomes))


def _hidden(outcome: Outcome, upstream: Upstream) -> Outcome:
    """The outcome without the keys that servers repeat when they refuse them."""
    reason = outcome.reason
    for key in upstream.keys:
        reason = reason.replace(key, mask(key))
    return replace(outcome, reason=scrub(reason))


def _with_advice(outcome: Outcome) -> str:
    """Why it does not work and what to do next."""
    reason, step = outcome.reason, _NEXT.get(outcome.kind) if outcome.kind else None
    if outcome.kind in {"invalid_request", "not_found"} and _TOOL_WORDS.search(reason):
        step = _EMULATE
    return f"{reason.rstrip('.')}; {step}" if step else reason


# --- keys -----------------------------------------------------------------------------------------


def keys_of(provider: Provider, environ: Mapping[str, str] = os.environ) -> Iterator[KeySeen]:
    """The keys that a provider is asked with, not to be used by whoever reads this."""
    given = provider.api_key
    if given is None and provider.profile:
        names = get_profile(provider.profile).auth.env
        given = tuple(f"env:{name}" for name in names if environ.get(name))[:1]
    for key in (given,) if isinstance(given, str) else given or ():
        if key == CLIENT:
            yield KeySeen(source="the client's own")
            continue
        source = key if key.startswith(("env:", "file:")) else "in the clear"
        try:
            yield KeySeen(source=source, masked=mask(read_secret(key, environ)))
        except ConfigError as error:
            yield KeySeen(source=source, problem=str(error))
