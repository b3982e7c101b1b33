"""Discovery of providers nobody described: what to ask a server and how to read its answers.

    steps = Discovery("http://localhost:8080").run()   # yields probes, is sent answers
    result = read_sample(b"...")                       # or from one answer alone

Nothing here does I/O; `toolglot.gateway.checks.discovery_client` sends the probes.
"""

from toolglot.discovery.result import to_profile
from toolglot.discovery.sample import read_sample
from toolglot.discovery.steps import MAX_PROBES, Discovery
from toolglot.discovery.urls import AddressError, name_for
from toolglot.discovery.values import (
    AUTHS,
    Answer,
    Asked,
    DiscoveryResult,
    Evidence,
    Finding,
    Probe,
    ProviderInfo,
    SdkInfo,
    Spoken,
    ToolingInfo,
)
from toolglot.discovery.write_config import ConfigTextError, add_provider, to_toml

__all__ = [
    "AUTHS", "MAX_PROBES", "AddressError", "Answer", "Asked", "ConfigTextError", "Discovery",
    "DiscoveryResult", "Evidence", "Finding", "Probe", "ProviderInfo", "SdkInfo", "Spoken",
    "ToolingInfo", "add_provider", "name_for", "read_sample", "to_profile", "to_toml",
]  # fmt: skip
