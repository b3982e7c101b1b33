"""The text of a model in the error of a provider that could not read it."""

import pytest

from toolglot.mending import failed_text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error":{"code":"tool_use_failed","failed_generation":"<a>"}}', "<a>"),
        (b'{"failed_generation":"<a>","message":"no"}', "<a>"),
        (b'{"error":{"failed_generation":" "}}', None),
        (b'{"error":{"failed_generation":null}}', None),
        (b'{"error":{"message":"see failed_generation"}}', None),
        (b'{"error":"failed_generation', None),
        (b"[]", None),
        (b'["failed_generation"]', None),
    ],
)
def test_the_text(body, text):
    assert failed_text(body) == text
