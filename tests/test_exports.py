"""The public names."""

import pytest

import toolglot


def test_every_public_name_has_a_home_and_is_there():
    assert set(toolglot.__all__) == set(toolglot._HOMES)
    for name in toolglot.__all__:
        assert getattr(toolglot, name) is getattr(toolglot, name)
    assert set(toolglot.__all__) <= set(dir(toolglot))


def test_other_names_are_an_error_as_usual():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = toolglot.nonsense
