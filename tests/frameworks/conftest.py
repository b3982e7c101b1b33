"""What came of the cells, written down as a table."""

from collections import defaultdict
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


class _Table:
    """Gathers cells, also from other processes, and writes the page at the end."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._cells: dict[tuple[str, str], dict[str, dict[str, str]]] = defaultdict(dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        said = dict(report.user_properties)
        if report.when == "call" and "framework" in said:
            name, protocol, upstream = said["framework"]
            self._cells[name, protocol][upstream] = said["cells"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._cells:
            terminalreporter.write_line(self._count())

    def pytest_sessionfinish(self) -> None:
        if self._file and self._cells:
            Path(self._file).write_text("\n".join(self._page()) + "\n", encoding="utf-8")

    def _outcomes(self) -> list[str]:
        rows = self._cells.values()
        return [cell for row in rows for cells in row.values() for cell in cells.values()]

    def _count(self) -> str:
        outcomes = self._outcomes()
        client = sum(each.startswith("client: ") for each in outcomes)
        passed, counted = outcomes.count("ok"), len(outcomes) - client
        names = len({name for name, _ in self._cells})
        own = f" {client} more fail in the framework itself." if client else ""
        return f"{names} frameworks: {passed} of {counted} cells are ok.{own}"

    def _page(self) -> list[str]:
        from tests.frameworks.catalogue import FRAMEWORKS
        from tests.frameworks.environments import version

        lines = [PAGE.format(count=self._count())]
        lines.append("| framework | version | protocol | " + " | ".join(PROTOCOLS) + " |")
        lines.append("| --- | --- | --- |" + " --- |" * len(PROTOCOLS))
        versions = {name: version(FRAMEWORKS[name]) for name, _ in self._cells}
        for (name, protocol), row in sorted(self._cells.items()):
            shown = " | ".join(_shown(row.get(each)) for each in PROTOCOLS)
            lines.append(f"| {name} | {versions[name]} | {protocol} | {shown} |")
        reasons: dict[str, set[str]] = defaultdict(set)
        for (name, protocol), row in sorted(self._cells.items()):
            for upstream, cells in row.items():
                for cell, outcome in cells.items():
                    if outcome != "ok":
                        where = f"{name}, {protocol}, {cell}"
                        reasons[f"{where}: {outcome}"].add(upstream)
        if reasons:
            lines += ["", "## What is not ok", ""]
            lines += (f"- {reason} ({', '.join(sorted(at))})" for reason, at in reasons.items())
        return lines


def _shown(cells: dict[str, str] | None) -> str:
    if cells is None:
        return "not run"
    client = sum(each.startswith("client: ") for each in cells.values())
    passed = list(cells.values()).count("ok")
    text = f"{passed}/{len(cells) - client}"
    text = text if passed == len(cells) - client else f"**{text}**"
    return f"{text} c{client}" if client else text
