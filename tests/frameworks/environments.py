"""Where frameworks are installed: each apart from the others, outside the repository."""

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.frameworks.catalogue import Framework

DRIVERS = Path(__file__).parent / "drivers"
LIMIT = 900.0
"""Seconds that an installation may take."""


class UnavailableError(Exception):
    """A framework cannot be installed here."""


def folder(framework: Framework) -> Path:
    """Where a framework is, or will be."""
    home = os.environ.get("TOOLGLOT_FRAMEWORKS")
    if home:
        return Path(home) / framework.name
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "toolglot" / "frameworks" / framework.name


def command(framework: Framework) -> tuple[list[str], Path]:
    """How the driver of a framework is started, and in which folder; installs it if need be."""
    place = folder(framework)
    with _locked(place):
        _prepare(place, framework)
    if framework.language == "node":
        return ["node", str(place / f"drive_{framework.name}.mjs")], place
    return [str(_python(place)), str(DRIVERS / f"drive_{framework.name}.py")], place


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    """Only one process at a time installs a framework; the others wait and find it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _prepare(place: Path, framework: Framework) -> None:
    stamp = place / "installed.txt"
    wanted = "\n".join(framework.requirements)
    if not stamp.is_file() or stamp.read_text() != wanted:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        _INSTALL[framework.language](place, framework)
        stamp.write_text(wanted)
    if framework.language == "node":
        # Packages are found beside the script, so the script goes to them.
        for script in DRIVERS.glob("*.mjs"):
            copy = place / script.name
            if not copy.is_file() or copy.read_bytes() != script.read_bytes():
                copy.write_bytes(script.read_bytes())


def _python(place: Path) -> Path:
    return place / ("Scripts" if os.name == "nt" else "bin") / "python"


def _install_python(place: Path, framework: Framework) -> None:
    venv.create(place, with_pip=True)
    pip = [str(_python(place)), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    _run([*pip, "install", *framework.requirements], place)


def _install_node(place: Path, framework: Framework) -> None:
    if shutil.which("npm") is None:
        raise UnavailableError("npm is not installed")
    (place / "package.json").write_text('{"private": true, "type": "module"}\n')
    _run(["npm", "install", "--no-audit", "--no-fund", "--silent", *framework.requirements], place)


_INSTALL = {"python": _install_python, "node": _install_node}


def _run(words: list[str], place: Path) -> None:
    try:
        done = subprocess.run(
            words, cwd=place, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{words[0]}: not installed after {LIMIT:g} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no words"]
        raise UnavailableError(f"{Path(words[0]).name} cannot install it: {said[0][:200]}")


def version(framework: Framework) -> str:
    """The version of the first package of a framework."""
    name = framework.requirements[0]
    place = folder(framework)
    if framework.language == "node":
        package = name.rpartition("@")[0] if "@" in name[1:] else name
        words = ["node", "-p", f"require('./node_modules/{package}/package.json').version"]
    else:
        for end in "[<>=":
            name = name.partition(end)[0]
        code = f"import importlib.metadata as m; print(m.version({name!r}))"
        words = [str(_python(place)), "-c", code]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "?"


if __name__ == "__main__":
    from tests.frameworks.catalogue import FRAMEWORKS

    for each in sys.argv[1:] or FRAMEWORKS:
        try:
            command(FRAMEWORKS[each])
        except UnavailableError as error:
            sys.stderr.write(f"{each}: {error}\n")
