"""Loggers that are put back after each test, and a log to read."""

import io
import logging

import pytest

from toolglot.gateway.telemetry import logs
from toolglot.gateway.telemetry.logs import LOGGER


@pytest.fixture(autouse=True)
def _restore_loggers():
    loggers = LOGGER, logging.getLogger("aiohttp"), logging.getLogger("asyncio")
    before = [(each.handlers[:], each.level, each.propagate) for each in loggers]
    yield
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


@pytest.fixture
def log():
    """What is logged at level `info`, as JSON lines."""
    stream = io.StringIO()
    logs.set_up(stream=stream)
    return stream
