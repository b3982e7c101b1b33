"""Workers that die, and the one process that looks after them."""

import asyncio
import logging
import os
import signal
from functools import partial

import aiohttp
import pytest
from tests.gateway.answers import answer_well, ask
from tests.gateway.process import configuration, running_gateway
from tests.gateway.wild import wild

from toolglot.gateway.http import worker_processes
from toolglot.gateway.http.worker_processes import Supervisor


def test_a_worker_that_dies_is_replaced_and_logged(tmp_path):
    """Until then the others answer."""

    async def run():
        async with (
            wild(partial(answer_well, protocol="openai-chat")) as (url, _),
            running_gateway(
                tmp_path, configuration("openai-chat", url), "--workers", "2", log=True
            ) as gateway,
        ):
            before = set(gateway.workers)
            victim = min(before)
            os.kill(int(victim), signal.SIGKILL)
            async with asyncio.timeout(20):
                while len(gateway.workers) < 2 or victim in gateway.workers:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert len(before & set(gateway.workers)) == 1
            for _ in range(10):
                async with aiohttp.ClientSession(gateway.url) as session:
                    status, _, _ = await ask(session, "anthropic")
                    assert status == 200
            gateway.terminate()
            assert await gateway.ended() == 0
        log = (tmp_path / "log").read_text()
        assert f"(process {victim}) was ended by SIGKILL" in log
        assert "it is started again" in log

    asyncio.run(run())


@pytest.mark.parametrize(("code", "words"), [(3, "ended with code 3"), (None, "by SIGTERM")])
def test_pauses_grow_while_workers_die_young(code, words, monkeypatch, caplog):
    monkeypatch.setattr(worker_processes, "_FIRST_PAUSE", 0.001)
    caplog.set_level(logging.ERROR, "toolglot")
    started = []

    def start(number):
        started.append(number)
        if len(started) > 6:
            supervisor.stopping = True
        pid = os.fork()
        if pid == 0:
            if code is None:
                os.kill(os.getpid(), signal.SIGTERM)
            os._exit(code or 0)
        return pid

    supervisor = Supervisor(start)
    supervisor.run(2)
    assert len(started) in (7, 8)
    assert set(started) == {0, 1}
    assert words in caplog.text
    pauses = [record.args[-1] for record in caplog.records]
    assert pauses == sorted(pauses)
    assert pauses[-1] > pauses[0]
