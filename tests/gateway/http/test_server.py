"""The gateway as a process."""

import signal
import subprocess
import sys
import urllib.request

import pytest

from toolglot.gateway.config import Config, ConfigError, Server
from toolglot.gateway.http.server import check_exposure, listen, write_port


def test_it_does_not_open_itself_to_the_network_by_accident():
    check_exposure(Config())
    with pytest.raises(ConfigError, match="--keys"):
        check_exposure(Config(server=Server(host="0.0.0.0")))
    check_exposure(Config(server=Server(host="0.0.0.0", keys=True)))
    check_exposure(Config(server=Server(host="0.0.0.0", open=True)))


def test_a_port_in_use_is_told():
    first = listen("127.0.0.1", 0)
    with first, pytest.raises(ConfigError, match="cannot listen on"):
        listen("127.0.0.1", first.getsockname()[1])


def test_the_port_is_written_whole(tmp_path):
    write_port(str(tmp_path / "port"), 1234)
    assert [each.name for each in tmp_path.iterdir()] == ["port"]
    assert (tmp_path / "port").read_text() == "1234\n"


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_it_starts_answers_and_ends(tmp_path, workers):
    command = [sys.executable, "-m", "toolglot", "serve", "--port", "0", "--workers", str(workers)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={"PATH": ""}
    ) as process:
        line = process.stderr.readline()
        assert "listens on http://127.0.0.1:" in line
        with urllib.request.urlopen(f"{line.split()[-1]}/health") as reply:
            assert reply.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
