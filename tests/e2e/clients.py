"""Real clients from npm: installing them once, and running them without a screen."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from toolglot.cli.clients import CLIENTS, AgentClient

CACHE = Path(os.environ.get("TOOLGLOT_CACHE") or Path.home() / ".cache/toolglot/clients")
_INSTALL_SECONDS = 300

_NATIVE = {"claude": "@anthropic-ai/claude-code-*/claude", "opencode": "opencode-*/bin/opencode"}
"""Programs that an install script would put in place; install scripts are not run."""
_NODE = 20
"""The oldest Node that clients take which are written for it."""

_HEADLESS: dict[str, Callable[[str], list[str]]] = {
    "claude": lambda prompt: [
        "-p", prompt, "--allowedTools=Bash,Read", "--output-format=stream-json", "--verbose",
    ],
    "codex": lambda prompt: [
        "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json",
        prompt,
    ],
    "gemini": lambda prompt: ["-p", prompt, "--yolo", "--output-format=json"],
    "opencode": lambda prompt: ["run", "--format=json", prompt],
    "qwen": lambda prompt: ["-p", prompt, "--yolo", "--output-format=json"],
}  # fmt: skip
"""Arguments for one prompt without questions."""

TRIED = tuple(_HEADLESS)
"""Clients that play the scenarios."""

QUIET = {
    "CI": "1",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "IS_SANDBOX": "1",
    "DISABLE_AUTOUPDATER": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
}
"""No updates, no downloads and no telemetry."""

_SETTINGS = {
    ".gemini/settings.json": '{"general": {"enableAutoUpdate": false}, "privacy": '
    '{"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}',
    # Pictures go only to models that are known, or said, to see.
    ".qwen/settings.json": '{"general": {"enableAutoUpdate": false}, "privacy": '
    '{"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}, "model": '
    '{"generationConfig": {"modalities": {"image": true}}}}',
    ".codex/config.toml": 'check_for_update_on_startup = false\nweb_search = "disabled"\n'
    "[analytics]\nenabled = false\n",
}
"""What the user of a fresh home folder has set, so that nothing leaves the machine."""


class UnavailableError(Exception):
    """A client cannot be installed here, or not run."""


@cache
def _need_node(least: int) -> None:
    """Clients that are written for Node need one that is new enough."""
    node = shutil.which("node")
    if node is None:
        raise UnavailableError("node is not installed")
    said = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout
    if int(said.lstrip("v").partition(".")[0]) < least:
        raise UnavailableError(f"node {said.strip()} is older than {least}")


def program(name: str) -> Path:
    """Where the program of a client is; it is installed on first use."""
    client = CLIENTS[name]
    if name not in _NATIVE:
        _need_node(_NODE)
    folder = CACHE / f"{name}-{client.version}"
    if not folder.exists():
        _install(client, folder)
    found = (folder / "node_modules").glob(_NATIVE.get(name, f".bin/{name}"))
    return min(found, key=lambda path: len(str(path)))


def _install(client: AgentClient, folder: Path) -> None:
    """Install beside its place and then move it there, since others may do the same."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=CACHE) as beside:
        _npm_install(f"{client.package}@{client.version}", beside)
        # If it fails, somebody else was faster.
        with suppress(OSError):
            Path(beside).rename(folder)
        Path(beside).mkdir(exist_ok=True)


def _npm_install(package: str, folder: str, tries: int = 2) -> None:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise UnavailableError("node and npm are not installed")
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder]
    try:
        subprocess.run(
            [*command, package], check=True, capture_output=True, timeout=_INSTALL_SECONDS
        )
    except subprocess.CalledProcessError as error:
        if tries > 1:
            _npm_install(package, folder, tries - 1)
            return
        last = error.stderr.decode().strip().splitlines()[-1:]
        raise UnavailableError(f"npm cannot install {package}: {last}") from error
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"npm did not install {package} in time") from error


@dataclass(frozen=True)
class Ran:
    """How a client ended."""

    code: int | None
    """None if it had to be stopped."""
    out: str
    err: str
    seconds: float


_RESUMING: dict[str, Callable[[str], list[str]]] = {
    "claude": lambda session: ["--resume", session],
    "codex": lambda session: ["resume", session],
}
"""More arguments, before the prompt, to go on with a session."""


def headless(name: str, prompt: str, session: str = "") -> list[str]:
    """Arguments for one prompt without questions, of a session if there is one."""
    arguments = _HEADLESS[name](prompt)
    place = arguments.index(prompt)
    more = _RESUMING[name](session) if session else []
    # Claude Code has its prompt behind `-p`; Codex takes it last.
    place = place + 1 if name == "claude" else place
    return [*arguments[:place], *more, *arguments[place:]]


async def drive(
    name: str,
    protocol: str,
    *,
    url: str,
    model: str,
    prompt: str,
    root: Path,
    limit: float,
    session: str = "",
) -> Ran:
    """Run a client with `toolglot run`, in a home of its own below `root`, and wait for its end."""
    home, work, bin_ = (root / each for each in ("home", "work", "bin"))
    for folder in (home, work, bin_):
        folder.mkdir(parents=True, exist_ok=True)
    (bin_ / name).symlink_to(program(name))
    for path, text in _SETTINGS.items():
        (home / path).parent.mkdir(exist_ok=True)
        (home / path).write_text(text)
    (work / "opencode.json").write_text(
        '{"autoupdate": false, "share": "disabled", '
        '"permission": {"bash": "allow", "edit": "allow"}}'
    )
    command = [
        sys.executable, "-m", "toolglot", "run", name, "--protocol", protocol, "--gateway", url,
        "--model", model, "--", *headless(name, prompt, session),
    ]  # fmt: skip
    environment = QUIET | {
        "HOME": str(home),
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=work,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    talking = asyncio.gather(process.stdout.read(), process.stderr.read(), process.wait())
    code: int | None = None
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                code = await process.wait()
    finally:
        _end(process.pid)
    out, err, _ = await talking
    seconds = time.monotonic() - started
    return Ran(code, out.decode(errors="replace"), err.decode(errors="replace"), seconds)


def _end(group: int) -> None:
    """End what is left of a process group that we started."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
