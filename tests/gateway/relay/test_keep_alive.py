"""Signs of life. Those of whole gateways are in test_open_streams.py and test_deliver.py."""

import asyncio

import pytest

from toolglot.gateway.http.response_writers import MemoryWriter
from toolglot.gateway.relay.keep_alive import OpenStream, OpenStreams


class Writer(MemoryWriter):
    """Takes everything at once, or nothing."""

    def __init__(self, *, drained=True):
        super().__init__()
        self.drained_ = drained
        self.signs = asyncio.Queue()

    @property
    def drained(self):
        return self.drained_

    async def write(self, data):
        self.signs.put_nowait(data)


@pytest.mark.parametrize(
    ("written", "drained", "ready"),
    [
        ((b"data: 1\n\n",), True, True),
        ((b"data: 1\n", b"\n"), True, True),
        ((b"data: 1\r\n\r", b"\n"), True, True),
        ((b"data: 1\n",), True, False),
        ((b"data: 1",), True, False),
        ((), True, False),
        ((b"data: 1\n\n",), False, False),
    ],
)
def test_nothing_comes_inside_an_event(written, drained, ready):
    async def run():
        stream = OpenStream(Writer(drained=drained), b":\n\n")
        for data in written:
            stream.wrote(data)
        return stream.ready

    assert asyncio.run(run()) is ready


def test_only_silent_streams_get_a_sign_and_only_while_they_are_open():
    async def run():
        streams, writers = OpenStreams(), [Writer(), Writer(), Writer()]
        silent, mute, ended = (
            OpenStream(writer, sign)
            for writer, sign in zip(writers, (b":\n\n", b"", b":\n\n"), strict=True)
        )
        for each in (silent, mute, ended):
            each.wrote(b"x\n\n")
            streams.add(each)
        streams.discard(ended)
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(streams.keep_alive(lambda: 0.001))
            for _ in range(3):
                assert await asyncio.wait_for(writers[0].signs.get(), 9) == b":\n\n"
            task.cancel()
        assert writers[1].signs.empty()
        assert writers[2].signs.empty()

    asyncio.run(run())
