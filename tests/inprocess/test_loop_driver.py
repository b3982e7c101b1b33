"""One loop, driven by whoever waits."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from toolglot.inprocess.loop_driver import LoopDriver


@pytest.fixture
def driver():
    made = LoopDriver()
    yield made
    made.close()


async def _after(event, value):
    await event.wait()
    return value


def test_results_and_exceptions(driver):
    async def fail():
        raise LookupError("no such thing")

    assert driver.run(asyncio.sleep(0, "done")) == "done"
    with pytest.raises(LookupError, match="no such thing"):
        driver.run(fail())


def test_callers_wait_for_each_other_in_one_loop(driver):
    """The last caller sets what all the others wait for, whichever of them drives the loop."""
    count, started, ready = 20, threading.Barrier(21), asyncio.Event()

    def wait(number):
        started.wait(10)
        return driver.run(_after(ready, number))

    async def let_go():
        ready.set()

    with ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(wait, number) for number in range(count)]
        started.wait(10)
        driver.run(let_go())
        assert [each.result(10) for each in waiting] == list(range(count))


def test_what_interrupts_a_caller_ends_its_coroutine(driver):
    ended = []

    async def interrupted():
        try:
            asyncio.get_running_loop().call_soon(_interrupt)
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    def _interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        driver.run(interrupted())
    assert ended == [True]
    assert driver.run(asyncio.sleep(0, "still alive")) == "still alive"


def test_a_caller_in_a_loop_of_its_own(driver):
    async def outer():
        loop = asyncio.get_running_loop()
        inner = driver.run(asyncio.sleep(0, "inner"))
        assert asyncio.get_running_loop() is loop
        return inner

    assert asyncio.run(outer()) == "inner"


def test_closing_cancels_what_is_left():
    driver, ended = LoopDriver(), []

    async def forever():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def start():
        started = asyncio.create_task(forever())
        await asyncio.sleep(0)
        return started

    task = driver.run(start())
    driver.close()
    driver.close()
    assert ended == [True]
    assert task.cancelled()
