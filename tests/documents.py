"""The code blocks of README.md and docs/, and commands of them run as a reader would."""

import os
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str, language: str | None = None) -> list[str]:
    """The blocks of a page in a language, or the languages of all of its blocks."""
    found = _BLOCK.findall(PAGES[page])
    if language is None:
        return [each for each, _ in found]
    return [text for each, text in found if each == language]


class Command(NamedTuple):
    """A command of a console block, and what it is said to print."""

    line: str
    expected: str

    def fits(self, printed: str) -> bool:
        """Whether it printed that; `...` stands for anything."""
        parts = map(re.escape, self.expected.strip().split("..."))
        return re.fullmatch(".*?".join(parts), printed.strip(), re.DOTALL) is not None


def commands(page: str) -> list[Command]:
    """The commands of a page, in order."""
    found = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = part.partition("\n")
            found.append(Command(line, expected))
    return found


class Ran(NamedTuple):
    """A command that was run, and what it printed."""

    command: Command
    printed: str


def run_commands(page: str, folder: Path, environment: Mapping[str, str]) -> Iterator[Ran]:
    """Run the commands of a page one after the other; those with `&` stay until the end."""
    port = str(_free_port())
    with ExitStack() as running:
        for command in commands(page):
            line, expected = command
            if any(each.line.endswith("&") for each in commands(page)):
                expected = expected.replace("8100", port)
                line = line.replace("8100", port).replace("serve --quiet", f"serve --port {port}")
                line = line.replace("serve --port", "serve --quiet --port")
            if line.endswith("&"):
                printed = running.enter_context(_background(line[:-1], folder, environment))
            else:
                printed = subprocess.run(
                    ["bash", "-c", line],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    timeout=100,
                    check=False,
                ).stdout.decode("utf-8", "replace")
            yield Ran(Command(command.line, expected), printed)


@contextmanager
def _background(line: str, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """A server, once it has written its first line; it is ended with the page."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {line}"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        yield process.stdout.readline().decode()
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def bare_environment(home: Path, *folders: Path) -> dict[str, str]:
    """A shell of somebody who has just arrived: no keys, no settings, a short path."""
    system = [each for each in os.environ["PATH"].split(":") if each in _SYSTEM]
    return {
        "HOME": str(home),
        "PATH": ":".join((*map(str, folders), *system)),
        "LANG": "C.UTF-8",
        "IS_SANDBOX": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


_SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin")
