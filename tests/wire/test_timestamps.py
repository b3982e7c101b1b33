"""Times as seconds and as text."""

import pytest

from toolglot.wire.timestamps import epoch_seconds, rfc3339


@pytest.mark.parametrize(
    ("created", "seconds"),
    [
        (None, 7),
        (0, 0),
        (12.9, 12),
        ("1970-01-01T00:01:00Z", 60),
        ("1970-01-01T01:00:00.25+01:00", 0),
        ("1970-01-01T00:00:09", 9),
        ("yesterday", 7),
        ("", 7),
    ],
)
def test_seconds(created, seconds):
    assert epoch_seconds(created, 7) == seconds


@pytest.mark.parametrize(
    ("created", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1.5, "1970-01-01T00:00:01.500000Z"),
        ("as it came", "as it came"),
        (10**20, "1970-01-01T00:00:07Z"),
    ],
)
def test_text(created, text):
    assert rfc3339(created, 7) == text
