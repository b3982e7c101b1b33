"""`constraints.txt` fits `pyproject.toml` and what is installed; what a release says of it."""

import importlib.util
import sys
from importlib.metadata import distributions, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def constraints():
    path = ROOT / "scripts" / "constraints.py"
    spec = importlib.util.spec_from_file_location("constraints", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_requirement_has_a_version_that_fits(constraints):
    needed = constraints.required()
    assert {"msgspec", "httptools", "websockets", "json-repair"} <= {each.name for each in needed}
    assert list(constraints.problems(constraints.read(), needed)) == []


def test_a_version_that_does_not_fit_is_told(constraints):
    needed = [Requirement("msgspec>=0.19,<1"), Requirement("uvloop>=0.20")]
    found = list(constraints.problems({"msgspec": "1.2"}, needed))
    assert found == ["msgspec==1.2 is not <1,>=0.19", "uvloop has no version"]


@pytest.mark.skipif(
    Path(sys.prefix) != ROOT / ".venv", reason="only what make installs is held to it"
)
def test_what_make_installed_is_what_is_pinned(constraints):
    installed = {each.name.lower().replace("_", "-") for each in distributions()}
    # Extras that tests do without, such as `ray`, are not installed.
    pinned = {name: at for name, at in constraints.read().items() if name in installed}
    assert {"msgspec", "httptools", "uvloop"} <= pinned.keys()
    assert {name: version(name) for name in pinned} == pinned


REPORT = {
    "install": [
        {
            "metadata": {"name": "toolglot", "version": "0.1.0"},
            "download_info": {"url": "file:///x", "dir_info": {}},
        },
        {
            "metadata": {"name": "Msgspec", "version": "0.22.0", "license": "BSD\nlong text"},
            "download_info": {"archive_info": {"hashes": {"sha256": "ab" * 32}}},
        },
    ]
}


def test_a_release_names_archives_with_their_hashes(constraints):
    assert constraints.with_hashes(REPORT) == f"msgspec==0.22.0 --hash=sha256:{'ab' * 32}\n"
    bill = constraints.bill(REPORT, constraints.own_version(REPORT))
    (component,) = bill["components"]
    assert component == {
        "type": "library",
        "name": "msgspec",
        "version": "0.22.0",
        "purl": "pkg:pypi/msgspec@0.22.0",
        "hashes": [{"alg": "SHA-256", "content": "ab" * 32}],
        "licenses": [{"license": {"name": "BSD"}}],
    }
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/toolglot@0.1.0"
