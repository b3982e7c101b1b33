"""Where trials are collected, and what came of them written down."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from toolglot.registry import PROTOCOLS

PAGE = """\
# Compatibility

Agent clients as they come from npm, run through the gateway by `make e2e`. Each speaks its own
protocol; the upstream behind the gateway speaks the one at the head of the column and plays a
scenario. The upstream is scripted, the clients and the gateway are real. `ok` means that the client
showed what the scenario expects and that the upstream found nothing wrong with what it was sent.

{count}

Versions: {versions}.
"""
_NOT_RUN = "not run"
_WORD = re.compile(r"word-[0-9a-f]{8}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--compatibility", metavar="FILE", help="write what came of the trials there")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Collector(config.getoption("--compatibility", None)))


class _Collector:
    """Gathers how trials ended, also from other processes, and writes the page at the end."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._cells: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        said = dict(report.user_properties)
        if report.when == "call" and "trial" in said:
            client, protocol, upstream, scenario = said["trial"]
            self._cells[scenario][f"{client} ({protocol})"][upstream] = said["outcome"]

    def pytest_sessionfinish(self) -> None:
        if self._file and self._cells:
            file = Path(self._file)
            if file.exists():
                self._recall(file.read_text(encoding="utf-8"))
            file.write_text("\n".join(self._page()) + "\n", encoding="utf-8")

    def _recall(self, page: str) -> None:
        """What was not run this time stays as it was."""
        scenario, upstreams = "", list(PROTOCOLS)
        for line in page.splitlines():
            if line.startswith("## "):
                scenario = line.removeprefix("## ")
            elif line.startswith("| ") and " (" in line and not line.startswith("| Client"):
                name, *cells = (cell.strip() for cell in line.strip("| ").split(" | "))
                for upstream, cell in zip(upstreams, cells, strict=True):
                    if cell != _NOT_RUN:
                        self._cells[scenario][name].setdefault(upstream, cell)

    def _page(self) -> list[str]:
        from tests.upstreams.scenarios import SCENARIOS

        from toolglot.cli.clients import CLIENTS

        versions = ", ".join(f"{each.title} {each.version}" for each in CLIENTS.values())
        outcomes = [
            c for rows in self._cells.values() for row in rows.values() for c in row.values()
        ]
        count = f"{outcomes.count('ok')} of {len(outcomes)} trials are ok."
        lines = [PAGE.format(versions=versions, count=count)]
        for scenario in (name for name in SCENARIOS if name in self._cells):
            rows = self._cells[scenario]
            meaning = " ".join((SCENARIOS[scenario].__doc__ or "").split())
            lines += [f"## {scenario}", "", meaning, ""]
            lines.append("| Client (protocol) | " + " | ".join(PROTOCOLS) + " |")
            lines.append("| --- |" + " --- |" * len(PROTOCOLS))
            lines += (
                f"| {name} | "
                + " | ".join(_cell(cells.get(each, _NOT_RUN)) for each in PROTOCOLS)
                + " |"
                for name, cells in sorted(rows.items())
            )
            lines.append("")
        return lines[:-1]


def _cell(outcome: str) -> str:
    """An outcome that does not differ from run to run."""
    return _WORD.sub("…", outcome).replace("|", "/").replace("\n", " ")
