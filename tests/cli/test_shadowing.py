"""What other routers left behind is found, and what is harmless is not reported."""

import pytest

from toolglot.cli.shadowing import find_shadowing

FILES = {
    "home/.claude/settings.json": '{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:3456"}}',
    "work/.claude/settings.local.json": '{"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}',
    "etc/claude-code/managed-settings.json": '{"env": {"CLAUDE_CODE_USE_VERTEX": "1"}}',
    "home/.claude-code-router/config.json": "{}",
    "home/.codex/config.toml": 'model_provider = "azure"',
}
NOTHING = {
    "home/.claude/settings.json": '{"env": {"CLAUDE_CODE_USE_BEDROCK": "0"}, "theme": "dark"}',
    "work/.claude/settings.json": "// not JSON",
    "home/.codex/config.toml": 'model = "gpt-5.5"',
}
VARIABLES = {
    "CLAUDE_CODE_USE_BEDROCK": "1",
    "ANTHROPIC_BASE_URL": "http://old",
    "OPENAI_BASE_URL": "http://old",
    "HTTP_PROXY": "http://proxy",
}


def places(tmp_path, files, environment):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = find_shadowing(environment, tmp_path / "home", tmp_path / "work", tmp_path)
    return [each.place for each in found]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_router(name, tmp_path):
    assert len(places(tmp_path, {name: FILES[name]}, {})) == 1


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable(name, tmp_path):
    assert places(tmp_path, {}, {name: VARIABLES[name]}) == [name]


def test_what_is_harmless(tmp_path):
    harmless = {"HTTP_PROXY": "http://proxy", "NO_PROXY": "localhost,127.0.0.1"}
    assert places(tmp_path, NOTHING, {**harmless, "CLAUDE_CODE_USE_VERTEX": "0"}) == []


def test_what_an_administrator_set_cannot_be_overridden(tmp_path):
    places(tmp_path, FILES, {})
    found = find_shadowing({}, tmp_path / "home", tmp_path / "work", tmp_path)
    managed = next(each for each in found if each.place.startswith("/etc"))
    assert "nothing overrides it" in str(managed)
