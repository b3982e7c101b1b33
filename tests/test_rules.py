"""Rules as data."""

import msgspec
import pytest

from toolglot.rules import PRESETS, ToolRules


def test_names_are_matched_by_patterns():
    rules = ToolRules(filter=("apply_*", "update_plan"))
    assert rules.filters("apply_patch")
    assert rules.filters("update_plan")
    assert not rules.filters("plan")


def test_rules_are_read_from_configuration_and_unknown_keys_are_refused():
    """S1-53: renaming, parameters, equivalents and blocking are all data."""
    given = {
        "filter": ["a"],
        "rename": {"cat": "read_file"},
        "parameters": {"cat": {"path": "file_path"}},
        "guidance": {"a": "Use b."},
    }
    rules = msgspec.convert(given, ToolRules)
    assert rules.rename["cat"] == "read_file"
    with pytest.raises(msgspec.ValidationError, match="fliter"):
        msgspec.convert({"fliter": ["a"]}, ToolRules)


def test_the_preset_for_codex_filters_what_its_authors_filtered():
    """S1-39"""
    preset = PRESETS["codex-anthropic"]
    assert [
        name for name in ("apply_patch", "update_plan", "cat", "grep") if preset.filters(name)
    ] == [
        "apply_patch",
        "update_plan",
    ]
    assert set(preset.guidance) == {"apply_patch", "update_plan"}
