"""Every source module has its test module in the mirrored place."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "toolglot"
MODULES = sorted(
    path.relative_to(SOURCE)
    for path in SOURCE.rglob("*.py")
    if path.stem not in {"__init__", "__main__"}
)


DOORS = {
    "dialects": ("test_table.py", ""),
    "discovery": (
        "test_steps.py",
        "asking exploring facts finding questions reading result shapes urls values",
    ),
}
"""Folders whose modules work behind one door: its tests, and the modules behind it (or all)."""


def home(module: Path) -> Path:
    """Where the tests of a module live, below tests/."""
    door, behind = DOORS.get(module.parts[0], ("", ""))
    if door and (not behind or module.stem in behind.split()):
        return Path(module.parts[0], door)
    if module.parts[0] == "protocols" and len(module.parts) > 2:
        return Path(module.parts[0], f"test_{module.parts[1]}.py")
    if module.parts[0] == "demo":
        return Path("test_demo.py")
    return module.with_name(f"test_{module.name}")


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("ir.py", "test_ir.py"),
        ("wire/sse.py", "wire/test_sse.py"),
        ("protocols/tables.py", "protocols/test_tables.py"),
        ("protocols/gemini/stream.py", "protocols/test_gemini.py"),
        ("demo/turn.py", "test_demo.py"),
        ("schema/walk.py", "schema/test_walk.py"),
        ("schema/required.py", "schema/test_required.py"),
    ],
)
def test_home(module, test):
    assert home(Path(module)) == Path(test)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_module_has_a_test_module(module):
    assert (TESTS / home(module)).is_file(), f"{module} has no tests/{home(module)}"
