"""A clock and a file for stores."""

import pytest
from tests.gateway.clock import Clock


@pytest.fixture
def clock():
    return Clock(1_900_000_000.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toolglot.db"
