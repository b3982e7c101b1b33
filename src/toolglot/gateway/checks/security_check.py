"""What is weak in a setup: who can reach it, who can read what, and what is not limited.

Each rule looks at one thing and says it in a sentence, with what to do. `toolglot doctor
--security` prints them; docs/security.md has the reasons.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_network
from pathlib import Path
from stat import S_IMODE
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.config import CLIENT, Config, Provider, plain_secrets
from toolglot.gateway.http.client import QUICK
from toolglot.gateway.http.host_names import LOOPBACK
from toolglot.gateway.telemetry.redact import redact_url
from toolglot.http1.client_connection import ReplyError
from toolglot.http1.connection_pool import ConnectionPool

_READ_BY_OTHERS: Final = 0o044
_WRITTEN_BY_OTHERS: Final = 0o022
_WIDE: Final = 2**16
"""Addresses in a network that is trusted too widely."""
_OK: Final = 200
_STRANGER: Final = "stranger.example"


class SecurityFinding(Struct, frozen=True):
    """One weakness: where it is, what it means and what to do about it."""

    severity: Literal["serious", "weak"]
    place: str
    problem: str
    advice: str


class Setup(Struct, frozen=True, kw_only=True):
    """What is looked at."""

    config: Config
    path: Path | None = None
    """The file of the configuration."""
    database: Path | None = None
    keys: tuple[VirtualKey, ...] = ()
    """The virtual keys that are valid."""
    user: int | None = None
    """The id of the user who runs the gateway, where there is one."""

    @property
    def exposed(self) -> bool:
        """Whether other machines can reach the gateway."""
        return self.config.server.host not in LOOPBACK


def find_weaknesses(setup: Setup) -> list[SecurityFinding]:
    """Everything that is weak, serious things first."""
    found = [finding for rule in _RULES for finding in rule(setup)]
    return sorted(found, key=lambda finding: finding.severity != "serious")


# --- who can reach it -----------------------------------------------------------------------------


def _without_keys(setup: Setup) -> Iterator[SecurityFinding]:
    server = setup.config.server
    certified = server.tls is not None and server.tls.require_client_cert
    if setup.exposed and not server.keys and not certified:
        yield SecurityFinding(
            "serious",
            "server.keys",
            f"{server.host} can be reached from other machines, and no keys are asked for: whoever "
            "reaches it spends your provider keys, and reads /metrics and stored responses",
            "set keys = true and create a key for each client with `toolglot keys create`",
        )


def _without_tls(setup: Setup) -> Iterator[SecurityFinding]:
    server = setup.config.server
    if setup.exposed and server.tls is None:
        yield SecurityFinding(
            "weak",
            "server.tls",
            f"{server.host} is served without TLS: keys and prompts can be read on the way",
            "give cert and key in [server.tls], or listen on 127.0.0.1 behind a proxy that has TLS",
        )


def _admin(setup: Setup) -> Iterator[SecurityFinding]:
    admin = setup.config.server.admin
    if admin is not None and admin.rpartition(":")[0].strip("[]") not in LOOPBACK:
        yield SecurityFinding(
            "weak",
            "server.admin",
            f"/metrics and /ready are answered without a key on {admin}, also to other machines",
            "listen on 127.0.0.1 there, or let only the monitoring reach that port",
        )


def _pages(setup: Setup) -> Iterator[SecurityFinding]:
    server = setup.config.server
    if "*" in server.origins:
        yield SecurityFinding(
            "weak" if server.keys else "serious",
            "server.origins",
            "every page that a browser on the network opens may ask the gateway"
            + ("" if server.keys else ", and it asks for no key"),
            'name the pages that need it: origins = ["https://chat.example"]',
        )
    if "*" in server.hosts and not server.keys:
        yield SecurityFinding(
            "serious",
            "server.hosts",
            "any name is accepted in Host, so a page can reach the gateway by DNS rebinding",
            'name the hosts by which it is called: hosts = ["gateway.intern"]',
        )


def _proxies(setup: Setup) -> Iterator[SecurityFinding]:
    for each in setup.config.server.trusted_proxies:
        if ip_network(each, strict=False).num_addresses > _WIDE:
            yield SecurityFinding(
                "serious",
                "server.trusted_proxies",
                f"every machine in {each} may say who it is, and is believed without a key",
                "name the addresses of the proxies alone",
            )


# --- who can read and write what ------------------------------------------------------------------


def _files(setup: Setup) -> Iterator[SecurityFinding]:
    path, config = setup.path, setup.config
    if path is not None and _mode(path) & _WRITTEN_BY_OTHERS:
        yield SecurityFinding(
            "serious",
            str(path),
            "other users may write the configuration, and so send your keys to servers of theirs",
            f"chmod go-w {path}",
        )
    clear = list(plain_secrets(config))
    if clear and path is not None:
        others = _mode(path) & _READ_BY_OTHERS
        yield SecurityFinding(
            "serious" if others else "weak",
            ", ".join(clear),
            f"written in {path} in the clear" + (", which other users may read" if others else ""),
            "use env:NAME or file:PATH" + (f", and chmod go-r {path}" if others else ""),
        )
    for secret in _secret_files(config):
        if _mode(secret) & _READ_BY_OTHERS:
            yield _readable(secret, "serious", "a key of a provider")
    if setup.database is not None and _mode(setup.database) & _READ_BY_OTHERS:
        yield _readable(setup.database, "serious", "usage and stored responses")


def _secret_files(config: Config) -> Iterator[Path]:
    tls = config.server.tls
    if tls is not None:
        yield Path(tls.key)
    for provider in config.providers.values():
        for key in _keys_of(provider):
            if key.startswith("file:"):
                yield Path(key.removeprefix("file:")).expanduser()


def _keys_of(provider: Provider) -> tuple[str, ...]:
    given = provider.api_key
    return (given,) if isinstance(given, str) else given or ()


def _readable(path: Path, severity: Literal["serious", "weak"], what: str) -> SecurityFinding:
    return SecurityFinding(
        severity, str(path), f"other users may read {what} there", f"chmod go-rwx {path}"
    )


def _mode(path: Path) -> int:
    """The permissions of a file; none where there is no such file."""
    try:
        return S_IMODE(path.stat().st_mode)
    except (OSError, ValueError):
        return 0


def _kept(setup: Setup) -> Iterator[SecurityFinding]:
    server = setup.config.server
    if server.record is not None:
        yield SecurityFinding(
            "weak",
            "server.record",
            f"every prompt and answer is written to {server.record}, and nothing deletes them",
            "record only while you look for a fault, and delete the folder afterwards",
        )
        if _mode(Path(server.record)) & _READ_BY_OTHERS:
            yield _readable(Path(server.record), "serious", "prompts and answers")
    if server.log == "debug":
        yield SecurityFinding(
            "weak",
            "server.log",
            "at the level debug the log has the contents of tool calls and results",
            'set log = "info"',
        )


def _root(setup: Setup) -> Iterator[SecurityFinding]:
    if setup.user == 0 and setup.exposed:
        yield SecurityFinding(
            "weak",
            "the process",
            "it runs as root, and other machines can reach it",
            "run it as a user of its own; a port below 1024 needs only CAP_NET_BIND_SERVICE",
        )


# --- where keys go --------------------------------------------------------------------------------


def _providers(setup: Setup) -> Iterator[SecurityFinding]:
    config = setup.config
    for name, provider in config.providers.items():
        place = f"providers.{name}"
        # The addresses of known providers are https.
        for url in filter(None, (provider.base_url,)):
            parts = urlsplit(url)
            if parts.scheme == "http" and (parts.hostname or "") not in LOOPBACK:
                keyed = bool(_keys_of(provider))
                yield SecurityFinding(
                    "serious" if keyed else "weak",
                    f"{place}.base_url",
                    f"{redact_url(url)} is asked without TLS: prompts"
                    + (" and the key" if keyed else "")
                    + " can be read on the way",
                    "use https://, or a tunnel",
                )
            if parts.password:
                yield _password(f"{place}.base_url", url)
        if provider.proxy and urlsplit(provider.proxy).password:
            yield _password(f"{place}.proxy", provider.proxy)
        if CLIENT in _keys_of(provider) and config.server.keys:
            yield SecurityFinding(
                "weak",
                f"{place}.api_key",
                "clients send keys of the gateway, which are of no use to the provider",
                "give the provider a key of its own: env:NAME",
            )


def _password(place: str, url: str) -> SecurityFinding:
    return SecurityFinding(
        "weak",
        place,
        f"there is a password in {redact_url(url)}, in the clear",
        "use api_key or headers with env:NAME instead",
    )


# --- what is not limited --------------------------------------------------------------------------


def _limits(setup: Setup) -> Iterator[SecurityFinding]:
    if not setup.config.server.keys:
        return
    if not setup.keys:
        yield SecurityFinding(
            "weak", "keys", "no key is valid, so nobody can ask", "run `toolglot keys create NAME`"
        )
    unlimited = [key.name for key in setup.keys if not (key.budget or key.rpm or key.tpm)]
    if unlimited:
        yield SecurityFinding(
            "weak",
            f"keys {_listed(unlimited)}",
            "no budget and no rate: whoever has such a key may spend everything",
            "create them anew with --budget, --rpm or --tpm",
        )
    wide = [key.name for key in setup.keys if not key.models or "*" in key.models]
    if wide and setup.exposed:
        yield SecurityFinding(
            "weak",
            f"keys {_listed(wide)}",
            "every model of every provider may be used with them",
            "create them anew with --models",
        )
    lasting = [key.name for key in setup.keys if key.expires is None]
    if lasting and setup.exposed:
        yield SecurityFinding(
            "weak",
            f"keys {_listed(lasting)}",
            "they never expire",
            "create them anew with --expires 90d",
        )


_SHOWN: Final = 3


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


_RULES: Final[tuple[Callable[[Setup], Iterator[SecurityFinding]], ...]] = (
    _without_keys,
    _without_tls,
    _admin,
    _pages,
    _proxies,
    _files,
    _kept,
    _root,
    _providers,
    _limits,
)


# --- a gateway that runs --------------------------------------------------------------------------


async def probe(url: str) -> list[SecurityFinding]:
    """What a gateway that runs gives to somebody without a key, by three small requests.

    Raises `OSError` or a `ReplyError` where nobody answers.
    """
    loopback = (urlsplit(url).hostname or "") in LOOPBACK
    found = []
    pool = ConnectionPool()
    try:
        if await _status(pool, f"{url}/metrics") == _OK and not loopback:
            words = "/metrics is answered without a key: providers, models and usage"
            found.append(SecurityFinding("weak", url, words, "set keys = true"))
        if await _status(pool, f"{url}/v1/models") == _OK and not loopback:
            words = "/v1/models is answered without a key, and so are requests"
            found.append(SecurityFinding("serious", url, words, "set keys = true"))
        if await _status(pool, f"{url}/v1/models", Host=_STRANGER) == _OK:
            words = "a request for another host is answered without a key: pages can use that"
            advice = "set keys = true, or name its hosts in `hosts`"
            found.append(SecurityFinding("serious", url, words, advice))
    finally:
        pool.close()
    return found


async def _status(pool: ConnectionPool, url: str, **headers: str) -> int:
    async with await pool.request("GET", url, headers=headers, first_byte=QUICK) as reply:
        return reply.status


UNANSWERED: Final = (ReplyError, OSError)
"""What `probe` raises where nobody answers."""


def this_user() -> int | None:
    """Who runs this process, where users have numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else None
