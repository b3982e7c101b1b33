"""Tools that were seen before cross over as if they were new: the same bytes, the same notes."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.laws.corpus import NAMES, PAIRS, fixture_id, fixtures, load, path_to, requests

from toolglot import ir
from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.exchange import Exchange
from toolglot.registry import get_protocol
from toolglot.translate import translate_request
from toolglot.wire import jsontext

REQUESTS = fixtures("request")


def outcome(make: Any) -> tuple[bytes, tuple[Any, ...]] | str:
    try:
        return make()
    except DecodeError as error:
        return str(error)


def assert_the_same_when_known(source: str, target: str, body: Any) -> None:
    data = jsontext.encode(body)

    def known() -> tuple[bytes, tuple[Any, ...]]:
        exchange = Exchange(source, target)
        return exchange.request(data, path_to(source)).data, exchange.notes

    def new() -> tuple[bytes, tuple[Any, ...]]:
        wire, receipt = translate_request(
            copy.deepcopy(body), source=source, target=target, path=path_to(source)
        )
        return wire.data(), receipt.notes

    expected = outcome(new)
    for _ in range(3):
        assert outcome(known) == expected


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize(("source", "file"), REQUESTS, ids=fixture_id)
def test_tools_of_fixtures(source: str, file: Path, target: str) -> None:
    if source != target:
        assert_the_same_when_known(source, target, load(file))


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(request=requests())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_tools_of_generated_requests(source: str, target: str, request: ir.Request) -> None:
    codec = get_protocol(source)
    body = codec.encode_request(request, Context(target=codec.SURFACE)).body
    assert_the_same_when_known(source, target, body)
