"""What is weak is told, each with a sentence and what to do; a sound setup has nothing to tell."""

import asyncio
import time

import pytest
from msgspec.structs import replace
from tests.gateway.running import serving

from toolglot.gateway.access.virtual_keys import Budget, VirtualKey
from toolglot.gateway.checks.security_check import Setup, find_weaknesses, probe
from toolglot.gateway.config import Config, Provider, Server, Tls

SOUND_KEY = VirtualKey(
    id="1",
    name="alice",
    created=0.0,
    expires=time.time() + 9,
    models=("claude-*",),
    budget=Budget(tokens=9),
)


def provider(**given):
    return Provider(**{"profile": "openai", "api_key": "env:WORK_KEY", **given})


@pytest.fixture
def folder(tmp_path):
    for name in ("toolglot.toml", "it.db", "tls.key", "work.key"):
        (tmp_path / name).touch(mode=0o600)
    (tmp_path / "recordings").mkdir(mode=0o700)
    return tmp_path


@pytest.fixture
def sound(folder):
    """A gateway for others, with nothing wrong."""
    tls = Tls(cert=str(folder / "tls.pem"), key=str(folder / "tls.key"))
    return Setup(
        config=Config(
            server=Server(host="0.0.0.0", keys=True, tls=tls), providers={"work": provider()}
        ),
        path=folder / "toolglot.toml",
        database=folder / "it.db",
        keys=(SOUND_KEY,),
        user=1000,
    )


def server(setup, **given):
    return replace(
        setup, config=replace(setup.config, server=replace(setup.config.server, **given))
    )


def asked(setup, **given):
    return replace(setup, config=replace(setup.config, providers={"work": provider(**given)}))


def keyed(setup, **given):
    return replace(setup, keys=(replace(SOUND_KEY, **given),))


def test_a_sound_setup(sound):
    assert find_weaknesses(sound) == []


def test_the_defaults_on_loopback_are_sound():
    assert find_weaknesses(Setup(config=Config(), user=0)) == []


WEAK = {
    "no keys": (lambda it: server(it, keys=False, open=True), "serious", "server.keys"),
    "no TLS": (lambda it: server(it, tls=None), "weak", "server.tls"),
    "open metrics": (lambda it: server(it, admin="0.0.0.0:8101"), "weak", "server.admin"),
    "every page": (lambda it: server(it, origins=("*",)), "weak", "server.origins"),
    "wide proxies": (
        lambda it: server(it, trusted_proxies=("10.0.0.0/8",), identity_header="x-user"),
        "serious",
        "server.trusted_proxies",
    ),
    "recordings": (lambda it: server(it, record="/nowhere"), "weak", "server.record"),
    "debug": (lambda it: server(it, log="debug"), "weak", "server.log"),
    "root": (lambda it: replace(it, user=0), "weak", "the process"),
    "plain key": (lambda it: asked(it, api_key="sk-x"), "weak", "providers.work.api_key"),
    "http with a key": (
        lambda it: asked(it, base_url="http://gpu.intern/v1"),
        "serious",
        "providers.work.base_url",
    ),
    "http without": (
        lambda it: asked(it, base_url="http://gpu.intern/v1", api_key=None),
        "weak",
        "providers.work.base_url",
    ),
    "password in a URL": (
        lambda it: asked(it, base_url="https://me:hunter2@host/v1"),
        "weak",
        "providers.work.base_url",
    ),
    "password of a proxy": (
        lambda it: asked(it, proxy="http://me:hunter2@proxy:3128"),
        "weak",
        "providers.work.proxy",
    ),
    "no key at all": (lambda it: replace(it, keys=()), "weak", "keys"),
    "no limits": (lambda it: keyed(it, budget=None), "weak", "keys alice"),
    "all models": (lambda it: keyed(it, models=()), "weak", "keys alice"),
    "never expires": (lambda it: keyed(it, expires=None), "weak", "keys alice"),
}


@pytest.mark.parametrize("name", WEAK)
def test_one_weakness(sound, name):
    make, severity, place = WEAK[name]
    (found,) = find_weaknesses(make(sound))
    assert (found.severity, found.place) == (severity, place)
    assert found.problem
    assert found.advice
    assert "hunter2" not in f"{found.problem}{found.advice}"


@pytest.mark.parametrize(
    ("name", "mode", "severity"),
    [
        ("toolglot.toml", 0o620, "serious"),
        ("it.db", 0o644, "serious"),
        ("tls.key", 0o640, "serious"),
        ("work.key", 0o604, "serious"),
    ],
)
def test_loose_permissions(sound, folder, name, mode, severity):
    setup = asked(sound, api_key=f"file:{folder / 'work.key'}")
    assert find_weaknesses(setup) == []
    (folder / name).chmod(mode)
    (found,) = find_weaknesses(setup)
    assert (found.severity, found.place) == (severity, str(folder / name))
    assert found.advice.startswith("chmod go-")


def test_a_plain_key_in_a_file_that_others_read(sound, folder):
    (folder / "toolglot.toml").chmod(0o644)
    (found,) = find_weaknesses(asked(sound, api_key="sk-x"))
    assert found.severity == "serious"


def test_recordings_that_others_read(sound, folder):
    (folder / "recordings").chmod(0o755)
    first, second = find_weaknesses(server(sound, record=str(folder / "recordings")))
    assert (first.severity, second.severity) == ("serious", "weak")


def test_pages_and_names_without_keys():
    config = Config(server=Server(origins=("*",), hosts=("*",)))
    found = find_weaknesses(Setup(config=config))
    assert [(each.severity, each.place) for each in found] == [
        ("serious", "server.origins"),
        ("serious", "server.hosts"),
    ]


@pytest.mark.parametrize(("hosts", "count"), [((), 0), (("*",), 1)])
def test_a_gateway_that_runs_is_asked_as_a_stranger(hosts, count):
    async def run():
        async with serving(Config(server=Server(hosts=hosts))) as url:
            return await probe(url)

    found = asyncio.run(run())
    assert len(found) == count
    assert all(each.severity == "serious" for each in found)
