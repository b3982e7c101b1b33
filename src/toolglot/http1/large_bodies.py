"""Work on large bodies, off the event loop.

What a body costs grows with its size, and all clients of a process share one event loop: a body of
some megabytes would keep everybody waiting for a second. A thread shares the processor with the
loop instead, a few milliseconds each.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

_T = TypeVar("_T")
_P = ParamSpec("_P")

LARGE: Final = 2**17
"""Bytes from which a body is large. Even one that consists of the smallest messages only takes 50
milliseconds at this size; one that an agent sends takes three.
"""
_threads: Final = ThreadPoolExecutor(2, thread_name_prefix="large body")
"""More would not do more: they share one interpreter."""


async def work_on(size: int, work: Callable[_P, _T], *args: _P.args, **more: _P.kwargs) -> _T:
    """The result of a function whose work grows with a size, in bytes."""
    if size < LARGE:
        return work(*args, **more)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads, lambda: work(*args, **more))
