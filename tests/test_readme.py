"""What README.md claims. Its code blocks and links are checked by test_documentation.py."""

import re
import subprocess
from pathlib import Path

from toolglot.cli.clients import CLIENTS
from toolglot.dialects.table import DIALECTS
from toolglot.profiles import profiles
from toolglot.registry import PROTOCOLS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMPARISON = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")


def test_make_knows_the_targets_that_are_shown():
    targets = set(re.findall(r"`make ([a-z-]+)`", README)) | {"run"}
    assert {"test", "site", "cast"} <= targets
    for target in targets:
        done = subprocess.run(
            ["make", "--dry-run", "--always-make", target],
            cwd=ROOT,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()


def test_every_protocol_is_listed():
    assert [name for name in PROTOCOLS if f"| `{name}` |" not in README] == []


def test_the_first_screen_says_what_it_is():
    first = README[:1500]
    for name in ("Claude Code", "Codex", "Gemini CLI", "SDK", "docs/media/run.svg"):
        assert name in first


def test_figures_are_those_of_the_page_of_comparisons():
    row = next(line for line in README.splitlines() if line.startswith("| CPU for an 18 KB"))
    for figure in re.findall(r"[\d,]{3,}", row):
        assert f" {figure} " in COMPARISON


def test_counts_are_right():
    assert f"{len(DIALECTS)} dialects" in COMPARISON
    (count,) = re.findall(r"^\| Providers described[^|]*\| (\d+) \|", README, re.MULTILINE)
    assert int(count) <= len(profiles())
    for name in re.findall(r"toolglot run ([a-z]+)", README):
        assert name in CLIENTS


def test_what_was_not_tried_is_said():
    assert "no provider was asked" in README
    assert "Live trials: **none so\nfar**" in README
