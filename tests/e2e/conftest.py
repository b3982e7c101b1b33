"""Where trials are collected, and what came of them written down."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

PAGE = """\
# Compatibility

Agent clients as they come from npm, run through the gateway by one run of `make e2e`. Each speaks
its own protocol and asks for a model by its real name; Codex also asks for models of its own, for
which it sends other tools. `toolglot run` sends its own small request first.

No provider was asked. Each column is a strict simulation of the provider at its head, rules as of
{as_of}: it refuses, in the provider's words, what the provider refuses, and plays a scenario
([strict-upstreams.md](strict-upstreams.md)). The clients and the gateway are real. `ok` means that
the client showed what the scenario expects, that nothing was refused, and that nothing was wrong
with what the upstream was sent.

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
            row, upstream, scenario = said["trial"]
            self._cells[scenario][row][upstream] = said["outcome"]

    def pytest_sessionfinish(self) -> None:
        if self._file and self._cells:
            text = "\n".join(self._page()) + "\n"
            Path(self._file).write_text(text, encoding="utf-8")

    def _page(self) -> list[str]:
        from tests.e2e.clients import TRIED
        from tests.upstreams.scenarios import SCENARIOS
        from tests.upstreams.strict.check import AS_OF
        from tests.upstreams.strict.upstreams import IN_TRIALS

        from toolglot.cli.clients import CLIENTS

        tried = (CLIENTS[name] for name in TRIED)
        versions = ", ".join(f"{each.title} {each.version}" for each in tried)
        outcomes = [
            c for rows in self._cells.values() for row in rows.values() for c in row.values()
        ]
        count = f"{outcomes.count('ok')} of {len(outcomes)} trials are ok."
        lines = [PAGE.format(versions=versions, count=count, as_of=AS_OF)]
        titles = [each.title for each in IN_TRIALS]
        for scenario in (name for name in SCENARIOS if name in self._cells):
            rows = self._cells[scenario]
            meaning = " ".join((SCENARIOS[scenario].__doc__ or "").split())
            lines += [f"## {scenario}", "", meaning, ""]
            played = [each for each in titles if any(each in cells for cells in rows.values())]
            lines.append("| Client (protocol) | " + " | ".join(played) + " |")
            lines.append("| --- |" + " --- |" * len(played))
            lines += (
                f"| {name} | "
                + " | ".join(_cell(cells.get(each, _NOT_RUN)) for each in played)
                + " |"
                for name, cells in sorted(rows.items())
            )
            lines.append("")
        return lines[:-1]


def _cell(outcome: str) -> str:
    """An outcome that does not differ from run to run."""
    return _WORD.sub("…", outcome).replace("|", "/").replace("\n", " ")
