"""The public names."""

import ast
from pathlib import Path

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


def test_every_public_name_is_used_by_the_typing_check():
    file = Path(__file__).parent / "typing" / "public_api.py"
    tree = ast.parse(file.read_text(encoding="utf-8"))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "toolglot"
    }
    assert set(toolglot.__all__) - used == set()
