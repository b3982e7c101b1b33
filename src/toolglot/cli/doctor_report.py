"""`toolglot doctor --report`: what works with which provider, to be given to others.

It is made of names and verdicts alone. What a provider said, addresses, paths and keys, masked or
not, are left out, so that nothing has to be searched for secrets.
"""

import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolglot.profiles import profiles
from toolglot.registry import PROTOCOLS

if TYPE_CHECKING:
    from toolglot.gateway.checks.provider_check import ProviderReport
    from toolglot.gateway.config import Config


def report_lines(
    config: "Config",
    found: "Sequence[ProviderReport]",
    packages: Mapping[str, str | None],
    clients: Mapping[str, str | None],
    *,
    now: datetime | None = None,
) -> Iterator[str]:
    """The report, as Markdown."""
    day = f"{now or datetime.now(UTC):%Y-%m-%d}"
    there = [f"{name} {version}" for name, version in packages.items() if version]
    yield f"{', '.join(there)}, {platform.system()} {platform.machine()}, {day}"
    installed = [f"{name} {version}" for name, version in clients.items() if version]
    yield f"clients: {', '.join(installed) or 'none'}"
    yield ""
    yield "| provider | model | client's protocol | form | a tool call and its answer |"
    yield "| --- | --- | --- | --- | --- |"
    for each in found:
        who = _name(config, each.name)
        if not each.outcomes:
            yield f"| {who} | | | | not reached |"
        for outcome in each.outcomes:
            form = "stream" if outcome.stream else "whole"
            verdict = "works" if outcome.works else f"fails ({outcome.kind or 'wrong answer'})"
            yield f"| {who} | {each.model} | {outcome.protocol} | {form} | {verdict} |"


def _name(config: "Config", name: str) -> str:
    """What is public about a provider: its profile, or its protocol alone."""
    provider = config.providers.get(name)
    if provider is None:
        return name
    known = {each.name for each in profiles()}
    if provider.profile in known:
        return str(provider.profile)
    protocol = provider.protocol if provider.protocol in PROTOCOLS else "unknown"
    return f"a server of {protocol}"
