"""Versions of the packages and clients that are installed."""

import platform
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from toolglot import __version__
from toolglot.cli.clients import CLIENTS

_PACKAGES: Final = ("httptools", "uvloop", "msgspec")
_SECONDS: Final = 10.0
_VERSION: Final = re.compile(r"\d+\.\d[\w.+-]*")


def packages() -> dict[str, str | None]:
    """Versions by name; None is not installed."""
    found = {name: _package(name) for name in _PACKAGES}
    return {"toolglot": __version__, "Python": platform.python_version(), **found}


def clients() -> dict[str, str | None]:
    """Versions of the clients that `toolglot run` knows; None is not installed."""
    commands = [client.command for client in CLIENTS.values()]
    with ThreadPoolExecutor(len(CLIENTS)) as threads:
        return dict(zip(CLIENTS, threads.map(_program, commands), strict=True))


def _package(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _program(name: str) -> str | None:
    path = shutil.which(name)
    if path is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - a program of the user, as the user would call it
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "does not start"
    found = _VERSION.search(done.stdout.decode(errors="replace"))
    return found[0] if found else "of unknown version"
