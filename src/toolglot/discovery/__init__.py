"""Discovery of unknown providers: which requests to send and what the responses show.

    steps = Discovery("http://localhost:8080").run()   # yields probes, is sent responses
    result = read_sample(b"...")                       # or from one response alone

Nothing here does I/O; `toolglot.gateway.checks.discovery_client` sends the probes.
"""

from toolglot.discovery.found_rules import found_rules
from toolglot.discovery.probe import AUTHS, Probe, ProbeResponse, SentProbe
from toolglot.discovery.probe_findings import Evidence, ProbeFinding
from toolglot.discovery.result import (
    DiscoveryResult,
    ProviderInfo,
    SdkInfo,
    Spoken,
    ToolingInfo,
    to_profile,
)
from toolglot.discovery.sample import read_sample
from toolglot.discovery.session import MAX_PROBES, Discovery
from toolglot.discovery.urls import AddressError, name_for
from toolglot.discovery.write_config import ConfigTextError, add_provider, to_toml

__all__ = [
    "AUTHS",
    "MAX_PROBES",
    "AddressError",
    "ConfigTextError",
    "Discovery",
    "DiscoveryResult",
    "Evidence",
    "Probe",
    "ProbeFinding",
    "ProbeResponse",
    "ProviderInfo",
    "SdkInfo",
    "SentProbe",
    "Spoken",
    "ToolingInfo",
    "add_provider",
    "found_rules",
    "name_for",
    "read_sample",
    "to_profile",
    "to_toml",
]  # fmt: skip
