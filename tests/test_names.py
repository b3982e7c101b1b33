"""No module outside `protocols/` and the registry names a protocol.

What a protocol declares is read through the registry, so that a new one needs no change elsewhere.
Docstrings may show examples; string literals and identifiers may not.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolglot.registry import PROTOCOLS

SOURCE = Path(__file__).parents[1] / "src" / "toolglot"
MODULES = sorted(
    path.relative_to(SOURCE)
    for path in SOURCE.rglob("*.py")
    if path.relative_to(SOURCE).parts[0] not in {"protocols", "registry.py"}
    # A format of files names the protocol whose messages it holds.
    and path.relative_to(SOURCE).parts[:2] != ("convert", "formats")
)
WORDS = {word for name in PROTOCOLS for word in (name, name.replace("-", "_"))}
IDENTIFIER = re.compile(rf"(?:^|_)(?:{'|'.join(sorted(WORDS))})(?:_|$)", re.IGNORECASE)

ALLOWED = {
    "ir.py": "`ToolCall.to_anthropic` is part of the public interface",
    "calls.py": "the form of calls that the middleware is asked for by name",
    "cli/clients.py": "which clients speak which protocols, as data",
    "cli/demo.py": "the example that the command translates is written in one protocol",
    "cli/local_model.py": "the configuration for llama.cpp names the protocol that it speaks",
}
"""Modules that name protocols, and why. Those that say `to be moved` should leave this list."""


def named(module: Path) -> Iterator[str]:
    """The protocols in the literals and identifiers of a module, each with its line."""
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    skipped = {id(text) for text in docstrings(tree)}
    for node in ast.walk(tree):
        if id(node) not in skipped and any(map(is_about_protocol, literals(node))):
            yield f"{module}:{node.lineno}: {node.value!r}"
        for name in identifiers(node):
            if IDENTIFIER.search(name):
                yield f"{module}:{getattr(node, 'lineno', 0)}: {name}"


def literals(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def is_about_protocol(text: str) -> bool:
    """A name alone, or in quotes in a longer text, such as one of a configuration."""
    return text in PROTOCOLS or any(f'"{name}"' in text for name in PROTOCOLS)


def docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    """Strings that stand alone, of modules, classes, functions and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def identifiers(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
        case ast.alias(name=name):
            yield from name.split(".")
        case ast.ImportFrom(module=str(name)):
            yield from name.split(".")


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_no_protocol_is_named_outside_its_folder(module):
    found = list(named(module))
    if module.as_posix() in ALLOWED:
        assert found, "nothing is named here any more: take it off the list"
    else:
        assert found == []


def test_names_are_found_where_they_are():
    found = list(named(Path("cli/clients.py")))
    assert any("'openai-responses'" in each for each in found)
    assert not list(named(Path("streams.py"))), "its docstring has an example"
