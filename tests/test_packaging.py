"""What is published: a wheel and a source archive, installed by somebody who has nothing of ours.

The newcomer has a fresh home, a short path and an own virtual environment, and does what README.md
says, line by line. What happened is part of the output of the test.
"""

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from tests.documents import ROOT, bare_environment, blocks, run_commands
from tests.e2e.clients import CACHE

from toolglot.cli.clients import CLIENTS

pytestmark = pytest.mark.packaging
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")


def call(*command: object, **more: object) -> str:
    done = subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, check=False, **more
    )
    if done.returncode and "pip" in command and "No matching distribution" in done.stderr:
        pytest.skip("packages cannot be had here")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the source archive, built from a copy of what is committed or changed here."""
    root = tmp_path_factory.mktemp("build")
    tracked = call("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "bench/")):
            (root / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / "source" / name)
    call(sys.executable, "-m", "venv", root / "builder")
    python = root / "builder/bin/python"
    call(python, *PIP, "install", "build", timeout=100)
    call(python, "-m", "build", "--outdir", root / "dist", root / "source", timeout=110)
    return root / "dist"


@pytest.fixture(scope="module")
def newcomer(built, tmp_path_factory):
    """A virtual environment with the gateway, installed from the wheel."""
    home = tmp_path_factory.mktemp("newcomer")
    call(sys.executable, "-m", "venv", home / "venv")
    [wheel] = built.glob("*.whl")
    call(home / "venv/bin/python", *PIP, "install", f"{wheel}[gateway]", timeout=110)
    return home


@pytest.mark.timeout(240)
def test_what_is_in_the_archives(built):
    [wheel], [source] = built.glob("*.whl"), built.glob("*.tar.gz")
    inside = zipfile.ZipFile(wheel).namelist()
    assert {"toolglot/__init__.py", "toolglot/py.typed", "toolglot/_version.py"} <= set(inside)
    assert not [name for name in inside if name.startswith(("tests", "docs", "scripts"))]
    with tarfile.open(source) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert {"README.md", "LICENSE", "pyproject.toml", "src/toolglot/cli/run.py"} <= set(names)
    metadata = next(name for name in inside if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    assert "Description-Content-Type: text/markdown" in text
    assert "License-Expression: Apache-2.0" in text


@pytest.mark.timeout(240)
def test_the_source_archive_builds_the_same_wheel(built, tmp_path):
    """Without git: the version is the one that was written into it."""
    [wheel], [source] = built.glob("*.whl"), built.glob("*.tar.gz")
    python = built.parent / "builder/bin/python"
    call(python, *PIP, "wheel", "--no-deps", "--wheel-dir", tmp_path, source, timeout=110)
    [again] = tmp_path.glob("*.whl")
    assert again.name == wheel.name
    assert zipfile.ZipFile(again).namelist() == zipfile.ZipFile(wheel).namelist()


@pytest.mark.timeout(240)
def test_the_core_needs_one_package(built, newcomer):
    listed = call(newcomer / "venv/bin/python", "-m", "pip", "list", "--format=freeze")
    names = {line.partition("==")[0].lower() for line in listed.splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["gateway"]]
    assert names <= {each.partition(">")[0] for each in wanted} | {"toolglot", "pip", "setuptools"}


@pytest.mark.timeout(300)
def test_a_newcomer_does_what_the_readme_says(newcomer, tmp_path, capsys):
    work, tools = tmp_path / "work", tmp_path / "bin"
    work.mkdir()
    tools.mkdir()
    shutil.copytree(ROOT / "examples", work / "examples")
    (work / "notes.txt").write_text("The ferry leaves at nine.\n")
    if program := _claude():
        (tools / "claude").symlink_to(program)
    environment = bare_environment(tmp_path, newcomer / "venv/bin", tools)
    assert shutil.which("toolglot", path=environment["PATH"]).startswith(str(newcomer))
    wrong, transcript = [], [""]
    for page in ("README.md", "docs/tutorial.md"):
        for ran in run_commands(page, work, environment):
            transcript += [f"$ {ran.command.line}", ran.printed.rstrip()]
            if not ran.command.fits(ran.printed) and "npm install" not in ran.printed:
                wrong.append(ran.command.line)
    for number, block in enumerate(blocks("README.md", "python")):
        if "import anthropic" not in block:  # the SDK is not there yet
            printed = call(newcomer / "venv/bin/python", "-c", block, env=environment, cwd=work)
            transcript += [f">>> block {number} of README.md", printed.rstrip()]
    with capsys.disabled():
        print("\n".join(transcript))  # noqa: T201 - it is what this test is for
    assert wrong == []


def _claude() -> Path | None:
    """Claude Code, if the trials have installed it."""
    folder = CACHE / f"claude-{CLIENTS['claude'].version}"
    found = folder.glob("node_modules/@anthropic-ai/claude-code-*/claude")
    return next(found, None)
