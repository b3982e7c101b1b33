"""Agent frameworks as they are published, through the gateway, with every upstream (S1-45)."""

import base64
import os
from contextlib import AsyncExitStack, asynccontextmanager
from secrets import token_hex

import pytest
from tests.e2e.trial import png
from tests.frameworks.catalogue import FRAMEWORKS, KNOWN, KNOWN_NATIVE, UNSOLVED
from tests.frameworks.driving import Cell, Driver, DriverError
from tests.frameworks.environments import UnavailableError
from tests.frameworks.playing import FrameworkUpstream, judge
from tests.gateway.running import in_thread, serving, to
from tests.upstreams.strict.upstreams import BY_PROTOCOL

from toolglot.gateway.config import Config
from toolglot.registry import PROTOCOLS

MODELS = {
    "anthropic": "claude-sonnet-4-5",
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-4.1",
    "gemini": "gemini-2.5-flash",
    "ollama": "qwen3:8b",
}
"""What a client of a protocol asks for: a name that it knows."""
FULL = [
    (name, protocol, upstream)
    for name, framework in FRAMEWORKS.items()
    for protocol in framework.protocols
    for upstream in PROTOCOLS
]
SLICE = [
    ("pydantic_ai", "gemini", "openai-chat"),
    ("pydantic_ai", "anthropic", "openai-responses"),
    ("openai_agents", "openai-responses", "openai-chat"),
    ("openai_agents", "openai-chat", "gemini"),
    ("litellm", "ollama", "anthropic"),
    ("litellm", "openai-chat", "anthropic"),
    ("vercel_ai", "openai-responses", "anthropic"),
    ("vercel_ai", "gemini", "ollama"),
]
"""Light frameworks, each with two upstreams that are not its own."""

CONTROL = bool(os.environ.get("TOOLGLOT_CONTROL"))
"""Without the gateway: what fails then too is the framework's own, and belongs into `KNOWN`."""
FULL = [trial for trial in FULL if not CONTROL or trial[1] == trial[2]]

pytestmark = pytest.mark.timeout(1800)


def grouped(trials):
    """Trials of one framework run in one process, which starts it once."""
    return [
        pytest.param(trial, id="-".join(trial), marks=pytest.mark.xdist_group(trial[0]))
        for trial in trials
    ]


@asynccontextmanager
async def places():
    """For each protocol an upstream that speaks it, and a gateway in front of that."""
    async with AsyncExitStack() as stack:
        found = {}
        for name in PROTOCOLS:
            upstream = await stack.enter_async_context(FrameworkUpstream("one"))
            strict = BY_PROTOCOL[name]
            providers = {"strict": strict.at(upstream.url)}
            config = Config(providers=providers, routes=(to(f"strict/{strict.model}"),))
            url = await stack.enter_async_context(serving(config))
            direct = f"{upstream.url}/strict/{strict.provider}"
            found[name] = (upstream, direct if CONTROL else url)
        yield found


@pytest.fixture(scope="module")
def running():
    with in_thread(places) as found:
        yield found


@pytest.fixture(scope="module")
def drivers():
    started = {}

    def driver(name):
        if name not in started:
            try:
                started[name] = Driver(FRAMEWORKS[name])
            except UnavailableError as error:
                started[name] = error
        if isinstance(started[name], UnavailableError):
            pytest.skip(f"{name}: {started[name]}")
        return started[name]

    yield driver
    for each in started.values():
        if isinstance(each, Driver):
            each.close()


def known(name, protocol, cell, *, native):
    """Whose fault it is that a cell fails, and why; without the gateway, nothing is excused."""
    if CONTROL:
        return ""
    scenario, _, form = cell.partition("/")
    if native and (name, protocol, form) in KNOWN_NATIVE:
        return f"client: {KNOWN_NATIVE[name, protocol, form]}"
    places = ((name, protocol, scenario), (name, protocol, cell))
    for whose, table in (("client", KNOWN), ("unsolved", UNSOLVED)):
        for place in places:
            if place in table:
                return f"{whose}: {table[place]}"
    return ""


@pytest.fixture
def play(drivers, running, record_property):
    """Plays all cells of a framework with an upstream."""

    def played(name, protocol, upstream):
        cells = _cells(drivers(name), running[upstream], name, protocol, upstream)
        record_property("framework", (name, protocol, upstream))
        record_property("cells", cells)
        excused = ("ok", "client:", "unsolved:")
        wrong = {cell: why for cell, why in cells.items() if not why.startswith(excused)}
        assert not wrong, "\n".join(f"{cell}: {why}" for cell, why in wrong.items())

    return played


def _cells(driver, place, name, protocol, upstream):
    """What came of each cell: "ok", or what was wrong."""
    framework = FRAMEWORKS[name]
    scripted, url = place
    cells = {}
    for scenario in framework.scenarios:
        for stream in framework.streams:
            pixels = png(token_hex(2))
            scripted.begin(scenario, pixels=pixels, client=protocol)
            # No two conversations begin alike.
            prompt = f"Use the tools until you know the answer. ({token_hex(4)})"
            picture = base64.b64encode(pixels).decode() if scenario == "image" else ""
            asked = Cell(scenario, protocol, url, MODELS[protocol], stream, prompt, picture)
            try:
                answer = driver.run(asked)
            except DriverError as error:
                answer = {"error": str(error)}
            reason = judge(scenario, answer, scripted)
            cell = f"{scenario}/{'stream' if stream else 'whole'}"
            why = known(name, protocol, cell, native=upstream == protocol)
            cells[cell] = "ok" if not reason else why or reason
    return cells


@pytest.mark.frameworks
@pytest.mark.parametrize("trial", grouped(FULL))
def test_a_framework_through_the_gateway(trial, play):
    play(*trial)


@pytest.mark.frameworks_smoke
@pytest.mark.parametrize("trial", grouped(SLICE))
def test_some_frameworks_in_every_build(trial, play):
    play(*trial)


def test_the_slice_has_light_frameworks_only():
    assert {name for name, _, _ in SLICE} == {
        name for name, framework in FRAMEWORKS.items() if framework.in_every_build
    }
    assert set(SLICE) <= set(FULL)
    assert all(protocol != upstream for _, protocol, upstream in SLICE)
