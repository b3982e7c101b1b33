"""llm-comply, a public suite: requests to the gateway, answers checked against the providers' own
OpenAPI documents. The model is the built-in one: asked directly, or behind each protocol in turn.

https://pypi.org/project/llm-comply/ (0.5.0, read 2026-11-16)
"""

import json
import subprocess
import sys
from contextlib import asynccontextmanager
from importlib.util import find_spec

import pytest
from tests.gateway.running import in_thread, provider, serving
from tests.sampling import sampled

from toolglot.gateway.config import Config
from toolglot.registry import PROTOCOLS

pytestmark = pytest.mark.skipif(
    find_spec("llm_comply") is None, reason="llm-comply is not installed"
)

RUN = "import sys; from llm_comply.cli import main; sys.exit(main())"

FORMATS = {
    "anthropic": ("/v1", 9, 1),
    "openai-chat": ("/v1", 9, 1),
    "open-responses": ("/v1", 13, 1),
    "google-genai": ("", 9, 0),
    "google-interactions": ("", 9, 0),
}
"""The base URL of each format, how many tests it has, and how many need a model of another name."""


@asynccontextmanager
async def _gateways():
    """A gateway with the built-in model, and one that asks it in every protocol."""
    async with serving(Config()) as behind:
        providers = {name: provider(name, behind) for name in PROTOCOLS}
        async with serving(Config(providers=providers)) as url:
            yield url


@pytest.fixture(scope="module")
def gateway_url():
    with in_thread(_gateways) as url:
        yield url


# Half of all cases: each format with every second protocol behind it, each protocol in some.
@pytest.mark.parametrize(
    ("form", "model"),
    sampled(2, FORMATS, ["demo", *(f"{name}/demo" for name in PROTOCOLS)]),
)
def test_all_is_green(form, model, gateway_url):
    base, count, skipped = FORMATS[form]
    asked = ["-u", gateway_url + base, "-k", "any", "-m", model, "--format", form, "--json"]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *asked], capture_output=True, text=True, check=False
    )
    results = json.loads(done.stdout)["results"]
    assert {each["id"]: each.get("errors") for each in results if each["status"] == "failed"} == {}
    assert len(results) >= count
    assert sum(each["status"] == "passed" for each in results) >= count - skipped
