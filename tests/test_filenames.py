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
        "test_session.py",
        """detect_protocol feature_probes parse_response probe probe_findings probe_requests prober
        result urls""",
    ),
}
"""Folders whose modules work behind one door: its tests, and the modules behind it (or all)."""


STREAMS = ("stream", "stream_decoder")
TESTED_THROUGH = {
    "framing": STREAMS,
    "partial_arguments": STREAMS,
    "stream_decoder": STREAMS,
    "stream_encoder": STREAMS,
    "stream_index": STREAMS,
}
"""Modules of a protocol without tests of their own, and those that have them; others: requests."""


def protocol_home(module: Path) -> Path:
    """The tests of a module of a protocol: its own, or those of what it works for."""
    folder, own = module.parent, module.stem.lstrip("_")
    stems = (own, *TESTED_THROUGH.get(own, ("request",)))
    places = [folder / f"test_{stem}.py" for stem in stems]
    return next((place for place in places if (TESTS / place).is_file()), places[0])


def home(module: Path) -> Path:
    """Where the tests of a module live, below tests/."""
    door, behind = DOORS.get(module.parts[0], ("", ""))
    if door and (not behind or module.stem in behind.split()):
        return Path(module.parts[0], door)
    if module.parts[0] == "protocols" and len(module.parts) > 2:
        return protocol_home(module)
    if module.parts[0] in {"demo", "history"}:
        return Path(f"test_{module.parts[0]}.py")
    return module.with_name(f"test_{module.name}")


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("ir.py", "test_ir.py"),
        ("wire/sse.py", "wire/test_sse.py"),
        ("protocols/gemini/request.py", "protocols/gemini/test_request.py"),
        ("protocols/gemini/surface.py", "protocols/gemini/test_request.py"),
        ("gateway/relay/routing.py", "gateway/relay/test_routing.py"),
        ("demo/turn.py", "test_demo.py"),
        ("schema/walk.py", "schema/test_walk.py"),
        ("schema/required.py", "schema/test_required.py"),
    ],
)
def test_home(module, test):
    assert (SOURCE / module).is_file()
    assert home(Path(module)) == Path(test)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_module_has_a_test_module(module):
    assert (TESTS / home(module)).is_file(), f"{module} has no tests/{home(module)}"
