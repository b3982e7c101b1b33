"""Base URLs in every spelling, for every protocol."""

import pytest

from toolglot.base_urls import (
    ServerUrl,
    alternatives,
    deployment_in,
    endpoint_protocol,
    endpoints_at,
    exact_spelling,
    from_variable,
    is_same_server,
    likely_base_url,
    profile_at,
    query_parameters,
    resolve,
)
from toolglot.profiles import Endpoint, get_profile, profiles
from toolglot.registry import PROTOCOLS

HOST = "http://host:11434"
OWN = {
    name: codec.SURFACE.path[: codec.SURFACE.path.index("/", 1)]
    for name, codec in PROTOCOLS.items()
}
PATHS = {name: codec.SURFACE.path.replace("{model}", "m") for name, codec in PROTOCOLS.items()}
SPELLINGS = ["", *dict.fromkeys(OWN.values()), *PATHS.values(), "/v1/models", "/api/tags"]
ENDS = ["", "/", "//"]


def url(base_url, protocol):
    """The address of a request."""
    return Endpoint(protocol=protocol, base_url=resolve(base_url, protocol)).url(PATHS[protocol])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_a_host_is_good_for_every_protocol(spelling, end, protocol):
    asked = url(HOST + spelling + end, protocol)
    accepted = {PATHS[protocol]}
    if spelling in {"/v1", "/v1/models"}:  # A version that the protocol has, too, is kept.
        versions = PROTOCOLS[protocol].API.path_versions
        accepted = {PATHS[protocol].replace(OWN[protocol], f"/{each}") for each in versions}
        accepted = {each for each in accepted if each.startswith("/v1/")} or {PATHS[protocol]}
    assert asked.removeprefix(HOST) in accepted


KNOWN = [
    ("https://api.anthropic.com", "anthropic", "https://api.anthropic.com/v1/messages"),
    ("https://api.anthropic.com/v1/", "anthropic", "https://api.anthropic.com/v1/messages"),
    ("https://api.anthropic.com/v1/messages", "anthropic", "https://api.anthropic.com/v1/messages"),
    ("https://API.OpenAI.com", "openai-chat", "https://API.OpenAI.com/v1/chat/completions"),
    ("https://api.openai.com", "openai-responses", "https://api.openai.com/v1/responses"),
    (
        "https://api.openai.com/v1/chat/completions",
        "openai-responses",
        "https://api.openai.com/v1/responses",
    ),
    (
        "https://generativelanguage.googleapis.com",
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
    ),
    (
        "https://generativelanguage.googleapis.com/v1beta/models/x:streamGenerateContent",
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
    ),
    (
        "https://generativelanguage.googleapis.com/v1beta",
        "openai-chat",
        "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    ),
    ("https://api.groq.com", "openai-chat", "https://api.groq.com/openai/v1/chat/completions"),
    ("https://api.groq.com/v1/", "openai-chat", "https://api.groq.com/openai/v1/chat/completions"),
    ("https://openrouter.ai/v1", "anthropic", "https://openrouter.ai/api/v1/messages"),
    ("https://api.z.ai/v1", "openai-chat", "https://api.z.ai/api/paas/v4/chat/completions"),
    ("https://openrouter.ai/api", "anthropic", "https://openrouter.ai/api/v1/messages"),
    ("https://openrouter.ai/api", "openai-chat", "https://openrouter.ai/api/v1/chat/completions"),
    ("https://api.deepseek.com", "openai-chat", "https://api.deepseek.com/chat/completions"),
    ("https://api.deepseek.com/v1", "openai-chat", "https://api.deepseek.com/v1/chat/completions"),
    ("https://api.deepseek.com", "anthropic", "https://api.deepseek.com/anthropic/v1/messages"),
    (
        "https://api.deepseek.com/anthropic",
        "anthropic",
        "https://api.deepseek.com/anthropic/v1/messages",
    ),
    (
        "https://res.openai.azure.com/",
        "openai-chat",
        "https://res.openai.azure.com/openai/v1/chat/completions",
    ),
]


@pytest.mark.parametrize(("base_url", "protocol", "expected"), KNOWN)
def test_hosts_that_are_known(base_url, protocol, expected):
    assert url(base_url, protocol) == expected


VENDORS = [
    ("https://openrouter.ai/api/v1", "openai-chat", ""),
    ("https://api.groq.com/openai/v1", "openai-responses", ""),
    ("https://api.z.ai/api/paas/v4", "openai-chat", ""),
    ("https://host/openai", "openai-chat", ""),
    ("https://host/proxy/v1", "anthropic", ""),
    ("https://host/models", "openai-chat", ""),
    ("https://host/chat", "openai-chat", ""),
    ("https://host/anthropic", "anthropic", "/v1"),
    ("https://api.z.ai/api/anthropic", "anthropic", "/v1"),
    ("https://host/v1/account/name/anthropic", "anthropic", "/v1"),
    ("https://host/google", "gemini", "/v1beta"),
    ("https://host/ollama", "ollama", "/api"),
    (
        "https://eu-aiplatform.googleapis.com/v1/projects/p/locations/eu/publishers/google",
        "gemini",
        "",
    ),
]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("base_url", "protocol", "added"), VENDORS)
def test_the_path_of_a_vendor_stays(base_url, protocol, added, end):
    """Only what the protocol's own SDK adds to every base URL follows it."""
    assert resolve(base_url + end, protocol) == base_url + added


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("prefix", ["", "/v1", "/proxy", "/api/paas/v4", "/v1beta/openai"])
def test_the_address_of_a_request_is_taken_exactly(prefix, protocol):
    words = PATHS[protocol] if protocol == "ollama" else PATHS[protocol].removeprefix(OWN[protocol])
    given = f"https://host{prefix}{words}"
    assert url(given, protocol) == given
    assert endpoint_protocol(given) == protocol


@pytest.mark.parametrize("profile", profiles(), ids=lambda profile: profile.name)
def test_the_base_urls_of_profiles_mean_themselves(profile):
    for endpoint in profile.endpoints:
        filled = endpoint.base_url.replace("{", "").replace("}", "")
        assert resolve(filled, endpoint.protocol) == filled
        at = {each.protocol: each.base_url for each in endpoints_at(filled, profile, None)}
        assert at.get(endpoint.protocol, filled) == filled
        (only,) = endpoints_at(filled, profile, endpoint.protocol)
        assert (only.base_url, only.path) == (filled, endpoint.path)


@pytest.mark.parametrize("end", ["", "/", "/v1", "/api/", "/v1/chat/completions", "/api/chat"])
def test_a_profile_speaks_all_its_protocols_at_another_host(end):
    found = endpoints_at("http://gpu:11434" + end, get_profile("ollama"), None)
    assert {each.protocol: each.base_url for each in found} == {
        "ollama": "http://gpu:11434/api",
        "anthropic": "http://gpu:11434/v1",
        "openai-chat": "http://gpu:11434/v1",
    }


@pytest.mark.parametrize(
    ("profile", "base_url", "expected"),
    [
        ("google", "https://proxy.example", {"gemini": "/v1beta"}),
        ("google", "https://proxy.example/team", {"gemini": "/team/v1beta"}),
        ("deepseek", "https://proxy.example/v1", {"openai-chat": "/v1"}),
        (
            "groq",
            "https://proxy.example",
            {"openai-chat": "/openai/v1", "openai-responses": "/openai/v1"},
        ),
        (
            "vllm",
            "http://proxy.example/vllm/v1",
            dict.fromkeys(("openai-chat", "openai-responses", "anthropic"), "/vllm/v1"),
        ),
        (
            "minimax",
            "https://api.minimax.io/anthropic",
            {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "/anthropic/v1"},
        ),
    ],
)
def test_what_a_profile_speaks_elsewhere(profile, base_url, expected):
    found = list(endpoints_at(base_url, get_profile(profile), None))
    assert {each.protocol: ServerUrl.of(each.base_url).path for each in found} == expected
    assert {ServerUrl.of(each.base_url).origin for each in found} == {ServerUrl.of(base_url).origin}


def test_a_deployment_in_a_url():
    facts = get_profile("azure").deployments
    classic = "https://r.openai.azure.com/openai/deployments/prod/chat/completions?api-version=1"
    assert deployment_in(classic, facts) == "prod"
    assert deployment_in("https://apim.example/x/openai/deployments/prod/", facts) == "prod"
    assert deployment_in("https://r.openai.azure.com/openai/v1", facts) is None
    (only,) = endpoints_at(classic, get_profile("azure"), None)
    assert only.url("/v1/chat/completions") == classic


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.anthropic.com/v1", "anthropic"),
        ("https://res.openai.azure.com/openai/v1", "azure"),
        ("http://gpu:11434", "ollama"),
        ("https://nobody.example/v1", None),
    ],
)
def test_who_is_at_an_address(base_url, name):
    found = profile_at(base_url)
    assert (found and found.name) == name


@pytest.mark.parametrize(
    ("base_url", "likely"),
    [
        ("http://h", "http://h/v1"),
        ("http://h/v1", None),
        ("http://h/v1/v1", "http://h/v1"),
        ("http://h/proxy", "http://h/proxy/v1"),
    ],
)
def test_what_was_probably_meant(base_url, likely):
    assert likely_base_url(base_url, "openai-chat") == likely
    others = alternatives(base_url, "openai-chat")
    assert base_url not in others
    assert likely is None or others[0] == likely


@pytest.mark.parametrize(
    ("value", "base_url"),
    [
        ("gpu", "http://gpu:11434"),
        ("gpu:9", "http://gpu:9"),
        (" 'gpu:9/' ", "http://gpu:9"),
        (":9", "http://127.0.0.1:9"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:9", "http://127.0.0.1:9"),
        ("[::]:9", "http://127.0.0.1:9"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:9", "http://[::1]:9"),
        ("http://gpu", "http://gpu"),
        ("https://gpu/ollama/", "https://gpu/ollama"),
    ],
)
def test_hosts_in_variables(value, base_url):
    assert from_variable(value, "http://localhost:11434/api") == base_url


def test_a_host_in_the_variable_of_a_provider_that_is_reached_by_tls():
    assert from_variable("llm.example/v1", "https://api.openai.com/v1") == "https://llm.example/v1"


@pytest.mark.parametrize(
    ("base_url", "same"),
    [
        ("http://localhost:8100/v1", True),
        ("http://127.0.0.1:8100", True),
        ("http://[::1]:8100", True),
        ("http://me.example:8100", True),
        ("http://localhost:8101", False),
        ("http://other.example:8100", False),
        ("http://localhost", False),
    ],
)
def test_whether_an_address_is_our_own(base_url, same):
    assert is_same_server(base_url, "Me.example", 8100) is same


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "ollama"])
@pytest.mark.parametrize("path", ["", "/v1", "/api", "/v1beta", "/proxy", "/proxy/v2"])
def test_every_base_url_can_be_written(path, protocol):
    base_url = f"http://host{path}"
    assert resolve(exact_spelling(base_url, protocol), protocol) == base_url


def test_addresses_in_parts():
    address = ServerUrl.of("https://User:Pass@Host.example//a//b/?x=1&y#z")
    assert address == ServerUrl("https://User:Pass@Host.example", "/a/b", "x=1&y")
    assert (address.host, address.port) == ("host.example", 443)
    assert query_parameters(address.query) == {"x": "1", "y": ""}
    assert resolve("no address", "anthropic") == "no address"
