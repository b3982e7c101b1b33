"""A public class name and a file name mean one thing in the whole package."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "toolglot"

EXCEPTIONS: dict[str, set[str]] = {}
"""Names that still have two meanings. This list only gets shorter."""


def homes() -> dict[str, set[str]]:
    """Public classes and the modules that define them; in protocols the same names recur."""
    found = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        module = path.relative_to(SOURCE)
        if module.parts[0] == "protocols":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(module.as_posix())
    return found


def test_no_class_name_has_two_meanings():
    twice = {name: modules for name, modules in homes().items() if len(modules) > 1}
    assert {name: modules for name, modules in twice.items() if name not in EXCEPTIONS} == {}


def test_exceptions_are_still_needed():
    known = homes()
    gone = {name for name in EXCEPTIONS if len(known[name]) < 2}
    assert gone == set(), "take these off the list"


def test_no_file_name_occurs_twice():
    """But for protocols, which all have the same modules."""
    found = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        module = path.relative_to(SOURCE)
        if module.parts[0] != "protocols" and module.stem not in {"__init__", "__main__"}:
            found[module.name].add(module.as_posix())
    assert {name: modules for name, modules in found.items() if len(modules) > 1} == {}
