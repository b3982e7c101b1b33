"""How long to wait, from the details of an error."""

import pytest

from toolglot.wire.rpc_errors import retry_delay


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        ([{"retryDelay": "11.4s"}], "12"),
        ([{}, {"retryDelay": "soon"}, {"retryDelay": "3s"}], "3"),
        ([7, {"retryDelay": 3}], None),
        (None, None),
    ],
)
def test_a_delay_is_in_whole_seconds(details, seconds):
    assert retry_delay(details) == seconds
