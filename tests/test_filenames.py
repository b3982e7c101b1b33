"""Every source module has its test module in the mirrored place."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "toolglot"
MODULES = sorted(
    path.relative_to(SOURCE)
    for path in SOURCE.rglob("*.py")
    if path.stem not in {"__init__", "__main__", "_version"}  # the last is written by the build
)


BEHIND = {
    "cli/test_convert_command.py": """
        cli/byte_progress.py cli/convert_input.py cli/convert_output.py cli/convert_ray.py
        cli/convert_run.py""",
    "convert/test_formats.py": """
        convert/formats/*.py convert/transcript.py convert/format.py convert/identifiers.py
        convert/loose_schemas.py convert/plain_turns.py convert/protocol_rows.py
        convert/read_back.py convert/surfaces.py convert/written_calls.py""",
    "dialects/test_table.py": "dialects/rows/*.py",
    "discovery/test_session.py": """
        discovery/detect_protocol.py discovery/feature_probes.py discovery/prober.py
        discovery/result.py""",
    "gateway/inspector/test_export.py": """
        gateway/inspector/export.py gateway/inspector/folder_app.py
        gateway/inspector/from_recordings.py gateway/inspector/page_files.py""",
    "gateway/inspector/test_inspector.py": """
        gateway/inspector/call_rows.py gateway/inspector/conversation_json.py
        gateway/inspector/copies.py gateway/inspector/exchange_detail.py
        gateway/inspector/exchange_facts.py gateway/inspector/inspector_access.py
        gateway/inspector/inspector_api.py gateway/inspector/live_feed.py""",
    "test_demo.py": "demo/*.py",
    "test_history.py": "history/*.py",
}
"""Tests of several modules, and the modules that are tested together."""


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
    for tests, modules in BEHIND.items():
        if any(map(module.match, modules.split())):
            return Path(tests)
    if module.parts[0] == "protocols" and len(module.parts) > 2:
        return protocol_home(module)
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
        ("dialects/rows/xml.py", "dialects/test_table.py"),
        ("dialects/reader.py", "dialects/test_reader.py"),
        ("discovery/urls.py", "discovery/test_urls.py"),
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


@pytest.mark.parametrize("tests", BEHIND)
def test_what_is_tested_together_has_no_tests_of_its_own(tests):
    modules = [module for module in MODULES if home(module) == Path(tests)]
    assert modules
    own = {module.with_name(f"test_{module.name}") for module in modules} - {Path(tests)}
    assert [path for path in own if (TESTS / path).is_file()] == []


def test_no_helper_is_imported_from_a_test_module():
    found = [
        f"{path.relative_to(TESTS)}: {line}"
        for path in TESTS.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(from|import) tests\.([a-z_.]*\.)?test_", line)
        or re.match(r"\s*from tests[a-z_.]* import .*\btest_", line)
    ]
    assert found == []
