"""Where a configured provider is asked: its endpoints and, on some clouds, its deployment."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from toolglot.base_urls import (
    ServerUrl,
    deployment_in,
    endpoints_at,
    profile_at,
    query_parameters,
    resolve,
)
from toolglot.gateway.config import ConfigError, Provider
from toolglot.gateway.http.aws_signer import AwsSigner, region_of
from toolglot.profiles import Auth, Deployments, Endpoint, Profile, profiles
from toolglot.registry import default_auth

_DATED: Final = re.compile(r"\d{4}-\d\d-\d\d")
"""Versions of an API that are dates belong to paths that name a deployment."""
_MODEL: Final = "{model}"
SIGV4: Final = "sigv4"
"""In place of a header: requests are signed with AWS credentials."""


def make_endpoints(config: Provider, profile: Profile | None) -> tuple[Endpoint, ...]:
    """The endpoints of a provider, the usual one first."""
    facts = _deployments(config, profile)
    return tuple(_endpoints(_with_deployment(config, facts) if facts else config, profile))


def make_auth(config: Provider, profile: Profile | None, protocol: str) -> Auth:
    """How a key is sent to a provider."""
    if profile is None and _deployments(config, None) is not None:
        profile = next(each for each in profiles() if each.deployments)
    auth = profile.auth if profile else default_auth(protocol)
    if config.auth in (None, SIGV4):
        return auth
    bearer = config.auth.lower() == "authorization"
    return replace(auth, header=config.auth, prefix="Bearer " if bearer else "")


def make_signer(
    name: str,
    config: Provider,
    profile: Profile | None,
    endpoint: Endpoint,
    environ: Mapping[str, str],
) -> AwsSigner | None:
    """What signs requests to a provider, if that is asked for in place of a key."""
    if config.auth != SIGV4:
        return None
    if profile is None or not profile.auth.signing:
        raise ConfigError(
            f"providers.{name}.auth: {SIGV4} is for profiles of AWS, which say what to sign for"
        )
    given = (environ.get(each) for each in ("AWS_REGION", "AWS_DEFAULT_REGION"))
    region = (
        config.values.get("region")
        or region_of(endpoint.base_url)
        or next(filter(None, given), None)
    )
    if region is None:
        raise ConfigError(f"providers.{name}.values.region: give the region to sign for")
    return AwsSigner(profile.auth.signing, region)


def deployment_of(config: Provider, profile: Profile | None) -> str | None:
    """The deployment to ask whatever the model is; None: the model is asked by its name."""
    facts = _deployments(config, profile)
    if config.deployment is not None or facts is None or config.base_url is None:
        return config.deployment
    named = deployment_in(config.base_url, facts)
    return None if named == _MODEL else named


def _endpoints(config: Provider, profile: Profile | None) -> Iterator[Endpoint]:
    if profile is not None and config.protocol not in (None, *profile.protocols):
        profile = None  # The address is of a server that speaks more than is known.
    if config.base_url is not None and profile is not None:
        yield from endpoints_at(config.base_url, profile, config.protocol)
    elif profile is not None:
        yield from (e for e in profile.endpoints if config.protocol in (None, e.protocol))
    else:
        base_url, protocol = config.base_url or "", config.protocol or ""
        yield Endpoint(
            protocol=protocol,
            base_url=resolve(base_url, protocol),
            query=ServerUrl.of(base_url).query,
        )


def _deployments(config: Provider, profile: Profile | None) -> Deployments | None:
    """What is known about deployments at a provider, by its profile or its address."""
    if profile is not None:
        return profile.deployments
    base_url = config.base_url or ""
    at_host = profile_at(base_url)
    if at_host is not None and at_host.deployments is not None:
        return at_host.deployments
    known = (each.deployments for each in profiles() if each.deployments)
    return next((each for each in known if deployment_in(base_url, each) is not None), None)


def _with_deployment(config: Provider, facts: Deployments) -> Provider:
    """The same provider with a base URL that names deployment and version, where both belong."""
    address = ServerUrl.of(config.base_url or facts.base_url)
    named = deployment_in(config.base_url, facts) if config.base_url else None
    version = query_parameters(address.query).get(facts.version_parameter) or config.api_version
    if named is None and not _DATED.match(version or ""):
        return config
    path = address.path
    if named is None:
        name = config.deployment or _MODEL
        path = ServerUrl.of(facts.base_url).path.replace("{deployment}", name)
    elif config.deployment is not None:
        path = path.replace(named, config.deployment)
    query = f"{facts.version_parameter}={version or facts.version}"
    return replace(config, base_url=f"{address.origin}{path}?{query}")
