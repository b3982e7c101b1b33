"""Requests that want no answer of a model."""

import pytest

from toolglot.gateway.http.client import SendFailure
from toolglot.gateway.relay.plain_requests import failure_of, outcome_of


@pytest.mark.parametrize(
    ("failure", "stale", "words"),
    [
        (SendFailure("timeout"), False, "them did not answer in time"),
        (SendFailure("stale", "closed"), True, "closed"),
        (SendFailure("unreachable", "http://user:secret@h"), False, "http://…@h"),
    ],
)
def test_no_reply(failure, stale, words):
    outcome = outcome_of("them", failure)
    assert outcome.stale is stale
    assert words in failure_of("them", failure).message
    assert "secret" not in str(outcome.error)
