"""Versions that were tested together: `constraints.txt`, and what a release says of them.

    python scripts/constraints.py            writes constraints.txt from what is installed here
    python scripts/constraints.py --check    says where it does not fit pyproject.toml
    pip install --dry-run --ignore-installed --report report.json -c constraints.txt '.[all]'
    python scripts/constraints.py --report report.json --sbom sbom.cdx.json --hashes hashes.txt

The last two lines are what the release workflow runs: the archives that pip would install, as a
CycloneDX bill of materials and as requirements with hashes for `pip install --require-hashes`.
"""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "constraints.txt"
NOT_PINNED = frozenset({"local-model", "compression", "all"})
"""Extras that are left out: one is built for each machine, one is partly in newer Pythons, and the
last is made of the rest.
"""
_HEAD = """\
# Versions of dependencies that the tests ran with: pip install -c constraints.txt 'toolglot[all]'
# Written by scripts/constraints.py; tests/test_constraints.py checks it against pyproject.toml.
"""


def required(root: Path = ROOT) -> list[Requirement]:
    """What the package and its extras name themselves."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [each for name, found in extras.items() if name not in NOT_PINNED for each in found]
    return [Requirement(each) for each in (*project["dependencies"], *named)]


def read(path: Path = FILE) -> dict[str, str]:
    """The versions, by the names of packages."""
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.split(";")[0].strip().split("==") for line in lines if line)
    return {canonicalize_name(name): version for name, version in pairs}


def problems(pinned: Mapping[str, str], needed: list[Requirement]) -> Iterator[str]:
    """Where versions do not fit what is required."""
    for each in needed:
        version = pinned.get(canonicalize_name(each.name))
        if version is None:
            yield f"{each.name} has no version"
        elif not each.specifier.contains(version, prereleases=True):
            yield f"{each.name}=={version} is not {each.specifier}"


def installed(needed: list[Requirement]) -> dict[str, str]:
    """The versions here of what is required, and of what that requires."""
    found: dict[str, str] = {}
    waiting = list(needed)
    while waiting:
        each = waiting.pop()
        name = canonicalize_name(each.name)
        if name in found or (each.marker and not each.marker.evaluate({"extra": ""})):
            continue
        try:
            here = distribution(name)
        except PackageNotFoundError:
            raise SystemExit(f"{name} is not installed: run make first") from None
        found[name] = here.version
        waiting += [Requirement(text) for text in here.requires or ()]
    return found


# --- what a release says --------------------------------------------------------------------------


def archives(report: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """The name, version, licence and SHA-256 of each archive in a report of pip, ours left out."""
    found = []
    for item in report["install"]:
        hashes = item["download_info"].get("archive_info", {}).get("hashes", {})
        data = item["metadata"]
        licence = data.get("license_expression") or data.get("license") or ""
        if canonicalize_name(data["name"]) != "toolglot":
            name = canonicalize_name(data["name"])
            found.append((name, data["version"], licence, hashes["sha256"]))
    return sorted(found)


def own_version(report: Mapping[str, Any]) -> str:
    """Our own version in a report of pip, which built us."""
    packages = (each["metadata"] for each in report["install"])
    return next(str(data["version"]) for data in packages if data["name"] == "toolglot")


def bill(report: Mapping[str, Any], version: str) -> dict[str, Any]:
    """The bill of materials (https://cyclonedx.org/docs/1.6/json/, read 2026-11-16)."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "toolglot",
                "version": version,
                "purl": f"pkg:pypi/toolglot@{version}",
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [
            {
                "type": "library",
                "name": name,
                "version": pinned,
                "purl": f"pkg:pypi/{name}@{pinned}",
                "hashes": [{"alg": "SHA-256", "content": digest}],
                **({"licenses": [{"license": {"name": _short(licence)}}]} if licence else {}),
            }
            for name, pinned, licence, digest in archives(report)
        ],
    }


def _short(licence: str) -> str:
    """The first line: some packages have the whole text there."""
    return re.split(r"[\r\n]", licence.strip())[0][:80]


def with_hashes(report: Mapping[str, Any]) -> str:
    """Requirements for `pip install --require-hashes`."""
    return "".join(
        f"{name}=={version} --hash=sha256:{digest}\n"
        for name, version, _, digest in archives(report)
    )


def main() -> int:
    """Write, check, or tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--sbom", type=Path)
    parser.add_argument("--hashes", type=Path)
    options = parser.parse_args()
    if options.report:
        report = json.loads(options.report.read_bytes())
        if options.sbom:
            text = json.dumps(bill(report, own_version(report)), indent=2)
            options.sbom.write_text(text + "\n", encoding="utf-8")
        if options.hashes:
            options.hashes.write_text(with_hashes(report), encoding="utf-8")
        return 0
    if options.check:
        found = list(problems(read(), required()))
        print("\n".join(found) or "constraints.txt fits pyproject.toml")
        return int(bool(found))
    versions = sorted(installed(required()).items())
    FILE.write_text(_HEAD + "".join(f"{name}=={it}\n" for name, it in versions), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
