"""A provider in a process of its own: begins streams, and ends them all when a line comes in.

Prints its port, and then how many streams are held, whenever that is a round number or the count
has not changed for a moment.
"""

import asyncio
import resource
import sys

from tests.gateway.wild import Turn, wild
from tests.torture.conversation import PAIRS, Conversation, asked, number_in, pieces, speaker


async def main() -> None:
    """Serve until the other side is gone."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held = 0
    go_on = asyncio.Event()

    async def answer(turn: Turn) -> None:
        nonlocal held
        turns.clear()
        number = number_in(turn.body)
        talk = Conversation(number, *PAIRS[number % 25], True, 1, True, " ")
        first, *rest = pieces(talk, asked(talk, turn.path, turn.body))
        await turn.head(speaker(talk).CONTENT_TYPE)
        await turn.chunk(first)
        held += 1
        await go_on.wait()
        await turn.chunk(b"".join(rest))
        await turn.end()

    async with wild(answer) as (url, turns):
        print(url.rpartition(":")[2], flush=True)
        loop = asyncio.get_running_loop()
        loop.add_reader(sys.stdin.fileno(), go_on.set)
        while not go_on.is_set():
            print(held, flush=True)
            await asyncio.sleep(0.2)
        loop.remove_reader(sys.stdin.fileno())
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
