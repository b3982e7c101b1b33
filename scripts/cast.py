"""Record the session that README.md begins with, and draw it.

    python scripts/cast.py           # run the commands: docs/media/run.cast and docs/media/run.svg
    python scripts/cast.py --draw    # draw the recording again

The commands are really run, with a real Claude Code and the gateway's built-in demo model; only the
typing is made up. The recording is a file of asciinema (version 2), the drawing an SVG that moves
by itself wherever pictures are shown.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CAST = ROOT / "docs" / "media" / "run.cast"
SVG = ROOT / "docs" / "media" / "run.svg"

PROMPT = "$ "
SESSION = (
    "toolglot run claude --model demo -- -p 'Run `cat notes.txt`.' --allowedTools=Bash",
    "toolglot translate --from anthropic --provider openai --model gpt-5.5 request.json > out.json",
)
NOTES = "The ferry leaves at nine.\n"

COLUMNS = 100
LINE = 20
WIDTH = 8.4
MARGIN = 16
BAR = 34
KEY_SECONDS = 0.035
LONGEST_PAUSE = 2.0
READING_SECONDS = 1.2
HOLD_SECONDS = 5.0
COLOURS = {
    "unsupported:": "#ff7b72",
    "lossy:": "#e3b341",
    "info:": "#79c0ff",
    "#": "#8b949e",
    ">": "#7ee787",
}


# --- recording ------------------------------------------------------------------------------------


def record() -> str:
    """Run the session in a fresh home, and return what asciinema would have written."""
    sys.path.insert(0, str(ROOT))
    from tests.e2e.clients import program  # noqa: PLC0415 - it installs Claude Code if need be

    with tempfile.TemporaryDirectory() as root:
        home, work, tools = (Path(root, name) for name in ("home", "work", "bin"))
        for folder in (home, work, tools):
            folder.mkdir()
        (tools / "claude").symlink_to(program("claude"))
        own = tools / "toolglot"
        own.write_text(f'#!/bin/sh\nexec {sys.executable} -m toolglot "$@"\n')
        own.chmod(0o755)
        (work / "notes.txt").write_text(NOTES)
        shutil.copy(ROOT / "examples" / "request.json", work)
        environment = {
            "HOME": str(home),
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "LANG": "C.UTF-8",
            "IS_SANDBOX": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        head = {"version": 2, "width": COLUMNS, "height": 24, "title": "toolglot"}
        lines = [json.dumps(head)]
        clock = 0.0
        for command in SESSION:
            for moment, text in _events(command, work, environment):
                lines.append(json.dumps([round(clock + moment, 3), "o", text], ensure_ascii=False))
                last = clock + moment
            clock = last + READING_SECONDS
        return "\n".join(lines) + "\n"


def _events(command: str, work: Path, environment: dict[str, str]) -> Iterator[tuple[float, str]]:
    """What is typed, and what the command writes, with the seconds since the prompt."""
    moment = 0.0
    yield moment, PROMPT
    for key in command:
        moment += KEY_SECONDS
        yield moment, key
    moment += 0.4
    yield moment, "\n"
    process = subprocess.Popen(
        ["bash", "-c", command],  # our own text
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    before = time.monotonic()
    while process.stdout and (data := os.read(process.stdout.fileno(), 65536)):
        now = time.monotonic()
        moment += min(now - before, LONGEST_PAUSE)
        before = now
        yield moment, data.decode("utf-8", "replace")
    if process.wait():
        sys.exit(f"{command}: exit code {process.returncode}")


# --- drawing --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """A line of the terminal: when it appears, and for how long it is typed."""

    text: str
    start: float
    typed: float = 0.0


def draw(cast: str) -> str:
    """The SVG of a recording."""
    lines = list(_shown(cast))
    total = max(line.start + line.typed for line in lines) + HOLD_SECONDS
    height = BAR + len(lines) * LINE + MARGIN
    width = round(2 * MARGIN + COLUMNS * WIDTH)
    style, body = [], []
    for number, line in enumerate(lines):
        y = BAR + (number + 1) * LINE - 6
        style.append(_appearance(f"l{number}", line.start, total))
        body.append(f'<text class="l{number}" x="{MARGIN}" y="{y}">{_coloured(line.text)}</text>')
        if line.typed:
            keys = len(line.text) - len(PROMPT)
            style.append(_typing(f"t{number}", line, total, keys))
            left = MARGIN + len(PROMPT) * WIDTH
            body.append(
                f'<rect class="t{number}" x="{left:g}" y="{y - 15}" width="{width - left:g}" '
                f'height="{LINE}" fill="#0d1117"/>'
            )
    spoken = escape(" ".join(line.text for line in lines), quote=True)
    return "\n".join(
        (
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                f'width="{width}" height="{height}" role="img" aria-label="{spoken}">'
            ),
            "<style>",
            (
                "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3;"
                "white-space:pre}"
            ),
            (
                "@media (prefers-reduced-motion:reduce){*{animation:none!important}rect[class]"
                "{display:none}}"
            ),
            *style,
            "</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
            *(
                f'<circle cx="{18 + 18 * place}" cy="17" r="5.5" fill="{colour}"/>'
                for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
            ),
            f'<clipPath id="screen"><rect width="{width}" height="{height}" rx="8"/></clipPath>',
            '<g clip-path="url(#screen)">',
            *body,
            "</g>",
            "</svg>",
            "",
        )
    )


def _shown(cast: str) -> Iterator[Shown]:
    """The lines of a recording, cut where the terminal is full."""
    text, start, end = "", 0.0, 0.0
    for line in cast.splitlines()[1:]:
        moment, _, written = json.loads(line)
        for piece in written.replace("\r", "").splitlines(keepends=True):
            if not text:
                start = moment
            if piece.endswith("\n"):
                yield from _wrapped(text + piece[:-1], start, end)
                text = ""
            else:
                text, end = text + piece, moment
    if text:
        yield from _wrapped(text, start, end)


def _wrapped(text: str, start: float, end: float) -> Iterator[Shown]:
    typed = end - start if text.startswith(PROMPT) else 0.0
    if typed or len(text) <= COLUMNS:
        yield Shown(text, start, typed)
        return
    for place in range(0, len(text), COLUMNS):
        yield Shown(text[place : place + COLUMNS], start)


def _appearance(name: str, start: float, total: float) -> str:
    percent = 100 * start / total
    return (
        f".{name}{{animation:{name} {total:.2f}s step-end infinite}}"
        f"@keyframes {name}{{0%{{opacity:0}}{percent:.2f}%{{opacity:1}}100%{{opacity:1}}}}"
    )


def _typing(name: str, line: Shown, total: float, keys: int) -> str:
    begin, end = (100 * each / total for each in (line.start, line.start + line.typed))
    moved = keys * WIDTH
    return (
        f".{name}{{animation:{name} {total:.2f}s infinite}}"
        f"@keyframes {name}{{0%,{begin:.2f}%{{transform:none;"
        f"animation-timing-function:steps({keys})}}{end:.2f}%{{transform:translateX({moved:g}px);"
        f"opacity:1}}{end + 0.01:.2f}%,100%{{transform:translateX({moved:g}px);opacity:0}}}}"
    )


def _coloured(text: str) -> str:
    if text.startswith(PROMPT):
        return f'<tspan fill="#7ee787">$</tspan> {escape(text[len(PROMPT) :])}'
    word = text.lstrip().partition(" ")[0]
    if word in COLOURS:
        indent = text[: len(text) - len(text.lstrip())]
        rest = escape(text.lstrip()[len(word) :])
        return f'{indent}<tspan fill="{COLOURS[word]}">{escape(word)}</tspan>{rest}'
    return escape(text)


def main() -> None:
    """Record, unless only a drawing is asked for, and draw."""
    parser = argparse.ArgumentParser(description="Record the session of the README and draw it.")
    parser.add_argument("--draw", action="store_true", help="draw the last recording again")
    if not parser.parse_args().draw:
        CAST.parent.mkdir(exist_ok=True)
        CAST.write_text(record(), encoding="utf-8")
    SVG.write_text(draw(CAST.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
