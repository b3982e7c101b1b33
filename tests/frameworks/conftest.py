"""What came of the cells, written down as a table."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from toolglot.registry import PROTOCOLS

PAGE = """\
# Frameworks

Agent frameworks as they are published on PyPI and npm, run through the gateway by
`make frameworks`. Each speaks a protocol with the SDK that it brings; the upstream behind the
gateway speaks the one at the head of the column, and judges what it is sent: every call in its
place, every result at its call, reasoning state as it was issued. A cell is one conversation, whole
or streamed: one call, two at once, four rounds, a tool that fails, reasoning, an answer by JSON
Schema, a picture. Not every framework has all of them.

{count}

Cells are given as passed/counted. `c` counts conversations that fail because of the framework
itself, with or without the gateway; they are listed below.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--frameworks", metavar="FILE", help="write what came of the frameworks there")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Table(config.getoption("--frameworks", None)))


_ROW = re.compile(r"\| (\w+) \| (\S+) \| ([\w-]+) \| (.*) \|")
_REASON = re.compile(r"- (\w+), ([\w-]+), (\S+): (.*) \(([\w, -]*)\)")
_SHOWN = re.compile(r"\**(\d+)/(\d+)\**(?: c(\d+))?")
_NOT_RUN = "not run"


class _Table:
    """Gathers cells, also from other processes, and writes the page at the end.

    A full run takes long: what was not run this time stays on the page as it was.
    """

    def __init__(self, file: str | None) -> None:
        self._file = Path(file) if file else None
        self._rows: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        self._versions: dict[str, str] = {}
        self._reasons: dict[tuple[str, str, str, str], set[str]] = defaultdict(set)
        if self._file is not None and self._file.exists():
            self._recall(self._file.read_text(encoding="utf-8"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        said = dict(report.user_properties)
        if report.when == "call" and "framework" in said:
            name, protocol, upstream = said["framework"]
            self._forget(name, protocol, upstream)
            self._rows[name, protocol][upstream] = _shown(said["cells"])
            for cell, outcome in said["cells"].items():
                if outcome != "ok":
                    reason = " ".join(outcome.split())
                    self._reasons[name, protocol, cell, reason].add(upstream)
            self._write(name)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._rows:
            terminalreporter.write_line(self._count())

    def _write(self, name: str) -> None:
        """After each trial, so that a run that is stopped was not in vain."""
        if self._file is None:
            return
        self._versions[name] = self._version(name)
        self._file.write_text("\n".join(self._page()) + "\n", encoding="utf-8")

    @staticmethod
    @cache
    def _version(name: str) -> str:
        from tests.frameworks.catalogue import FRAMEWORKS
        from tests.frameworks.environments import version

        return version(FRAMEWORKS[name])

    def _recall(self, page: str) -> None:
        for name, version, protocol, cells in _ROW.findall(page):
            if protocol not in PROTOCOLS:
                continue
            self._versions.setdefault(name, version)
            for upstream, shown in zip(PROTOCOLS, cells.split(" | "), strict=True):
                if shown != _NOT_RUN:
                    self._rows[name, protocol].setdefault(upstream, shown)
        for name, protocol, cell, reason, upstreams in _REASON.findall(page):
            self._reasons[name, protocol, cell, reason] |= {*upstreams.split(", ")}

    def _forget(self, name: str, protocol: str, upstream: str) -> None:
        """What an earlier run said of a trial."""
        for key in [key for key in self._reasons if key[:2] == (name, protocol)]:
            self._reasons[key].discard(upstream)
            if not self._reasons[key]:
                del self._reasons[key]

    def _count(self) -> str:
        shown = [_SHOWN.fullmatch(cell) for row in self._rows.values() for cell in row.values()]
        passed, counted, client = (
            sum(int(each[group] or 0) for each in shown if each) for group in (1, 2, 3)
        )
        own = f" {client} more fail in the framework itself." if client else ""
        names = len({name for name, _ in self._rows})
        return f"{names} frameworks: {passed} of {counted} cells are ok.{own}"

    def _page(self) -> list[str]:
        lines = [PAGE.format(count=self._count())]
        lines.append("| framework | version | protocol | " + " | ".join(PROTOCOLS) + " |")
        lines.append("| --- | --- | --- |" + " --- |" * len(PROTOCOLS))
        for (name, protocol), row in sorted(self._rows.items()):
            cells = " | ".join(row.get(each, _NOT_RUN) for each in PROTOCOLS)
            lines.append(f"| {name} | {self._versions[name]} | {protocol} | {cells} |")
        if self._reasons:
            lines += ["", "## What is not ok", ""]
        for (name, protocol, cell, reason), at in sorted(self._reasons.items()):
            lines.append(f"- {name}, {protocol}, {cell}: {reason} ({', '.join(sorted(at))})")
        return lines


def _shown(cells: dict[str, str]) -> str:
    client = sum(each.startswith("client: ") for each in cells.values())
    passed, counted = list(cells.values()).count("ok"), len(cells) - client
    text = f"{passed}/{counted}" if passed == counted else f"**{passed}/{counted}**"
    return f"{text} c{client}" if client else text
