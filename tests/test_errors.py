"""The exceptions: what they say, what they carry, and that they travel."""

import copy
import pickle

import pytest

from toolglot import errors
from toolglot.errors import (
    DecodeError,
    InexpressibleError,
    StreamError,
    ToolglotError,
    UnknownProtocolError,
    UntranslatableError,
)
from toolglot.receipt import Note

ONE = Note("field-dropped", "unsupported", "seed", "no seed there")
NOWHERE = Note("stop-mapped", "lossy", "", "nearest one")


def test_every_error_has_one_base():
    raised = [value for value in vars(errors).values() if isinstance(value, type)]
    assert all(issubclass(value, ToolglotError) for value in raised)
    assert all(value.__name__ in (errors.__doc__ or "") for value in raised)


@pytest.mark.parametrize(
    ("error", "base"), [(DecodeError, ValueError), (UnknownProtocolError, LookupError)]
)
def test_errors_are_also_what_python_calls_them(error, base):
    assert issubclass(error, base)


def test_a_decode_error_says_where():
    error = DecodeError("messages[3].role", "expected string, got int")
    assert str(error) == "messages[3].role: expected string, got int"
    assert (error.path, error.message) == ("messages[3].role", "expected string, got int")
    assert str(DecodeError("", "not JSON")) == "not JSON"


def test_an_untranslatable_error_carries_the_notes():
    error = UntranslatableError((ONE, NOWHERE, ONE))
    assert error.notes == (ONE, NOWHERE, ONE)
    assert str(error) == "seed: no seed there (and 2 more)"
    assert str(UntranslatableError((ONE,))) == "seed: no seed there"
    assert str(UntranslatableError((NOWHERE,))) == "nearest one"


def test_an_unknown_protocol_is_answered_with_the_known_ones():
    error = UnknownProtocolError("smtp", ("a", "b"))
    assert str(error) == "no protocol named 'smtp'; known: a, b"
    assert error.name == "smtp"


@pytest.mark.parametrize(
    "error",
    [
        DecodeError("a.b", "wrong"),
        DecodeError("", "wrong"),
        UntranslatableError((ONE, NOWHERE)),
        UnknownProtocolError("smtp", ("a", "b")),
        InexpressibleError("pythonic", "no name", "it has no words"),
        StreamError("out of order"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize(
    "travel", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy]
)
def test_errors_travel_between_processes(error, travel):
    again = travel(error)
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
