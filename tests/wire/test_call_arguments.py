"""Arguments of calls as objects."""

import pytest

from toolglot.wire.call_arguments import read_arguments


@pytest.mark.parametrize(
    ("text", "value", "codes"),
    [
        ('{"a":1}', {"a": 1}, []),
        ("", {}, []),
        ("null", {}, []),
        ("[1]", {"$value": [1]}, ["arguments-wrapped"]),
        ('{"cut', {"$invalid": '{"cut'}, ["arguments-invalid"]),
        ('{"a":1,"a":2}', {"a": 2}, ["arguments-normalised"]),
        ('[{"a":1,"a":2}]', {"$value": [{"a": 2}]}, ["arguments-normalised", "arguments-wrapped"]),
    ],
)
def test_arguments_as_an_object(text, value, codes):
    found, troubles = read_arguments(text)
    assert found == value
    assert [code for code, _ in troubles] == codes
