"""Files as tasks of Ray, on a cluster of two workers that is started for the test."""

import json
import os
import signal
import threading
from pathlib import Path

import pytest
from tests.convert.conversations import WEATHER

from toolglot.cli import main

ray = pytest.importorskip("ray")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="workers are found in /proc"),
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore"),  # of Ray itself
]


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(8):
        rows = "".join(json.dumps({**WEATHER, "n": [number, n]}) + "\n" for n in range(1000))
        (tmp_path / "in" / f"{number}.jsonl").write_text(rows + ("{\n" if number == 3 else ""))
    return tmp_path


def test_a_worker_that_dies_costs_no_row_and_doubles_none(cluster, folder):
    asked = [str(folder / "in"), "--from", "trl", "--to", "sharegpt"]
    stopped = threading.Event()
    killed = []
    killer = threading.Thread(target=_kill_one, args=(stopped, killed))
    killer.start()
    code = main(["convert", *asked, "--out", str(folder / "ray"), "--engine", "ray"])
    stopped.set()
    killer.join()
    assert killed
    assert code == 1, "one row is bad"
    assert main(["convert", *asked, "--out", str(folder / "here")]) == 1
    for number in range(8):
        name = f"{number}.jsonl"
        assert (folder / "ray" / name).read_bytes() == (folder / "here" / name).read_bytes()
    bad = json.loads((folder / "ray" / "bad-rows.jsonl").read_bytes())
    assert (bad["file"], bad["line"]) == (str(folder / "in" / "3.jsonl"), 1001)


def _kill_one(stopped, killed):
    """Kill the first worker of ours that converts something."""
    while not stopped.wait(0.01):
        for process in Path("/proc").glob("[0-9]*"):
            if _name(process).startswith(b"ray::convert_file") and os.getpid() in _above(process):
                os.kill(int(process.name), signal.SIGKILL)
                killed.append(process.name)
                return


def _name(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def _above(process):
    """The processes that started it, and those."""
    found = []
    while process.name not in {"0", "1"}:
        try:
            status = (process / "stat").read_text()
        except OSError:
            break
        parent = status.rpartition(")")[2].split()[1]
        found.append(int(parent))
        process = Path("/proc") / parent
    return found
