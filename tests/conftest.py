"""Hypothesis profiles and the golden-file fixture."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from tests.sampling import in_sample

GOLDEN = Path(__file__).parent / "golden"
ASKED_FOR = {
    Path(__file__).parent / "e2e" / "test_clients.py": "e2e",
    Path(__file__).parent / "frameworks" / "test_frameworks.py": "frameworks",
    Path(__file__).parent / "test_packaging.py": "packaging",
}
"""Tests that take long and need npm or PyPI, and the mark by which they are asked for."""

settings.register_profile("quick", max_examples=12, deadline=None, phases=[Phase.generate])
settings.register_profile("dev", max_examples=50, deadline=None)
# The same examples every time: a build must not depend on luck. `nightly` looks for new ones.
settings.register_profile("ci", max_examples=40, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=5000, deadline=None)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev")
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")
    parser.addoption(
        "--pairs",
        choices=("all", "sample", "rest"),
        default="all",
        help="of tests over pairs of protocols: all cases, some of them, or only the others",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the other part of the tests runs: see `sampling.py`."""
    asked = config.getoption("--pairs")
    if asked != "all":
        sample, rest = in_sample(items)
        items[:] = sample if asked == "sample" else rest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Trials with real clients run only when asked for (-m e2e…, -m frameworks…)."""
    mark = ASKED_FOR.get(collection_path)
    asked = mark is None or mark in str(config.getoption("markexpr"))
    return None if asked else True


def _golden_bytes(value: object) -> bytes:
    """Bytes as they are, text as UTF-8, anything else as pretty JSON in its own key order."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _readable(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, object], None]:
    """Compare a value with a file under tests/golden/, or rewrite it with --update-golden."""

    def check(path: str, value: object) -> None:
        file = GOLDEN / path
        actual = _golden_bytes(value)
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(actual)
        elif not file.exists():
            pytest.fail(f"tests/golden/{path} does not exist: run `make golden`")
        else:
            expected = file.read_bytes()
            assert _readable(actual) == _readable(expected), (
                f"tests/golden/{path} differs: run `make golden` if the change is meant"
            )

    return check
