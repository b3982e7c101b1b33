"""Probes over real connections: bounds, redirects, keys, and what to do when there is no answer."""

import asyncio
import datetime as dt
import ipaddress
import socket
import ssl

import pytest
from aiohttp import web
from tests.discovery.loopback import KEY, serving, serving_handler
from tests.discovery.scripted import Faithful, reply
from tests.gateway.answers import whole_of
from tests.upstreams.strict.check import Ask, check, error_body
from tests.upstreams.strict.upstreams import OTHERS

from toolglot.discovery import MAX_PROBES, to_toml
from toolglot.gateway.checks import discovery_client as module
from toolglot.gateway.checks.discovery_client import MAX_ANSWER, ProbeError, probe_server
from toolglot.gateway.config import load_config
from toolglot.registry import PROTOCOLS


def discover(url, **options):
    return asyncio.run(probe_server(url, **options))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_protocol_over_a_connection(protocol):
    """S3-44: a live server is asked, and what it answers is found."""
    server = Faithful(protocols=(protocol,))
    with serving(server) as url:
        result = discover(url)
    assert result.protocol == protocol
    assert result.get("tools") == "called"
    assert result.get("streaming") == "yes"
    assert result.get("errors") == protocol.removesuffix("-chat").removesuffix("-responses")
    assert len(server.asked) == len(result.asked) <= MAX_PROBES
    assert all(probe.auth == "" for probe in server.asked)


def test_every_probe_is_told_as_it_is_answered():
    seen = []
    with serving(Faithful(protocols=("openai-chat",))) as url:
        result = discover(
            url, progress=lambda probe, answer: seen.append((probe.name, answer.status))
        )
    assert seen == [(each.probe, each.status) for each in result.asked]
    assert all(each.ms >= 0 for each in result.asked)


@pytest.mark.parametrize("style", ["bearer", "x-api-key", "api-key"])
def test_a_key_is_sent_and_never_repeated(style):
    """A server that repeats the key in its errors does not get it into the result."""
    faithful = Faithful(protocols=("anthropic",))

    def gate(probe):
        if probe.auth == style and probe.name != "error":
            return faithful(probe)
        return reply(401 if probe.name != "error" else 400, {"error": {"message": f"bad: {KEY}"}})

    with serving(gate) as url:
        result = discover(url, key=KEY)
    assert result.provider.auth == style
    assert KEY not in str(result)
    posted = [probe for probe in faithful.asked if probe.url.endswith("/v1/messages")]
    assert posted
    assert {probe.headers.get("anthropic-version") for probe in posted} == {"2023-06-01"}


@pytest.mark.parametrize("key", ["", "two\nlines", "schlüssel"])
def test_what_no_header_can_carry_is_no_key(key):
    with pytest.raises(ProbeError, match="no header can carry") as raised:
        discover("http://127.0.0.1:9", key=key)
    assert key == "" or key not in str(raised.value)


def test_redirects_are_followed_only_within_the_server():
    reached = []
    elsewhere = Faithful(protocols=("openai-chat",))

    async def other(request):
        reached.append(request.path)
        return web.Response(status=200)

    with serving_handler(other) as far, serving(elsewhere) as near:

        async def within(request):
            return web.Response(status=307, headers={"Location": f"/v1{request.path[4:]}"})

        async def away(request):
            return web.Response(status=307, headers={"Location": f"{far}{request.path}"})

        async def round_and_round(request):
            return web.Response(status=302, headers={"Location": f"{request.path}x"})

        with serving_handler(away) as url:
            result = discover(url, key=KEY)
            assert result.findings == ()
            assert {each.status for each in result.asked} == {307}
        with serving_handler(round_and_round) as url:
            assert {each.status for each in discover(url).asked} == {302}
        assert reached == []
        assert discover(near).protocol == "openai-chat"

    async def moved(request):
        if request.path.startswith("/v1/"):
            return web.Response(
                status=308, headers={"Location": request.path.replace("/v1/", "/w/")}
            )
        if request.path == "/w/models":
            return web.json_response({"data": [{"id": "moved-model"}]})
        return web.Response(status=404)

    with serving_handler(moved) as url:
        assert discover(url).provider.models == ("moved-model",)


def test_answers_without_end_are_cut():
    sent = []

    async def endless(request):
        response = web.StreamResponse()
        await response.prepare(request)
        size = 0
        try:
            while size < 40 * MAX_ANSWER:
                await response.write(b"x" * 65536)
                size += 65536
        except ConnectionError:
            pass
        sent.append(size)
        return response

    with serving_handler(endless) as url:
        result = discover(url)
    assert result.findings == ()
    assert result.asked
    assert all(size < 40 * MAX_ANSWER for size in sent)


def test_a_server_that_does_not_answer_in_time():
    async def slow(request):
        if request.method == "GET":
            return web.json_response({"data": [{"id": "m"}]})
        await asyncio.Event().wait()
        raise AssertionError

    with serving_handler(slow) as url:
        result = discover(url, timeout=0.05, total=0.2)
    assert result.provider.models == ("m",)
    failures = {each.failure for each in result.asked} - {""}
    assert "not asked: out of time" in failures
    assert any(failure.startswith("no answer within") for failure in failures)
    assert result.protocol == ""


def test_a_connection_that_breaks_later_is_no_error():
    async def breaking(request):
        if request.method == "GET":
            return web.json_response({"data": [{"id": "m"}]})
        request.transport.abort()
        return web.Response()

    with serving_handler(breaking) as url:
        result = discover(url)
    assert result.provider.models == ("m",)
    assert {each.failure for each in result.asked[1:]} == {"ConnectionDroppedError"}


def test_an_answer_that_breaks_off_is_what_came_of_it():
    async def partial(request):
        response = web.StreamResponse(headers={"Content-Length": "999"})
        await response.prepare(request)
        await response.write(b'{"data": [{"id": "m"}]}')
        request.transport.abort()
        return response

    with serving_handler(partial) as url:
        assert discover(url).provider.models == ("m",)


# --- no answer at all -----------------------------------------------------------------------------


def test_nobody_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(ProbeError, match=f"127.0.0.1:{port}: .*is the server running"):
            discover(f"http://127.0.0.1:{port}")


def test_a_host_that_does_not_exist():
    with pytest.raises(ProbeError, match=r"nowhere\.invalid: there is no such host"):
        discover("http://nowhere.invalid")


def test_https_to_a_server_of_http():
    with (
        serving(Faithful()) as url,
        pytest.raises(ProbeError, match=r"does not speak TLS.*try http://"),
    ):
        discover(url.replace("http://", "https://"))


@pytest.fixture
def self_signed(tmp_path):
    """A TLS context that nobody trusts."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "both.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def test_a_certificate_that_is_not_trusted(self_signed):
    async def never(request):
        raise AssertionError

    with (
        serving_handler(never, self_signed) as url,
        pytest.raises(ProbeError, match=r"not trusted.*SSL_CERT_FILE"),
    ):
        discover(url)


def test_http_to_a_server_of_https(self_signed):
    async def never(request):
        raise AssertionError

    with (
        serving_handler(never, self_signed) as url,
        pytest.raises(ProbeError, match="try https://"),
    ):
        discover(url.replace("https://", "http://"))


def test_proxies_of_the_environment_are_used_only_if_asked_for(monkeypatch):
    through = []

    async def proxy(request):
        through.append(str(request.url))
        return web.Response(status=502)

    with serving_handler(proxy) as there, serving(Faithful(protocols=("ollama",))) as url:
        monkeypatch.setenv("http_proxy", there)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert discover(url).protocol == "ollama"
        assert through == []
        assert discover(url, environment_proxies=True).protocol == ""
        assert through


def test_bounds_are_what_they_are_said_to_be():
    assert (module.TIMEOUT, module.MAX_ANSWER) == (20.0, 2 * 1024 * 1024)


# --- servers that say what they refuse ------------------------------------------------------------

WRITTEN = {
    "openai-gpt-5.6": {
        "limits.name": "max_completion_tokens",
        "tools.effort": "none",
        "calls.id_rule": {"chars": "a-zA-Z0-9_-", "least": 1, "most": 40},
    },
    "openai-o3": {"sampling.dropped": ["parallel_tool_calls", "temperature"]},
    "mistral-mistral-medium-latest": {
        "tools.kinds": ["function"],
        "system.developer_role": False,
        "calls.id_rule": {"chars": "a-zA-Z0-9", "least": 9, "most": 9},
    },
    "deepseek-deepseek-v4-pro": {"outputs": ["json", "text"], "system.developer_role": False},
    "anthropic-claude-opus-4-8": {"sampling.dropped": ["temperature"]},
}
STRICT = [each for each in OTHERS if str(each) in WRITTEN]


def strict_server(upstream):
    """A handler that refuses what the provider refuses, and answers all else in its protocol."""
    path = PROTOCOLS[upstream.protocol].SURFACE.path

    async def handle(request):
        if request.path != path:
            return web.json_response({"error": "not found"}, status=404)
        body = await request.json()
        ask = Ask(upstream.provider, upstream.protocol, upstream.model, body)
        found = check(upstream.provider, upstream.protocol, upstream.model, body)
        if found:
            return web.json_response(error_body(ask, found[0]), status=found[0].status)
        return web.Response(body=whole_of(upstream.protocol), content_type="application/json")

    return handle


@pytest.mark.parametrize("upstream", STRICT, ids=str)
def test_the_rules_of_a_strict_server_are_found_and_written(upstream, tmp_path):
    with serving_handler(strict_server(upstream)) as url:
        result = discover(url, key=KEY, model=upstream.model)
    assert result.protocol == upstream.protocol
    file = tmp_path / "toolglot.toml"
    file.write_text(to_toml(result, "found", key="none"), encoding="utf-8")
    rules = load_config(file, {}).providers["found"].rules
    assert isinstance(rules, dict)
    expected = WRITTEN[str(upstream)]
    assert {name: rules.get(name) for name in expected} == expected
    assert result.get("tools") not in ("refused", "fails")
