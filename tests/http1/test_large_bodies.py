"""Work on large bodies does not stop the event loop."""

import asyncio
import threading

import pytest

from toolglot.http1.large_bodies import LARGE, work_on


def thread(*_, **__):
    return threading.current_thread()


def fails():
    raise ValueError("not that")


def test_only_large_bodies_leave_the_loop():
    async def run():
        here = threading.current_thread()
        assert await work_on(LARGE - 1, thread) is here
        assert await work_on(LARGE, thread, 1, two=2) is not here
        for size in (1, LARGE):
            with pytest.raises(ValueError, match="not that"):
                await work_on(size, fails)

    asyncio.run(run())


def test_others_are_answered_meanwhile():
    async def run():
        done = threading.Event()
        async with asyncio.TaskGroup() as tasks:
            work = tasks.create_task(work_on(LARGE, done.wait, 30))
            await asyncio.sleep(0)
            done.set()
        assert work.result()

    asyncio.run(run())
