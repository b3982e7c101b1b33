"""An event loop for programs that have none, without a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")


class LoopDriver:
    """Runs coroutines for callers that block, in any number of threads.

    One of the callers runs the loop, for all of them; when its own result is there, the next one
    takes over. So nothing runs while nobody waits, and one set of connections serves all threads.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._condition = threading.Condition()
        self._is_driven = False

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """The result of a coroutine, or its exception."""
        ended: Future[None] = Future()
        future = asyncio.run_coroutine_threadsafe(_watched(coroutine, ended), self._loop)
        try:
            self._wait(future)
        except BaseException:  # such as Ctrl-C: the coroutine ends too
            future.cancel()
            self._wait(ended)
            raise
        return future.result()

    def close(self) -> None:
        """Cancel what is left, and close the loop."""
        if not self._loop.is_closed():
            self.run(_cancel_all())
            self._loop.close()

    def _wait(self, future: "Future[Any]") -> None:
        """Wait for a future; drive the loop whenever nobody else does."""
        future.add_done_callback(self._wake)
        while not future.done():
            with self._condition:
                self._condition.wait_for(lambda: future.done() or not self._is_driven)
                if future.done():
                    return
                self._is_driven = True
            try:
                with _no_running_loop():
                    self._drive(future)
            finally:
                with self._condition:
                    self._is_driven = False
                    self._condition.notify_all()

    def _drive(self, future: "Future[Any]") -> None:
        driving = True

        def stop(_future: object) -> None:
            if driving:
                self._loop.stop()

        future.add_done_callback(stop)
        try:
            self._loop.run_forever()
        finally:
            driving = False

    def _wake(self, _future: object) -> None:
        with self._condition:
            self._condition.notify_all()


async def _watched(coroutine: Coroutine[Any, Any, _T], ended: "Future[None]") -> _T:
    try:
        return await coroutine
    finally:
        ended.set_result(None)


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


@contextmanager
def _no_running_loop() -> Iterator[None]:
    """Callers may be inside a loop of their own, as all code in a notebook is."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)
