"""Threads that keep SQLite off the event loop: one runs queries, one writes batches."""

import asyncio
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, Final, Generic, ParamSpec, TypeVar

from toolglot.gateway.storage.database import DatabaseError, open_database, transaction

_log = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 1.0
_UNWRITABLE: Final = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
    UnicodeError,
)
"""Errors of an item, not of the disk: a retry would not help."""

Item = TypeVar("Item")
Found = TypeVar("Found")
Arguments = ParamSpec("Arguments")


class DatabaseWorker:
    """One thread with a connection of its own, which runs one task after the other."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = open_database(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"work {path.name}")

    async def run(
        self,
        task: Callable[Concatenate[sqlite3.Connection, Arguments], Found],
        *args: Arguments.args,
        **more: Arguments.kwargs,
    ) -> Found:
        """Run a function on the connection; its result."""

        def call() -> Found:
            return task(self._db, *args, **more)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except sqlite3.Error as error:
            raise DatabaseError(self._path, str(error)) from error

    async def close(self) -> None:
        """Run the tasks that are queued, then end."""
        await asyncio.to_thread(self._thread.shutdown)
        self._db.close()


class BatchWriter(Generic[Item]):
    """One thread that writes queued items in batches, each batch in one transaction.

    `apply` writes a batch and `committed` is called after its commit; both run in the thread. A
    batch is committed `delay` seconds after its first item, or at once for `flush` and `close`.
    `put` never waits. If the disk fails, items stay queued and are retried every second; what
    exceeds `capacity` is dropped and counted, and the failure is logged once. An item that cannot
    be written at all is dropped and counted alone. With `idle`, `apply` is called with an empty
    batch when nothing was put for so many seconds.
    """

    def __init__(
        self,
        path: Path,
        apply: Callable[[sqlite3.Connection, Sequence[Item]], None],
        *,
        delay: float,
        capacity: int,
        weigh: Callable[[Item], int] = lambda _: 1,
        committed: Callable[[Sequence[Item]], None] = lambda _: None,
        idle: float | None = None,
    ) -> None:
        self.dropped = 0
        self._path = path
        self._apply, self._committed, self._weigh = apply, committed, weigh
        self._delay, self._capacity, self._idle = delay, capacity, idle
        self._changed = threading.Condition()
        self._queue: deque[Item] = deque()
        self._weight = 0
        self._flushes: list[Future[None]] = []
        self._closing = self._failing = False
        self._db = open_database(path)
        self._thread = threading.Thread(target=self._run, name=f"write {path.name}", daemon=True)
        self._thread.start()

    def put(self, item: Item) -> bool:
        """Queue an item; false if it was dropped."""
        weight = self._weigh(item)
        with self._changed:
            if self._closing or self._weight + weight > self._capacity:
                self.dropped += 1
                return False
            self._queue.append(item)
            self._weight += weight
            # The thread needs to be woken only by what ends its waiting.
            if len(self._queue) == 1 or self._is_half_full():
                self._changed.notify()
        return True

    async def flush(self) -> None:
        """Return when all that is queued now is committed, or raise `DatabaseError`."""
        await asyncio.wrap_future(self._request_flush())

    async def close(self) -> None:
        """Commit what is queued, then end."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        await asyncio.to_thread(self._thread.join)

    def _request_flush(self) -> Future[None]:
        flushed: Future[None] = Future()
        with self._changed:
            if self._closing:
                raise DatabaseError(self._path, "closed")
            self._flushes.append(flushed)
            self._changed.notify()
        return flushed

    # --- in the thread ----------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while self._write_batch():
                pass
        finally:
            with self._changed:
                self._closing = True
                self._resolve(self._flushes, "closed")
            self._db.close()

    def _write_batch(self) -> bool:
        """Write one batch; false when it was the last."""
        batch, flushes, last = self._next()
        error: str | None = "the writing thread died"
        try:
            error = self._commit(batch)
            if error is None:
                self._written(batch)
            else:
                self._failed(error, batch, last=last)
        finally:
            self._resolve(flushes, error)
        return not last

    def _next(self) -> tuple[Sequence[Item], list[Future[None]], bool]:
        with self._changed:
            if self._failing:
                self._changed.wait_for(self._is_requested, _RETRY_SECONDS)
            else:
                self._changed.wait_for(lambda: self._queue or self._is_requested(), self._idle)
            if self._queue and not self._failing:
                self._changed.wait_for(
                    lambda: self._is_requested() or self._is_half_full(), self._delay
                )
            flushes, self._flushes = self._flushes, []
            return tuple(self._queue), flushes, self._closing

    def _is_requested(self) -> bool:
        return self._closing or bool(self._flushes)

    def _is_half_full(self) -> bool:
        return 2 * self._weight > self._capacity

    def _commit(self, batch: Sequence[Item]) -> str | None:
        try:
            try:
                with transaction(self._db):
                    self._apply(self._db, batch)
            except _UNWRITABLE:
                with transaction(self._db):
                    self._apply_each(batch)
        except sqlite3.Error as error:
            return str(error)
        return None

    def _apply_each(self, batch: Sequence[Item]) -> None:
        for item in batch:
            try:
                self._apply(self._db, (item,))
            except _UNWRITABLE as error:
                self.dropped += 1
                _log.error("%s cannot store an entry: %s", self._path, error)

    def _written(self, batch: Sequence[Item]) -> None:
        self._committed(batch)
        with self._changed:
            for item in batch:
                self._queue.popleft()
                self._weight -= self._weigh(item)
        if self._failing:
            _log.warning("%s can be written again; %d entries were lost", self._path, self.dropped)
            self._failing = False

    def _failed(self, error: str, batch: Sequence[Item], *, last: bool) -> None:
        if not self._failing:
            _log.error("%s cannot be written, will retry: %s", self._path, error)
            self._failing = True
        if last:
            self.dropped += len(batch)
            _log.error("%s could not be written; %d entries were lost", self._path, self.dropped)

    def _resolve(self, flushes: list[Future[None]], error: str | None) -> None:
        for flushed in flushes:
            if not flushed.set_running_or_notify_cancel():
                continue
            if error is None:
                flushed.set_result(None)
            else:
                flushed.set_exception(DatabaseError(self._path, error))
