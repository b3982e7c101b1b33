"""Every code block of README.md and docs/ is run or read; every link leads somewhere."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.documents import PAGES, ROOT, bare_environment, blocks, run_commands

from toolglot import profiles
from toolglot.cli import parser_for
from toolglot.gateway import config

LANGUAGES = {
    "python": "run, page by page",
    "pycon": "run by tests/promises/test_canonical_page.py",
    "toml": "read as a configuration",
    "sh": "checked by bash, and by the parser of our commands",
    "console": "run as written, and what is printed is compared",
    "diff": "for the eye",
    "": "output",
}
REQUEST = {
    "model": "claude-sonnet-5",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
}
CHAT = {"model": "gpt-5.5", "messages": [{"role": "user", "content": "hi"}]}
ANSWER = {
    "id": "chatcmpl-1",
    "model": "gpt-5.5",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
    ],
}
TOOL = {
    "name": "tide",
    "input_schema": {"type": "object", "properties": {"days": {"type": "integer"}}},
}
SAID = {"role": "assistant", "content": "ho"}
BEFORE = {
    "docs/convert.md": {"rows": [{"messages": [*CHAT["messages"], SAID]}]},
    "docs/demo.md": {"body": CHAT},
    "docs/dialects.md": {"text": "hi", "tools": [TOOL], "body": REQUEST},
    "docs/doctor.md": {"body": REQUEST},
    "docs/library.md": {"body": json.dumps(REQUEST).encode(), "reply": json.dumps(ANSWER).encode()},
    "docs/mending.md": {"body": CHAT, "status": 400, "reply": b'{"error": {"message": "no"}}'},
    "docs/providers.md": {"key": "sk-1"},
    "docs/tools-rules.md": {"body": {"model": "gpt-5.5", "input": "hi"}},
    "docs/tools-validation.md": {"answer": ANSWER, "asked": REQUEST, "tool": TOOL},
}
"""What the text of a page introduces before its code."""
READ_ONLY = {
    "docs/discovery.md": "asks a server",
    "docs/responses.md": "asks a gateway; tests/gateway has the same with the SDK",
}
"""Pages whose Python is compiled and not run, and why."""


def test_every_block_is_of_a_kind_that_is_checked():
    used = {language for page in PAGES for language in blocks(page)}
    assert used <= set(LANGUAGES)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
def test_python_runs(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(profiles, "_profiles", dict(profiles._profiles))  # pages register some
    known = {"toolglot": __import__("toolglot"), **BEFORE.get(page, {})}
    for block in blocks(page, "python"):
        # The model that is built in stands for those that need a key.
        text = re.sub(r'"(?:openai|anthropic)/[\w.-]+"(?=[,)])', '"demo"', block)
        code = compile(text, page, "exec")
        if page not in READ_ONLY:
            exec(code, known)  # our own text


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "toml")])
def test_configurations_are_valid(page):
    for block in blocks(page, "toml"):
        raw = tomllib.loads(block)
        if set(raw) <= {"rules"}:  # of a rule book
            continue
        for provider in raw.get("providers", {}).values():
            if not provider.keys() & {"profile", "protocol", "base_url"}:
                provider["profile"] = "openai"
        for route in raw.get("routes", ()):
            for target in [route["to"]] if isinstance(route["to"], str) else route["to"]:
                raw.setdefault("providers", {}).setdefault(
                    target.partition("/")[0], {"profile": "openai"}
                )
        _, problems = config._read(raw)
        elsewhere = ("is not set", "cannot be imported")  # what only the reader's machine has
        assert [what for _, what in problems if not any(e in what for e in elsewhere)] == []


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")])
def test_shell_commands_can_be_called(page):
    for block in blocks(page, "sh"):
        done = subprocess.run(
            ["bash", "-n"], input=block, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        for line in block.splitlines():
            words = shlex.split(line.split(">")[0], comments=True)
            if words[:1] == ["toolglot"]:
                assert callable(parser_for(words[1]).parse_args(words[1:]).run)


REFUSED = {
    "model": "m",
    "max_tokens": 9,
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {}}],
        },
        {"role": "user", "content": "and?"},
    ],
}


@pytest.fixture
def folder(tmp_path):
    """A checkout of somebody, with the files that pages name."""
    (tmp_path / "work").mkdir()
    shutil.copytree(ROOT / "examples", tmp_path / "work" / "examples")
    (tmp_path / "work" / "notes.txt").write_text("The ferry leaves at nine.\n")
    (tmp_path / "work" / "refused.json").write_text(json.dumps(REFUSED))
    own = tmp_path / "bin" / "toolglot"
    own.parent.mkdir()
    own.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT}/src exec {sys.executable} -m toolglot "$@"\n')
    own.chmod(0o755)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")])
def test_console_blocks_print_what_they_show(page, folder):
    environment = bare_environment(folder, folder / "bin")
    for ran in run_commands(page, folder / "work", environment):
        if "npm install" not in ran.printed:  # A client is not installed here.
            assert ran.command.fits(ran.printed), f"$ {ran.command.line}\n{ran.printed}"


def _anchors(text: str) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", head).lower() for head in heads)
    return {re.sub(r"[^\w\s-]", "", head).strip().replace(" ", "-") for head in plain}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    prose = re.sub(r"```.*?```", "", PAGES[page], flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), f"{page} links to {target}"
        if anchor and path.suffix == ".md":
            assert anchor in _anchors(path.read_text(encoding="utf-8")), f"{page}: {target}"


def test_every_page_is_in_the_navigation_of_the_site():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [path.name for path in (ROOT / "docs").glob("*.md") if path.name not in text]
    assert missing == []


def test_errors_that_are_explained_exist():
    """A heading of the troubleshooting page in backticks is a text of ours, or a client's."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    source = re.sub(r"\"\s*\n\s*f?\"", "", source)
    of_clients = ("Prompt is too long", "ran out of room in", "currently experiencing high demand")
    heads = re.findall(r"^### (.+)$", PAGES["docs/troubleshooting.md"], re.MULTILINE)
    quoted = [words for head in heads for words in re.findall(r"`([^`]+)`", head)]
    assert len(quoted) > 20
    for words in quoted:
        pieces = re.split(r"httptools|gateway(?=\])|npm install|/v1(?= off)", words)
        found = all(piece in source for piece in pieces)
        assert found or any(said in words for said in of_clients), words


def test_the_recording_is_drawn_from_what_was_run():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import cast
    finally:
        sys.path.pop(0)
    recorded = cast.CAST.read_text(encoding="utf-8")
    assert cast.SVG.read_text(encoding="utf-8") == cast.draw(recorded)
    shown = "".join(json.loads(line)[2] for line in recorded.splitlines()[1:])
    for command in cast.SESSION:
        assert f"$ {command}\n" in shown
    said = Path(ROOT / "README.md").read_text(encoding="utf-8")
    assert cast.SESSION[0] in said
