"""The public names."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import toolglot

TREE = ast.parse(Path(toolglot.__file__).read_text())


def test_every_public_name_has_a_home_and_is_there():
    assert set(toolglot.__all__) == {*toolglot._HOMES, *toolglot._MODULES}
    assert len(toolglot.__all__) == len(set(toolglot.__all__)), "no name has two homes"
    for name in toolglot.__all__:
        assert getattr(toolglot, name) is getattr(toolglot, name)
    assert set(toolglot.__all__) <= set(dir(toolglot))


def test_type_checkers_see_the_same_names():
    checked, _ = (node for node in TREE.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module.removeprefix("toolglot").removeprefix(".")
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert seen == toolglot._HOMES | dict.fromkeys(toolglot._MODULES, "")


def test_importing_the_package_imports_next_to_nothing():
    code = "import sys; old = set(sys.modules); import toolglot; print(len(set(sys.modules) - old))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(Path(toolglot.__file__).parent.parent)},
    )
    assert int(done.stdout) <= 5, done.stderr


def test_other_names_are_an_error_as_usual():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = toolglot.nonsense


def test_a_call_is_one_class_everywhere():
    body = {"content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}
    [call] = toolglot.parse_tool_calls(body, "anthropic")
    [part] = toolglot.decode_response(body, source="anthropic").choices[0].parts
    assert type(call) is type(part) is toolglot.ToolCall is toolglot.ir.ToolCall
    assert call == part


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
