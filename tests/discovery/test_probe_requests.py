"""Every question can be asked in every protocol, and is small."""

import pytest

from toolglot.discovery.probe_requests import ENOUGH, LONG_ID, PROBE_REQUESTS, SHORT_ID, SMALL
from toolglot.registry import PROTOCOLS
from toolglot.translate import encode_request
from toolglot.wire import jsontext


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", PROBE_REQUESTS)
def test_a_question_is_small_in_every_protocol(name, protocol):
    wire = encode_request(PROBE_REQUESTS[name], target=protocol)
    assert len(jsontext.encode(wire.body)) < 2000


def test_limits_leave_room_for_a_call_and_for_no_more():
    limits = {name: request.max_tokens for name, request in PROBE_REQUESTS.items()}
    assert set(limits.values()) == {SMALL, ENOUGH}
    assert limits["hello"] == SMALL
    assert limits["tools"] == ENOUGH


def test_ids_that_no_provider_and_that_every_provider_takes():
    assert len(LONG_ID) == 64
    assert len(SHORT_ID) == 9
    assert SHORT_ID.isalnum()
