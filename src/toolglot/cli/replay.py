"""`toolglot replay`: recorded exchanges translated again, offline, and compared.

No provider is asked: its recorded answer is translated again, in the pieces in which it came.
"""

import argparse
from collections.abc import Iterator
from contextlib import suppress
from difflib import unified_diff
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Final

from msgspec import Struct

from toolglot.cli.common import Commands, add_command
from toolglot.errors import DecodeError, ToolglotError
from toolglot.exchange import Exchange
from toolglot.gateway.telemetry.recorder import CONTINUED, META, Meta, options_from_json, read_meta
from toolglot.wire import jsontext

_EXAMPLES: Final = ("toolglot replay recordings", "toolglot replay recordings/0007-req_1 --update")
_FIRST_ERROR: Final = 400
_LINES: Final = 60
"""How many lines of a difference are printed."""


class Result(Struct, frozen=True):
    """A file of a recording, and what would be in it now."""

    file: Path
    recorded: bytes
    now: bytes

    @property
    def same(self) -> bool:
        """Whether they are equal; white space in JSON does not count."""
        if self.recorded == self.now:
            return True
        return self.file.suffix == ".json" and _compact(self.recorded) == _compact(self.now)


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "translate recorded exchanges again, offline, and print the differences"
    parser = add_command(commands, "replay", run, summary, *_EXAMPLES)
    parser.add_argument(
        "directory", metavar="DIR", help="a directory of recordings, or one recording"
    )
    parser.add_argument(
        "--update", action="store_true", help="write the new results into the recordings"
    )


def run(args: argparse.Namespace) -> int:
    """Print one line for each exchange, then the differences; 1 if there are any."""
    folders = recordings(Path(args.directory))
    width = max(len(folder.name) for folder in folders)
    print(f"{'exchange':{width}}  {'request':9}  answer")
    differences: list[Result] = []
    for folder in folders:
        request, answer = replay(folder)
        print(f"{folder.name:{width}}  {_word(request):9}  {_word(answer)}")
        differences += (result for result in (request, answer) if result and not result.same)
    for result in differences:
        print("", *_diff(result), sep="\n")
        if args.update:
            result.file.write_bytes(result.now)
    return int(bool(differences) and not args.update)


def recordings(directory: Path) -> list[Path]:
    """The recordings in a directory, which may be one itself."""
    if (directory / META).is_file():
        return [directory]
    found = sorted(path.parent for path in directory.glob(f"[!.]*/{META}"))
    if not found:
        raise DecodeError(str(directory), "no recordings in this directory")
    return found


def replay(folder: Path) -> tuple[Result | None, Result | None]:
    """The request and the answer of a recording once more; None for what was not recorded."""
    meta = read_meta(folder)
    sent, got, delivered = (
        next(iter(sorted(folder.glob(f"{name}.*"))), None)
        for name in ("upstream.request", "upstream.response", "client.response")
    )
    if sent is None:
        return None, None
    try:
        clock = chain(meta.clock, repeat(meta.clock[-1])).__next__ if meta.clock else None
        exchange = Exchange(
            meta.client,
            meta.provider,
            options_from_json(meta.options),
            now=meta.now,
            repairs=meta.repairs,
            clock=clock,
            answer_id=meta.answer_id,
        )
        whole = folder / CONTINUED
        asked = (whole if whole.exists() else folder / "client.request.json").read_bytes()
        if meta.supplied:
            exchange.decode_request(asked, meta.path)
            exchange.restore_state(dict(meta.supplied))
        request = Result(sent, sent.read_bytes(), exchange.request(asked, meta.path).data)
        exchange.echo(meta.echo)
        if got is None or delivered is None:
            return request, None
        answer = _answer(exchange, meta, got.read_bytes(), streams=got.suffix != ".json")
    except ToolglotError as error:
        raise DecodeError(str(folder), str(error)) from None
    return request, Result(delivered, delivered.read_bytes(), answer)


def _answer(exchange: Exchange, meta: Meta, data: bytes, *, streams: bool) -> bytes:
    if meta.stream and meta.status < _FIRST_ERROR:
        if streams:
            return b"".join(_streamed(exchange, meta, data))
        return exchange.unfolded(data).data
    answer = exchange.response(
        data, status=meta.status, headers=meta.response_headers, stream=meta.stream
    )
    return answer.data


def _streamed(exchange: Exchange, meta: Meta, data: bytes) -> Iterator[bytes]:
    translator = exchange.stream()
    place = 0
    for _, size in meta.upstream_chunks:
        yield translator.feed(data[place : place + size])
        place += size
    yield translator.fail(meta.error) if meta.error else translator.close()


# --- for people -----------------------------------------------------------------------------------


def _word(result: Result | None) -> str:
    if result is None:
        return "-"
    return "same" if result.same else "different"


def _diff(result: Result) -> Iterator[str]:
    name = f"{result.file.parent.name}/{result.file.name}"
    lines = unified_diff(
        _lines(result.recorded), _lines(result.now), f"{name} recorded", f"{name} now", lineterm=""
    )
    yield from islice(lines, _LINES)
    if more := sum(1 for _ in lines):
        yield f"… and {more} more lines"


def _lines(data: bytes) -> list[str]:
    """A document in lines: JSON indented, a stream as it is."""
    with suppress(ValueError):
        data = jsontext.pretty(jsontext.peek(data))
    return data.decode("utf-8", "replace").splitlines()


def _compact(data: bytes) -> bytes:
    try:
        return jsontext.encode(jsontext.peek(data))
    except ValueError:
        return data
